//! Provider tool calls of Gemini: code execution and Google's own tools. The call is one part, its result a later
//! one.

use serde_json::{Map, Value, json};

use crate::pictures::GeneratedImage;
use crate::provider::{DecodedItem, opaque_content};
use turnleaf_domain::blocks::client_redaction::redact_value;

/// The provider tool calls of one reply that have no result yet.
#[derive(Debug, Default)]
pub struct GeminiProviderCalls {
    /// The id and name of each call, and the id that its part had.
    open: Vec<(String, String, String)>,
    begun: usize,
    search: Option<GoogleSearch>,
}

/// The Google searches of a reply. They are one call, however many parts and grounding metadata tell of them: it
/// starts with the first of them and ends with the reply, when the pages are known.
#[derive(Debug, Default)]
struct GoogleSearch {
    queries: Vec<String>,
    /// The results of its parts.
    results: Vec<Value>,
    /// The number of its calls that have no result yet.
    running: usize,
}

/// The id and the name of the call.
const GOOGLE_SEARCH: &str = "google_search";

impl GeminiProviderCalls {
    /// Decodes a part that is neither text nor a function call.
    pub fn read_part(&mut self, name: &str, held: &Value, out: &mut Vec<DecodedItem>) {
        let word = |field: &str| held.get(field).and_then(Value::as_str).unwrap_or_default();
        match name {
            "executableCode" | "toolCall" | "googleSearch" if is_search(name, held) => self.read_search(held, out),
            "codeExecutionResult" | "toolResponse" if self.ends_search(name, held) => self.read_search_result(held),
            "executableCode" => {
                let arguments = without_fields(held, &["id"]);
                self.start_call(word("id"), "code_execution".to_owned(), &arguments, out);
            }
            "toolCall" => {
                let arguments = held.get("args").cloned().unwrap_or_else(|| without_fields(held, &["toolType", "id"]));
                self.start_call(word("id"), word("toolType").to_ascii_lowercase(), &arguments, out);
            }
            "codeExecutionResult" => {
                let is_error = !matches!(word("outcome"), "OUTCOME_OK" | "");
                self.finish_call(word("id"), word("output").into(), is_error, "code_execution", out);
            }
            "toolResponse" => {
                let response = held.get("response").map(redact_value);
                let result = response.unwrap_or_else(|| match without_fields(held, &["toolType", "id"]) {
                    Value::Object(fields) if fields.is_empty() => "".into(),
                    other => redact_value(&other),
                });
                self.finish_call(word("id"), result, false, &word("toolType").to_ascii_lowercase(), out);
            }
            "inlineData" => out.push(match GeneratedImage::parse(word("data"), None) {
                Some(image) => DecodedItem::Image(image),
                None => DecodedItem::Opaque(opaque_content(name, held.clone())),
            }),
            _ => out.push(DecodedItem::Opaque(opaque_content(name, held.clone()))),
        }
    }

    fn read_search(&mut self, held: &Value, out: &mut Vec<DecodedItem>) {
        let search = self.search.get_or_insert_with(|| {
            let id = GOOGLE_SEARCH.to_owned();
            out.push(DecodedItem::ProviderToolCall { id: id.clone(), name: id, server: None });
            GoogleSearch::default()
        });
        search.running += 1;
        let arguments = held.get("args").unwrap_or(held);
        let list = arguments.get("queries").and_then(Value::as_array).into_iter().flatten();
        let queries = list.chain(arguments.get("query")).filter_map(Value::as_str).map(str::to_owned);
        let code = held.get("code").and_then(Value::as_str).map(quoted_texts).unwrap_or_default();
        for query in queries.chain(code) {
            if !search.queries.contains(&query) && search.queries.len() < MOST_QUERIES {
                search.queries.push(query);
            }
        }
    }

    /// Returns true for the result of a search: no other call of its kind is open that it could belong to.
    fn ends_search(&self, name: &str, held: &Value) -> bool {
        let is_running = self.search.as_ref().is_some_and(|search| search.running > 0);
        match name {
            "toolResponse" => self.search.is_some() && is_search_type(held),
            _ => is_running && self.open.iter().all(|(_, open, _)| open != "code_execution"),
        }
    }

