//! Turns a message of Cherry Studio before version 1.3 into the blocks that the product itself made of it
//! (`upgradeToV7`): such a message has its content in members of its own.

use serde_json::{Value, json};

use super::keys;
use crate::reading::fields::{list, text};
use crate::reading::notes::ConversationNotes;

/// Returns the blocks of a message in the order of the product.
pub(super) fn blocks(row: &Value, message: &str, notes: &mut ConversationNotes) -> Vec<Value> {
    let metadata = row.get("metadata").unwrap_or(&Value::Null);
    keys::LEGACY_METADATA.report_lost(metadata, message, notes);
    let mut blocks = Vec::new();
    if let Some(thought) = text(row, "reasoning_content") {
        let time = row.get("metrics").and_then(|metrics| metrics.get("time_thinking_millsec"));
        blocks.push(json!({"type": "thinking", "content": thought, "thinking_millsec": time}));
    }
    for (at, call) in list(metadata, "mcpTools").iter().enumerate() {
        let id = format!("{message}/tool-{at}");
        blocks.push(json!({"type": "tool", "id": id, "metadata": {"rawMcpToolResponse": call}}));
    }
    if let Some(content) = text(row, "content") {
        blocks.push(json!({"type": "main_text", "content": content}));
    }
    if let Some(translation) = text(row, "translatedContent") {
        blocks.push(json!({"type": "translation", "content": translation}));
    }
    for file in list(row, "files") {
        let kind = if text(file, "type") == Some("image") { "image" } else { "file" };
        blocks.push(json!({"type": kind, "file": file}));
    }
    for address in list(row, "images") {
        blocks.push(json!({"type": "image", "url": address}));
    }
    if let Some(made) = metadata.get("generateImage") {
        blocks.push(json!({"type": "image", "metadata": {"generateImageResponse": made}}));
    }
    blocks.extend(citations(metadata));
    let error = row.get("error").filter(|error| error.as_object().is_some_and(|members| !members.is_empty()));
    if let Some(error) = error {
        blocks.push(json!({"type": "error", "error": error}));
    }
    blocks
}

/// Returns a citation block for each list of pages or passages.
fn citations(metadata: &Value) -> Vec<Value> {
    const LISTS: [&str; 5] = ["groundingMetadata", "annotations", "citations", "webSearch", "webSearchInfo"];
    let pages = LISTS.into_iter().filter_map(|name| metadata.get(name)).filter(|results| !results.is_null());
    let pages = pages.map(|results| json!({"type": "citation", "response": {"results": results}}));
    let passages = metadata.get("knowledge").map(|passages| json!({"type": "citation", "knowledge": passages}));
    pages.chain(passages).collect()
}
