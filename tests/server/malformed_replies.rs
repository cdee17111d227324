//! Providers that send malformed or hostile responses, over real sockets and through the HTTP API: one test per
//! fault, on all five APIs, each with its expected ending (docs/reference/providers.md 2.4).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::limits;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_store::turns::generations::{self, raw};

use crate::exports::git;
use crate::fakeprov::{FakeProvider, ServerStep};
use crate::http_api::TestApi as Client;
use crate::interchange::export_archive;
use crate::test_server::TestServer;
use crate::wire_fixtures::{
    complete_stream, encode_event, encode_events, ending_events, error_event, interrupted_stream, opening_events,
    stream_end, text_event,
};

const KEY: &str = "the-secret/key+of=this-test";
/// A timeout that only a test that hangs can reach.
const PATIENCE: Duration = Duration::from_secs(20);

/// A chat with a provider that follows one script, and the reply to its only message.
struct FaultyReply {
    api: ProviderApi,
    client: Arc<Client>,
    provider: FakeProvider,
    chat: String,
    turn: Value,
    events: String,
}

pub fn endpoint(id: &str, api: ProviderApi, base_url: String) -> ProviderEndpoint {
    ProviderEndpoint {
        id: id.into(),
        name: "Fake".into(),
        api,
        dialect: String::new(),
        base_url,
        api_key: Some(KEY.into()),
        models: vec!["m-1".into()],
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    }
}

