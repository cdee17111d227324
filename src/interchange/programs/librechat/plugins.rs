//! Calls of plugins, as versions of 2023 and 2024 stored them beside the text: `plugin` is a run of several inputs with
//! one output, `plugins` a list of such runs (`client/src/components/Chat/Messages/Content/Plugin.tsx`,
//! `packages/data-provider/src/types.ts`).

use serde_json::Value;

use super::keys;
use crate::conversation::ImportedMessage;
use crate::reading::fields::{first_text, list, text};
use crate::reading::message_builder::call_body;
use crate::reading::notes::ConversationNotes;

/// Adds the runs of a message: each thought with its call, and the output as the result of the last call.
pub(super) fn add(message: &mut ImportedMessage, value: &Value, notes: &mut ConversationNotes) {
    let runs = value.get("plugin").into_iter().chain(list(value, "plugins"));
    for run in runs.filter(|run| run.is_object()) {
        keys::PLUGIN.report_lost(run, &message.source_id, notes);
        add_run(message, run);
    }
}

fn add_run(message: &mut ImportedMessage, run: &Value) {
    let latest = text(run, "latest").unwrap_or("plugin");
    let outputs = run.get("outputs").filter(|outputs| !matches!(outputs, Value::Null) && outputs.as_str() != Some(""));
    let mut last: Option<(String, String)> = None;
    for input in list(run, "inputs") {
        if let Some(thought) = text(input, "thought") {
            message.add_reasoning(thought);
        }
        let name = first_text(input, &["plugin", "tool", "name"]).unwrap_or(latest).to_owned();
        let id = format!("{}/{}", message.source_id, message.pieces.len());
        let given = ["input", "inputStr", "args"].into_iter().find_map(|name| input.get(name));
        // An input that is not JSON becomes a single argument, because arguments are an object.
        let given = match given {
            Some(Value::String(text)) if serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()) => {
                Value::String(text.clone())
            }
            Some(object @ Value::Object(_)) => object.clone(),
            Some(other) => serde_json::json!({ "input": other }),
            None => Value::Null,
        };
        message.add_piece(call_body(id.clone(), &name, Some(&given)));
        last = Some((id, name));
    }
    let Some(outputs) = outputs else { return };
    let (id, name) = last.unwrap_or_else(|| {
        let id = format!("{}/{}", message.source_id, message.pieces.len());
        message.add_piece(call_body(id.clone(), latest, None));
        (id, latest.to_owned())
    });
    message.add_tool_result(&id, &name, outputs.clone(), true);
}
