//! A provider that remembers. It answers all five APIs in their own framing, keeps what it sent and was asked, and
//! judges every further request by the provider's rules (providers.md 3.5-3.8, 5, 6.5-6.6, 7.4-7.5, 8, 9): what the
//! provider would refuse is refused in its own words, and what it would silently make worse is noted. A test ends with
//! [`Validator::accepted`]. Nothing of it uses the product's code: the rules are written a second time on purpose.

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
use turnleaf_platform::endpoint::{Api, Endpoint};

#[path = "validator/anthropic.rs"]
pub mod anthropic;
#[path = "validator/anthropic_models.rs"]
pub mod anthropic_models;
#[path = "validator/anthropic_own.rs"]
pub mod anthropic_own;
#[path = "validator/anthropic_speech.rs"]
pub mod anthropic_speech;
#[path = "validator/chat.rs"]
pub mod chat;
#[path = "validator/chat_models.rs"]
pub mod chat_models;
#[path = "validator/chat_speech.rs"]
pub mod chat_speech;
#[path = "validator/gemini.rs"]
pub mod gemini;
#[path = "validator/gemini_speech.rs"]
pub mod gemini_speech;
#[path = "validator/memory.rs"]
pub mod memory;
#[path = "validator/ollama.rs"]
pub mod ollama;
#[path = "validator/pictures.rs"]
pub mod pictures;
#[path = "validator/responses.rs"]
pub mod responses;
#[path = "validator/responses_speech.rs"]
pub mod responses_speech;
#[path = "validator/script.rs"]
pub mod script;

use memory::{Memory, Sent};
use script::{Dice, End, Say, Speech};

/// What every key must be.
pub const KEY: &str = "sk-test-0123456789";

/// A request as a provider sees it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The account that is asked: the first segment of the path.
    pub provider: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The text under a key of the body, or nothing.
    pub fn text(&self, key: &str) -> &str {
        self.body.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn list(&self, key: &str) -> &[Value] {
        self.body.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// A refusal in the provider's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub message: String,
}

impl Refusal {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The usual one.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

/// Leaves with a 400 in these words.
macro_rules! refuse {
    ($($words:tt)*) => { return Err($crate::validator::Refusal::bad(format!($($words)*))) };
}
pub(crate) use refuse;

/// One API: its rules and its way of speaking.
pub trait Protocol: Send + Sync {
    /// The model that is asked.
    fn model<'a>(&self, asked: &'a Asked) -> &'a str {
        asked.text("model")
    }
    /// The request with everything in it that the provider keeps and the request goes on from; as it is where it does
    /// not, or where that is not kept.
    fn whole(&self, asked: &Asked, _memory: &Memory) -> Asked {
        asked.clone()
    }
    /// What the provider refuses of a whole request. `memory` is what it sent on this account.
    fn judge(&self, asked: &Asked, memory: &Memory) -> Result<(), Refusal>;
    /// The error document that carries a refusal.
    fn refusal(&self, refusal: &Refusal) -> Value;
    /// The conversation, oldest first.
    fn messages<'a>(&self, asked: &'a Asked) -> &'a [Value] {
        asked.list("messages")
    }
    /// What has to stay the same beside the messages.
    fn frozen(&self, asked: &Asked) -> Value;
    /// Whether the model said this.
    fn is_models(&self, message: &Value) -> bool {
        message["role"] == "assistant"
    }
    /// Whether these answer calls of the model, and so belong to its turn.
    fn is_answer(&self, message: &Value) -> bool;
    /// The plain text of a message of the model.
    fn plain(&self, message: &Value) -> String;
    /// Whether the request sends back a reply that was paused, and asks for the rest of it.
    fn goes_on(&self, _asked: &Asked, _memory: &Memory) -> bool {
        false
    }
    /// What a message of the model says, piece by piece.
    fn content(&self, message: Option<Value>) -> Vec<Value> {
        message.into_iter().collect()
    }
    /// Whether what came back is what was said, apart from what the provider lets a client leave out.
    fn is_same(&self, said: &[Value], back: &[Value]) -> bool {
        said == back
    }
    /// What the model says, on the wire and as it has to come back. `number` makes its ids and signatures unique.
    fn speak(&self, asked: &Asked, say: &Say, number: usize) -> Speech;
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }
}

/// The protocol of an account, told from how the request looks.
pub fn protocol(asked: &Asked) -> Option<&'static dyn Protocol> {
    let tail = asked.path.trim_start_matches('/').split_once('/').map_or("", |(_, tail)| tail);
    match tail.split('?').next().unwrap_or(tail) {
        "v1/messages" => Some(&anthropic::Messages),
        "v1/chat/completions" => Some(chat::dialect(&asked.provider)),
        "v1/responses" => Some(&responses::Responses),
        "api/chat" => Some(&ollama::Ollama),
        tail if tail.starts_with("v1beta/models/") => Some(&gemini::Gemini),
        _ => None,
    }
}

/// Whether an account is one whose endpoint keeps responses, told from its name.
pub fn is_kept(provider: &str) -> bool {
    provider.ends_with("-kept")
}