/// Responds with this status and these headers, then continues with `then`.
pub fn response_script(
    status: u16,
    headers: &[(&'static str, &str)],
    then: impl IntoIterator<Item = ServerStep>,
) -> Vec<ServerStep> {
    let headers = headers.iter().map(|(name, value)| ServerStep::Header(name, (*value).to_owned()));
    [ServerStep::Status(status)].into_iter().chain(headers).chain(then).collect()
}

/// Starts one server with a provider for each script, and one chat with each provider.
async fn run_scripts(scripts: impl IntoIterator<Item = (ProviderApi, Vec<ServerStep>)>) -> Vec<FaultyReply> {
    let (mut providers, mut endpoints) = (Vec::new(), Vec::new());
    for (api, script) in scripts {
        let provider = FakeProvider::start(vec![script]).await;
        endpoints.push(endpoint(&format!("fake-{}", providers.len()), api, provider.base_url()));
        providers.push((api, provider));
    }
    let client = Arc::new(Client::with_server(TestServer::with_endpoints(endpoints).await));
    let mut all = Vec::new();
    for (at, (api, provider)) in providers.into_iter().enumerate() {
        let (_, chat) = client.call("POST", "/api/chats", Some(json!({ "provider": format!("fake-{at}") }))).await;
        let chat = chat["id"].as_str().unwrap().to_owned();
        let path = format!("/api/chats/{chat}/turns");
        let (status, started) = client.call("POST", &path, Some(json!({ "text": "hi" }))).await;
        assert_eq!(status, StatusCode::CREATED, "{api:?} {started}");
        let id = started["assistant_turn"]["id"].as_str().unwrap();
        let (_, events) = tokio::time::timeout(PATIENCE, client.read_events(id, &[])).await.expect("the reply ends");
        let (_, turn) = client.call("GET", &format!("/api/turns/{id}"), None).await;
        all.push(FaultyReply { api, client: client.clone(), provider, chat, turn, events });
    }
    client.instance.check_invariants().await;
    all
}

/// Runs a script on every API and returns the replies.
async fn run_on_every_api(script: impl Fn(ProviderApi) -> Vec<ServerStep>) -> Vec<FaultyReply> {
    run_scripts(ProviderApi::ALL.iter().map(|api| (*api, script(*api)))).await
}

/// Sends a complete body under status 200.
pub fn body_script(body: impl Into<Vec<u8>>) -> Vec<ServerStep> {
    response_script(200, &[], [ServerStep::Bytes(body.into()), ServerStep::Fin])
}

impl FaultyReply {
    /// Returns `complete` or the code of the failure, and the text of the model.
    fn outcome(&self) -> (&str, String) {
        let ending = self.turn["error"]["kind"].as_str().or(self.turn["status"].as_str()).unwrap();
        let blocks = self.turn["blocks"].as_array().unwrap().iter();
        let words = blocks.filter(|block| block["type"] == "text" && block["is_error"] != true);
        (ending, words.map(|block| block["text"].as_str().unwrap()).collect())
    }

    async fn get(&self, path: &str) -> Vec<u8> {
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = self.client.send(request).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
    }

    /// Returns the provider's bytes as the API serves them.
    async fn raw_response(&self) -> Vec<u8> {
        let path = format!("/api/turns/{}/generations", self.turn["id"].as_str().unwrap());
        let generations: Value = serde_json::from_slice(&self.get(&path).await).unwrap();
        self.get(&format!("/api/generations/{}/raw", generations[0]["id"].as_str().unwrap())).await
    }

    /// Returns the provider's bytes as they are stored.
    async fn stored_response(&self) -> Vec<u8> {
        let (instance, turn) = (&self.client.instance, self.turn["id"].as_str().unwrap().parse().unwrap());
        let generations = generations::list(&instance.db, instance.owner, turn).await.unwrap();
        raw::find(&instance.db, instance.owner, generations[0].id).await.unwrap().unwrap()
    }
}

async fn assert_outcome(case: &str, body: impl Fn(ProviderApi) -> Vec<u8>, ending: &str, words: &str) {
    for run in run_on_every_api(|api| body_script(body(api))).await {
        let (api, body) = (run.api, body(run.api));
        assert_eq!(run.outcome(), (ending, words.to_owned()), "{case}, {api:?}");
        assert_eq!(run.provider.requests().len(), 1, "{case}, {api:?}");
        if !body.is_empty() {
            assert_eq!(run.raw_response().await, body, "{case}, {api:?}");
        }
    }
}

#[tokio::test]
async fn smallest_reply_of_each_api_is_complete() {
    assert_outcome("nothing wrong", |api| complete_stream(api, "half"), "complete", "half").await;
}

#[tokio::test]
async fn oversized_event_ends_reply_and_keeps_partial_text() {
    let endless = |api| {
        let mut body = interrupted_stream(api, "half");
        body.extend(if api == ProviderApi::Ollama { &b"{\"message\":{\"content\":\""[..] } else { b"data: {\"x\":\"" });
        body.resize(body.len() + limits::PROVIDER_EVENT_BYTES, b'x');
        body_script(body)
    };
    for run in run_on_every_api(endless).await {
        assert_eq!(run.outcome(), ("limit_event", "half".to_owned()), "{:?}", run.api);
    }
    // Blank bytes do not depend on the API, so one API is enough.
    let blanks = body_script(vec![b' '; limits::PROVIDER_EVENT_BYTES + 1]);
    for run in run_scripts([(ProviderApi::OpenaiChat, blanks)]).await {
        assert_eq!(run.outcome(), ("limit_event", String::new()));
    }
}

#[tokio::test]
async fn invalid_utf8_is_replaced_in_text_and_kept_in_raw_bytes() {
    let body = |api| {
        [interrupted_stream(api, "a"), encode_event(api, &text_event(api, b"b\xff\xfec")), stream_end(api)].concat()
    };
    assert_outcome("invalid UTF-8", body, "complete", "ab\u{fffd}\u{fffd}c").await;
}

#[tokio::test]
async fn surrogate_pair_is_joined_across_events_and_lone_surrogate_is_replaced() {
    let body = |text: &'static [u8], rest: &'static [u8]| {
        move |api| {
            [
                interrupted_stream(api, "a"),
                encode_event(api, &text_event(api, text)),
                encode_event(api, &text_event(api, rest)),
                stream_end(api),
            ]
            .concat()
        }
    };
    assert_outcome("both halves", body(b"\\ud83d", b"\\ude00b"), "complete", "a😀b").await;
    assert_outcome("the first alone", body(b"\\ud83d", b"b"), "complete", "a\u{fffd}b").await;
    assert_outcome("the second alone", body(b"\\ude00", b"b"), "complete", "a\u{fffd}b").await;
}

#[tokio::test]
async fn html_page_with_status_200_is_failure() {
    let page = b"<!doctype html><html><body>Sign in to the network</body></html>";
    assert_outcome("a page", |_| page.to_vec(), "provider_protocol", "").await;
}

#[tokio::test]
async fn empty_body_with_status_200_is_failure() {
    assert_outcome("an empty body", |_| Vec::new(), "provider_truncated", "").await;
    assert_outcome("blank lines", |_| b"\r\n\r\n \n".to_vec(), "provider_truncated", "").await;
    assert_outcome("comments", |_| b": waiting\n\n: waiting\n\n".to_vec(), "provider_truncated", "").await;
}

#[tokio::test]
async fn byte_order_mark_and_line_endings_change_nothing() {
    assert_outcome(
        "a byte order mark",
        |api| [b"\xef\xbb\xbf", &complete_stream(api, "a b")[..]].concat(),
        "complete",
        "a b",
    )
    .await;
    let with = |end: &'static str| {
        move |api| String::from_utf8(complete_stream(api, "a b")).unwrap().replace('\n', end).into_bytes()
    };
    assert_outcome("CRLF", with("\r\n"), "complete", "a b").await;
    assert_outcome("CR", with("\r"), "complete", "a b").await;
}

#[tokio::test]
async fn json_array_of_events_is_read_like_stream() {
    let body = |api| {
        let event = serde_json::from_slice(&text_event(api, b"as one document")).unwrap();
        Value::Array([opening_events(api), vec![event], ending_events(api)].concat()).to_string().into_bytes()
    };
    assert_outcome("an array", body, "complete", "as one document").await;
}

#[tokio::test]
async fn unrequested_compression_is_refused() {
    let packed = || [ServerStep::Bytes(b"\x1f\x8b\x08\x00\x01\x02".to_vec()), ServerStep::Fin];
    // The body is compressed, both with the header that declares it and without.
    for headers in [&[("content-encoding", "gzip")][..], &[]] {
        for run in run_on_every_api(|_| response_script(200, headers, packed())).await {
            assert_eq!(run.outcome(), ("provider_protocol", String::new()), "{:?}", run.api);
        }
    }
}

#[tokio::test]
async fn endless_body_is_abandoned_and_connection_closed() {
    for run in run_on_every_api(|api| {
        response_script(200, &[], [ServerStep::Bytes(interrupted_stream(api, "half")), ServerStep::Stall])
    })
    .await
    {
        assert_eq!(run.outcome(), ("provider_stalled", "half".to_owned()), "{:?}", run.api);
        tokio::time::timeout(PATIENCE, run.provider.wait_for_closes(1)).await.unwrap();
    }
}

#[tokio::test]
async fn duplicate_ending_is_ignored() {
    let body = |api| [interrupted_stream(api, "once"), stream_end(api), stream_end(api), b"\n\n".to_vec()].concat();
    assert_outcome("the ending twice", body, "complete", "once").await;
    let body = |api| match api {
        ProviderApi::Ollama => complete_stream(api, "once"),
        _ => [complete_stream(api, "once"), b"data: [DONE]\n\ndata: [DONE]\n\n".to_vec()].concat(),
    };
    assert_outcome("[DONE] twice", body, "complete", "once").await;
}

#[tokio::test]
async fn bytes_after_ending_are_ignored() {
    for garbage in [&b"\n\n<html>"[..], b"data: {\"broken\n\n", b"\n\ndata\n\n", b"\x00\xff\n\n", b"}\n"] {
        for run in run_on_every_api(|api| body_script([complete_stream(api, "said"), garbage.to_vec()].concat())).await
        {
            // Gemini has no terminal event: bytes after a finish reason may still belong to the reply, so a broken
            // event there may be broken content.
            let ending = match (run.api, garbage[0]) {
                (ProviderApi::Gemini, b'd') => "provider_protocol",
                _ => "complete",
            };
            let case = String::from_utf8_lossy(garbage);
            assert_eq!(run.outcome(), (ending, "said".to_owned()), "{case:?}, {:?}", run.api);
        }
    }
}

#[tokio::test]
async fn redirect_is_not_followed_and_key_is_not_sent() {
    let elsewhere = FakeProvider::start(vec![body_script(complete_stream(ProviderApi::OpenaiChat, "stolen"))]).await;
    let to = format!("{}/chat/completions", elsewhere.base_url());
    for status in [301, 302, 303, 307, 308] {
        for run in run_on_every_api(|_| {
            response_script(status, &[("location", &to)], [ServerStep::Bytes(Vec::new()), ServerStep::Fin])
        })
        .await
        {
            assert_eq!(run.outcome(), ("provider_refused_request", String::new()), "{status}, {:?}", run.api);
        }
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn key_repeated_by_provider_is_never_shown() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.subscriber());
    let refusal = format!("Incorrect API key provided: {KEY}. You can find {KEY} in your account.");
    let refused = |api| {
        response_script(
            401,
            &[],
            [ServerStep::Bytes(error_event(api, &refusal).to_string().into_bytes()), ServerStep::Fin],
        )
    };
    let inside = |api| {
        body_script([interrupted_stream(api, "half"), encode_events(api, &[error_event(api, &refusal)])].concat())
    };
    let strange = |_| body_script(format!("<p>{KEY}</p>"));
    for (case, run) in [
        ("as the answer", run_on_every_api(refused).await),
        ("in the stream", run_on_every_api(inside).await),
        ("in a page", run_on_every_api(strange).await),
    ] {
        for run in run {
            let api = run.api;
            assert_ne!(run.outcome().0, "complete", "{case}, {api:?}");
            let turn = run.turn.to_string();
            assert!(turn.contains("[removed]"), "the provider's words are there: {case}, {api:?} {turn}");
            let generations = format!("/api/turns/{}/generations", run.turn["id"].as_str().unwrap());
            for (place, text) in [
                ("the turn", turn.into_bytes()),
                ("the events", run.events.clone().into_bytes()),
                ("the page", run.get(&format!("/c/{}", run.chat)).await),
                ("the generations", run.get(&generations).await),
                ("the raw bytes", run.raw_response().await),
                ("the stored bytes", run.stored_response().await),
            ] {
                let shown = String::from_utf8_lossy(&text);
                assert!(!text.is_empty() && !holds_key(&text), "{place}, {case}, {api:?}: {shown}");
            }
        }
    }
    let log = log.text();
    assert!(log.contains("the key is out of the log") && !holds_key(log.as_bytes()));
}

#[tokio::test]
async fn split_key_is_never_shown_and_delays_no_text() {
    let reply_text = format!("You sent {KEY} to me");
    // The key is cut between network packets, then between events of the stream.
    let cut_by_network = |api| {
        let body = complete_stream(api, &reply_text);
        let at = body.windows(KEY.len()).position(|window| window == KEY.as_bytes()).unwrap();
        let pieces = [0, 1, KEY.len() / 2, KEY.len() - 1, KEY.len()].map(|end| at + end);
        let mut from = 0;
        let mut verbs: Vec<ServerStep> = Vec::new();
        for to in pieces.into_iter().chain([body.len()]) {
            verbs.push(ServerStep::Bytes(body[from..to].to_vec()));
            from = to;
        }
        response_script(200, &[], verbs.into_iter().chain([ServerStep::Fin]))
    };
    for run in run_on_every_api(cut_by_network).await {
        let api = run.api;
        assert_eq!(run.outcome(), ("complete", "You sent [removed] to me".to_owned()), "{api:?}");
        for text in [run.turn.to_string().into_bytes(), run.events.clone().into_bytes(), run.stored_response().await] {
            assert!(!holds_key(&text), "{api:?}: {}", String::from_utf8_lossy(&text));
        }
    }
    let (first, last) = KEY.split_at(9);
    let cut_by_events = |api| {
        let rest = [encode_event(api, &text_event(api, last.as_bytes())), stream_end(api)].concat();
        body_script([interrupted_stream(api, first), rest].concat())
    };
    for run in run_on_every_api(cut_by_events).await {
        assert_eq!(run.outcome(), ("complete", "[removed]".to_owned()), "{:?}", run.api);
        assert!(!holds_key(run.events.as_bytes()), "{:?}", run.api);
    }
}

#[tokio::test]
async fn previously_stored_key_is_in_no_export() {
    let run =
        run_scripts([(ProviderApi::OpenaiChat, body_script(complete_stream(ProviderApi::OpenaiChat, "planted here")))])
            .await
            .remove(0);
    let planted = format!(
        "UPDATE turn_blocks SET content = REPLACE(content, 'planted', '{KEY}'); \
         UPDATE turns SET content_text = REPLACE(content_text, 'planted', '{KEY}'); \
         UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL; \
         INSERT INTO generation_chunks (generation_id, n, bytes) SELECT id, 0, CAST('data: {KEY}' AS BLOB) FROM generations"
    );
    run.client.instance.sql(planted.leak()).await;
    assert!(holds_key(&run.stored_response().await), "it is stored");
    for form in ["json", "markdown", "html"] {
        let text = run.get(&format!("/api/chats/{}/export?format={form}", run.chat)).await;
        let shown = String::from_utf8_lossy(&text);
        assert!(!holds_key(&text) && shown.contains("[removed]"), "{form}: {shown}");
        let raw = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("data: {KEY}"));
        assert!(!shown.contains(&raw), "{form}: {shown}");
    }
}

