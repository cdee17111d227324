//! Rendering of tool results for models. The output is deterministic, because any change would invalidate the
//! provider's prompt cache. Long results are truncated, other content than text is listed, and notes say so.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::limits;
use crate::tools::call_edit::CallEdit;

/// The placeholder for an empty result, which some APIs refuse.
const NOTHING: &str = "(The tool gave nothing.)";

/// Renders a result for a model: a short object unchanged, anything else as text.
pub fn render(result: &Value, metadata: &Value) -> Value {
    render_with_images(result, metadata, &[])
}

/// Renders a result for a model that also receives the images with these hashes.
pub fn render_with_images(result: &Value, metadata: &Value, shown: &[&str]) -> Value {
    let whole = value_to_text(result.clone());
    let notes = attachment_notes(metadata, shown);
    let stored_whole = metadata.pointer("/cut/bytes").and_then(Value::as_u64);
    let is_cut = whole.len() > limits::TOOL_OUTPUT_BYTES || stored_whole.is_some();
    match (is_cut, notes.is_empty()) {
        (false, true) if result.is_object() => result.clone(),
        (false, true) if whole.trim().is_empty() => Value::String(NOTHING.into()),
        (false, true) => Value::String(whole),
        (false, false) if whole.trim().is_empty() => Value::String(notes.join("\n")),
        (false, false) => Value::String(format!("{whole}\n\n{}", notes.join("\n"))),
        (true, _) => {
            let kept = whole.floor_char_boundary(limits::TOOL_OUTPUT_BYTES.min(whole.len()));
            let total = stored_whole.unwrap_or(whole.len() as u64);
            let note =
                format!("[Cut: these are the first {kept} of {total} bytes of the result. The rest was left out.]");
            let notes: Vec<String> = std::iter::once(note).chain(notes).collect();
            Value::String(format!("{}\n\n{}", &whole[..kept], notes.join("\n")))
        }
    }
}

/// Converts a result to one text.
pub fn value_to_text(result: Value) -> String {
    match result {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A link of a result to a resource of its server, in the metadata of the result. The text of the result has it, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLink {
    /// The display name; empty if the server gives none.
    pub name: String,
    pub uri: String,
}

impl ResourceLink {
    /// The keys of the links and of the id of their server.
    pub const KEY: &str = "resource_links";
    const SERVER: &str = "resource_server";

    /// Adds the id of the server to metadata with links.
    pub fn set_server(metadata: &mut Map<String, Value>, server: &str) {
        if metadata.contains_key(Self::KEY) && !server.is_empty() {
            metadata.insert(Self::SERVER.to_owned(), server.into());
        }
    }

    /// Returns the links of a result with the id of their server; none if that is unknown.
    pub fn list(metadata: &Value) -> Option<(&str, Vec<Self>)> {
        let server = metadata.get(Self::SERVER)?.as_str()?;
        let links = serde_json::from_value(metadata.get(Self::KEY)?.clone()).ok()?;
        Some((server, links))
    }
}

/// The view that a server has for the result of its tool (MCP Apps), in the metadata of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppView<'a> {
    /// The address of the page at its server.
    pub uri: &'a str,
    /// The name of the tool at its server, which the page is told.
    pub tool: Option<&'a str>,
    /// The blob of the page; `None` if the server did not give it.
    pub page: Option<&'a str>,
    /// The blob of the whole result, which is told to the page; `None` if it is too large.
    pub answer: Option<&'a str>,
}

impl<'a> AppView<'a> {
    /// The key of the view in the metadata of a result.
    pub const KEY: &'static str = "app";

    /// Returns the view as metadata.
    pub fn to_value(self) -> Value {
        let blobs = [("page", self.page), ("answer", self.answer)];
        let blobs = blobs.into_iter().filter_map(|(key, blob)| Some((key.to_owned(), json!({ "blob": blob? }))));
        let tool = self.tool.map(|tool| ("tool".to_owned(), Value::from(tool)));
        Value::Object([("uri".to_owned(), self.uri.into())].into_iter().chain(tool).chain(blobs).collect())
    }

    /// Returns the view of a result, if its tool has one.
    pub fn find(metadata: &'a Value) -> Option<Self> {
        let view = metadata.get(Self::KEY)?;
        let blob = |key: &str| view.get(key)?.get("blob")?.as_str();
        let tool = view.get("tool").and_then(Value::as_str);
        Some(Self { uri: view.get("uri")?.as_str()?, tool, page: blob("page"), answer: blob("answer") })
    }
}

/// An image of a result, from its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolImage {
    /// The sha256 of the blob, in hex.
    pub blob: String,
    pub mime: String,
    pub alt: String,
}

/// Returns the images of a result, in order.
pub fn result_images(metadata: &Value) -> Vec<ToolImage> {
    let word = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let image = |one: &Value| ToolImage { blob: word(one, "blob"), mime: word(one, "mime"), alt: word(one, "alt") };
    metadata.get("images").and_then(Value::as_array).into_iter().flatten().map(image).collect()
}

/// Returns the blobs that a result references: its images, its files, the full text of a truncated result, a file that
/// is the whole result, and its view.
pub fn result_blobs(metadata: &Value) -> Vec<&str> {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array).into_iter().flatten();
    let of_view = ["/app/page", "/app/answer"].into_iter().filter_map(|place| metadata.pointer(place));
    let texts = ["cut", "whole"].into_iter().filter_map(|key| metadata.get(key));
    let named = list("images").chain(list("files")).chain(texts).chain(of_view);
    named.filter_map(|of| of.get("blob")?.as_str()).collect()
}

