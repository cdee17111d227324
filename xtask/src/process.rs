//! Server processes of a command: on a free port, with captured output, ended with their owner.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::http;
use crate::step::format_command;

/// A process that ends when this value is dropped.
pub struct RunningProcess {
    child: Child,
    pub address: SocketAddr,
    log: PathBuf,
}

/// Returns a loopback port that is free at the moment.
///
/// # Errors
/// There is no free port.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl RunningProcess {
    /// Starts a server that listens on `address`; its output goes to the file `log`.
    ///
    /// # Errors
    /// The process could not be started.
    pub fn start(command: &mut Command, address: SocketAddr, log: &Path) -> Result<Self> {
        let output = File::create(log).with_context(|| log.display().to_string())?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("cannot start `{}`", format_command(command)))?;
        Ok(Self { child, address, log: log.to_owned() })
    }

    /// Waits until a path answers with 200.
    ///
    /// # Errors
    /// The process ended or the time is up; the error has the end of its output.
    pub fn wait_for(&mut self, path: &str, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            if http::get(self.address, path, "identity").is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            self.check_running()?;
            if start.elapsed() > limit {
                bail!("no answer on http://{}{path} after {} s:\n{}", self.address, limit.as_secs(), self.output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Fails if the process has ended.
    ///
    /// # Errors
    /// The process has ended; the error has the end of its output.
    pub fn check_running(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("the server ended ({status}):\n{}", self.output()),
            None => Ok(()),
        }
    }

    /// Returns the resident memory in bytes, from `/proc`.
    ///
    /// # Errors
    /// The process has ended, or the system has no `/proc`.
    pub fn resident_memory(&self) -> Result<u64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS")?;
        Ok(kibibytes * 1024)
    }

    /// Returns the last lines of the output.
    pub fn output(&self) -> String {
        let all = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = all.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
