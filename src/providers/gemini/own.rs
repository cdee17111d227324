//! Calls that Google runs itself: code, and tools of its own, each in a part, with what it gave in a later one.

use serde_json::{Map, Value};

use crate::gemini::sources::opaque;
use crate::pictures::SaidImage;
use crate::provider::Item;
use turnleaf_domain::withhold::unsealed;

/// Those of one reply.
#[derive(Debug, Default)]
pub struct OwnCalls {
    /// By their ids and names, with the id that the part gave.
    open: Vec<(String, String, String)>,
    begun: usize,
}

impl OwnCalls {
    /// Takes what a part holds that is neither text nor a call for us.
    pub fn take(&mut self, name: &str, held: &Value, out: &mut Vec<Item>) {
        let word = |field: &str| held.get(field).and_then(Value::as_str).unwrap_or_default();
        match name {
            "executableCode" => {
                let arguments = without(held, &["id"]);
                self.begin(word("id"), "code_execution".to_owned(), &arguments, out);
            }
            "toolCall" => {
                let arguments = held.get("args").cloned().unwrap_or_else(|| without(held, &["toolType", "id"]));
                self.begin(word("id"), word("toolType").to_ascii_lowercase(), &arguments, out);
            }
            "codeExecutionResult" => {
                let is_error = !matches!(word("outcome"), "OUTCOME_OK" | "");
                self.over(word("id"), word("output").into(), is_error, "code_execution", out);
            }
            "toolResponse" => {
                let response = held.get("response").map(unsealed);
                let result = response.unwrap_or_else(|| match without(held, &["toolType", "id"]) {
                    Value::Object(fields) if fields.is_empty() => "".into(),
                    other => unsealed(&other),
                });
                self.over(word("id"), result, false, &word("toolType").to_ascii_lowercase(), out);
            }
            "inlineData" => out.push(match SaidImage::read(word("data"), None) {
                Some(image) => Item::Image(image),
                None => Item::Opaque(opaque(name, held.clone())),
            }),
            _ => out.push(Item::Opaque(opaque(name, held.clone()))),
        }
    }

    /// The reply is whole: what has not answered will not.
    pub fn end(&mut self, out: &mut Vec<Item>) {
        for (id, name, _) in std::mem::take(&mut self.open) {
            out.push(Item::OwnResult { id, name, result: "".into(), is_error: false });
        }
    }

    fn begin(&mut self, given: &str, name: String, arguments: &Value, out: &mut Vec<Item>) {
        self.begun += 1;
        let name = if name.is_empty() { "tool".to_owned() } else { name };
        let id = if given.is_empty() { format!("{name}-{}", self.begun) } else { given.to_owned() };
        out.push(Item::OwnCall { id: id.clone(), name: name.clone(), server: None });
        out.push(Item::OwnArguments { id: id.clone(), text: arguments.to_string() });
        self.open.push((id, name, given.to_owned()));
    }

    fn over(&mut self, given: &str, result: Value, is_error: bool, name: &str, out: &mut Vec<Item>) {
        let known = self.open.iter().rposition(|(_, _, id)| !given.is_empty() && id == given);
        let at = known.or_else(|| self.open.iter().rposition(|(_, open, _)| open == name));
        let (id, name) = match at.map(|at| self.open.remove(at)) {
            Some((id, name, _)) => (id, name),
            None => (given.to_owned(), name.to_owned()),
        };
        out.push(Item::OwnResult { id, name, result, is_error });
    }
}

fn without(held: &Value, fields: &[&str]) -> Value {
    let members = held.as_object().into_iter().flatten().filter(|(key, _)| !fields.contains(&key.as_str()));
    Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}
