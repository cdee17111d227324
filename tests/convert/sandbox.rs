//! Restrictions of the converter process, tried by a program that enters the same sandbox.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::converter;

const ATTEMPTS: [&str; 14] = [
    "connect",
    "udp",
    "unix socket",
    "read",
    "read /proc",
    "list",
    "create",
    "remove",
    "link",
    "chmod",
    "run",
    "thread",
    "signal",
    "exec",
];

/// Returns the path of the example program; cargo builds it for a run of all tests.
fn probe() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")).with_file_name("examples").join("sandbox_probe");
    assert!(path.exists(), "build it: cargo build --example sandbox_probe --features ssr");
    path
}

/// Resources outside the sandbox that the probe tries to reach.
struct OutsideResources {
    folder: TempDir,
    listener: TcpListener,
    socket: UnixListener,
}

impl OutsideResources {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(folder.path().join("to-remove"), "").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = UnixListener::bind(folder.path().join("socket")).unwrap();
        listener.set_nonblocking(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { folder, listener, socket }
    }

    /// Runs the probe; returns its report of the sandbox, its status as the kernel shows it, and the outcome of every
    /// attempt.
    fn run_probe(&self, mode: &str) -> (String, String, Vec<String>) {
        let mut child = Command::new(probe())
            .arg(mode)
            .arg(self.listener.local_addr().unwrap().to_string())
            .arg(self.folder.path().join("socket"))
            .arg(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(child.wait().unwrap().success(), "{rest}");
        (first, status, rest.lines().map(str::to_owned).collect())
    }

    /// Returns the traces that the attempts left outside.
    fn touched_resources(&self) -> Vec<&'static str> {
        let exists = |name: &str| fs::symlink_metadata(self.folder.path().join(name)).is_ok();
        let mut traces = Vec::new();
        traces.extend(self.listener.accept().is_ok().then_some("connect"));
        traces.extend(self.socket.accept().is_ok().then_some("unix socket"));
        traces.extend(exists("created").then_some("create"));
        traces.extend((!exists("to-remove")).then_some("remove"));
        traces.extend(exists("linked").then_some("link"));
        traces.extend(exists("run").then_some("run"));
        traces
    }
}

fn has(status: &str, field: &str, value: &str) -> bool {
    status.lines().filter_map(|line| line.split_once(':')).any(|(name, of)| name == field && of.trim() == value)
}

#[test]
fn outside_sandbox_every_attempt_succeeds() {
    let outside = OutsideResources::new();
    let (_, _, outcomes) = outside.run_probe("free");
    let expected: Vec<String> = ATTEMPTS.iter().map(|name| format!("{name}: done")).collect();
    assert_eq!(outcomes, expected);
    assert_eq!(outside.touched_resources(), ["connect", "unix socket", "create", "remove", "link", "run"]);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn inside_sandbox_every_attempt_is_refused() {
    let outside = OutsideResources::new();
    let (layers, status, outcomes) = outside.run_probe("bound");
    assert!(layers.contains("no_new_privs: true") && layers.contains("seccomp: true"), "{layers}");
    assert!(has(&status, "NoNewPrivs", "1") && has(&status, "Seccomp", "2"), "{status}");
    assert_eq!(outcomes.len(), ATTEMPTS.len(), "{outcomes:?}");
    for (name, outcome) in ATTEMPTS.iter().zip(&outcomes) {
        let refused = format!("{name}: Operation not permitted (os error 1)");
        assert_eq!(*outcome, refused);
    }
    assert_eq!(outside.touched_resources(), [] as [&str; 0]);
}

/// Landlock alone: with the filter, these system calls do not get that far.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn without_filter_landlock_refuses_paths_and_programs() {
    let outside = OutsideResources::new();
    let (layers, status, outcomes) = outside.run_probe("unfiltered");
    assert!(layers.contains("seccomp: false") && has(&status, "Seccomp", "0"), "{layers} {status}");
    let Some((_, version)) = layers.split_once("landlock: Some(") else {
        // The kernel reports whether it has Landlock.
        let kernel = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
        assert!(!kernel.contains("landlock"), "{kernel}: {layers}");
        return;
    };
    let version: u32 = version.split(')').next().unwrap().parse().unwrap();
    let mut refused = vec!["read", "read /proc", "list", "create", "remove", "link", "run", "exec"];
    refused.extend((version >= 4).then_some("connect"));
    for name in refused {
        let expected = format!("{name}: Permission denied (os error 13)");
        assert!(outcomes.contains(&expected), "{expected}: {outcomes:?}");
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[tokio::test]
async fn converter_process_enters_sandbox_and_doctor_reports_it() {
    let sandbox = converter().probe_sandbox().await.unwrap();
    assert!(sandbox.no_new_privs && sandbox.seccomp, "{sandbox:?}");
    let folder = TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_turnleaf"))
        .arg("doctor")
        .env_clear()
        .env("TURNLEAF_DATA_DIR", folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let line = output.lines().find(|line| line.contains(" sandbox: ")).unwrap_or_else(|| panic!("{output}"));
    let expected = match sandbox.landlock {
        Some(version) => {
            format!("ok    sandbox: files are read under no_new_privs, seccomp, Landlock (version {version})")
        }
        None => "note  sandbox: files are read under no_new_privs, seccomp; this system has no Landlock".to_owned(),
    };
    assert_eq!(line, expected);
    // The list of security modules is compared where the kernel exposes it.
    if let Ok(layers) = fs::read_to_string("/sys/kernel/security/lsm") {
        assert_eq!(layers.split(',').any(|layer| layer.trim() == "landlock"), sandbox.landlock.is_some(), "{layers}");
    }
}
