//! Archived chats and documents that are too large for memory. The header is in memory; turns, generations and
//! versions are in a spool file and are read in small batches, in the order in which they can be stored.

use std::collections::{HashMap, HashSet, VecDeque};

use chrono::{DateTime, Utc};
use serde_json::{Error, Value, json};

use super::request_delta::{BaseRequest, ParsedDelta};
use super::spool::{Spool, SpoolRange};
use super::{ArchivedBlob, ArchivedBranch, ArchivedBytes, ArchivedGeneration, ArchivedVersion};
use crate::bounds;
use crate::domain::{
    BranchId, Chat, DocumentId, Exchange, GenerationId, ImportDifference, ImportOrigin, Project, Turn, TurnId,
};

/// Size of a batch of parts, in bytes of JSON.
const BATCH_BYTES: u64 = 1 << 20;

/// One item of an archive.
pub enum ArchiveItem {
    Document(Box<SpooledDocument>),
    Blob(ArchivedBlob),
    Project(Box<Project>),
    Chat(Box<SpooledChat>),
}

/// A validated chat ([`super::check`]); its images and documents may be missing.
pub struct SpooledChat {
    pub chat: Chat,
    pub imported_from: Option<ImportOrigin>,
    /// The tool choice as raw JSON, because an unreadable choice must not cost the chat.
    pub tools: Option<Value>,
    /// The parts that could not be read during the export.
    pub damaged: Vec<ImportDifference>,
    /// The turns in order, and the `ord` of the last; 0 if there is none.
    pub turns: Vec<TurnId>,
    pub last_ord: i64,
    pub branches: u64,
    /// The documents that its messages reference.
    pub documents: HashSet<DocumentId>,
    /// The parts that were not read yet.
    pub(super) waiting: VecDeque<SpooledPart>,
    pub(super) calls: HashSet<GenerationId>,
    /// The most recent delta base and its position, cached because consecutive deltas share it.
    pub(super) last_base: Option<(SpoolRange, BaseRequest)>,
    /// Number of generations whose request is dropped because it would be too large.
    pub(super) calls_without_request: u64,
    pub(super) spool: Spool,
}

/// The position of a part in the spool.
pub(super) enum SpooledPart {
    /// With the parent branch.
    Branch(SpoolRange, Option<BranchId>),
    Exchange(SpoolRange),
    Turn(SpoolRange),
    Generation(SpoolRange, RequestStorage),
}

/// The storage form of a generation's request.
#[derive(Clone, Copy)]
pub(super) enum RequestStorage {
    Whole,
    /// As a delta against the generation at this position.
    Delta(SpoolRange),
    /// The request is dropped.
    LeftOut,
}

/// A part of a chat.
pub enum ChatPart {
    Branch(Box<ArchivedBranch>),
    Exchange(Box<Exchange>),
    Turn(Box<Turn>),
    Generation(Box<ArchivedGeneration>),
}

impl SpooledChat {
    /// Returns the size of the turns that were not read yet, in bytes of JSON. Generations are stored compressed, so
    /// their size here says little.
    pub fn turns_byte_count(&self) -> u64 {
        let turns = self.waiting.iter().filter(|waiting| matches!(waiting, SpooledPart::Turn(_)));
        turns.map(SpooledPart::byte_count).sum()
    }

    /// Returns the next batch: branches, each after its parent, then exchanges, then each turn followed by its
    /// generations. A long part is a batch of its own. Empty at the end.
    ///
    /// # Errors
    /// A part is invalid in a way that only parsing reveals, or the file cannot be read.
    pub fn next_parts(&mut self) -> Result<Vec<ChatPart>, String> {
        let mut parts = Vec::new();
        let mut length = 0;
        while let Some(next) = self.waiting.front() {
            length += next.byte_count();
            if !parts.is_empty() && length > BATCH_BYTES {
                break;
            }
            let part = read_part(&mut self.spool, next, &self.calls, &mut self.last_base);
            parts.push(part.map_err(|error| format!("{}: {error}", next.kind()))?);
            self.waiting.pop_front();
        }
        Ok(parts)
    }
}

/// Decides how the request of a generation is read, which may be a delta. `whole` is the total size of the archive's
/// delta requests so far, in bytes.
pub(super) fn request_storage(spot: SpoolRange, after: Option<SpoolRange>, whole: &mut u64) -> RequestStorage {
    let Some(after) = after else { return RequestStorage::Whole };
    let with_it = whole.saturating_add(spot.length + after.length);
    if with_it > bounds::REASSEMBLED_BYTES {
        return RequestStorage::LeftOut;
    }
    *whole = with_it;
    RequestStorage::Delta(after)
}

