//! A recorded response body, read as a run would read it, as one JSON value: what `turnleaf replay` prints
//! (contract.md 1). The same decoder, builder and fold as live, so it shows what a reply really becomes.

use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::anthropic::{self, MessagesDecoder};
use crate::builder::{BlockBuilder, Place};
use crate::classify;
use crate::gemini::{self, GeminiDecoder};
use crate::ollama::{self, OllamaDecoder};
use crate::openai_chat::message::Reasoning;
use crate::openai_chat::{ChatDecoder, Dialect, request};
use crate::openai_responses::{self, ResponsesDecoder};
use crate::provider::{Decoder, Item, Outcome};
use crate::redact::Secrets;
use turnleaf_domain::fold::{self, Applied};
use turnleaf_domain::{
    Block, BlockId, BlockState, BranchId, ChatId, Event, ExchangeId, Failure, GenerationId, Role, Turn, TurnId,
    TurnStatus, Usage,
};
use turnleaf_platform::endpoint::Api;

/// What to read, and how.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The API's name (`Api::named`).
    pub api: String,
    /// For `openai_chat`: a row of the dialect table; absent means OpenAI's own.
    pub dialect: Option<String>,
    /// The status the body came with; absent means success.
    pub http_status: Option<u16>,
    /// How many bytes the decoder gets at a time; absent means all. The output never depends on it.
    pub chunk: Option<usize>,
    /// Adds the assistant part of the next request to the same model.
    pub next: bool,
}

/// The question is wrong, not the body: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongUse {
    #[error("there is no API {0:?}; known are {known}", known = Api::ALL.iter().map(|api| api.as_str()).collect::<Vec<_>>().join(", "))]
    Api(String),
    #[error("there is no dialect {0:?}")]
    Dialect(String),
}

const PROVIDER: &str = "The provider";

/// Reads a body.
pub fn replay(how: &Replay, body: &[u8]) -> Result<Value, WrongUse> {
    let api = Api::named(&how.api).ok_or_else(|| WrongUse::Api(how.api.clone()))?;
    let name = how.dialect.as_deref().unwrap_or("openai");
    let dialect = Dialect::named(name).ok_or_else(|| WrongUse::Dialect(name.to_owned()))?;
    if let Some(status) = how.http_status.filter(|status| !(200..300).contains(status)) {
        let now = DateTime::UNIX_EPOCH;
        let (failure, _) = classify::status(status, &[], body, PROVIDER, &Secrets::default(), now);
        let outcome = Outcome { complete: false, stop_reason: None, failure: Some(failure) };
        return Ok(print(&Read::default(), &outcome, 0, how.next.then(Vec::new)));
    }
    let mut decoder = decoder(api, dialect);
    let mut items = Vec::new();
    for piece in body.chunks(how.chunk.unwrap_or(body.len()).max(1)) {
        decoder.feed(piece, &mut items);
    }
    let outcome = decoder.finish(&mut items);
    let read = read(items, &outcome);
    let next = how.next.then(|| next(api, dialect, &read, body));
    Ok(print(&read, &outcome, decoder.events(), next))
}

/// What the items became.
#[derive(Debug, Default)]
struct Read {
    blocks: Vec<Block>,
    model: Option<String>,
    usage: Usage,
}

fn read(items: Vec<Item>, outcome: &Outcome) -> Read {
    let mut minted = 0;
    let place = Place { turn_ord: 1, next_seq: 0, generation_id: GenerationId::from_uuid(Uuid::nil()) };
    let mut builder = BlockBuilder::new(place, move || {
        minted += 1;
        (BlockId::from_uuid(Uuid::from_u128(minted)), DateTime::UNIX_EPOCH)
    });
    let mut events = Vec::new();
    for item in items {
        builder.push(item, None, &mut events);
    }
    builder.close(if outcome.complete { BlockState::Done } else { BlockState::Aborted }, &mut events);
    let mut turn = empty_turn();
    let mut usage = Usage::default();
    for (event, seq) in events.iter().zip(1..) {
        if let Event::Usage { usage: said, .. } = event {
            usage = *said;
        }
        let applied = fold::apply(&mut turn, seq, event);
        debug_assert_eq!(applied, Applied::Yes);
    }
    Read { blocks: turn.blocks, model: turn.model_used, usage }
}

/// A fresh decoder of an API, for a provider without a name and without secrets. `dialect` is for chat completions.
pub fn decoder(api: Api, dialect: &'static Dialect) -> Box<dyn Decoder> {
    match api {
        Api::Anthropic => Box::new(MessagesDecoder::of(PROVIDER, Secrets::default())),
        Api::OpenaiChat => Box::new(ChatDecoder::of(dialect, PROVIDER, Secrets::default())),
        Api::Gemini => Box::new(GeminiDecoder::of(PROVIDER, Secrets::default())),
        Api::Ollama => Box::new(OllamaDecoder::of(PROVIDER, Secrets::default())),
        Api::OpenaiResponses => Box::new(ResponsesDecoder::of(PROVIDER, Secrets::default())),
    }
}

/// The assistant part of the next request to the same model: as its API wants it, whole or cut off.
fn next(api: Api, dialect: &'static Dialect, read: &Read, body: &[u8]) -> Vec<Value> {
    let is_on = read.blocks.iter().any(|block| block.content.block_type() == "thinking");
    match api {
        Api::Anthropic => anthropic::request::read_again(body).message().into_iter().collect(),
        Api::OpenaiChat => {
            let said = request::read_again(dialect, body);
            let calls = said.sent_calls(|_| false);
            let is_needed = is_on && !said.calls.is_empty();
            said.message(dialect, Reasoning::AsUsual { is_needed }, &calls).into_iter().collect()
        }
        Api::Gemini => {
            let parts = gemini::request::read_again(body).into_parts(true);
            if parts.is_empty() { Vec::new() } else { vec![json!({"role": "model", "parts": parts})] }
        }
        Api::Ollama => ollama::request::read_again(body).into_message(true).into_iter().collect(),
        Api::OpenaiResponses => openai_responses::request::read_again(body).items(true, |_| false).0,
    }
}

fn print(read: &Read, outcome: &Outcome, events: u64, next: Option<Vec<Value>>) -> Value {
    let failure =
        |failure: &Failure| json!({"kind": failure.kind, "message": failure.message, "retryable": failure.retryable});
    let mut printed = json!({
        "complete": outcome.complete,
        "stop_reason": outcome.stop_reason,
        "model": read.model,
        "blocks": read.blocks.iter().map(|block| json!(block.content)).collect::<Vec<_>>(),
        "usage": read.usage,
        "failure": outcome.failure.as_ref().map(failure),
        "events": events,
    });
    if let Some(next) = next {
        printed["next"] = Value::Array(next);
    }
    printed
}

fn empty_turn() -> Turn {
    let nil = Uuid::nil();
    Turn {
        id: TurnId::from_uuid(nil),
        chat_id: ChatId::from_uuid(nil),
        ord: 1,
        depth: 0,
        branch_id: BranchId::from_uuid(nil),
        exchange_id: ExchangeId::from_uuid(nil),
        prev_turn_id: None,
        role: Role::Assistant,
        status: TurnStatus::Streaming,
        provider_used: None,
        model_used: None,
        usage: Usage::default(),
        cost: None,
        context_tokens: None,
        error: None,
        last_event_seq: 0,
        created_at: DateTime::UNIX_EPOCH,
        started_at: None,
        completed_at: None,
        blocks: Vec::new(),
        attempt: None,
    }
}

#[cfg(test)]
mod tests;
