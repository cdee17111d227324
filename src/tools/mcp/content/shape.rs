//! Brings the results of servers into the shape of the protocol: servers of early drafts and those that write their own
//! JSON send a string or an object for the list of parts, parts without type, or the data of an image elsewhere. The tool
//! ran, so whatever it gave is its result.

use serde_json::{Map, Value, json};

use turnleaf_domain::tools::tool_output::value_to_text;

/// Members of a result that say nothing about what the tool gave.
const ENVELOPE: [&str; 4] = ["_meta", "isError", "is_error", "resultType"];

/// A result with the members of the protocol.
#[derive(Debug, Default)]
pub struct ShapedResult {
    pub content: Vec<Value>,
    /// Not null.
    pub structured: Option<Value>,
    pub is_error: bool,
}

impl ShapedResult {
    pub fn new(result: Value) -> Self {
        let mut members = match result {
            Value::Object(members) => members,
            other => return Self::from_value(other),
        };
        let is_true =
            |value: Option<&Value>| value.is_some_and(|value| *value == json!(true) || *value == json!("true"));
        let is_error = is_true(members.get("isError")) || is_true(members.get("is_error"));
        let content = members.remove("content").map(parts_of);
        let structured = members.remove("structuredContent").filter(|value| !value.is_null());
        if content.is_some() || structured.is_some() {
            return Self { content: content.unwrap_or_default(), structured, is_error };
        }
        members.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
        let given = match members.remove("toolResult") {
            Some(given) => given,
            None if members.is_empty() => Value::Null,
            None => Value::Object(members),
        };
        Self { is_error, ..Self::from_value(given) }
    }

    /// Takes a value that is the whole result.
    fn from_value(value: Value) -> Self {
        let is_part = |item: &Value| item.get("type").is_some_and(Value::is_string);
        match value {
            Value::Array(items) if !items.is_empty() && items.iter().all(is_part) => {
                Self { content: parts_of(Value::Array(items)), ..Self::default() }
            }
            Value::Array(_) | Value::Object(_) => Self { structured: Some(value), ..Self::default() },
            other => Self { content: parts_of(other), ..Self::default() },
        }
    }
}

/// Returns the parts of what stands for the list of them.
fn parts_of(content: Value) -> Vec<Value> {
    match content {
        Value::Array(items) => items.into_iter().filter_map(part_of).collect(),
        single => part_of(single).into_iter().collect(),
    }
}

fn part_of(item: Value) -> Option<Value> {
    match item {
        Value::Null => None,
        Value::Object(part) => Some(Value::Object(shaped_part(part))),
        other => Some(text_part(other)),
    }
}

fn text_part(value: Value) -> Value {
    json!({ "type": "text", "text": value_to_text(value) })
}

/// Returns a part with its type, and with its text or data where the protocol has it.
fn shaped_part(mut part: Map<String, Value>) -> Map<String, Value> {
    let kind = match part.get("type").and_then(Value::as_str) {
        Some(kind) => kind.to_owned(),
        None => {
            let kind = kind_of(&part).unwrap_or("text");
            if kind == "text" && !part.contains_key("text") {
                part = Map::from_iter([("text".to_owned(), Value::Object(part))]);
            }
            part.insert("type".into(), json!(kind));
            kind.to_owned()
        }
    };
    match kind.as_str() {
        "text" => {
            let text = part.remove("text").unwrap_or_default();
            part.insert("text".into(), Value::String(value_to_text(text)));
        }
        "image" | "audio" | "image_url" => {
            if let Some((mime, data)) = media_of(&part) {
                let kind = if kind == "audio" { "audio" } else { "image" };
                part.insert("type".into(), json!(kind));
                part.insert("data".into(), Value::String(data));
                if !mime.is_empty() {
                    part.insert("mimeType".into(), json!(mime));
                }
            }
        }
        _ => {}
    }
    part
}

/// Returns the type of a part that states none.
fn kind_of(part: &Map<String, Value>) -> Option<&'static str> {
    let has = |name: &str| part.contains_key(name);
    let mime = part.get("mimeType").and_then(Value::as_str).unwrap_or_default();
    let kinds = [
        ("text", has("text")),
        ("audio", has("data") && mime.starts_with("audio/")),
        ("image", has("data") && has("mimeType")),
        ("resource", has("resource")),
        ("resource_link", has("uri") && has("name")),
    ];
    kinds.into_iter().find(|(_, is_so)| *is_so).map(|(kind, _)| kind)
}

