//! The vocabulary between Turnleaf and every provider: what is asked ([`ChatRequest`]), what comes back ([`Item`]) and
//! the one trait that a provider is. Small on purpose: whatever one provider alone has stays in its own folder.

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::{Map, Value};

pub use super::attachments::{AttachmentContent, AttachmentsByBlock, InputImage};
use crate::pictures::generated_image::GeneratedImage;
use turnleaf_domain::branch::ContextPolicy;
use turnleaf_domain::notice::Notice;
use turnleaf_domain::repair::{KeptResponse, RequestRepair};
use turnleaf_domain::tool::{OfferedTool, ToolSpec};
use turnleaf_domain::{Capabilities, Failure, ModelParams, Role, Thinking, TurnId, Usage};

/// A configured provider: one endpoint that speaks one API, or a scripted stand-in for one.
pub trait Provider: Send + Sync {
    /// The stable id that locks name (`openai`, `ollama`, `demo`).
    fn id(&self) -> &str;
    /// The name for people.
    fn name(&self) -> &str;
    /// What its responses are written in: an API as configurations name it, or a stand-in's own word.
    fn api(&self) -> &'static str;
    /// Where it is, as configured; nothing for a stand-in.
    fn base_url(&self) -> Option<&str> {
        None
    }
    /// The model to take where nothing else is said, if its list has it.
    fn preferred_model(&self) -> Option<&'static str> {
        None
    }
    /// Asks which models it has, in its own order; `None` where there is nobody to ask.
    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        None
    }
    /// What this model takes, as far as its name tells. What `list_models` says of it is better.
    fn capabilities(&self, model: &str) -> Capabilities;
    /// Tools that the provider itself brings and `run_tool` runs. Only the demo has any.
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    /// Tools that this model's provider runs inside of its responses, as far as its name tells: what a chat may turn on
    /// (`provider/web_search`). A request names those that are on ([`ChatRequest::own_tools`]).
    fn provider_tools(&self, model: &str) -> Vec<OfferedTool> {
        let _ = model;
        Vec::new()
    }
    /// Whether it keeps its responses, so that a request may go on from one ([`ChatRequest::previous_response`]). Then its
    /// decoder says under which id ([`Item::Response`]).
    fn keeps_responses(&self) -> bool {
        false
    }
    /// Whether images of a tool's result have a place in a request to this model.
    fn accepts_tool_result_images(&self, model: &str) -> bool {
        let _ = model;
        false
    }
    /// The exact request body, but for images: those have their names in the place of their bytes
    /// ([`crate::pictures`]). The same request gives the same bytes (providers.md P4).
    fn build(&self, request: &ChatRequest) -> Bytes;
    /// In which other form a request may be accepted that was refused before it brought any content; `None` when the
    /// refusal is about something else, or that form was the refused one already (providers.md 3.6, 6.6, 7.4).
    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        let _ = (refused, request);
        None
    }
    /// One attempt with a body as it goes out: no retry, no first-byte or idle clock (both belong to the caller). Dropping the future, or the
    /// body it gave, closes the connection. `model` is the one that `body` was built for: some APIs name it in the URL.
    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>>;
    /// A fresh state machine for one response body.
    fn decoder(&self) -> Box<dyn Decoder>;
    /// Runs one of `tools()`; `None` when there is no such tool.
    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let _ = (name, arguments);
        None
    }
}

/// A model of a provider's list, with what the list says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    pub id: String,
    /// The name for people.
    pub name: Option<String>,
    /// As far as its name and the list tell.
    pub capabilities: Capabilities,
}

impl ListedModel {
    /// A model of which a list says no more than its id.
    pub fn new(id: &str, capabilities: Capabilities) -> Self {
        Self { id: id.to_owned(), name: None, capabilities }
    }
}

