//! Ids of tool calls, for providers that give none or give one twice.

/// The id of a reply's next call: the provider's own, unless it gives none or one of the `known`. A made one consists of
/// what the response says, so that reading it again gives the same.
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
