//! The commands that import and export chats, copy the database and restore a copy: their results and exit codes, and
//! that a command that fails leaves everything unchanged.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use turnleaf_store::Db;

use crate::{CliServer, run, text, turnleaf};

fn sample(name: &str) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/interchange/samples");
    samples.join(name).to_str().unwrap().to_owned()
}

/// Asserts the exit code. Returns standard output and standard error.
#[track_caller]
fn assert_exit(output: &Output, code: i32) -> (String, String) {
    let (out, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}\n{stderr}");
    (out, stderr)
}

/// Creates an installation and imports this sample into it.
fn install_sample(sample_of: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    assert_exit(&run(dir.path(), &["import", &sample(sample_of)]), 0);
    dir
}

fn titles(dir: &Path) -> BTreeSet<String> {
    let (archive, _) = assert_exit(&run(dir, &["export"]), 0);
    let archive: Value = serde_json::from_str(&archive).unwrap();
    let title = |chat: &Value| chat["chat"]["title"].as_str().unwrap().to_owned();
    archive["chats"].as_array().unwrap().iter().map(title).collect()
}

/// Runs SQL that the product would never run.
fn sql(file: &Path, words: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = Db::open_file(file).await.unwrap();
        let Db::Sqlite { writer, .. } = &db else { unreachable!("it is a file") };
        sqlx::raw_sql(AssertSqlSafe(words.to_owned())).execute(writer).await.unwrap();
        db.close().await;
    });
}

/// Lists the files beside the database in the data directory.
fn files_beside_database(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("turnleaf.db") && !name.ends_with("-wal") && !name.ends_with("-shm")).collect()
}

fn copy_of(dir: &Path) -> PathBuf {
    let copy = dir.join("copy.db");
    assert_exit(&run(dir, &["backup", copy.to_str().unwrap()]), 0);
    copy
}

#[test]
fn restore_replaces_database_and_keeps_previous_one() {
    let (one, other, new) = (
        install_sample("chatgpt/conversations.json"),
        install_sample("claude/conversations.json"),
        tempfile::tempdir().unwrap(),
    );
    let copy = copy_of(one.path());
    let restored = titles(other.path());
    assert!(!restored.is_empty() && restored.is_disjoint(&titles(one.path())));
    for round in 1..=2 {
        let (out, _) = assert_exit(&run(other.path(), &["restore", copy.to_str().unwrap()]), 0);
        assert!(out.contains("Restored ") && out.contains(&format!(" from {}.", copy.display())), "{out}");
        assert_eq!(titles(other.path()), titles(one.path()));
        assert_exit(&run(other.path(), &["fsck"]), 0);
        // A second restore never overwrites the database that an earlier one set aside.
        assert_eq!(files_beside_database(other.path()).len(), 1 + round, "{:?}", files_beside_database(other.path()));
    }
    let mut kept = files_beside_database(other.path());
    kept.sort();
    let first = tempfile::tempdir().unwrap();
    std::fs::copy(other.path().join(&kept[1]), first.path().join("turnleaf.db")).unwrap();
    assert_eq!(titles(first.path()), restored);
    // A restore into an empty directory sets nothing aside.
    assert_exit(&run(new.path(), &["restore", copy.to_str().unwrap()]), 0);
    assert_eq!(
        (titles(new.path()), files_beside_database(new.path())),
        (titles(one.path()), vec!["turnleaf.db".to_owned()])
    );
}