/// What is asked of a model.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    pub model: String,
    pub system: Option<String>,
    /// Root to leaf; the last one is the turn that is being answered, or the reply's own steps so far.
    pub history: Vec<HistoryTurn>,
    /// What goes out of what was asked for ([`turnleaf_domain::settle`]): all of it fits, so adapters only spell it.
    pub params: ModelParams,
    pub thinking: Thinking,
    pub is_thinking_mode: bool,
    /// What the model takes, the provider's list included.
    pub capabilities: Capabilities,
    pub tools: Vec<ToolSpec>,
    /// Tools that the provider runs inside of its response, by Turnleaf's names ([`Provider::own_tools`]). Those that the
    /// adapter has no form for are left out.
    pub provider_tools: Vec<String>,
    /// Every reply that goes back has its reasoning beside it, an empty one where there was none: an endpoint said that
    /// it wants that. Only chat completions have a place for it.
    pub echoes_reasoning: bool,
    /// The branch's. For APIs that sign reasoning; the others have one way.
    pub policy: ContextPolicy,
    /// The response to go on from: what `history` has up to its turn stays behind, but for what its last calls gave.
    /// `history` is whole all the same. Only where the provider keeps responses.
    pub previous_response: Option<KeptResponse>,
}

impl ChatRequest {
    /// The system prompt, where it says anything: no API is sent a blank one.
    pub fn instructions(&self) -> Option<&str> {
        self.system.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// The turns before the reply that is being written, and that reply's own steps so far.
    pub fn split_at_steps(&self) -> (&[HistoryTurn], Option<&HistoryTurn>) {
        match self.history.split_last() {
            Some((steps, before)) if steps.role == Role::Assistant && !steps.raw.is_empty() => (before, Some(steps)),
            _ => (&self.history, None),
        }
    }

    /// Whether any reply before the one that is being written goes back with its reasoning.
    pub fn has_earlier_reasoning(&self) -> bool {
        self.split_at_steps().0.iter().any(HistoryTurn::has_reasoning)
    }

    /// The same of any reply, the steps of the one that is being written included.
    pub fn has_reasoning(&self) -> bool {
        self.history.iter().any(HistoryTurn::has_reasoning)
    }
}

/// One turn of the path as the context rule sends it (domain.md 4.7).
#[derive(Debug, Clone)]
pub struct HistoryTurn {
    pub turn_id: TurnId,
    pub role: Role,
    pub blocks: super::turn_blocks::TurnBlocks,
    /// The response bodies of its generations, in step order, when the turn is sent as the model wrote it. The last one
    /// may have been cut off: the bytes say so, and only what the API takes of it is sent (providers.md 2.6). Empty
    /// means canonical: plain text. Tool results come from `blocks` in both cases.
    pub raw: Vec<super::stored_response::StoredResponse>,
    /// Reasoning, its proofs and whatever hangs on them stay behind: the provider refused them.
    pub leaves_out_reasoning: bool,
    /// What a person attached, and images of results, as the model is shown them; an image that the model cannot see is
    /// not among it. Of a reply that goes back as it came also its own images.
    pub attached: AttachmentsByBlock,
}

impl HistoryTurn {
    fn has_reasoning(&self) -> bool {
        !self.raw.is_empty() && !self.leaves_out_reasoning
    }
}

/// A response that began with success.
pub struct ProviderReply {
    pub status: u16,
    /// Only the headers worth keeping (providers.md 2.2), names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: BoxStream<'static, Result<Bytes, Failure>>,
}

/// An attempt that brought no reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderError {
    pub failure: Failure,
    /// Whether the same request may be sent again without asking (providers.md 2.7, `x-should-retry` included).
    pub retries_by_itself: bool,
    /// Absent when no response came at all.
    pub status: Option<u16>,
    /// As in [`Reply`].
    pub headers: Vec<(String, String)>,
    /// The error document as it came, cut at [`ERROR_BODY_BYTES`].
    pub body: Bytes,
    /// The request never left this machine.
    pub is_unsent: bool,
}

/// How much of an error document is read.
pub const ERROR_BODY_BYTES: usize = 256 << 10;

