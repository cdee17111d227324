//! What was read of an archive and is too much to be held: a chat with its turns and calls, a document with its versions.
//! What stands around them is at hand, and they are in a file, to be taken out of it a few at a time, in the order in which
//! they can be stored.

use std::collections::{HashMap, HashSet, VecDeque};

use chrono::{DateTime, Utc};
use serde_json::{Error, Value, json};

use super::after::{Before, Read};
use super::spool::{Spool, Spot};
use super::{ArchivedBlob, ArchivedBranch, ArchivedGeneration, ArchivedVersion, Bytes};
use crate::bounds;
use crate::domain::{BranchId, Chat, Difference, DocumentId, Exchange, GenerationId, ImportedFrom, Turn, TurnId};

/// Parts are taken out together as long as they are no longer than this, as a text.
const TOGETHER: u64 = 1 << 20;

/// One thing of an archive.
pub enum Item {
    Document(Box<FiledDocument>),
    Blob(ArchivedBlob),
    Chat(Box<FiledChat>),
}

/// A chat, which keeps the rules ([`super::check`]); its images and documents may be missing.
pub struct FiledChat {
    pub chat: Chat,
    pub imported_from: Option<ImportedFrom>,
    /// Which tools it offers, as it stands there: a choice that cannot be read costs no chat.
    pub tools: Option<Value>,
    /// What could not be read when it was exported.
    pub damaged: Vec<Difference>,
    /// Its turns, by their places, and the place of the last; 0 where there is none.
    pub turns: Vec<TurnId>,
    pub last_ord: i64,
    pub branches: u64,
    /// What its messages name.
    pub documents: HashSet<DocumentId>,
    /// What has not been taken out.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) calls: HashSet<GenerationId>,
    /// The call that the last ones were written after, with where it lies.
    pub(super) before: Option<(Spot, Before)>,
    /// Calls of which the request is not kept: whole, they are too much.
    pub(super) without_request: u64,
    pub(super) spool: Spool,
}

/// Where a part of a chat lies.
pub(super) enum Waiting {
    /// With the branch that it leaves.
    Branch(Spot, Option<BranchId>),
    Exchange(Spot),
    Turn(Spot),
    Generation(Spot, Request),
}

/// How the request of a call is come by.
#[derive(Clone, Copy)]
pub(super) enum Request {
    Whole,
    /// With that of the call that lies there.
    After(Spot),
    /// It is not kept.
    LeftOut,
}

/// A part of a chat.
pub enum Part {
    Branch(Box<ArchivedBranch>),
    Exchange(Box<Exchange>),
    Turn(Box<Turn>),
    Generation(Box<ArchivedGeneration>),
}

impl FiledChat {
    /// The bytes of the turns that have not been taken out, as texts. Calls are stored packed, so that their length here
    /// says little.
    pub fn turns_byte_count(&self) -> u64 {
        let turns = self.waiting.iter().filter(|waiting| matches!(waiting, Waiting::Turn(_)));
        turns.map(Waiting::length).sum()
    }

    /// The next parts: branches, each behind the one that it leaves, then exchanges, then each turn with its calls behind
    /// it. One long part comes alone. Nothing behind the last.
    ///
    /// # Errors
    /// What is wrong with a part that nobody could know before it was taken out; or that the file cannot be read.
    pub fn some(&mut self) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        let mut length = 0;
        while let Some(next) = self.waiting.front() {
            length += next.length();
            if !parts.is_empty() && length > TOGETHER {
                break;
            }
            let part = read(&mut self.spool, next, &self.calls, &mut self.before);
            parts.push(part.map_err(|error| format!("{}: {error}", next.kind()))?);
            self.waiting.pop_front();
        }
        Ok(parts)
    }
}

/// How the request of a call is come by that may be written after another one. `whole` is what those of the archive come to
/// so far, in bytes.
pub(super) fn request_of(spot: Spot, after: Option<Spot>, whole: &mut u64) -> Request {
    let Some(after) = after else { return Request::Whole };
    let with_it = whole.saturating_add(spot.length + after.length);
    if with_it > bounds::PUT_TOGETHER_BYTES {
        return Request::LeftOut;
    }
    *whole = with_it;
    Request::After(after)
}

