//! What a person says of anything that the server connects to for them, a provider or a server of tools, checked in one
//! way.

use turnleaf_domain::{InvalidField, limits};
use turnleaf_platform::base_url;
use turnleaf_providers::address::{is_metadata, is_public};

/// How one is that its owner does not want to be used.
pub(crate) const SWITCHED_OFF: &str = "It is switched off.";

/// What it is called, without white space around it.
pub(crate) fn check_name(name: &str) -> Result<String, InvalidField> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > limits::TITLE_CHARS || name.chars().any(char::is_control) {
        return Err(InvalidField::invalid_name("name", limits::TITLE_CHARS));
    }
    Ok(name.to_owned())
}

/// Whether its address, the text of `field`, may be connected to, as far as that is known without its name's addresses.
pub(crate) fn check_address(field: &str, url: &str, local_network: bool) -> Result<(), InvalidField> {
    let Some(address) = base_url::literal_address(url) else { return Ok(()) };
    if is_metadata(address) {
        return Err(InvalidField::new(field, "is a cloud metadata or link-local address, which is never connected to"));
    }
    if !is_public(address) && !local_network {
        let what = "must be switched on for an address on this machine or the local network";
        return Err(InvalidField::new("local_network", what));
    }
    Ok(())
}
