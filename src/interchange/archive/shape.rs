//! What is held of the parts of a chat while it is looked at: no more than what others hang on.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::ArchivedGeneration;
use crate::domain::turn::Role;
use crate::domain::{BranchId, ChatId, ExchangeId, GenerationId, ImportOrigin, TurnId, limits};

/// What others hang on of a turn.
pub(super) struct TurnShape {
    pub id: TurnId,
    pub ord: i64,
    pub depth: i64,
    pub chat: ChatId,
    pub branch: BranchId,
    pub exchange: ExchangeId,
    pub prev: Option<TurnId>,
    pub role: Role,
}

/// A call without its bytes, which are not made anything of before it is stored.
#[derive(Deserialize)]
pub(super) struct CallShape {
    pub id: GenerationId,
    pub turn_id: TurnId,
    pub status: String,
    pub raw_kind: String,
    #[serde(default)]
    pub ended_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub after: Option<DeltaShape>,
}

/// The earlier call that the request of one is written after.
#[derive(Deserialize)]
pub(super) struct DeltaShape {
    pub generation: GenerationId,
}

impl CallShape {
    pub fn from_generation(call: &ArchivedGeneration) -> Self {
        let (status, raw_kind) = (call.status.clone(), call.raw_kind.clone());
        Self { id: call.id, turn_id: call.turn_id, status, raw_kind, ended_at: call.ended_at, after: None }
    }
}

/// A call, with the turn that it is of, and by its number the one that it is written after.
#[derive(Clone, Copy)]
pub(super) struct CheckedCall {
    pub turn: TurnId,
    pub after: Option<usize>,
}

pub(super) struct BranchShape {
    pub id: BranchId,
    pub chat: ChatId,
    pub parent: Option<BranchId>,
    pub fork: Option<TurnId>,
    pub head: Option<TurnId>,
    pub is_locked: bool,
}

pub(super) struct ExchangeShape {
    pub chat: ChatId,
    pub branch: BranchId,
    pub message: Option<TurnId>,
}

/// Where a chat came from is not more than it may be.
pub(super) fn check_source(source: Option<&ImportOrigin>) -> Result<(), String> {
    let Some(source) = source else { return Ok(()) };
    let lengths = source.differences.iter().flat_map(|one| [one.place.len(), one.text.len()]);
    let longest = lengths.chain([source.format.len(), source.file.len()]).max().unwrap_or_default();
    if source.differences.len() > limits::DIFFERENCES || longest > limits::DIFFERENCE_BYTES {
        let (most, bytes) = (limits::DIFFERENCES, limits::DIFFERENCE_BYTES);
        return Err(format!("imported_from: at most {most} differences of {bytes} bytes"));
    }
    Ok(())
}
