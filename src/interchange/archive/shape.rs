//! Compact forms of a chat's parts for validation: only the fields that other parts refer to.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::ArchivedGeneration;
use crate::domain::turns::turn::Role;
use crate::domain::{BranchId, ChatId, ExchangeId, GenerationId, ImportOrigin, TurnId, limits};

/// The fields of a turn that other parts refer to.
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

/// A generation without its bytes, which are not parsed before it is stored.
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

/// The base of a request that is stored as a delta.
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

/// A generation with its turn and the index of its delta base.
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
}

pub(super) struct ExchangeShape {
    pub chat: ChatId,
    pub branch: BranchId,
    pub message: Option<TurnId>,
}

/// Validates the size of the import origin.
pub(super) fn check_source(source: Option<&ImportOrigin>) -> Result<(), String> {
    let Some(source) = source else { return Ok(()) };
    let lengths = source.differences.iter().flat_map(|one| {
        let code = one.code.as_ref().map_or(0, String::len);
        let args = one.args.iter().map(|(name, value)| name.len() + value.len()).sum();
        [one.place.len(), one.text.len(), code, args]
    });
    let longest = lengths.chain([source.format.len(), source.file.len()]).max().unwrap_or_default();
    if source.differences.len() > limits::DIFFERENCES || longest > limits::DIFFERENCE_BYTES {
        let (most, bytes) = (limits::DIFFERENCES, limits::DIFFERENCE_BYTES);
        return Err(format!("imported_from: at most {most} differences of {bytes} bytes"));
    }
    Ok(())
}
