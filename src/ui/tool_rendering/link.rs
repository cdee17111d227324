//! Attributes of external links, and the addresses of blobs.

use crate::ui::markdown::Attribute;

/// Attributes of external links: the click reveals nothing about the chat, and the opened page cannot reach back.
pub const REL: (Attribute, &str) = (Attribute::Rel, "noopener noreferrer nofollow external");
pub const NEW_TAB: (Attribute, &str) = (Attribute::Target, "_blank");

/// Returns the address of a blob. Its name is its hash; anything else would lead elsewhere.
pub fn blob_address(blob: &str) -> Option<String> {
    let is_hash = blob.len() == 64 && blob.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| format!("/api/blobs/{blob}"))
}
