//! Kills the program (`kill -9`) during replies with tools, at one event after the other: while calls arrive, wait
//! for approval, run in parallel, have results, and while the model continues. After each restart nothing that was
//! shown is lost, no call ran twice, no reply hangs, and `fsck` finds nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_fixtures::misbehaving_program;

/// The distance between two kills, in events.
const STEP: usize = 2;
/// More events than any reply here has.
const EVENTS: usize = 200;
/// A timeout that only a hang exceeds.
const HANGS: Duration = Duration::from_secs(60);

/// A fake provider whose model calls three tools at once, then one more, then ends. It refuses a request with a call
/// that has no result.
struct FakeModel {
    port: u16,
    refused: Arc<Mutex<Vec<String>>>,
}

impl FakeModel {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (noted, counter) = (refused.clone(), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (noted, counter) = (noted.clone(), counter.clone());
                // A connection that a killed client left is no failure of the model.
                thread::spawn(move || answer(socket, &noted, counter.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Self { port, refused }
    }
}

fn answer(mut socket: TcpStream, noted: &Mutex<Vec<String>>, number: usize) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    reader.read_line(&mut head).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let write =
        |socket: &mut TcpStream, text: &str| socket.write_all(text.as_bytes()).and_then(|()| socket.flush()).ok();
    if head.starts_with("GET") {
        let list = json!({ "object": "list", "data": [{ "id": "mock", "object": "model" }] }).to_string();
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
        return write(&mut socket, &format!("{head}content-length: {}\r\n\r\n{list}", list.len()));
    }
    let request: Value = serde_json::from_slice(&body).ok()?;
    let messages = request["messages"].as_array()?;
    if let Some(id) = unanswered(messages) {
        noted.lock().unwrap().push(format!("{id} has no result in {request}"));
        return write(&mut socket, "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    }
    let results = messages.iter().rev().take_while(|message| message["role"] != "user");
    let results = results.filter(|message| message["role"] == "tool").count();
    let call = |at: usize, tool: &str, word: &str| {
        let arguments = json!({ "word": format!("{number}{word}") }).to_string();
        json!({ "index": at, "id": format!("call_{number}_{at}"), "type": "function",
            "function": { "name": format!("lab__{tool}"), "arguments": arguments } })
    };
    let (words, calls) = match results {
        0 => (
            vec!["I ", "do ", "three things."],
            vec![call(0, "append", "a"), call(1, "append", "b"), call(2, "append_too", "c")],
        ),
        3 => (vec!["And ", "one more."], vec![call(0, "append", "d")]),
        _ => (vec!["All ", "of ", "it ", "is ", "done."], vec![]),
    };
    write(&mut socket, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n")?;
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let deltas = words.iter().map(|words| json!({ "content": words }));
    let deltas = deltas.chain(calls.iter().map(|call| json!({ "tool_calls": [call] })));
    for delta in deltas {
        let chunk = json!({ "id": "c", "model": "mock", "choices": [{ "index": 0, "delta": delta }] });
        write(&mut socket, &format!("data: {chunk}\n\n"))?;
        thread::sleep(Duration::from_millis(3));
    }
    let end = json!({ "id": "c", "model": "mock", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5 } });
    write(&mut socket, &format!("data: {end}\n\ndata: [DONE]\n\n"))
}

/// Returns the first call without a result.
fn unanswered(messages: &[Value]) -> Option<String> {
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let is_answered = |id: &Value| messages.iter().any(|message| message["tool_call_id"] == *id);
    calls.map(|call| &call["id"]).find(|id| !is_answered(id)).map(ToString::to_string)
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn program(dir: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnleaf"));
        command.env_clear().env("TURNLEAF_DATA_DIR", dir).env("XDG_CONFIG_HOME", dir);
        command.arg("--config").arg(dir.join("config.toml"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn start(dir: &Path) -> Self {
        let mut child = Self::program(dir).args(["--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("says where it listens").to_owned();
        Self { child, address }
    }

    fn open_request(&self, method: &str, path: &str, body: Option<&Value>) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        let body = body.map(ToString::to_string).unwrap_or_default();
        let head = format!("{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\n", self.address);
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        BufReader::new(stream)
    }

    fn send_json(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut answer = String::new();
        self.open_request(method, path, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn turn(&self, id: &str) -> Value {
        let (status, turn) = self.send_json("GET", &format!("/api/turns/{id}"), None);
        assert_eq!(status, 200, "{turn}");
        turn
    }

    /// Allows a call. A call that no longer asks was answered before the kill.
    fn allow_call(&self, turn: &str, block: &Value, ask: &Value) {
        let decision = json!({ "decision": "allow", "hash": ask["hash"] });
        let path = format!("/api/turns/{turn}/calls/{}", block.as_str().unwrap());
        let (status, answer) = self.send_json("POST", &path, Some(&decision));
        assert!(matches!(status, 200 | 409), "{status} {answer}");
    }

    /// Collects the events of a turn by number, until it ends or there are `most` of them. A request for approval is
    /// allowed, or ends the collection.
    fn follow_turn(&self, turn: &str, most: usize, allows: bool) -> BTreeMap<u64, Value> {
        let mut events = BTreeMap::new();
        let mut number = 0;
        for line in self.open_request("GET", &format!("/api/turns/{turn}/events"), None).lines() {
            let line = line.expect("the reply hangs");
            if let Some(id) = line.strip_prefix("id:") {
                number = id.trim().rsplit(['-', ':', '.']).next().unwrap().parse().unwrap();
            }
            let Some(data) = line.strip_prefix("data:") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            if number == 0 || !event["type"].is_string() {
                continue;
            }
            events.insert(number, event.clone());
            if events.len() >= most {
                break;
            }
            let ask = &event["metadata"]["approval"];
            if event["status"] == "awaiting_approval" {
                if !allows {
                    break;
                }
                self.allow_call(turn, &event["block_id"], ask);
            }
        }
        events
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn blocks<'a>(turn: &'a Value, kind: &str) -> Vec<&'a Value> {
    turn["blocks"].as_array().unwrap().iter().filter(|block| block["content"]["type"] == kind).collect()
}

fn is_growth(event: &Value) -> bool {
    event["type"] == "block_delta"
}

/// Asserts the invariants of a reply after the restart that followed the kill.
fn assert_turn_sound(server: &Server, dir: &Path, id: &str, shown: &BTreeMap<u64, Value>) {
    // Calls that still wait for approval are allowed now, and the reply continues to its end.
    let turn = server.turn(id);
    for call in blocks(&turn, "tool_use").into_iter().filter(|call| call["content"]["status"] == "awaiting_approval") {
        server.allow_call(id, &call["id"], &call["block_metadata"]["approval"]);
    }
    let all = server.follow_turn(id, usize::MAX, true);
    for (number, event) in shown.iter().filter(|(_, event)| !is_growth(event)) {
        assert_eq!(all.get(number), Some(event), "event {number} was shown and is another one now");
    }
    let turn = server.turn(id);
    let is_over = matches!(turn["status"].as_str(), Some("complete" | "error"));
    assert!(is_over && (turn["status"] == "complete" || turn["error"]["kind"] == "server_restarted"), "{turn}");
    let file = std::fs::read_to_string(dir.join("words")).unwrap_or_default();
    for call in blocks(&turn, "tool_use") {
        let Some(word) = call["content"]["arguments"]["word"].as_str() else {
            // The kill came while the arguments were streamed.
            assert_ne!(call["content"]["status"], "done", "{turn}");
            continue;
        };
        let times = file.lines().filter(|line| *line == word).count();
        let most = match call["content"]["status"].as_str().unwrap() {
            "done" => 1..=1,
            "interrupted" => 0..=1,
            "cancelled" => 0..=0,
            other => panic!("a call is left {other}: {turn}"),
        };
        assert!(most.contains(&times), "{word} was written {times} times: {call}");
        let results = blocks(&turn, "tool_result").into_iter().filter(|result| result["parent_block_id"] == call["id"]);
        assert_eq!(results.count(), 1, "{turn}");
    }
    let twice = file.lines().find(|word| file.lines().filter(|line| line == word).count() > 1);
    assert_eq!(twice, None, "a call ran twice");
    let found = Server::program(dir).arg("fsck").output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
}

#[test]
fn kill_at_any_event_loses_nothing_and_runs_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let model = FakeModel::start();
    let config = format!(
        "[[providers]]\nid = \"mock\"\napi = \"openai_chat\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n\
         [[tool_servers]]\nid = \"lab\"\ncommand = [{:?}, \"good\", {:?}]\ntrusted_tools = [\"append\"]\n",
        model.port,
        misbehaving_program(),
        dir.path().join("words").display().to_string(),
    );
    std::fs::write(dir.path().join("config.toml"), config).unwrap();
    let mut server = Server::start(dir.path());
    let tools = json!({ "on": ["lab/append", "lab/append_too"] });
    let new = json!({ "provider": "mock", "model": "mock", "tools": tools });
    // The tool program starts in parallel with the server, and no event reports when its tools are known, so the
    // request is retried.
    let since = Instant::now();
    let chat = loop {
        let (status, chat) = server.send_json("POST", "/api/chats", Some(&new));
        if status == 201 {
            break chat;
        }
        assert!(status == 422 && since.elapsed() < HANGS, "{status} {chat}");
        thread::sleep(Duration::from_millis(50));
    };
    let chat = chat["id"].as_str().unwrap().to_owned();
    let (mut kills, mut waited) = (0, 0);
    for most in (1..EVENTS).step_by(STEP) {
        let (status, started) =
            server.send_json("POST", &format!("/api/chats/{chat}/turns"), Some(&json!({ "text": "Go" })));
        assert_eq!(status, 201, "{started}");
        let id = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
        // Some kills happen while a call waits for approval, at whichever event that is.
        let shown = server.follow_turn(&id, most, kills % 5 != 4);
        server.kill();
        server = Server::start(dir.path());
        kills += 1;
        waited += usize::from(server.turn(&id)["status"] == "waiting_subagents");
        assert_turn_sound(&server, dir.path(), &id, &shown);
        if shown.values().any(|event| event["type"] == "turn_end") {
            break;
        }
    }
    assert!(kills > 10 && waited > 0, "{kills} kills, {waited} of them while somebody was asked");
    assert_eq!(*model.refused.lock().unwrap(), Vec::<String>::new());
    server.kill();
    let server = Server::start(dir.path());
    assert_eq!(server.send_json("GET", &format!("/api/chats/{chat}"), None).0, 200);
}

/// Polls a tool of the server until its state matches, and returns it.
fn wait_for_tool(server: &Server, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let since = Instant::now();
    loop {
        let (_, all) = server.send_json("GET", "/api/tools", None);
        let tool = all["tools"].as_array().into_iter().flatten().find(|tool| tool["name"] == name).cloned();
        match tool {
            Some(tool) if is_so(&tool) => return tool,
            other => assert!(since.elapsed() < HANGS, "{other:?}"),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn trusted_tool_changed_by_server_asks_until_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let configure = |mode: &str| {
        let server = format!("[[tool_servers]]\nid = \"lab\"\ncommand = [{:?}, {mode:?}]\n", misbehaving_program());
        let trusted = "trusted_tools = [\"environment\", \"echo\"]\n";
        std::fs::write(dir.path().join("config.toml"), server + trusted).unwrap();
    };
    configure("good");
    let mut server = Server::start(dir.path());
    let is_allowed = |tool: &Value| tool["policy"] == "allow" && tool["policy_set_by"] == "configuration";
    wait_for_tool(&server, "lab/environment", is_allowed);
    // The trusted tool was listed once, which pins its description across the restart.
    server.kill();

    configure("changed");
    server = Server::start(dir.path());
    let changed = wait_for_tool(&server, "lab/environment", |tool| tool["has_changed"] == true);
    assert_eq!((&changed["policy"], &changed["policy_set_by"]), (&json!("ask"), &json!("configuration")));
    wait_for_tool(&server, "lab/echo", is_allowed);
    let allow = json!({ "server": "lab", "tool": "environment", "policy": "allow" });
    let (status, tool) = server.send_json("PUT", "/api/tool-policies", Some(&allow));
    assert_eq!((status, &tool["policy"], &tool["has_changed"]), (200, &json!("allow"), &json!(false)), "{tool}");
    server.kill();
    server = Server::start(dir.path());
    wait_for_tool(&server, "lab/environment", |tool| tool["policy_set_by"] == "you" && tool["policy"] == "allow");
    server.kill();
}
