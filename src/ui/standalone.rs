//! A chat as a page that stands alone: one file, read without this server and without script. The same components draw it
//! that draw the application's page, with the same style; while they do, they ask here ([`standalone`]) what is with the
//! page, and leave out what only a server or a script could answer: buttons, forms, ways to other pages.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::use_context;

use crate::browser::document;
use crate::domain::TurnId;
use crate::domain::export::{Part, Parts};
use crate::ui::state::place_among;
use crate::ui::words::standalone as words;

mod page;
mod source;

pub use page::StandalonePage;
pub use source::{damaged, source};

/// What a page has that stands alone.
#[derive(Debug, Clone)]
pub struct Standalone(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    /// Pictures as data URLs, by the hashes of their blobs.
    pictures: HashMap<String, String>,
    parts: Parts,
}

impl Standalone {
    pub fn new(pictures: HashMap<String, String>, parts: Parts) -> Self {
        Self(Arc::new(Kept { pictures, parts }))
    }

    /// The picture at one of this server's addresses.
    pub fn picture(&self, address: &str) -> Option<&str> {
        let (_, hash) = address.rsplit_once('/')?;
        self.0.pictures.get(hash).map(String::as_str)
    }

    /// Whether reasoning is drawn.
    pub fn has_reasoning(&self) -> bool {
        self.0.parts.reasoning != Part::LeftOut
    }

    /// Whether tools are drawn.
    pub fn has_tools(&self) -> bool {
        self.0.parts.tools != Part::LeftOut
    }

    /// Whether tools are open with all that is in them.
    pub fn opens_tools(&self) -> bool {
        self.0.parts.tools == Part::Full
    }
}

/// What the page has that is being drawn, if it stands alone. Never in a browser: what hydrates is the application's page.
pub fn standalone() -> Option<Standalone> {
    if document::is_here() { None } else { use_context() }
}

/// Which of its versions a turn is, where there are others.
pub fn version(siblings: &[TurnId], id: TurnId) -> Option<String> {
    let (number, count) = place_among(siblings, id).filter(|(_, count)| *count > 1)?;
    Some(words::version(number, count))
}
