//! Provider tool calls from output items: each type has its own fields for arguments and results
//! (docs/reference/providers.md 6.2).

use serde_json::{Map, Value, json};

use super::ResponseOutput;
use crate::openai_responses::entry::OutputItemKind;
use crate::openai_responses::text_part::resolve_all_surrogates;
use crate::provider::DecodedItem;
use turnleaf_domain::client_redaction::redact_value;

impl ResponseOutput {
    /// Announces a provider tool call, once.
    pub(super) fn announce_provider_call(&mut self, at: usize, item: &Value, out: &mut Vec<DecodedItem>) {
        if self.entries[at].provider_call_id.is_some() || self.entries[at].kind != OutputItemKind::ProviderCall {
            return;
        }
        let used = self.entries.iter().filter(|entry| entry.provider_call_id.is_some()).count();
        self.close_text(out);
        let call = provider_call(item, used);
        if let DecodedItem::ProviderToolCall { id, .. } = &call {
            self.entries[at].provider_call_id = Some(id.clone());
        }
        out.push(call);
    }

    /// Ends a provider tool call with its result.
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
            out.extend(provider_call_items(id, item, is_mended));
        }
    }
}

/// Returns the call item; `number` makes an id for a call that has none.
fn provider_call(item: &Value, number: usize) -> DecodedItem {
    let text = |field: &str| item.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("type").unwrap_or_default().trim_end_matches("_call");
    let id = text("id").map_or_else(|| format!("{kind}-{number}"), str::to_owned);
    let name = if kind == "mcp" { text("name").unwrap_or(kind) } else { kind };
    DecodedItem::ProviderToolCall { id, name: name.to_owned(), server: text("server_label").map(str::to_owned) }
}

/// Returns the arguments and the result of a complete item.
fn provider_call_items(id: String, item: &Value, is_mended: bool) -> Vec<DecodedItem> {
    let mut item = item.clone();
    if is_mended {
        resolve_all_surrogates(&mut item);
    }
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let name = kind.trim_end_matches("_call").to_owned();
    let field = |name: &str| item.get(name).filter(|value| !value.is_null());
    let (arguments, result) = match kind {
        "web_search_call" => web_search_outcome(field("action")),
        "file_search_call" => {
            (arguments_from_fields(&[("queries", field("queries"))]), field("results").map(redact_value))
        }
        "code_interpreter_call" => {
            (arguments_from_fields(&[("code", field("code"))]), field("outputs").map(code_output))
        }
        _ => (
            field("arguments")
                .map(|raw| raw.as_str().map_or_else(|| raw.to_string(), str::to_owned))
                .unwrap_or_default(),
            field("error").or(field("output")).map(redact_value),
        ),
    };
    let is_failed = matches!(item.get("status").and_then(Value::as_str), Some("failed" | "incomplete"));
    let is_error = is_failed || field("error").is_some();
    let mut items = Vec::new();
    if !arguments.is_empty() {
        items.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: arguments });
    }
    items.push(DecodedItem::ProviderToolResult { id, name, result: result.unwrap_or_else(|| json!("")), is_error });
    items
}

/// Returns the query and the sources of a web search.
fn web_search_outcome(action: Option<&Value>) -> (String, Option<Value>) {
    let Some(Value::Object(action)) = action else { return (String::new(), None) };
    let asked: Map<String, Value> =
        action.iter().filter(|(key, _)| *key != "sources").map(|(key, value)| (key.clone(), value.clone())).collect();
    let sources = action.get("sources").filter(|sources| sources.as_array().is_some_and(|list| !list.is_empty()));
    (Value::Object(asked).to_string(), sources.map(|sources| json!({"sources": sources})))
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
