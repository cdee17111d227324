//! Input of the journal: numbered events, and the batch that one step of a run stores.

use std::sync::Arc;

use bytes::Bytes;

use turnleaf_domain::providers::repair::ProviderState;
use turnleaf_domain::{Block, BlockId, Event, ExchangeId, GenerationId, Turn};
use turnleaf_store::turns::{TurnProgress, generations};
use turnleaf_tools::toolbox::NewBlob;

/// A numbered event, serialised once for the journal and all followers.
#[derive(Debug, Clone)]
pub struct EventLine {
    pub seq: u64,
    /// The event as JSON, without turn id and number.
    pub json: Arc<str>,
}

impl EventLine {
    /// Serialises a numbered event.
    pub fn from_event(event: Event, seq: u64) -> (Event, Self) {
        // Events hold strings, numbers and parsed JSON, so serialising cannot fail.
        let json = serde_json::to_string(&event).unwrap_or_else(|_| r#"{"type":"unknown"}"#.into());
        (event, Self { seq, json: json.into() })
    }

    /// Returns the event's wire name. The tag is the first member of the JSON.
    pub fn name(&self) -> &str {
        self.json.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split('"').next()).unwrap_or("unknown")
    }
}

/// The writes of one step of one run, stored in one transaction.
#[derive(Default)]
pub struct JournalBatch {
    pub lines: Vec<EventLine>,
    /// New or changed blocks, complete.
    pub blocks: Vec<Block>,
    /// Provider bytes that led to these events, with their offset in the response.
    pub raw: Vec<(GenerationId, u64, Bytes)>,
    /// Bytes of results, with the blocks that reference them.
    pub blobs: Vec<(BlockId, NewBlob)>,
    /// The exchange whose undecided thinking mode these blocks turn on.
    pub turns_thinking_on: Option<ExchangeId>,
    pub progress: Option<TurnProgress>,
    pub generation: Option<generations::NewGeneration>,
    pub generation_end: Option<generations::GenerationEnd>,
    /// The turn with its ending.
    pub ending: Option<Turn>,
    /// The branch's new provider state after the turn's end, if it changes.
    pub provider_state: Option<ProviderState>,
}

impl JournalBatch {
    /// Returns whether something in the batch must be stored before anything is published.
    pub(crate) fn must_be_stored_first(&self) -> bool {
        self.generation.is_some() || self.generation_end.is_some() || self.ending.is_some() || self.progress.is_some()
    }

    /// Returns the size of the batch in bytes.
    pub(super) fn byte_count(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.json.len());
        let raw = self.raw.iter().map(|(_, _, raw)| raw.len());
        lines.chain(raw).chain(self.blobs.iter().map(|(_, blob)| blob.bytes.len())).sum()
    }
}
