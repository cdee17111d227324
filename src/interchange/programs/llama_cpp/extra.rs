//! Reads the extras of a llama.cpp message: files, whole or as text, and content from tool servers.

use serde_json::Value;

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, PieceBody};
use crate::reading::fields::{first_text, list, text};
use crate::reading::media::{decode_base64, mime_of};
use crate::reading::message_builder::{attachment_body, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Adds all extras of a message. Earlier names of the types (`imageFile`) and later ones (`IMAGE`) are equivalent.
pub(super) fn add(message: &mut ImportedMessage, value: &Value, notes: &mut ConversationNotes) {
    for extra in list(value, "extra") {
        let of = message.source_id.clone();
        keys::EXTRA.report_lost(extra, &of, notes);
        let name = text(extra, "name").unwrap_or_default();
        match text(extra, "type").unwrap_or_default() {
            "imageFile" | "IMAGE" => {
                let (mime, bytes) = resolve_address(text(extra, "base64Url").unwrap_or_default());
                let file = MessageFile { name: name.to_owned(), mime: mime_or_from_name(mime, name), bytes };
                message.add_piece(attachment_body(file, name, true));
            }
            "textFile" | "TEXT" | "context" => {
                let content = text(extra, "content").unwrap_or_default();
                let mime = mime_or_from_name(String::new(), name);
                let mime = if mime.is_empty() { "text/plain".to_owned() } else { mime };
                let bytes = FileBytes::Inline(content.as_bytes().into());
                message.add_piece(PieceBody::Attachment { file: MessageFile { name: name.to_owned(), mime, bytes } });
            }
            "audioFile" | "AUDIO" | "videoFile" | "VIDEO" => {
                let mime = text(extra, "mimeType").unwrap_or_default().to_owned();
                let bytes = inline_bytes(extra).unwrap_or_else(|| FileBytes::Absent(name.to_owned()));
                let file = MessageFile { name: name.to_owned(), mime: mime_or_from_name(mime, name), bytes };
                message.add_piece(PieceBody::Attachment { file });
            }
            "pdfFile" | "PDF" => pdf(message, extra, name),
            // Content of a tool server becomes an attachment under its name.
            "MCP_PROMPT" | "MCP_RESOURCE" => {
                let name = first_text(extra, &["name", "promptName", "uri"]).unwrap_or_default().to_owned();
                let mime = text(extra, "mimeType").unwrap_or("text/plain").to_owned();
                let content = text(extra, "content").unwrap_or_default();
                message.add_piece(PieceBody::Attachment {
                    file: MessageFile { name, mime, bytes: FileBytes::TextOnly(content.to_owned()) },
                });
            }
            other => {
                let word: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
                notes.add(IssueKind::Lost, &of, format!("an attachment of an unknown type was skipped ({word})"));
            }
        }
    }
}

/// Adds a PDF: the file itself with the extracted text, else its pages as images, else the extracted text.
fn pdf(message: &mut ImportedMessage, extra: &Value, name: &str) {
    let mime = "application/pdf".to_owned();
    let pages = list(extra, "images");
    match inline_bytes(extra) {
        Some(FileBytes::Inline(bytes)) if text(extra, "content").is_some() => {
            let bytes = FileBytes::InlineWithText(bytes, text(extra, "content").unwrap_or_default().to_owned());
            message.add_piece(PieceBody::Attachment { file: MessageFile { name: name.to_owned(), mime, bytes } })
        }
        Some(bytes) => {
            message.add_piece(PieceBody::Attachment { file: MessageFile { name: name.to_owned(), mime, bytes } })
        }
        None => {
            let taken = text(extra, "content").unwrap_or_default().to_owned();
            let bytes = if taken.is_empty() { FileBytes::Absent(name.to_owned()) } else { FileBytes::TextOnly(taken) };
            if pages.is_empty() || matches!(bytes, FileBytes::TextOnly(_)) {
                message.add_piece(PieceBody::Attachment { file: MessageFile { name: name.to_owned(), mime, bytes } });
            }
            for (page, address) in (1..).zip(pages.iter().filter_map(Value::as_str)) {
                let (mime, bytes) = resolve_address(address);
                let name = format!("{name}, page {page}");
                message.add_piece(attachment_body(MessageFile { name: name.clone(), mime, bytes }, &name, true));
            }
        }
    }
}

fn inline_bytes(extra: &Value) -> Option<FileBytes> {
    text(extra, "base64Data").and_then(decode_base64).map(|bytes| FileBytes::Inline(bytes.into()))
}

fn mime_or_from_name(mime: String, name: &str) -> String {
    if mime.is_empty() { mime_of(name).to_owned() } else { mime }
}
