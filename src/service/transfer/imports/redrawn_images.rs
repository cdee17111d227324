//! Renames images of an archive: re-encoding changes their hashes, so every reference in a chat gets the hash that
//! the image has here.

use std::collections::HashMap;

use serde_json::{Value, json};

use turnleaf_domain::{Content, Turn};
use turnleaf_interchange::archive::{ArchivedGeneration, ChatPart};

/// The prefix of an image reference in a stored request.
const NAMED: &[u8] = b"blob:";
/// The length of a sha256 in hex digits.
const SHA256_CHARS: usize = 64;

/// An image as it is stored here.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RedrawnImage {
    sha256: String,
    mime: &'static str,
    bytes: usize,
}

/// Images whose hash changed, by their hash in the archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RedrawnImages(HashMap<String, RedrawnImage>);

impl RedrawnImages {
    pub fn add(&mut self, archived: String, sha256: &str, mime: &'static str, bytes: usize) {
        self.0.insert(archived, RedrawnImage { sha256: sha256.to_owned(), mime, bytes });
    }

    /// Returns the local hash of an image with this hash in the archive.
    pub fn local_name(&self, sha256: String) -> String {
        self.0.get(&sha256).map_or(sha256, |redrawn| redrawn.sha256.clone())
    }

    /// Renames the images in a part of a chat.
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
                    if let Some(redrawn) = self.0.get(blob) {
                        (*blob, *mime) = (redrawn.sha256.clone(), redrawn.mime.to_owned());
                    }
                }
                Content::ToolResult { metadata, .. } => self.rename_in_value(metadata),
                _ => {}
            }
        }
    }

    /// Renames images in the manifest and the request of a generation. The provider's response is not changed.
    fn rename_in_generation(&self, generation: &mut ArchivedGeneration) {
        self.rename_in_value(&mut generation.request_manifest);
        let request = &mut generation.request.0;
        let mut at = 0;
        while let Some(found) = request[at..].windows(NAMED.len()).position(|some| some == NAMED) {
            at += found + NAMED.len();
            let archived = request.get(at..at + SHA256_CHARS).and_then(|name| std::str::from_utf8(name).ok());
            if let Some(redrawn) = archived.and_then(|archived| self.0.get(archived)) {
                request[at..at + SHA256_CHARS].copy_from_slice(redrawn.sha256.as_bytes());
                at += SHA256_CHARS;
            }
        }
    }

    /// Renames every field that is such a hash; next to a `blob` also its `mime` and `bytes`.
    fn rename_in_value(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_in_value(item)),
            Value::Object(fields) => {
                let of_blob = fields.get("blob").and_then(Value::as_str).and_then(|archived| self.0.get(archived));
                if let Some(redrawn) = of_blob {
                    fields.get_mut("mime").into_iter().for_each(|mime| *mime = json!(redrawn.mime));
                    fields.get_mut("bytes").into_iter().for_each(|bytes| *bytes = json!(redrawn.bytes));
                }
                fields.values_mut().for_each(|value| self.rename_in_value(value));
            }
            Value::String(text) => {
                if let Some(redrawn) = self.0.get(text.as_str()) {
                    *text = redrawn.sha256.clone();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
