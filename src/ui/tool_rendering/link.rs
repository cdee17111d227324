//! Links out of the page: what they carry along, and where a blob of ours is.

use crate::ui::markdown::Attribute;

/// Nothing about the chat goes with the click, and the page that opens cannot reach back.
pub const REL: (Attribute, &str) = (Attribute::Rel, "noopener noreferrer nofollow external");
pub const NEW_TAB: (Attribute, &str) = (Attribute::Target, "_blank");

/// Where a blob is. Its name is its hash; anything else would lead elsewhere.
pub fn blob_address(blob: &str) -> Option<String> {
    let is_hash = blob.len() == 64 && blob.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| format!("/api/blobs/{blob}"))
}