#[tokio::test]
async fn key_in_title_prompt_name_or_document_is_in_no_export() {
    let run = run_scripts([(ProviderApi::OpenaiChat, body_script(complete_stream(ProviderApi::OpenaiChat, "hello")))])
        .await
        .remove(0);
    let (instance, chat) = (&run.client.instance, run.chat.parse().unwrap());
    let document = json!({ "title": "planted", "content": "planted" });
    run.client.call("POST", "/api/documents", Some(document)).await;
    let planted = format!(
        "UPDATE chats SET title = 'a {KEY}', system_prompt = 'b {KEY}'; \
         UPDATE branches SET name = 'c {KEY}', label = 'd {KEY}', system_prompt = 'e {KEY}', tools = \
             '[{{\"name\":\"look\",\"description\":\"f {KEY}\",\"parameters\":{{\"type\":\"object\"}}}}]'; \
         UPDATE documents SET title = 'g {KEY}'; \
         UPDATE document_versions SET content = 'h {KEY}', notes = '[\"i {KEY}\"]'; \
         INSERT INTO chat_sources (chat_id, format, file, imported_at, differences) SELECT id, 'chatgpt', 'j {KEY}', \
             created_at, '[{{\"kind\":\"lost\",\"place\":\"k {KEY}\",\"text\":\"l {KEY}\"}}]' FROM chats"
    );
    instance.sql(planted.leak()).await;
    let folder = instance.dir.path().join("chat.git");
    instance.service.export_git_folder(instance.owner, chat, &folder).await.unwrap().unwrap();
    let objects = git(&folder, &["cat-file", "--batch-all-objects", "--batch"]).unwrap_or_else(|| "e [removed]".into());
    let mut exports = vec![
        ("everything", "abcdefghijkl", export_archive(instance, ExportScope::Everything).await),
        ("objects", "e", objects.into_bytes()),
        ("beside", "acdjkl", std::fs::read(folder.join("turnleaf.json")).unwrap()),
    ];
    for (form, letters) in [("json", "abcdefjkl"), ("markdown", "abjkl"), ("html", "abj"), ("git", "")] {
        let path = format!("/api/chats/{}/export?format={form}", run.chat);
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = run.client.send(request).await;
        let name = response.headers()["content-disposition"].to_str().unwrap().to_owned();
        // Characters that are not allowed in a file name are replaced.
        assert!(!name.contains("the-secret") && name.contains("removed"), "{form}: {name}");
        exports.push((form, letters, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()));
    }
    for (form, letters, bytes) in exports {
        let shown = String::from_utf8_lossy(&bytes);
        assert!(!holds_key(&bytes) && !shown.contains("the-secret"), "{form}: {shown}");
        // Markdown escapes brackets with backslashes.
        let shown = shown.replace('\\', "");
        for letter in letters.chars() {
            assert!(shown.contains(&format!("{letter} [removed]")), "{form} without {letter}: {shown}");
        }
    }
}

