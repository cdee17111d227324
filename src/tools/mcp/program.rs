//! A server that is a program of the configuration file: started without a shell, with its own environment and behind
//! a guard, and stopped with all its descendants.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Duration, Instant, sleep_until, timeout, timeout_at};

use super::guard::NOT_STARTED;
use super::lines::{BoundedLine, BoundedLines};
use super::log::ServerOutputLog;
use turnleaf_domain::limits::TOOL_STOP;
use turnleaf_domain::{CodedMessage, MessageCode};

/// Inherited variables that programs need; those of the configuration override them. None holds an API key of
/// Turnleaf.
const KEPT: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/// Grace period of the guard beyond the time that it gives its program.
const SLACK: Duration = Duration::from_millis(1500);
/// Longest line of standard error, in bytes.
const STDERR_LINE_BYTES: usize = 8 << 10;

/// Lines of standard error that are logged, and lines that are read, within each window.
const STDERR_LINES: usize = 200;
const STDERR_LINES_READ: usize = 10_000;
const STDERR_WINDOW: Duration = Duration::from_secs(1);

/// A running program. Dropping it requests its stop without waiting.
#[derive(Debug)]
pub struct GuardedProgram {
    guard: Child,
}

/// Standard input and output of a program.
#[derive(Debug)]
pub struct ProgramPipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
}

/// Starts a program; its standard error goes to the log.
///
/// # Errors
/// The guard could not be started. A failure to start the program itself appears as its exit status.
pub fn start(
    guard: &Path,
    argv: &[String],
    env: &BTreeMap<String, String>,
    folder: Option<&Path>,
    log: &ServerOutputLog,
) -> io::Result<(GuardedProgram, ProgramPipes)> {
    let mut command = Command::new(guard);
    command.arg("guard").arg(std::process::id().to_string()).arg("--").args(argv).env_clear();
    command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)))).envs(env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut guard = command.spawn()?;
    let pipes = guard.stdin.take().zip(guard.stdout.take()).map(|(input, output)| ProgramPipes { input, output });
    if let Some(stderr) = guard.stderr.take() {
        tokio::spawn(log_stderr(stderr, log.clone()));
    }
    pipes.map(|pipes| (GuardedProgram { guard }, pipes)).ok_or_else(|| io::Error::other("it has no pipes"))
}

/// Logs standard error. Of more lines than fit a window, the last ones are logged at its end.
async fn log_stderr(stderr: impl AsyncRead + Unpin, log: ServerOutputLog) {
    let mut lines = BoundedLines::new(BufReader::new(stderr), STDERR_LINE_BYTES);
    let mut last = VecDeque::new();
    let (mut until, mut read, mut is_noted) = (Instant::now() + STDERR_WINDOW, 0, false);
    loop {
        // The reader keeps what it has of a line when the window ends.
        let line = match last.is_empty() {
            true => lines.next().await,
            false => match timeout_at(until, lines.next()).await {
                Ok(line) => line,
                Err(_) => {
                    log_last(&mut last, &log);
                    continue;
                }
            },
        };
        let Ok(Some(line)) = line else { return log_last(&mut last, &log) };
        if Instant::now() >= until {
            (until, read, is_noted) = (Instant::now() + STDERR_WINDOW, 0, false);
            log_last(&mut last, &log);
        }
        read += 1;
        if read <= STDERR_LINES {
            log_line(line, &log);
            continue;
        }
        last.push_back(line);
        if last.len() > STDERR_LINES {
            last.pop_front();
            if !std::mem::replace(&mut is_noted, true) {
                log.add("(some lines were dropped because there were too many)");
            }
        }
        if read > STDERR_LINES_READ {
            // The program waits meanwhile, because its pipe is full.
            sleep_until(until).await;
        }
    }
}

fn log_last(last: &mut VecDeque<BoundedLine>, log: &ServerOutputLog) {
    last.drain(..).for_each(|line| log_line(line, log));
}

fn log_line(line: BoundedLine, log: &ServerOutputLog) {
    match line {
        BoundedLine::Whole(line) => log.add(&String::from_utf8_lossy(&line)),
        BoundedLine::TooLong { head, .. } => log.add_truncated(head),
    }
}

impl GuardedProgram {
    /// Stops the program and all its descendants, gracefully unless `at_once`; returns how the program exited, once
    /// no process is left, as a part of a sentence.
    pub async fn stop(mut self, at_once: bool) -> CodedMessage {
        self.send_signal(if at_once { Signal::QUIT } else { Signal::TERM });
        self.wait_for_exit().await
    }

    /// Like [`Self::stop`], for a program that has closed its pipe: waits briefly for it to exit by itself, so that
    /// its exit code is known.
    pub async fn wait_then_stop(mut self) -> CodedMessage {
        match timeout(SLACK, self.guard.wait()).await {
            Ok(status) => describe_exit(status.ok()),
            Err(_) => self.stop(false).await,
        }
    }

    async fn wait_for_exit(&mut self) -> CodedMessage {
        if let Ok(status) = timeout(TOOL_STOP + SLACK, self.guard.wait()).await {
            return describe_exit(status.ok());
        }
        // The guard itself hangs. Programs that died with it are gone; the rest of its group is killed.
        if let Some(pid) = self.pid() {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        let _ = self.guard.start_kill();
        describe_exit(self.guard.wait().await.ok())
    }

    fn send_signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // The process may have exited meanwhile; its pid is not reused, because it is not reaped before `wait`.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.guard.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for GuardedProgram {
    fn drop(&mut self) {
        self.send_signal(Signal::TERM);
    }
}

/// Describes the exit of a program for people.
fn describe_exit(status: Option<ExitStatus>) -> CodedMessage {
    match status.and_then(|status| status.code()) {
        Some(code) if code == i32::from(NOT_STARTED) => MessageCode::ProgramNotFound.into(),
        Some(code) if code > 128 => MessageCode::ProgramSignalled.with("signal", code - 128),
        Some(code) => MessageCode::ProgramExited.with("exit_code", code),
        None => MessageCode::ProgramKilled.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_providers::redaction::SecretSet;

    #[tokio::test(start_paused = true)]
    async fn stderr_flood_is_throttled() {
        let log = ServerOutputLog::default();
        let flood = "x\n".repeat(5 * STDERR_LINES_READ) + "end\n";
        let began = Instant::now();
        log_stderr(flood.as_bytes(), log.clone()).await;
        assert!(began.elapsed() >= 4 * STDERR_WINDOW, "{:?}", began.elapsed());
        let text = log.text();
        assert!(text.contains("lines were dropped") && text.ends_with("x\nend\n"), "{text}");
    }

    #[tokio::test]
    async fn stderr_line_cut_within_key_shows_no_part_of_it() {
        let key = "9f8e7d6c5b4a3f2e";
        for padding in [500, 505, STDERR_LINE_BYTES - 8] {
            let log = ServerOutputLog::with_secrets(SecretSet::new([key.into()]));
            let output = format!("{}{key}{}\nnext\n", "x".repeat(padding), "y".repeat(STDERR_LINE_BYTES));
            log_stderr(output.as_bytes(), log.clone()).await;
            let text = log.text();
            assert!(text.starts_with("xx") && text.ends_with("…\nnext\n") && !text.contains("9f8"), "{text}");
        }
    }
}
