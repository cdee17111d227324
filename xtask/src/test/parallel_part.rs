//! A part of the tests that runs in a process of its own, concurrently with another. Its output is kept, and shown at
//! its end.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::find_program;

/// The priority that a part gives up. Tests with deadlines come first, but only by a little: the release ends with minutes
/// on one core, and what comes before them has to be done while the tests are compiled, which have no deadlines then.
const NICENESS: i32 = 3;

/// A running part.
pub struct ParallelPart {
    pub name: &'static str,
    child: Child,
    output: File,
}

impl ParallelPart {
    /// Starts the part.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(name: &'static str) -> Result<Self> {
        // The path of the executable is avoided if possible, because an earlier part may have rebuilt this program.
        let this = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
        let this = if this.exists() { this } else { std::env::current_exe()? };
        Self::run(name, behind_others(&this).args(["test", name]))
    }

    fn run(name: &'static str, command: &mut Command) -> Result<Self> {
        let output = tempfile::tempfile()?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
        let child = command.spawn().with_context(|| format!("cannot begin {name}"))?;
        Ok(Self { name, child, output })
    }

    /// Waits for the end of the part and shows its output.
    ///
    /// # Errors
    /// The part failed.
    pub fn wait_for_end(mut self) -> Result<()> {
        let status = self.child.wait()?;
        std::io::stderr().write_all(self.output()?.as_bytes())?;
        if !status.success() {
            bail!("it failed beside another part ({status}); its output is above");
        }
        Ok(())
    }

    fn output(&mut self) -> Result<String> {
        let mut words = Vec::new();
        self.output.rewind()?;
        self.output.read_to_end(&mut words)?;
        Ok(String::from_utf8_lossy(&words).into_owned())
    }
}

/// Returns the command of a program that has a lower priority, where the system can give one.
fn behind_others(program: &Path) -> Command {
    let Some(nice) = find_program("nice") else { return Command::new(program) };
    let mut command = Command::new(nice);
    command.arg("-n").arg(NICENESS.to_string()).arg(program);
    command
}

impl Drop for ParallelPart {
    /// Waits for the process instead of killing it, because it would leave its servers running.
    fn drop(&mut self) {
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_and_failure_fails_part() {
        let begin = |script: &str| ParallelPart::run("unit", Command::new("sh").args(["-c", script])).unwrap();
        let mut fine = begin("echo one; echo two >&2");
        assert!(fine.child.wait().unwrap().success());
        assert_eq!(fine.output().unwrap(), "one\ntwo\n");
        assert!(fine.wait_for_end().is_ok());
        assert!(begin("exit 3").wait_for_end().unwrap_err().to_string().contains("exit status: 3"));
    }

    #[test]
    fn part_has_lower_priority() {
        // Without arguments, the program of Linux prints the priority that it has.
        let Some(nice) = find_program("nice").filter(|_| cfg!(target_os = "linux")) else { return };
        let printed = |mut command: Command| -> i32 {
            String::from_utf8(command.output().unwrap().stdout).unwrap().trim().parse().unwrap()
        };
        let own = printed(Command::new(&nice));
        assert_eq!(printed(behind_others(&nice)), (own + NICENESS).min(19));
    }
}
