//! A Turnleaf server as a process: started on loopback with a mock model server, observed through `/proc`, and
//! stopped or killed.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::client::LoopbackClient;

/// The time limit of a start.
const START: Duration = Duration::from_secs(20);

/// A running server.
pub struct TurnleafServer {
    child: Child,
    pub address: SocketAddr,
    /// Seconds from the start of the process to the first page.
    pub started_in: f64,
}

/// A binary with its data directory.
pub struct BenchInstallation {
    pub binary: PathBuf,
    pub dir: PathBuf,
    pub model_server: SocketAddr,
    /// A database URL, used instead of the default SQLite file.
    pub database: Option<String>,
}

impl BenchInstallation {
    /// Uses this database, if one is given.
    pub fn with_database(self, database: Option<String>) -> Self {
        Self { database, ..self }
    }

    /// Returns the database URL. Creates the directory of a SQLite file, as the server would.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn database_url(&self) -> Result<String> {
        if let Some(database) = &self.database {
            return Ok(database.clone());
        }
        let state = self.dir.join("state");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
        Ok(format!("sqlite://{}", state.join("turnleaf.db").display()))
    }

    /// Returns a command of the binary with its data, isolated from the person's own configuration.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.env_clear().current_dir(&self.dir).arg(subcommand).arg("--data-dir").arg(self.dir.join("state"));
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME" || name == "LANG"));
        command.env("OPENAI_BASE_URL", format!("http://{}/v1", self.model_server)).env("OPENAI_API_KEY", "bench");
        if let Some(database) = &self.database {
            command.args(["--database", database]);
        }
        command.env("RUST_LOG", "warn").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts the server and waits for its page.
    ///
    /// # Errors
    /// The server does not start; its log has the reason.
    pub async fn start(&self) -> Result<TurnleafServer> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = self.dir.join("turnleaf.log");
        let mut command = self.command("serve");
        command.args(["--listen", &address.to_string()]).stderr(fs::File::create(&log)?);
        let start = Instant::now();
        let child = command.spawn().with_context(|| self.binary.display().to_string())?;
        let mut running = TurnleafServer { child, address, started_in: 0.0 };
        loop {
            if let Ok(mut client) = LoopbackClient::connect(address).await
                && client.get("/").await.is_ok()
            {
                running.started_in = start.elapsed().as_secs_f64();
                return Ok(running);
            }
            if start.elapsed() > START || running.child.try_wait()?.is_some() {
                bail!("turnleaf does not start:\n{}", fs::read_to_string(&log).unwrap_or_default());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Returns true if `turnleaf fsck` finds nothing.
    ///
    /// # Errors
    /// The command cannot be run.
    pub fn is_sound(&self) -> Result<bool> {
        Ok(self.command("fsck").stderr(Stdio::inherit()).status()?.success())
    }
}

impl TurnleafServer {
    /// Returns the current or peak memory in bytes.
    ///
    /// # Errors
    /// The process has ended.
    pub fn memory_bytes(&self, peak: bool) -> Result<u64> {
        memory_of(self.child.id(), peak)
    }

    /// Returns the processor time used so far in seconds.
    ///
    /// # Errors
    /// The process has ended.
    pub fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds_of(self.child.id())
    }

    /// Returns the bytes that the process caused to be written to the disk so far.
    ///
    /// # Errors
    /// The process has ended.
    pub fn written_bytes(&self) -> Result<u64> {
        let io = fs::read_to_string(proc_file(self.child.id(), "io"))?;
        let line = io.lines().find_map(|line| line.strip_prefix("write_bytes:")).context("write_bytes")?;
        Ok(line.trim().parse()?)
    }

    /// Kills the process with SIGKILL.
    ///
    /// # Errors
    /// The process had already ended.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops the process with SIGTERM and waits for its end.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn stop(mut self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(())
    }
}

fn proc_file(process: u32, name: &str) -> PathBuf {
    Path::new("/proc").join(process.to_string()).join(name)
}

/// Returns the processor time that a process has used so far in seconds.
///
/// # Errors
/// The process has ended.
pub fn cpu_seconds_of(process: u32) -> Result<f64> {
    let stat = fs::read_to_string(proc_file(process, "stat"))?;
    // The second field is the program's name in parentheses, which may contain spaces.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // User and system time, in hundredths of a second as on every Linux.
    Ok((ticks(11) + ticks(12)) / 100.0)
}

/// Returns the current or peak memory of a process in bytes.
///
/// # Errors
/// The process has ended.
pub fn memory_of(process: u32, peak: bool) -> Result<u64> {
    let status = fs::read_to_string(proc_file(process, "status"))?;
    let name = if peak { "VmHWM:" } else { "VmRSS:" };
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context(name)?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

impl Drop for TurnleafServer {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
