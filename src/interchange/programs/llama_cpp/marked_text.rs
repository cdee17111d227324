//! Parses texts of earlier versions, which contain reasoning and calls between marks.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::{ImportedMessage, PieceBody};
use crate::reading::code_fences::CodeFences;
use crate::reading::{message_builder, thought_tags};

const THOUGHT: (&str, &str) = ("<<<reasoning_content_start>>>", "<<<reasoning_content_end>>>");
const CALL: (&str, &str) = ("<<<AGENTIC_TOOL_CALL_START>>>", "<<<AGENTIC_TOOL_CALL_END>>>");
const ARGUMENTS: (&str, &str) = ("<<<TOOL_ARGS_START>>>", "<<<TOOL_ARGS_END>>>");
const NAME: (&str, &str) = ("<<<TOOL_NAME:", ">>>");

/// Adds a text and the marked content within it, in order. An unclosed mark extends to the end.
pub(super) fn add_marked_text(message: &mut ImportedMessage, text: &str) {
    let mut rest = text;
    if let Some((thought, after)) = thought_tags::split_leading_thought(rest) {
        message.add_reasoning(thought);
        rest = after;
    }
    let mut is_marked = false;
    // Marks in a code block are text.
    let mut fences = CodeFences::new(rest);
    while let Some((marks, at)) = next_mark(rest, &mut fences) {
        is_marked = true;
        message.add_text(rest[..at].trim_matches(['\r', '\n']));
        let within = &rest[at + marks.0.len()..];
        let (within, after) = within.split_once(marks.1).unwrap_or((within, ""));
        if marks == THOUGHT {
            message.add_reasoning(within);
        } else {
            add_call(message, within);
        }
        rest = after;
        fences = CodeFences::new(rest);
    }
    message.add_text(if is_marked { rest.trim_matches(['\r', '\n']) } else { rest });
}

/// Returns the first mark outside of code blocks, and its position.
fn next_mark(text: &str, fences: &mut CodeFences<'_>) -> Option<((&'static str, &'static str), usize)> {
    let mut from = 0;
    loop {
        let found = |marks: (&'static str, &'static str)| Some((marks, from + text[from..].find(marks.0)?));
        let (marks, at) = [THOUGHT, CALL].into_iter().filter_map(found).min_by_key(|(_, at)| *at)?;
        match fences.end_at(at) {
            Some(end) => from = end,
            None => return Some((marks, at)),
        }
    }
}

/// Adds a call with its arguments and the result that follows them.
fn add_call(message: &mut ImportedMessage, within: &str) {
    let named = within.split_once(NAME.0).and_then(|(_, after)| after.split_once(NAME.1));
    let (name, after) = named.unwrap_or(("tool", within));
    let given = after.split_once(ARGUMENTS.0).map(|(_, after)| after.split_once(ARGUMENTS.1).unwrap_or((after, "")));
    let (arguments, result) = given.unwrap_or(("", after));
    let id = format!("{}/{}", message.source_id, message.pieces.len());
    message.add_piece(message_builder::call_body(id.clone(), name, Some(&Value::String(arguments.trim().to_owned()))));
    let result = result.trim_matches(['\r', '\n']);
    if !result.is_empty() {
        message.add_tool_result(&id, name, Value::String(result.to_owned()), true);
    }
}

/// Returns the names of the tools whose results are in the text.
pub(super) fn answered_tools(message: &ImportedMessage) -> HashSet<String> {
    let named = |body: &PieceBody| match body {
        PieceBody::ToolResult { name, .. } => Some(name.clone()),
        _ => None,
    };
    message.pieces.iter().filter_map(|piece| named(&piece.body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turns::turn::Role;

    fn rendered(text: &str) -> Vec<String> {
        let mut message = message_builder::empty_message("m", Role::Assistant);
        add_marked_text(&mut message, text);
        let render = |body: &PieceBody| match body {
            PieceBody::Text(text) => format!("text {text}"),
            PieceBody::Thinking { text, .. } => format!("think {text}"),
            PieceBody::ToolCall { id, name, arguments, .. } => format!("call {id} {name} {arguments}"),
            PieceBody::ToolResult { id, name, result, .. } => format!("answer {id} {name} {result}"),
            other => format!("{other:?}"),
        };
        message.pieces.iter().map(|piece| render(&piece.body)).collect()
    }

    #[test]
    fn marked_text_becomes_reasoning_and_calls() {
        let call = "\n\n<<<AGENTIC_TOOL_CALL_START>>>\n<<<TOOL_NAME:sh>>>\n<<<TOOL_ARGS_START>>>\n{\"c\":1}\n\
                    <<<TOOL_ARGS_END>>>\na\nb\n<<<AGENTIC_TOOL_CALL_END>>>\n";
        let thought = "<<<reasoning_content_start>>>hm<<<reasoning_content_end>>>";
        let fenced = format!("see\n```\n{thought}\n```");
        let fenced_text = format!("text {fenced}");
        let table: [(String, &[&str]); 9] = [
            ("  plain\n".into(), &["text   plain\n"]),
            (fenced, &[fenced_text.as_str()]),
            (format!("{thought}a"), &["think hm", "text a"]),
            (format!("a{call}b"), &["text a", "call m/1 sh {\"c\":1}", "answer m/1 sh \"a\\nb\"", "text b"]),
            (format!("{thought}{thought}"), &["think hm", "think hm"]),
            ("a<<<reasoning_content_start>>>hm".into(), &["text a", "think hm"]),
            (
                "<<<AGENTIC_TOOL_CALL_START>>>\n<<<TOOL_NAME:sh>>>\n<<<TOOL_ARGS_START>>>\n{\"c".into(),
                &["call m/0 sh null"],
            ),
            ("<think>\nhm\n</think>\n\na <think>b</think>".into(), &["think hm", "text a <think>b</think>"]),
            ("<think>open".into(), &["text <think>open"]),
        ];
        for (text, expected) in table {
            assert_eq!(rendered(&text), expected, "{text}");
        }
    }
}
