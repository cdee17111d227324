//! What a tool said, made into what is stored: cleaned of what no page and no database takes, inside its bounds, its
//! images and its excess as blobs.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::toolbox::{Fate, Outcome};

/// One part of what a tool said, in its order.
#[derive(Debug, Clone)]
pub enum Part {
    Text(String),
    Image {
        mime: String,
        bytes: Bytes,
    },
    /// Bytes of another kind (sound, a file).
    Other {
        mime: String,
        bytes: Bytes,
    },
}

/// A result out of the parts that a tool gave, and of its structured content where it has any.
pub fn outcome(fate: Fate, parts: Vec<Part>, structured: Option<Value>) -> Outcome {
    let text: Vec<String> =
        parts.into_iter().filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None }).collect();
    let result = structured.unwrap_or_else(|| Value::String(text.join("\n\n")));
    Outcome { fate, result, metadata: Map::new(), blobs: Vec::new() }
}

/// A result that is one text of ours: an error, a refusal.
pub fn said(fate: Fate, text: &str) -> Outcome {
    outcome(fate, vec![Part::Text(text.to_owned())], None)
}
