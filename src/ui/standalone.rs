//! A chat as a page that stands alone: one file, read without this server and without script. The same components draw it
//! that draw the application's page, with the same style; while they do, they ask here ([`standalone`]) what is with the
//! page, and leave out what only a server or a script could answer: buttons, forms, ways to other pages.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::use_context;

use crate::browser::document;
use crate::domain::TurnId;
use crate::domain::export::{ExportDetail, ExportOptions};
use crate::ui::messages::standalone as words;
use crate::ui::state::version_number;

mod import_note;
mod page;

pub use import_note::{damage_note, import_note};
pub use page::StandalonePage;

/// What a page has that stands alone.
#[derive(Debug, Clone)]
pub struct StandaloneContext(Arc<StandaloneContent>);

#[derive(Debug)]
struct StandaloneContent {
    /// Pictures as data URLs, by the hashes of their blobs.
    pictures: HashMap<String, String>,
    parts: ExportOptions,
}

impl StandaloneContext {
    pub fn new(pictures: HashMap<String, String>, parts: ExportOptions) -> Self {
        Self(Arc::new(StandaloneContent { pictures, parts }))
    }

    /// The picture at one of this server's addresses.
    pub fn picture(&self, address: &str) -> Option<&str> {
        let (_, hash) = address.rsplit_once('/')?;
        self.0.pictures.get(hash).map(String::as_str)
    }

    /// Whether reasoning is drawn.
    pub fn has_reasoning(&self) -> bool {
        self.0.parts.reasoning != ExportDetail::LeftOut
    }

    /// Whether tools are drawn.
    pub fn has_tools(&self) -> bool {
        self.0.parts.tools != ExportDetail::LeftOut
    }

    /// Whether tools are open with all that is in them.
    pub fn opens_tools(&self) -> bool {
        self.0.parts.tools == ExportDetail::Full
    }
}

/// What the page has that is being drawn, if it stands alone. Never in a browser: what hydrates is the application's page.
pub fn standalone_context() -> Option<StandaloneContext> {
    if document::is_in_browser() { None } else { use_context() }
}

/// Which of its versions a turn is, where there are others.
pub fn version_label(siblings: &[TurnId], id: TurnId) -> Option<String> {
    let (number, count) = version_number(siblings, id).filter(|(_, count)| *count > 1)?;
    Some(words::version(number, count))
}
