//! The storage bounds in the real program: the free space of its disk, and the quota.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::reload::ReloadableServer;
use super::small_disk::SmallDisk;
use super::{CliServer, run, text, turnleaf};

/// A bound above the free space of any disk.
const EVERYTHING: &str = "find_local_servers = false\nmin_free_disk = '4000000 TiB'\n";
const NOTHING: &str = "find_local_servers = false\nmin_free_disk = 0\n";

#[test]
fn writes_are_refused_below_free_space_bound_and_accepted_above_it() {
    let mut of = ReloadableServer::start(EVERYTHING);
    let (status, chat) = of.send_json("POST", "/api/chats", &json!({ "provider": "demo", "model": "plain" }));
    assert_eq!(status, 201, "{chat}");
    let chat = chat["id"].as_str().unwrap().to_owned();
    let turns = format!("/api/chats/{chat}/turns");
    let message = json!({ "text": "hi", "client_request_id": "k-1", "provider": "demo", "model": "plain" });
    let upload = |of: &ReloadableServer| {
        of.send_request("POST", "/api/blobs?name=a.txt", ("text/plain", "words"), &of.server.address)
    };
    let import = |of: &ReloadableServer| {
        of.send_request("POST", "/api/imports?name=a.json", ("application/json", "[]"), &of.server.address)
    };

    let (status, refused) = of.send_json("POST", &turns, &message);
    assert_eq!((status, &refused["code"]), (507, &json!("disk_space_low")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("disk is almost full"), "{refused}");
    for (case, (status, body)) in [("an upload", upload(&of)), ("an import", import(&of))] {
        assert!(status == 507 && body.contains("disk_space_low") || body.contains("almost full"), "{case}: {body}");
    }
    // Without script, the refused form comes back with the words that were typed.
    let form = format!("chat_id={chat}&text=words+that+were+typed");
    let host = of.server.address.clone();
    let (status, page) = of.send_request("POST", "/forms/send", ("application/x-www-form-urlencoded", &form), &host);
    assert_eq!(status, 507, "{page}");
    assert!(page.contains("words that were typed") && page.contains("almost full"), "{page}");
    let ready = of.server.get("/readyz");
    assert!(ready.starts_with("HTTP/1.1 200"), "what is here can be read: {ready}");
    assert!(ready.contains(r#""degraded":[{"component":"disk","code":"disk_space_low""#), "{ready}");

    of.reload(NOTHING, "reloaded the configuration");
    let (status, started) = of.send_json("POST", &turns, &message);
    assert_eq!(status, 201, "the same request works now: {started}");
    assert_eq!(upload(&of).0, 201);
    assert_eq!(import(&of).0, 202);
    assert!(of.server.get("/readyz").ends_with(r#"{"status":"ready"}"#), "nothing is refused any more");
}

#[test]
fn storage_bounds_are_shown_and_disk_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let print = |environment: &[(&str, &str)]| -> Value {
        let output =
            turnleaf(dir.path()).args(["config", "print", "--json"]).envs(environment.iter().copied()).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    let usual = print(&[]);
    assert_eq!(usual["min_free_disk"], json!({ "value": "256 MiB", "source": "the default" }));
    assert_eq!(usual["quota"], json!({ "value": "0", "source": "the default" }));
    let set = print(&[("TURNLEAF_MIN_FREE_DISK", "1GB"), ("TURNLEAF_QUOTA", "5 GiB")]);
    assert_eq!((&set["min_free_disk"]["value"], &set["quota"]["value"]), (&json!("1000000000"), &json!("5 GiB")));
    let wrong = turnleaf(dir.path()).args(["config", "check"]).env("TURNLEAF_QUOTA", "much").output().unwrap();
    assert_eq!(wrong.status.code(), Some(78));
    assert!(text(&wrong.stderr).contains("TURNLEAF_QUOTA must be a number of bytes"), "{}", text(&wrong.stderr));

    let doctor = |bound: &str| {
        let output = turnleaf(dir.path()).arg("doctor").env("TURNLEAF_MIN_FREE_DISK", bound).output().unwrap();
        text(&output.stdout).lines().find(|line| line.contains(" disk: ")).unwrap().to_owned()
    };
    assert!(doctor("0").starts_with("ok ") && doctor("4000000 TiB").starts_with("note"), "{}", doctor("4000000 TiB"));
}

#[test]
fn import_command_keeps_complete_chats_and_reports_skipped_ones() {
    let dir = tempfile::tempdir().unwrap();
    let conversation = |n: u32, words: usize| {
        json!({
            "id": format!("c{n}"), "title": format!("Chat {n}"), "create_time": 1_700_000_000.0, "current_node": "u",
            "mapping": {"u": {"id": "u", "parent": null, "children": [], "message": {
                "id": "u", "author": {"role": "user"}, "create_time": 1_700_000_000.0,
                "content": {"content_type": "text", "parts": ["x".repeat(words)]}}}},
        })
    };
    let file = dir.path().join("conversations.json");
    let all = json!([conversation(1, 1_000), conversation(2, 300_000), conversation(3, 1_000)]);
    std::fs::write(&file, all.to_string()).unwrap();
    let import = |quota: &str| {
        let mut command = turnleaf(dir.path());
        command.args(["import", "--json", file.to_str().unwrap()]).env("TURNLEAF_QUOTA", quota).output().unwrap()
    };
    let output = import("200 KiB");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("not enough space for 1 chat from conversations.json"),
        "{}",
        text(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report[0]["imported"], &report[0]["did_not_fit"]), (&json!(2), &json!(1)), "{report}");
    let finding = &report[0]["findings"][0];
    assert!(finding["text"].as_str().unwrap().contains("quota of 200 KiB"), "{report}");
    // With a larger quota, the same file imports the rest.
    let output = import("1 MiB");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report[0]["imported"], &report[0]["known"]), (&json!(1), &json!(2)), "{report}");

    let low = turnleaf(dir.path())
        .args(["import", file.to_str().unwrap()])
        .env("TURNLEAF_MIN_FREE_DISK", "4000000 TiB")
        .env("TURNLEAF_DATA_DIR", dir.path().join("other"))
        .output()
        .unwrap();
    assert_eq!(low.status.code(), Some(1));
    assert!(text(&low.stderr).contains("disk is almost full"), "{}", text(&low.stderr));
}

#[test]
fn full_disk_refuses_new_turns_and_accepts_them_after_space_is_freed() {
    let Some(disk) = SmallDisk::mount("size=64m") else { return };
    let data_dir = disk.path().join("data");
    let mut command = turnleaf(&data_dir);
    let server =
        CliServer::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]).env("TURNLEAF_MIN_FREE_DISK", "16 MiB"));
    let chat = |name: &str| {
        let (status, chat) = post(&server, "/api/chats", "{\"provider\":\"demo\",\"model\":\"plain\"}");
        assert_eq!(status, 201, "{name}: {chat}");
        let chat: Value = serde_json::from_str(&chat).unwrap();
        let body = json!({ "text": name, "provider": "demo", "model": "plain" }).to_string();
        post(&server, &format!("/api/chats/{}/turns", chat["id"].as_str().unwrap()), &body)
    };
    assert_eq!(chat("before").0, 201);
    let fill = disk.path().join("fill");
    let mut file = std::fs::File::create(&fill).unwrap();
    for _ in 0..40 {
        file.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    // A removed file occupies its space while it is open.
    drop(file);
    // The cached measurement of a moment ago may still be in use.
    let refused = std::iter::repeat_with(|| chat("full")).find(|(status, _)| *status != 201).unwrap();
    assert!(refused.0 == 507 && refused.1.contains("disk_space_low"), "{refused:?}");
    assert_eq!(run(&data_dir, &["fsck"]).status.code(), Some(0));
    std::fs::remove_file(&fill).unwrap();
    let accepted = std::iter::repeat_with(|| chat("after")).find(|(status, _)| *status != 507).unwrap();
    assert_eq!(accepted.0, 201, "{accepted:?}");
}

