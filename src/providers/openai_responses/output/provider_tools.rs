//! Provider tool calls from output items: each type has its own fields for arguments and results
//! (docs/reference/providers.md 6.2).

use serde_json::{Map, Value, json};

use super::ResponseOutput;
use crate::call_id::unique_call_id;
use crate::openai_responses::entry::{OutputEntry, OutputItemKind};
use crate::openai_responses::text_part::resolve_all_surrogates;
use crate::provider::DecodedItem;
use turnleaf_domain::blocks::client_redaction::redact_value;

impl ResponseOutput {
    /// Announces a provider tool call, once.
    pub(super) fn announce_provider_call(&mut self, at: usize, item: &Value, out: &mut Vec<DecodedItem>) {
        if self.entries[at].provider_call_id.is_some() || self.entries[at].kind != OutputItemKind::ProviderCall {
            return;
        }
        self.close_text(out);
        let id = self.unused_call_id(item);
        self.entries[at].provider_call_id = Some(id.clone());
        self.entries[at].call_id = text_of(item, "call_id").map(str::to_owned);
        out.push(announcement(id, item));
    }

    /// Ends a provider tool call. Its result is in the same item, in an item of its own, or missing.
    pub(super) fn finish_provider_call(
        &mut self,
        at: usize,
        item: &Value,
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        self.announce_provider_call(at, item, out);
        if !std::mem::replace(&mut self.entries[at].is_emitted, true)
            && let Some(id) = self.entries[at].provider_call_id.clone()
        {
            let item = resolved(item, is_mended);
            let (arguments, result) = provider_call_outcome(&item);
            self.entries[at].awaits_output = result.is_none() && self.entries[at].call_id.is_some();
            if !arguments.is_empty() {
                out.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: arguments });
            }
            if !self.entries[at].awaits_output {
                self.close_text(out);
                out.push(result_item(id, &item, result));
            }
        }
    }

    /// Ends the call that this item is the result of.
    pub(super) fn finish_provider_output(
        &mut self,
        at: usize,
        item: &Value,
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        if std::mem::replace(&mut self.entries[at].is_emitted, true) {
            return;
        }
        let item = resolved(item, is_mended);
        let call_id = text_of(&item, "call_id");
        let awaiting = |fits: &dyn Fn(&OutputEntry) -> bool| {
            self.entries.iter().rposition(|entry| entry.awaits_output && fits(entry))
        };
        let call = awaiting(&|entry| call_id.is_some() && entry.call_id.as_deref() == call_id).or_else(|| {
            awaiting(&|entry| tool_name(&entry.item_type) == tool_name(text_of(&item, "type").unwrap_or("")))
        });
        let known = call.and_then(|call| {
            self.entries[call].awaits_output = false;
            self.entries[call].provider_call_id.clone()
        });
        let id = known.or_else(|| call_id.or(text_of(&item, "id")).map(str::to_owned)).unwrap_or_default();
        self.close_text(out);
        out.push(result_item(id, &item, Some(output_of(&item))));
    }

    /// Ends a call whose result did not come, at the end of the response.
    pub(super) fn end_awaiting_call(&mut self, at: usize, out: &mut Vec<DecodedItem>) {
        if std::mem::take(&mut self.entries[at].awaits_output)
            && let Some(id) = self.entries[at].provider_call_id.clone()
        {
            self.close_text(out);
            let name = tool_name(&self.entries[at].item_type).to_owned();
            out.push(DecodedItem::ProviderToolResult { id, name, result: json!(""), is_error: false });
        }
    }

    /// Emits a complete call that has no entry of its own kind: an image that was not made.
    pub(super) fn emit_whole_call(&mut self, item: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.close_text(out);
        let id = self.unused_call_id(item);
        let item = resolved(item, is_mended);
        let (arguments, _) = provider_call_outcome(&item);
        out.push(announcement(id.clone(), &item));
        if !arguments.is_empty() {
            out.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: arguments });
        }
        let error = item.get("error").filter(|error| !error.is_null()).map(redact_value);
        out.push(result_item(id, &item, error));
    }

    /// Returns the id of the item, or one of its kind and number, distinct from those of other provider calls.
    fn unused_call_id(&self, item: &Value) -> String {
        let used: Vec<String> = self.entries.iter().filter_map(|entry| entry.provider_call_id.clone()).collect();
        let made = format!("{}-{}", tool_name(text_of(item, "type").unwrap_or_default()), used.len());
        unique_call_id(text_of(item, "id").unwrap_or(&made), &used, "")
    }
}

/// Returns a string field that is not blank.
fn text_of<'a>(item: &'a Value, field: &str) -> Option<&'a str> {
    item.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn resolved(item: &Value, is_mended: bool) -> Value {
    let mut item = item.clone();
    if is_mended {
        resolve_all_surrogates(&mut item);
    }
    item
}

/// Returns the name of the tool that an item type belongs to.
fn tool_name(kind: &str) -> &str {
    let name = kind.trim_end_matches("_output").trim_end_matches("_call");
    if name.is_empty() { "tool" } else { name }
}