/// Returns the turns, each followed by its generations.
pub(super) fn interleave_calls(
    turns: impl Iterator<Item = (TurnId, SpoolRange)>,
    calls: Vec<(TurnId, SpoolRange, RequestStorage)>,
) -> impl Iterator<Item = SpooledPart> {
    let mut made: HashMap<TurnId, Vec<SpooledPart>> = HashMap::new();
    for (turn, call, request) in calls {
        made.entry(turn).or_default().push(SpooledPart::Generation(call, request));
    }
    turns.flat_map(move |(id, turn)| {
        std::iter::once(SpooledPart::Turn(turn)).chain(made.remove(&id).unwrap_or_default())
    })
}

fn read_part(
    spool: &mut Spool,
    waiting: &SpooledPart,
    calls: &HashSet<GenerationId>,
    before: &mut Option<(SpoolRange, BaseRequest)>,
) -> Result<ChatPart, Error> {
    Ok(match waiting {
        SpooledPart::Branch(spot, parent) => {
            let mut of: Box<ArchivedBranch> = spool.read(*spot)?;
            of.branch.parent_branch_id = *parent;
            ChatPart::Branch(of)
        }
        SpooledPart::Exchange(spot) => ChatPart::Exchange(spool.read(*spot)?),
        SpooledPart::Turn(spot) => {
            let mut turn: Box<Turn> = spool.read(*spot)?;
            for block in &mut turn.blocks {
                block.generation_id = block.generation_id.filter(|call| calls.contains(call));
            }
            ChatPart::Turn(turn)
        }
        SpooledPart::Generation(spot, request) => {
            let mut call: Box<ArchivedGeneration> = spool.read(*spot)?;
            match request {
                RequestStorage::Whole => {}
                RequestStorage::Delta(at) => {
                    let ParsedDelta { after } = spool.read(*spot)?;
                    let (_, before) = match before.take().filter(|(known, _)| known == at) {
                        Some(known) => before.insert(known),
                        None => before.insert((*at, spool.read(*at)?)),
                    };
                    after.apply(&mut call, before)?;
                }
                RequestStorage::LeftOut => {
                    call.request = ArchivedBytes::default();
                    call.request_manifest = json!({ "turns": [], "not_sent": [] });
                }
            }
            ChatPart::Generation(call)
        }
    })
}

impl SpooledPart {
    /// Returns the size of the part after reassembly, at most.
    fn byte_count(&self) -> u64 {
        match self {
            Self::Branch(spot, _) | Self::Exchange(spot) | Self::Turn(spot) => spot.length,
            Self::Generation(spot, RequestStorage::Delta(after)) => spot.length + after.length,
            Self::Generation(spot, _) => spot.length,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Branch(..) => "branches",
            Self::Exchange(_) => "exchanges",
            Self::Turn(_) => "turns",
            Self::Generation(..) => "generations",
        }
    }
}

/// A document with its spooled versions.
pub struct SpooledDocument {
    pub id: DocumentId,
    pub title: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Total size of its versions in bytes.
    pub bytes: u64,
    pub(super) versions: VecDeque<SpoolRange>,
    pub(super) spool: Spool,
}

impl SpooledDocument {
    /// Returns the next version, oldest first.
    ///
    /// # Errors
    /// As [`SpooledChat::next_parts`].
    pub fn next_version(&mut self) -> Result<Option<ArchivedVersion>, String> {
        let next = self.versions.pop_front().map(|spot| self.spool.read(spot));
        next.transpose().map_err(|error| format!("versions: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_too_large_when_reassembled_is_left_out() {
        let spot = |length| SpoolRange { at: 0, length };
        let mut whole = 0;
        let half_limit = bounds::REASSEMBLED_BYTES / 2;
        assert!(matches!(request_storage(spot(1), Some(spot(half_limit)), &mut whole), RequestStorage::Delta(_)));
        assert!(matches!(request_storage(spot(1), Some(spot(half_limit)), &mut whole), RequestStorage::LeftOut));
        assert!(
            matches!(request_storage(spot(1), Some(spot(half_limit - 2)), &mut whole), RequestStorage::Delta(_)),
            "a shorter one may be"
        );
        assert!(matches!(request_storage(spot(u64::MAX), None, &mut whole), RequestStorage::Whole));
        assert_eq!(whole, bounds::REASSEMBLED_BYTES);
    }
}
