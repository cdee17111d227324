//! Parts: what is drawn of one block at the top of a text.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// HTML that this module's writer made. There is no way to make one from a string, apart from [`Part::received`].
#[derive(Clone, PartialEq, Eq)]
pub struct Markup(Arc<str>);

impl Markup {
    /// Only for the writer, which has escaped what is in it and closed what it opened.
    pub(super) fn from_writer(html: String) -> Self {
        Self(html.into())
    }

    /// The HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The drawing of one block at the top of a text: a paragraph, a list, a table, a block of code. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkupPart {
    markup: Markup,
    fingerprint: u64,
}

impl MarkupPart {
    pub fn new(markup: Markup) -> Self {
        let mut hasher = DefaultHasher::new();
        markup.0.hash(&mut hasher);
        Self { markup, fingerprint: hasher.finish() }
    }

    /// A part that the server drew with [`render_with`](super::render_with) and that came to this page from its own
    /// origin (page data, `Signal::Markup`). Never for anything a person, a model or a tool wrote.
    pub fn from_server(html: String) -> Self {
        Self::new(Markup::from_writer(html))
    }

    /// The HTML to show.
    pub fn markup(&self) -> &Markup {
        &self.markup
    }

    /// A number that changes when the markup does; the same on both sides.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
