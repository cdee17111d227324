//! From the many scopes of grammars to our few classes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use syntect::parsing::Scope;

use crate::ui::markdown::ClassName;

/// Beginnings of scopes and their class; the longest that fits counts.
const CLASSES: &[(&str, ClassName)] = &[
    ("comment", ClassName::Comment),
    ("constant", ClassName::Constant),
    ("constant.numeric", ClassName::Number),
    ("entity.name", ClassName::Type),
    ("entity.name.function", ClassName::Function),
    ("entity.name.tag", ClassName::Tag),
    ("entity.name.section", ClassName::Heading),
    ("entity.name.constant", ClassName::Constant),
    ("entity.other.attribute-name", ClassName::Attribute),
    ("entity.other.inherited-class", ClassName::Type),
    ("invalid", ClassName::Invalid),
    ("keyword", ClassName::Keyword),
    ("keyword.operator", ClassName::Operator),
    ("keyword.operator.word", ClassName::Keyword),
    ("keyword.operator.logical.python", ClassName::Keyword),
    ("markup.deleted", ClassName::Deleted),
    ("markup.heading", ClassName::Heading),
    ("markup.inserted", ClassName::Inserted),
    ("markup.raw", ClassName::String),
    ("markup.underline.link", ClassName::String),
    ("meta.annotation", ClassName::Attribute),
    ("meta.attribute", ClassName::Attribute),
    ("meta.diff.header", ClassName::Heading),
    ("meta.diff.range", ClassName::Comment),
    ("meta.interpolation", ClassName::Text),
    ("punctuation", ClassName::Punctuation),
    ("punctuation.definition.annotation", ClassName::Attribute),
    ("punctuation.definition.comment", ClassName::Comment),
    ("punctuation.definition.deleted", ClassName::Deleted),
    ("punctuation.definition.heading", ClassName::Heading),
    ("punctuation.definition.inserted", ClassName::Inserted),
    ("punctuation.definition.string", ClassName::String),
    ("storage", ClassName::Keyword),
    ("string", ClassName::String),
    ("support.class", ClassName::Type),
    ("support.constant", ClassName::Constant),
    ("support.function", ClassName::Function),
    ("support.macro", ClassName::Function),
    ("support.type", ClassName::Type),
    ("support.type.property-name", ClassName::Attribute),
    ("variable", ClassName::Variable),
    ("variable.annotation", ClassName::Attribute),
    ("variable.function", ClassName::Function),
    ("variable.language", ClassName::Constant),
    ("variable.other.constant", ClassName::Constant),
];

/// The same, longest first.
static SCOPES: LazyLock<Vec<(Scope, ClassName)>> = LazyLock::new(|| {
    let entry = |(name, class): &(&str, ClassName)| Scope::new(name).ok().map(|scope| (scope, *class));
    let mut scopes: Vec<_> = CLASSES.iter().filter_map(entry).collect();
    scopes.sort_by_key(|(scope, _)| Reverse(scope.len()));
    scopes
});

/// Remembers what it has looked up: a block of code has few scopes and many pieces.
#[derive(Default)]
pub struct Classes {
    known: HashMap<Scope, Option<ClassName>>,
}

impl Classes {
    /// The class of a piece of code inside these scopes: the innermost one that has a class decides.
    pub fn of(&mut self, stack: &[Scope]) -> ClassName {
        stack.iter().rev().find_map(|scope| self.of_scope(*scope)).unwrap_or(ClassName::Text)
    }

    fn of_scope(&mut self, scope: Scope) -> Option<ClassName> {
        let look_up = || SCOPES.iter().find(|(beginning, _)| beginning.is_prefix_of(scope)).map(|(_, class)| *class);
        *self.known.entry(scope).or_insert_with(look_up)
    }
}