/// Returns the line about a call that a person edited: the model wrote other arguments.
fn edit_note(metadata: &Value) -> Option<String> {
    let arguments = CallEdit::arguments_in(metadata)?.to_string();
    let kept = &arguments[..arguments.floor_char_boundary(limits::TOOL_OUTPUT_BYTES.min(arguments.len()))];
    let more = if kept.len() < arguments.len() { "…" } else { "" };
    Some(format!("[The user edited this call. Its arguments are: {kept}{more}]"))
}

/// Returns a line for an edit of the call, and for each image and file. People see all of them, the model only the
/// images in `shown`.
fn attachment_notes(metadata: &Value, shown: &[&str]) -> Vec<String> {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let word = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let image = |one: ToolImage| {
        let visibility = if shown.contains(&one.blob.as_str()) { "attached" } else { "shown to the user, not to you" };
        format!("[{} ({}): {visibility}]", one.alt, one.mime)
    };
    let file = |one: &Value| {
        let bytes = one.get("bytes").and_then(Value::as_u64).unwrap_or_default();
        format!("[File ({}, {bytes} bytes): given to the user, not to you]", word(one, "mime"))
    };
    let attachments = result_images(metadata).into_iter().map(image).chain(list("files").iter().map(file));
    edit_note(metadata).into_iter().chain(attachments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_results_are_rendered_unchanged() {
        for (result, expected) in [
            (json!("words"), json!("words")),
            (json!({"b": 1, "a": [2]}), json!({"b": 1, "a": [2]})),
            (json!([1, "x"]), json!("[1,\"x\"]")),
            (json!(3), json!("3")),
            (json!(""), json!(NOTHING)),
            (json!(null), json!(NOTHING)),
        ] {
            assert_eq!(render(&result, &Value::Null), expected, "{result}");
        }
    }

    #[test]
    fn long_results_are_cut_between_characters_with_note() {
        let long = "é".repeat(limits::TOOL_OUTPUT_BYTES);
        let text = value_to_text(render(&json!(format!("x{long}")), &Value::Null));
        let total = long.len() + 1;
        assert!(
            text.starts_with("xé")
                && text.ends_with(&format!("of {total} bytes of the result. The rest was left out.]"))
        );
        assert!(text.len() < limits::TOOL_OUTPUT_BYTES + 200);
        let stored_in_part = render(&json!(long), &json!({"cut": {"bytes": 9_000_000, "blob": "b"}}));
        assert!(value_to_text(stored_in_part).contains("of 9000000 bytes"));
        let object = json!({"a": long});
        assert!(value_to_text(render(&object, &Value::Null)).starts_with("{\"a\":\"é"));
    }

    #[test]
    fn edited_arguments_are_told_with_result() {
        let metadata = json!({ "edited": { "arguments": { "b": 2, "a": "é" } } });
        let note = "[The user edited this call. Its arguments are: {\"b\":2,\"a\":\"é\"}]";
        assert_eq!(render(&json!("Done."), &metadata), format!("Done.\n\n{note}"));
        assert_eq!(render(&json!({"n": 1}), &metadata), format!("{{\"n\":1}}\n\n{note}"));
        assert_eq!(render(&json!(""), &metadata), note);
        let long = json!({ "edited": { "arguments": { "a": "é".repeat(limits::TOOL_OUTPUT_BYTES) } } });
        let text = value_to_text(render(&json!("Done."), &long));
        assert!(text.ends_with("…]") && text.len() < limits::TOOL_OUTPUT_BYTES + 200);
    }

    #[test]
    fn images_and_files_are_named() {
        let metadata = json!({
            "images": [{"blob": "b", "mime": "image/png", "alt": "Image 1"}],
            "files": [{"blob": "c", "mime": "audio/wav", "bytes": 12}],
            "cleaned": {"nul": 1},
        });
        let notes = "[Image 1 (image/png): shown to the user, not to you]\n[File (audio/wav, 12 bytes): given to the user, not to you]";
        assert_eq!(render(&json!("Here."), &metadata), format!("Here.\n\n{notes}"));
        let seen = render_with_images(&json!(""), &metadata, &["b"]);
        assert_eq!(
            seen,
            "[Image 1 (image/png): attached]\n[File (audio/wav, 12 bytes): given to the user, not to you]"
        );
        assert_eq!(render(&json!(""), &metadata), notes);
        assert_eq!(render(&json!({"n": 1}), &metadata), format!("{{\"n\":1}}\n\n{notes}"));
    }

    #[test]
    fn view_is_found_with_its_blobs_and_not_told_to_model() {
        let whole = AppView { uri: "ui://a", tool: Some("t"), page: Some("p"), answer: Some("r") };
        let metadata = json!({ AppView::KEY: whole.to_value(), "cut": { "bytes": 1, "blob": "c" } });
        assert_eq!(AppView::find(&metadata), Some(whole));
        assert_eq!(result_blobs(&metadata), ["c", "p", "r"]);
        let missing = AppView { uri: "ui://a", tool: None, page: None, answer: None };
        let metadata = json!({ AppView::KEY: missing.to_value() });
        assert_eq!(metadata, json!({ "app": { "uri": "ui://a" } }));
        assert_eq!(AppView::find(&metadata), Some(missing));
        assert_eq!(render(&json!({ "n": 1 }), &metadata), json!({ "n": 1 }));
        assert_eq!(result_blobs(&json!({ "whole": { "blob": "w" } })), ["w"]);
        for none in [json!(null), json!({}), json!({ "app": 3 }), json!({ "app": { "page": {} } })] {
            assert_eq!(AppView::find(&none), None, "{none}");
        }
    }
}
