//! Adds the images and files of a SillyTavern message, which the product keeps below `user/` in its data folder.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::{FileBytes, ImportedMessage, MessageFile, MessagePiece, PieceBody};
use crate::input::InputParts;
use crate::reading::fields::{list, text};
use crate::reading::media::mime_of;
use crate::reading::message_builder::{attachment_body, resolve_address};

/// The files of an archive by the addresses that messages have.
pub(super) struct StoredFiles(HashMap<String, String>);

impl StoredFiles {
    pub(super) fn new(parts: &InputParts) -> Self {
        let address = |name: &str| {
            let start = if name.starts_with("user/") { Some(0) } else { name.find("/user/").map(|at| at + 1) };
            start.map(|start| (name[start..].to_owned(), name.to_owned()))
        };
        Self(parts.all().iter().filter_map(|part| address(&part.name)).collect())
    }

    fn resolve(&self, address: &str) -> (String, FileBytes) {
        match self.0.get(address.trim_start_matches('/')) {
            Some(entry) => (mime_of(entry).to_owned(), FileBytes::Entry(entry.clone())),
            None => resolve_address(address),
        }
    }
}

/// Adds all images, videos, recordings and files of `extra`.
pub(super) fn add(message: &mut ImportedMessage, extra: &Value, files: &StoredFiles) {
    let title = text(extra, "title").unwrap_or_default();
    let listed = list(extra, "media");
    for item in listed {
        let is_picture = text(item, "type").is_none_or(|kind| kind == "image");
        let title = text(item, "title").unwrap_or(title);
        add_file(message, text(item, "url").unwrap_or_default(), "", title, is_picture, files);
    }
    if listed.is_empty() {
        let shown = text(extra, "image");
        let others = list(extra, "image_swipes").iter().filter_map(Value::as_str).filter(|other| Some(*other) != shown);
        for address in shown.into_iter().chain(others) {
            add_file(message, address, "", title, true, files);
        }
        if let Some(address) = text(extra, "video") {
            add_file(message, address, "", title, false, files);
        }
    }
    for file in extra.get("file").into_iter().filter(|file| file.is_object()).chain(list(extra, "files")) {
        let before = message.pieces.len();
        add_file(
            message,
            text(file, "url").unwrap_or_default(),
            text(file, "name").unwrap_or_default(),
            "",
            false,
            files,
        );
        // Earlier versions keep the text of a file in the message.
        if let (Some(taken), Some(piece)) = (text(file, "text"), message.pieces.get_mut(before)) {
            use_text(piece, taken);
        }
    }
}

fn use_text(piece: &mut MessagePiece, taken: &str) {
    if let PieceBody::Attachment { file } | PieceBody::Picture { file, .. } = &mut piece.body
        && !file.has_content()
    {
        file.bytes = FileBytes::TextOnly(taken.to_owned());
    }
}

fn add_file(
    message: &mut ImportedMessage,
    address: &str,
    name: &str,
    title: &str,
    is_picture: bool,
    files: &StoredFiles,
) {
    let (mut mime, bytes) = files.resolve(address);
    let is_data = address.starts_with("data:");
    let base = if is_data { "" } else { address.rsplit('/').next().unwrap_or_default() };
    let name = [name, base].into_iter().find(|name| !name.is_empty()).unwrap_or("file");
    if mime.is_empty() {
        mime = mime_of(name).to_owned();
    }
    message.add_piece(attachment_body(MessageFile { name: name.to_owned(), mime, bytes }, title, is_picture));
}