#[test]
fn restore_includes_wal_of_killed_servers_database() {
    let (one, new, elsewhere) =
        (install_sample("chatgpt/conversations.json"), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (file, taken) = (one.path().join("turnleaf.db"), elsewhere.path().join("taken.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = Db::open_file(&file).await.unwrap();
        let Db::Sqlite { writer, .. } = &db else { unreachable!("it is a file") };
        sqlx::raw_sql("CREATE TABLE said_last (word TEXT)").execute(writer).await.unwrap();
        // The files are copied as they are while another process has the database open.
        std::fs::copy(&file, &taken).unwrap();
        std::fs::copy(one.path().join("turnleaf.db-wal"), elsewhere.path().join("taken.db-wal")).unwrap();
        db.close().await;
    });
    let (main, log) = (std::fs::read(&taken).unwrap(), elsewhere.path().join("taken.db-wal"));
    assert_exit(&run(new.path(), &["restore", taken.to_str().unwrap()]), 0);
    assert_eq!(titles(new.path()), titles(one.path()));
    // Changes that were only in the write-ahead log are restored too.
    sql(&new.path().join("turnleaf.db"), "DROP TABLE said_last");
    // The given copy is not changed.
    assert!(std::fs::read(&taken).unwrap() == main && log.exists());
    assert_eq!(files_beside_database(new.path()), ["turnleaf.db"]);
}

#[test]
fn restore_refuses_invalid_copy_and_changes_nothing() {
    let dir = install_sample("chatgpt/conversations.json");
    let copy = copy_of(dir.path());
    let whole = std::fs::read(&copy).unwrap();
    let before = titles(dir.path());
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let newer = file("newer.db", &whole);
    sql(&newer, "UPDATE _sqlx_migrations SET version = version + 7000");
    let old = file("old.db", &whole);
    sql(&old, "DELETE FROM _sqlx_migrations WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)");
    let older = std::fs::read(&old).unwrap();
    let stranger = file("stranger.db", b"");
    sql(&stranger, "CREATE TABLE letters (a TEXT); INSERT INTO letters VALUES ('Dear reader')");
    let (archive, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    for (case, path, code) in [
        ("nothing", dir.path().join("none.db"), 1),
        ("a folder", dir.path().to_owned(), 1),
        ("an empty file", file("empty.db", b""), 74),
        ("a letter", file("letter.db", "Dear reader, ".repeat(999).as_bytes()), 74),
        ("an archive of chats", file("archive.json", archive.as_bytes()), 74),
        ("another program's database", stranger, 74),
        ("half of a copy", file("half.db", &whole[..whole.len() / 2]), 74),
        ("a copy without its last page", file("cut.db", &whole[..whole.len() - 4096]), 74),
        ("half of an older copy", file("older.db", &older[..older.len() / 2]), 74),
        ("a copy of a newer Turnleaf", newer, 78),
    ] {
        let (_, stderr) = assert_exit(&run(dir.path(), &["restore", path.to_str().unwrap()]), code);
        assert!(stderr.contains(path.to_str().unwrap()) || code == 78, "{case}: {stderr}");
        assert_eq!(files_beside_database(dir.path()), ["turnleaf.db"], "{case}");
    }
    assert_eq!(titles(dir.path()), before);
    let server = CliServer::start(dir.path());
    let (_, stderr) = assert_exit(&run(dir.path(), &["restore", copy.to_str().unwrap()]), 75);
    assert!(stderr.contains(&format!("process {}", server.child.id())), "{stderr}");
    drop(server);
    assert_exit(&run(dir.path(), &["restore", copy.to_str().unwrap()]), 0);
}

/// Returns the number of the newest migration.
fn newest_schema() -> u32 {
    let all = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite")).unwrap();
    let number = |name: String| name.split('_').next().and_then(|number| number.parse().ok());
    all.filter_map(|file| number(file.unwrap().file_name().into_string().unwrap())).max().unwrap()
}

#[test]
fn newer_database_is_refused_by_every_command_with_one_message() {
    let dir = install_sample("claude/conversations.json");
    let known = newest_schema();
    let newer = format!("schema version {}", known + 7000);
    let copy = copy_of(dir.path());
    sql(&dir.path().join("turnleaf.db"), "UPDATE _sqlx_migrations SET version = version + 7000");
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    for command in [
        &["serve", "--listen", "127.0.0.1:0"] as &[&str],
        &["migrate"],
        &["migrate", "--dry-run"],
        &["fsck"],
        &["backup", out],
        &["import", &sample("chatgpt/conversations.json")],
        &["import", "--dry-run", &sample("chatgpt/conversations.json")],
        &["export", "--output", out],
    ] {
        let (printed, stderr) = assert_exit(&run(dir.path(), command), 78);
        assert!(printed.is_empty(), "{command:?}: {printed}");
        let words = format!("{newer}, but this version of Turnleaf only supports up to {known}");
        assert!(stderr.contains(&words), "{command:?}: {stderr}");
        assert_eq!(files_beside_database(dir.path()), ["turnleaf.db"], "{command:?}");
    }
    assert!(!Path::new(out).exists());
    let (seen, _) = assert_exit(&run(dir.path(), &["doctor"]), 1);
    assert!(seen.contains("ERROR database") && seen.contains(&newer), "{seen}");
    // The copy from before the upgrade is restored.
    assert_exit(&run(dir.path(), &["restore", copy.to_str().unwrap()]), 0);
    assert_exit(&run(dir.path(), &["fsck"]), 0);
}

#[test]
fn import_reports_result_and_dry_run_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let absent = dir.path().join("absent");
    let file = sample("chatgpt/conversations.json");
    let report = |arguments: &[&str], code| -> Value {
        let (out, _) = assert_exit(&run(&absent, arguments), code);
        serde_json::from_str(&out).unwrap()
    };
    let looked = report(&["import", "--dry-run", "--json", &file], 0);
    assert!(!absent.exists(), "a dry run makes no installation");
    let done = report(&["import", "--json", &file], 0);
    for (report, is_dry) in [(&looked[0], true), (&done[0], false)] {
        assert_eq!((&report["format"], &report["dry_run"]), (&json!("chatgpt"), &json!(is_dry)));
        let counts = ["conversations", "imported", "known", "left_out"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(counts, [5, 5, 0, 0]);
        let ids = report["chats"].as_array().unwrap().iter().filter(|chat| !chat["id"].is_null()).count();
        assert_eq!(ids, if is_dry { 0 } else { 5 });
    }
    assert_eq!((&looked[0]["turns"], &looked[0]["branches"]), (&done[0]["turns"], &done[0]["branches"]));
    let before = titles(&absent);
    let again = report(&["import", "--dry-run", "--json", &file, &sample("big_agi/all.json")], 0);
    assert_eq!(
        (&again[0]["known"], &again[1]["imported"], &again[1]["format"]),
        (&json!(5), &json!(2), &json!("big-agi"))
    );
    assert_eq!(titles(&absent), before);
    // The output for people.
    let (stdout, _) = assert_exit(&run(&absent, &["import", &file]), 0);
    assert!(stdout.contains("5 already imported, 0 not imported"), "{stdout}");

    let nonsense = dir.path().join("nonsense.json");
    std::fs::write(&nonsense, "Dear reader").unwrap();
    let nonsense = nonsense.to_str().unwrap();
    for (arguments, code, words) in [
        (&["import", "--from", "telepathy", &file] as &[&str], 2, "telepathy"),
        (&["import"], 2, "SOURCE"),
        (&["import", "/nowhere/at/all.json"], 1, "file not found: /nowhere/at/all.json"),
        (&["import", nonsense], 1, "nonsense.json could not be read completely"),
    ] {
        let (_, stderr) = assert_exit(&run(&absent, arguments), code);
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
    let (stdout, _) = assert_exit(&run(&absent, &["import", "--from", "claude", &file]), 1);
    assert!(
        stdout.contains("0 already imported, 5 not imported") && stdout.contains("it is not a conversation"),
        "{stdout}"
    );
    // The readable file is imported, and the unreadable one is reported.
    let (out, _) = assert_exit(&run(&absent, &["import", "--json", nonsense, &sample("claude/conversations.json")]), 3);
    let both: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((both[0]["stopped"].is_string(), &both[1]["imported"]), (true, &json!(3)));
    assert_eq!(titles(&absent).len(), before.len() + 3);
}

#[test]
fn folder_of_sessions_is_imported_and_grows() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("projects/-home-ada-tides");
    let session = "3f6c2a10-0000-4000-8000-000000000001";
    let agents = project.join(session).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::copy(sample("claude_code/session.jsonl"), project.join(format!("{session}.jsonl"))).unwrap();
    std::fs::write(project.join("empty.jsonl"), "").unwrap();
    std::fs::write(project.join("notes.md"), "x").unwrap();
    let home = dir.path().join("home");
    let import = || {
        let folder = dir.path().join("projects");
        let (out, _) = assert_exit(&run(&home, &["import", "--json", folder.to_str().unwrap()]), 0);
        serde_json::from_str::<Value>(&out).unwrap()[0].clone()
    };
    let first = import();
    assert_eq!((&first["format"], &first["imported"]), (&json!("claude-code"), &json!(1)), "{first}");
    std::fs::copy(sample("claude_code/agent.jsonl"), agents.join("agent-agent1.jsonl")).unwrap();
    std::fs::copy(sample("claude_code/session_2025.jsonl"), project.join("2.jsonl")).unwrap();
    let grown = import();
    assert_eq!((&grown["imported"], &grown["known"]), (&json!(1), &json!(1)), "{grown}");
    assert_eq!(titles(&home).len(), 2);
}

#[test]
fn key_mapping_is_used_for_messages_and_refused_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let file = dir.path().join("log.jsonl");
    let line = r#"{"topic": "Tides", "turns": [{"who": "human", "body": "Hello"}, {"who": "bot", "body": "Hi."}]}"#;
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let file = file.to_str().unwrap();
    for (arguments, words) in [
        (["--from", "auto", "--map", "role=who"], "--map can only be used with --from messages"),
        (["--from", "messages", "--map", "role"], "`role` does not have the form FIELD=KEY"),
        (["--from", "messages", "--map", "mood=m"], "`mood` is no field; use role, content,"),
    ] {
        let (_, stderr) = assert_exit(&run(&home, &[&["import", file][..], &arguments[..]].concat()), 2);
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
    let mapping = "title=topic,role=who,content=body";
    let (out, _) = assert_exit(&run(&home, &["import", "--json", "--from", "messages", "--map", mapping, file]), 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report[0]["imported"], &report[0]["turns"]), (&json!(1), &json!(2)), "{report}");
    assert_eq!(titles(&home), BTreeSet::from(["Tides".to_owned()]));
}

#[test]
fn folder_is_imported_like_its_archive_and_special_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("export");
    std::fs::create_dir_all(folder.join("files")).unwrap();
    std::fs::copy(sample("claude/conversations.json"), folder.join("conversations.json")).unwrap();
    std::fs::write(folder.join("files/notes.txt"), "x").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.json")).unwrap();
    let home = dir.path().join("home");
    let (out, _) = assert_exit(&run(&home, &["import", "--json", folder.to_str().unwrap()]), 3);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report[0]["format"], &report[0]["imported"]), (&json!("claude"), &json!(3)));
    assert!(out.contains("link.json") && out.contains("it is a link"), "{out}");
    std::fs::remove_file(folder.join("link.json")).unwrap();
    let (out, _) = assert_exit(&run(&home, &["import", "--json", folder.to_str().unwrap()]), 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report[0]["known"], &report[0]["chats_total"]), (&json!(3), &json!(3)));

    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for (path, what) in [(pipe.to_str().unwrap(), "is a named pipe"), ("/dev/null", "is a device")] {
        let (_, errors) = assert_exit(&run(&home, &["import", path]), 1);
        assert!(errors.contains(path) && errors.contains(what), "{errors}");
    }
    let (_, errors) = assert_exit(&run(&home, &["import", "--from", "legacy-messages", folder.to_str().unwrap()]), 1);
    assert!(errors.contains("is a folder"), "{errors}");
}