impl ProviderError {
    /// What the provider said, in small letters: its document and what was understood of it.
    pub fn lowercase_text(&self) -> String {
        const ENOUGH: usize = 16 << 10;
        let document = String::from_utf8_lossy(&self.body[..self.body.len().min(ENOUGH)]);
        format!("{}\n{document}", self.failure.detail.as_deref().unwrap_or_default()).to_lowercase()
    }

    /// No response came.
    pub fn without_response(failure: Failure) -> Self {
        let retries_by_itself = failure.kind.is_auto_retryable();
        Self { failure, retries_by_itself, status: None, headers: Vec::new(), body: Bytes::new(), is_unsent: false }
    }

    /// Nothing was sent.
    pub fn not_sent(failure: Failure) -> Self {
        Self { is_unsent: true, ..Self::without_response(failure) }
    }

    /// Whether nothing is charged for the attempt: the provider said no, or never heard of it. Of one whose connection
    /// broke, or that went silent, nobody knows.
    pub fn is_free(&self) -> bool {
        self.is_unsent || self.status.is_some_and(|status| !(200..300).contains(&status))
    }
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    pub result: Value,
    pub is_error: bool,
}

/// Turns a response body into items. Any split of the same bytes gives the same items, apart from where one text ends
/// and the next begins, and the same outcome (providers.md P2).
pub trait Decoder: Send {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>);
    /// Nothing that matters can follow any more: the stream said its last word, or failed. A server that keeps the
    /// connection open need not be waited for.
    fn is_over(&self) -> bool {
        false
    }
    /// The body is over, or was given up. What was held back and the usage come now, so it is worth calling after a
    /// stop or a broken connection too; a connection that breaks behind the terminal leaves the reply complete.
    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome;
    /// How many events, or values of a document, the body has had so far.
    fn event_count(&self) -> u64;
}

/// One piece of what a model says, in the order of first appearance.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodedItem {
    /// The model that really answers.
    Model(String),
    Text(String),
    Thinking(String),
    /// Proof of the reasoning before it; opaque.
    ThinkingSignature(String),
    /// Reasoning that the provider hides; opaque.
    RedactedThinking(String),
    /// A tool call appeared. `index` tells the calls of one reply apart, from 0 in order of appearance.
    ToolCall {
        index: u64,
        id: String,
        name: String,
    },
    /// Raw arguments of a call that appeared before.
    ToolArguments {
        index: u64,
        text: String,
    },
    /// A call that the provider runs itself appeared. `id` tells it apart from every other call of the reply; `server` is
    /// the name of the provider's own server that has the tool, if it has one.
    ProviderToolCall {
        id: String,
        name: String,
        server: Option<String>,
    },
    /// Raw arguments of such a call that appeared before.
    ProviderToolArguments {
        id: String,
        text: String,
    },
    /// What such a call gave; the call may be one of the response before (a reply that was paused). Nothing sealed is in
    /// it.
    ProviderToolResult {
        id: String,
        name: String,
        result: Value,
        is_error: bool,
    },
    /// An image that the model made.
    Image(GeneratedImage),
    /// Something that is kept in its place and not interpreted: the content of an `x:` block.
    Opaque(Map<String, Value>),
    /// Something that happened to the request and that the person should know.
    Notice(Notice),
    /// Replaces what was said before of the same response.
    Usage(Usage),
    /// What the provider says that the response cost, in millionths of a US dollar. Replaces what was said before.
    Cost(u64),
    /// The provider keeps this response, which came to its own end, under this id.
    ResponseId(String),
    /// The provider's own word for why it stopped.
    StopReason(String),
    /// The response failed inside; nothing follows.
    Failed(Failure),
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeOutcome {
    /// The terminal that proves completeness was seen (providers.md 2.4).
    pub complete: bool,
    pub stop_reason: Option<String>,
    /// Set whenever `complete` is false: what the provider said, or that it broke off.
    pub failure: Option<Failure>,
}
