//! Maps the file ids that messages reference to the entries of an export.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::conversation::{FileBytes, MessageFile};
use crate::input::Input;
use crate::reading::media::mime_of;

/// The list of original file names.
const NAMES: &str = "conversation_asset_file_names.json";

/// Locations of the files.
#[derive(Default)]
pub(crate) struct ExportAssets {
    entries: HashMap<String, String>,
    /// Original file names by the base names of entries.
    names: HashMap<String, String>,
}

impl ExportAssets {
    /// Indexes the entries of the archive; a missing or broken list of names is ignored.
    pub(crate) fn from_input(input: &mut Input) -> Self {
        let parts = input.parts();
        let mut assets = Self::default();
        for part in parts.all() {
            if let Some(id) = id_of_entry(part.base_name()) {
                // The first entry wins, because variants of a file follow it.
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

    /// Returns the file of a pointer (`file-service://file-…`, `sediment://file_…`) or a bare id. `name` and `mime`
    /// come from the message; without a name, the list of the archive is preferred to the generated name of the
    /// entry.
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

/// Returns the id within a pointer.
pub(crate) fn pointer_id(pointer: &str) -> &str {
    let id = pointer.split_once("://").map_or(pointer, |(_, id)| id);
    &id[..id.find(['?', '#', '/', '.']).unwrap_or(id.len())]
}

/// Returns the id that starts an entry's name: `file-` or `file_`, then letters and digits.
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
