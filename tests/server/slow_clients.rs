//! Backpressure and admission: clients that are slow, send too many requests or keep too many streams open, against
//! the whole server over real sockets. They occupy nothing that others need.

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use turnleaf::domain::limits;
use turnleaf::server::http::accept_loop::serve;
use turnleaf::server::http::layers::HttpConfig;
use turnleaf::server::http::request::admission::Admission;
use turnleaf::server::http::request::body::BodyPaceLimits;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{CliFlags, Config};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedStep};
use turnleaf_service::documents::{DocumentTextSource, NewDocumentRequest};

use crate::fake_file_reader::{PNG, api_with_fake_reader};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

const PROXY: &str = "X-Turnleaf-Proxy-Secret: 0123456789abcdef\r\n";

async fn serve_api(api: &TestApi) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(vec![listener], api.router.clone(), CancellationToken::new()));
    address
}

/// Returns a server behind a proxy on this machine.
async fn behind_proxy(answers: Vec<ScriptedAnswer>) -> TestApi {
    let instance = TestServer::new(turnleaf_providers::scripted::ScriptedProvider::new("scripted", answers)).await;
    let environment: Environment = [
        ("TURNLEAF_AUTH", "proxy"),
        ("TURNLEAF_TRUSTED_PROXIES", "127.0.0.1"),
        ("TURNLEAF_PROXY_SECRET", "0123456789abcdef"),
    ]
    .into_iter()
    .collect();
    let security = Config::load(&CliFlags::default(), &environment).unwrap().security;
    TestApi::with_config(instance, HttpConfig { admission: Admission::new(&security), ..HttpConfig::default() })
}

async fn open_request(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (line, rest) = head.split_once("\r\n").unwrap_or((head, ""));
    stream.write_all(format!("{line} HTTP/1.1\r\nHost: 127.0.0.1\r\n{rest}\r\n").as_bytes()).await.unwrap();
    stream
}

