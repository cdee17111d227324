//! The parts of JSON Schema that the APIs accept for tools (docs/reference/providers.md 2.11).

use serde_json::Value;

/// The schema language of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSubset {
    /// JSON Schema with an object at its root and `items` for every array: chat completions and responses of OpenAI.
    OpenAi,
    /// JSON Schema 2020-12 with an object at its root and short property names.
    Anthropic,
    /// `parametersJsonSchema` of Gemini.
    Gemini,
    /// The keywords that all servers accept, for servers that are not known, such as those of local models.
    Common,
}

/// Keywords whose value is one schema.
pub(super) const SUBSCHEMA_KEYWORDS: [&str; 11] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
];

/// Keywords about the schema itself.
const ABOUT_SCHEMA: [&str; 8] =
    ["$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"];
const GEMINI: [&str; 18] = [
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "properties",
    "additionalProperties",
    "required",
    "$ref",
    "$defs",
    "definitions",
];
const COMMON: [&str; 21] = [
    "type",
    "format",
    "title",
    "description",
    "enum",
    "const",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "default",
];
/// Keywords that are dropped without a note: they say nothing about valid arguments.
const SILENT: [&str; 7] = ["readOnly", "writeOnly", "deprecated", "nullable", "example", "$defs", "definitions"];

impl SchemaSubset {
    /// Returns whether references to `$defs` stay references.
    pub fn keeps_references(self) -> bool {
        self != Self::Common
    }

    /// Returns whether a keyword may stand beside `$ref`.
    pub fn keeps_beside_reference(self, keyword: &str) -> bool {
        self != Self::Gemini || keyword.starts_with('$')
    }

    /// Returns whether a keyword that describes values is accepted.
    pub fn has_keyword(self, keyword: &str) -> bool {
        match self {
            _ if is_about_schema(keyword) => false,
            Self::OpenAi | Self::Anthropic => true,
            Self::Gemini => GEMINI.contains(&keyword),
            Self::Common => COMMON.contains(&keyword),
        }
    }

    /// Returns whether a keyword that is not accepted is described in words.
    pub fn describes(self, keyword: &str) -> bool {
        !is_about_schema(keyword) && !SILENT.contains(&keyword) && !keyword.starts_with("x-")
    }

    /// Returns whether a property may have this name.
    pub fn has_property(self, name: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        self != Self::Anthropic || ((1..=64).contains(&name.len()) && name.chars().all(fits))
    }

    /// Returns whether the value of an accepted keyword is accepted.
    pub fn has_value(self, keyword: &str, value: &Value) -> bool {
        let text = value.as_str().unwrap_or_default();
        match (self, keyword) {
            (Self::Gemini, "format") => matches!(text, "date-time" | "enum"),
            (Self::Gemini, "enum") => {
                value.as_array().is_some_and(|all| all.iter().all(|one| one.is_string() || one.is_number()))
            }
            // Grammars of local servers are built from whole-string patterns only.
            (Self::Common, "pattern") => text.starts_with('^') && text.ends_with('$') && is_portable_pattern(text),
            (_, "pattern") => is_portable_pattern(text),
            _ => true,
        }
    }

    /// Returns the most characters of a tool's description. OpenAI and Azure refuse longer ones.
    pub fn description_chars(self) -> Option<usize> {
        (self == Self::OpenAi).then_some(1024)
    }

    /// Returns whether required properties must be described.
    pub fn requires_only_described(self) -> bool {
        self == Self::Gemini
    }
}

pub(super) fn is_about_schema(keyword: &str) -> bool {
    ABOUT_SCHEMA.contains(&keyword)
}

/// Returns whether a pattern means the same to the engines of ECMA-262, Python and RE2: without look-around,
/// back-references and notations of only one of them.
pub(super) fn is_portable_pattern(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut is_in_class = false;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '\\' => match chars.next() {
                Some(escaped) if escaped.is_ascii_alphanumeric() && !"dDwWsSbBnrtfv".contains(escaped) => return false,
                Some(_) => {}
                None => return false,
            },
            '[' if is_in_class => return false,
            '[' => {
                is_in_class = true;
                if next == Some('^') {
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    return false;
                }
            }
            ']' => is_in_class = false,
            '(' if !is_in_class && next == Some('?') => {
                chars.next();
                if chars.peek() != Some(&':') {
                    return false;
                }
            }
            _ if !c.is_ascii() => return false,
            _ => {}
        }
    }
    !is_in_class
}
