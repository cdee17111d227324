//! A fake provider that validates requests. It serves all five APIs in their own framing, records every request and
//! reply, and judges each further request by the provider's rules (docs/reference/providers.md 3.5-3.8, 5, 6.5-6.6,
//! 7.4-7.5, 8, 9): a request that the provider would refuse is refused with the provider's message, and one that
//! would silently degrade the conversation is recorded as a violation. A test ends with
//! [`ProviderValidator::accepted_count`]. It uses no code of the product: the rules are written a second time on
//! purpose.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures::{StreamExt, stream};
use secrecy::SecretString;
use serde_json::Value;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

#[path = "validator/anthropic.rs"]
pub mod anthropic;
#[path = "validator/anthropic_built_in_tools.rs"]
pub mod anthropic_built_in_tools;
#[path = "validator/anthropic_models.rs"]
pub mod anthropic_models;
#[path = "validator/anthropic_stream.rs"]
pub mod anthropic_stream;
#[path = "validator/chat.rs"]
pub mod chat;
#[path = "validator/chat_models.rs"]
pub mod chat_models;
#[path = "validator/chat_stream.rs"]
pub mod chat_stream;
#[path = "validator/gemini.rs"]
pub mod gemini;
#[path = "validator/gemini_stream.rs"]
pub mod gemini_stream;
#[path = "validator/memory.rs"]
pub mod memory;
#[path = "validator/ollama.rs"]
pub mod ollama;
#[path = "validator/pictures.rs"]
pub mod pictures;
#[path = "validator/responses.rs"]
pub mod responses;
#[path = "validator/responses_stream.rs"]
pub mod responses_stream;
#[path = "validator/script.rs"]
pub mod script;
#[path = "validator/tool_schemas.rs"]
pub mod tool_schemas;

use memory::{ProviderMemory, SentReply};
use script::{EncodedReply, ReplyEnd, ScriptRng, ScriptedReply};

/// The only valid API key.
pub const KEY: &str = "sk-test-0123456789";

/// A request as a provider receives it.
#[derive(Debug, Clone)]
pub struct ProviderRequest {
    /// The account of the request: the first segment of the path.
    pub provider: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl ProviderRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the string under a key of the body, or an empty string.
    pub fn text(&self, key: &str) -> &str {
        self.body.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn list(&self, key: &str) -> &[Value] {
        self.body.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// A refusal with the provider's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRefusal {
    pub status: u16,
    pub message: String,
}

impl ProviderRefusal {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Builds the usual refusal, status 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

/// Returns from the function with a 400 and this message.
macro_rules! refuse {
    ($($words:tt)*) => { return Err($crate::validator::ProviderRefusal::bad_request(format!($($words)*))) };
}
pub(crate) use refuse;

/// One API: its rules and its encoding of replies.
pub trait ApiProtocol: Send + Sync {
    /// Returns the requested model.
    fn model<'a>(&self, request: &'a ProviderRequest) -> &'a str {
        request.text("model")
    }
    /// Returns the request with the stored response that it continues expanded in place. Returns it unchanged where
    /// it continues none, or where that response is not stored.
    fn expand_request(&self, request: &ProviderRequest, _memory: &ProviderMemory) -> ProviderRequest {
        request.clone()
    }
    /// Judges a whole request. `memory` holds the replies that were sent on this account.
    fn judge(&self, request: &ProviderRequest, memory: &ProviderMemory) -> Result<(), ProviderRefusal>;
    /// Builds the error document of a refusal.
    fn error_document(&self, refusal: &ProviderRefusal) -> Value;
    /// Returns the conversation, oldest message first.
    fn messages<'a>(&self, request: &'a ProviderRequest) -> &'a [Value] {
        request.list("messages")
    }
    /// Returns the fields beside the messages that must not change.
    fn fixed_fields(&self, request: &ProviderRequest) -> Value;
    /// Returns whether the model wrote this message.
    fn is_model_message(&self, message: &Value) -> bool {
        message["role"] == "assistant"
    }
    /// Returns whether a message holds tool results, and so belongs to the model's turn.
    fn is_tool_result(&self, message: &Value) -> bool;
    /// Returns the plain text of a model message.
    fn plain_text(&self, message: &Value) -> String;
    /// Returns whether the request sends back a paused reply and asks for the rest of it.
    fn resumes_pause(&self, _asked: &ProviderRequest, _memory: &ProviderMemory) -> bool {
        false
    }
    /// Splits a model message into its content parts.
    fn content(&self, message: Option<Value>) -> Vec<Value> {
        message.into_iter().collect()
    }
    /// Returns whether a reply came back unchanged, apart from the parts that the provider lets a client omit.
    fn is_same(&self, sent: &[Value], back: &[Value]) -> bool {
        sent == back
    }
    /// Encodes a scripted reply, as sent on the wire and as it must come back. `number` makes its ids and signatures
    /// unique.
    fn encode_reply(&self, request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply;
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }
}

