//! The files of an export, by the ids under which messages point at them.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::conversation::{FileBytes, MessageFile};
use crate::input::Input;
use crate::media::mime_of;

/// The list of the names that files had before the export gave them its own.
const NAMES: &str = "conversation_asset_file_names.json";

/// Where the bytes of a file id are.
#[derive(Default)]
pub(crate) struct ExportAssets {
    entries: HashMap<String, String>,
    /// The name a file had, by its entry's name without folders.
    names: HashMap<String, String>,
}

impl ExportAssets {
    /// Looks through the names of the archive's entries; a list of names that is missing or broken names nothing.
    pub(crate) fn from_input(input: &mut Input) -> Self {
        let parts = input.parts();
        let mut assets = Self::default();
        for part in parts.all() {
            if let Some(id) = id_of_entry(part.base_name()) {
                // The first one: variants of one file come behind it.
                assets.entries.entry(id.to_owned()).or_insert_with(|| part.name.clone());
            }
        }
        let list = parts.all().iter().find(|part| part.base_name() == NAMES);
        let list = list.and_then(|part| input.read_part(&part.name, bounds::FILE_BYTES).ok());
        if let Some(Value::Object(names)) = list.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            for (entry, name) in names {
                if let Value::String(name) = name {
                    assets.names.insert(entry.rsplit('/').next().unwrap_or_default().to_owned(), name);
                }
            }
        }
        assets
    }

    /// The file that a pointer (`file-service://file-…`, `sediment://file_…`) or a bare id means. `name` and `mime` are
    /// what the message says of it; the archive's list knows better than an entry's made-up name.
    pub(crate) fn file(&self, pointer: &str, name: Option<&str>, mime: Option<&str>) -> MessageFile {
        let entry = self.entries.get(pointer_id(pointer));
        let base = entry.map(|entry| entry.rsplit('/').next().unwrap_or_default());
        let listed = base.and_then(|base| self.names.get(base)).map(String::as_str);
        let shown = name.or(listed).or(base).unwrap_or(pointer_id(pointer));
        let mime = mime.unwrap_or_else(|| {
            [Some(shown), base].into_iter().flatten().map(mime_of).find(|m| !m.is_empty()).unwrap_or_default()
        });
        let bytes =
            entry.map_or_else(|| FileBytes::Absent(pointer.to_owned()), |entry| FileBytes::Entry(entry.clone()));
        MessageFile { name: shown.to_owned(), mime: mime.to_owned(), bytes }
    }
}

/// The id in a pointer.
pub(crate) fn pointer_id(pointer: &str) -> &str {
    let id = pointer.split_once("://").map_or(pointer, |(_, id)| id);
    &id[..id.find(['?', '#', '/', '.']).unwrap_or(id.len())]
}

/// The id that an entry's name begins with: `file-` or `file_` and letters and digits, whatever follows.
fn id_of_entry(base: &str) -> Option<&str> {
    let rest = base.strip_prefix("file-").or_else(|| base.strip_prefix("file_"))?;
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    (length > 0).then(|| &base[..5 + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_names_and_pointers() {
        let entries = [
            ("file-ABCdef123-holiday photo.png", Some("file-ABCdef123")),
            ("file_00000000aaaa-sanitized.png", Some("file_00000000aaaa")),
            ("file_0000-1e2d3c4b-0000-4000-8000-000000000000.png", Some("file_0000")),
            ("file-ABC.dat", Some("file-ABC")),
            ("file_0000", Some("file_0000")),
            ("file-", None),
            ("conversations.json", None),
        ];
        for (name, expected) in entries {
            assert_eq!(id_of_entry(name), expected, "{name}");
        }
        let pointers = [
            ("file-service://file-ABCdef123", "file-ABCdef123"),
            ("sediment://file_0000?shared=1", "file_0000"),
            ("sediment://file_0000#p", "file_0000"),
            ("file-ABC", "file-ABC"),
            ("", ""),
        ];
        for (pointer, expected) in pointers {
            assert_eq!(pointer_id(pointer), expected, "{pointer}");
        }
    }
}
