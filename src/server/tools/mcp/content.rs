//! A result as a server gives it, made into the parts of ours: text, images, other bytes, structured content.

use rmcp::model::ServerResult;
use serde_json::Value;

use super::clean;
use crate::domain::limits::{TOOL_BLOB_BYTES, TOOL_IMAGE_BYTES, TOOL_IMAGES};
use crate::server::outbound::base64;
use crate::server::outbound::redact::Secrets;
use crate::server::tools::result::{Part, outcome, said};
use crate::server::tools::toolbox::{Fate, Outcome};

/// The longest name, address or kind that is quoted.
const QUOTED_BYTES: usize = 2000;

/// The outcome of a call that was answered, without the credentials of its server.
pub fn outcome_of(result: ServerResult, secrets: &Secrets) -> Outcome {
    let Ok(result) = serde_json::to_value(result) else { return unreadable() };
    let result = if secrets.is_empty() { result } else { secrets.redact_value(result) };
    let (content, structured) = (result.get("content").and_then(Value::as_array), result.get("structuredContent"));
    if content.is_none() && structured.is_none() {
        return unreadable();
    }
    let fate = if result.get("isError").and_then(Value::as_bool) == Some(true) { Fate::Failed } else { Fate::Done };
    let mut taken = Taken::default();
    let parts = content.into_iter().flatten().map(|part| taken.part(part)).collect();
    outcome(fate, parts, structured.filter(|value| !value.is_null()).cloned())
}

fn unreadable() -> Outcome {
    said(Fate::Failed, "the answer could not be read: it is no result of a tool")
}

/// How much of a result's room is used.
#[derive(Default)]
struct Taken {
    images: usize,
    bytes: usize,
}

impl Taken {
    fn part(&mut self, part: &Value) -> Part {
        let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => Part::Text(text("text").to_owned()),
            "image" | "audio" => self.bytes(text("data"), text("mimeType")),
            "resource" => self.resource(part.get("resource").unwrap_or(&Value::Null)),
            "resource_link" => {
                let [title, name, uri] = ["title", "name", "uri"].map(|key| clean::line(text(key), QUOTED_BYTES));
                let name = if title.is_empty() { name } else { title };
                Part::Text(if name.is_empty() { uri } else { format!("{name}: {uri}") })
            }
            other => Part::Text(format!("(content of the kind “{}” was left out)", clean::line(other, QUOTED_BYTES))),
        }
    }

    fn resource(&mut self, resource: &Value) -> Part {
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        match (text("text"), text("blob")) {
            (Some(words), _) => Part::Text(words.to_owned()),
            (None, Some(blob)) => self.bytes(blob, text("mimeType").unwrap_or_default()),
            (None, None) => {
                let uri = clean::line(text("uri").unwrap_or_default(), QUOTED_BYTES);
                Part::Text(format!("(a resource without content: {uri})"))
            }
        }
    }

    fn bytes(&mut self, data: &str, mime: &str) -> Part {
        let mime = clean::line(mime, QUOTED_BYTES).to_ascii_lowercase();
        let left_out = |why: &str| Part::Text(format!("(content of the kind “{mime}” was left out: {why})"));
        let is_image = mime.starts_with("image/");
        let room = TOOL_BLOB_BYTES - self.bytes;
        let room = if is_image { room.min(TOOL_IMAGE_BYTES) } else { room };
        if is_image && self.images == TOOL_IMAGES {
            return left_out(&format!("there are more than {TOOL_IMAGES} images"));
        }
        if base64::decoded_bytes(data) > room + 4 {
            return left_out("it is too large");
        }
        let Some(bytes) = base64::decode(data) else { return left_out("it is no base64") };
        self.bytes += bytes.len().min(room);
        self.images += usize::from(is_image);
        let bytes = bytes.into();
        if is_image { Part::Image { mime, bytes } } else { Part::Other { mime, bytes } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(content: Value) -> Vec<Part> {
        let mut taken = Taken::default();
        content.as_array().expect("a list").iter().map(|part| taken.part(part)).collect()
    }

    #[test]
    fn every_kind_of_content_becomes_a_part() {
        let found = parts(json!([
            { "type": "text", "text": "a\0b" },
            { "type": "image", "data": "Zm9v", "mimeType": "image/PNG" },
            { "type": "audio", "data": "Zm9v", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "x:1", "text": "words" } },
            { "type": "resource", "resource": { "uri": "x:2", "blob": "Zm9v", "mimeType": "application/pdf" } },
            { "type": "resource", "resource": { "uri": "x:3", "blob": "Zm9v", "mimeType": "image/gif" } },
            { "type": "resource_link", "uri": "file:///a\nb", "name": "a" },
            { "type": "hologram" },
            { "type": "image", "data": "not base64!", "mimeType": "image/png" },
            17,
        ]));
        let shown: Vec<String> = found
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Image { mime, bytes } => format!("image {mime} {}", bytes.len()),
                Part::Other { mime, bytes } => format!("other {mime} {}", bytes.len()),
            })
            .collect();
        let expected = [
            "a\0b",
            "image image/png 3",
            "other audio/wav 3",
            "words",
            "other application/pdf 3",
            "image image/gif 3",
            "a: file:///a b",
            "(content of the kind “hologram” was left out)",
            "(content of the kind “image/png” was left out: it is no base64)",
            "(content of the kind “” was left out)",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn images_have_their_bounds() {
        let image = json!({ "type": "image", "data": "Zm9v", "mimeType": "image/png" });
        let found = parts(Value::Array(vec![image; TOOL_IMAGES + 1]));
        assert!(matches!(&found[TOOL_IMAGES - 1], Part::Image { .. }));
        assert!(matches!(&found[TOOL_IMAGES], Part::Text(why) if why.contains("more than 16 images")));
        let large = "A".repeat(TOOL_IMAGE_BYTES / 3 * 4 + 64);
        let found = parts(json!([{ "type": "image", "data": large, "mimeType": "image/png" }]));
        assert!(matches!(&found[0], Part::Text(why) if why.contains("too large")));
    }

    #[test]
    fn an_answer_that_is_no_result_fails_the_call() {
        let none = Secrets::default();
        let read = |value: Value| outcome_of(serde_json::from_value(value).expect("anything is a result"), &none);
        assert_eq!(read(json!({ "tools": 3 })).fate, Fate::Failed);
        assert_eq!(read(json!("x")).fate, Fate::Failed);
        assert_eq!(read(json!({ "content": [], "isError": true })).fate, Fate::Failed);
        assert_eq!(read(json!({ "content": [{ "type": "new", "x": 1 }] })).fate, Fate::Done);
        let structured = read(json!({ "content": [], "structuredContent": { "sum": 3 } }));
        assert_eq!((structured.fate, structured.result), (Fate::Done, json!({ "sum": 3 })));
    }

    #[test]
    fn result_does_not_repeat_the_credentials_of_its_server() {
        let secrets = Secrets::new(["ghp_9f8e7d6c5b4a".into()]);
        let answer = json!({
            "content": [
                { "type": "text", "text": "you are ghp_9f8e7d6c5b4a, an ordinary token" },
                { "type": "resource", "resource": { "uri": "env:x", "text": "TOKEN=ghp_9f8e7d6c5b4a" } },
            ],
            "structuredContent": { "ghp_9f8e7d6c5b4a": ["ghp_9f8e7d6c5b4a"] },
        });
        let outcome = outcome_of(serde_json::from_value(answer).expect("a result"), &secrets);
        let told = outcome.result.to_string();
        assert!(told.contains("you are [removed], an ordinary token") && !told.contains("ghp_9"), "{told}");
    }
}