/// Detects the protocol of a request from its path and its account.
pub fn protocol_of(request: &ProviderRequest) -> Option<&'static dyn ApiProtocol> {
    let tail = request.path.trim_start_matches('/').split_once('/').map_or("", |(_, tail)| tail);
    match tail.split('?').next().unwrap_or(tail) {
        "v1/messages" => Some(&anthropic::MessagesProtocol),
        "v1/chat/completions" => Some(chat::protocol_of_provider(&request.provider)),
        "v1/responses" => Some(&responses::ResponsesProtocol),
        "api/chat" => Some(&ollama::OllamaProtocol),
        tail if tail.starts_with("v1beta/models/") => Some(&gemini::GeminiProtocol),
        _ => None,
    }
}

/// Returns whether an account's endpoint stores responses, by the suffix of its name.
pub fn keeps_responses(provider: &str) -> bool {
    provider.ends_with("-kept")
}

/// A rule that a request broke.
#[derive(Debug, Clone)]
pub struct RequestViolation {
    pub provider: String,
    pub model: String,
    pub message: String,
    pub body: String,
}

#[derive(Default)]
struct Inner {
    memory: ProviderMemory,
    script: Vec<ScriptedReply>,
    violations: Vec<RequestViolation>,
    dice: ScriptRng,
}

/// The server; it stops when its last clone is dropped.
#[derive(Clone)]
pub struct ProviderValidator {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    _server: Arc<ValidatorTask>,
}

struct ValidatorTask(tokio::task::JoinHandle<()>);

