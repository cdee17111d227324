//! Lists the tools of a server: all pages, with the usable fields of each tool. Every text is untrusted.

mod icon;

use std::collections::HashSet;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};

use super::json_repair::TASK_SUPPORT;
use super::log::ServerOutputLog;
use super::{app_view, error_messages, sanitizer};
use crate::schema::check_schema;
use crate::toolbox::{ToolDescription, UnusableTool};
use turnleaf_domain::limits::{
    SERVER_ICONS_BYTES, SERVER_NAME_BYTES, SERVER_TOOL_NAME_BYTES, TOOL_DESCRIPTION_BYTES, TOOL_LIST_BYTES,
    TOOL_SCHEMA_BYTES, TOOLS_PER_SERVER,
};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::text::hidden_text::{count_hidden_characters, replace_nul};
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_providers::redaction::SecretSet;

/// The tools of a server.
#[derive(Debug, Clone, Default)]
pub struct ToolList {
    pub tools: Vec<ToolDescription>,
    pub unusable: Vec<UnusableTool>,
}

/// Requests the whole list. Tools that are left out are noted in the log as well.
///
/// # Errors
/// The reason why there is no list, as a part of a sentence.
pub async fn list(
    peer: &Peer<RoleClient>,
    secrets: &SecretSet,
    log: &ServerOutputLog,
) -> Result<ToolList, CodedMessage> {
    let not_listed = |cause: CodedMessage| CodedMessage::from(MessageCode::ToolsNotListed).with_cause(cause);
    let mut collector = ToolListCollector::new(secrets, log);
    let mut cursor: Option<String> = None;
    // A list has no more pages than tools.
    for _ in 0..TOOLS_PER_SERVER {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let page = match peer.send_request(request).await {
            Ok(page) => {
                serde_json::to_value(page).map_err(|error| not_listed(CodedMessage::uncoded(error.to_string())))?
            }
            // The server does not implement tools.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(collector.list);
            }
            Err(error) => return Err(not_listed(error_messages::request_error(&error, secrets))),
        };
        let Some(listed) = page.get("tools").and_then(Value::as_array) else {
            return Err(not_listed(MessageCode::NotAList.into()));
        };
        if !listed.iter().all(|tool| collector.add(tool)) {
            break;
        }
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        if next.is_none() || next == cursor.as_deref() {
            break;
        }
        cursor = next.map(str::to_owned);
    }
    Ok(collector.list)
}

/// Collects the tools of a list within its limits.
struct ToolListCollector<'a> {
    secrets: &'a SecretSet,
    log: &'a ServerOutputLog,
    list: ToolList,
    names: HashSet<String>,
    icon_room: usize,
    /// The bytes that further descriptions and schemas may have.
    room: usize,
    is_full: bool,
}

impl<'a> ToolListCollector<'a> {
    fn new(secrets: &'a SecretSet, log: &'a ServerOutputLog) -> Self {
        let (list, names) = (ToolList::default(), HashSet::new());
        Self { secrets, log, list, names, icon_room: SERVER_ICONS_BYTES, room: TOOL_LIST_BYTES, is_full: false }
    }

    /// Adds a listed tool. Returns false if there is no room even for the names of further ones.
    fn add(&mut self, tool: &Value) -> bool {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let shown_name = sanitizer::clean_line(text("name"), self.secrets, SERVER_TOOL_NAME_BYTES);
        if ["model", "app"].iter().all(|caller| app_view::is_hidden_from(tool, caller)) {
            self.log.add(&format!("(the tool `{shown_name}` is neither for models nor for pages of the server)"));
            return true;
        }
        let mut described = match describe_tool(tool, self.secrets) {
            Ok(described) => described,
            Err(reason) => {
                self.log.add(&format!("(a tool is not used: {reason})"));
                return self.leave_out(shown_name, reason);
            }
        };
        if self.names.contains(&described.tool) {
            self.log.add(&format!("(there is more than one tool `{}`; the first is used)", described.tool));
            return true;
        }
        let size = described.description.len() + described.schema.to_string().len();
        let limit = if self.list.tools.len() == TOOLS_PER_SERVER {
            Some(format!("more than {TOOLS_PER_SERVER} tools"))
        } else {
            (size > self.room).then(|| format!("more than {} of tools", ByteSize::from_usize(TOOL_LIST_BYTES)))
        };
        if let Some(limit) = limit {
            if !std::mem::replace(&mut self.is_full, true) {
                self.log.add(&format!("(it has {limit}; the others are not used)"));
            }
            return self.leave_out(described.tool, format!("its server lists {limit}"));
        }
        self.room -= size;
        if is_too_long(text("description")) {
            let limit = ByteSize::from_usize(TOOL_DESCRIPTION_BYTES);
            self.log.add(&format!("(the description of `{}` is longer than {limit} and was cut)", described.tool));
        }
        described.icon = described.icon.take().filter(|icon| icon.len() <= self.icon_room);
        self.icon_room -= described.icon.as_ref().map_or(0, String::len);
        self.names.insert(described.tool.clone());
        self.list.tools.push(described);
        true
    }

