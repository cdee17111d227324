//! Maps the ids that responses name to the files of the archive: `prod-mc-asset-server/ID/content`.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::{FileBytes, MessageFile};
use crate::input::InputParts;
use crate::reading::fields::{as_id, first_text};
use crate::reading::media::mime_of;

const ASSET_FOLDER: &str = "prod-mc-asset-server";

/// The length of an id, a UUID.
const ID_CHARS: usize = 36;

/// The members that name a file.
const IDS: [&str; 6] = ["file_metadata_id", "fileMetadataId", "asset_id", "assetId", "id", "file_uri"];

/// Returns the descriptions of files by the ids that they name first.
pub(super) fn by_file_id(metadata: &[Value]) -> HashMap<&str, &Value> {
    // The first one counts.
    metadata.iter().rev().filter_map(|of| Some((first_text(of, &IDS)?, of))).collect()
}

/// The entries of the assets by their ids.
#[derive(Default)]
pub(super) struct ExportedAssets(HashMap<String, String>);

impl ExportedAssets {
    pub(super) fn from_parts(parts: &InputParts) -> Self {
        let entry = |name: &str| {
            let within = name.split_once(ASSET_FOLDER)?.1.trim_start_matches('/');
            let id = within.split('/').next().filter(|id| !id.is_empty())?;
            Some((id.to_owned(), name.to_owned()))
        };
        Self(parts.all().iter().filter_map(|part| entry(&part.name)).collect())
    }

    /// Returns the file of an attachment, which is an id or an object with one.
    pub(super) fn attached(&self, attached: &Value, metadata: &HashMap<&str, &Value>) -> Option<MessageFile> {
        const NAMES: [&str; 3] = ["file_name", "fileName", "name"];
        const TYPES: [&str; 4] = ["file_mime_type", "fileMimeType", "mime_type", "mimeType"];
        let place = as_id(attached).or_else(|| first_text(attached, &IDS).map(str::to_owned));
        let described = place.as_deref().and_then(|place| metadata.get(place).copied());
        let first = |names: &[&str]| described.and_then(|of| first_text(of, names)).or(first_text(attached, names));
        let name = first(&NAMES).map(str::to_owned);
        let place = place.or_else(|| name.clone())?;
        let name = name.unwrap_or_else(|| place.clone());
        let mime = first(&TYPES).unwrap_or_else(|| mime_of(&name)).to_owned();
        Some(MessageFile { name, mime, bytes: self.bytes(&place) })
    }

    /// Returns a picture by its address, in which its id may stand: `users/…/generated/ID/image.jpg`.
    pub(super) fn picture(&self, address: &str) -> MessageFile {
        let name = address.rsplit('/').find(|name| !name.is_empty()).unwrap_or("image");
        let name = name.split(['?', '#']).next().unwrap_or_default().to_owned();
        MessageFile { mime: mime_of(&name).to_owned(), name, bytes: self.bytes(address) }
    }

    fn bytes(&self, place: &str) -> FileBytes {
        let mut ids = place.split(['/', '?', '#', '=']).filter(|id| id.len() == ID_CHARS || *id == place);
        match ids.find_map(|id| self.0.get(id)) {
            Some(entry) => FileBytes::Entry(entry.clone()),
            None => FileBytes::Absent(place.to_owned()),
        }
    }
}
