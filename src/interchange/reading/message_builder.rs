//! Helpers that all readers share: pieces of a message, arguments of a call, the system prompt.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::{FileBytes, ImportedMessage, MessageEnding, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::reading::fields::printable;
use crate::reading::media::parse_data_url;
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The failure text for replies whose source gives no reason.
pub(crate) const FAILED_IN_SOURCE: &str = "This reply had failed in the source.";

/// The issue for quotes that a source keeps beside a message.
pub(crate) const QUOTE_BEFORE_TEXT: &str = "quotes attached to a message were placed before its text";

/// The name of each call by its id, for sources whose results contain only the id.
pub(crate) type CallNames = HashMap<String, String>;

/// Creates an empty message; the tree sets its parent.
pub(crate) fn empty_message(id: &str, role: Role) -> ImportedMessage {
    ImportedMessage {
        source_id: id.to_owned(),
        parent: None,
        role,
        provider: None,
        model: None,
        created_at: None,
        ended_at: None,
        ending: MessageEnding::Complete,
        pieces: Vec::new(),
        usage: Usage::default(),
        is_thinking_mode: None,
        parts: Vec::new(),
    }
}

impl ImportedMessage {
    /// Adds a piece with the author that matches the message's role.
    pub(crate) fn add_piece(&mut self, body: PieceBody) {
        let author = match self.role {
            Role::User => Author::User,
            Role::Assistant => Author::Assistant,
            Role::System => Author::System,
        };
        self.pieces.push(MessagePiece { author, created_at: None, body });
    }

    /// Adds a text, unless it is blank.
    pub(crate) fn add_text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.add_piece(PieceBody::Text(text.to_owned()));
        }
    }

    /// Adds reasoning, unless it is blank.
    pub(crate) fn add_reasoning(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.add_piece(PieceBody::Thinking { text: text.to_owned(), title: None, duration_ms: None });
        }
    }

    /// Adds the result of a tool call.
    pub(crate) fn add_tool_result(&mut self, id: &str, name: &str, result: Value, success: bool) {
        let body =
            PieceBody::ToolResult { id: id.to_owned(), name: name.to_owned(), result, success, metadata: Value::Null };
        self.pieces.push(MessagePiece { author: Author::Tool, created_at: None, body });
    }

    /// Adds a failure; several are joined by line breaks.
    pub(crate) fn add_failure(&mut self, reason: &str) {
        match &mut self.ending {
            MessageEnding::Failed(before) if before.ends_with(reason) => {}
            MessageEnding::Failed(before) => {
                before.push('\n');
                before.push_str(reason);
            }
            ending => *ending = MessageEnding::Failed(reason.to_owned()),
        }
    }
}

/// Builds a call. Its arguments may be JSON within a string, or JSON itself.
pub(crate) fn call_body(id: String, name: &str, arguments: Option<&Value>) -> PieceBody {
    let (arguments, arguments_raw) = match arguments {
        Some(Value::String(raw)) if raw.trim().is_empty() => (Value::Null, None),
        Some(Value::String(raw)) => (serde_json::from_str(raw).unwrap_or_default(), Some(raw.clone())),
        Some(other) => (other.clone(), None),
        None => (Value::Null, None),
    };
    PieceBody::ToolCall { id, name: name.to_owned(), arguments, arguments_raw }
}

/// Builds an image if the media type or the caller's knowledge says so, else an attachment.
pub(crate) fn attachment_body(file: MessageFile, alt: &str, is_picture: bool) -> PieceBody {
    let is_picture = file.mime.starts_with("image/") || (is_picture && file.mime.is_empty());
    if is_picture { PieceBody::Picture { file, alt: alt.to_owned() } } else { PieceBody::Attachment { file } }
}

/// Reports files that are named without their bytes.
pub(crate) fn report_missing_files(messages: &[ImportedMessage], notes: &mut ConversationNotes) {
    for message in messages {
        for piece in &message.pieces {
            let (PieceBody::Picture { file, .. } | PieceBody::Attachment { file }) = &piece.body else { continue };
            let text = match file.bytes {
                FileBytes::Absent(_) => "a referenced file is not in the export",
                FileBytes::TextOnly(_) => "a file is not in the export, only its extracted text",
                FileBytes::Entry(_) | FileBytes::Inline(_) | FileBytes::InlineWithText(..) => continue,
            };
            notes.add(IssueKind::Lost, &message.source_id, text);
        }
    }
}

/// Resolves an address: a data URL yields its bytes, any other address is recorded as absent and never fetched. The
/// media type is empty if the address does not contain it.
pub(crate) fn resolve_address(address: &str) -> (String, FileBytes) {
    match parse_data_url(address) {
        Some((mime, bytes)) => (mime, FileBytes::Inline(bytes.into())),
        // A malformed data URL is long and useless in a report.
        None if address.starts_with("data:") => (String::new(), FileBytes::Absent("data:".to_owned())),
        None => (String::new(), FileBytes::Absent(address.to_owned())),
    }
}