/// The turns, each with the calls behind it that it was made by.
pub(super) fn with_calls(
    turns: impl Iterator<Item = (TurnId, Spot)>,
    calls: Vec<(TurnId, Spot, Request)>,
) -> impl Iterator<Item = Waiting> {
    let mut made: HashMap<TurnId, Vec<Waiting>> = HashMap::new();
    for (turn, call, request) in calls {
        made.entry(turn).or_default().push(Waiting::Generation(call, request));
    }
    turns.flat_map(move |(id, turn)| std::iter::once(Waiting::Turn(turn)).chain(made.remove(&id).unwrap_or_default()))
}

fn read(
    spool: &mut Spool,
    waiting: &Waiting,
    calls: &HashSet<GenerationId>,
    before: &mut Option<(Spot, Before)>,
) -> Result<Part, Error> {
    Ok(match waiting {
        Waiting::Branch(spot, parent) => {
            let mut of: Box<ArchivedBranch> = spool.read(*spot)?;
            of.branch.parent_branch_id = *parent;
            Part::Branch(of)
        }
        Waiting::Exchange(spot) => Part::Exchange(spool.read(*spot)?),
        Waiting::Turn(spot) => {
            let mut turn: Box<Turn> = spool.read(*spot)?;
            for block in &mut turn.blocks {
                block.generation_id = block.generation_id.filter(|call| calls.contains(call));
            }
            Part::Turn(turn)
        }
        Waiting::Generation(spot, request) => {
            let mut call: Box<ArchivedGeneration> = spool.read(*spot)?;
            match request {
                Request::Whole => {}
                Request::After(at) => {
                    let Read { after } = spool.read(*spot)?;
                    let (_, before) = match before.take().filter(|(known, _)| known == at) {
                        Some(known) => before.insert(known),
                        None => before.insert((*at, spool.read(*at)?)),
                    };
                    after.put_together(&mut call, before)?;
                }
                Request::LeftOut => {
                    call.request = Bytes::default();
                    call.request_manifest = json!({ "turns": [], "not_sent": [] });
                }
            }
            Part::Generation(call)
        }
    })
}

impl Waiting {
    /// How long it is when it is whole, at most.
    fn length(&self) -> u64 {
        match self {
            Self::Branch(spot, _) | Self::Exchange(spot) | Self::Turn(spot) => spot.length,
            Self::Generation(spot, Request::After(after)) => spot.length + after.length,
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

/// A document.
pub struct FiledDocument {
    pub id: DocumentId,
    pub title: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// What the texts of its versions come to.
    pub bytes: u64,
    pub(super) versions: VecDeque<Spot>,
    pub(super) spool: Spool,
}

impl FiledDocument {
    /// The next version, the oldest first.
    ///
    /// # Errors
    /// As of [`FiledChat::some`].
    pub fn version(&mut self) -> Result<Option<ArchivedVersion>, String> {
        let next = self.versions.pop_front().map(|spot| self.spool.read(spot));
        next.transpose().map_err(|error| format!("versions: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_too_much_when_it_is_whole_is_left_out() {
        let spot = |length| Spot { at: 0, length };
        let mut whole = 0;
        let half = bounds::PUT_TOGETHER_BYTES / 2;
        assert!(matches!(request_of(spot(1), Some(spot(half)), &mut whole), Request::After(_)));
        assert!(matches!(request_of(spot(1), Some(spot(half)), &mut whole), Request::LeftOut));
        assert!(
            matches!(request_of(spot(1), Some(spot(half - 2)), &mut whole), Request::After(_)),
            "a shorter one may be"
        );
        assert!(matches!(request_of(spot(u64::MAX), None, &mut whole), Request::Whole));
        assert_eq!(whole, bounds::PUT_TOGETHER_BYTES);
    }
}
