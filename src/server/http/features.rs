//! Capability discovery for API clients: feature flags and the version of the WebSocket protocol.

use serde::Serialize;

use crate::server::http::request::json::ApiJson;

/// The subprotocol of `GET /api/chats/{id}/ws`, with its version. Clients that offer none get the same messages.
pub const SOCKET_PROTOCOL: &str = "turnleaf.v1";

/// Feature flags, for clients that support several servers or versions.
#[derive(Debug, Clone, Copy, Serialize, utoipa::ToSchema)]
pub struct FeatureFlags {
    /// Chats consist of content blocks: `/api/chats/{id}/blocks` and the block messages of the WebSocket are available
    /// and replace `/api/chats/{id}/messages`.
    content_blocks: bool,
}

impl FeatureFlags {
    /// The features of this version.
    pub const CURRENT: Self = Self { content_blocks: true };
}

/// The features of the server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ServerFeatures {
    /// True for each feature that clients may use. A feature that is absent is not available.
    features: FeatureFlags,
    /// The WebSocket subprotocols that the server speaks, newest last.
    socket_protocols: [&'static str; 1],
}

/// `GET /api/features`.
pub async fn show() -> ApiJson<ServerFeatures> {
    ApiJson(ServerFeatures { features: FeatureFlags::CURRENT, socket_protocols: [SOCKET_PROTOCOL] })
}