/// What was wrong with a request.
#[derive(Debug, Clone)]
pub struct Violation {
    pub provider: String,
    pub model: String,
    pub what: String,
    pub body: String,
}

#[derive(Default)]
struct Inner {
    memory: Memory,
    script: Vec<Say>,
    violations: Vec<Violation>,
    dice: Dice,
}

/// The server. It stops with its last clone.
#[derive(Clone)]
pub struct Validator {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    _server: Arc<Server>,
}

struct Server(tokio::task::JoinHandle<()>);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Validator {
    /// Starts it; `seed` decides where the bytes of its streams are split.
    pub async fn start(seed: u64) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Mutex::new(Inner { dice: Dice::new(seed), ..Inner::default() }));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, inner, _server: Arc::new(Server(server)) }
    }

    /// An account of this server as the configuration would name it. For chat completions the name is the dialect.
    pub fn endpoint(&self, provider: &str, api: Api) -> Endpoint {
        let root = format!("http://{}/{provider}", self.address);
        let is_chat = api == Api::OpenaiChat;
        Endpoint {
            id: provider.to_owned(),
            name: provider.to_owned(),
            api,
            dialect: if is_chat { provider.trim_end_matches("-v1").to_owned() } else { String::new() },
            base_url: match api {
                Api::Gemini => format!("{root}/v1beta"),
                Api::Ollama => root,
                Api::Anthropic | Api::OpenaiChat | Api::OpenaiResponses => format!("{root}/v1"),
            },
            api_key: (api != Api::Ollama).then(|| SecretString::from(KEY)),
            models: Vec::new(),
            default_model: None,
            local_network: true,
            keeps_responses: is_kept(provider),
            ..Endpoint::default()
        }
    }

    /// What the model says to the next requests, in order. Without a script it thinks and says one sentence.
    pub fn will_say(&self, script: impl IntoIterator<Item = Say>) {
        let mut inner = self.lock();
        assert!(inner.script.is_empty(), "the last script was not used up: {:?}", inner.script);
        inner.script.extend(script);
    }

    /// Everything that was wrong so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.lock().violations.clone()
    }

    /// How many requests were accepted, if every request was.
    pub fn accepted(&self) -> usize {
        let inner = self.lock();
        assert!(inner.violations.is_empty(), "{:#?}", inner.violations);
        assert!(inner.script.is_empty(), "these were never asked for: {:?}", inner.script);
        inner.memory.sent.len()
    }

    /// What it sent, oldest first.
    pub fn sent(&self) -> Vec<Sent> {
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
    let asked = Asked {
        provider: path.split('/').nth(1).unwrap_or_default().to_owned(),
        path,
        headers: pairs(&parts.headers),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    inner.lock().unwrap_or_else(PoisonError::into_inner).answer(&asked, &bytes)
}

fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

impl Inner {
    fn answer(&mut self, asked: &Asked, bytes: &[u8]) -> Response {
        let Some(protocol) = protocol(asked) else {
            self.note(asked, "", bytes, "nothing is served here".into());
            return refused(404, &serde_json::json!({"error": {"message": "Not found"}}));
        };
        let model = protocol.model(asked).to_owned();
        let whole = protocol.whole(asked, &self.memory);
        let is_behind = whole.body != asked.body;
        let (sent_bytes, whole_bytes) = (bytes, whole.body.to_string());
        let (part, asked) = (asked, &whole);
        let bytes = if is_behind { whole_bytes.as_bytes() } else { sent_bytes };
        for remark in self.memory.remarks(protocol, asked, bytes) {
            self.note(asked, &model, bytes, remark);
        }
        if let Err(refusal) = pictures::judge(asked).and_then(|()| protocol.judge(asked, &self.memory)) {
            self.note(asked, &model, bytes, format!("{} {}", refusal.status, refusal.message));
            return refused(refusal.status, &protocol.refusal(&refusal));
        }
        let number = self.memory.sent.len() + 1;
        let say = if self.script.is_empty() { Say::plain(number) } else { self.script.remove(0) };
        let mut speech = protocol.speak(asked, &say, number);
        if let End::CutAt(permille) = say.end {
            speech.cut_bytes(permille);
        }
        let never_ends = say.end == End::Stall;
        let pieces = self.dice.pieces(&speech.wire());
        self.memory.keep(protocol, asked, &model, &say, speech);
        if let Some(sent) = self.memory.sent.last_mut().filter(|_| is_behind) {
            sent.behind = part.text("previous_response_id").to_owned();
        }
        let body = stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>));
        let rest = stream::iter(never_ends.then_some(())).then(|()| std::future::pending::<Result<Bytes, _>>());
        Response::builder()
            .status(StatusCode::OK)
            .header("content-type", protocol.content_type())
            .body(Body::from_stream(body.chain(rest)))
            .unwrap()
    }

    fn note(&mut self, asked: &Asked, model: &str, bytes: &[u8], what: String) {
        let body = String::from_utf8_lossy(bytes).into_owned();
        self.violations.push(Violation { provider: asked.provider.clone(), model: model.to_owned(), what, body });
    }
}

fn refused(status: u16, document: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(document.to_string()))
        .unwrap()
}