/// Reads until the text contains `text`, or until the connection ends.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 16 << 10];
    while !String::from_utf8_lossy(&all).contains(text) {
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => all.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn trickling_uploads_block_no_other_upload() {
    let api = api_with_fake_reader(TestServer::new(crate::interchange::replies(1)).await);
    let address = serve_api(&api).await;
    let mut slow = Vec::new();
    for kind in 0..2 * limits::UPLOADS_AT_ONCE {
        let path = if kind % 2 == 0 { "/api/blobs?name=a.txt" } else { "/forms/attach" };
        let head = format!(
            "POST {path}\r\nContent-Type: multipart/form-data; boundary=X\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n"
        );
        let mut stream = open_request(address, &head).await;
        // The server sends 100 when it starts to read the body.
        assert!(read_until(&mut stream, "\r\n\r\n").await.starts_with("HTTP/1.1 100"));
        stream.write_all(b"a").await.unwrap();
        slow.push(stream);
    }
    let upload = crate::fake_file_reader::upload(&api, "a.png", [PNG, b"x"].concat());
    let (status, made) = tokio::time::timeout(Duration::from_secs(10), upload).await.expect("it has a place");
    assert_eq!(status, StatusCode::CREATED, "{made}");
    drop(slow);
}

#[tokio::test]
async fn slow_body_is_408_on_forms_server_functions_and_uploads_and_page_for_browsers() {
    let pace = BodyPaceLimits {
        grace: Duration::from_millis(200),
        window: Duration::from_millis(100),
        ..BodyPaceLimits::default()
    };
    let instance = TestServer::new(crate::interchange::replies(1)).await;
    let api = TestApi::with_config(instance, HttpConfig { body_pace: pace, ..HttpConfig::default() });
    let address = serve_api(&api).await;
    let form = "application/x-www-form-urlencoded";
    for (path, kind, accepted) in [
        ("/api/chats", "application/json", "*/*"),
        ("/api/page/send_message", "application/json", "*/*"),
        ("/api/blobs?name=a.txt", "text/plain", "*/*"),
        ("/api/imports?name=a.json", "application/json", "*/*"),
        ("/forms/send", form, "*/*"),
        ("/forms/send", form, "text/html"),
        ("/forms/providers/add", form, "text/html"),
        ("/forms/attach", "multipart/form-data; boundary=X", "text/html"),
        ("/forms/import", "multipart/form-data; boundary=X", "text/html"),
    ] {
        let head = format!(
            "POST {path}\r\nContent-Type: {kind}\r\nAccept: {accepted}\r\nContent-Length: 1000\r\nConnection: close\r\n"
        );
        let mut stream = open_request(address, &head).await;
        stream.write_all(b"a").await.unwrap();
        let answer = read_until(&mut stream, "</html>").await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{path} {accepted}: {answer}");
        let expected = if accepted == "text/html" { "</html>" } else { "\"too_slow\"" };
        assert!(answer.contains(expected), "{path} {accepted}: {answer}");
    }
}

#[tokio::test]
async fn overlong_chunked_body_is_413_on_forms_and_server_functions() {
    let api = TestApi::with_server(TestServer::new(crate::interchange::replies(1)).await);
    let piece = bytes::Bytes::from(vec![b'a'; 1 << 20]);
    for (path, kind) in [
        ("/api/chats", "application/json"),
        ("/api/page/send_message", "application/json"),
        ("/forms/send", "application/x-www-form-urlencoded"),
        ("/forms/providers/add", "application/x-www-form-urlencoded"),
        ("/forms/preferences", "application/x-www-form-urlencoded"),
    ] {
        let pieces = vec![piece.clone(); 3].into_iter().map(Ok::<_, std::io::Error>);
        let body = axum::body::Body::from_stream(futures::stream::iter(pieces));
        let request = http::Request::post(path).header("host", "127.0.0.1:3000").header("content-type", kind);
        let answer = api.send(request.body(body).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE, "{path}");
    }
}

#[tokio::test]
async fn server_function_refuses_field_that_it_does_not_have_with_400() {
    let api = TestApi::with_server(TestServer::new(crate::interchange::replies(1)).await);
    let chat = api.create_chat().await;
    for (body, field) in [
        (format!(r#"{{"chat_id":"{chat}","title":"x","owner":"me"}}"#), "owner"),
        (format!(r#"{{"chat_id":"{chat}","title":"x","title":"y"}}"#), "title"),
        (format!(r#"{{"chat_id":"{chat}","title":1}}"#), "title"),
        (format!(r#"{{"chat_id":"{chat}"}}"#), "title"),
    ] {
        let request = http::Request::post("/api/page/rename_chat").header("host", "127.0.0.1:3000");
        let request = request.header("content-type", "application/json").body(body.clone().into()).unwrap();
        let answer = api.send(request).await;
        let status = answer.status();
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let problem: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{body}: {problem}");
    }
    let body = json!({ "chat_id": chat, "title": "renamed" });
    assert_eq!(api.call("POST", "/api/page/rename_chat", Some(body)).await.0, StatusCode::OK);
    assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.1["title"], "renamed");
}

#[tokio::test]
async fn streams_of_client_behind_proxy_are_bounded_and_oldest_closes() {
    let api = behind_proxy(vec![streamed_answer([text_step("on"), ScriptedStep::Hang])]).await;
    let started = api.instance.send("go").await;
    let turn = started.assistant_turn.id;
    let address = serve_api(&api).await;
    let follow = async |client: &str| {
        let path = format!("GET /api/turns/{turn}/events\r\n{PROXY}X-Forwarded-For: {client}\r\n");
        let mut stream = open_request(address, &path).await;
        let head = read_until(&mut stream, "retry: 500").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    };
    let mut streams = Vec::new();
    // Up to the bound, streams of many tabs stay open, and another device has its own bound.
    for _ in 0..limits::STREAMS_PER_CLIENT {
        streams.push(follow("203.0.113.7").await);
    }
    let mut other = follow("203.0.113.8").await;
    let mut newest = follow("203.0.113.7").await;
    // The oldest stream receives a request to reconnect later, and is closed properly.
    let last = read_until(&mut streams[0], "0\r\n\r\n").await;
    assert!(last.contains("retry: 30000") && last.ends_with("0\r\n\r\n"), "{last}");
    // A WebSocket counts as a stream, so the second oldest stream is closed.
    let chat = started.chat.id;
    let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let path = format!("GET /api/chats/{chat}/ws\r\n{PROXY}X-Forwarded-For: 203.0.113.7\r\n{upgrade}");
    let mut socket = open_request(address, &path).await;
    assert!(read_until(&mut socket, "\r\n\r\n").await.starts_with("HTTP/1.1 101"));
    assert!(read_until(&mut streams[1], "0\r\n\r\n").await.contains("retry: 30000"));
    // The other streams continue to the end of the reply.
    api.instance.service.stop_turn(api.instance.owner, turn).await.unwrap();
    for stream in streams[2..].iter_mut().chain([&mut other, &mut newest]) {
        assert!(read_until(stream, "event: turn_end").await.contains("event: turn_end"));
    }
    api.instance.close().await;
}

#[tokio::test]
async fn oldest_web_socket_of_client_is_closed_with_reason() {
    let api = behind_proxy(Vec::new()).await;
    let chat = api.instance.chat_with_tools(&[]).await;
    let address = serve_api(&api).await;
    let connect = async || {
        let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let path = format!("GET /api/chats/{chat}/ws\r\n{PROXY}X-Forwarded-For: 203.0.113.7\r\n{upgrade}");
        let mut socket = open_request(address, &path).await;
        assert!(read_until(&mut socket, "\r\n\r\n").await.starts_with("HTTP/1.1 101"));
        socket
    };
    let mut sockets = Vec::new();
    for _ in 0..=limits::STREAMS_PER_CLIENT {
        sockets.push(connect().await);
    }
    let reason = read_until(&mut sockets[0], "the oldest was closed").await;
    assert!(reason.contains("too many streams"), "{reason}");
}

#[tokio::test]
async fn oldest_live_channel_of_client_is_told_that_it_is_displaced() {
    let api = behind_proxy(Vec::new()).await;
    let address = serve_api(&api).await;
    let mut channels = Vec::new();
    for _ in 0..=limits::STREAMS_PER_CLIENT {
        let head = format!("GET /api/events\r\n{PROXY}X-Forwarded-For: 203.0.113.7\r\n");
        let mut channel = open_request(address, &head).await;
        assert!(read_until(&mut channel, "event: reset").await.starts_with("HTTP/1.1 200"));
        channels.push(channel);
    }
    let last = read_until(&mut channels[0], "0\r\n\r\n").await;
    assert!(last.contains("event: displaced") && last.contains("retry: 30000"), "{last}");
    // The others are told of changes still.
    api.instance.chat_with_tools(&[]).await;
    assert!(read_until(&mut channels[1], "chat_list_changed").await.contains("event: chat_list_changed"));
    api.instance.close().await;
}

#[tokio::test]
async fn concurrent_requests_of_client_behind_proxy_are_bounded() {
    let api = behind_proxy(Vec::new()).await;
    let address = serve_api(&api).await;
    let head = |client: &str, extra: &str| {
        format!("POST /api/chats\r\n{PROXY}X-Forwarded-For: {client}\r\nContent-Type: application/json\r\n{extra}")
    };
    let mut waiting = Vec::new();
    for _ in 0..limits::REQUESTS_PER_CLIENT {
        let extra = "Expect: 100-continue\r\nContent-Length: 2\r\n";
        let mut stream = open_request(address, &head("203.0.113.7", extra)).await;
        assert!(read_until(&mut stream, "\r\n\r\n").await.starts_with("HTTP/1.1 100"));
        waiting.push(stream);
    }
    let ask_whole = async |client: &str| {
        let mut stream = open_request(address, &head(client, "Content-Length: 2\r\nConnection: close\r\n")).await;
        let _ = stream.write_all(b"{}").await;
        read_until(&mut stream, "never").await
    };
    let refused = ask_whole("203.0.113.7").await;
    assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("retry-after"), "{refused}");
    assert!(ask_whole("203.0.113.8").await.starts_with("HTTP/1.1 201"), "another client has its own");
    // A request that ends makes room for another.
    waiting[0].write_all(b"{}").await.unwrap();
    assert!(read_until(&mut waiting[0], "\"id\"").await.starts_with("HTTP/1.1 201"));
    assert!(ask_whole("203.0.113.7").await.starts_with("HTTP/1.1 201"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_downloads_hold_admission_and_unread_streams_do_not() {
    let api = behind_proxy(Vec::new()).await;
    // The document exceeds the socket buffers of both sides.
    let text = "long ".repeat(limits::DOCUMENT_BYTES / 5);
    let new = NewDocumentRequest {
        title: Some("Long".into()),
        kind: None,
        source: DocumentTextSource::Text(text),
        client_request_id: None,
    };
    let document = api.instance.service.create_document(api.instance.owner, new).await.unwrap().value.id;
    let address = serve_api(&api).await;
    let path = format!("GET /api/documents/{document}\r\n{PROXY}X-Forwarded-For: é, 203.0.113.7\r\n");
    let open = || async {
        let mut stream = open_request(address, &path).await;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        stream
    };
    // Several at a time: an unread download is given up after a while, and the last must come before that.
    let opened = futures::stream::iter(std::iter::repeat_with(open).take(limits::REQUESTS_PER_CLIENT));
    let unread: Vec<TcpStream> = opened.buffer_unordered(4).collect().await;
    let mut refused = open_request(address, &path).await;
    assert!(read_until(&mut refused, "too_many").await.starts_with("HTTP/1.1 429"));
    // A form that is refused for this reason returns with its text.
    let form = "chat_id=x&text=typed-words";
    let head = format!(
        "POST /forms/send\r\n{PROXY}X-Forwarded-For: 203.0.113.7\r\nAccept: text/html\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
        form.len()
    );
    let mut refused = open_request(address, &head).await;
    refused.write_all(form.as_bytes()).await.unwrap();
    let page = read_until(&mut refused, "</html>").await;
    assert!(page.starts_with("HTTP/1.1 429") && page.contains("typed-words"), "{page}");
    // The same holds for a form with files, whatever follows the text.
    let form = "--X\r\ncontent-disposition: form-data; name=\"turn_id\"\r\n\r\nx\r\n\
                --X\r\ncontent-disposition: form-data; name=\"text\"\r\n\r\nedited-words\r\n\
                --X\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n\r\nfile\r\n--X--\r\n";
    let head = format!(
        "POST /forms/edit\r\n{PROXY}X-Forwarded-For: 203.0.113.7\r\nAccept: text/html\r\n\
         Content-Type: multipart/form-data; boundary=X\r\nContent-Length: {}\r\n",
        form.len()
    );
    let mut refused = open_request(address, &head).await;
    refused.write_all(form.as_bytes()).await.unwrap();
    let page = read_until(&mut refused, "</html>").await;
    assert!(page.starts_with("HTTP/1.1 429") && page.contains("edited-words"), "{page}");
    // Abandoned downloads make room.
    drop(unread);
    loop {
        let mut stream = open_request(address, &path).await;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        if &head == b"HTTP/1.1 200" {
            break;
        }
    }
}

#[tokio::test]
async fn text_of_edit_form_with_incomplete_files_is_kept_on_its_page() {
    let pace = BodyPaceLimits {
        grace: Duration::from_millis(200),
        window: Duration::from_millis(100),
        ..BodyPaceLimits::default()
    };
    let instance = TestServer::new(crate::interchange::replies(1)).await;
    let api = TestApi::with_config(instance, HttpConfig { body_pace: pace, ..HttpConfig::default() });
    let address = serve_api(&api).await;
    let start = "--X\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\ntyped-words\r\n\
                 --X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n\r\nhalf a file";
    let head = "POST /forms/edit\r\nContent-Type: multipart/form-data; boundary=X\r\nAccept: text/html\r\n\
                Content-Length: 100000\r\nConnection: close\r\n";
    let mut stream = open_request(address, head).await;
    stream.write_all(start.as_bytes()).await.unwrap();
    let page = read_until(&mut stream, "</html>").await;
    assert!(page.starts_with("HTTP/1.1 408") && page.contains("typed-words"), "{page}");

    let piece = bytes::Bytes::from(vec![b'a'; 1 << 20]);
    let pieces = std::iter::once(start.into()).chain(std::iter::repeat_n(piece, limits::TURN_UPLOAD_BYTES >> 20));
    let body = axum::body::Body::from_stream(futures::stream::iter(pieces.map(Ok::<_, std::io::Error>)));
    let request = http::Request::post("/forms/edit").header("host", "127.0.0.1:3000").header("accept", "text/html");
    let request = request.header("content-type", "multipart/form-data; boundary=X").body(body).unwrap();
    let answer = api.send(request).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let page = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&page).contains("typed-words"));
}

#[tokio::test]
async fn concurrent_exports_of_person_are_bounded_until_last_byte() {
    let api = TestApi::with_server(TestServer::new(crate::interchange::replies(1)).await);
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/export");
    let export = async |format: &str| {
        let request = http::Request::get(format!("{path}?format={format}")).header("host", "127.0.0.1:3000");
        api.send(request.body(axum::body::Body::empty()).unwrap()).await
    };
    let mut sent = Vec::new();
    for number in 0..limits::EXPORTS_PER_OWNER {
        let answer = export(["json", "markdown", "html", "git"][number % 4]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        sent.push(answer);
    }
    assert_eq!(export("json").await.status(), StatusCode::TOO_MANY_REQUESTS);
    axum::body::to_bytes(sent.pop().unwrap().into_body(), usize::MAX).await.unwrap();
    assert_eq!(export("json").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn journal_that_waits_for_locked_database_shows_its_delay() {
    let instance = TestServer::new(turnleaf_providers::scripted::ScriptedProvider::new(
        "scripted",
        [streamed_answer([text_step("one"), ScriptedStep::Wait(Duration::from_millis(300)), text_step("two")])],
    ))
    .await;
    assert_eq!(instance.service.supervisor().journal_delay(), Duration::ZERO);
    let started = instance.send("go").await;
    let path = format!("sqlite://{}", instance.dir.path().join("turnleaf.db").display());
    let mut other = <sqlx::SqliteConnection as sqlx::Connection>::connect(&path).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let supervisor = instance.service.supervisor();
    while supervisor.journal_delay() < Duration::from_millis(200) {
        tokio::task::yield_now().await;
    }
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    let turn = instance.wait_until_ended(started.assistant_turn.id).await;
    assert_eq!(json!(turn.status), json!("complete"));
    assert_eq!(supervisor.journal_delay(), Duration::ZERO);
    instance.close().await;
}
