//! Error messages about servers, for people and models. They contain only the host of an address and no headers or
//! response bodies, because those may hold API keys.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::sanitizer;
use turnleaf_domain::byte_size::ByteSize;
use turnleaf_domain::limits::TOOL_LINE_BYTES;
use turnleaf_providers::http_client::{self, guard::AddressUse};
use turnleaf_providers::redaction::SecretSet;

/// Longest message of a server that is quoted, in bytes.
const QUOTED_BYTES: usize = 2000;

/// Describes why a request got no answer.
pub fn request_error(error: &ServiceError, secrets: &SecretSet) -> String {
    match error {
        ServiceError::McpError(error) => sanitizer::clean_line(&error.message, secrets, QUOTED_BYTES),
        ServiceError::TransportSend(error) => transport(error, secrets),
        ServiceError::TransportClosed => "the connection closed".into(),
        ServiceError::Cancelled { .. } => "it was cancelled".into(),
        _ => "the response could not be read".into(),
    }
}

/// Returns whether the connection is lost and must be replaced.
pub fn is_connection_lost(error: &ServiceError) -> bool {
    match error {
        ServiceError::TransportClosed => true,
        // A single response that is too large, malformed or an HTTP error says nothing about the next.
        ServiceError::TransportSend(error) => match http(error) {
            Some(error) => matches!(
                error,
                StreamableHttpError::Client(_)
                    | StreamableHttpError::TransportChannelClosed
                    | StreamableHttpError::SessionExpired
                    | StreamableHttpError::SessionRecoveryTimeout
                    | StreamableHttpError::ReinitializationFailed(_)
            ),
            None => true,
        },
        _ => false,
    }
}

/// Returns whether the request never left this machine.
pub fn is_unsent(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    matches!(http(error), Some(StreamableHttpError::Client(error)) if error.is_connect() || error.is_builder())
}

/// Describes why a server could not be started.
pub fn start_error(error: &ClientInitializeError, secrets: &SecretSet) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => transport(error, secrets),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused to initialize: {}", sanitizer::clean_line(&error.message, secrets, QUOTED_BYTES))
        }
        ClientInitializeError::ConnectionClosed(_) => "the connection closed before it responded".into(),
        _ => "its response could not be read".into(),
    }
}

/// Describes an answer that exceeded the size limit.
pub fn answer_too_large() -> String {
    format!("the response is larger than {} and was dropped", ByteSize::from_usize(TOOL_LINE_BYTES))
}

fn http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    let error: &(dyn Error + 'static) = error.error.as_ref();
    error.downcast_ref()
}

fn transport(error: &DynamicTransportError, secrets: &SecretSet) -> String {
    match http(error) {
        Some(StreamableHttpError::Client(error)) => http_client::unreachable_reason(error, AddressUse::ToolServer),
        Some(StreamableHttpError::HttpStatus(status)) => format!("it responded with HTTP {}", status.status),
        Some(StreamableHttpError::AuthRequired(_)) => "it rejected the credentials (HTTP 401)".into(),
        Some(StreamableHttpError::InsufficientScope(_)) => "the credentials do not grant access (HTTP 403)".into(),
        Some(StreamableHttpError::ResponseBodyTooLarge { .. }) => answer_too_large(),
        // The text has the form “HTTP 302 Found: …”; the rest is the response body and is dropped.
        Some(StreamableHttpError::UnexpectedServerResponse(response)) if response.starts_with("HTTP ") => {
            let status = response.split(':').next().unwrap_or_default();
            format!("it responded with {}", sanitizer::clean_line(status, secrets, 60))
        }
        Some(StreamableHttpError::UnexpectedContentType(_)) => "its response is not MCP".into(),
        Some(StreamableHttpError::SessionExpired) => "it no longer knows the session".into(),
        Some(StreamableHttpError::TransportChannelClosed) | None => "the connection closed".into(),
        Some(_) => "the response could not be read".into(),
    }
}
