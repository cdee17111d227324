//! Clients that are slow, silent, too many, or gone: an honest client beside them is served in time.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, interval, sleep};

use crate::chat_client::{OutgoingMessage, text_of};
use crate::fakeprov::FakeProvider;
use crate::installation::RunningServer;
use crate::model_server::{immediate_reply, paced_reply, provider_config, reply_words};
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;

const TRICKLES: usize = 16;
const IDLE: usize = 200;
const DEAF: usize = 60;
const SOCKETS: usize = 40;
const LEAVING: usize = 40;
/// The duration for which the honest client runs.
const TIME: Duration = Duration::from_secs(20);
/// The time limits of the honest client: for a list, for the acceptance of its message, and for a whole reply that
/// takes no time.
const LIST: Duration = Duration::from_secs(2);
const ACCEPT: Duration = Duration::from_secs(3);
const REPLY: Duration = Duration::from_secs(6);
const LONG: usize = 800;
const PACE: Duration = Duration::from_millis(20);

async fn connect(address: SocketAddr, request: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    // A small receive buffer lets the server notice sooner that the client reads nothing.
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Sends a body byte by byte until the server closes the connection.
async fn trickle(address: SocketAddr, path: &str, kind: &str) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Type: {kind}\r\n\
         Content-Length: 1000000\r\n\r\n"
    );
    let mut stream = connect(address, &head).await;
    let mut tick = interval(Duration::from_millis(500));
    while stream.write_all(b"a").await.is_ok() {
        tick.tick().await;
    }
}

/// Connects all faulty clients at once. Dropping the returned value closes their connections.
async fn connect_faulty_clients(
    server: &RunningServer,
    chat: &str,
    reply: &str,
    findings: &mut ScenarioFindings,
) -> (Vec<TcpStream>, Tasks) {
    let address = server.address;
    let mut tasks = Tasks(Vec::new());
    for at in 0..TRICKLES {
        let (path, kind) = [
            ("/api/blobs?name=a.txt", "text/plain"),
            ("/forms/send", "application/x-www-form-urlencoded"),
            ("/api/chats", "application/json"),
            ("/forms/attach", "multipart/form-data; boundary=X"),
        ][at % 4];
        tasks.0.push(tokio::spawn(trickle(address, path, kind)));
    }
    let mut open = Vec::new();
    for _ in 0..IDLE {
        open.push(connect(address, "").await);
    }
    for _ in 0..DEAF {
        open.push(
            connect(address, &format!("GET /api/turns/{reply}/events HTTP/1.1\r\nHost: {address}\r\n\r\n")).await,
        );
    }
    let upgrade = format!(
        "GET /api/chats/{chat}/ws HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nConnection: upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    for _ in 0..SOCKETS {
        let mut stream = connect(address, &upgrade).await;
        let mut answer = [0; 12];
        let _ = stream.read_exact(&mut answer).await;
        findings.check(answer.ends_with(b"101"), || format!("a WebSocket: {}", String::from_utf8_lossy(&answer)));
        open.push(stream);
    }
    let (reply, pause) = (reply.to_owned(), TIME / LEAVING as u32);
    tasks.0.push(tokio::spawn(async move {
        for _ in 0..LEAVING {
            let request = format!("GET /api/turns/{reply}/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
            let mut stream = connect(address, &request).await;
            let _ = stream.read(&mut [0; 512]).await;
            drop(stream);
            sleep(pause).await;
        }
    }));
    for (name, count) in [
        ("trickled bodies", TRICKLES),
        ("idle connections", IDLE),
        ("followers that read nothing", DEAF),
        ("idle WebSockets", SOCKETS),
        ("disconnects", LEAVING),
    ] {
        findings.count(name, count);
    }
    (open, tasks)
}

/// Tasks that are aborted when this value is dropped.
struct Tasks(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(|task| task.abort());
    }
}

pub async fn run(ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let quick = FakeProvider::start(vec![immediate_reply("H", 5)]).await;
    let long = FakeProvider::start(vec![paced_reply("L", LONG, PACE)]).await;
    let configuration =
        provider_config("quick", &quick.base_url(), "") + &provider_config("long", &long.base_url(), "");
    let installation = ground.installation(&configuration);
    let server = installation.start().await;
    let client = &server.client;
    let chat = client.create_chat("long").await;
    let reply = client.send_and_get_reply_id(&chat, &OutgoingMessage::new("much", None)).await;
    let crowd = connect_faulty_clients(&server, &chat, &reply, &mut findings).await;
    let began = Instant::now();
    let (mut slowest_list, mut slowest_reply) = (Duration::ZERO, Duration::ZERO);
    let honest = client.create_chat("quick").await;
    let mut last = None;
    while began.elapsed() < TIME {
        let started = Instant::now();
        let list = client.get("/api/chats?limit=10").await;
        slowest_list = slowest_list.max(started.elapsed());
        findings.check(list.as_ref().is_ok_and(|(status, _)| *status == 200), || format!("the list: {list:?}"));
        let started = Instant::now();
        let sent = client.send_and_get_reply_id(&honest, &OutgoingMessage::new("hello", last.take())).await;
        let accepted = started.elapsed();
        let turn = client.wait_until_ended(&sent, REPLY).await;
        slowest_reply = slowest_reply.max(started.elapsed());
        findings.check(accepted <= ACCEPT, || format!("a message was accepted after {accepted:?}"));
        findings
            .check(turn["status"] == "complete" && text_of(&turn) == reply_words("H", 5), || format!("it got {turn}"));
        findings.count("honest messages", 1);
        last = Some(sent);
    }
    let upload = client.post("/api/blobs?name=a.json", &json!({ "an": "honest file" })).await;
    findings.check(upload.as_ref().is_ok_and(|(status, _)| *status == 201), || format!("an upload: {upload:?}"));
    findings.check(slowest_list <= LIST, || format!("the list took {slowest_list:?}"));
    findings.check(slowest_reply <= REPLY, || format!("a reply took {slowest_reply:?}"));
    let (list, reply_time) = (slowest_list.as_millis(), slowest_reply.as_millis());
    findings.add_note(format!("slowest list {list} ms, slowest reply {reply_time} ms"));
    let turn = client.wait_until_ended(&reply, TIME).await;
    findings.check(turn["status"] == "complete" && text_of(&turn) == reply_words("L", LONG), || {
        format!("the reply that they followed is {} ({})", turn["status"], turn["error"])
    });
    drop(crowd);
    let check = installation.run_fsck().await;
    findings.check(check.is_clean(), || check.to_string());
    let status = server.terminate().await;
    findings.check(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    findings
}
