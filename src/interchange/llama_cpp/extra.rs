//! What comes with a message of llama.cpp: files, whole or as text, and what a tool server was asked for.

use serde_json::Value;

use crate::conversation::{Body, Bytes, File, Message};
use crate::fields::{first_text, list, text};
use crate::made::{attached, behind};
use crate::media::{base64, mime_of};
use crate::notes::Notes;
use crate::report::What;

/// Adds all that came with a message. Earlier names of the kinds (`imageFile`) and later ones (`IMAGE`) say the same.
pub(super) fn add(message: &mut Message, value: &Value, notes: &mut Notes) {
    for extra in list(value, "extra") {
        let of = message.source_id.clone();
        let name = text(extra, "name").unwrap_or_default();
        match text(extra, "type").unwrap_or_default() {
            "imageFile" | "IMAGE" => {
                let (mime, bytes) = behind(text(extra, "base64Url").unwrap_or_default());
                let file = File { name: name.to_owned(), mime: or_of_name(mime, name), bytes };
                message.say(attached(file, name, true));
            }
            "textFile" | "TEXT" | "context" => {
                let content = text(extra, "content").unwrap_or_default();
                let mime = or_of_name(String::new(), name);
                let mime = if mime.is_empty() { "text/plain".to_owned() } else { mime };
                let bytes = Bytes::Inline(content.as_bytes().into());
                message.say(Body::Attachment { file: File { name: name.to_owned(), mime, bytes } });
            }
            "audioFile" | "AUDIO" | "videoFile" | "VIDEO" => {
                let mime = text(extra, "mimeType").unwrap_or_default().to_owned();
                let bytes = within(extra).unwrap_or_else(|| Bytes::Absent(name.to_owned()));
                let file = File { name: name.to_owned(), mime: or_of_name(mime, name), bytes };
                message.say(Body::Attachment { file });
            }
            "pdfFile" | "PDF" => pdf(message, extra, name),
            // What a tool server gave: its words, under the name it goes by.
            "MCP_PROMPT" | "MCP_RESOURCE" => {
                let name = first_text(extra, &["name", "promptName", "uri"]).unwrap_or_default().to_owned();
                let mime = text(extra, "mimeType").unwrap_or("text/plain").to_owned();
                let content = text(extra, "content").unwrap_or_default();
                message.say(Body::Attachment { file: File { name, mime, bytes: Bytes::TextOnly(content.to_owned()) } });
            }
            other => {
                let word: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
                notes.add(What::Lost, &of, format!("an attachment of a kind that is not known was left out ({word})"));
            }
        }
    }
}

/// A document: itself, else its pages as pictures, else the text that was taken out of it.
fn pdf(message: &mut Message, extra: &Value, name: &str) {
    let mime = "application/pdf".to_owned();
    let pages = list(extra, "images");
    match within(extra) {
        Some(bytes) => message.say(Body::Attachment { file: File { name: name.to_owned(), mime, bytes } }),
        None => {
            let taken = text(extra, "content").unwrap_or_default().to_owned();
            let bytes = if taken.is_empty() { Bytes::Absent(name.to_owned()) } else { Bytes::TextOnly(taken) };
            if pages.is_empty() || matches!(bytes, Bytes::TextOnly(_)) {
                message.say(Body::Attachment { file: File { name: name.to_owned(), mime, bytes } });
            }
            for (page, address) in (1..).zip(pages.iter().filter_map(Value::as_str)) {
                let (mime, bytes) = behind(address);
                let name = format!("{name}, page {page}");
                message.say(attached(File { name: name.clone(), mime, bytes }, &name, true));
            }
        }
    }
}

fn within(extra: &Value) -> Option<Bytes> {
    text(extra, "base64Data").and_then(base64).map(|bytes| Bytes::Inline(bytes.into()))
}

fn or_of_name(mime: String, name: &str) -> String {
    if mime.is_empty() { mime_of(name).to_owned() } else { mime }
}
