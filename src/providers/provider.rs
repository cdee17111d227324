//! The provider-neutral vocabulary: the request ([`ChatRequest`]), the decoded response ([`DecodedItem`]) and the
//! trait [`Provider`]. It is small on purpose: the specifics of an API stay in the API's own folder.

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::{Map, Value};

pub use super::attachments::{AttachmentContent, AttachmentsByBlock, InputImage};
pub use super::chat_request::{ChatRequest, HistoryTurn};
use crate::pictures::generated_image::GeneratedImage;
use turnleaf_domain::blocks::notice::Notice;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::{OfferedTool, ToolSpec};
use turnleaf_domain::{Capabilities, Failure, Usage};

/// A configured provider: one endpoint that speaks one API, or a scripted stand-in for one.
pub trait Provider: Send + Sync {
    /// Returns the stable id, which branches store (`openai`, `ollama`, `demo`).
    fn id(&self) -> &str;
    /// Returns the display name.
    fn name(&self) -> &str;
    /// Returns the API of its responses: the name of a [`turnleaf_platform::endpoint::ProviderApi`], or a stand-in's
    /// own name.
    fn api(&self) -> &'static str;
    /// Returns the configured base URL; `None` for stand-ins.
    fn base_url(&self) -> Option<&str> {
        None
    }
    /// Returns the model to use if none is configured, provided that the model list has it.
    fn preferred_model(&self) -> Option<&'static str> {
        None
    }
    /// Requests the model list, in the provider's order; `None` for providers without one.
    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        None
    }
    /// Returns the capabilities of a model as far as its name tells. Those from `list_models` are more precise.
    fn capabilities(&self, model: &str) -> Capabilities;
    /// Returns the tools that the provider implements itself and that `run_tool` runs. Only the demo has any.
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    /// Returns the tools that the provider runs inside of its responses, as far as the model's name tells. A chat may
    /// enable them (`provider/web_search`); [`ChatRequest::provider_tools`] lists the enabled ones.
    fn provider_tools(&self, model: &str) -> Vec<OfferedTool> {
        let _ = model;
        Vec::new()
    }
    /// Returns true if the provider keeps its responses, so that a request may continue from one
    /// ([`ChatRequest::previous_response`]). Its decoder then emits the id of the response
    /// ([`DecodedItem::ResponseId`]).
    fn keeps_responses(&self) -> bool {
        false
    }
    /// Returns true if a request to this model may contain images of tool results.
    fn accepts_tool_result_images(&self, model: &str) -> bool {
        let _ = model;
        false
    }
    /// Builds the exact request body, with names in the place of image bytes ([`crate::pictures`]). Equal requests
    /// give equal bytes (docs/reference/providers.md P4).
    fn build(&self, request: &ChatRequest) -> Bytes;
    /// Returns the repair for a request that was refused before it brought any content; `None` if the refusal is
    /// about something else, or the repair was in place already (docs/reference/providers.md 3.6, 6.6, 7.4).
    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        let _ = (refused, request);
        None
    }
    /// Sends a body once: without retries, and without first-byte and idle timeouts, which belong to the caller.
    /// Dropping the future or the response body closes the connection. `model` is the one that `body` was built for:
    /// some APIs name it in the URL.
    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>>;
    /// Returns a new decoder for one response body.
    fn decoder(&self) -> Box<dyn Decoder>;
    /// Runs one of `tools()`; `None` if there is no such tool.
    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let _ = (name, arguments);
        None
    }
}

/// A model of a provider's list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    pub id: String,
    /// The display name.
    pub name: Option<String>,
    /// The capabilities, as far as the name and the list tell.
    pub capabilities: Capabilities,
    /// The prices of a million tokens of input and of output, in millionths of a US dollar.
    pub prices: Option<(u64, u64)>,
}

impl ListedModel {
    /// Creates a model of which the list states only the id.
    pub fn new(id: &str, capabilities: Capabilities) -> Self {
        Self { id: id.to_owned(), name: None, capabilities, prices: None }
    }
}

/// A response with a success status.
pub struct ProviderReply {
    pub status: u16,
    /// The headers worth keeping (docs/reference/providers.md 2.2), with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: BoxStream<'static, Result<Bytes, Failure>>,
}

/// An attempt without a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderError {
    pub failure: Failure,
    /// The same request may be retried automatically (docs/reference/providers.md 2.7, including `x-should-retry`).
    pub retries_by_itself: bool,
    /// The HTTP status; `None` if no response arrived.
    pub status: Option<u16>,
    /// The headers worth keeping, as in [`ProviderReply`].
    pub headers: Vec<(String, String)>,
    /// The error document without secrets, cut at [`ERROR_BODY_BYTES`].
    pub body: Bytes,
    /// The request did not leave this machine.
    pub is_unsent: bool,
}

/// The number of bytes that are read of an error document.
pub const ERROR_BODY_BYTES: usize = 256 << 10;

impl ProviderError {
    /// Returns the failure detail and the error document, in lower case.
    pub fn lowercase_text(&self) -> String {
        const ENOUGH: usize = 16 << 10;
        let document = String::from_utf8_lossy(&self.body[..self.body.len().min(ENOUGH)]);
        format!("{}\n{document}", self.failure.detail.as_deref().unwrap_or_default()).to_lowercase()
    }

