//! The merge rule (domain.md 4.6): consecutive parts with reasoning become one, without losing anything they carry.

/// Joins pieces of reasoning by a blank line, skipping those that say nothing.
pub fn join_reasoning<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for piece in pieces.into_iter().filter(|piece| !piece.trim().is_empty()) {
        if !joined.is_empty() {
            joined.push_str("\n\n");
        }
        joined.push_str(piece);
    }
    joined
}
