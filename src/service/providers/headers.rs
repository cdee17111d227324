//! Validation of extra headers, shared by providers and tool servers.

use secrecy::{ExposeSecret, SecretString};

use turnleaf_domain::{CodedMessage, InvalidField, MessageCode, limits};
use turnleaf_platform::base_url;

/// Names and values of headers.
pub type SecretHeaders = Vec<(String, SecretString)>;

/// Validates headers and returns them with trimmed names in lower case. `own` are names that cannot be set for this
/// kind of address, in addition to those that can never be set.
///
/// # Errors
/// Too many headers; a name that is invalid, reserved or duplicated; a value that cannot be sent.
pub(crate) fn check_headers(headers: SecretHeaders, own: &[&str]) -> Result<SecretHeaders, InvalidField> {
    let wrong = |why: CodedMessage| Err(InvalidField::new("headers", why));
    if headers.len() > limits::PROVIDER_HEADERS {
        return wrong(MessageCode::TooMany.with("most", limits::PROVIDER_HEADERS));
    }
    let mut checked = SecretHeaders::new();
    for (name, value) in headers {
        let name = name.trim().to_ascii_lowercase();
        if !base_url::is_header_token(&name) {
            return wrong(MessageCode::HeaderNameInvalid.into());
        }
        if !base_url::is_settable_header(&name) || own.contains(&name.as_str()) {
            return wrong(MessageCode::HeaderReserved.with("name", name));
        }
        let text = value.expose_secret().trim();
        let is_sendable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if text.is_empty() || text.len() > limits::PROVIDER_KEY_BYTES || !is_sendable {
            return wrong(MessageCode::HeaderValueInvalid.with("name", name));
        }
        if checked.iter().any(|(known, _)| *known == name) {
            return wrong(MessageCode::HeaderTwice.with("name", name));
        }
        checked.push((name, SecretString::from(text)));
    }
    Ok(checked)
}
