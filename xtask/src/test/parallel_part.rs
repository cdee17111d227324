//! A part of the tests that runs in a process of its own, concurrently with another. Its output is kept, and shown at
//! its end.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::find_program;

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
        // It uses what the other part leaves of the processor: tests with deadlines come first.
        let mut command = match find_program("nice") {
            Some(nice) => {
                let mut command = Command::new(nice);
                command.args(["-n", "10"]).arg(this);
                command
            }
            None => Command::new(this),
        };
        Self::run(name, command.args(["test", name]))
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
}
