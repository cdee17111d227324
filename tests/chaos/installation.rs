//! The real program on a data directory: started, killed, started again, and its checker.

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

/// How long a start, a check and an end may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server lives.
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

    /// The same with its data elsewhere.
    pub fn with_data_in(self, data_dir: PathBuf) -> Self {
        Self { data_dir, ..self }
    }

    /// The directory with everything of a server on a file.
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

    /// The end of the server's log.
    pub fn read_log(&self) -> String {
        let all = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = all.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// The program with an environment of its own: only what the scenario sets.
    fn command(&self) -> Command {
        let log = OpenOptions::new().create(true).append(true).open(self.log()).unwrap();
        let mut command = Command::new(&self.binary);
        command.env_clear().env("TURNLEAF_DATA_DIR", &self.data_dir).env("TURNLEAF_CONFIG", self.configuration());
        command.envs(self.database.iter().map(|url| ("DATABASE_URL", url)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
        command
    }

    /// Starts it on a free port and waits until it says that it listens.
    pub async fn start(&self) -> RunningServer {
        match self.try_start().await {
            Ok(server) => server,
            Err(why) => panic!("the server does not start: {why}; its log ends:\n{}", self.read_log()),
        }
    }

    /// # Errors
    /// It ended, or did not listen in time.
    pub async fn try_start(&self) -> Result<RunningServer, String> {
        let mut child = self.command().args(["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let listens = timeout(PATIENCE, said.read_line(&mut line)).await;
        if !listens.is_ok_and(|read| read.is_ok_and(|length| length > 0)) {
            return Err(format!("{:?}", child.try_wait()));
        }
        let address: SocketAddr = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
        Ok(RunningServer { child, address, client: ChatClient::new(address) })
    }

    /// What the checker finds.
    pub async fn run_fsck(&self) -> FsckReport {
        let checked = timeout(PATIENCE, self.command().arg("fsck").output()).await.expect("fsck ends").unwrap();
        FsckReport { code: checked.status.code(), said: String::from_utf8_lossy(&checked.stdout).into_owned() }
    }
}

/// The answer of `turnleaf fsck`.
pub struct FsckReport {
    code: Option<i32>,
    said: String,
}

/// The exit code for damaged data.
const DAMAGED: i32 = 74;

impl FsckReport {
    pub fn is_clean(&self) -> bool {
        self.code == Some(0)
    }

    /// It looked at everything, and named what it found.
    pub fn is_complete(&self) -> bool {
        self.is_clean() || (self.code == Some(DAMAGED) && !self.said.is_empty())
    }
}

impl std::fmt::Display for FsckReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let beginning: String = self.said.chars().take(600).collect();
        write!(f, "fsck ended with {:?}: {beginning}", self.code)
    }
}

/// A running server; killed when it is dropped.
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

    /// Kills it as the system would, with no time to do anything.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Ends it in order.
    pub async fn terminate(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        timeout(PATIENCE, self.child.wait()).await.expect("SIGTERM ends it").unwrap()
    }
}
