//! Tool arguments.

use serde_json::Value;

use super::hidden_characters;
use crate::domain::blocks::block::{Block, BlockState, Content};
use crate::domain::limits;
use crate::domain::text::hidden_text::count_hidden_characters;
use crate::domain::tools::call_edit::CallEdit;
use crate::domain::tools::tool::canonical_arguments;
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::transcript as words;

/// Renders the arguments of a call in its card: the end of the partial text while the model writes them, all of them
/// afterwards, and those of the model if a person edited them.
pub fn arguments(call: &Block) -> MarkupPart {
    let mut html = Html::default();
    hidden_characters::write_line(&mut html, words::arguments());
    let text = match &call.content {
        Content::ToolUse { arguments: Value::Null, arguments_raw, .. } => {
            let raw = arguments_raw.as_deref().unwrap_or_default();
            let is_growing = call.state == BlockState::Open && raw.len() > limits::TOOL_WRITING_BYTES;
            let from = if is_growing { raw.ceil_char_boundary(raw.len() - limits::TOOL_WRITING_BYTES) } else { 0 };
            format!("{}{}", if is_growing { "…" } else { "" }, &raw[from..])
        }
        Content::ToolUse { arguments, .. } => as_text(arguments),
        _ => String::new(),
    };
    hidden_characters::write_text_box(&mut html, words::arguments(), true, &text);
    if let Some(written) = CallEdit::arguments_in(&call.block_metadata) {
        hidden_characters::write_line(&mut html, words::model_wrote());
        hidden_characters::write_text_box(&mut html, words::model_wrote(), true, &as_text(written));
    }
    MarkupPart::new(html.finish())
}

/// Renders all arguments for an approval question, in the order that the hash of the question covers.
pub fn all_arguments(call: &Block) -> MarkupPart {
    let mut html = Html::default();
    let text = match &call.content {
        Content::ToolUse { arguments, .. } => {
            let ordered: Option<Value> = serde_json::from_str(&canonical_arguments(arguments)).ok();
            as_text(ordered.as_ref().unwrap_or(arguments))
        }
        _ => String::new(),
    };
    let hidden = count_hidden_characters(&text);
    if hidden > 0 {
        html.text_element(Element::P, &[(Attribute::Class, "hidden-count")], &words::hidden_characters(hidden));
    }
    hidden_characters::write_text_box(&mut html, words::arguments(), true, &text);
    MarkupPart::new(html.finish())
}

/// Returns a value as text for people: strings as they are, everything else as JSON.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
