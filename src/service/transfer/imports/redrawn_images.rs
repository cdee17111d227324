//! Images of an archive are drawn again, and so have other names than they have in it: whatever of a chat names them gets
//! those that they have here.

use std::collections::HashMap;

use serde_json::{Value, json};

use turnleaf_domain::{Content, Turn};
use turnleaf_interchange::archive::{ArchivedGeneration, ChatPart};

/// How a request names an image in the place of its bytes.
const NAMED: &[u8] = b"blob:";
/// The letters of a sha256.
const SHA256_CHARS: usize = 64;

/// An image as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RedrawnImage {
    sha256: String,
    mime: &'static str,
    bytes: usize,
}

/// The images of an archive that are others here, by the names that they have there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RedrawnImages(HashMap<String, RedrawnImage>);

impl RedrawnImages {
    pub fn add(&mut self, there: String, sha256: &str, mime: &'static str, bytes: usize) {
        self.0.insert(there, RedrawnImage { sha256: sha256.to_owned(), mime, bytes });
    }

    /// The name here of what an archive calls so.
    pub fn local_name(&self, sha256: String) -> String {
        self.0.get(&sha256).map_or(sha256, |here| here.sha256.clone())
    }

    /// A part of a chat with the names of here.
    pub fn rename_in_part(&self, part: ChatPart) -> ChatPart {
        if self.0.is_empty() {
            return part;
        }
        match part {
            ChatPart::Turn(mut turn) => {
                self.rename_in_turn(&mut turn);
                ChatPart::Turn(turn)
            }
            ChatPart::Generation(mut generation) => {
                self.rename_in_generation(&mut generation);
                ChatPart::Generation(generation)
            }
            part @ (ChatPart::Branch(_) | ChatPart::Exchange(_)) => part,
        }
    }

    fn rename_in_turn(&self, turn: &mut Turn) {
        for block in &mut turn.blocks {
            self.rename_in_value(&mut block.block_metadata);
            match &mut block.content {
                Content::Image { blob, mime, .. } => {
                    if let Some(here) = self.0.get(blob) {
                        (*blob, *mime) = (here.sha256.clone(), here.mime.to_owned());
                    }
                }
                Content::ToolResult { metadata, .. } => self.rename_in_value(metadata),
                _ => {}
            }
        }
    }

    /// What was sent of images, and the places of their bytes in the request. What the provider answered stays as it came.
    fn rename_in_generation(&self, generation: &mut ArchivedGeneration) {
        self.rename_in_value(&mut generation.request_manifest);
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
    fn rename_in_value(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_in_value(item)),
            Value::Object(fields) => {
                let of_blob = fields.get("blob").and_then(Value::as_str).and_then(|there| self.0.get(there));
                if let Some(here) = of_blob {
                    fields.get_mut("mime").into_iter().for_each(|mime| *mime = json!(here.mime));
                    fields.get_mut("bytes").into_iter().for_each(|bytes| *bytes = json!(here.bytes));
                }
                fields.values_mut().for_each(|value| self.rename_in_value(value));
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
