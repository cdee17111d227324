//! Execution of build steps. A step prints its name before and its duration after. Programs that it calls print
//! directly.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs a step with its name.
///
/// # Errors
/// The error of the step, prefixed with its name.
pub fn run_step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("==> {name}");
    let start = Instant::now();
    let done = work().with_context(|| name.to_owned())?;
    eprintln!("    {name}: {}", format_duration(start.elapsed()));
    Ok(done)
}

/// Prints a note that needs no action.
pub fn print_note(text: &str) {
    eprintln!("    {text}");
}

/// Formats a duration: seconds below two minutes, minutes above.
pub fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        0..120 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Formats a size in bytes for people.
pub fn format_size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Formats a command as it would be typed.
pub fn format_command(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end; its output goes to the terminal.
///
/// # Errors
/// The command could not be started, or failed.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", format_command(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", format_command(command));
    }
    Ok(())
}

/// Runs a command to its end and returns its output.
///
/// # Errors
/// Same as [`run`]; the error has the text of stderr.
pub fn output(command: &mut Command) -> Result<String> {
    let done =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", format_command(command)))?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("`{}` failed ({}): {}", format_command(command), done.status, stderr.trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Runs a command quietly and returns whether it succeeded.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// Runs a command with a time limit; returns `None` if it was ended because the time was up.
///
/// # Errors
/// The command could not be started or ended.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<Option<bool>> {
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", format_command(command)))?;
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Returns the path of a program on the `PATH`.
pub fn find_program(name: impl AsRef<OsStr>) -> Option<std::path::PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(name.as_ref())).find(|path| path.is_file())
}
