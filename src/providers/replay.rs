//! Decodes a recorded response body to one JSON value, the output of `turnleaf replay` (docs/reference/api.md 1). It
//! uses the same decoder, builder and fold as a live reply, so it shows what a reply really becomes.

use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::anthropic::{self, MessagesDecoder};
use crate::builder::{BlockBuilder, BlockPosition};
use crate::error_classification;
use crate::gemini::{self, GeminiDecoder};
use crate::inline_reasoning::InlineReasoningDecoder;
use crate::ollama::{self, OllamaDecoder};
use crate::openai_chat::message::ReasoningPlacement;
use crate::openai_chat::{ChatDecoder, Dialect, request};
use crate::openai_responses::{self, ResponsesDecoder};
use crate::provider::{DecodeOutcome, DecodedItem, Decoder};
use crate::redaction::SecretSet;
use crate::reply_ending::{ReplyEnding, reply_ending};
use turnleaf_domain::turns::fold::{self, ApplyOutcome};
use turnleaf_domain::{
    Block, BlockId, BlockState, Event, Failure, FailureKind, GenerationId, Role, Turn, TurnLocation, TurnStatus, Usage,
    limits,
};
use turnleaf_platform::endpoint::ProviderApi;

/// The options of a replay.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The API's name (`ProviderApi::from_name`).
    pub api: String,
    /// For `openai_chat`: the name of a dialect; OpenAI's own if absent.
    pub dialect: Option<String>,
    /// The HTTP status of the body; success if absent.
    pub http_status: Option<u16>,
    /// The number of bytes that are fed to the decoder at a time; all if absent. The output never depends on it.
    pub chunk: Option<usize>,
    /// Adds the assistant part of the next request to the same model.
    pub with_next_message: bool,
}

/// An error in the options, not in the body: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayUsageError {
    #[error("unknown API {0:?}; use one of {known}", known = ProviderApi::ALL.iter().map(|api| api.as_str()).collect::<Vec<_>>().join(", "))]
    UnknownApi(String),
    #[error("unknown dialect {0:?}")]
    UnknownDialect(String),
}

const PROVIDER: &str = "The provider";

/// Decodes a body.
pub fn replay(options: &ReplayOptions, body: &[u8]) -> Result<Value, ReplayUsageError> {
    let api = ProviderApi::from_name(&options.api).ok_or_else(|| ReplayUsageError::UnknownApi(options.api.clone()))?;
    let name = options.dialect.as_deref().unwrap_or("openai");
    let dialect = Dialect::from_name(name).ok_or_else(|| ReplayUsageError::UnknownDialect(name.to_owned()))?;
    if let Some(status) = options.http_status.filter(|status| !(200..300).contains(status)) {
        let now = DateTime::UNIX_EPOCH;
        let (failure, _) =
            error_classification::classify_status(status, &[], body, PROVIDER, &SecretSet::default(), now);
        let outcome = DecodeOutcome { complete: false, stop_reason: None, failure: Some(failure) };
        return Ok(print(&read(Vec::new(), outcome, false), 0, options.with_next_message.then(Vec::new)));
    }
    let is_too_long = body.len() > limits::RAW_BYTES;
    let body = &body[..body.len().min(limits::RAW_BYTES)];
    let mut decoder = decoder_for_api(api, dialect);
    let mut items = Vec::new();
    for piece in body.chunks(options.chunk.unwrap_or(body.len()).max(1)) {
        decoder.feed(piece, &mut items);
    }
    let mut outcome = decoder.finish(&mut items);
    if is_too_long {
        let failure = Some(Failure::new(FailureKind::LimitOutput, PROVIDER));
        outcome = DecodeOutcome { complete: false, stop_reason: None, failure };
    }
    let read = read(items, outcome, decoder.has_headings());
    let next = options.with_next_message.then(|| next(api, dialect, &read, body));
    Ok(print(&read, decoder.event_count(), next))
}

/// The folded items and their end.
#[derive(Debug)]
struct ReplayedReply {
    blocks: Vec<Block>,
    model: Option<String>,
    usage: Usage,
    stop_reason: Option<String>,
    ending: ReplyEnding,
}

