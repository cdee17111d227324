//! The program as people run it: exit codes, what is written to which stream, the lock, refused addresses, and an
//! orderly shutdown.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

#[path = "cli/accounts.rs"]
mod accounts;
#[path = "cli/claims.rs"]
mod claims;

#[path = "store/databases.rs"]
#[expect(dead_code, reason = "databases of every kind are for the tests of the store")]
mod databases;

#[path = "support/legacy.rs"]
#[expect(dead_code, reason = "PostgreSQL and the other schema are for the tests of the server")]
mod legacy;

#[path = "cli/draining.rs"]
mod draining;
#[path = "cli/file_modes.rs"]
mod file_modes;
#[path = "cli/fsck.rs"]
mod fsck;
#[path = "cli/reload.rs"]
mod reload;
#[path = "support/small_disk.rs"]
mod small_disk;
#[path = "cli/storage.rs"]
mod storage;
#[path = "cli/tools.rs"]
mod tools;
#[path = "cli/transfer.rs"]
mod transfer;

/// Returns the command of the program with a clean environment that holds only what the test sets.
fn turnleaf(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnleaf"));
    command.env_clear().env("TURNLEAF_DATA_DIR", data_dir).env("XDG_CONFIG_HOME", data_dir);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(data_dir: &Path, arguments: &[&str]) -> Output {
    turnleaf(data_dir).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A running server, which is killed when the test ends, also when it panics.
struct CliServer {
    child: Child,
    address: String,
}

impl CliServer {
    /// Starts the server on a free port and waits until it reports that it listens.
    fn start(data_dir: &Path) -> Self {
        Self::start_with(data_dir, &[])
    }

    /// Starts the server with additional environment variables.
    fn start_with(data_dir: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = turnleaf(data_dir);
        command.envs(variables.iter().copied());
        Self::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Starts the server with the given command.
    fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("says where it listens").to_owned();
        Self { child, address }
    }

    /// Sends one request and reads the whole response.
    fn get(&self, path: &str) -> String {
        self.get_with(path, "")
    }

    /// Sends one request with additional header lines.
    fn get_with(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for CliServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn version_prints_package_version() {
    let dir = tempfile::tempdir().unwrap();
    let plain = run(dir.path(), &["version"]);
    assert_eq!(text(&plain.stdout), format!("turnleaf {}\n", env!("CARGO_PKG_VERSION")));
    let json: Value = serde_json::from_slice(&run(dir.path(), &["version", "--json"]).stdout).unwrap();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn licenses_prints_own_texts() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["licenses"]);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    for part in ["MIT License", "Apache License", "libraries"] {
        assert!(printed.contains(part), "{part}");
    }
}

#[test]
fn usage_error_exits_with_2_and_help_with_0() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&["nonsense"] as &[&str], &["--nonsense"], &["backup"], &["config"], &["replay", "x"]] {
        let output = run(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    for command in [
        "serve", "migrate", "fsck", "replay", "backup", "restore", "import", "export", "config", "doctor", "licenses",
        "version",
    ] {
        let output = run(dir.path(), &[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(text(&output.stdout).contains("Usage:"), "{command}");
    }
}

#[test]
fn public_bind_address_is_refused_with_78() {
    let dir = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "::", "[::ffff:0.0.0.0]:0", "192.0.2.1:0"] {
        for command in [
            &["serve", "--listen", address] as &[&str],
            &["--listen", address],
            &["config", "check", "--listen", address],
        ] {
            let output = run(dir.path(), command);
            assert_eq!(output.status.code(), Some(78), "{command:?}");
            assert!(output.stdout.is_empty(), "{command:?}");
            let message = text(&output.stderr);
            assert!(message.contains(address.trim_end_matches(":0")) && message.contains("--listen"), "{message}");
        }
    }
    let by_environment = turnleaf(dir.path()).env("HOST", "0.0.0.0").output().unwrap();
    assert_eq!(by_environment.status.code(), Some(78));
    assert!(text(&by_environment.stderr).contains("set by HOST"));
}

#[test]
fn public_url_without_sign_in_is_refused_with_78() {
    let dir = tempfile::tempdir().unwrap();
    let run_with = |arguments: &[&str]| {
        turnleaf(dir.path()).args(arguments).env("TURNLEAF_PUBLIC_URL", "https://chat.example").output().unwrap()
    };
    for command in [&["serve", "--listen", "127.0.0.1:0"] as &[&str], &["config", "check"]] {
        let output = run_with(command);
        assert_eq!(output.status.code(), Some(78), "{command:?}");
        let message = text(&output.stderr);
        assert!(message.contains("https://chat.example") && message.contains("TURNLEAF_AUTH=proxy"), "{message}");
    }
    let named = turnleaf(dir.path()).args(["serve"]).env("TURNLEAF_ALLOWED_HOSTS", "chat.example").output().unwrap();
    assert_eq!(named.status.code(), Some(78));
    assert!(text(&named.stderr).contains("TURNLEAF_ALLOWED_HOSTS"), "{}", text(&named.stderr));
    let doctor = run_with(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(text(&doctor.stdout).contains("ERROR address: refusing to serve https://chat.example"));
    assert!(!dir.path().join("turnleaf.db").exists(), "nothing was begun");
}

#[test]
fn server_behind_proxy_answers_only_proxy() {
    let dir = tempfile::tempdir().unwrap();
    let (secret, file) = ("0123456789abcdef0123", dir.path().join("proxy-secret"));
    std::fs::write(&file, format!("{secret}\n")).unwrap();
    let header = format!("X-Turnleaf-Proxy-Secret: {secret}\r\n");
    for (proxies, is_trusted) in [("127.0.0.1", true), ("10.0.0.0/8", false)] {
        let server = CliServer::start_with(
            dir.path(),
            &[
                ("TURNLEAF_AUTH", "proxy"),
                ("TURNLEAF_TRUSTED_PROXIES", proxies),
                ("TURNLEAF_PROXY_SECRET_FILE", file.to_str().unwrap()),
            ],
        );
        let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let id = "0190b5b4-7c1e-7abc-8def-0123456789ab";
        let (stream, socket) = (format!("/api/turns/{id}/events"), format!("/api/chats/{id}/ws"));
        for (path, extra) in
            [("/", ""), ("/api/chats", ""), ("/favicon.svg", ""), (&stream, ""), (&socket, upgrade), ("/none", "")]
        {
            for headers in ["", "X-Turnleaf-Proxy-Secret: 0123456789abcdef0124\r\n"] {
                let answer = server.get_with(path, &format!("{headers}{extra}"));
                assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
            }
            let answer = server.get_with(path, &format!("{header}{extra}"));
            assert_eq!(!answer.starts_with("HTTP/1.1 403"), is_trusted, "{path}: {answer}");
        }
        for path in ["/healthz", "/readyz"] {
            assert!(server.get(path).starts_with("HTTP/1.1 200"), "{path}");
        }
        assert!(server.get_with("/", &header).starts_with("HTTP/1.1 200") == is_trusted);
    }
}

#[test]
fn drain_is_announced_while_requests_are_still_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let variables = [("TURNLEAF_DRAIN_ANNOUNCE_SECONDS", "120"), ("TURNLEAF_DRAIN_SECONDS", "20")];
    let mut server = CliServer::start_with(dir.path(), &variables);
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    server.signal("TERM");
    while server.get("/readyz").starts_with("HTTP/1.1 200") {}
    let answer = server.get("/readyz");
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("shutting down"), "{answer}");
    // During the announcement, new connections are accepted, and everything but readiness is unchanged.
    for path in ["/healthz", "/", "/api/chats"] {
        assert!(server.get(path).starts_with("HTTP/1.1 200"), "{path}");
    }
    // A second signal ends the announcement; the server stops, because no request is in progress.
    server.signal("INT");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // A short announcement ends by itself.
    let mut server = CliServer::start_with(dir.path(), &[("TURNLEAF_DRAIN_ANNOUNCE_SECONDS", "1")]);
    let begun = std::time::Instant::now();
    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() >= std::time::Duration::from_secs(1));
}

#[test]
fn invalid_configuration_exits_with_78() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "listen = 'x'\n").unwrap();
    let output = run(dir.path(), &["--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(78));
    assert!(text(&output.stderr).contains("listen"));
    // Commands that need no configuration ignore the bad file.
    assert_eq!(run(dir.path(), &["version", "--config", file.to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn configuration_is_printed_without_its_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let print = |arguments: &[&str]| {
        let command = &mut turnleaf(dir.path());
        text(
            &command.args(["config", "print"]).args(arguments).env("OPENAI_API_KEY", "canary").output().unwrap().stdout,
        )
    };
    let json: Value = serde_json::from_str(&print(&["--json"])).unwrap();
    assert_eq!(json["providers"][0]["api_key"], "********");
    assert_eq!(json["data_dir"]["source"], "TURNLEAF_DATA_DIR");
    let plain = print(&[]);
    assert!(plain.contains("port = 3000  # the default") && !plain.contains("canary"), "{plain}");
    assert_eq!(run(dir.path(), &["config", "check"]).status.code(), Some(0));
}

#[test]
fn second_server_on_same_directory_exits_with_75() {
    let dir = tempfile::tempdir().unwrap();
    let first = CliServer::start(dir.path());
    for command in [&["serve", "--listen", "127.0.0.1:0"] as &[&str], &["migrate"]] {
        let second = run(dir.path(), command);
        assert_eq!(second.status.code(), Some(75), "{command:?}");
        let message = text(&second.stderr);
        assert!(message.contains(&format!("process {}", first.child.id())), "{message}");
        assert!(message.contains("--data-dir"), "{message}");
    }
    assert!(first.get("/healthz").starts_with("HTTP/1.1 200"));
    assert_eq!(run(dir.path(), &["fsck"]).status.code(), Some(0), "checking beside a server is allowed");
    let copy = dir.path().join("copy.db");
    assert_eq!(run(dir.path(), &["backup", copy.to_str().unwrap()]).status.code(), Some(0));
    assert!(copy.exists());
    assert_eq!(
        run(dir.path(), &["backup", copy.to_str().unwrap()]).status.code(),
        Some(1),
        "a copy is never overwritten"
    );
    drop(first);
    CliServer::start(dir.path());
}

#[test]
fn server_answers_and_shuts_down_cleanly_on_sigterm() {
    let dir = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let mut server = CliServer::start(dir.path());
        assert!(server.get("/healthz").starts_with("HTTP/1.1 200"));
        assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
        assert!(server.get("/api/none").contains("application/problem+json"));
        server.signal(signal);
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
    let mode = std::fs::metadata(dir.path().join("turnleaf.lock")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
}

#[test]
fn idle_connection_does_not_delay_shutdown_and_huge_head_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = CliServer::start(dir.path());
    let mut idle = TcpStream::connect(&server.address).unwrap();
    write!(idle, "GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");

    let mut huge = TcpStream::connect(&server.address).unwrap();
    let line = format!("X-Huge: {}\r\n", "a".repeat(1 << 20));
    let _ = write!(huge, "GET / HTTP/1.1\r\nHost: {}\r\n{line}\r\n", server.address);
    let mut answer = Vec::new();
    let _ = huge.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));

    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn port_in_use_is_reported() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = CliServer::start(one.path());
    let second = run(other.path(), &["serve", "--listen", &first.address]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains(&first.address));
}

#[test]
fn migration_supports_dry_run() {
    let dir = tempfile::tempdir().unwrap();
    let dry = run(dir.path(), &["migrate", "--dry-run", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&dry.stdout).unwrap()["pending"], true);
    assert!(!dir.path().join("turnleaf.db").exists(), "a dry run makes no file");
    assert_eq!(run(dir.path(), &["fsck"]).status.code(), Some(1), "there is nothing to check yet");
    assert!(!dir.path().join("turnleaf.db").exists(), "checking makes no file");
    assert_eq!(run(dir.path(), &["migrate"]).status.code(), Some(0));
    let again = run(dir.path(), &["migrate", "--dry-run", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap()["pending"], false);
    let fsck = run(dir.path(), &["fsck", "--json"]);
    assert_eq!((fsck.status.code(), text(&fsck.stdout).trim()), (Some(0), "[]"));
}

#[test]
fn non_database_file_exits_with_74() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("turnleaf.db"),
        "this is not a database, and longer than a header of one is: ".repeat(200),
    )
    .unwrap();
    for command in [&["serve", "--listen", "127.0.0.1:0"] as &[&str], &["fsck"], &["migrate"]] {
        let output = run(dir.path(), command);
        assert_eq!(output.status.code(), Some(74), "{command:?}: {}", text(&output.stderr));
    }
}

#[test]
fn doctor_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let absent = dir.path().join("absent");
    let output = run(&absent, &["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len() >= 5);
    assert!(!absent.exists());
    let wrong = run(&absent, &["doctor", "--listen", "0.0.0.0:3000"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stdout).contains("ERROR address"));
}

#[test]
fn replay_reads_reply_from_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let mut child = turnleaf(dir.path())
        .args(["replay", "--api", "openai_chat", "--chunk", "1", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["complete"], true);
    assert_eq!(shown["blocks"][0]["text"], "Hi", "{shown}");

    let unknown = run(dir.path(), &["replay", "--api", "telepathy", "-"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn chat_is_exported_as_page_and_as_repository() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let conversation = serde_json::json!([{
        "id": "c", "title": "A tree", "create_time": 1_700_000_000.0, "current_node": "u",
        "mapping": {"u": {"id": "u", "parent": null, "children": [], "message": {
            "id": "u", "author": {"role": "user"}, "create_time": 1_700_000_000.0,
            "content": {"content_type": "text", "parts": ["Hello"]}}}},
    }]);
    std::fs::write(file("conversations.json"), conversation.to_string()).unwrap();
    let reports = run(dir.path(), &["import", "--json", &file("conversations.json")]);
    let reports: Value = serde_json::from_slice(&reports.stdout).unwrap();
    let chat = reports[0]["chats"][0]["id"].as_str().unwrap().to_owned();
    let export = |format: &str, to: &str| {
        run(dir.path(), &["export", "--chat", &chat, "--format", format, "--output", &file(to)])
    };
    for (format, to) in [("html", "a.html"), ("markdown", "a.md"), ("json", "a.json"), ("git", "a.git")] {
        let output = export(format, to);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{format}");
        // An export never overwrites an existing file.
        assert_eq!(export(format, to).status.code(), Some(1), "{format}");
    }
    let page = std::fs::read_to_string(file("a.html")).unwrap();
    assert!(page.contains("Hello") && page.contains("Imported from ChatGPT") && !page.contains("<script"), "{page}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join("a.git").join(name)).unwrap();
    assert!(read("HEAD").starts_with("ref: refs/heads/") && read("packed-refs").contains(" refs/heads/"));
    for wrong in [
        &["export", "--format", "git"] as &[&str],
        &["export", "--chat", &chat, "--format", "git"],
        &["export", "--format", "html"],
    ] {
        assert_eq!(run(dir.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
    let nobody = "01900000-0000-7000-8000-000000000000";
    for format in ["html", "git", "json"] {
        let output = run(dir.path(), &["export", "--chat", nobody, "--format", format, "-o", &file("none")]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        assert!(!dir.path().join("none").exists(), "{format}: nothing is left behind");
    }
}

/// Creates a database file in the schema of the predecessor program.
fn old_database(file: &Path) {
    let fill = async {
        let mut conn = SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", file.display())).await.unwrap();
        for text in legacy::message_statements(&legacy::SQLITE, true) {
            sqlx::query(AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
        }
        conn.close().await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(fill);
}

#[test]
fn legacy_database_is_imported_by_schema_while_no_server_runs() {
    let (dir, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = old.path().join("old.db");
    old_database(&file);
    let file = file.to_str().unwrap();
    let import = |arguments: &[&str]| run(dir.path(), &[&["import", "--json"], arguments].concat());
    let report = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).unwrap()[0].clone();

    let preview = import(&["--from", "legacy-messages", "--dry-run", file]);
    // Some rows are left out, which the exit code says.
    assert_eq!((preview.status.code(), &report(&preview)["imported"]), (Some(3), &Value::from(3)));
    assert!(text(&preview.stderr).contains("rows left out"), "{}", text(&preview.stderr));
    let taken = import(&["--from", "legacy-messages", file]);
    let report_read = report(&taken);
    assert_eq!(
        (&report_read["format"], &report_read["name"]),
        (&Value::from("legacy-messages"), &Value::from("old.db"))
    );
    for number in ["imported", "left_out", "turns", "tables", "findings"] {
        assert_eq!(report_read[number], report(&preview)[number], "{number}");
    }
    assert!(!dir.path().join("turnleaf.db-wal").exists(), "all of it is in the file");
    let again = import(&["--from", "legacy-messages", file]);
    assert_eq!((&report(&again)["imported"], &report(&again)["known"]), (&Value::from(0), &Value::from(3)));

    let table: [(&[&str], i32, &str); 5] = [
        (&["--from", "legacy-actions", file], 1, "table chat_sessions is missing"),
        (&[file], 1, "turnleaf import --from legacy-messages FILE"),
        (&["--from", "legacy-nothing", file], 2, "legacy-messages, legacy-actions"),
        (&["postgres://somebody:a-secret@127.0.0.1:1/old"], 2, "--from"),
        (
            &["--from", "legacy-messages", "postgres://somebody:a-secret@127.0.0.1:1/old"],
            1,
            "somebody:********@127.0.0.1",
        ),
    ];
    for (arguments, code, words) in table {
        let output = import(arguments);
        let error_text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error_text}");
        assert!(error_text.contains(words) && !error_text.contains("a-secret"), "{arguments:?}: {error_text}");
    }

    let server = CliServer::start(dir.path());
    assert_eq!(import(&["--from", "legacy-messages", file]).status.code(), Some(75), "replies could not be written");
    assert_eq!(import(&["--from", "legacy-messages", "--dry-run", file]).status.code(), Some(3));
    drop(server);
}