    fn read_search_result(&mut self, held: &Value) {
        let Some(search) = &mut self.search else { return };
        search.running = search.running.saturating_sub(1);
        let result = held.get("response").map(redact_value).or_else(|| held.get("output").cloned());
        search.results.extend(result.filter(|result| !is_empty(result)));
    }

    /// Ends the search of the reply with the queries and pages of the grounding metadata, if there was one.
    pub fn finish_search(&mut self, queries: Option<&Vec<Value>>, pages: Vec<Value>, out: &mut Vec<DecodedItem>) {
        let id = GOOGLE_SEARCH.to_owned();
        let mut search = match self.search.take() {
            Some(search) => search,
            None if queries.is_none() => return,
            None => {
                out.push(DecodedItem::ProviderToolCall { id: id.clone(), name: id.clone(), server: None });
                GoogleSearch::default()
            }
        };
        let mut all: Vec<Value> = queries.cloned().unwrap_or_default();
        all.extend(
            search
                .queries
                .into_iter()
                .map(Value::String)
                .filter(|query| !queries.is_some_and(|known| known.contains(query))),
        );
        out.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: json!({"queries": all}).to_string() });
        let result = match (pages.is_empty(), search.results.len()) {
            (false, _) => Value::Array(pages),
            (true, 1) => search.results.remove(0),
            (true, 0) if queries.is_none() => "".into(),
            (true, _) => Value::Array(search.results),
        };
        out.push(DecodedItem::ProviderToolResult { id: id.clone(), name: id, result, is_error: false });
    }

    /// Ends all calls at the end of a complete reply: no further results can arrive.
    pub fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        for (id, name, _) in std::mem::take(&mut self.open) {
            out.push(DecodedItem::ProviderToolResult { id, name, result: "".into(), is_error: false });
        }
    }

    fn start_call(&mut self, given: &str, name: String, arguments: &Value, out: &mut Vec<DecodedItem>) {
        self.begun += 1;
        let name = if name.is_empty() { "tool".to_owned() } else { name };
        let id = if given.is_empty() { format!("{name}-{}", self.begun) } else { given.to_owned() };
        out.push(DecodedItem::ProviderToolCall { id: id.clone(), name: name.clone(), server: None });
        out.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: arguments.to_string() });
        self.open.push((id, name, given.to_owned()));
    }

    fn finish_call(&mut self, given: &str, result: Value, is_error: bool, name: &str, out: &mut Vec<DecodedItem>) {
        let known = self.open.iter().rposition(|(_, _, id)| !given.is_empty() && id == given);
        let at = known.or_else(|| self.open.iter().rposition(|(_, open, _)| open == name));
        let (id, name) = match at.map(|at| self.open.remove(at)) {
            Some((id, name, _)) => (id, name),
            None => (given.to_owned(), name.to_owned()),
        };
        out.push(DecodedItem::ProviderToolResult { id, name, result, is_error });
    }
}

/// The number of queries that are kept of a search.
const MOST_QUERIES: usize = 256;

/// Returns true for a part that calls Google Search: as a tool, or in the code of the first versions of that tool.
fn is_search(name: &str, held: &Value) -> bool {
    let code = held.get("code").and_then(Value::as_str).unwrap_or_default();
    match name {
        "executableCode" => ["google_search.", "concise_search("].iter().any(|call| code.contains(call)),
        "toolCall" => is_search_type(held),
        _ => true,
    }
}

fn is_search_type(held: &Value) -> bool {
    let kind = held.get("toolType").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
    kind.starts_with("GOOGLE_SEARCH") || kind == "GOOGLESEARCH"
}

/// Returns the quoted texts of code that calls the search.
fn quoted_texts(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(['"', '\'']) {
        let (quote, after) = rest[start..].split_at(1);
        let Some(end) = after.find(quote) else { break };
        texts.push(after[..end].to_owned());
        rest = &after[end + 1..];
    }
    texts
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn without_fields(held: &Value, fields: &[&str]) -> Value {
    let members = held.as_object().into_iter().flatten().filter(|(key, _)| !fields.contains(&key.as_str()));
    Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}
