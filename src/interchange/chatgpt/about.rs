//! What ChatGPT says of a conversation or a message besides its words: the model, and where it was had.

use serde_json::Value;

use crate::fields;
use crate::notes::Notes;
use crate::report::What;

/// The model that a message is of.
pub(crate) fn model(metadata: &Value) -> Option<String> {
    named(metadata, "model_slug")
}

/// The model of the replies that name none.
pub(crate) fn usual_model(of: &Value) -> Option<String> {
    named(of, "default_model_slug")
}

/// `auto` is a choice, not a model.
fn named(of: &Value, name: &str) -> Option<String> {
    fields::text(of, name).filter(|model| *model != "auto").map(str::to_owned)
}

/// Tells where the conversation was had: with a GPT, or in a project.
pub(crate) fn tell_place(value: &Value, notes: &mut Notes) {
    let is_projects = fields::text(value, "gizmo_id").is_some_and(|id| id.starts_with("g-p-"));
    match fields::text(value, "gizmo_type") {
        Some("snorlax") => notes.add(What::Lost, "", "it belongs to a project, which is not kept"),
        _ if is_projects => notes.add(What::Lost, "", "it belongs to a project, which is not kept"),
        Some("gpt") => notes.add(What::Lost, "", "it was had with a GPT of somebody's making, which is not kept"),
        _ => {}
    }
}