    /// Keeps the name of a tool that cannot be used, so that a chat that chose it says so.
    fn leave_out(&mut self, tool: String, why: String) -> bool {
        let has_room = self.list.unusable.len() < TOOLS_PER_SERVER;
        if has_room {
            self.list.unusable.push(UnusableTool { tool, why });
        }
        has_room
    }
}

fn is_too_long(description: &str) -> bool {
    description.len() > TOOL_DESCRIPTION_BYTES
}

/// Returns the description, with a note if it was cut.
fn description_of(tool: &Value, secrets: &SecretSet) -> String {
    let given = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    if !is_too_long(given) {
        return sanitizer::clean_text(given, secrets, TOOL_DESCRIPTION_BYTES);
    }
    let note = format!("\n[Cut: this description has {} bytes.]", given.len());
    sanitizer::clean_text(given, secrets, TOOL_DESCRIPTION_BYTES - note.len()) + &note
}

/// Returns the schema of a tool's arguments. Servers write a tool that takes any arguments, or none, in several ways.
fn input_schema(tool: &Value) -> Option<Value> {
    match tool.get("inputSchema") {
        Some(schema @ Value::Object(_)) => Some(without_nul_in_texts(schema)),
        None | Some(Value::Null | Value::Bool(true)) => Some(json!({})),
        Some(Value::Array(none)) if none.is_empty() => Some(json!({})),
        Some(_) => None,
    }
}

/// Replaces NUL in the titles and descriptions of a schema.
fn without_nul_in_texts(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(keyword, value)| match (keyword.as_str(), value) {
                ("title" | "description" | "$comment", Value::String(text)) => {
                    (keyword.clone(), Value::String(replace_nul(text.clone())))
                }
                (_, value) => (keyword.clone(), without_nul_in_texts(value)),
            })
            .collect(),
        Value::Array(all) => all.iter().map(without_nul_in_texts).collect(),
        other => other.clone(),
    }
}

