//! The names of formats, as commands and pages have them.

use turnleaf_interchange::Format;
use turnleaf_interchange::legacy::Schema;

const NAMES: [(Format, &str); 7] = [
    (Format::Turnleaf, "turnleaf"),
    (Format::Chatgpt, "chatgpt"),
    (Format::Claude, "claude"),
    (Format::OpenWebui, "open-webui"),
    (Format::Librechat, "librechat"),
    (Format::LlamaCpp, "llama-cpp"),
    (Format::BigAgi, "big-agi"),
];

const SCHEMAS: [(Schema, &str); 2] = [(Schema::Messages, "legacy-messages"), (Schema::Actions, "legacy-actions")];

/// The name of a format in commands.
pub fn format_name(format: Format) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == format).map_or("", |(_, name)| name)
}

/// The format of this name.
pub fn parse_format(name: &str) -> Option<Format> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
}

/// All of them.
pub fn formats() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(_, name)| *name)
}

/// The name of a database's schema in commands.
pub(super) fn schema_name(schema: Schema) -> &'static str {
    SCHEMAS.iter().find(|(known, _)| *known == schema).map_or("", |(_, name)| name)
}

/// The schema of this name.
pub fn parse_schema(name: &str) -> Option<Schema> {
    SCHEMAS.iter().find(|(_, known)| *known == name).map(|(schema, _)| *schema)
}

/// All of them.
pub fn schemas() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(_, name)| *name)
}

/// The provider whose models a program talks to, where a message does not name one.
pub(super) fn provider_of(format: Format) -> &'static str {
    match format {
        Format::Chatgpt => "openai",
        Format::Claude => "anthropic",
        Format::LlamaCpp => "llama.cpp",
        Format::OpenWebui | Format::Librechat | Format::BigAgi | Format::Turnleaf => "imported",
    }
}
