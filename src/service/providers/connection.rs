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
