//! The product as a process: started on loopback with a model server behind it, looked at through `/proc`, ended kindly
//! or not.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::client::LoopbackClient;

/// A start that takes longer has failed.
const START: Duration = Duration::from_secs(20);

/// A running server.
pub struct TurnleafServer {
    child: Child,
    pub address: SocketAddr,
    /// From the start of the process to the first page, seconds.
    pub started_in: f64,
}

/// A binary and where its data lies.
pub struct BenchInstallation {
    pub binary: PathBuf,
    pub dir: PathBuf,
    pub model_server: SocketAddr,
    /// Another database than the file that it makes itself.
    pub database: Option<String>,
}

impl BenchInstallation {
    /// The same over this database, if one is named.
    pub fn with_database(self, database: Option<String>) -> Self {
        Self { database, ..self }
    }

    /// Where its chats are; the folder of a file is there afterwards, as the server would make it.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn database_url(&self) -> Result<String> {
        if let Some(database) = &self.database {
            return Ok(database.clone());
        }
        let state = self.dir.join("state");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
        Ok(format!("sqlite://{}", state.join("turnleaf.db").display()))
    }

    /// A call of the binary, with its data, that knows nothing of the person's own configuration.
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
    /// It does not start; its log says why.
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

    /// Whether `turnleaf fsck` finds nothing.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn is_sound(&self) -> Result<bool> {
        Ok(self.command("fsck").stderr(Stdio::inherit()).status()?.success())
    }
}

impl TurnleafServer {
    /// Memory in use now, or the most that ever was, bytes.
    ///
    /// # Errors
    /// The process has ended.
    pub fn memory_bytes(&self, peak: bool) -> Result<u64> {
        memory_of(self.child.id(), peak)
    }

    /// Processor time used so far, seconds.
    ///
    /// # Errors
    /// The process has ended.
    pub fn cpu_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(self.proc("stat"))?;
        // The second field is the program's name in brackets, which may hold spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        // User and system time, in the hundredths of a second that Linux shows everywhere.
        Ok((ticks(11) + ticks(12)) / 100.0)
    }

    fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(name)
    }

    /// SIGKILL.
    ///
    /// # Errors
    /// It had ended before.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// SIGTERM, and waits for the end.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn stop(mut self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Memory that a process uses now, or the most that it ever did, bytes.
///
/// # Errors
/// The process has ended.
pub fn memory_of(process: u32, peak: bool) -> Result<u64> {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"))?;
    let name = if peak { "VmHWM:" } else { "VmRSS:" };
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context(name)?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

impl Drop for TurnleafServer {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