fn holds_key(text: &[u8]) -> bool {
    let escaped = KEY.replace('/', "\\/");
    [KEY, &escaped].iter().any(|key| text.windows(key.len()).any(|window| window == key.as_bytes()))
}

/// Collects the whole log, down to the lowest level.
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + 'static {
        let log = self.clone();
        let writer = move || log.clone();
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(writer).finish()
    }

    fn text(&self) -> String {
        tracing::info!("the key is out of the log");
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn missing_provider_or_model_is_named() {
    let run = run_scripts([(ProviderApi::OpenaiChat, body_script(complete_stream(ProviderApi::OpenaiChat, "hi")))])
        .await
        .remove(0);
    let long = "m".repeat(limits::TITLE_CHARS + 1);
    for (body, status, field) in [
        (json!({ "provider": "nobody" }), 422, "provider"),
        (json!({ "provider": "nobody", "model": "m-1" }), 422, "provider"),
        (json!({ "provider": "" }), 422, "provider"),
        (json!({ "provider": "fake-0", "model": "" }), 422, "model"),
        (json!({ "provider": "fake-0", "model": " \t" }), 422, "model"),
        (json!({ "provider": "fake-0", "model": long }), 422, "model"),
        (json!({ "provider": 1 }), 400, "provider"),
        (json!({ "model": ["m-1"] }), 400, "model"),
    ] {
        let (was, problem) = run.client.call("POST", "/api/chats", Some(body.clone())).await;
        assert_eq!((was.as_u16(), problem["field"].as_str()), (status, Some(field)), "{body} {problem}");
    }
    let path = format!("/api/chats/{}/turns", run.chat);
    for body in [
        json!({ "text": "a", "provider": "nobody" }),
        json!({ "text": "a", "model": "unheard-of" }),
        json!({ "text": "a", "provider": "nobody", "model": "unheard-of" }),
    ] {
        let (status, problem) = run.client.call("POST", &path, Some(body.clone())).await;
        assert_eq!((status.as_u16(), problem["code"].as_str()), (409, Some("branch_locked")), "{body} {problem}");
    }
    assert_eq!(run.provider.requests().len(), 1, "nobody was asked");
}

#[tokio::test]
async fn model_unknown_to_provider_is_reported() {
    let error = json!({"message": "model 'm-1' not found", "type": "not_found_error", "code": "model_not_found"});
    let body = json!({ "error": error }).to_string().into_bytes();
    for run in run_on_every_api(|_| response_script(404, &[], [ServerStep::Bytes(body.clone()), ServerStep::Fin])).await
    {
        assert_eq!(run.outcome(), ("model_not_found", String::new()), "{:?}", run.api);
        assert_eq!(run.provider.requests().len(), 1, "{:?}", run.api);
    }
}
