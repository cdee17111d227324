//! How readers make what all of their formats have: pieces of a message, a call's arguments, the system prompt.

use serde_json::Value;

use crate::conversation::{Body, Bytes, Ending, File, Message, Piece};
use crate::domain::block::Author;
use crate::domain::turn::Role;
use crate::domain::usage::Usage;
use crate::media::data_url;
use crate::notes::Notes;
use crate::report::What;

/// Why a reply failed of which the source says no more.
pub(crate) const SOURCE_SAYS_FAILED: &str = "The source says that it failed.";

/// A message that says nothing yet. Where it stands is the tree's.
pub(crate) fn message(id: &str, role: Role) -> Message {
    Message {
        source_id: id.to_owned(),
        parent: None,
        role,
        provider: None,
        model: None,
        created_at: None,
        ended_at: None,
        ending: Ending::Complete,
        pieces: Vec::new(),
        usage: Usage::default(),
        is_thinking_mode: None,
    }
}

impl Message {
    /// Adds a piece of the message's own author.
    pub(crate) fn say(&mut self, body: Body) {
        let author = match self.role {
            Role::User => Author::User,
            Role::Assistant => Author::Assistant,
            Role::System => Author::System,
        };
        self.pieces.push(Piece { author, created_at: None, body });
    }

    /// Adds a text, unless it is blank.
    pub(crate) fn say_text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(Body::Text(text.to_owned()));
        }
    }

    /// Adds reasoning, unless it is blank.
    pub(crate) fn think(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(Body::Thinking { text: text.to_owned(), title: None, duration_ms: None });
        }
    }

    /// Adds what a tool brought.
    pub(crate) fn answer(&mut self, id: &str, name: &str, result: Value, success: bool) {
        let body = Body::Answer { id: id.to_owned(), name: name.to_owned(), result, success, metadata: Value::Null };
        self.pieces.push(Piece { author: Author::Tool, created_at: None, body });
    }

    /// Adds a failure. Several stand one below the other.
    pub(crate) fn fail(&mut self, why: &str) {
        match &mut self.ending {
            Ending::Failed(before) if before.ends_with(why) => {}
            Ending::Failed(before) => {
                before.push('\n');
                before.push_str(why);
            }
            ending => *ending = Ending::Failed(why.to_owned()),
        }
    }
}

/// A call, its arguments as they were written: JSON in a string, or JSON itself.
pub(crate) fn call(id: String, name: &str, arguments: Option<&Value>) -> Body {
    let (arguments, arguments_raw) = match arguments {
        Some(Value::String(raw)) if raw.trim().is_empty() => (Value::Null, None),
        Some(Value::String(raw)) => (serde_json::from_str(raw).unwrap_or_default(), Some(raw.clone())),
        Some(other) => (other.clone(), None),
        None => (Value::Null, None),
    };
    Body::Call { id, name: name.to_owned(), arguments, arguments_raw }
}

/// A picture, where the file is one by its media type or by what else is known, else an attachment.
pub(crate) fn attached(file: File, alt: &str, is_picture: bool) -> Body {
    let is_picture = file.mime.starts_with("image/") || (is_picture && file.mime.is_empty());
    if is_picture { Body::Picture { file, alt: alt.to_owned() } } else { Body::Attachment { file } }
}

/// Tells which files are only named.
pub(crate) fn tell_missing_files(messages: &[Message], notes: &mut Notes) {
    for message in messages {
        for piece in &message.pieces {
            let (Body::Picture { file, .. } | Body::Attachment { file }) = &piece.body else { continue };
            let text = match file.bytes {
                Bytes::Absent(_) => "a file is named, but it did not come along",
                Bytes::TextOnly(_) => "a file did not come along, only the text that was taken out of it",
                Bytes::Entry(_) | Bytes::Inline(_) => continue,
            };
            notes.add(What::Lost, &message.source_id, text);
        }
    }
}

