//! The folders of a backup, which stand beside its conversations
//! (`src/common/stores/folders/store-chat-folders.ts`).

use std::collections::HashMap;

use serde::Deserialize;

use crate::bounds;
use crate::input::Input;
use crate::reading::fields::printable;

/// The part of a backup that is not conversations.
#[derive(Deserialize)]
struct Backup {
    #[serde(default)]
    folders: Option<FolderStore>,
}

#[derive(Deserialize)]
struct FolderStore {
    #[serde(default)]
    folders: Vec<Folder>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Folder {
    #[serde(default)]
    title: String,
    #[serde(default)]
    conversation_ids: Vec<String>,
}

/// Returns the titles of the folders by their conversations. The rest of the file is skipped while it is read, and a
/// file that is no whole backup has no folders.
pub(super) fn titles_by_conversation(input: &mut Input) -> HashMap<String, String> {
    if input.is_archive() {
        return HashMap::new();
    }
    let backup: Option<Backup> = input.open_text(0).ok().and_then(|text| serde_json::from_reader(text).ok());
    let folders = backup.and_then(|backup| backup.folders).map(|store| store.folders).unwrap_or_default();
    let mut titles = HashMap::new();
    for folder in folders {
        let title = printable(&folder.title, 80);
        for conversation in folder.conversation_ids {
            if titles.len() < bounds::ENTRIES {
                titles.insert(conversation, title.clone());
            }
        }
    }
    titles
}
