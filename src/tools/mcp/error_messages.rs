//! Error messages about servers, for people and models. They contain only the host of an address and no headers or
//! response bodies, because those may hold API keys.

use std::error::Error;

use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Value, json};

use super::sanitizer;
use turnleaf_domain::limits::{SERVER_LINE_BYTES, TOOL_LINE_BYTES};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_providers::http_client::{self, guard::AddressUse};
use turnleaf_providers::redaction::SecretSet;

/// The code of an error that asks a person to open addresses first.
pub const URL_REQUIRED: i32 = -32042;

/// The members of an error's data with the status of the HTTP response that it came with, and with its own data.
const STATUS: &str = "turnleaf.httpStatus";
const OWN_DATA: &str = "turnleaf.data";

/// Adds the status of its HTTP response to an error.
pub fn with_status(mut error: ErrorData, status: u16) -> ErrorData {
    let own = error.data.take();
    error.data = Some(json!({ STATUS: status, OWN_DATA: own }));
    error
}

/// Returns the status of the HTTP response that an error came with, where it was added.
pub fn status_of_error(error: &ErrorData) -> Option<u64> {
    error.data.as_ref()?.get(STATUS)?.as_u64()
}

/// Returns the data that the server sent with an error.
fn own_data(error: &ErrorData) -> Option<&Value> {
    let data = error.data.as_ref()?;
    let own = if status_of_error(error).is_some() { &data[OWN_DATA] } else { data };
    (!own.is_null()).then_some(own)
}

/// Describes why a request got no answer, as a part of a sentence. The words of a server have no code.
pub fn request_error(error: &ServiceError, secrets: &SecretSet) -> CodedMessage {
    match error {
        ServiceError::McpError(error) => CodedMessage::uncoded(server_error(error, secrets)),
        ServiceError::TransportSend(error) => transport(error, secrets),
        ServiceError::TransportClosed => MessageCode::ConnectionClosed.into(),
        ServiceError::Cancelled { .. } => MessageCode::RequestCancelled.into(),
        _ => MessageCode::ResponseUnreadable.into(),
    }
}

/// Returns the message of a server's error with its details. An error that asks a person to open addresses names them.
fn server_error(error: &ErrorData, secrets: &SecretSet) -> String {
    let line = |text: &str| sanitizer::clean_line(text, secrets, SERVER_LINE_BYTES);
    let message = line(&error.message);
    let Some(data) = own_data(error) else { return message };
    let asked = data.get("elicitations").and_then(Value::as_array).into_iter().flatten();
    let addresses: Vec<String> = asked
        .filter_map(|asked| {
            let url = line(asked.get("url")?.as_str()?);
            let why = line(asked.get("message").and_then(Value::as_str).unwrap_or_default());
            Some(if why.is_empty() { url } else { format!("{url} ({why})") })
        })
        .collect();
    if error.code.0 == URL_REQUIRED && !addresses.is_empty() {
        return format!("{message} The user must open: {}", addresses.join(", "));
    }
    let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    format!("{message} ({})", line(&data))
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

/// Returns whether the server refused the request for its token, without executing it.
pub fn is_unauthorized(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    matches!(http(error), Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)))
}

/// Describes why a server could not be started, as a part of a sentence.
pub fn start_error(error: &ClientInitializeError, secrets: &SecretSet) -> CodedMessage {
    match error {
        ClientInitializeError::TransportError { error, .. } => transport(error, secrets),
        ClientInitializeError::JsonRpcError(error) => CodedMessage::from(MessageCode::InitializeRefused)
            .with_cause(CodedMessage::uncoded(server_error(error, secrets))),
        ClientInitializeError::ConnectionClosed(_) => MessageCode::ClosedBeforeResponse.into(),
        _ => MessageCode::StartUnreadable.into(),
    }
}

/// Describes an answer that exceeded the size limit.
pub fn answer_too_large() -> CodedMessage {
    MessageCode::ResponseTooLarge.with("limit", ByteSize::from_usize(TOOL_LINE_BYTES))
}

/// Returns the status of an HTTP response that failed a handshake.
pub fn http_status(error: &DynamicTransportError) -> Option<u16> {
    match http(error)? {
        StreamableHttpError::HttpStatus(status) => Some(status.status),
        StreamableHttpError::UnexpectedServerResponse(said) => said.strip_prefix("HTTP ")?.get(..3)?.parse().ok(),
        _ => None,
    }
}

fn http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    let error: &(dyn Error + 'static) = error.error.as_ref();
    error.downcast_ref()
}

fn transport(error: &DynamicTransportError, secrets: &SecretSet) -> CodedMessage {
    match http(error) {
        Some(StreamableHttpError::Client(error)) => http_client::unreachable_reason(error, AddressUse::ToolServer),
        Some(StreamableHttpError::HttpStatus(status)) => MessageCode::ResponseStatus.with("status", status.status),
        Some(StreamableHttpError::AuthRequired(_)) => MessageCode::CredentialsRejected.into(),
        Some(StreamableHttpError::InsufficientScope(_)) => MessageCode::AccessDenied.into(),
        Some(StreamableHttpError::ResponseBodyTooLarge { .. }) => answer_too_large(),
        // The text has the form “HTTP 302 Found: …”; the rest is the response body and is dropped.
        Some(StreamableHttpError::UnexpectedServerResponse(response)) if response.starts_with("HTTP ") => {
            let status = response["HTTP ".len()..].split(':').next().unwrap_or_default();
            MessageCode::ResponseStatus.with("status", sanitizer::clean_line(status, secrets, 60))
        }
        Some(StreamableHttpError::UnexpectedContentType(_)) => MessageCode::ResponseNotMcp.into(),
        Some(StreamableHttpError::SessionExpired) => MessageCode::SessionUnknown.into(),
        Some(StreamableHttpError::TransportChannelClosed) | None => MessageCode::ConnectionClosed.into(),
        Some(_) => MessageCode::ResponseUnreadable.into(),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn server_error_shows_its_details_and_addresses() {
        let secrets = SecretSet::new(["9f8e7d6c5b4a3f2e".into()]);
        let url = "https://auth.example/connect?x=1";
        for (code, data, expected) in [
            (-32000, json!(null), "Limited."),
            (-32000, json!("Wait 30 s"), "Limited. (Wait 30 s)"),
            (-32000, json!({ "retry_after": 30 }), r#"Limited. ({"retry_after":30})"#),
            (-32000, json!({ "key": "9f8e7d6c5b4a3f2e" }), r#"Limited. ({"key":"[removed]"})"#),
            (
                -32042,
                json!({ "elicitations": [{ "mode": "url", "url": url, "message": "Sign in." }] }),
                "Limited. The user must open: https://auth.example/connect?x=1 (Sign in.)",
            ),
        ] {
            let error = ErrorData::new(ErrorCode(code), "Limited.", Some(data).filter(|data| !data.is_null()));
            for error in [error.clone(), with_status(error, 400)] {
                assert_eq!(request_error(&ServiceError::McpError(error), &secrets).to_string(), expected);
            }
        }
    }
}
