//! Enrichment of the rendering by one side: code colours, math. It cannot change the text.

use super::math::MathTree;

/// The classes of code colouring. This closed set is the only set of classes that code can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeClass {
    /// No colour of its own.
    Text,
    Attribute,
    Comment,
    Constant,
    Deleted,
    Function,
    Heading,
    Inserted,
    Invalid,
    Keyword,
    Number,
    Operator,
    Punctuation,
    String,
    Tag,
    Type,
    Variable,
}

impl CodeClass {
    /// Returns the class in the page, `None` for plain text.
    pub fn as_str(self) -> Option<&'static str> {
        Some(match self {
            Self::Text => return None,
            Self::Attribute => "c-attribute",
            Self::Comment => "c-comment",
            Self::Constant => "c-constant",
            Self::Deleted => "c-deleted",
            Self::Function => "c-function",
            Self::Heading => "c-heading",
            Self::Inserted => "c-inserted",
            Self::Invalid => "c-invalid",
            Self::Keyword => "c-keyword",
            Self::Number => "c-number",
            Self::Operator => "c-operator",
            Self::Punctuation => "c-punctuation",
            Self::String => "c-string",
            Self::Tag => "c-tag",
            Self::Type => "c-type",
            Self::Variable => "c-variable",
        })
    }
}

/// A run: the next `bytes` of a code block have this class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRun {
    pub class: CodeClass,
    pub bytes: usize,
}

/// The additions of one side. `None` means plain rendering.
pub trait MarkupEnricher {
    /// Returns runs that cover `code` from its start; code beyond them, or cut inside a character, is rendered
    /// plainly.
    fn code(&self, language: &str, code: &str) -> Option<Vec<CodeRun>>;
    /// Returns the formula with the TeX `source`, without its dollars. `display` means on a line of its own.
    fn math(&self, source: &str, display: bool) -> Option<MathTree>;
}

/// The browser's enricher: nothing is added.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainEnricher;

impl MarkupEnricher for PlainEnricher {
    fn code(&self, _language: &str, _code: &str) -> Option<Vec<CodeRun>> {
        None
    }

    fn math(&self, _source: &str, _display: bool) -> Option<MathTree> {
        None
    }
}
