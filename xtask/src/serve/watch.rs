//! `cargo xtask serve --dev`: builds fast, and rebuilds and restarts when a source changes. An open page detects the
//! restart (`browser::reload`) and reloads itself; a release has no such code.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use notify::{EventKind, RecursiveMode, Watcher};

use crate::front::{self, FrontProfile};
use crate::step::{print_note, run_step};
use crate::{server, workspace};

/// The paths whose changes trigger a build.
const WATCHED: [&str; 5] = ["src", "style", "public", "migrations", "Cargo.toml"];
/// The debounce interval before a build begins: editors write more than once.
const QUIET: Duration = Duration::from_millis(200);

/// The pause between two servers, so that an open page notices the restart.
const AWAY: Duration = Duration::from_millis(700);

/// Serves and rebuilds until stopped.
///
/// # Errors
/// The files cannot be watched. A failed build is shown, and the next change tries again.
pub fn run(args: &[String]) -> Result<()> {
    let (changed, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_)) {
            for path in event.paths {
                // The receiver is gone only when the program ends.
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
    let mut scope = RebuildScope::EVERYTHING;
    loop {
        let mut failed = RebuildScope::NOTHING;
        match build(scope) {
            Ok(binary) => {
                if let Some(mut old) = running.take() {
                    stop(&mut old);
                    std::thread::sleep(AWAY);
                }
                running = Some(serve(&binary, args)?);
            }
            Err(error) => {
                eprintln!("\n{error:#}");
                failed = scope;
            }
        }
        print_note("waiting for a change");
        scope = next_change(&changes)?.widest_of(failed);
    }
}

/// The parts of the product to rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RebuildScope {
    front: bool,
    server: bool,
}

impl RebuildScope {
    const EVERYTHING: Self = Self { front: true, server: true };
    const NOTHING: Self = Self { front: false, server: false };

    /// Returns the union of both scopes.
    fn widest_of(self, other: Self) -> Self {
        Self { front: self.front || other.front, server: self.server || other.server }
    }
}

/// The directories below `src` that are not compiled for the browser.
const SERVER_ALONE: [&str; 9] =
    ["convert", "interchange", "platform", "providers", "run", "server", "service", "store", "tools"];

/// Returns the parts that a change of this file affects.
fn scope_of(path: &Path) -> RebuildScope {
    let path = path.strip_prefix(workspace::root()).unwrap_or(path);
    let names: Vec<&str> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    match names[..] {
        // Temporary files of editors.
        [.., name] if name.starts_with('.') || name.ends_with('~') || name == "4913" => RebuildScope::NOTHING,
        ["style" | "public", ..] => RebuildScope { front: true, server: false },
        ["migrations", ..] => RebuildScope { front: false, server: true },
        ["src", folder, _, ..] if SERVER_ALONE.contains(&folder) => RebuildScope { front: false, server: true },
        [] => RebuildScope::NOTHING,
        _ => RebuildScope::EVERYTHING,
    }
}

/// Waits for a change and for the debounce interval after it.
fn next_change(changes: &Receiver<PathBuf>) -> Result<RebuildScope> {
    loop {
        let mut scope = scope_of(&changes.recv()?);
        while let Ok(path) = changes.recv_timeout(QUIET) {
            scope = scope.widest_of(scope_of(&path));
        }
        if scope != RebuildScope::NOTHING {
            return Ok(scope);
        }
    }
}

/// Rebuilds the changed parts concurrently. A debug build reads the site from disk.
fn build(scope: RebuildScope) -> Result<PathBuf> {
    let build_server = || run_step("compile the server", server::build_dev);
    let (front, binary) = std::thread::scope(|threads| {
        let server = scope.server.then(|| threads.spawn(build_server));
        let front = if scope.front { front::build_front(FrontProfile::Dev).map(drop) } else { Ok(()) };
        let failed = |_| Err(anyhow!("the build of the server panicked"));
        let binary = server.map_or_else(|| Ok(server::debug_binary()), |server| server.join().unwrap_or_else(failed));
        (front, binary)
    });
    front?;
    binary
}

fn serve(binary: &Path, args: &[String]) -> Result<Child> {
    let mut command = Command::new(binary);
    command.current_dir(workspace::root()).arg("serve").args(args);
    command.env("TURNLEAF_SITE_ROOT", workspace::site());
    command.spawn().with_context(|| binary.display().to_string())
}

/// Kills the server: its startup sweep recovers running replies, and a change should be visible immediately.
fn stop(child: &mut Child) {
    // The process may already have ended.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_rebuilds_affected_sides() {
        let site = RebuildScope { front: true, server: false };
        let server = RebuildScope { front: false, server: true };
        for (path, scope) in [
            ("style/main.css", site),
            ("public/favicon.ico", site),
            ("src/store/turns/write.rs", server),
            ("src/server/http/router.rs", server),
            ("migrations/sqlite/0001_start.sql", server),
            ("src/domain/blocks/block.rs", RebuildScope::EVERYTHING),
            ("src/ui/app.rs", RebuildScope::EVERYTHING),
            ("src/server.rs", RebuildScope::EVERYTHING),
            ("Cargo.toml", RebuildScope::EVERYTHING),
            ("src/ui/.app.rs.swp", RebuildScope::NOTHING),
            ("src/ui/app.rs~", RebuildScope::NOTHING),
        ] {
            assert_eq!(scope_of(&workspace::root().join(path)), scope, "{path}");
        }
    }

    #[test]
    fn concurrent_changes_rebuild_all_affected_sides() {
        let site = RebuildScope { front: true, server: false };
        let server = RebuildScope { front: false, server: true };
        assert_eq!(site.widest_of(server), RebuildScope::EVERYTHING);
        assert_eq!(RebuildScope::NOTHING.widest_of(server), server);
    }
}
