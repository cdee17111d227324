//! Parses the `output` items of newer messages: those of OpenAI's Responses API, and the program's own.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::details::{json_or_text, without_blank_ends};
use crate::conversation::{ImportedSource, PieceBody};
use crate::domain::blocks::sources::is_web_url;
use crate::reading::fields;

/// Returns the content of the items in order. A result stays at its position; one without a call gets a created call.
pub(crate) fn bodies(
    items: &[Value],
    report_issue: &mut dyn FnMut(&str),
    picture: &mut dyn FnMut(&Value) -> Option<PieceBody>,
) -> Vec<PieceBody> {
    let mut bodies = Vec::new();
    // Names of the calls so far; the first one wins if ids repeat.
    let mut calls: HashMap<String, String> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let id = |name: &str| fields::id(item, name).or_else(|| fields::id(item, "id"));
        let id = |name: &str| id(name).unwrap_or_else(|| format!("call-{}", at + 1));
        match fields::text(item, "type").unwrap_or_default() {
            "message" => bodies.extend(text_bodies(item)),
            "reasoning" => bodies.extend(reasoning(item)),
            "function_call" => {
                let name = fields::text(item, "name").unwrap_or("tool").to_owned();
                calls.entry(id("call_id")).or_insert_with(|| name.clone());
                bodies.push(call_body(id("call_id"), name, item));
            }
            "function_call_output" => {
                let call = id("call_id");
                let name = calls.get(&call).cloned().unwrap_or_else(|| {
                    let (id, name) = (call.clone(), "tool".to_owned());
                    bodies.push(PieceBody::ToolCall { id, name, arguments: Value::Null, arguments_raw: None });
                    "tool".to_owned()
                });
                bodies.push(result_body(call, name, item));
                bodies.extend(fields::list(item, "files").iter().filter_map(&mut *picture));
            }
            "open_webui:code_interpreter" | "code_interpreter" => {
                let code = fields::text(item, "code").map(str::to_owned);
                bodies.extend(code_run_bodies(id("call_id"), code, item.get("output").cloned(), !has_failed(item)));
            }
            kind if kind.ends_with("_call") => {
                bodies.extend(provider_call_bodies(id("id"), kind.trim_end_matches("_call"), item));
            }
            kind => {
                let text = texts(item.get("content")).join("");
                if text.trim().is_empty() {
                    report_issue(kind);
                } else {
                    bodies.push(PieceBody::Text(text));
                }
            }
        }
    }
    bodies
}

/// Returns the text of a message, and the pages that it cites.
fn text_bodies(item: &Value) -> Vec<PieceBody> {
    let text = texts(item.get("content")).join("");
    let text = without_blank_ends(&text);
    let cited = cited_pages(item.get("content"), text);
    let text = (!text.is_empty()).then(|| PieceBody::Text(text.to_owned()));
    text.into_iter().chain((!cited.is_empty()).then_some(PieceBody::Sources(cited))).collect()
}

fn call_body(id: String, name: String, item: &Value) -> PieceBody {
    let (arguments, arguments_raw) = match item.get("arguments") {
        Some(Value::String(raw)) => (json_or_text(raw), (!raw.is_empty()).then(|| raw.clone())),
        other => (other.cloned().unwrap_or_default(), None),
    };
    let arguments = if arguments.is_string() { Value::Null } else { arguments };
    PieceBody::ToolCall { id, name, arguments, arguments_raw }
}

fn result_body(id: String, name: String, item: &Value) -> PieceBody {
    let result = match item.get("output") {
        Some(Value::String(text)) => json_or_text(text),
        Some(Value::Array(_)) => json_or_text(&texts(item.get("output")).join("")),
        other => other.cloned().unwrap_or_default(),
    };
    PieceBody::ToolResult { id, name, result, success: !has_failed(item), metadata: Value::Null }
}

/// Returns the call of a tool that the provider ran: only its input is stored.
fn provider_call_bodies(id: String, name: &str, item: &Value) -> [PieceBody; 2] {
    let mut arguments = item.clone();
    if let Value::Object(members) = &mut arguments {
        members.retain(|name, _| !matches!(name.as_str(), "type" | "id" | "status"));
    }
    let (name, success) = (name.to_owned(), !has_failed(item));
    [
        PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments, arguments_raw: None },
        PieceBody::ToolResult { id, name, result: Value::Null, success, metadata: Value::Null },
    ]
}

/// Returns a run of the code interpreter: its code as the call, its output as the result.
pub(crate) fn code_run_bodies(
    id: String,
    code: Option<String>,
    output: Option<Value>,
    success: bool,
) -> [PieceBody; 2] {
    let name = "code_interpreter".to_owned();
    let call = PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments: Value::Null, arguments_raw: code };
    [
        call,
        PieceBody::ToolResult { id, name, result: output.unwrap_or_else(|| json!("")), success, metadata: Value::Null },
    ]
}

fn has_failed(item: &Value) -> bool {
    matches!(fields::text(item, "status"), Some("failed" | "error"))
}

/// Returns the summary of a thought and the thought itself, as far as the item has them.
fn reasoning(item: &Value) -> Vec<PieceBody> {
    let duration_ms = fields::seconds_as_ms(item, "duration").filter(|duration| *duration > 0);
    let mut said: Vec<String> = Vec::new();
    for name in ["summary", "content"] {
        let text = texts(item.get(name)).join("").trim().to_owned();
        if !text.is_empty() && !said.contains(&text) {
            said.push(text);
        }
    }
    if said.is_empty() && duration_ms.is_some() {
        said.push(String::new());
    }
    // The duration is that of the whole thought.
    let last = said.len().saturating_sub(1);
    let thought =
        |(at, text)| PieceBody::Thinking { text, title: None, duration_ms: duration_ms.filter(|_| at == last) };
    said.into_iter().enumerate().map(thought).collect()
}

/// Returns the pages that the parts of a text cite. Ranges count in the only part of a text.
fn cited_pages(content: Option<&Value>, text: &str) -> Vec<ImportedSource> {
    let parts = content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let length = text.chars().count() as u64;
    let is_whole = matches!(parts, [part] if fields::text(part, "text").is_some_and(|whole| whole.starts_with(text)));
    let cited = parts.iter().flat_map(|part| fields::list(part, "annotations")).filter_map(|annotation| {
        let of = annotation.get("url_citation").unwrap_or(annotation);
        let url = fields::text(of, "url").filter(|url| is_web_url(url))?;
        let range = fields::count(of, "start_index").zip(fields::count(of, "end_index"));
        Some(ImportedSource {
            title: fields::text(of, "title").unwrap_or_default().to_owned(),
            url: url.to_owned(),
            snippet: String::new(),
            cited_range: range.filter(|(start, end)| is_whole && start < end && *end <= length),
        })
    });
    cited.collect()
}

/// Returns the texts of content parts, or the content itself if it is a string.
fn texts(of: Option<&Value>) -> Vec<&str> {
    match of {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => {
            let text = |part| fields::first_text(part, &["text", "refusal"]);
            parts.iter().filter_map(|part| part.as_str().or_else(|| text(part))).collect()
        }
        _ => Vec::new(),
    }
}