    /// Creates the error of an attempt without a response.
    pub fn without_response(failure: Failure) -> Self {
        let retries_by_itself = failure.kind.is_auto_retryable();
        Self { failure, retries_by_itself, status: None, headers: Vec::new(), body: Bytes::new(), is_unsent: false }
    }

    /// Creates the error of an attempt that sent nothing.
    pub fn not_sent(failure: Failure) -> Self {
        Self { is_unsent: true, ..Self::without_response(failure) }
    }

    /// Returns true if the attempt is certainly not charged: the provider refused it, or never received it. For a
    /// broken or silent connection the answer is unknown, hence false.
    pub fn is_free(&self) -> bool {
        self.is_unsent || self.status.is_some_and(|status| !(200..300).contains(&status))
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    pub result: Value,
    pub is_error: bool,
}

/// Decodes a response body into items. Chunking invariance: any split of the same bytes gives the same items, except
/// for the boundaries between adjacent texts, and the same outcome (docs/reference/providers.md P2).
pub trait Decoder: Send {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>);
    /// Notes the model that was requested, because the response may not name it. Call it before the first byte.
    fn note_requested_model(&mut self, model: &str) {
        let _ = model;
    }
    /// Returns true once nothing relevant can follow: the terminal arrived, or the stream failed. The caller need not
    /// wait for a server that keeps the connection open.
    fn is_over(&self) -> bool {
        false
    }
    /// Ends decoding at the end of the body, or when the caller stops reading. It emits what was held back and the
    /// usage, so it must also be called after a stop or a broken connection; a connection that breaks after the
    /// terminal leaves the reply complete.
    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome;
    /// Returns true if paragraphs of the reasoning may begin with headings, which are its titles.
    fn has_headings(&self) -> bool {
        false
    }
    /// Returns the number of events, or of values in a document, so far.
    fn event_count(&self) -> u64;
}

/// Returns the content of an opaque `x:` block: the type, and the unchanged piece as `value`.
pub fn opaque_content(name: &str, piece: Value) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(format!("x:{name}"))), ("value".to_owned(), piece)])
}

/// One piece of a reply, in the order of first appearance.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodedItem {
    /// The model that answers.
    Model(String),
    Text(String),
    Thinking(String),
    /// The corrected text of the whole open text, which replaces what was emitted of it. It ends the text.
    TextReplaced(String),
    /// The corrected text of the whole open reasoning, which replaces what was emitted of it. It ends the reasoning.
    ThinkingReplaced(String),
    /// The corrected text of a block of text or reasoning that has ended. `block` is its number among those of this
    /// response, from 0 in order of appearance.
    FinishedReplaced {
        block: usize,
        text: String,
    },
    /// Paragraphs of the reasoning that follows may begin with headings ([`Decoder::has_headings`]).
    ThinkingHeadings,
    /// The title of the reasoning so far, where its text does not show that a part begins with this heading.
    ThinkingTitle(String),
    /// The signature of the reasoning before it; opaque.
    ThinkingSignature(String),
    /// Reasoning that the provider hides; opaque.
    RedactedThinking(String),
    /// The start of a tool call. `index` distinguishes the calls of one reply, from 0 in order of appearance.
    ToolCall {
        index: u64,
        id: String,
        name: String,
    },
    /// Raw arguments of an earlier call.
    ToolArguments {
        index: u64,
        text: String,
    },
    /// The corrected arguments of an earlier call, which replace what was emitted of them.
    ToolArgumentsReplaced {
        index: u64,
        text: String,
    },
    /// The start of a provider tool call. `id` is unique within the reply; `server` names the tool server, if the
    /// provider states it.
    ProviderToolCall {
        id: String,
        name: String,
        server: Option<String>,
    },
    /// Raw arguments of an earlier provider tool call.
    ProviderToolArguments {
        id: String,
        text: String,
    },
    /// The result of a provider tool call, without encrypted fields. The call may be one of the previous response of
    /// a paused reply.
    ProviderToolResult {
        id: String,
        name: String,
        result: Value,
        is_error: bool,
    },
    /// An image that the model generated.
    Image(GeneratedImage),
    /// The content of an `x:` block, which is kept in its place and not interpreted.
    Opaque(Map<String, Value>),
    /// A notice for the user about something that happened to the request.
    Notice(Notice),
    /// The usage of the response; replaces an earlier one.
    Usage(Usage),
    /// The cost that the provider reports, in millionths of a US dollar; replaces an earlier one.
    Cost(u64),
    /// The id under which the provider keeps this complete response.
    ResponseId(String),
    /// The provider's own stop reason.
    StopReason(String),
    /// The response reports a failure; nothing follows.
    Failed(Failure),
}

impl DecodedItem {
    /// Returns true for a piece of the reply; false for what is known about it.
    pub fn is_content(&self) -> bool {
        !matches!(
            self,
            Self::Model(_)
                | Self::Usage(_)
                | Self::Cost(_)
                | Self::ResponseId(_)
                | Self::StopReason(_)
                | Self::ThinkingHeadings
                | Self::Failed(_)
        )
    }
}

/// The end of a response body.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeOutcome {
    /// The terminal that proves completeness was seen (docs/reference/providers.md 2.4).
    pub complete: bool,
    pub stop_reason: Option<String>,
    /// The failure, set whenever `complete` is false: reported by the provider, or an interruption.
    pub failure: Option<Failure>,
}
