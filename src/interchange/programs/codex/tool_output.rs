//! Reads the results of tool calls of Codex: plain text, text within JSON, or items with images.

use serde_json::Value;

use crate::conversation::{FileBytes, MessageFile, PieceBody};
use crate::reading::fields;
use crate::reading::message_builder::{attachment_body, resolve_address};

/// A result.
#[derive(Debug, PartialEq)]
pub(super) struct ToolOutput {
    pub result: Value,
    pub success: bool,
    /// Exit code and duration, if they stand beside the text.
    pub metadata: Value,
    pub images: Vec<PieceBody>,
}

impl ToolOutput {
    pub(super) fn of(output: &Value) -> Self {
        let mut read = Self { result: Value::Null, success: true, metadata: Value::Null, images: Vec::new() };
        match output {
            Value::String(text) => read.set_text(text),
            Value::Array(items) => read.set_items(items),
            Value::Object(members) => {
                match members.get("content").or_else(|| members.get("content_items")) {
                    Some(Value::String(text)) => read.set_text(text),
                    Some(Value::Array(items)) => read.set_items(items),
                    _ => read.result = output.clone(),
                }
                read.success &= members.get("success").and_then(Value::as_bool) != Some(false);
            }
            other => read.result = other.clone(),
        }
        read
    }

    /// Reads a text. Earlier versions wrap it into JSON with its metadata.
    fn set_text(&mut self, text: &str) {
        let wrapped = text.starts_with('{').then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        let inner = wrapped.as_ref().and_then(|value| value.get("output")).and_then(Value::as_str);
        match (inner, wrapped.as_ref().and_then(|value| value.get("metadata"))) {
            (Some(inner), Some(metadata)) => {
                self.success = metadata.get("exit_code").and_then(Value::as_i64).is_none_or(|code| code == 0);
                self.result = Value::String(inner.to_owned());
                self.metadata = metadata.clone();
            }
            _ => {
                self.success = exit_code(text).is_none_or(|code| code == 0);
                self.result = Value::String(text.to_owned());
            }
        }
    }

    fn set_items(&mut self, items: &[Value]) {
        let texts: Vec<&str> = items.iter().filter_map(|item| fields::text(item, "text")).collect();
        self.result = Value::String(texts.join("\n"));
        let images = items.iter().filter_map(|item| fields::text(item, "image_url"));
        self.images = images.map(image_body).collect();
    }
}

/// Returns the image at an address, mostly a data URL.
pub(super) fn image_body(address: &str) -> PieceBody {
    let (mime, bytes) = resolve_address(address);
    attachment_body(MessageFile { name: "picture".to_owned(), mime, bytes }, "", true)
}

/// Returns an image of which the bytes are base64 text.
pub(super) fn generated_image_body(base64: &str) -> PieceBody {
    let bytes = crate::reading::media::decode_base64(base64);
    let bytes = bytes.map_or_else(|| FileBytes::Absent("picture".to_owned()), |bytes| FileBytes::Inline(bytes.into()));
    attachment_body(MessageFile { name: "picture".to_owned(), mime: "image/png".to_owned(), bytes }, "", true)
}

/// Returns the exit code that the program writes above an output.
fn exit_code(text: &str) -> Option<i64> {
    /// Number of lines above an output.
    const LINES: usize = 6;
    let above = text.lines().take(LINES).take_while(|line| *line != "Output:");
    above.into_iter().find_map(|line| {
        let code = line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_and_success_of_outputs_are_read() {
        let wrapped = |code: i64| json!({"output": "words", "metadata": {"exit_code": code}}).to_string();
        let table = [
            (json!("words"), "words", true),
            (json!(wrapped(0)), "words", true),
            (json!(wrapped(2)), "words", false),
            (json!("{\"output\": 1}"), "{\"output\": 1}", true),
            (
                json!("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno"),
                "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno",
                false,
            ),
            (
                json!("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nExit code: 7"),
                "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nExit code: 7",
                true,
            ),
            (json!({"content": "words", "success": false}), "words", false),
            (json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]), "a\nb", true),
        ];
        for (output, text, success) in table {
            let read = ToolOutput::of(&output);
            assert_eq!((read.result, read.success), (json!(text), success), "{output}");
        }
        let with_image = ToolOutput::of(&json!([{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]));
        assert!(matches!(with_image.images.as_slice(), [PieceBody::Picture { .. }]));
        assert_eq!(ToolOutput::of(&json!(3)).result, json!(3));
    }
}
