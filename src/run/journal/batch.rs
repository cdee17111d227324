//! What a run hands to the journal: numbered events, and the batch that one step of it stores.

use std::sync::Arc;

use bytes::Bytes;

use turnleaf_domain::repair::ProviderState;
use turnleaf_domain::{Block, BlockId, Event, GenerationId, Turn};
use turnleaf_store::generations;
use turnleaf_store::turns::TurnProgress;
use turnleaf_tools::toolbox::NewBlob;

/// A numbered event, serialised once for the journal and for every follower.
#[derive(Debug, Clone)]
pub struct EventLine {
    pub seq: u64,
    /// The event as JSON, without turn and number.
    pub json: Arc<str>,
}

impl EventLine {
    /// An event with its number, serialised.
    pub fn from_event(event: Event, seq: u64) -> (Event, Self) {
        // Events hold strings, numbers and parsed JSON: nothing that serialising could refuse.
        let json = serde_json::to_string(&event).unwrap_or_else(|_| r#"{"type":"unknown"}"#.into());
        (event, Self { seq, json: json.into() })
    }

    /// The event's wire name. Events are written with their tag first.
    pub fn name(&self) -> &str {
        self.json.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split('"').next()).unwrap_or("unknown")
    }
}

/// What one step of one run stores, in one transaction.
#[derive(Default)]
pub struct JournalBatch {
    pub lines: Vec<EventLine>,
    /// Blocks that are new or changed, whole.
    pub blocks: Vec<Block>,
    /// Bytes of the provider that led here, with their offset in the response.
    pub raw: Vec<(GenerationId, u64, Bytes)>,
    /// Bytes of results, with the blocks that name them.
    pub blobs: Vec<(BlockId, NewBlob)>,
    pub progress: Option<TurnProgress>,
    pub generation: Option<generations::NewGeneration>,
    pub generation_end: Option<generations::GenerationEnd>,
    /// The turn as it ended.
    pub ending: Option<Turn>,
    /// What the branch of a turn that ended keeps for its provider from then on, where that changes.
    pub provider_state: Option<ProviderState>,
}

impl JournalBatch {
    /// How much it brings.
    pub(super) fn byte_count(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.json.len());
        let raw = self.raw.iter().map(|(_, _, raw)| raw.len());
        lines.chain(raw).chain(self.blobs.iter().map(|(_, blob)| blob.bytes.len())).sum()
    }
}
