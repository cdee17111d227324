//! Provider tool calls of Gemini: code execution and Google's own tools. The call is one part, its result a later
//! one.

use serde_json::{Map, Value};

use crate::gemini::sources::opaque_content;
use crate::pictures::GeneratedImage;
use crate::provider::DecodedItem;
use turnleaf_domain::client_redaction::redact_value;

/// The provider tool calls of one reply that have no result yet.
#[derive(Debug, Default)]
pub struct GeminiProviderCalls {
    /// The id and name of each call, and the id that its part had.
    open: Vec<(String, String, String)>,
    begun: usize,
}

impl GeminiProviderCalls {
    /// Decodes a part that is neither text nor a function call.
    pub fn read_part(&mut self, name: &str, held: &Value, out: &mut Vec<DecodedItem>) {
        let word = |field: &str| held.get(field).and_then(Value::as_str).unwrap_or_default();
        match name {
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

fn without_fields(held: &Value, fields: &[&str]) -> Value {
    let members = held.as_object().into_iter().flatten().filter(|(key, _)| !fields.contains(&key.as_str()));
    Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}
