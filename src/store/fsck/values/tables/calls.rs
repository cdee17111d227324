//! The stored columns that all provider calls have: those of replies, and requests for titles.

use crate::fsck::values::columns::Replacement::{Lossy, Moment, Null, Sql, Text};
use crate::fsck::values::columns::{CheckedColumn, UNKNOWN_FAILURE, json, text, time, word};
use crate::turns::generations::GenerationStatus;
use turnleaf_domain::{CostBasis, Failure};

pub(super) const CALL_COLUMNS: &[CheckedColumn] = &[
    text("provider", Lossy),
    text("api", Lossy),
    text("model_requested", Lossy),
    text("model_returned", Lossy),
    word::<GenerationStatus>(
        "status",
        Sql("CASE WHEN ended_at IS NULL THEN 'running' WHEN error IS NULL THEN 'complete' ELSE 'error' END"),
    ),
    text("stop_reason", Lossy),
    json::<Failure>("error", Text(UNKNOWN_FAILURE)),
    word::<CostBasis>("cost_basis", Null),
    text("price_version", Lossy),
    time("first_token_at", Null),
    time("started_at", Moment),
    time("ended_at", Moment),
];
