//! Images of an archive are drawn again, and so have other names than they have in it: whatever of a chat names them gets
//! those that they have here.

use std::collections::HashMap;

use serde_json::{Value, json};

use turnleaf_domain::{Content, Turn};
use turnleaf_interchange::archive::{ArchivedGeneration, Part};

/// How a request names an image in the place of its bytes.
const NAMED: &[u8] = b"blob:";
/// The letters of a sha256.
const SHA256_CHARS: usize = 64;

/// An image as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Here {
    sha256: String,
    mime: &'static str,
    bytes: usize,
}

/// The images of an archive that are others here, by the names that they have there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Redrawn(HashMap<String, Here>);

impl Redrawn {
    pub fn add(&mut self, there: String, sha256: &str, mime: &'static str, bytes: usize) {
        self.0.insert(there, Here { sha256: sha256.to_owned(), mime, bytes });
    }

    /// The name here of what an archive calls so.
    pub fn name_here(&self, sha256: String) -> String {
        self.0.get(&sha256).map_or(sha256, |here| here.sha256.clone())
    }

    /// A part of a chat with the names of here.
    pub fn put_right(&self, part: Part) -> Part {
        if self.0.is_empty() {
            return part;
        }
        match part {
            Part::Turn(mut turn) => {
                self.put_turn_right(&mut turn);
                Part::Turn(turn)
            }
            Part::Generation(mut generation) => {
                self.put_generation_right(&mut generation);
                Part::Generation(generation)
            }
            part @ (Part::Branch(_) | Part::Exchange(_)) => part,
        }
    }

    fn put_turn_right(&self, turn: &mut Turn) {
        for block in &mut turn.blocks {
            self.put_value_right(&mut block.block_metadata);
            match &mut block.content {
                Content::Image { blob, mime, .. } => {
                    if let Some(here) = self.0.get(blob) {
                        (*blob, *mime) = (here.sha256.clone(), here.mime.to_owned());
                    }
                }
                Content::ToolResult { metadata, .. } => self.put_value_right(metadata),
                _ => {}
            }
        }
    }

    /// What was sent of images, and the places of their bytes in the request. What the provider answered stays as it came.
    fn put_generation_right(&self, generation: &mut ArchivedGeneration) {
        self.put_value_right(&mut generation.request_manifest);
        let request = &mut generation.request.0;
        let mut at = 0;
        while let Some(found) = request[at..].windows(NAMED.len()).position(|some| some == NAMED) {
            at += found + NAMED.len();
            let there = request.get(at..at + SHA256_CHARS).and_then(|name| std::str::from_utf8(name).ok());
            if let Some(here) = there.and_then(|there| self.0.get(there)) {
                request[at..at + SHA256_CHARS].copy_from_slice(here.sha256.as_bytes());
                at += SHA256_CHARS;
            }
        }
    }

    /// Every field that is the name of such an image; beside the name of a blob also what it is and how long.
    fn put_value_right(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.put_value_right(item)),
            Value::Object(fields) => {
                let of_blob = fields.get("blob").and_then(Value::as_str).and_then(|there| self.0.get(there));
                if let Some(here) = of_blob {
                    fields.get_mut("mime").into_iter().for_each(|mime| *mime = json!(here.mime));
                    fields.get_mut("bytes").into_iter().for_each(|bytes| *bytes = json!(here.bytes));
                }
                fields.values_mut().for_each(|value| self.put_value_right(value));
            }
            Value::String(text) => {
                if let Some(here) = self.0.get(text.as_str()) {
                    *text = here.sha256.clone();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
