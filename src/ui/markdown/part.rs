//! Parts: the rendering of a top-level block.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// HTML that this module's writer created. It cannot be created from a string, except by [`MarkupPart::from_server`].
#[derive(Clone, PartialEq, Eq)]
pub struct Markup(Arc<str>);

impl Markup {
    /// Only for the writer, which has escaped the text and closed the elements.
    pub(super) fn from_writer(html: String) -> Self {
        Self(html.into())
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The rendering of one top-level block: a paragraph, a list, a table, a code block. Cheap to clone.
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

    /// Wraps a part that the server rendered with [`render_with`](super::render_with) and that came to this page from
    /// its own origin (page data, `Signal::Markup`). Never for text of a person, a model or a tool.
    pub fn from_server(html: String) -> Self {
        Self::new(Markup::from_writer(html))
    }

    /// Returns the markup to show.
    pub fn markup(&self) -> &Markup {
        &self.markup
    }

    /// Returns a number that changes with the markup; the same on both sides.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
