//! Validation shared by connections of a person: providers and tool servers.

use turnleaf_domain::{InvalidField, limits};
use turnleaf_platform::base_url;
use turnleaf_providers::address::{is_metadata, is_public};

/// The status sentence of a connection that its owner disabled.
pub(crate) const SWITCHED_OFF: &str = "Disabled.";

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
        return Err(InvalidField::new(
            field,
            "is a cloud metadata or link-local address; connecting to it is not \
            allowed",
        ));
    }
    if !is_public(address) && !local_network {
        let reason = "must be on for an address on this machine or the local network";
        return Err(InvalidField::new("local_network", reason));
    }
    Ok(())
}
