//! Repairs messages that servers send as almost JSON: with a byte order mark, with halves of surrogate pairs (servers
//! in JavaScript cut texts between them), with `NaN` and infinities (servers in Python write them), and nested deeper
//! than a reader accepts.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use turnleaf_domain::limits::ELICITATION_FIELDS;
use turnleaf_providers::surrogates::without_lone_surrogates;

/// Levels of nesting that are kept; `serde_json` reads 127.
const LEVELS: usize = 120;
/// The member of a tool's metadata that states whether the tool runs as a task.
pub const TASK_SUPPORT: &str = "turnleaf.taskSupport";
/// The member of a question's metadata that lists the names of its fields in the order of the server, and the one of a
/// result that lists its questions.
pub const FIELD_ORDER: &str = "turnleaf.fieldOrder";
/// The numbers of Python that JSON does not have; they become `null`.
const NOT_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
/// Stands for what is nested deeper.
const TOO_DEEP: &str = "\"(omitted: nested too deeply)\"";

/// Parses a message, repaired if it is not valid as it is.
///
/// # Errors
/// The text is no such message.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    // Invalid UTF-8 is replaced so that the rest of the message is not lost.
    let text = String::from_utf8_lossy(text);
    let text = strip_mark(&text);
    if let Some(message) = with_kept_members(text) {
        return serde_json::from_value(message);
    }
    serde_json::from_str(text).or_else(|error| match repair(text) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(repaired) => serde_json::from_str(&repaired),
    })
}

/// Keeps what the protocol library drops, where the message has such.
fn with_kept_members(text: &str) -> Option<Value> {
    with_task_support(text).or_else(|| with_field_order(text))
}

/// Keeps the order of the fields of questions, which the protocol library sorts by name: of one that is a request, and
/// of those in the place of a result, whose own order is kept too.
fn with_field_order(text: &str) -> Option<Value> {
    if !text.contains("\"requestedSchema\"") {
        return None;
    }
    let mut message: Value = serde_json::from_str(&repair(text)).ok()?;
    let is_marked = match message.pointer_mut("/result/inputRequests") {
        Some(requests) => {
            let requests = requests.as_object_mut()?;
            for asked in requests.values_mut() {
                if let Some(params) = asked.get_mut("params") {
                    mark_field_order(params);
                }
            }
            let order = order_of(requests);
            set_order(message.get_mut("result")?, order)
        }
        None => message.get_mut("params").and_then(mark_field_order),
    };
    is_marked.map(|()| message)
}

/// Adds the order of the fields to the parameters of a question. `None` for anything else.
fn mark_field_order(params: &mut Value) -> Option<()> {
    let order = order_of(params.pointer("/requestedSchema/properties")?.as_object()?);
    set_order(params, order)
}

fn order_of(named: &Map<String, Value>) -> Value {
    named.keys().take(ELICITATION_FIELDS).cloned().collect()
}

fn set_order(owner: &mut Value, order: Value) -> Option<()> {
    let meta = owner.as_object_mut()?.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?.insert(FIELD_ORDER.into(), order);
    Some(())
}

/// Keeps in each listed tool whether it runs only as a task: the protocol library drops where servers state it.
fn with_task_support(text: &str) -> Option<Value> {
    if !text.contains("\"taskSupport\"") {
        return None;
    }
    let mut message: Value = serde_json::from_str(&repair(text)).ok()?;
    for tool in message.pointer_mut("/result/tools")?.as_array_mut()? {
        let Some(support) = tool.pointer("/execution/taskSupport").cloned() else { continue };
        let Some(tool) = tool.as_object_mut() else { continue };
        let meta = tool.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(TASK_SUPPORT.into(), support);
        }
    }
    Some(message)
}

/// Returns the text of a message that is parsed elsewhere, repaired like those of [`parse`].
pub fn repaired_message(text: &str) -> String {
    with_kept_members(text).map_or_else(|| repair(text).into_owned(), |message| message.to_string())
}

/// Returns the message in a form that can be parsed, as far as these repairs go.
fn repair(text: &str) -> Cow<'_, str> {
    let text = without_lone_surrogates(strip_mark(text));
    let whole = match with_null_for_nan(&text) {
        Some(whole) => Cow::Owned(whole),
        None => text,
    };
    if is_deep(&whole) { Cow::Owned(without_deep(&whole)) } else { whole }
}