fn read(items: Vec<DecodedItem>, mut outcome: DecodeOutcome, has_headings: bool) -> ReplayedReply {
    let mut minted = 0;
    let place = BlockPosition { turn_ord: 1, next_seq: 0, generation_id: GenerationId::from_uuid(Uuid::nil()) };
    let mut builder = BlockBuilder::new(place, move || {
        minted += 1;
        (BlockId::from_uuid(Uuid::from_u128(minted)), DateTime::UNIX_EPOCH)
    });
    builder.set_headings(has_headings);
    let mut events = Vec::new();
    for item in items {
        builder.push(item, None, &mut events);
    }
    if let Some(kind) = builder.size().exceeded_limit() {
        outcome = DecodeOutcome { complete: false, stop_reason: None, failure: Some(Failure::new(kind, PROVIDER)) };
    }
    let ending = reply_ending(&outcome, builder.contents(), PROVIDER);
    let is_failed = matches!(ending, ReplyEnding::Failed(_));
    builder.close(if is_failed { BlockState::Aborted } else { BlockState::Done }, &mut events);
    let mut turn = empty_turn();
    let mut usage = Usage::default();
    for (event, seq) in events.iter().zip(1..) {
        if let Event::Usage { usage: reported, .. } = event {
            usage = *reported;
        }
        let applied = fold::apply(&mut turn, seq, event);
        debug_assert_eq!(applied, ApplyOutcome::Changed);
    }
    ReplayedReply { blocks: turn.blocks, model: turn.model_used, usage, stop_reason: outcome.stop_reason, ending }
}

/// Creates a decoder of an API, for an unofficial endpoint without name and secrets. `dialect` is used for chat
/// completions.
pub fn decoder_for_api(api: ProviderApi, dialect: &'static Dialect) -> Box<dyn Decoder> {
    match api {
        ProviderApi::Anthropic => {
            InlineReasoningDecoder::wrap(Box::new(MessagesDecoder::for_provider(PROVIDER, SecretSet::default())))
        }
        ProviderApi::OpenaiChat => Box::new(ChatDecoder::for_provider(dialect, PROVIDER, SecretSet::default())),
        ProviderApi::Gemini => Box::new(GeminiDecoder::for_provider(PROVIDER, SecretSet::default())),
        ProviderApi::Ollama => Box::new(OllamaDecoder::for_provider(PROVIDER, SecretSet::default())),
        ProviderApi::OpenaiResponses => {
            InlineReasoningDecoder::wrap(Box::new(ResponsesDecoder::for_provider(PROVIDER, SecretSet::default())))
        }
    }
}

/// Returns the assistant part of the next request to the same model in the format of its API.
fn next(api: ProviderApi, dialect: &'static Dialect, read: &ReplayedReply, body: &[u8]) -> Vec<Value> {
    let is_on = read.blocks.iter().any(|block| block.content.block_type() == "thinking");
    match api {
        ProviderApi::Anthropic => {
            let model = read.model.as_deref().unwrap_or_default();
            let thinking = anthropic::request::thinking_to_send(model, false, false);
            anthropic::request::parse_stored_reply(body).message(thinking).into_iter().collect()
        }
        ProviderApi::OpenaiChat => {
            let reply = request::parse_stored_reply(dialect, body);
            let calls = reply.sent_calls(|_| false);
            let has_calls = !reply.calls.is_empty();
            let placement = ReasoningPlacement::ByDialect { has_calls, is_needed: is_on && has_calls };
            reply.message(dialect, placement, &calls).into_iter().collect()
        }
        ProviderApi::Gemini => {
            let parts = gemini::request::parse_stored_reply(body).into_parts(true);
            if parts.is_empty() { Vec::new() } else { vec![json!({"role": "model", "parts": parts})] }
        }
        ProviderApi::Ollama => ollama::request::parse_stored_reply(body).into_message(true).into_iter().collect(),
        ProviderApi::OpenaiResponses => {
            openai_responses::request::parse_stored_reply(body).input_items(true, |_| false).0
        }
    }
}

fn print(read: &ReplayedReply, events: u64, next: Option<Vec<Value>>) -> Value {
    let print_failure = |failure: &Failure| {
        let mut printed = json!({"kind": failure.kind, "message": failure.message, "retryable": failure.retryable});
        if let Some(detail) = &failure.detail {
            printed["detail"] = json!(detail);
        }
        printed
    };
    let (failure, notice) = match &read.ending {
        ReplyEnding::Failed(failure) => (Some(failure), None),
        ReplyEnding::Finished(notice) => (None, notice.as_ref()),
        ReplyEnding::Calls | ReplyEnding::Paused(_) => (None, None),
    };
    let mut printed = json!({
        "complete": failure.is_none(),
        "stop_reason": read.stop_reason,
        "model": read.model,
        "blocks": read.blocks.iter().map(|block| json!(block.content)).collect::<Vec<_>>(),
        "usage": read.usage,
        "failure": failure.map(print_failure),
        "events": events,
    });
    if let Some(notice) = notice {
        printed["notice"] = json!(notice.content());
    }
    if let Some(next) = next {
        printed["next"] = Value::Array(next);
    }
    printed
}

fn empty_turn() -> Turn {
    let nil = Uuid::nil();
    let location = TurnLocation {
        chat_id: nil.into(),
        ord: 1,
        depth: 0,
        branch_id: nil.into(),
        exchange_id: nil.into(),
        prev_turn_id: None,
    };
    let turn = Turn::new(nil.into(), location, Role::Assistant, DateTime::UNIX_EPOCH);
    Turn { status: TurnStatus::Streaming, ..turn }
}

#[cfg(test)]
mod tests;