/// Where the bytes are that an address leads to: within itself, or nowhere here. The media type is empty where the
/// address does not say it.
pub(crate) fn behind(address: &str) -> (String, Bytes) {
    match data_url(address) {
        Some((mime, bytes)) => (mime, Bytes::Inline(bytes.into())),
        // A broken one is long and says nothing to anybody.
        None if address.starts_with("data:") => (String::new(), Bytes::Absent("data:".to_owned())),
        None => (String::new(), Bytes::Absent(address.to_owned())),
    }
}

/// Words as a Markdown quote.
pub(crate) fn as_quote(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Takes the system message out that every path begins with: its text, and the messages without it. Where paths begin
/// differently, or there is more in it than text, the messages stay as they are.
pub(crate) fn without_system_prompt(
    messages: Vec<Message>,
    current: Option<usize>,
) -> (String, Vec<Message>, Option<usize>) {
    let mut prompt: Option<String> = None;
    for root in messages.iter().filter(|message| message.parent.is_none()) {
        let text = match root.pieces.as_slice() {
            [Piece { body: Body::Text(text), .. }] if root.role == Role::System => text,
            _ => return (String::new(), messages, current),
        };
        if prompt.as_ref().is_some_and(|prompt| prompt != text) {
            return (String::new(), messages, current);
        }
        prompt = Some(text.clone());
    }
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(messages.len());
    let mut kept: Vec<Message> = Vec::with_capacity(messages.len());
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

    fn said(parent: Option<usize>, role: Role, text: &str) -> Message {
        let mut message = message(text, role);
        message.parent = parent;
        message.say_text(text);
        message
    }

    #[test]
    fn a_system_message_at_every_beginning_is_the_prompt() {
        type Parents = &'static [Option<usize>];
        let table: [(Vec<Message>, &str, Parents); 5] = [
            (
                vec![said(None, Role::System, "s"), said(Some(0), Role::User, "a"), said(Some(1), Role::User, "b")],
                "s",
                &[None, Some(0)],
            ),
            (
                vec![
                    said(None, Role::System, "s"),
                    said(Some(0), Role::User, "a"),
                    said(None, Role::System, "s"),
                    said(Some(2), Role::User, "b"),
                ],
                "s",
                &[None, None],
            ),
            (vec![said(None, Role::System, "s"), said(None, Role::System, "t")], "", &[None, None]),
            (vec![said(None, Role::System, "s"), said(None, Role::User, "t")], "", &[None, None]),
            (vec![], "", &[]),
        ];
        for (messages, prompt, parents) in table {
            let last = messages.len().checked_sub(1);
            let (found, kept, current) = without_system_prompt(messages, last);
            assert_eq!(found, prompt);
            assert_eq!(kept.iter().map(|message| message.parent).collect::<Vec<_>>(), parents);
            assert_eq!(current, kept.len().checked_sub(1));
        }
    }

    #[test]
    fn arguments_are_read_as_they_were_written() {
        let table = [
            (Some(json!("{\"a\":1}")), json!({"a": 1}), Some("{\"a\":1}")),
            (Some(json!("{broken")), Value::Null, Some("{broken")),
            (Some(json!({"a": 1})), json!({"a": 1}), None),
            (Some(json!(" ")), Value::Null, None),
            (None, Value::Null, None),
        ];
        for (given, expected, raw) in table {
            let Body::Call { arguments, arguments_raw, .. } = call("1".into(), "f", given.as_ref()) else {
                panic!("it is a call")
            };
            assert_eq!((arguments, arguments_raw.as_deref()), (expected, raw));
        }
    }

    #[test]
    fn failures_stand_one_below_the_other() {
        let mut message = message("m", Role::Assistant);
        for why in ["a", "a", "b"] {
            message.fail(why);
        }
        assert_eq!(message.ending, Ending::Failed("a\nb".into()));
    }
}