#[test]
fn markdown_is_exported_with_its_images() {
    let dir = install_sample("open_webui/chats.json");
    let (all, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    let all: Value = serde_json::from_str(&all).unwrap();
    let chat = all["chats"][0]["chat"]["id"].as_str().unwrap();
    let (out, assets) = (dir.path().join("out/chat.md"), dir.path().join("out/images"));
    std::fs::create_dir(dir.path().join("out")).unwrap();
    let (out_name, folder) = (out.to_str().unwrap(), assets.to_str().unwrap());
    let markdown = ["export", "--chat", chat, "--format", "markdown", "--output", out_name, "--assets", folder];
    assert_exit(&run(dir.path(), &markdown), 0);
    let text = std::fs::read_to_string(&out).unwrap();
    let links: BTreeSet<&str> =
        text.split("](images/").skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name).collect();
    let files: BTreeSet<String> =
        std::fs::read_dir(&assets).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, links.into_iter().map(str::to_owned).collect());
    let (_, errors) = assert_exit(&run(dir.path(), &["export", "--assets", folder]), 2);
    assert!(errors.contains("--format markdown"), "{errors}");
}

#[test]
fn database_is_not_migrated_by_reading_command_or_under_running_server() {
    let older = "DELETE FROM _sqlx_migrations WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
    let dir = install_sample("claude/conversations.json");
    let file = dir.path().join("turnleaf.db");
    sql(&file, older);
    let out = dir.path().join("out.json");
    let (_, stderr) = assert_exit(&run(dir.path(), &["export", "--output", out.to_str().unwrap()]), 1);
    assert!(stderr.contains("run `turnleaf migrate` to update it") && !out.exists(), "{stderr}");
    let new = tempfile::tempdir().unwrap();
    let server = CliServer::start(new.path());
    sql(&new.path().join("turnleaf.db"), older);
    let (_, stderr) = assert_exit(&run(new.path(), &["import", &sample("claude/conversations.json")]), 75);
    assert!(stderr.contains(&format!("process {}", server.child.id())), "{stderr}");
}

