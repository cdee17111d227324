//! The arguments of a tool call, as a WebSocket client receives them while they grow: in pieces that it appends, now and
//! then with a preview of the whole text so far, or as that preview alone, which replaces what it had.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{Block, BlockId, Content};

/// A whole preview is sent when the arguments have grown by this part since the last one. Every preview repeats the
/// text before it, so that previews of every piece would take the square of its length; previews by growth take at
/// most nine times its length.
const PREVIEW_GROWTH: usize = 8;

/// The form of `partial_args` in `tool_call_args_chunk`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentsForm {
    /// The next piece, which the client appends. `preview` has all arguments so far, where they have grown enough.
    #[default]
    Append,
    /// All arguments so far, which replace the ones before.
    Whole,
}

/// The encoder of the arguments of one turn's calls.
pub struct ArgumentsEncoder {
    form: ArgumentsForm,
    /// The length of the last preview of each call.
    shown: HashMap<BlockId, usize>,
}

impl ArgumentsEncoder {
    pub fn new(form: ArgumentsForm) -> Self {
        Self { form, shown: HashMap::new() }
    }

    /// Encodes the growth of a call that has `more` already. A preview that is too small a step is left out; the next
    /// one, or the finished call, contains it.
    pub fn encode_growth(&mut self, call: &Block, more: &str) -> Option<Value> {
        let Content::ToolUse { arguments_raw, .. } = &call.content else { return None };
        let whole = arguments_raw.as_deref().unwrap_or(more);
        let shown = self.shown.entry(call.id).or_default();
        let has_grown = whole.len() - (*shown).min(whole.len()) >= *shown / PREVIEW_GROWTH;
        if has_grown {
            *shown = whole.len();
        }
        let chunk = |partial: &str, is_append: bool| json!({"type": "tool_call_args_chunk", "block_id": call.id, "partial_args": partial, "append": is_append});
        match self.form {
            ArgumentsForm::Append => {
                let mut piece = chunk(more, true);
                if has_grown {
                    piece["preview"] = whole.into();
                }
                Some(piece)
            }
            ArgumentsForm::Whole => has_grown.then(|| chunk(whole, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::blocks::block::ToolStatus;
    use crate::domain::fixtures;

    /// Streams arguments in pieces of `step` bytes, and returns the encoded values of this member.
    fn streamed(form: ArgumentsForm, member: &str, arguments: &str, step: usize) -> Vec<String> {
        let mut encoder = ArgumentsEncoder::new(form);
        let mut block =
            fixtures::block(2, 0, fixtures::tool_use("c", "write", serde_json::Value::Null, ToolStatus::Pending));
        let mut sent = Vec::new();
        for end in (step..=arguments.len()).step_by(step) {
            if let Content::ToolUse { arguments_raw, .. } = &mut block.content {
                *arguments_raw = Some(arguments[..end].to_owned());
            }
            let chunk = encoder.encode_growth(&block, &arguments[end - step..end]);
            sent.extend(chunk.and_then(|chunk| Some(chunk[member].as_str()?.to_owned())));
        }
        sent
    }

    #[test]
    fn appended_pieces_join_to_arguments() {
        let arguments = "{\"path\":\"a.md\"}".repeat(9);
        assert_eq!(streamed(ArgumentsForm::Append, "partial_args", &arguments, 5).concat(), arguments);
    }

    #[test]
    fn whole_previews_grow_and_take_linear_space() {
        let arguments = "0123456789".repeat(10_000);
        for (form, member, step) in [
            (ArgumentsForm::Whole, "partial_args", 1),
            (ArgumentsForm::Whole, "partial_args", 7),
            (ArgumentsForm::Whole, "partial_args", 1000),
            (ArgumentsForm::Append, "preview", 1),
            (ArgumentsForm::Append, "preview", 1000),
        ] {
            let previews = streamed(form, member, &arguments, step);
            assert!(previews.len() > 10, "{step}: previews follow the arguments");
            assert!(previews.windows(2).all(|two| two[1].len() > two[0].len()), "{step}");
            assert!(previews.iter().all(|preview| arguments.starts_with(preview.as_str())), "{step}");
            let sent: usize = previews.iter().map(String::len).sum();
            assert!(sent <= 9 * arguments.len() + step, "{step}: {sent}");
        }
    }
}