#[test]
fn disk_of_database_elsewhere_is_guarded_and_named() {
    let Some(disk) = SmallDisk::mount("size=64m") else { return };
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let database = format!("sqlite://{}", disk.path().join("turnleaf.db").display());
    let environment = [("DATABASE_URL", database.as_str()), ("TURNLEAF_MIN_FREE_DISK", "16 MiB")];
    let doctor = || {
        let output = turnleaf(&data_dir).arg("doctor").envs(environment).output().unwrap();
        let lines = text(&output.stdout);
        lines.lines().filter(|line| line.contains(" disk: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(doctor().iter().all(|line| line.starts_with("ok ")), "{:?}", doctor());
    let mut command = turnleaf(&data_dir);
    let mut server = CliServer::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]).envs(environment));
    let log = BufReader::new(server.child.stderr.take().unwrap());
    let (status, chat) = post(&server, "/api/chats", "{\"provider\":\"demo\",\"model\":\"plain\"}");
    assert_eq!(status, 201, "{chat}");
    let chat: Value = serde_json::from_str(&chat).unwrap();
    let turns = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
    let message = json!({ "text": "hi", "provider": "demo", "model": "plain" }).to_string();
    let fill = disk.path().join("fill");
    std::fs::write(&fill, vec![b'x'; 52 << 20]).unwrap();
    // The cached measurement may still be in use, and an earlier reply may still be written.
    let begun = Instant::now();
    let answered = |with: u16| {
        let mut answers = std::iter::repeat_with(|| post(&server, &turns, &message));
        answers.find(|(status, _)| *status == with || begun.elapsed() > Duration::from_secs(20)).unwrap()
    };
    let refused = answered(507);
    assert!(refused.0 == 507 && refused.1.contains("disk_space_low"), "{refused:?}");
    assert!(server.get("/readyz").contains("disk_space_low"));
    let directory = disk.path().display().to_string();
    let named = log.lines().map_while(Result::ok).find(|line| line.contains("too little free space"));
    assert!(named.as_ref().is_some_and(|line| line.contains(&directory)), "{named:?}");
    let seen = doctor();
    assert!(seen.iter().any(|line| line.starts_with("note") && line.contains(&directory)), "{seen:?}");
    std::fs::remove_file(&fill).unwrap();
    let accepted = answered(201);
    assert_eq!(accepted.0, 201, "{accepted:?}");
}

fn post(server: &CliServer, path: &str, body: &str) -> (u16, String) {
    use std::io::Read;
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
