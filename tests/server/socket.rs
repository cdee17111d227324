//! The WebSocket over a real server and a real client, on both databases: the events of the block API, late
//! subscribers, and client errors (docs/reference/events.md 9).

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;
use turnleaf::domain::limits;
use turnleaf::domain::tools::tool::ToolSpec;
use turnleaf::server::http::accept_loop::serve;
use turnleaf_providers::provider::ToolOutcome;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};

use crate::databases;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, delta_step, finish_steps, streamed_answer, text_step, thinking_step};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// An API that listens on a port.
struct ServedApi {
    api: TestApi,
    address: std::net::SocketAddr,
}

impl ServedApi {
    async fn new(api: TestApi) -> Self {
        Self::with_listener(api, TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn with_listener(api: TestApi, listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(vec![listener], api.router.clone(), CancellationToken::new()));
        Self { api, address }
    }

    async fn with_answers(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self::new(TestApi::new(answers).await).await
    }

    /// Connects without a subprotocol, and reads the `hello` that comes first.
    async fn connect(&self, path: &str) -> SocketClient {
        let (socket, response) = connect_async(format!("ws://{}{path}", self.address)).await.unwrap();
        assert_eq!(response.headers().get("sec-websocket-protocol"), None, "none was offered");
        let mut client = SocketClient(socket);
        let hello = client.next_event().await;
        assert_eq!((&hello["type"], &hello["protocol"]), (&json!("hello"), &json!("turnleaf.v1")), "{hello}");
        client
    }

    async fn refused(&self, path: &str, headers: &[(&'static str, &str)]) -> StatusCode {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((_, response)) => response.status(),
            Err(Error::Http(response)) => response.status(),
            Err(error) => panic!("{error}"),
        }
    }

    async fn send(&self, chat: &str, body: Value) -> Value {
        let (status, started) = self.api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        started
    }

    async fn delete(&self, path: &str) {
        let (status, deleted) = self.api.call("DELETE", path, None).await;
        assert!(status.is_success(), "{status} {deleted}");
    }
}

struct SocketClient(Socket);

impl SocketClient {
    async fn send_json(&mut self, value: Value) {
        self.send_raw(Message::text(value.to_string())).await;
    }

    async fn send_raw(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// Returns the next event. Errors: the close code, if any, when the server closed the connection.
    async fn next_message(&mut self) -> Result<Value, Option<CloseCode>> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Err(frame.map(|frame| frame.code)),
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return Err(None),
            }
        }
    }

    async fn next_event(&mut self) -> Value {
        self.next_message().await.unwrap()
    }

    /// Returns the events up to and including the first of this name.
    async fn events_until(&mut self, name: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            events.push(self.next_event().await);
            if events.last().unwrap()["type"] == name {
                return events;
            }
        }
    }
}

fn event_names(events: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    // The number of deltas depends on timing.
    names.dedup_by(|a, b| a == b && a.ends_with("chunk"));
    names
}

fn joined_text(events: &[Value], name: &str) -> String {
    events.iter().filter(|event| event["type"] == name).map(|event| event["content"].as_str().unwrap()).collect()
}

/// Returns a provider whose first reply continues after its first thought when the test signals.
fn with_a_tool(goes_on: Arc<Notify>) -> ScriptedProvider {
    let call = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "look", "arguments": arguments } }] });
    let calls = vec![
        thinking_step("hm"),
        ScriptedStep::WaitForSignal(goes_on),
        text_step("I look."),
        delta_step(call("{\"where\":")),
        delta_step(call("\"here\"}")),
    ];
    ScriptedProvider::new(
        "scripted",
        [
            ScriptedAnswer::Stream([calls, finish_steps("tool_calls")].concat()),
            streamed_answer([text_step("Hel"), text_step("lo")]),
        ],
    )
    .with_tools(
        vec![ToolSpec { name: "look".into(), description: String::new(), parameters: json!({ "type": "object" }) }],
        |_, arguments| Some(ToolOutcome { result: json!({ "seen": arguments["where"] }), is_error: false }),
    )
}

