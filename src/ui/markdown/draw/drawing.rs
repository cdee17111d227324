//! The rendering state of a block: its open elements and its budget.

use pulldown_cmark::Alignment;

use crate::domain::limits;
use crate::ui::markdown::citation::InlineCitation;
use crate::ui::markdown::enricher::MarkupEnricher;
use crate::ui::markdown::formula::Formula;
use crate::ui::markdown::html::{Attribute, Element, Html};
use crate::ui::markdown::reading::Reading;
use crate::ui::markdown::target::LinkTarget;

pub(super) const AUTO: (Attribute, &str) = (Attribute::Dir, "auto");
pub(super) const LTR: (Attribute, &str) = (Attribute::Dir, "ltr");

/// The remaining budget of a message.
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

/// The reason why a block is not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawRefusal {
    TooDeep,
    TooLarge,
}

/// An open image: its card is rendered at its end.
pub(super) struct OpenImage {
    pub(super) target: Option<LinkTarget>,
    /// Its description so far.
    pub(super) alt: String,
    /// The number of images inside its description.
    pub(super) inner: usize,
}

impl OpenImage {
    pub(super) fn new(destination: &str) -> Self {
        Self { target: LinkTarget::parse(destination).filter(LinkTarget::is_web), alt: String::new(), inner: 0 }
    }
}

/// The open table; tables are not nested.
#[derive(Debug, Default)]
pub(super) struct OpenTable {
    pub(super) alignments: Vec<Alignment>,
    pub(super) column: usize,
    pub(super) is_head: bool,
    pub(super) has_body: bool,
}

impl OpenTable {
    /// Returns the class of the next cell.
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

/// A disclosure that has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenDisclosure {
    /// The number of elements of the text that contain it.
    pub(super) frames: usize,
    pub(super) is_shown: bool,
    /// The end of its attributes in the markup.
    pub(super) attributes_end: usize,
}

/// A block that is being rendered.
pub(super) struct BlockDrawing<'a> {
    pub(super) reading: &'a Reading<'a>,
    /// The formulas that have not been rendered yet.
    pub(super) formulas: &'a [Formula],
    pub(super) left: &'a mut DrawBudget,
    /// The marks that have not been rendered yet.
    pub(super) cites: &'a [InlineCitation],
    pub(super) enrich: &'a dyn MarkupEnricher,
    pub(super) html: Html,
    /// The number of elements that each open tag has opened.
    pub(super) frames: Vec<usize>,
    pub(super) block_depth: usize,
    pub(super) inline_depth: usize,
    /// The number of open links in the text, allowed or not: no other link is rendered inside them.
    pub(super) links: usize,
    /// The open code block: its language and its text.
    pub(super) code: Option<(String, String)>,
    pub(super) image: Option<OpenImage>,
    pub(super) table: OpenTable,
    pub(super) disclosures: Vec<OpenDisclosure>,
    /// True if the innermost disclosure waits for its summary.
    pub(super) lacks_summary: bool,
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
