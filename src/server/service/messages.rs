//! What a person may send: the blocks of a user turn, checked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ServiceError;
use crate::domain::{Content, Invalid, limits};
use crate::server::tools::result::{Part, outcome};
use crate::server::tools::toolbox::Fate;

/// The text after which nothing is left when everything invisible is taken away (badinputs.md S-UN-07).
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A block as a client may write it in a user turn. Other types join with their features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageBlock {
    Text {
        text: String,
    },
    /// What came of a call of a tool that the client declared and runs.
    ToolResult {
        /// The call's own name, as the model gave it.
        tool_use_id: String,
        #[serde(alias = "content")]
        result: Value,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// Checks what a person sends and gives the contents of the user turn. NUL, which PostgreSQL cannot store, becomes its
/// visible picture (badinputs.md S-UN-04); nothing else is changed.
pub fn check(blocks: Vec<MessageBlock>) -> Result<Vec<Content>, ServiceError> {
    if blocks.len() > limits::BLOCKS_PER_USER_TURN {
        return Err(Invalid::new("content", format!("at most {} blocks", limits::BLOCKS_PER_USER_TURN)).into());
    }
    let texts = blocks.iter().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text),
        MessageBlock::ToolResult { .. } => None,
    });
    let bytes: usize = texts.clone().map(String::len).sum();
    if bytes > limits::MESSAGE_BYTES {
        let limit = format!("at most {} KiB", limits::MESSAGE_BYTES >> 10);
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    if texts.clone().map(|text| text.chars().count()).sum::<usize>() > limits::MESSAGE_CHARS {
        let limit = format!("at most {} characters", limits::MESSAGE_CHARS);
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    let has_result = blocks.iter().any(|block| matches!(block, MessageBlock::ToolResult { .. }));
    if !has_result && texts.clone().all(|text| is_blank(text)) {
        return Err(Invalid::new("content", "the message is empty").into());
    }
    blocks.into_iter().map(content).collect()
}

fn content(block: MessageBlock) -> Result<Content, ServiceError> {
    match block {
        MessageBlock::Text { text } => Ok(Content::text(text.replace('\0', "\u{2400}"))),
        MessageBlock::ToolResult { tool_use_id, result, is_error } => {
            if tool_use_id.is_empty() || tool_use_id.contains('\0') {
                return Err(Invalid::new("content", "a result names its call with `tool_use_id`").into());
            }
            let bytes = result.as_str().map_or_else(|| result.to_string().len(), str::len);
            if bytes > limits::TOOL_RESULT_BYTES {
                let limit = format!("a result has at most {} KiB", limits::TOOL_RESULT_BYTES >> 10);
                return Err(ServiceError::TooLarge { field: "content", limit });
            }
            let cleaned = match result {
                Value::String(text) => outcome(Fate::Done, vec![Part::Text(text)], None),
                other => outcome(Fate::Done, Vec::new(), Some(other)),
            };
            let metadata = if cleaned.metadata.is_empty() { Value::Null } else { Value::Object(cleaned.metadata) };
            Ok(Content::ToolResult {
                tool_use_id,
                // The call knows it; see `tool_results`.
                tool_name: String::new(),
                result: cleaned.result,
                success: !is_error,
                is_error,
                metadata,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<MessageBlock> {
        vec![MessageBlock::Text { text: text.into() }]
    }

    #[test]
    fn a_message_of_nothing_visible_is_empty() {
        for blank in ["", " \n\t\u{200b}\u{a0}", "\u{feff}", "\u{e0061}"] {
            assert!(matches!(check(text(blank)), Err(ServiceError::Invalid(_))), "{blank:?}");
        }
        assert!(check(Vec::new()).is_err());
    }

    #[test]
    fn the_bound_is_one_mebibyte_and_not_a_byte_more() {
        // Four bytes a character keeps the count of characters below its own bound.
        let largest = "𝄞".repeat(limits::MESSAGE_BYTES / 4);
        assert!(check(text(&largest)).is_ok());
        assert!(matches!(check(text(&(largest + "a"))), Err(ServiceError::TooLarge { .. })));
        assert!(matches!(check(text(&"a".repeat(limits::MESSAGE_CHARS + 1))), Err(ServiceError::TooLarge { .. })));
    }

    #[test]
    fn text_is_kept_as_it_is_except_for_nul() {
        let odd = "👩‍👩‍👧 e\u{301} \u{fb01} Å  \n";
        assert_eq!(check(text(odd)).unwrap(), [Content::text(odd)]);
        assert_eq!(check(text("a\0b")).unwrap(), [Content::text("a\u{2400}b")]);
    }
}
