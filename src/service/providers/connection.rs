//! Validation shared by connections of a person: providers and tool servers.

use turnleaf_domain::{InvalidField, MessageCode, limits};
use turnleaf_platform::base_url;
use turnleaf_providers::address::{is_metadata, is_public};

/// Validates a display name and trims it.
pub(crate) fn check_name(name: &str) -> Result<String, InvalidField> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > limits::TITLE_CHARS || name.chars().any(char::is_control) {
        return Err(InvalidField::invalid_name("name", limits::TITLE_CHARS));
    }
    Ok(name.to_owned())
}

/// Validates the address in `field` as far as possible without resolving names: a literal IP address must be public,
/// or the local network must be allowed; metadata addresses never are.
pub(crate) fn check_address(field: &str, url: &str, local_network: bool) -> Result<(), InvalidField> {
    let Some(address) = base_url::literal_address(url) else { return Ok(()) };
    if is_metadata(address) {
        return Err(InvalidField::new(field, MessageCode::MetadataAddress));
    }
    if !is_public(address) && !local_network {
        return Err(InvalidField::new("local_network", MessageCode::LocalNetworkNeeded));
    }
    Ok(())
}

/// Completes an address as a person typed it: one without a scheme gets HTTP where it can only be on this machine or on
/// a local network, whose servers rarely have a certificate, and HTTPS elsewhere.
pub fn complete_address(typed: &str, local_network: bool) -> String {
    let typed = typed.trim();
    if typed.is_empty() || typed.contains("://") {
        return typed.to_owned();
    }
    let plain = format!("http://{typed}");
    let is_private = base_url::literal_address(&plain).is_some_and(|address| !is_public(address));
    if local_network || is_private { plain } else { format!("https://{typed}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_address_gets_the_scheme_it_leaves_out() {
        for (typed, local_network, expected) in [
            (" api.example/v1 ", false, "https://api.example/v1"),
            ("api.example:8443", false, "https://api.example:8443"),
            ("localhost:11434", false, "http://localhost:11434"),
            ("192.168.1.7:8080/v1", false, "http://192.168.1.7:8080/v1"),
            ("[::1]:11434", false, "http://[::1]:11434"),
            ("gpu-box:8000", true, "http://gpu-box:8000"),
            ("http://api.example", false, "http://api.example"),
            ("ftp://api.example", true, "ftp://api.example"),
            ("", true, ""),
        ] {
            assert_eq!(complete_address(typed, local_network), expected, "{typed}");
        }
    }
}
