//! What chunks hold beside text, reasoning and calls: citations, sources, keys that nobody has heard of. It is kept as it
//! came, as blocks that are not drawn, and never cuts a text in two.

use serde_json::{Map, Value};

use crate::server::outbound::provider::Item;

/// Keys of a delta that are read elsewhere, or say nothing.
const KNOWN: [&str; 11] = [
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "reasoning_details",
    "token_ids",
    "provider_specific_fields",
];

/// What waits for a place to stand.
#[derive(Debug, Default)]
pub struct Extras {
    /// For the next seam between two blocks.
    waiting: Vec<Map<String, Value>>,
    /// Sources that some servers repeat on every chunk; the last ones count.
    sources: Map<String, Value>,
}

impl Extras {
    /// Takes the sources beside the choices of a chunk.
    pub fn sources_of(&mut self, chunk: &Value) {
        for name in ["citations", "search_results"] {
            if let Some(Value::Array(list)) = chunk.get(name)
                && !list.is_empty()
            {
                self.sources.insert(name.into(), Value::Array(list.clone()));
            }
        }
    }

    /// Takes the lists and objects of a delta under keys that are not known, each piece for itself.
    pub fn keys_of(&mut self, delta: &Value) {
        for (key, value) in delta.as_object().into_iter().flatten() {
            let pieces = match value {
                Value::Array(pieces) => pieces.as_slice(),
                Value::Object(fields) if !fields.is_empty() => std::slice::from_ref(value),
                _ => continue,
            };
            if !KNOWN.contains(&key.as_str()) {
                let name = if key == "annotations" { "citation" } else { key };
                self.waiting.extend(pieces.iter().map(|piece| opaque(name, piece)));
            }
        }
    }

    /// Takes a part of a content array that is neither text nor reasoning.
    pub fn part(&mut self, part: &Value) {
        self.waiting.push(opaque("part", part));
    }

    /// A place between two blocks.
    pub fn seam(&mut self, out: &mut Vec<Item>) {
        out.extend(self.waiting.drain(..).map(Item::Opaque));
    }

    /// The body is over.
    pub fn end(&mut self, out: &mut Vec<Item>) {
        self.seam(out);
        if !self.sources.is_empty() {
            let mut map = kind("x:sources");
            map.append(&mut self.sources);
            out.push(Item::Opaque(map));
        }
    }
}

fn kind(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(name))])
}

/// The content of an `x:` block: the piece as it came, under a key of its own.
fn opaque(name: &str, piece: &Value) -> Map<String, Value> {
    let mut map = kind(&format!("x:{name}"));
    map.insert("value".into(), piece.clone());
    map
}
