//! Ids of tool calls, for providers that omit or repeat them.

/// Returns a unique id for the next call of a reply: the provider's own, unless it is empty or one of the `known`.
/// Generated ids are derived from the response, so that decoding it again gives the same ids.
pub fn unique_call_id<'a>(id: &str, mut known: impl ExactSizeIterator<Item = &'a String>, response_id: &str) -> String {
    let at = known.len();
    match (id.is_empty(), response_id.is_empty()) {
        (false, _) => match known.any(|known| known == id) {
            true => format!("{id}-{at}"),
            false => id.to_owned(),
        },
        (true, false) => format!("call-{response_id}-{at}"),
        (true, true) => format!("call-{at}"),
    }
}
