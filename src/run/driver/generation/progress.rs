//! A generation while it runs.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use turnleaf_domain::{GenerationId, Usage};
use turnleaf_providers::builder::BlockBuilder;

/// What is known of a generation while it runs.
pub(in crate::driver) struct GenerationProgress {
    pub id: GenerationId,
    pub began: Instant,
    pub builder: BlockBuilder,
    pub raw: Vec<u8>,
    pub usage: Usage,
    /// What the provider says that it cost, in millionths of a US dollar.
    pub reported_micros: Option<u64>,
    /// The provider refused the request, or could not be reached.
    pub is_refused: bool,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    /// Under which id the provider keeps the response.
    pub response_id: Option<String>,
    pub first_token_at: Option<DateTime<Utc>>,
    /// Something was shown: from here on nothing is tried again.
    pub has_content: bool,
    pub reply_bytes: u64,
}
