//! Notes about what a fitted schema does not state.

use serde_json::Value;

/// Longest note, in bytes.
pub const NOTE_BYTES: usize = 2 << 10;

/// Describes a keyword that is left out.
pub fn note(keyword: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.len() > NOTE_BYTES {
        true => format!("{keyword}: {}…", &text[..text.floor_char_boundary(NOTE_BYTES)]),
        false => format!("{keyword}: {text}"),
    }
}