/// Returns the text without white space and byte order marks around it.
pub fn strip_mark(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Returns the text with `null` in the place of what is no number in JSON, if it has such outside of strings.
fn with_null_for_nan(text: &str) -> Option<String> {
    if !NOT_NUMBERS.iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut mended = String::new();
    let (mut levels, mut copied) = (Levels::default(), 0);
    for (at, byte) in text.bytes().enumerate() {
        levels.read(byte);
        if levels.is_in_text || at < copied {
            continue;
        }
        if let Some(word) = NOT_NUMBERS.iter().find(|word| text.as_bytes()[at..].starts_with(word.as_bytes())) {
            mended.push_str(&text[copied..at]);
            mended.push_str("null");
            copied = at + word.len();
        }
    }
    mended.push_str(&text[copied..]);
    (copied > 0).then_some(mended)
}

fn is_deep(text: &str) -> bool {
    let mut levels = Levels::default();
    text.bytes().any(|byte| {
        levels.read(byte);
        levels.open > LEVELS
    })
}

fn without_deep(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut levels = Levels::default();
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let before = levels.open;
        levels.read(byte);
        if before == LEVELS && levels.open > LEVELS {
            kept.push_str(&text[copied..at]);
            kept.push_str(TOO_DEEP);
            copied = text.len();
        } else if before == LEVELS + 1 && levels.open == LEVELS {
            copied = at + 1;
        }
    }
    kept.push_str(&text[copied..]);
    kept
}

/// Counts the open lists and objects of a JSON text.
#[derive(Default)]
struct Levels {
    open: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl Levels {
    fn read(&mut self, byte: u8) {
        match byte {
            _ if std::mem::take(&mut self.is_escaped) => {}
            b'\\' if self.is_in_text => self.is_escaped = true,
            b'"' => self.is_in_text = !self.is_in_text,
            b'{' | b'[' if !self.is_in_text => self.open += 1,
            b'}' | b']' if !self.is_in_text => self.open = self.open.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_json_is_read() {
        let bytes = b"\xef\xbb\xbf {\"a\":\"cut \\ud83d, \\udc00 and \\ud83d\\ude00\",\"b\":\"\xff\"}\r\n";
        let found: Value = parse(bytes).expect("it is repaired");
        assert_eq!(found, json!({ "a": "cut \u{fffd}, \u{fffd} and \u{1f600}", "b": "\u{fffd}" }));
        assert!(parse::<Value>(b"{\"a\":").is_err());
        assert!(matches!(repair(r#"{"a":"[[\"{"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn numbers_of_python_become_null() {
        let text = r#"{"a":NaN,"b":[-Infinity, Infinity,-1],"NaN":"NaN, \"Infinity"}"#;
        let expected = json!({ "a": null, "b": [null, null, -1], "NaN": "NaN, \"Infinity" });
        assert_eq!(parse::<Value>(text.as_bytes()).expect("it is repaired"), expected);
        assert_eq!(repaired_message(text), r#"{"a":null,"b":[null, null,-1],"NaN":"NaN, \"Infinity"}"#);
        assert_eq!(repaired_message(r#"{"text":"NaN é"}"#), r#"{"text":"NaN é"}"#);
        assert!(parse::<Value>(b"{\"a\":Nan}").is_err());
    }

    #[test]
    fn task_support_of_tools_is_kept() {
        let list = json!({ "result": { "tools": [
            { "name": "a", "execution": { "taskSupport": "required" }, "_meta": { "x": 1 } },
            { "name": "b" },
        ] } });
        let found: Value = parse(list.to_string().as_bytes()).expect("it is JSON");
        assert_eq!(found["result"]["tools"][0]["_meta"], json!({ "x": 1, TASK_SUPPORT: "required" }));
        assert_eq!(found["result"]["tools"][1], json!({ "name": "b" }));
    }

    #[test]
    fn order_of_fields_is_kept() {
        let properties = json!({ "z": { "type": "string" }, "a": { "type": "string" } });
        let asked = json!({ "params": { "requestedSchema": { "properties": properties } } });
        let found: Value = parse(asked.to_string().as_bytes()).expect("it is JSON");
        assert_eq!(found["params"]["_meta"][FIELD_ORDER], json!(["z", "a"]));
        let form = |properties: &Value| json!({ "params": { "requestedSchema": { "properties": properties } } });
        let other = json!({ "method": "roots/list" });
        let requests = json!({ "y": form(&properties), "x": form(&json!({})), "b": other });
        let needed = json!({ "result": { "inputRequests": requests, "_meta": { "x": 1 } } });
        let found: Value = parse(needed.to_string().as_bytes()).expect("it is JSON");
        assert_eq!(found["result"]["_meta"], json!({ "x": 1, FIELD_ORDER: ["y", "x", "b"] }));
        assert_eq!(found["result"]["inputRequests"]["y"]["params"]["_meta"][FIELD_ORDER], json!(["z", "a"]));
        assert_eq!(found["result"]["inputRequests"]["b"], other);
        let text = json!({ "result": { "text": "\"requestedSchema\"" } });
        assert_eq!(parse::<Value>(text.to_string().as_bytes()).expect("it is JSON"), text);
    }

    #[test]
    fn only_what_is_nested_too_deeply_is_lost() {
        for levels in [119, 120, 121, 5000] {
            let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
            let found: Value =
                parse(format!(r#"[{{"a":{deep},"b":"]"}},{deep},2]"#).as_bytes()).expect("it is repaired");
            assert_eq!((&found[0]["b"], &found[2]), (&json!("]"), &json!(2)), "{levels}");
        }
    }
}
