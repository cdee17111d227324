//! Edits of tool calls: a person may change the arguments of a call before allowing it. The call's block then has the
//! edited arguments, and the model's own in its metadata. Its turn is sent back to the provider as the provider wrote
//! it (`docs/adr/0069-edited-tool-calls.md`), so the result tells the model which arguments were used.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::blocks::block::{Block, Content};

/// The edit of a call, in the metadata of its block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEdit {
    /// The arguments as the model wrote them.
    pub arguments: Value,
    pub at: DateTime<Utc>,
}

impl CallEdit {
    /// The key of the edit in a call's block metadata, and of the edited arguments in the metadata of its result.
    pub const KEY: &str = "edited";

    /// Returns the edit of a call, if a person edited it.
    pub fn from_block(block: &Block) -> Option<Self> {
        let is_call = matches!(block.content, Content::ToolUse { .. });
        if is_call { serde_json::from_value(block.block_metadata.get(Self::KEY)?.clone()).ok() } else { None }
    }

    /// Returns the metadata change that adds this edit to its block.
    pub fn as_metadata(&self) -> Value {
        json!({ Self::KEY: self })
    }

    /// Adds the edited arguments of a call, if a person edited it, to the metadata of its result.
    pub fn note_in_result(call: &Block, metadata: &mut Map<String, Value>) {
        if let (Some(_), Content::ToolUse { arguments, .. }) = (Self::from_block(call), &call.content) {
            metadata.insert(Self::KEY.to_owned(), json!({ "arguments": arguments }));
        }
    }

    /// Returns the arguments that an edit has in metadata: the model's in that of a call, the edited ones in that of a
    /// result.
    pub fn arguments_in(metadata: &Value) -> Option<&Value> {
        metadata.get(Self::KEY)?.get("arguments")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::block::ToolStatus;
    use crate::fixtures;

    #[test]
    fn result_has_arguments_only_of_edited_call() {
        let mut call = fixtures::block(2, 0, fixtures::tool_use("c", "write", json!({ "a": 2 }), ToolStatus::Done));
        let mut metadata = Map::new();
        CallEdit::note_in_result(&call, &mut metadata);
        assert!(metadata.is_empty());
        let edit = CallEdit { arguments: json!({ "a": 1 }), at: DateTime::default() };
        call.block_metadata = edit.as_metadata();
        assert_eq!(CallEdit::from_block(&call), Some(edit));
        CallEdit::note_in_result(&call, &mut metadata);
        assert_eq!(CallEdit::arguments_in(&Value::Object(metadata)), Some(&json!({ "a": 2 })));
        call.content = Content::text("x");
        assert_eq!(CallEdit::from_block(&call), None);
    }
}
