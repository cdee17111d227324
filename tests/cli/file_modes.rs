//! File permissions: only the owner can read the files of an installation, whatever the umask; other modes are
//! repaired with one warning.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{CliServer, run, text, turnleaf};

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Returns the program's command under the umask that most accounts have.
fn with_usual_umask(data_dir: &Path, arguments: &[&str]) -> Command {
    let program = turnleaf(data_dir);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(program.get_program()).args(arguments);
    command.env_clear();
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output_with_usual_umask(data_dir: &Path, arguments: &[&str]) -> Output {
    let output = with_usual_umask(data_dir, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    output
}

/// Lists every path below a folder, including the folder.
fn all_paths(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { paths.extend(all_paths(&path)) } else { paths.push(path) }
    }
    paths
}

#[test]
fn new_files_of_every_command_are_private_to_owner() {
    let parent = tempfile::tempdir().unwrap();
    let data_dir = parent.path().join("data");
    let file = |name: &str| parent.path().join(name).to_str().unwrap().to_owned();
    output_with_usual_umask(&data_dir, &["migrate"]);
    output_with_usual_umask(&data_dir, &["backup", &file("backup.db")]);
    output_with_usual_umask(&data_dir, &["export", "--output", &file("chats.json")]);
    let restored = output_with_usual_umask(&data_dir, &["restore", &file("backup.db")]);
    assert!(text(&restored.stdout).contains("before-restore"));
    for name in ["backup.db", "chats.json"] {
        assert_eq!(mode_of(&parent.path().join(name)), 0o600, "{name}");
    }
    let server = CliServer::spawn(&mut with_usual_umask(&data_dir, &["serve", "--listen", "127.0.0.1:0"]));
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    let paths = all_paths(&data_dir);
    for name in ["turnleaf.db", "turnleaf.db-wal", "secret.key", "turnleaf.lock", "imports"] {
        assert!(paths.contains(&data_dir.join(name)), "{name} is looked at: {paths:?}");
    }
    for path in paths {
        assert_eq!(mode_of(&path) & 0o077, 0, "{}: {:o}", path.display(), mode_of(&path));
    }
}

#[test]
fn world_readable_files_are_restricted_with_one_warning() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &["migrate"]).status.code(), Some(0));
    let backup = dir.path().join("turnleaf.db.backup-19-20260101T000000.000Z");
    fs::write(&backup, "an older database").unwrap();
    let (notes, target) = (dir.path().join("notes.txt"), elsewhere.path().join("key"));
    fs::write(&notes, "not the program's").unwrap();
    fs::write(&target, "0".repeat(64)).unwrap();
    std::os::unix::fs::symlink(&target, dir.path().join("secret.key")).unwrap();
    let closed = ["turnleaf.db", "turnleaf.lock", "turnleaf.db.backup-19-20260101T000000.000Z"];
    let open = || {
        set_mode(dir.path(), 0o755);
        for name in closed {
            set_mode(&dir.path().join(name), 0o644);
        }
        set_mode(&notes, 0o644);
        set_mode(&target, 0o644);
    };
    let check = |of: &str, stderr: &str| {
        assert_eq!(mode_of(dir.path()), 0o700, "{of}");
        let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("other accounts could read")).collect();
        let [line] = lines[..] else { panic!("{of}: one warning, and not {stderr}") };
        for name in closed {
            assert_eq!(mode_of(&dir.path().join(name)), 0o600, "{of}: {name}");
            assert!(line.contains(name), "{of}: {name} is named in {line}");
        }
        assert!(line.contains("secret.key; not changed: it is a symbolic link"), "{of}: {line}");
        assert_eq!((mode_of(&target), mode_of(&notes)), (0o644, 0o644), "{of}: what is not ours stays");
    };

    open();
    let doctor = run(dir.path(), &["doctor"]);
    assert!(text(&doctor.stdout).contains("other accounts can read"), "{}", text(&doctor.stdout));
    assert_eq!(mode_of(dir.path()), 0o755, "doctor changes nothing");
    assert_eq!(run(dir.path(), &["migrate", "--dry-run"]).status.code(), Some(0));
    assert_eq!(mode_of(dir.path()), 0o755, "a dry run changes nothing");

    let copy = elsewhere.path().join("copy.db");
    for arguments in [&["migrate"] as &[&str], &["backup", copy.to_str().unwrap()]] {
        open();
        let output = run(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        check(arguments[0], &text(&output.stderr));
    }
    open();
    let mut server = CliServer::start(dir.path());
    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let mut stderr = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    check("serve", &stderr);
    set_mode(&target, 0o600);
    let quiet = run(dir.path(), &["migrate"]);
    assert!(quiet.stderr.is_empty(), "no warning where all modes are right: {}", text(&quiet.stderr));
}