fn has_nul(schema: &Value) -> bool {
    match schema {
        Value::String(text) => text.contains('\0'),
        Value::Array(all) => all.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(keyword, value)| keyword.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// Describes a tool for display and for models.
///
/// # Errors
/// A sentence that says why the tool cannot be used.
fn describe_tool(tool: &Value, secrets: &SecretSet) -> Result<ToolDescription, String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text(tool.get("name"));
    // A redacted name would call another tool. Names above the limit are refused below anyway.
    if name.len() <= SERVER_TOOL_NAME_BYTES && secrets.has_match_in(name.as_bytes()) {
        return Err("its name contains a credential of its server".into());
    }
    let shown = sanitizer::clean_line(&name, secrets, SERVER_TOOL_NAME_BYTES);
    if name.is_empty() || shown != name || count_hidden_characters(&name) > 0 {
        return Err(format!("`{shown}` is not a valid name"));
    }
    if tool.pointer(&format!("/_meta/{TASK_SUPPORT}")) == Some(&json!("required")) {
        return Err(format!("`{name}` runs only as a task, which is not supported"));
    }
    let schema = input_schema(tool).ok_or_else(|| format!("the parameter schema of `{name}` is not an object"))?;
    if schema.to_string().len() > TOOL_SCHEMA_BYTES {
        return Err(format!(
            "the parameter schema of `{name}` is larger than {}",
            ByteSize::from_usize(TOOL_SCHEMA_BYTES)
        ));
    }
    // PostgreSQL does not store NUL. Outside of texts for readers, replacing it would change what is valid.
    if has_nul(&schema) {
        return Err(format!("the parameter schema of `{name}` contains NUL"));
    }
    check_schema(&schema).map_err(|error| {
        format!("the parameter schema of `{name}`: {}", sanitizer::clean_line(&error, secrets, SERVER_NAME_BYTES))
    })?;
    let titles = [tool.get("title"), tool.pointer("/annotations/title")];
    let title = titles.map(|title| sanitizer::clean_line(&text(title), secrets, SERVER_NAME_BYTES));
    let title = title.into_iter().find(|title| !title.is_empty()).unwrap_or_else(|| name.clone());
    let claims = |hint: &str| tool.pointer(&format!("/annotations/{hint}")).and_then(Value::as_bool) == Some(true);
    let hints = [
        ("readOnlyHint", "read only"),
        ("destructiveHint", "destructive"),
        ("idempotentHint", "idempotent"),
        ("openWorldHint", "open world"),
    ];
    Ok(ToolDescription {
        tool: name,
        title,
        description: description_of(tool, secrets),
        schema: secrets.redact_value(schema),
        is_harmless: false,
        icon: icon::read_icon(tool.get("icons")),
        view: app_view::page_address(tool, secrets),
        is_closed_to_views: app_view::is_hidden_from(tool, "app"),
        is_closed_to_models: app_view::is_hidden_from(tool, "model"),
        hints: hints.into_iter().filter(|(hint, _)| claims(hint)).map(|(_, words)| words.to_owned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_is_described_with_displayable_text() {
        let tool = json!({
            "name": "copy", "description": "\u{1b}[31mCopies\u{1b}[0m\0 files", "inputSchema": { "type": "object" },
            "annotations": { "title": " Copy\nfiles ", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true,
                "openWorldHint": "yes" },
        });
        let found = describe_tool(&tool, &SecretSet::default()).expect("it is a tool");
        assert_eq!((found.tool.as_str(), found.title.as_str()), ("copy", "Copy files"));
        assert_eq!(found.description, "Copies files");
        assert_eq!(found.hints, ["destructive", "idempotent"]);
        assert!(!found.is_harmless, "nobody can claim that");
        let long = json!({ "name": "x", "description": "ä".repeat(TOOL_DESCRIPTION_BYTES), "inputSchema": {} });
        let long = describe_tool(&long, &SecretSet::default()).expect("it is a tool").description;
        assert!(long.len() <= TOOL_DESCRIPTION_BYTES && long.ends_with("…\n[Cut: this description has 8192 bytes.]"));
    }

    #[test]
    fn tool_without_schema_takes_any_arguments_and_texts_lose_nul() {
        for tool in [
            json!({ "name": "x" }),
            json!({ "name": "x", "inputSchema": null }),
            json!({ "name": "x", "inputSchema": [] }),
            json!({ "name": "x", "inputSchema": true }),
        ] {
            let found = describe_tool(&tool, &SecretSet::default()).expect("it is a tool");
            assert_eq!(found.schema, json!({}), "{tool}");
        }
        let schema =
            json!({ "title": "a\0b", "properties": { "a": { "description": "\0", "pattern": "[^\\u0000]" } } });
        let found = describe_tool(&json!({ "name": "x", "inputSchema": schema }), &SecretSet::default());
        let found = found.expect("it is a tool").schema;
        assert_eq!(
            (&found["title"], &found["properties"]["a"]["description"]),
            (&json!("a\u{2400}b"), &json!("\u{2400}"))
        );
        assert_eq!(found["properties"]["a"]["pattern"], "[^\\u0000]");
    }

    #[test]
    fn unusable_tool_is_left_out() {
        for (tool, reason) in [
            (json!({ "inputSchema": {} }), "is not a valid name"),
            (json!({ "name": "", "inputSchema": {} }), "is not a valid name"),
            (json!({ "name": "a\nb", "inputSchema": {} }), "is not a valid name"),
            (json!({ "name": "a\u{202e}b", "inputSchema": {} }), "is not a valid name"),
            (json!({ "name": "x".repeat(SERVER_TOOL_NAME_BYTES + 1), "inputSchema": {} }), "is not a valid name"),
            (json!({ "name": "x", "inputSchema": "object" }), "is not an object"),
            (json!({ "name": "x", "inputSchema": false }), "is not an object"),
            (json!({ "name": "x", "inputSchema": [{}] }), "is not an object"),
            (json!({ "name": "x", "inputSchema": { "properties": { "a\0b": {} } } }), "NUL"),
            (json!({ "name": "x", "inputSchema": { "properties": { "a": { "const": "\0" } } } }), "NUL"),
            (json!({ "name": "x", "inputSchema": { "title": "x".repeat(TOOL_SCHEMA_BYTES) } }), "64 KiB"),
            (json!({ "name": "x", "inputSchema": {}, "_meta": { TASK_SUPPORT: "required" } }), "only as a task"),
            (json!("x"), "is not a valid name"),
        ] {
            let found = describe_tool(&tool, &SecretSet::default());
            assert!(found.as_ref().is_err_and(|message| message.contains(reason)), "{tool}: {found:?}");
        }
    }
}