/// Returns the MIME type, which may be empty, and the base64 of an image or a sound: as the protocol has it, as the APIs
/// of models have it, or from a data URL.
fn media_of(part: &Map<String, Value>) -> Option<(String, String)> {
    let source = part.get("source").and_then(Value::as_object);
    let text = |members: &Map<String, Value>, names: &[&str]| {
        names.iter().find_map(|name| members.get(*name)?.as_str()).map(str::to_owned)
    };
    let url = part.get("image_url").and_then(|url| url.as_str().or_else(|| url.get("url")?.as_str()));
    let data = text(part, &["data"]).or_else(|| text(source?, &["data"])).or_else(|| url.map(str::to_owned));
    let data = data.or_else(|| text(part, &["url"]))?;
    let names = ["mimeType", "media_type", "mime_type"];
    let mime = text(part, &names).or_else(|| text(source?, &names)).unwrap_or_default();
    let Some((kind, encoded)) = data.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) else {
        // Other addresses are not fetched.
        return (!data.contains("://")).then_some((mime, data));
    };
    Some((kind.split(';').next().unwrap_or_default().to_owned(), encoded.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_shapes_are_shaped() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        for (result, content, structured) in [
            (json!({}), json!([]), json!(null)),
            (json!(null), json!([]), json!(null)),
            (json!("words"), json!([text("words")]), json!(null)),
            (json!([1, 2]), json!([]), json!([1, 2])),
            (json!([text("a")]), json!([text("a")]), json!(null)),
            (json!({ "toolResult": { "x": 1 } }), json!([]), json!({ "x": 1 })),
            (json!({ "toolResult": "words", "_meta": {} }), json!([text("words")]), json!(null)),
            (json!({ "sum": 3, "_meta": {}, "isError": false }), json!([]), json!({ "sum": 3 })),
            (json!({ "content": "just a string" }), json!([text("just a string")]), json!(null)),
            (json!({ "content": text("not a list") }), json!([text("not a list")]), json!(null)),
            (json!({ "content": null, "structuredContent": [1] }), json!([]), json!([1])),
            (json!({ "content": [], "structuredContent": null }), json!([]), json!(null)),
            (
                json!({ "content": [{ "type": "text", "text": 5 }, { "type": "text" }, "bare", null, { "text": "no type" }, 7] }),
                json!([text("5"), text(""), text("bare"), text("no type"), text("7")]),
                json!(null),
            ),
            (json!({ "content": [{ "rows": [1] }] }), json!([text(r#"{"rows":[1]}"#)]), json!(null)),
            (json!({ "content": [{ "type": "new", "x": 1 }] }), json!([{ "type": "new", "x": 1 }]), json!(null)),
        ] {
            let shaped = ShapedResult::new(result.clone());
            assert_eq!(json!(shaped.content), content, "{result}");
            assert_eq!((shaped.structured.unwrap_or_default(), shaped.is_error), (structured, false), "{result}");
        }
        for result in
            [json!({ "isError": true }), json!({ "is_error": true, "content": "x" }), json!({ "isError": "true" })]
        {
            assert!(ShapedResult::new(result.clone()).is_error, "{result}");
        }
    }

    #[test]
    fn data_of_images_is_found_where_servers_write_it() {
        for part in [
            json!({ "type": "image", "mimeType": "image/png", "data": "Zm9v" }),
            json!({ "mimeType": "image/png", "data": "Zm9v" }),
            json!({ "type": "image", "data": "data:image/png;base64,Zm9v" }),
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "Zm9v" } }),
            json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,Zm9v" } }),
            json!({ "type": "image", "url": "data:image/png;charset=x;base64,Zm9v" }),
        ] {
            let shaped = ShapedResult::new(json!({ "content": [part.clone()] }));
            let found = &shaped.content[0];
            let expected = (&json!("image"), &json!("image/png"), &json!("Zm9v"));
            assert_eq!((&found["type"], &found["mimeType"], &found["data"]), expected, "{part}");
        }
        let elsewhere = json!({ "type": "image", "url": "https://a.example/x.png" });
        let shaped = ShapedResult::new(json!({ "content": [elsewhere.clone()] }));
        assert_eq!(shaped.content, [elsewhere]);
    }
}
