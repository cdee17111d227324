//! What stands beside the parts of a candidate: where its words come from. It is kept as it came and given out at the
//! end, because it speaks of the whole text (providers.md 7.3).

use serde_json::{Map, Value};

use crate::server::outbound::provider::Item;

/// Keys of a candidate whose last value counts.
const LAST_COUNTS: [&str; 2] = ["groundingMetadata", "urlContextMetadata"];

/// The sources of one reply.
#[derive(Debug, Default)]
pub struct Sources {
    /// Of `citationMetadata`: every chunk has its own.
    citations: Vec<Value>,
    last: Map<String, Value>,
}

impl Sources {
    /// Takes what a candidate of one chunk has.
    pub fn take(&mut self, candidate: &Value) {
        let metadata = candidate.get("citationMetadata");
        let citations = ["citationSources", "citations"].into_iter().find_map(|key| metadata?.get(key)?.as_array());
        for citation in citations.into_iter().flatten() {
            if !self.citations.contains(citation) {
                self.citations.push(citation.clone());
            }
        }
        for key in LAST_COUNTS {
            if let Some(value) = candidate.get(key).filter(|value| value.as_object().is_some_and(|map| !map.is_empty()))
            {
                self.last.insert(key.to_owned(), value.clone());
            }
        }
    }

    /// The body is over: gives everything out.
    pub fn end(&mut self, out: &mut Vec<Item>) {
        out.extend(self.citations.drain(..).map(|citation| Item::Opaque(opaque("citation", citation))));
        out.extend(std::mem::take(&mut self.last).into_iter().map(|(key, value)| Item::Opaque(opaque(&key, value))));
    }
}

/// The content of an `x:` block: the piece as it came, under a key of its own.
pub fn opaque(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(format!("x:{name}"))), ("value".to_owned(), value)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn citations_add_up_and_grounding_is_replaced() {
        let mut sources = Sources::default();
        for candidate in [
            json!({"citationMetadata": {"citationSources": [{"uri": "a"}]}, "groundingMetadata": {}}),
            json!({"citationMetadata": {"citationSources": [{"uri": "a"}, {"uri": "b"}]}, "groundingMetadata": {"n": 1}}),
            json!({"groundingMetadata": {"n": 2}}),
        ] {
            sources.take(&candidate);
        }
        let mut out = Vec::new();
        sources.end(&mut out);
        sources.end(&mut out);
        let expected = [
            opaque("citation", json!({"uri": "a"})),
            opaque("citation", json!({"uri": "b"})),
            opaque("groundingMetadata", json!({"n": 2})),
        ];
        assert_eq!(out, expected.map(Item::Opaque));
    }
}
