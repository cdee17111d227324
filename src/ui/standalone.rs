//! Standalone export: a chat as one HTML file, readable without this server and without script. The application's own
//! components render it with the same style; they ask here ([`standalone_context`]) whether the page is standalone,
//! and omit what only a server or a script could answer: buttons, forms, links to other pages.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::use_context;

use crate::browser::document;
use crate::domain::TurnId;
use crate::domain::transfer::export::{ExportDetail, ExportOptions};
use crate::ui::messages::standalone as words;
use crate::ui::state::version_number;

mod import_note;
mod page;

pub use import_note::{damage_note, import_note};
pub use page::StandalonePage;

/// The content that a standalone page includes.
#[derive(Debug, Clone)]
pub struct StandaloneContext(Arc<StandaloneContent>);

#[derive(Debug)]
struct StandaloneContent {
    /// Pictures as data URLs or addresses, by the hashes of their blobs.
    pictures: HashMap<String, String>,
    parts: ExportOptions,
}

impl StandaloneContext {
    pub fn new(pictures: HashMap<String, String>, parts: ExportOptions) -> Self {
        Self(Arc::new(StandaloneContent { pictures, parts }))
    }

    /// Returns the picture at an address of this server.
    pub fn picture(&self, address: &str) -> Option<&str> {
        let (_, hash) = address.rsplit_once('/')?;
        self.0.pictures.get(hash).map(String::as_str)
    }

    /// Returns whether reasoning is included.
    pub fn has_reasoning(&self) -> bool {
        self.0.parts.reasoning != ExportDetail::LeftOut
    }

    /// Returns whether tool calls are included.
    pub fn has_tools(&self) -> bool {
        self.0.parts.tools != ExportDetail::LeftOut
    }

    /// Returns whether tool calls are open with all their details.
    pub fn opens_tools(&self) -> bool {
        self.0.parts.tools == ExportDetail::Full
    }
}

/// Returns the context of the page that is being rendered, if it is standalone. None in a browser: only the
/// application's pages hydrate.
pub fn standalone_context() -> Option<StandaloneContext> {
    if document::is_in_browser() { None } else { use_context() }
}

/// Returns the version label of a turn, where there are several.
pub fn version_label(siblings: &[TurnId], id: TurnId) -> Option<String> {
    let (number, count) = version_number(siblings, id).filter(|(_, count)| *count > 1)?;
    Some(words::version(number, count))
}
