//! `turnleaf guard`: a supervisor process between Turnleaf and a program that it runs. It ensures that no process of
//! the program survives when it is stopped, when Turnleaf is killed, or when the program leaves children behind. It
//! is a separate process because only a parent or subreaper can reap the processes that a program leaves behind.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use turnleaf_domain::limits::TOOL_STOP;

/// Poll interval for whether Turnleaf is alive. A parent-death signal is unsuitable, because it fires when the thread
/// that started the guard exits, which may be long before the process does.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Interval at which remaining processes are killed again.
const KILL_EVERY: Duration = Duration::from_millis(50);
/// The exit code that shells use for a command that was not found.
pub const NOT_STARTED: u8 = 127;
const SIGNALLED: u8 = 128;

/// Runs a program until it exits, until `parent` is gone, or until SIGTERM (its processes get SIGTERM and are killed
/// after [`TOOL_STOP`]) or SIGQUIT (they are killed at once). Returns the program's exit code, or 128 plus its
/// signal.
pub fn run(parent: u32, argv: &[OsString]) -> ExitCode {
    let done = prepare().and_then(|()| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(watch(parent, argv))
    });
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("turnleaf: the program could not be guarded: {error}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Replaces this process with the program, which dies with its `parent`, the guard.
pub fn become_program(parent: u32, argv: &[OsString]) -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        eprintln!("turnleaf: {error}");
    }
    let Some((program, arguments)) = argv.split_first() else { return ExitCode::from(NOT_STARTED) };
    if !is_parent(parent) {
        return ExitCode::from(NOT_STARTED);
    }
    let error = Command::new(program).args(arguments).exec();
    eprintln!("turnleaf: cannot start {}: {error}", program.display());
    ExitCode::from(NOT_STARTED)
}

/// Starts a new session, detached from any terminal, and becomes the subreaper that adopts orphaned descendants.
fn prepare() -> io::Result<()> {
    // This fails only if the process already leads a group, which is equally good.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

async fn watch(parent: u32, argv: &[OsString]) -> io::Result<u8> {
    let mut polite = signal(SignalKind::terminate())?;
    let mut at_once = signal(SignalKind::quit())?;
    let mut child_ended = signal(SignalKind::child())?;
    let mut look = tokio::time::interval(LOOK_EVERY);
    let child = Command::new(std::env::current_exe()?)
        .args(["guard", "--become", &std::process::id().to_string(), "--"])
        .args(argv)
        .spawn()?;
    let program = Pid::from_child(&child);
    let mut code = None;
    let mut is_polite = true;
    while code.is_none() {
        tokio::select! {
            _ = child_ended.recv() => code = reap(program).0,
            _ = polite.recv() => break,
            _ = at_once.recv() => {
                is_polite = false;
                break;
            }
            _ = look.tick() => if !is_parent(parent) { break },
        }
    }
    let kill_at = Instant::now() + if is_polite { TOOL_STOP } else { Duration::ZERO };
    signal_all(Signal::TERM);
    loop {
        let (ended, anything_left) = reap(program);
        code = code.or(ended);
        if !anything_left {
            return Ok(code.unwrap_or_default());
        }
        if Instant::now() >= kill_at {
            signal_all(Signal::KILL);
        }
        tokio::select! {
            _ = child_ended.recv() => {}
            _ = at_once.recv() => signal_all(Signal::KILL),
            () = tokio::time::sleep(KILL_EVERY) => {}
        }
    }
}

fn is_parent(parent: u32) -> bool {
    rustix::process::getppid().is_some_and(|pid| u32::try_from(pid.as_raw_pid()) == Ok(parent))
}

/// Reaps exited processes; returns the program's exit code if it is among them, and whether any process is left.
fn reap(program: Pid) -> (Option<u8>, bool) {
    let mut code = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == program => code = Some(code_of(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return (code, true),
            Err(_) => return (code, false),
        }
    }
}

fn code_of(status: WaitStatus) -> u8 {
    let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
    let signal = || status.terminating_signal().and_then(|signal| u8::try_from(signal).ok());
    code.or_else(|| signal().map(|signal| SIGNALLED.saturating_add(signal))).unwrap_or(1)
}

/// Signals every descendant of this process, or its process group if they cannot be listed.
fn signal_all(signal: Signal) {
    let own = rustix::process::getpid();
    match descendants(own) {
        Some(all) => {
            for pid in all {
                // The process may have exited meanwhile.
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        None => {
            let _ = rustix::process::kill_process_group(own, signal);
        }
    }
}

/// Returns all descendants of a process from `/proc`, or `None` where there is no `/proc`.
fn descendants(of: Pid) -> Option<Vec<Pid>> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            parents.push((pid, parent));
        }
    }
    if parents.is_empty() {
        return None;
    }
    let mut found = vec![of.as_raw_pid()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(pid, of)| *of == parent && *pid != parent).map(|(pid, _)| *pid));
        next += 1;
    }
    Some(found.into_iter().skip(1).filter_map(Pid::from_raw).collect())
}

/// Returns the fourth field of `stat`. The second field is a name in parentheses that may contain anything, also
/// parentheses.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    std::str::from_utf8(&stat[after_name..]).ok()?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_is_found_after_any_process_name() {
        assert_eq!(parent_in(b"12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (a) R 1 (b) S 9 12"), Some(9));
        assert_eq!(parent_in(b"12 (\xff) S 3 12"), Some(3));
        assert_eq!(parent_in(b""), None);
    }
}
