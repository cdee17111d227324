//! What one side can add to the drawing: colours of code, math. The text itself cannot be changed by it.

use super::math::MathTree;

/// What a piece of code is, as far as colours go. A closed set: these are the only classes that code can carry.
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
    /// The class in the page, `None` for plain text.
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

/// The next `bytes` of a block of code are of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRun {
    pub class: CodeClass,
    pub bytes: usize,
}

/// What a side knows beyond the text. `None` everywhere means: draw it plainly.
pub trait MarkupEnricher {
    /// Runs that cover `code` from its start; what they leave over, or cut inside a character, is drawn plainly.
    fn code(&self, language: &str, code: &str) -> Option<Vec<CodeRun>>;
    /// The formula written in TeX as `source`, without its dollars. `display`: on a line of its own.
    fn math(&self, source: &str, display: bool) -> Option<MathTree>;
}

/// The browser's side: nothing is added.
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
