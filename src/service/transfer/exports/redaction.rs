//! Redaction of API keys in exported turns and their metadata.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::{Block, Branch, Chat, Content, ImportOrigin, Project, Turn};
use turnleaf_providers::redaction::SecretSet;

/// Replaces content that cannot be parsed after its keys are redacted.
const REMOVED: &str = "[removed]";

/// Redacts API keys in the texts of a turn. A turn without keys, as almost all are, is returned unchanged; when a key
/// is where it determines the structure of a block, the block's content is replaced.
pub(super) fn redact_turn(keys: &SecretSet, turn: Turn) -> Turn {
    if keys.is_empty() || !contains_key(keys, &turn) {
        return turn;
    }
    if let Some(turn) = redacted(keys, &turn) {
        return turn;
    }
    let blocks = turn.blocks.iter().map(|block| redact_block(keys, block)).collect();
    // The fields besides the blocks: model names and the failure.
    let text = |text: String| keys.redact_known(text);
    let error = turn.error.as_ref().and_then(|error| redacted(keys, error));
    Turn {
        blocks,
        error,
        attempt: None,
        provider_used: turn.provider_used.map(text),
        model_used: turn.model_used.map(text),
        ..turn
    }
}

/// Redacts API keys in the texts of a chat.
pub(super) fn redact_chat(keys: &SecretSet, chat: &mut Chat) {
    redact_texts(keys, [&mut chat.title, &mut chat.system_prompt]);
}

/// Redacts API keys in the texts of a project.
pub(super) fn redact_project(keys: &SecretSet, project: &mut Project) {
    redact_texts(keys, [&mut project.name, &mut project.instructions]);
}

/// Redacts API keys in the names of a branch.
pub(super) fn redact_branch(keys: &SecretSet, branch: &mut Branch) {
    redact_texts(keys, [&mut branch.name].into_iter().chain(&mut branch.label));
}

/// Redacts API keys in a prompt prefix. A tool that cannot be parsed afterwards is dropped.
pub(super) fn redact_frozen(keys: &SecretSet, frozen: &mut PromptPrefix) {
    redact_texts(keys, [&mut frozen.system_prompt]);
    redact_texts(keys, frozen.instructions.iter_mut().flat_map(|one| [&mut one.name, &mut one.text]));
    for tools in frozen.tools.iter_mut().filter(|tools| contains_key(keys, tools)) {
        *tools = tools.iter().filter_map(|tool| redacted(keys, tool)).collect();
    }
}

/// Redacts API keys in the names of a chat's origin.
pub(super) fn redact_source(keys: &SecretSet, source: &mut ImportOrigin) {
    let differences = source
        .differences
        .iter_mut()
        .flat_map(|one| [&mut one.place, &mut one.text].into_iter().chain(one.args.values_mut()));
    redact_texts(keys, [&mut source.format, &mut source.file].into_iter().chain(differences));
}

/// Redacts API keys in texts.
pub(super) fn redact_texts<'t>(keys: &SecretSet, texts: impl IntoIterator<Item = &'t mut String>) {
    for text in texts {
        *text = keys.redact_known(std::mem::take(text));
    }
}

fn redact_block(keys: &SecretSet, block: &Block) -> Block {
    if let Some(block) = redacted(keys, block) {
        return block;
    }
    let content = redacted(keys, &block.content).unwrap_or_else(|| Content::text(REMOVED));
    Block { content, block_metadata: keys.redact_value(block.block_metadata.clone()), ..block.clone() }
}

/// Returns true when the value contains a key; a value that cannot be serialized counts as containing one.
fn contains_key(keys: &SecretSet, value: &impl Serialize) -> bool {
    serde_json::to_value(value).map_or(true, |value| keys.has_match_in_value(&value))
}

/// Returns the value without keys, if it still parses.
fn redacted<T: Serialize + DeserializeOwned>(keys: &SecretSet, value: &T) -> Option<T> {
    let clean: Value = keys.redact_value(serde_json::to_value(value).ok()?);
    serde_json::from_value(clean).ok().filter(|clean| !contains_key(keys, clean))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::fixtures;

    fn turn_with(content: Content) -> Turn {
        fixtures::reply(2, [content])
    }

    #[test]
    fn turn_invalid_without_keys_is_never_exported_with_them() {
        // A key may be any text, even one that determines the structure of a block.
        for key in ["arguments_raw", "tool_use_id", "tool_name", "chat_id", "last_event_seq"] {
            let keys = SecretSet::new([key.into()]);
            let turn = turn_with(Content::ToolUse {
                tool_use_id: format!("a {key}"),
                tool_name: "b".into(),
                arguments: json!({ key: key }),
                arguments_raw: None,
                status: turnleaf_domain::blocks::block::ToolStatus::Done,
                duration_ms: None,
            });
            let (id, count) = (turn.id, turn.blocks.len());
            let clean = redact_turn(&keys, turn);
            assert_eq!((clean.id, clean.blocks.len()), (id, count), "{key}");
            let texts = serde_json::to_value(&clean.blocks[0].content).unwrap().to_string();
            let value = format!("\"a {key}\"");
            assert!(!texts.contains(&value) && !texts.contains(&format!("{{\"{key}\":\"{key}\"}}")), "{key}: {texts}");
        }
    }

    #[test]
    fn key_in_name_is_redacted_and_turn_without_key_stays() {
        let keys = SecretSet::new(["hunter2hunter2".into()]);
        let turn = turn_with(Content::text("nothing"));
        assert_eq!(redact_turn(&keys, turn.clone()), turn);
        let fields = json!({ "type": "x:a", "hunter2hunter2": { "of hunter2hunter2": 1 } });
        let turn = turn_with(Content::Other(fields.as_object().unwrap().clone()));
        let clean = serde_json::to_string(&redact_turn(&keys, turn)).unwrap();
        assert!(!clean.contains("hunter2") && clean.contains("of [removed]"), "{clean}");
    }
}
