//! Calls that the provider runs itself, out of their items: each type has its own fields for what went in and what came
//! out (providers.md 6.2).

use serde_json::{Map, Value, json};

use super::{Channel, Output};
use crate::openai_responses::entry::Kind;
use crate::openai_responses::part::resolve_all;
use crate::provider::Item;
use turnleaf_domain::withhold::unsealed;

impl Output {
    /// A call that the provider runs itself.
    pub(super) fn announce_own(&mut self, at: usize, item: &Value, out: &mut Vec<Item>) {
        if self.entries[at].own.is_some() || self.entries[at].kind != Kind::Own {
            return;
        }
        let used = self.entries.iter().filter(|entry| entry.own.is_some()).count();
        self.channel = Channel::None;
        let call = called(item, used);
        if let Item::OwnCall { id, .. } = &call {
            self.entries[at].own = Some(id.clone());
        }
        out.push(call);
    }

    /// A call that the provider runs itself is over.
    pub(super) fn settle_own(&mut self, at: usize, item: &Value, is_mended: bool, out: &mut Vec<Item>) {
        self.announce_own(at, item, out);
        if !std::mem::replace(&mut self.entries[at].is_told, true)
            && let Some(id) = self.entries[at].own.clone()
        {
            out.extend(over(id, item, is_mended));
        }
    }
}

/// The call as it appears; `number` makes an id for one that has none.
fn called(item: &Value, number: usize) -> Item {
    let text = |field: &str| item.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("type").unwrap_or_default().trim_end_matches("_call");
    let id = text("id").map_or_else(|| format!("{kind}-{number}"), str::to_owned);
    let name = if kind == "mcp" { text("name").unwrap_or(kind) } else { kind };
    Item::OwnCall { id, name: name.to_owned(), server: text("server_label").map(str::to_owned) }
}

/// What a whole item adds: its arguments, and what came of it.
fn over(id: String, item: &Value, is_mended: bool) -> Vec<Item> {
    let mut item = item.clone();
    if is_mended {
        resolve_all(&mut item);
    }
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let name = kind.trim_end_matches("_call").to_owned();
    let field = |name: &str| item.get(name).filter(|value| !value.is_null());
    let (arguments, result) = match kind {
        "web_search_call" => searched(field("action")),
        "file_search_call" => (with(&[("queries", field("queries"))]), field("results").map(unsealed)),
        "code_interpreter_call" => (with(&[("code", field("code"))]), field("outputs").map(printed)),
        _ => (
            field("arguments")
                .map(|raw| raw.as_str().map_or_else(|| raw.to_string(), str::to_owned))
                .unwrap_or_default(),
            field("error").or(field("output")).map(unsealed),
        ),
    };
    let is_failed = matches!(item.get("status").and_then(Value::as_str), Some("failed" | "incomplete"));
    let is_error = is_failed || field("error").is_some();
    let mut items = Vec::new();
    if !arguments.is_empty() {
        items.push(Item::OwnArguments { id: id.clone(), text: arguments });
    }
    items.push(Item::OwnResult { id, name, result: result.unwrap_or_else(|| json!("")), is_error });
    items
}

/// What was looked for, and where it was found.
fn searched(action: Option<&Value>) -> (String, Option<Value>) {
    let Some(Value::Object(action)) = action else { return (String::new(), None) };
    let asked: Map<String, Value> =
        action.iter().filter(|(key, _)| *key != "sources").map(|(key, value)| (key.clone(), value.clone())).collect();
    let sources = action.get("sources").filter(|sources| sources.as_array().is_some_and(|list| !list.is_empty()));
    (Value::Object(asked).to_string(), sources.map(|sources| json!({"sources": sources})))
}

fn with(fields: &[(&str, Option<&Value>)]) -> String {
    let known = fields.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.clone())));
    let known: Map<String, Value> = known.collect();
    if known.is_empty() { String::new() } else { Value::Object(known).to_string() }
}

/// What code printed; as it came where there is more.
fn printed(outputs: &Value) -> Value {
    let logs = |output: &Value| output.get("logs").and_then(Value::as_str).map(str::to_owned);
    let all: Option<Vec<String>> = outputs.as_array().and_then(|outputs| outputs.iter().map(logs).collect());
    all.map_or_else(|| unsealed(outputs), |logs| Value::String(logs.concat()))
}