fn announcement(id: String, item: &Value) -> DecodedItem {
    let kind = tool_name(text_of(item, "type").unwrap_or_default());
    let name = if kind == "mcp" { text_of(item, "name").unwrap_or(kind) } else { kind };
    DecodedItem::ProviderToolCall {
        id,
        name: name.to_owned(),
        server: text_of(item, "server_label").map(str::to_owned),
    }
}

fn result_item(id: String, item: &Value, result: Option<Value>) -> DecodedItem {
    let name = tool_name(text_of(item, "type").unwrap_or_default()).to_owned();
    let is_failed = matches!(text_of(item, "status"), Some("failed" | "incomplete"));
    let is_error = is_failed || item.get("error").is_some_and(|error| !error.is_null());
    DecodedItem::ProviderToolResult { id, name, result: result.unwrap_or_else(|| json!("")), is_error }
}

/// Returns the arguments of a complete item, and its result if it has one.
fn provider_call_outcome(item: &Value) -> (String, Option<Value>) {
    let field = |name: &str| item.get(name).filter(|value| !value.is_null());
    match text_of(item, "type").unwrap_or_default() {
        "web_search_call" => {
            let (arguments, result) = web_search_outcome(field("action"));
            (arguments, result.or_else(|| Some(json!(""))))
        }
        "file_search_call" => (
            arguments_from_fields(&[("queries", field("queries"))]),
            Some(field("results").map_or_else(|| json!(""), redact_value)),
        ),
        "code_interpreter_call" => (
            arguments_from_fields(&[("code", field("code"))]),
            Some(field("outputs").map_or_else(|| json!(""), code_output)),
        ),
        "mcp_list_tools" => {
            (String::new(), Some(field("error").or(field("tools")).map_or_else(|| json!(""), redact_value)))
        }
        "mcp_approval_request" => {
            (arguments_from_fields(&[("name", field("name")), ("arguments", field("arguments"))]), None)
        }
        _ => {
            let result = ["error", "output", "outputs", "results", "result"].into_iter().find_map(field);
            (other_arguments(item), result.map(redact_value))
        }
    }
}

/// Returns the arguments of a call without a form of its own: its `arguments`, else its only member that is an object
/// (the action of a shell call, the operation of a patch), else all members that do not describe the item.
fn other_arguments(item: &Value) -> String {
    const DESCRIBING: [&str; 17] = [
        "id",
        "type",
        "status",
        "call_id",
        "output",
        "outputs",
        "result",
        "results",
        "error",
        "created_by",
        "role",
        "server_label",
        "name",
        "execution",
        "environment",
        "approval_request_id",
        "max_output_length",
    ];
    match item.get("arguments").filter(|arguments| !arguments.is_null()) {
        Some(Value::String(raw)) => return raw.clone(),
        Some(arguments) => return arguments.to_string(),
        None => {}
    }
    let members = item.as_object().into_iter().flatten();
    let rest: Map<String, Value> = members
        .filter(|(key, value)| !DESCRIBING.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let rest = redact_value(&Value::Object(rest));
    match rest.as_object().map(|fields| (fields.len(), fields.values().next())) {
        None | Some((0, _)) => String::new(),
        Some((1, Some(only @ Value::Object(_)))) => only.to_string(),
        Some(_) => rest.to_string(),
    }
}

/// Returns the content of an item that is the result of a call.
fn output_of(item: &Value) -> Value {
    let field = |name: &str| item.get(name).filter(|value| !value.is_null());
    let known = ["error", "output", "outputs", "tools", "results", "result"].into_iter().find_map(field);
    known.map(redact_value).unwrap_or_else(|| {
        let rest = other_arguments(item);
        serde_json::from_str(&rest).unwrap_or(Value::String(rest))
    })
}

/// Returns the query and the sources of a web search.
fn web_search_outcome(action: Option<&Value>) -> (String, Option<Value>) {
    let Some(Value::Object(action)) = action else { return (String::new(), None) };
    let query: Map<String, Value> =
        action.iter().filter(|(key, _)| *key != "sources").map(|(key, value)| (key.clone(), value.clone())).collect();
    let sources = action.get("sources").filter(|sources| sources.as_array().is_some_and(|list| !list.is_empty()));
    (Value::Object(query).to_string(), sources.map(|sources| json!({"sources": sources})))
}

fn arguments_from_fields(fields: &[(&str, Option<&Value>)]) -> String {
    let known = fields.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.clone())));
    let known: Map<String, Value> = known.collect();
    if known.is_empty() { String::new() } else { Value::Object(known).to_string() }
}

/// Returns the logs of executed code as one text; other outputs stay as they are, without encrypted fields.
fn code_output(outputs: &Value) -> Value {
    let logs = |output: &Value| output.get("logs").and_then(Value::as_str).map(str::to_owned);
    let all: Option<Vec<String>> = outputs.as_array().and_then(|outputs| outputs.iter().map(logs).collect());
    all.map_or_else(|| redact_value(outputs), |logs| Value::String(logs.concat()))
}
