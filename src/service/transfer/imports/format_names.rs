//! Names of formats and schemas in commands and pages.

use turnleaf_interchange::ImportFormat;
use turnleaf_interchange::legacy::LegacySchema;

const NAMES: &[(ImportFormat, &str)] = &[
    (ImportFormat::Turnleaf, "turnleaf"),
    (ImportFormat::Git, "git"),
    (ImportFormat::Chatgpt, "chatgpt"),
    (ImportFormat::Claude, "claude"),
    (ImportFormat::OpenWebui, "open-webui"),
    (ImportFormat::Librechat, "librechat"),
    (ImportFormat::LlamaCpp, "llama-cpp"),
    (ImportFormat::BigAgi, "big-agi"),
    (ImportFormat::ClaudeCode, "claude-code"),
    (ImportFormat::Codex, "codex"),
    (ImportFormat::GeminiCli, "gemini-cli"),
    (ImportFormat::Deepseek, "deepseek"),
    (ImportFormat::AiStudio, "ai-studio"),
    (ImportFormat::GeminiTakeout, "gemini-takeout"),
    (ImportFormat::Grok, "grok"),
    (ImportFormat::Messages, "messages"),
    (ImportFormat::Lobehub, "lobehub"),
    (ImportFormat::CherryStudio, "cherry-studio"),
    (ImportFormat::SillyTavern, "sillytavern"),
    (ImportFormat::Jan, "jan"),
    (ImportFormat::AnythingLlm, "anythingllm"),
];

const SCHEMAS: [(LegacySchema, &str); 2] =
    [(LegacySchema::Messages, "legacy-messages"), (LegacySchema::Actions, "legacy-actions")];

/// Returns the name of a format in commands.
pub fn format_name(format: ImportFormat) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == format).map_or("", |(_, name)| name)
}

/// Parses the name of a format.
pub fn parse_format(name: &str) -> Option<ImportFormat> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
}

/// Returns the names of all formats.
pub fn formats() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(_, name)| *name)
}

/// Returns the name of a database schema in commands.
pub(super) fn schema_name(schema: LegacySchema) -> &'static str {
    SCHEMAS.iter().find(|(known, _)| *known == schema).map_or("", |(_, name)| name)
}

/// Returns the name of a format or schema that was stored; none if this version does not know it.
pub(super) fn stored_format_name(name: &str) -> Option<&'static str> {
    formats().chain(schemas()).find(|known| *known == name)
}

/// Parses the name of a schema.
pub fn parse_schema(name: &str) -> Option<LegacySchema> {
    SCHEMAS.iter().find(|(_, known)| *known == name).map(|(schema, _)| *schema)
}

/// Returns the names of all schemas.
pub fn schemas() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(_, name)| *name)
}

/// Returns the provider of a format's messages that do not name one.
pub(super) fn format_provider(format: ImportFormat) -> &'static str {
    match format {
        ImportFormat::Chatgpt => "openai",
        ImportFormat::Claude => "anthropic",
        ImportFormat::LlamaCpp => "llama.cpp",
        ImportFormat::ClaudeCode => "anthropic",
        ImportFormat::Codex => "openai",
        ImportFormat::GeminiCli => "google",
        ImportFormat::Deepseek => "deepseek",
        ImportFormat::AiStudio | ImportFormat::GeminiTakeout => "google",
        ImportFormat::Grok => "xai",
        ImportFormat::OpenWebui
        | ImportFormat::Librechat
        | ImportFormat::BigAgi
        | ImportFormat::Messages
        | ImportFormat::Lobehub
        | ImportFormat::CherryStudio
        | ImportFormat::SillyTavern
        | ImportFormat::Jan
        | ImportFormat::AnythingLlm
        | ImportFormat::Turnleaf
        | ImportFormat::Git => "imported",
    }
}
