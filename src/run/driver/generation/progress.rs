//! The state of a generation in progress.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use turnleaf_domain::{GenerationId, Usage};
use turnleaf_providers::builder::BlockBuilder;

/// A generation in progress.
pub(in crate::driver) struct GenerationProgress {
    pub id: GenerationId,
    pub began: Instant,
    pub builder: BlockBuilder,
    pub raw: Vec<u8>,
    /// Snapshot of the setting for raw bytes, taken when the call began.
    pub keeps_raw: bool,
    pub usage: Usage,
    /// The cost that the provider reports, in millionths of a US dollar.
    pub reported_micros: Option<u64>,
    /// The provider refused the request, or could not be reached.
    pub is_refused: bool,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    /// The id under which the provider keeps the response.
    pub response_id: Option<String>,
    pub first_token_at: Option<DateTime<Utc>>,
    /// Content was shown; from here on the request is not retried.
    pub has_content: bool,
    /// The tokens of the request, estimated.
    pub request_tokens: u64,
}