#[tokio::test]
async fn conversation_uses_block_api_events() {
    for fresh in databases::test_databases().await {
        let goes_on = Arc::new(Notify::new());
        let served = ServedApi::new(TestApi::with_server(
            TestServer::with_database(fresh.db.clone(), with_a_tool(goes_on.clone())).await,
        ))
        .await;
        let chat = served.api.create_chat().await;
        let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
        client.send_json(json!({ "type": "message", "content": "hi" })).await;
        // Text from before the connection follows arrives as one event, later text as deltas.
        let mut events = client.events_until("thinking_chunk").await;
        goes_on.notify_one();
        events.extend(client.events_until("end").await);
        let seen = event_names(&events);
        assert_eq!(
            seen.iter().filter(|name| **name != "tool_call_block").copied().collect::<Vec<_>>(),
            [
                "user_text_block",
                "thinking_start",
                "thinking_chunk",
                "thinking_end",
                "assistant_text_start",
                "chunk",
                "assistant_text_end",
                "tool_call_args_chunk",
                "tool_result_block",
                "assistant_text_start",
                "chunk",
                "assistant_text_end",
                "end"
            ]
        );
        let user = &events[0]["block"];
        assert_eq!((&user["block_type"], &user["author"]), (&json!("user_text"), &json!("user")));
        assert_eq!((&user["content"], &user["chat_session_id"]), (&json!({ "text": "hi" }), &json!(chat)));
        assert_eq!(joined_text(&events, "chunk"), "I look.Hello");
        assert_eq!(joined_text(&events, "thinking_chunk"), "hm");
        let args: String = events.iter().filter_map(|event| event["partial_args"].as_str()).collect();
        assert_eq!(args, "{\"where\":\"here\"}");
        let calls: Vec<&Value> =
            events.iter().filter(|e| e["type"] == "tool_call_block").map(|e| &e["block"]).collect();
        assert!(calls.len() > 1 && calls.iter().all(|call| call["id"] == calls[0]["id"]), "again at each status");
        let last = calls.last().unwrap();
        assert_eq!(
            (&last["content"]["status"], &last["content"]["arguments"]),
            (&json!("done"), &json!({ "where": "here" }))
        );
        let result = events.iter().find(|event| event["type"] == "tool_result_block").unwrap();
        assert_eq!(result["block"]["content"]["result"], json!({ "seen": "here" }));
        assert_eq!(result["block"]["parent_block_id"], last["id"]);
        assert_eq!(
            (&events.last().unwrap()["session_id"], &events.last().unwrap()["status"]),
            (&json!(chat), &json!("complete"))
        );
        let numbers: Vec<i64> = events.iter().filter_map(|e| e["sequence_number"].as_i64()).collect();
        assert!(numbers.is_sorted() && numbers[0] > user["sequence_number"].as_i64().unwrap(), "{numbers:?}");

        // A late subscriber without a cursor gets the same events, each once.
        let mut late = served.connect(&format!("/api/chats/{chat}/ws?after=0")).await;
        let all = late.events_until("end").await;
        assert_eq!(joined_text(&all, "chunk"), "I look.Hello");
        let result = all.iter().find(|event| event["type"] == "tool_result_block").unwrap();
        let behind = result["block"]["sequence_number"].as_i64().unwrap();
        let mut later = served.connect(&format!("/api/chats/{chat}/ws?after={behind}")).await;
        assert_eq!(
            event_names(&later.events_until("end").await),
            ["assistant_text_start", "chunk", "assistant_text_end", "end"]
        );
        served.api.instance.check_invariants().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn offered_subprotocol_is_echoed_and_hello_names_version_and_features() {
    let served = ServedApi::with_answers([streamed_answer([text_step("yes")])]).await;
    let chat = served.api.create_chat().await;
    for offered in ["turnleaf.v1", "turnleaf.v9, turnleaf.v1"] {
        let mut request = format!("ws://{}/api/chats/{chat}/ws", served.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", offered.parse().unwrap());
        let (socket, response) = connect_async(request).await.unwrap();
        assert_eq!(response.headers()["sec-websocket-protocol"], "turnleaf.v1", "{offered}");
        let mut client = SocketClient(socket);
        let hello = json!({ "type": "hello", "protocol": "turnleaf.v1", "session_id": chat,
            "features": { "content_blocks": true } });
        assert_eq!(client.next_event().await, hello);
        if offered == "turnleaf.v1" {
            client.send_json(json!({ "type": "message", "content": "well?" })).await;
            assert_eq!(joined_text(&client.events_until("end").await, "chunk"), "yes");
        }
    }
}

#[tokio::test]
async fn arguments_are_appended_or_sent_whole_and_call_has_its_step() {
    let go_on = Arc::new(Notify::new());
    go_on.notify_one();
    let served = ServedApi::new(TestApi::with_provider(with_a_tool(go_on)).await).await;
    let chat = served.api.create_chat().await;
    let mut first = served.connect(&format!("/api/chats/{chat}/ws?args=append")).await;
    let mut whole = served.connect(&format!("/api/chats/{chat}/ws?args=whole")).await;
    first.send_json(json!({ "type": "message", "content": "hi" })).await;
    let events = first.events_until("end").await;
    let chunks = |events: &[Value]| -> Vec<(bool, String)> {
        let chunks = events.iter().filter(|event| event["type"] == "tool_call_args_chunk");
        chunks.map(|one| (one["append"] == true, one["partial_args"].as_str().unwrap().to_owned())).collect()
    };
    let pieces = chunks(&events);
    assert!(pieces.iter().all(|(appends, _)| *appends));
    assert_eq!(pieces.into_iter().map(|(_, piece)| piece).collect::<String>(), "{\"where\":\"here\"}");
    let previews = chunks(&whole.events_until("end").await);
    assert_eq!(previews.last(), Some(&(false, "{\"where\":\"here\"}".to_owned())), "{previews:?}");
    assert!(previews.windows(2).all(|two| two[1].1.starts_with(&two[0].1)), "{previews:?}");
    assert_eq!(
        served.refused(&format!("/api/chats/{chat}/ws?args=all"), &[]).await,
        StatusCode::BAD_REQUEST,
        "an unknown form"
    );

    let call = events.iter().find(|event| event["type"] == "tool_call_block").unwrap();
    assert_eq!(call["block"]["metadata"]["step"], 0, "{call}");
    let (_, listed) = served.api.call("GET", &format!("/api/chats/{chat}/blocks"), None).await;
    let steps: Vec<&Value> = listed["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["block_type"] == "tool_call")
        .map(|block| &block["metadata"]["step"])
        .collect();
    assert_eq!(steps, [&json!(0)]);
}

#[tokio::test]
async fn replies_started_elsewhere_on_path_are_followed_and_siblings_are_not() {
    let answers = ["a", "b", "c"].map(|word| streamed_answer([text_step(word)]));
    let served = ServedApi::with_answers(answers).await;
    let chat = served.api.create_chat().await;
    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    let first = served.send(&chat, json!({ "text": "1" })).await;
    assert_eq!(joined_text(&client.events_until("end").await, "chunk"), "a");
    let message = first["user_turn"]["id"].as_str().unwrap();
    let (status, sibling) =
        served.api.call("POST", &format!("/api/turns/{message}/edit"), Some(json!({ "text": "2" }))).await;
    assert_eq!(status, StatusCode::CREATED);
    served.api.read_events(sibling["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    served.send(&chat, json!({ "text": "3", "branch_id": first["branch"]["id"] })).await;
    let events = client.events_until("end").await;
    assert_eq!(events[0]["block"]["content"]["text"], "3", "{events:?}");
    assert_eq!(joined_text(&events, "chunk"), "c");

    // The other path is selected by its branch, or by a turn on it.
    for query in [
        format!("branch_id={}", sibling["branch"]["id"].as_str().unwrap()),
        format!("leaf={}", sibling["user_turn"]["id"].as_str().unwrap()),
    ] {
        let mut other = served.connect(&format!("/api/chats/{chat}/ws?after=0&{query}")).await;
        assert_eq!(joined_text(&other.events_until("end").await, "chunk"), "b");
    }
}

#[tokio::test]
async fn late_subscriber_gets_every_event_exactly_once() {
    let go_on = Arc::new(Notify::new());
    let served = ServedApi::with_answers([streamed_answer([
        thinking_step("hm"),
        text_step("one "),
        ScriptedStep::WaitForSignal(go_on.clone()),
        text_step("two "),
        text_step("three"),
    ])])
    .await;
    let chat = served.api.create_chat().await;
    let mut first = served.connect(&format!("/api/chats/{chat}/ws")).await;
    first.send_json(json!({ "type": "message", "content": "count" })).await;
    let mut before = first.events_until("chunk").await;
    let mut second = served.connect(&format!("/api/chats/{chat}/ws")).await;
    let mut joined = second.events_until("chunk").await;
    assert_eq!(event_names(&joined)[0], "thinking_start", "the reply alone, from its beginning");
    go_on.notify_one();
    before.extend(first.events_until("end").await);
    joined.extend(second.events_until("end").await);
    for events in [&before, &joined] {
        assert_eq!(joined_text(events, "chunk"), "one two three");
        assert_eq!(joined_text(events, "thinking_chunk"), "hm");
    }
}

#[tokio::test]
async fn cancel_ends_reply_within_second() {
    let served = ServedApi::with_answers([
        streamed_answer([text_step("on and on"), ScriptedStep::Hang]),
        streamed_answer([text_step("again")]),
    ])
    .await;
    let chat = served.api.create_chat().await;
    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    client.send_json(json!({ "type": "cancel" })).await;
    client.send_json(json!({ "type": "message", "content": "talk" })).await;
    client.events_until("chunk").await;
    client.send_json(json!({ "type": "message", "content": "too early" })).await;
    assert_eq!(client.events_until("error").await.last().unwrap()["code"], "turn_running");
    let start = Instant::now();
    client.send_json(json!({ "type": "cancel" })).await;
    let end = client.events_until("end").await.pop().unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(end["status"], "cancelled");
    client.send_json(json!({ "type": "message", "content": "go on" })).await;
    assert_eq!(joined_text(&client.events_until("end").await, "chunk"), "again");
}

#[tokio::test]
async fn invalid_message_gets_error_and_connection_stays_open() {
    let served = ServedApi::with_answers([streamed_answer([text_step("yes")])]).await;
    let chat = served.api.create_chat().await;
    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    for bad in [
        "hello",
        "{}",
        "[]",
        r#"{"type":"subscribe"}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"message","content":""}"#,
        r#"{"type":"message","content":"a","colour":"red"}"#,
        r#"{"type":"message","content":"a","provider":"nobody"}"#,
        r#"{"type":"message","content":"a","params":{"temperature":-1}}"#,
    ] {
        client.send_raw(Message::text(bad)).await;
        let error = client.next_event().await;
        assert_eq!(error["type"], "error", "{bad}: {error}");
        assert!(error["message"].is_string() && error["code"].is_string(), "{bad}: {error}");
    }
    client.send_raw(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(client.next_event().await["type"], "error");
    let locked = json!({ "type": "message", "content": "a", "model": "model-b" });
    client.send_json(locked).await;
    let error = client.next_event().await;
    assert_eq!((&error["code"], &error["fork"]["model"]), (&json!("branch_locked"), &json!("model-b")));
    let named = json!({ "type": "message", "content": "well?", "client_request_id": "k" });
    client.send_json(named.clone()).await;
    assert_eq!(joined_text(&client.events_until("end").await, "chunk"), "yes");
    client.send_json(named).await;
    client.send_raw(Message::text("{}")).await;
    assert_eq!(client.next_event().await["type"], "error", "the same message again sends nothing");
}

#[tokio::test]
async fn flooding_client_is_disconnected() {
    let served = ServedApi::with_answers([]).await;
    let chat = served.api.create_chat().await;
    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    for _ in 0..60 {
        if client.0.send(Message::text("{}")).await.is_err() {
            break;
        }
    }
    let code = loop {
        match client.next_message().await {
            Ok(event) => assert_eq!(event["type"], "error"),
            Err(code) => break code,
        }
    };
    assert_eq!(code, Some(CloseCode::Policy));

    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    let large = json!({ "type": "message", "content": "a".repeat(3 << 20) });
    // The server may close the connection before all of it was written.
    let _ = client.0.send(Message::text(large.to_string())).await;
    assert!(client.next_message().await.is_err());
    assert_eq!(served.api.call("GET", "/api/chats", None).await.0, StatusCode::OK);
}

#[tokio::test]
async fn idle_connection_gets_heartbeats_and_unresponsive_client_is_closed() {
    let served = ServedApi::with_answers([]).await;
    let chat = served.api.create_chat().await;
    let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
    // The response shows that the server has read the path; the clock must not jump before that.
    client.0.send(Message::Text("{".into())).await.unwrap();
    assert_eq!(client.next_event().await["type"], "error");
    tokio::time::pause();
    // While a blocking task runs, tokio does not advance the paused clock by itself, for example while bytes are in
    // transit.
    let (free, held) = std::sync::mpsc::channel::<()>();
    let holding = tokio::task::spawn_blocking(move || held.recv());
    // Timers are due at whole milliseconds, rounded up.
    let next = limits::HEARTBEAT + Duration::from_millis(1);
    tokio::time::advance(next).await;
    let beat = client.next_event().await;
    assert_eq!(beat["type"], "heartbeat");
    assert!(beat["now"].is_string());
    for _ in 0..3 {
        tokio::time::advance(next).await;
        assert_eq!(client.next_event().await["type"], "heartbeat", "reading answers the pings");
    }
    drop(free);
    assert!(holding.await.unwrap().is_err());
    tokio::time::resume();

    let mut dead = served.connect(&format!("/api/chats/{chat}/ws")).await;
    let MaybeTlsStream::Plain(wire) = dead.0.get_mut() else { panic!("plain") };
    tokio::time::pause();
    // The client receives the pings but does not answer them, until the server closes.
    let mut bytes = [0; 4096];
    loop {
        match wire.read(&mut bytes).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
}

#[tokio::test]
async fn unauthorized_client_is_refused_before_upgrade() {
    let served = ServedApi::with_answers([]).await;
    let chat = served.api.create_chat().await;
    let path = format!("/api/chats/{chat}/ws");
    let own = format!("http://{}", served.address);
    assert_eq!(served.refused(&path, &[]).await, StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(served.refused(&path, &[("origin", &own)]).await, StatusCode::SWITCHING_PROTOCOLS);
    let same = [("origin", "null"), ("sec-fetch-site", "same-origin")];
    assert_eq!(served.refused(&path, &same).await, StatusCode::SWITCHING_PROTOCOLS);
    for foreign in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        assert_eq!(served.refused(&path, &[("origin", foreign)]).await, StatusCode::FORBIDDEN, "{foreign}");
    }
    let cross = [("origin", own.as_str()), ("sec-fetch-site", "cross-site")];
    assert_eq!(served.refused(&path, &cross).await, StatusCode::FORBIDDEN);

    let nothing = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    let other = served.api.create_chat().await;
    let started = served.send(&other, json!({ "text": "x" })).await;
    let turn = started["user_turn"]["id"].as_str().unwrap();
    for path in [
        format!("/api/chats/{nothing}/ws"),
        "/api/chats/1/ws".into(),
        format!("{path}?leaf={nothing}"),
        format!("{path}?leaf={turn}"),
        format!("{path}?branch_id={nothing}"),
    ] {
        assert_eq!(served.refused(&path, &[]).await, StatusCode::NOT_FOUND, "{path}");
    }
    for query in ["leaf=1", "after=x", "colour=red"] {
        assert_eq!(served.refused(&format!("{path}?{query}"), &[]).await, StatusCode::BAD_REQUEST, "{query}");
    }
    let (status, problem) = served.api.call("GET", &path, None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::UPGRADE_REQUIRED, &json!("upgrade_required")));
}

#[tokio::test]
async fn shutdown_is_announced_to_client() {
    let served = ServedApi::with_answers([streamed_answer([text_step("on"), ScriptedStep::Hang])]).await;
    let chat = served.api.create_chat().await;
    let mut idle = served.connect(&format!("/api/chats/{chat}/ws")).await;
    idle.send_json(json!({ "type": "message", "content": "talk" })).await;
    idle.events_until("chunk").await;
    served.api.closing.cancel();
    let code = loop {
        match idle.next_message().await {
            Ok(_) => {}
            Err(code) => break code,
        }
    };
    assert_eq!(code, Some(CloseCode::Away));
}

#[tokio::test]
async fn deletion_is_announced_and_connection_continues() {
    for fresh in databases::test_databases().await {
        let answers = ["a", "b", "c", "d", "e", "f"].map(|word| streamed_answer([text_step(word)]));
        let served = ServedApi::new(TestApi::with_server(
            TestServer::with_database(fresh.db.clone(), ScriptedProvider::new("scripted", answers)).await,
        ))
        .await;
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let chat = served.api.create_chat().await;
        let mut client = served.connect(&format!("/api/chats/{chat}/ws")).await;
        let first = served.send(&chat, json!({ "text": "1" })).await;
        client.events_until("end").await;
        let second = served.send(&chat, json!({ "text": "2" })).await;
        client.events_until("end").await;

        // The connection notices the deletion when something starts elsewhere in the chat; no event is sent again.
        served.delete(&format!("/api/turns/{}", id(&second["user_turn"]))).await;
        let sibling = json!({ "text": "beside" });
        let path = format!("/api/turns/{}/edit", id(&first["user_turn"]));
        let (status, sibling) = served.api.call("POST", &path, Some(sibling)).await;
        assert_eq!(status, StatusCode::CREATED, "{sibling}");
        served.api.read_events(&id(&sibling["assistant_turn"]), &[]).await;
        let event = client.next_event().await;
        assert_eq!((&event["type"], &event["code"]), (&json!("error"), &json!("path_deleted")), "{event}");
        assert_eq!((&event["turn_id"], &event["branch_id"]), (&first["assistant_turn"]["id"], &first["branch"]["id"]));
        client.send_json(json!({ "type": "message", "content": "3" })).await;
        let events = client.events_until("end").await;
        assert_eq!((events[0]["block"]["content"]["text"].as_str(), &*joined_text(&events, "chunk")), (Some("3"), "d"));

        // The connection notices the deletion when the client sends a message, which is not sent to another path.
        let third = events.last().unwrap()["turn_id"].as_str().unwrap().to_owned();
        served.delete(&format!("/api/turns/{third}")).await;
        served.delete(&format!("/api/turns/{}", id(&first["user_turn"]))).await;
        client.send_json(json!({ "type": "message", "content": "4" })).await;
        let mut event = client.next_event().await;
        if event["code"] == "path_deleted" && event["branch_id"] != sibling["branch"]["id"] {
            // The connection looked between the two deletions.
            event = client.next_event().await;
        }
        assert_eq!(
            (&event["code"], &event["branch_id"]),
            (&json!("path_deleted"), &sibling["branch"]["id"]),
            "{event}"
        );
        client.send_json(json!({ "type": "message", "content": "4" })).await;
        let events = client.events_until("end").await;
        assert_eq!((events[0]["block"]["content"]["text"].as_str(), &*joined_text(&events, "chunk")), (Some("4"), "e"));

        served.delete(&format!("/api/chats/{chat}")).await;
        client.send_json(json!({ "type": "message", "content": "5" })).await;
        assert_eq!(client.next_event().await["code"], "not_found");
        served.api.instance.check_invariants().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn slow_client_is_not_disconnected() {
    const TEXT_CHARS: usize = 10_000;
    let blocks = (0..200).flat_map(|_| [thinking_step(&"x".repeat(TEXT_CHARS)), text_step(&"y".repeat(TEXT_CHARS))]);
    // Small socket buffers make the backpressure visible; a connection inherits those of the listener.
    let listener = TcpSocket::new_v4().unwrap();
    listener.set_send_buffer_size(64 << 10).unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let served = ServedApi::with_listener(TestApi::new([streamed_answer(blocks)]).await, listener.listen(16).unwrap());
    let chat = served.api.create_chat().await;
    let wire = TcpSocket::new_v4().unwrap();
    wire.set_recv_buffer_size(64 << 10).unwrap();
    let wire = MaybeTlsStream::Plain(wire.connect(served.address).await.unwrap());
    let request = format!("ws://{}/api/chats/{chat}/ws", served.address);
    let (mut slow, _) = tokio_tungstenite::client_async(request, wire).await.unwrap();
    slow.send(Message::text(json!({ "type": "message", "content": "talk" }).to_string())).await.unwrap();
    // The whole reply waits for this client.
    served.connect(&format!("/api/chats/{chat}/ws?after=0")).await.events_until("end").await;
    let MaybeTlsStream::Plain(wire) = slow.get_mut() else { panic!("plain") };
    // Each read is larger than all buffers between server and client, so it completes only if the server writes
    // meanwhile.
    let mut bytes = vec![0; 640 << 10];
    tokio::time::pause();
    let (free, held) = std::sync::mpsc::channel::<()>();
    let holding = tokio::task::spawn_blocking(move || held.recv());
    let mut got = 0;
    for _ in 0..5 {
        // The read precedes the jump of the clock, because the last bytes have waited since the end of the reply.
        got += wire.read_exact(&mut bytes).await.unwrap();
        tokio::time::advance(limits::HEARTBEAT + Duration::from_millis(1)).await;
    }
    drop(free);
    assert!(holding.await.unwrap().is_err());
    tokio::time::resume();
    while got < 400 * TEXT_CHARS {
        match wire.read(&mut bytes).await.unwrap() {
            0 => panic!("the server left after {got} bytes"),
            some => got += some,
        }
    }
}

#[tokio::test]
async fn non_reading_client_blocks_no_other() {
    let many: Vec<ScriptedStep> = (0..2_000).map(|n| text_step(&format!("{n} {}", "x".repeat(2_000)))).collect();
    let served = ServedApi::with_answers([streamed_answer(many), streamed_answer([text_step("after")])]).await;
    let chat = served.api.create_chat().await;
    let mut slow = served.connect(&format!("/api/chats/{chat}/ws")).await;
    slow.send_json(json!({ "type": "message", "content": "talk" })).await;
    let mut quick = served.connect(&format!("/api/chats/{chat}/ws?after=0")).await;
    let quick_events = quick.events_until("end").await;
    let slow_events = slow.events_until("end").await;
    assert_eq!(joined_text(&quick_events, "chunk").len(), joined_text(&slow_events, "chunk").len());
    assert!(joined_text(&slow_events, "chunk") == joined_text(&quick_events, "chunk"), "everything, in order");
}