/// Returns the name of a file that only has a media type: `image.png`.
pub(crate) fn name_from_mime(mime: &str) -> String {
    let bare = mime.split(';').next().unwrap_or_default().trim();
    if bare.is_empty() { "file".to_owned() } else { bare.replace('/', ".") }
}

/// Reports the names of model parameters, because Turnleaf's chats do not keep those of their source. Null counts as
/// absent, and `read` names the members that are imported.
pub(crate) fn report_parameters(params: &Value, read: &[&str], notes: &mut ConversationNotes) {
    let params = params.as_object().into_iter().flatten();
    let names: Vec<&str> = params
        .filter(|(name, value)| !read.contains(&name.as_str()) && !value.is_null())
        .map(|(name, _)| name.as_str())
        .collect();
    if !names.is_empty() {
        let names = printable(&names.join(", "), 200);
        notes.add(IssueKind::Lost, "", format!("its model parameters are not imported ({names})"));
    }
}

/// Formats text as a Markdown quote.
pub(crate) fn as_quote(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Extracts the system message that starts every path: returns its text and the remaining messages. If paths start
/// differently, or the message holds more than text, all messages stay.
pub(crate) fn split_system_prompt(
    messages: Vec<ImportedMessage>,
    current: Option<usize>,
) -> (String, Vec<ImportedMessage>, Option<usize>) {
    let mut prompt: Option<String> = None;
    for root in messages.iter().filter(|message| message.parent.is_none()) {
        let text = match root.pieces.as_slice() {
            [MessagePiece { body: PieceBody::Text(text), .. }] if root.role == Role::System => text,
            _ => return (String::new(), messages, current),
        };
        if prompt.as_ref().is_some_and(|prompt| prompt != text) {
            return (String::new(), messages, current);
        }
        prompt = Some(text.clone());
    }
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(messages.len());
    let mut kept: Vec<ImportedMessage> = Vec::with_capacity(messages.len());
    for mut message in messages {
        match message.parent {
            None => moved.push(None),
            Some(parent) => {
                message.parent = moved.get(parent).copied().flatten();
                moved.push(Some(kept.len()));
                kept.push(message);
            }
        }
    }
    let current = current.and_then(|at| moved.get(at).copied().flatten());
    (prompt.unwrap_or_default(), kept, current)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_message(parent: Option<usize>, role: Role, text: &str) -> ImportedMessage {
        let mut message = empty_message(text, role);
        message.parent = parent;
        message.add_text(text);
        message
    }

    #[test]
    fn system_message_starting_every_path_becomes_system_prompt() {
        type Parents = &'static [Option<usize>];
        let table: [(Vec<ImportedMessage>, &str, Parents); 5] = [
            (
                vec![
                    text_message(None, Role::System, "s"),
                    text_message(Some(0), Role::User, "a"),
                    text_message(Some(1), Role::User, "b"),
                ],
                "s",
                &[None, Some(0)],
            ),
            (
                vec![
                    text_message(None, Role::System, "s"),
                    text_message(Some(0), Role::User, "a"),
                    text_message(None, Role::System, "s"),
                    text_message(Some(2), Role::User, "b"),
                ],
                "s",
                &[None, None],
            ),
            (vec![text_message(None, Role::System, "s"), text_message(None, Role::System, "t")], "", &[None, None]),
            (vec![text_message(None, Role::System, "s"), text_message(None, Role::User, "t")], "", &[None, None]),
            (vec![], "", &[]),
        ];
        for (messages, prompt, parents) in table {
            let last = messages.len().checked_sub(1);
            let (found, kept, current) = split_system_prompt(messages, last);
            assert_eq!(found, prompt);
            assert_eq!(kept.iter().map(|message| message.parent).collect::<Vec<_>>(), parents);
            assert_eq!(current, kept.len().checked_sub(1));
        }
    }

    #[test]
    fn arguments_are_read_as_written() {
        let table = [
            (Some(json!("{\"a\":1}")), json!({"a": 1}), Some("{\"a\":1}")),
            (Some(json!("{broken")), Value::Null, Some("{broken")),
            (Some(json!({"a": 1})), json!({"a": 1}), None),
            (Some(json!(" ")), Value::Null, None),
            (None, Value::Null, None),
        ];
        for (given, expected, raw) in table {
            let PieceBody::ToolCall { arguments, arguments_raw, .. } = call_body("1".into(), "f", given.as_ref())
            else {
                panic!("it is a call")
            };
            assert_eq!((arguments, arguments_raw.as_deref()), (expected, raw));
        }
    }

    #[test]
    fn several_failures_are_joined_by_line() {
        let mut message = empty_message("m", Role::Assistant);
        for reason in ["a", "a", "b"] {
            message.add_failure(reason);
        }
        assert_eq!(message.ending, MessageEnding::Failed("a\nb".into()));
    }
}
