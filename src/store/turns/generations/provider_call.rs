//! A provider call and its end: what calls for replies (`generations`) and requests for titles (`title_requests`) have in
//! common, and the columns of it.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{GenerationStatus, RawKind, raw};
use crate::database::deferred_write::DeferredWrite;
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, time_of_id};
use crate::database::rows::{UsageRow, parse_word, to_bigint, to_unsigned, to_word};
use turnleaf_domain::{Charge, CostBasis, Failure, GenerationId, SpendingAmount, TurnId, Usage};

/// The columns of [`ProviderCallRow`], of a call `g`.
macro_rules! call_columns {
    () => {
        "g.provider, g.model_requested, g.model_returned, g.raw_sha256, g.raw_bytes, g.raw_complete, g.status, \
         g.stop_reason, g.input_tokens, g.output_tokens, g.cache_read_tokens, g.cache_write_tokens, g.reasoning_tokens, \
         g.cost_micros, g.cost_basis, g.price_version, g.error, g.first_token_at, g.started_at, g.ended_at"
    };
}
/// The assignments that end the call $1, whose values [`bind_end`] binds: parameters up to $19.
macro_rules! call_end {
    () => {
        "status = $2, raw_complete = $3, model_returned = $4, stop_reason = $5, input_tokens = $6, output_tokens = $7, \
         cache_read_tokens = $8, cache_write_tokens = $9, reasoning_tokens = $10, error = $11, first_token_at = $12, \
         ended_at = $13, cost_micros = $14, cost_basis = $15, price_version = $16, raw_response = $17, raw_sha256 = $18, \
         raw_bytes = $19"
    };
}
pub(crate) use {call_columns, call_end};

/// The end of a provider call.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationEnd {
    pub id: GenerationId,
    /// Never `Running`.
    pub status: GenerationStatus,
    /// True if the response is complete; only then may it be replayed to its model.
    pub raw_complete: bool,
    pub model_returned: Option<String>,
    /// The provider's own word for it.
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// `None` if it is unknown.
    pub charge: Option<Charge>,
    pub error: Option<Failure>,
    pub first_token_at: Option<DateTime<Utc>>,
    pub ended_at: DateTime<Utc>,
    /// The least that the call counts in budgets, where its provider has not reported everything.
    pub estimate: Option<SpendingAmount>,
    /// The whole response, if the caller still has it and it is small: then its pieces need not be read again.
    pub body: Option<Bytes>,
}

impl GenerationEnd {
    /// Returns the response to pack together with the end.
    pub(super) fn small_body(&self) -> Option<&Bytes> {
        self.body.as_ref().filter(|body| !body.is_empty() && body.len() <= raw::PACKED_AT_ONCE)
    }

    /// Returns what the call counts in budgets.
    pub(crate) fn counted(&self) -> SpendingAmount {
        let Usage { input_tokens, output_tokens, .. } = self.usage;
        let tokens = input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        let micros = self.charge.as_ref().map_or(0, |charge| charge.micros);
        let least = self.estimate.unwrap_or_default();
        SpendingAmount { tokens: tokens.max(least.tokens), micros: micros.max(least.micros), requests: 1 }
    }

    /// Returns whether the pieces of the response no longer need to be stored.
    pub fn has_small_body(&self) -> bool {
        self.small_body().is_some()
    }
}

/// A stored provider call, without its bodies.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Generation {
    pub id: GenerationId,
    pub turn_id: TurnId,
    pub step: u32,
    pub provider: String,
    pub model_requested: String,
    pub model_returned: Option<String>,
    pub request_manifest: Value,
    /// The sha256 and the length in bytes of the raw response; null while it arrives and if it is not kept.
    pub raw_sha256: Option<Vec<u8>>,
    pub raw_bytes: Option<u64>,
    pub raw_kind: RawKind,
    pub raw_complete: bool,
    pub status: GenerationStatus,
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// The cost in millionths of a US dollar; null if it is unknown.
    pub cost_micros: Option<u64>,
    pub cost_basis: Option<CostBasis>,
    /// The price list with which the cost was computed.
    pub price_version: Option<String>,
    pub error: Option<Failure>,
    pub first_token_at: Option<DateTime<Utc>>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

