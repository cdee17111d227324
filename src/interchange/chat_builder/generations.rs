//! Builds the generation of an imported reply; only the usage that the source counted is known.

use serde_json::json;

use super::build_context::BuildContext;
use crate::archive::{ArchivedBytes, ArchivedGeneration};
use crate::domain::ModelLock;
use crate::domain::turns::turn::{Turn, TurnStatus};

pub(super) fn from_turn(turn: &Turn, lock: &ModelLock, soil: &BuildContext<'_>) -> ArchivedGeneration {
    let status = match turn.status {
        TurnStatus::Error => "error",
        TurnStatus::Cancelled => "cancelled",
        _ => "complete",
    };
    ArchivedGeneration {
        id: (soil.id)(&format!("call {}", turn.id)).into(),
        turn_id: turn.id,
        step: 0,
        provider: lock.provider.clone(),
        api: None,
        model_requested: lock.model.clone(),
        model_returned: None,
        request: ArchivedBytes::default(),
        request_manifest: json!({ "turns": [], "not_sent": [] }),
        raw_kind: "none".to_owned(),
        raw_complete: false,
        raw: None,
        status: status.to_owned(),
        stop_reason: None,
        usage: turn.usage,
        cost_micros: None,
        cost_basis: None,
        price_version: None,
        error: turn.error.clone(),
        first_token_at: None,
        started_at: turn.created_at,
        ended_at: turn.completed_at,
    }
}
