//! Tool calls of providers that omit or repeat ids, or omit names.

use serde_json::{Map, Value, json};

/// Returns a unique id for the next call of a reply: the provider's own, unless it is blank or one of the `known`.
/// Generated ids are derived from the response, so that decoding it again gives the same ids.
pub fn unique_call_id(id: &str, known: &[String], response_id: &str) -> String {
    let base = match (id.trim().is_empty(), response_id.is_empty()) {
        (false, _) if !known.iter().any(|known| known == id) => return id.to_owned(),
        (false, _) => id.to_owned(),
        (true, false) => format!("call-{response_id}"),
        (true, true) => "call".to_owned(),
    };
    let mut number = known.len();
    loop {
        let candidate = format!("{base}-{number}");
        if !known.contains(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// Returns the content of the opaque block for a call without a name, which can be neither run nor sent back
/// (docs/reference/providers.md 2.3).
pub fn nameless_call_content(id: &str, arguments: &str) -> Map<String, Value> {
    let value = json!({"id": id, "arguments": arguments});
    Map::from_iter([("type".to_owned(), "x:nameless_call".into()), ("value".to_owned(), value)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_blank_ids_are_replaced() {
        let mut known: Vec<String> = Vec::new();
        for (id, expected) in [
            ("a-2", "a-2"),
            ("a", "a"),
            ("a", "a-3"),
            ("a-2", "a-2-3"),
            ("", "call-r-4"),
            (" \t", "call-r-5"),
            ("a-3", "a-3-6"),
        ] {
            let unique = unique_call_id(id, &known, "r");
            assert_eq!(unique, expected, "{id:?} after {known:?}");
            known.push(unique);
        }
        assert_eq!(unique_call_id("", &[], ""), "call-0");
        assert_eq!(unique_call_id("", &["call-1".into()], ""), "call-2", "an id that the provider chose");
    }
}