impl Drop for ValidatorTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ProviderValidator {
    /// Starts the server; `seed` determines where the bytes of its streams are split.
    pub async fn start(seed: u64) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Mutex::new(Inner { dice: ScriptRng::new(seed), ..Inner::default() }));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, inner, _server: Arc::new(ValidatorTask(server)) }
    }

    /// Returns the endpoint of an account of this server as the configuration would name it. For chat completions the
    /// account's name is the dialect.
    pub fn endpoint(&self, provider: &str, api: ProviderApi) -> ProviderEndpoint {
        let root = format!("http://{}/{provider}", self.address);
        let is_chat = api == ProviderApi::OpenaiChat;
        ProviderEndpoint {
            id: provider.to_owned(),
            name: provider.to_owned(),
            api,
            dialect: if is_chat { provider.trim_end_matches("-v1").to_owned() } else { String::new() },
            base_url: match api {
                ProviderApi::Gemini => format!("{root}/v1beta"),
                ProviderApi::Ollama => root,
                ProviderApi::Anthropic | ProviderApi::OpenaiChat | ProviderApi::OpenaiResponses => format!("{root}/v1"),
            },
            api_key: (api != ProviderApi::Ollama).then(|| SecretString::from(KEY)),
            models: Vec::new(),
            default_model: None,
            local_network: true,
            keeps_responses: keeps_responses(provider),
            ..ProviderEndpoint::default()
        }
    }

    /// Queues the replies to the next requests, in order. Without a script the model thinks and writes one sentence.
    pub fn push_script(&self, script: impl IntoIterator<Item = ScriptedReply>) {
        let mut inner = self.lock();
        assert!(inner.script.is_empty(), "the last script was not used up: {:?}", inner.script);
        inner.script.extend(script);
    }

    /// Returns all violations so far.
    pub fn violations(&self) -> Vec<RequestViolation> {
        self.lock().violations.clone()
    }

    /// Returns the number of accepted requests. Panics when a request broke a rule or a queued reply was never
    /// requested.
    pub fn accepted_count(&self) -> usize {
        let inner = self.lock();
        assert!(inner.violations.is_empty(), "{:#?}", inner.violations);
        assert!(inner.script.is_empty(), "these were never asked for: {:?}", inner.script);
        inner.memory.sent.len()
    }

    /// Returns the sent replies, oldest first.
    pub fn sent_replies(&self) -> Vec<SentReply> {
        self.lock().memory.sent.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(State(inner): State<Arc<Mutex<Inner>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 32 << 20).await.unwrap();
    let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let parsed_request = ProviderRequest {
        provider: path.split('/').nth(1).unwrap_or_default().to_owned(),
        path,
        headers: pairs(&parts.headers),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    inner.lock().unwrap_or_else(PoisonError::into_inner).answer(&parsed_request, &bytes)
}

fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

impl Inner {
    fn answer(&mut self, request: &ProviderRequest, bytes: &[u8]) -> Response {
        let Some(protocol) = protocol_of(request) else {
            self.record_violation(request, "", bytes, "nothing is served here".into());
            return refused(404, &serde_json::json!({"error": {"message": "No matches"}}));
        };
        let model = protocol.model(request).to_owned();
        let whole = protocol.expand_request(request, &self.memory);
        let is_behind = whole.body != request.body;
        let (sent_bytes, whole_bytes) = (bytes, whole.body.to_string());
        let (part, request) = (request, &whole);
        let bytes = if is_behind { whole_bytes.as_bytes() } else { sent_bytes };
        for remark in self.memory.remarks(protocol, request, bytes) {
            self.record_violation(request, &model, bytes, remark);
        }
        if let Err(refusal) = pictures::check_images(request).and_then(|()| protocol.judge(request, &self.memory)) {
            self.record_violation(request, &model, bytes, format!("{} {}", refusal.status, refusal.message));
            return refused(refusal.status, &protocol.error_document(&refusal));
        }
        let number = self.memory.sent.len() + 1;
        let scripted =
            if self.script.is_empty() { ScriptedReply::default_reply(number) } else { self.script.remove(0) };
        let mut speech = protocol.encode_reply(request, &scripted, number);
        if let ReplyEnd::CutAtPermille(permille) = scripted.end {
            speech.cut_at_permille(permille);
        }
        let never_ends = scripted.end == ReplyEnd::Stall;
        let pieces = self.dice.random_pieces(&speech.wire_bytes());
        self.memory.record_reply(protocol, request, &model, &scripted, speech);
        if let Some(sent) = self.memory.sent.last_mut().filter(|_| is_behind) {
            sent.previous_response_id = part.text("previous_response_id").to_owned();
        }
        let body = stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>));
        let rest = stream::iter(never_ends.then_some(())).then(|()| std::future::pending::<Result<Bytes, _>>());
        Response::builder()
            .status(StatusCode::OK)
            .header("content-type", protocol.content_type())
            .body(Body::from_stream(body.chain(rest)))
            .unwrap()
    }

    fn record_violation(&mut self, request: &ProviderRequest, model: &str, bytes: &[u8], violation: String) {
        let body = String::from_utf8_lossy(bytes).into_owned();
        self.violations.push(RequestViolation {
            provider: request.provider.clone(),
            model: model.to_owned(),
            message: violation,
            body,
        });
    }
}

fn refused(status: u16, document: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(document.to_string()))
        .unwrap()
}
