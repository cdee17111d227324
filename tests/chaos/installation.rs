//! The real program on a data directory: starting, killing and restarting it, and running its checker.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::chat_client::ChatClient;

/// The time limit for a start, a check and a shutdown.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary, the directories and the database of a server.
#[derive(Debug, Clone)]
pub struct TestInstallation {
    binary: PathBuf,
    dir: PathBuf,
    data_dir: PathBuf,
    database: Option<String>,
}

impl TestInstallation {
    pub fn new(binary: &Path, dir: &Path, database: Option<String>, configuration: &str) -> Self {
        let of = Self { binary: binary.into(), dir: dir.into(), data_dir: dir.join("data"), database };
        of.write_configuration(configuration);
        of
    }

    /// Moves the data directory elsewhere.
    pub fn with_data_in(self, data_dir: PathBuf) -> Self {
        Self { data_dir, ..self }
    }

    /// Returns the data directory, which holds everything of a server on SQLite.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub fn write_configuration(&self, configuration: &str) {
        std::fs::write(self.configuration(), format!("find_local_servers = false\n{configuration}")).unwrap();
    }

    fn configuration(&self) -> PathBuf {
        self.dir.join("turnleaf.toml")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("turnleaf.log")
    }

    /// Returns the last lines of the server's log.
    pub fn read_log(&self) -> String {
        let all = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = all.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Returns the program's command with a clean environment that holds only what the scenario sets.
    fn command(&self) -> Command {
        let log = OpenOptions::new().create(true).append(true).open(self.log()).unwrap();
        let mut command = Command::new(&self.binary);
        command.env_clear().env("TURNLEAF_DATA_DIR", &self.data_dir).env("TURNLEAF_CONFIG", self.configuration());
        command.envs(self.database.iter().map(|url| ("DATABASE_URL", url)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
        command
    }

    /// Starts the server on a free port and waits until it reports that it listens.
    pub async fn start(&self) -> RunningServer {
        match self.try_start().await {
            Ok(server) => server,
            Err(reason) => panic!("the server does not start: {reason}; its log ends:\n{}", self.read_log()),
        }
    }

    /// # Errors
    /// The process exits, or does not listen in time.
    pub async fn try_start(&self) -> Result<RunningServer, String> {
        let mut child = self.command().args(["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let listens = timeout(PATIENCE, stdout.read_line(&mut line)).await;
        if !listens.is_ok_and(|read| read.is_ok_and(|length| length > 0)) {
            return Err(format!("{:?}", child.try_wait()));
        }
        let address: SocketAddr = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
        Ok(RunningServer { child, address, client: ChatClient::new(address) })
    }

    /// Runs `turnleaf fsck`.
    pub async fn run_fsck(&self) -> FsckReport {
        let checked = timeout(PATIENCE, self.command().arg("fsck").output()).await.expect("fsck ends").unwrap();
        FsckReport { code: checked.status.code(), output: String::from_utf8_lossy(&checked.stdout).into_owned() }
    }
}

/// The result of `turnleaf fsck`.
pub struct FsckReport {
    code: Option<i32>,
    output: String,
}

/// The exit code for damaged data.
const DAMAGED: i32 = 74;

impl FsckReport {
    pub fn is_clean(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns whether the checker examined everything and named what it found.
    pub fn is_complete(&self) -> bool {
        self.is_clean() || (self.code == Some(DAMAGED) && !self.output.is_empty())
    }
}

impl std::fmt::Display for FsckReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let beginning: String = self.output.chars().take(600).collect();
        write!(f, "fsck ended with {:?}: {beginning}", self.code)
    }
}

/// A running server, which is killed when it is dropped.
pub struct RunningServer {
    child: Child,
    pub address: SocketAddr,
    pub client: ChatClient,
}

impl RunningServer {
    fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Kills the server with SIGKILL, which leaves it no time to clean up.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Shuts the server down with SIGTERM.
    pub async fn terminate(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        timeout(PATIENCE, self.child.wait()).await.expect("SIGTERM ends it").unwrap()
    }
}