#[cfg(unix)]
#[test]
fn read_only_copy_is_restored_as_writable_database() {
    use std::os::unix::fs::PermissionsExt;
    let dir = install_sample("claude/conversations.json");
    let copy = dir.path().join("copy.db");
    let (out, _) = assert_exit(&run(dir.path(), &["backup", copy.to_str().unwrap()]), 0);
    assert!(out.contains("secret.key"), "{out}");
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_exit(&run(dir.path(), &["restore", copy.to_str().unwrap()]), 0);
    let mode = std::fs::metadata(dir.path().join("turnleaf.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600, "{mode:o}");
    assert_exit(&run(dir.path(), &["import", &sample("big_agi/all.json")]), 0);
}

#[test]
fn export_writes_new_file_or_standard_output() {
    let dir = install_sample("claude/conversations.json");
    let (all, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    let all: Value = serde_json::from_str(&all).unwrap();
    let chat = all["chats"][0]["chat"]["id"].as_str().unwrap().to_owned();
    let file = dir.path().join("out.json");
    let out = file.to_str().unwrap();
    assert_exit(&run(dir.path(), &["export", "--chat", &chat, "--output", out]), 0);
    let one: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((one["chats"].as_array().unwrap().len(), &one["chats"][0]), (1, &all["chats"][0]));
    let (_, stderr) = assert_exit(&run(dir.path(), &["export", "--output", out]), 1);
    assert!(stderr.contains(out), "{stderr}");
    assert_eq!(serde_json::from_slice::<Value>(&std::fs::read(&file).unwrap()).unwrap(), one, "never overwritten");
    let (markdown, _) = assert_exit(&run(dir.path(), &["export", "--chat", &chat, "--format", "markdown"]), 0);
    assert!(markdown.starts_with("# "), "{markdown}");

    let other = dir.path().join("other.json");
    let other_name = other.to_str().unwrap();
    let unknown = "00000000-0000-7000-8000-000000000000";
    for (arguments, code, words) in [
        (&["--chat", unknown] as &[&str], 1, unknown),
        (&["--chat", "a chat"], 2, "--chat"),
        (&["--format", "markdown"], 2, "--chat ID"),
        (&["--format", "markdown", "--chat", unknown], 1, unknown),
        (&["--format", "telepathy"], 2, "telepathy"),
    ] {
        let all: Vec<&str> = ["export", "--output", other_name].iter().chain(arguments).copied().collect();
        let (_, stderr) = assert_exit(&run(dir.path(), &all), code);
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(!other.exists(), "{arguments:?}: nothing half-written is left");
    }
    let absent = dir.path().join("absent");
    assert_exit(&run(&absent, &["export"]), 1);
    assert!(!absent.exists(), "an export makes no installation");
    // An export changes nothing in an existing installation either, because it may lack the permission.
    std::fs::remove_dir_all(dir.path().join("imports")).unwrap();
    for arguments in [
        &["export"] as &[&str],
        &["export", "--chat", &chat, "--format", "git", "--output", dir.path().join("chat.git").to_str().unwrap()],
        &["import", "--dry-run", out],
    ] {
        assert_exit(&run(dir.path(), arguments), 0);
        assert!(!dir.path().join("imports").exists(), "{arguments:?}");
    }
}

#[test]
fn repository_is_exported_into_new_or_existing_empty_folder() {
    let dir = install_sample("claude/conversations.json");
    let (all, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    let all: Value = serde_json::from_str(&all).unwrap();
    let chat = all["chats"][0]["chat"]["id"].as_str().unwrap().to_owned();
    let stand = dir.path().join("stand");
    std::fs::create_dir(&stand).unwrap();
    let export = |to: &str| {
        let mut command = turnleaf(dir.path());
        command.args(["export", "--format", "git", "--chat", &chat, "--output", to]).current_dir(&stand);
        command.output().unwrap()
    };
    assert_exit(&export("."), 0);
    assert!(stand.join("HEAD").exists() && stand.join("objects").is_dir(), "the folder is the same one");
    let (_, stderr) = assert_exit(&export("."), 1);
    assert!(stderr.contains("write into .") && stderr.contains("it is not empty"), "{stderr}");
    assert_exit(&export("../beside/chat.git"), 0);
    assert!(dir.path().join("beside/chat.git/HEAD").exists());
    let (_, stderr) = assert_exit(&export("HEAD"), 1);
    assert!(stderr.contains("write into HEAD") && stderr.contains("it is not a folder"), "{stderr}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", stand.join("link")).unwrap();
        let (_, stderr) = assert_exit(&export("link"), 1);
        assert!(stderr.contains("write into link") && stderr.contains("it is a broken link"), "{stderr}");
    }
}

/// Replaces ids by their order, and removes the members that a repository does not have.
fn comparable(archive: &str) -> String {
    let mut archive: Value = serde_json::from_str(archive).unwrap();
    let mut chat = archive["chats"][0].take();
    for name in ["generations", "damaged", "tools"] {
        chat.as_object_mut().unwrap().remove(name);
    }
    chat["chat"].as_object_mut().unwrap().remove("rev");
    let items = |chat: &mut Value, list: &str| chat[list].as_array_mut().unwrap().iter_mut().map(Value::take).collect();
    let mut turns: Vec<Value> = items(&mut chat, "turns");
    for turn in &mut turns {
        for name in ["cost", "context_tokens", "last_event_seq"] {
            turn.as_object_mut().unwrap().remove(name);
        }
        for block in turn["blocks"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("generation_id");
        }
    }
    let mut branches: Vec<Value> = items(&mut chat, "branches");
    branches.iter_mut().for_each(|branch| drop(branch.as_object_mut().unwrap().remove("tools")));
    branches.sort_by_key(|branch| (branch["created_at"].to_string(), branch["name"].to_string()));
    (chat["turns"], chat["branches"]) = (turns.into(), branches.into());
    let text = serde_json::to_string_pretty(&json!([chat["turns"], chat])).unwrap();
    let mut known: Vec<String> = Vec::new();
    let is_id = |word: &str| word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4;
    let words = text.split('"').map(|word| {
        if !is_id(word) {
            return word.to_owned();
        }
        let number = known.iter().position(|id| id == word).unwrap_or_else(|| {
            known.push(word.to_owned());
            known.len() - 1
        });
        format!("id {number}")
    });
    words.collect::<Vec<_>>().join("\"")
}

/// Runs git with no configuration but the given one. `None` if there is no git.
fn git(dir: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(dir).env_clear().env("HOME", dir).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.output().ok()?;
    assert!(output.status.success(), "git {arguments:?}: {}", text(&output.stderr));
    Some(output.stdout)
}

#[test]
fn exported_repository_is_imported_as_equal_chat() {
    let dir = install_sample("chatgpt/conversations.json");
    let (all, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    let all: Value = serde_json::from_str(&all).unwrap();
    let mut is_git_there = true;
    for (number, chat) in all["chats"].as_array().unwrap().iter().enumerate() {
        let id = chat["chat"]["id"].as_str().unwrap();
        let name = format!("{number}.git");
        let repository = dir.path().join(&name);
        let bare = repository.to_str().unwrap();
        assert_exit(&run(dir.path(), &["export", "--format", "git", "--chat", id, "--output", bare]), 0);
        let (original, _) = assert_exit(&run(dir.path(), &["export", "--chat", id]), 0);
        let imported = |source: &str| -> Value {
            let other = tempfile::tempdir().unwrap();
            let (report, _) = assert_exit(&run(other.path(), &["import", "--from", "git", "--json", source]), 0);
            let report: Value = serde_json::from_str(&report).unwrap();
            assert_eq!((&report[0]["imported"], &report[0]["format"]), (&json!(1), &json!("git")), "{report}");
            let (again, _) = assert_exit(&run(other.path(), &["import", "--json", source]), 0);
            let again: Value = serde_json::from_str(&again).unwrap();
            assert_eq!((&again[0]["known"], &again[0]["imported"]), (&json!(1), &json!(0)), "{again}");
            let (archive, _) = assert_exit(&run(other.path(), &["export"]), 0);
            assert_exit(&run(other.path(), &["fsck"]), 0);
            json!({ "report": report[0], "archive": archive })
        };
        let copy = imported(bare);
        assert_eq!(comparable(copy["archive"].as_str().unwrap()), comparable(&original));
        // The repository in the forms that git gives it: packed with deltas, a working copy, and a stream of commits.
        let Some(_) = git(dir.path(), &["clone", "--quiet", "--bare", &name, "packed.git"]) else {
            eprintln!("SKIPPED: there is no git");
            is_git_there = false;
            break;
        };
        let packed = dir.path().join("packed.git");
        git(&packed, &["gc", "--quiet", "--aggressive", "--prune=now"]);
        for file in ["turnleaf.json", "rt-branch-config.json"] {
            std::fs::copy(repository.join(file), packed.join(file)).unwrap();
        }
        let copy = imported(packed.to_str().unwrap());
        assert_eq!(comparable(copy["archive"].as_str().unwrap()), comparable(&original), "deltas");
        git(dir.path(), &["clone", "--quiet", &name, "work"]);
        let stream = git(&repository, &["fast-export", "--all"]).unwrap_or_default();
        std::fs::write(dir.path().join("stream"), stream).unwrap();
        let turns = |copy: &Value| {
            let archive: Value = serde_json::from_str(copy["archive"].as_str().unwrap()).unwrap();
            let turns = archive["chats"][0]["turns"].as_array().unwrap();
            turns.iter().map(|turn| (turn["created_at"].clone(), turn["model_used"].clone())).collect::<Vec<_>>()
        };
        for source in ["work", "stream"] {
            let clone = imported(dir.path().join(source).to_str().unwrap());
            let counts = |copy: &Value| (copy["report"]["turns"].clone(), copy["report"]["branches"].clone());
            assert_eq!((counts(&clone), turns(&clone)), (counts(&copy), turns(&copy)), "{source}");
        }
        std::fs::remove_dir_all(&packed).unwrap();
        std::fs::remove_dir_all(dir.path().join("work")).unwrap();
    }
    let nothing = dir.path().join("nothing");
    std::fs::create_dir(&nothing).unwrap();
    let (_, errors) = assert_exit(&run(dir.path(), &["import", nothing.to_str().unwrap()]), 1);
    assert!(errors.contains("no chats were found in it: it is empty"), "{errors}");
    if is_git_there {
        git(&nothing, &["init", "--quiet"]);
        let (_, errors) = assert_exit(&run(dir.path(), &["import", nothing.to_str().unwrap()]), 1);
        assert!(errors.contains("this is not a git repository that Turnleaf exported"), "{errors}");
    }
    let (_, errors) = assert_exit(&run(dir.path(), &["import", "--from", "chatgpt", nothing.to_str().unwrap()]), 1);
    assert!(errors.contains("could not be read completely"), "{errors}");
}

/// A stranger's repository names commands to run, files outside of the folder, and a device that blocks: nothing of it
/// is followed.
#[cfg(unix)]
#[test]
fn hostile_repository_runs_nothing_and_reads_nothing_outside() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = install_sample("claude/conversations.json");
    let (all, _) = assert_exit(&run(dir.path(), &["export"]), 0);
    let all: Value = serde_json::from_str(&all).unwrap();
    let id = all["chats"][0]["chat"]["id"].as_str().unwrap();
    let repository = dir.path().join("chat.git");
    let path = repository.to_str().unwrap();
    assert_exit(&run(dir.path(), &["export", "--format", "git", "--chat", id, "--output", path]), 0);
    let marker = dir.path().join("was-run");
    let command = format!("touch {}", marker.display());
    let config = format!(
        "[core]\n\tbare = true\n\tfsmonitor = \"{command}\"\n\tsshCommand = \"{command}\"\n\thooksPath = hooks\n\
         [filter \"x\"]\n\tsmudge = {command}\n[remote \"origin\"]\n\turl = ext::{command}\n\tpromisor = true\n"
    );
    std::fs::write(repository.join("config"), config).unwrap();
    std::fs::create_dir_all(repository.join("hooks")).unwrap();
    for hook in ["post-checkout", "reference-transaction", "pre-auto-gc"] {
        let file = repository.join("hooks").join(hook);
        std::fs::write(&file, format!("#!/bin/sh\n{command}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(repository.join("objects/info/alternates"), "/etc\n").unwrap();
    symlink("/etc/passwd", repository.join("refs/heads/outside")).unwrap();
    symlink("/dev/zero", repository.join("description-link")).unwrap();
    let other = tempfile::tempdir().unwrap();
    let (report, _) = assert_exit(&run(other.path(), &["import", "--json", path]), 0);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report[0]["imported"], json!(1), "{report}");
    assert!(!marker.exists());
    // A link in place of a file is no file.
    std::fs::remove_file(repository.join("turnleaf.json")).unwrap();
    symlink("/dev/zero", repository.join("turnleaf.json")).unwrap();
    assert_exit(&run(other.path(), &["import", "--dry-run", path]), 0);
    assert!(!marker.exists());
}

#[test]
fn backup_of_postgres_is_refused_with_pointer_to_its_tools() {
    let dir = tempfile::tempdir().unwrap();
    let url = "postgres://nobody@127.0.0.1:1/none";
    for (command, words) in [(["backup", "copy.db"], "pg_dump"), (["restore", "copy.db"], "pg_restore")] {
        let output = turnleaf(dir.path()).args(command).args(["--database", url]).output().unwrap();
        let (_, stderr) = assert_exit(&output, 2);
        assert!(stderr.contains(words) && stderr.contains("SQLite"), "{stderr}");
    }
}

/// Sends a JSON body and returns the response's JSON.
fn post(address: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 201"), "{answer}");
    serde_json::from_str(body).unwrap()
}

#[test]
fn backup_under_load_is_consistent_snapshot() {
    const WRITERS: usize = 4;
    const COPIES: usize = 3;
    let dir = tempfile::tempdir().unwrap();
    let server = CliServer::start(dir.path());
    let address = &server.address;
    let (stop, sent) = (std::sync::atomic::AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    use std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    let chat = post(address, "/api/chats", &json!({}));
                    let chat = chat["chat"]["id"].as_str().or(chat["id"].as_str()).unwrap().to_owned();
                    post(address, &format!("/api/chats/{chat}/turns"), &json!({ "text": "Write to the disk" }));
                    sent.fetch_add(1, SeqCst);
                }
            });
        }
        for number in 0..COPIES {
            let before = sent.load(SeqCst);
            let copy = dir.path().join(format!("copy-{number}.db"));
            let made = run(dir.path(), &["backup", copy.to_str().unwrap()]);
            if number + 1 == COPIES || made.status.code() != Some(0) {
                stop.store(true, SeqCst);
            }
            assert_exit(&made, 0);
            let elsewhere = tempfile::tempdir().unwrap();
            // `restore` checks every invariant before it puts the copy in place.
            assert_exit(&run(elsewhere.path(), &["restore", copy.to_str().unwrap()]), 0);
            let copied = CliServer::start(elsewhere.path());
            assert_exit(&run(elsewhere.path(), &["fsck"]), 0);
            drop(copied);
            let (archive, _) = assert_exit(&run(elsewhere.path(), &["export"]), 0);
            let archive: Value = serde_json::from_str(&archive).unwrap();
            assert!(archive["chats"].as_array().unwrap().len() >= before, "what was answered before is in the copy");
        }
        stop.store(true, SeqCst);
    });
    assert!(sent.load(SeqCst) > COPIES, "there was load");
}
