//! `cargo xtask serve --dev`: builds fast, and builds and starts again whenever a source changes. An open page sees that
//! the server was away (`browser::reload`) and reloads itself; a release has no such code.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use notify::{EventKind, RecursiveMode, Watcher};

use crate::front::{self, Effort};
use crate::step::{note, step};
use crate::{server, workspace};

/// What makes a new build.
const WATCHED: [&str; 5] = ["src", "style", "public", "migrations", "Cargo.toml"];
/// How long no file may change before a build begins: editors write more than once.
const QUIET: Duration = Duration::from_millis(200);

/// How long the server is away between two builds, so that an open page notices.
const AWAY: Duration = Duration::from_millis(700);

/// Serves and rebuilds until stopped.
///
/// # Errors
/// The files cannot be watched. A build that fails is shown, and the next change tries again.
pub fn run(args: &[String]) -> Result<()> {
    let (changed, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_)) {
            for path in event.paths {
                // Nobody listens any more only when the program ends.
                let _ = changed.send(path);
            }
        }
    })?;
    for name in WATCHED {
        let path = workspace::root().join(name);
        if path.exists() {
            watcher.watch(&path, RecursiveMode::Recursive).with_context(|| path.display().to_string())?;
        }
    }
    let mut running: Option<Child> = None;
    let mut scope = Scope::Everything;
    loop {
        match build(scope) {
            Ok(binary) => {
                if let Some(mut old) = running.take() {
                    stop(&mut old);
                    std::thread::sleep(AWAY);
                }
                running = Some(serve(&binary, args)?);
            }
            Err(error) => eprintln!("\n{error:#}"),
        }
        note("waiting for a change");
        scope = next_change(&changes)?;
    }
}

/// How much of the product a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Code: both sides.
    Everything,
    /// Style or public files: the compilers find nothing to do.
    Site,
}

fn scope_of(path: &Path) -> Option<Scope> {
    let path = path.strip_prefix(workspace::root()).unwrap_or(path);
    let name = path.file_name()?.to_str()?;
    // What editors leave while they write.
    if name.starts_with('.') || name.ends_with('~') || name == "4913" {
        return None;
    }
    let top = path.components().next()?.as_os_str();
    Some(if top == "style" || top == "public" { Scope::Site } else { Scope::Everything })
}

/// Waits for a change and for quiet after it.
fn next_change(changes: &Receiver<PathBuf>) -> Result<Scope> {
    loop {
        let mut scopes: Vec<_> = scope_of(&changes.recv()?).into_iter().collect();
        while let Ok(path) = changes.recv_timeout(QUIET) {
            scopes.extend(scope_of(&path));
        }
        if scopes.contains(&Scope::Everything) {
            return Ok(Scope::Everything);
        }
        if !scopes.is_empty() {
            return Ok(Scope::Site);
        }
    }
}

fn build(scope: Scope) -> Result<PathBuf> {
    front::build(Effort::Dev)?;
    match scope {
        Scope::Everything => step("compile the server", server::dev),
        Scope::Site => Ok(server::debug_binary()),
    }
}

fn serve(binary: &Path, args: &[String]) -> Result<Child> {
    let mut command = Command::new(binary);
    command.current_dir(workspace::root()).arg("serve").args(args);
    command.env("TURNLEAF_SITE_ROOT", workspace::site());
    command.spawn().with_context(|| binary.display().to_string())
}

/// Ends the server at once: its start-up sweep is as good as a long farewell, and a change should be seen now.
fn stop(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_style_does_not_compile_the_server() {
        let root = workspace::root();
        assert_eq!(scope_of(&root.join("style/main.css")), Some(Scope::Site));
        assert_eq!(scope_of(&root.join("src/ui/app.rs")), Some(Scope::Everything));
        assert_eq!(scope_of(&root.join("src/ui/.app.rs.swp")), None);
    }
}
