//! The words of provider calls: their status, and the format of their responses.

use serde::{Deserialize, Serialize};

/// The status of a provider call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GenerationStatus {
    Running,
    Complete,
    Cancelled,
    Error,
}

/// The format of the raw bytes of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RawKind {
    SseEvents,
    Chunks,
    StreamAndResponse,
    Response,
    /// The bytes are not kept.
    None,
}