pub(crate) struct ProviderCallRow {
    provider: String,
    model_requested: String,
    model_returned: Lossy<Option<String>>,
    raw_sha256: Option<Vec<u8>>,
    raw_bytes: Option<i64>,
    raw_complete: bool,
    status: String,
    stop_reason: Lossy<Option<String>>,
    usage: UsageRow,
    cost_micros: Option<i64>,
    cost_basis: Option<String>,
    price_version: Lossy<Option<String>>,
    error: Lossy<Option<Json<Failure>>>,
    first_token_at: Lossy<Option<DateTime<Utc>>>,
    started_at: Lossy<DateTime<Utc>>,
    ended_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(ProviderCallRow {
    provider,
    model_requested,
    model_returned,
    raw_sha256,
    raw_bytes,
    raw_complete,
    status,
    stop_reason,
    usage: flatten,
    cost_micros,
    cost_basis,
    price_version,
    error,
    first_token_at,
    started_at,
    ended_at,
});

impl ProviderCallRow {
    /// Returns the call as the first of its turn, with an empty manifest and a response in the usual form: tables that
    /// store these replace them.
    pub(crate) fn into_generation(
        self,
        table: &'static str,
        id: Uuid,
        turn_id: Uuid,
    ) -> Result<Generation, StoreError> {
        Ok(Generation {
            id: id.into(),
            turn_id: turn_id.into(),
            step: 0,
            provider: self.provider,
            model_requested: self.model_requested,
            model_returned: self.model_returned.unwrap_or_default(table, "model_returned", id),
            request_manifest: Value::Null,
            raw_sha256: self.raw_sha256,
            raw_bytes: self.raw_bytes.map(to_unsigned),
            raw_kind: RawKind::SseEvents,
            raw_complete: self.raw_complete,
            status: parse_word(self.status, table, "status", id)?,
            stop_reason: self.stop_reason.unwrap_or_default(table, "stop_reason", id),
            usage: self.usage.into(),
            cost_micros: self.cost_micros.map(to_unsigned),
            cost_basis: match self.cost_basis {
                Some(word) => Some(parse_word::<CostBasis>(word, table, "cost_basis", id)?),
                None => None,
            },
            price_version: self.price_version.unwrap_or_default(table, "price_version", id),
            error: self.error.unwrap_or_log(table, "error", id, || None).map(|Json(error)| error),
            first_token_at: self.first_token_at.unwrap_or_default(table, "first_token_at", id),
            started_at: self.started_at.unwrap_or_log(table, "started_at", id, || time_of_id(id)),
            ended_at: self.ended_at.unwrap_or_default(table, "ended_at", id),
        })
    }
}

/// Binds the first 19 values of a statement with [`call_end`]; `body` is the response that is packed with the end.
pub(crate) fn bind_end<'t>(
    update: DeferredWrite<'t>,
    end: &GenerationEnd,
    body: Option<&Bytes>,
) -> Result<DeferredWrite<'t>, StoreError> {
    // Strings of the provider are cleaned, so that they never make the ending fail.
    let cleaned = |text: &str| text.replace('\0', "\u{2400}");
    let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(end.usage).counts();
    let packed = body.map(|body| raw::compress(body)).transpose()?;
    let (body, digest) = packed.map(|packed| (packed.bytes, (packed.sha256, packed.length))).unzip();
    let (sha256, length) = digest.unzip();
    let charge = end.charge.as_ref();
    let update = update.bind(end.id.uuid()).bind(to_word(end.status)).bind(end.raw_complete);
    let update = update.bind(end.model_returned.as_deref().map(cleaned)).bind(end.stop_reason.as_deref().map(cleaned));
    let update = update.bind(input).bind(output).bind(cache_read).bind(cache_write).bind(reasoning);
    let update = update.bind(end.error.clone().map(Json)).bind(end.first_token_at).bind(end.ended_at);
    let update = update.bind(charge.map(|charge| to_bigint(charge.micros)));
    let update = update.bind(charge.map(|charge| to_word(charge.basis)));
    let update = update.bind(charge.and_then(|charge| charge.price_version.clone()));
    Ok(update.bind(body).bind(sha256).bind(length))
}
