//! What is known of a block while it is drawn: what is open in it, and what may still be spent.

use pulldown_cmark::Alignment;

use crate::domain::limits;
use crate::ui::markdown::citation::InlineCitation;
use crate::ui::markdown::enricher::MarkupEnricher;
use crate::ui::markdown::html::{Attribute, Element, Html};
use crate::ui::markdown::target::LinkTarget;

pub(super) const AUTO: (Attribute, &str) = (Attribute::Dir, "auto");
pub(super) const LTR: (Attribute, &str) = (Attribute::Dir, "ltr");

/// What may still be drawn of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawBudget {
    pub nodes: usize,
    pub cells: usize,
}

impl Default for DrawBudget {
    fn default() -> Self {
        Self { nodes: limits::MARKDOWN_NODES, cells: limits::MARKDOWN_CELLS }
    }
}

/// Why a block is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawRefusal {
    TooDeep,
    TooLarge,
}

/// An image under way: what stands for it is drawn at its end.
pub(super) struct OpenImage {
    pub(super) target: Option<LinkTarget>,
    /// Its description so far.
    pub(super) alt: String,
    /// Images inside its description.
    pub(super) inner: usize,
}

impl OpenImage {
    pub(super) fn new(destination: &str) -> Self {
        Self { target: LinkTarget::parse(destination).filter(LinkTarget::is_web), alt: String::new(), inner: 0 }
    }
}

/// The table under way; tables are not nested.
#[derive(Debug, Default)]
pub(super) struct OpenTable {
    pub(super) alignments: Vec<Alignment>,
    pub(super) column: usize,
    pub(super) is_head: bool,
    pub(super) has_body: bool,
}

impl OpenTable {
    /// The class of the next cell.
    pub(super) fn next_cell_class(&mut self) -> Option<&'static str> {
        let alignment = self.alignments.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        match alignment {
            Alignment::None => None,
            Alignment::Left => Some("md-left"),
            Alignment::Center => Some("md-center"),
            Alignment::Right => Some("md-right"),
        }
    }
}

/// The drawing of a block under way.
pub(super) struct BlockDrawing<'a> {
    pub(super) text: &'a str,
    pub(super) left: &'a mut DrawBudget,
    /// The marks that have not been drawn yet.
    pub(super) cites: &'a [InlineCitation],
    pub(super) enrich: &'a dyn MarkupEnricher,
    pub(super) html: Html,
    /// For each open tag, how many elements it has opened.
    pub(super) frames: Vec<usize>,
    pub(super) block_depth: usize,
    pub(super) inline_depth: usize,
    /// Links of the text that are open, be they such as we follow or not: there is no other link in them.
    pub(super) links: usize,
    /// A block of code under way: its language and its text.
    pub(super) code: Option<(String, String)>,
    pub(super) image: Option<OpenImage>,
    pub(super) table: OpenTable,
}

impl BlockDrawing<'_> {
    pub(super) fn spend(&mut self, nodes: usize) -> Result<(), DrawRefusal> {
        self.left.nodes = self.left.nodes.checked_sub(nodes).ok_or(DrawRefusal::TooLarge)?;
        Ok(())
    }

    pub(super) fn open(&mut self, elements: &[(Element, &[(Attribute, &str)])]) {
        for (element, attributes) in elements {
            self.html.open(*element, attributes);
        }
        self.frames.push(elements.len());
    }
}
