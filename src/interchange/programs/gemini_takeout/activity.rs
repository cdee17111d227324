//! Reads an activity: a prompt with its answers.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::html::{ConvertedHtml, to_markdown};
use super::keys;
use crate::bounds;
use crate::conversation::{FileBytes, ImportedMessage, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::input::{InputPart, InputParts};
use crate::reading::fields::{content_id, list, printable, text};
use crate::reading::media::mime_of;
use crate::reading::message_builder::{attachment_body, empty_message};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::SourceNode;
use crate::report::IssueKind;

/// The words before a prompt. A longer one precedes a shorter one that begins it.
const PROMPT_WORDS: [&str; 10] = [
    "Prompted with: ",
    "Prompted ",
    "Live Prompt ",
    "Branched ",
    "Asked Gemini: ",
    "Asked Bard: ",
    "Asked ",
    "Said ",
    "Eingegebener Prompt: ",
    "送信したメッセージ: ",
];

/// The words of activities that are no prompts, in English.
const OTHER_WORDS: [&str; 13] = [
    "Created ",
    "Used ",
    "Added ",
    "Gave ",
    "Selected ",
    "Shared ",
    "Deleted ",
    "Cleared ",
    "Viewed ",
    "Visited ",
    "Answered ",
    "Pinned ",
    "Renamed ",
];

/// The addresses that name a conversation.
const CHAT_ADDRESS: &str = "gemini.google.com/app/";

/// Returns the id of the conversation, if an address of the activity names it.
pub(super) fn conversation_id(activity: &Value) -> Option<&str> {
    let details = list(activity, "details").iter();
    let details = details.flat_map(|detail| ["url", "value", "name"].into_iter().filter_map(|name| text(detail, name)));
    text(activity, "titleUrl").into_iter().chain(details).find_map(|address| {
        let id = address.split_once(CHAT_ADDRESS)?.1;
        let id = id.strip_prefix("c/").unwrap_or(id);
        let length = id.bytes().take_while(u8::is_ascii_alphanumeric).count();
        // Shorter names are pages of the app, such as its settings.
        (length >= 8).then(|| &id[..length])
    })
}

/// Reads the activities of a chat one after the other.
pub(super) struct ActivityReader<'a> {
    parts: &'a InputParts,
    part: &'a InputPart,
    nodes: Vec<SourceNode>,
    /// The message that the next prompt follows: the newest answer.
    last: Option<String>,
}

/// The kind of an activity, by its title.
enum ActivityKind<'t> {
    Prompt(&'t str),
    /// Another action of Gemini or the person.
    Other,
    /// The wording is not known, because the account has another language.
    Unknown,
}

impl<'a> ActivityReader<'a> {
    pub(super) fn new(parts: &'a InputParts, part: &'a InputPart) -> Self {
        Self { parts, part, nodes: Vec::new(), last: None }
    }

    /// Returns the messages, and the id of the one that was shown last.
    pub(super) fn into_nodes(self) -> (Vec<SourceNode>, Option<String>) {
        (self.nodes, self.last)
    }

    /// Adds the messages of an activity.
    pub(super) fn add(&mut self, activity: &Value, notes: &mut ConversationNotes) {
        let title = text(activity, "title").unwrap_or_default();
        let id = content_id(&json!([activity.get("time"), title]));
        keys::ACTIVITY.report_lost(activity, &id, notes);
        list(activity, "details").iter().for_each(|detail| keys::DETAIL.report_lost(detail, &id, notes));
        let created_at = match activity.get("time").and_then(|time| text(time, "text")) {
            // Of a log in HTML.
            Some(date) => {
                let unclear = format!("the date is not understood, so it was left out ({})", printable(date, 80));
                let lost = if date.is_empty() { "a message has no date in the export".to_owned() } else { unclear };
                notes.add(IssueKind::Lost, &id, lost);
                None
            }
            None => notes.date(activity, "time", &id),
        };
        let mut answers = self.answers(activity, &id, created_at, notes);
        let prompt = match activity_kind(title) {
            ActivityKind::Prompt(prompt) => Some(prompt),
            ActivityKind::Other if answers.is_empty() => {
                report_other(title, &id, notes);
                return;
            }
            ActivityKind::Other => None,
            ActivityKind::Unknown if answers.is_empty() => {
                report_other(title, &id, notes);
                return;
            }
            ActivityKind::Unknown => {
                let text = "the words before a prompt are not known in its language: they are part of the message";
                notes.add(IssueKind::PutRight, &id, text);
                Some(title)
            }
        };
        if let Some(prompt) = detail(activity, "Request").or(prompt) {
            let mut message = empty_message(&format!("{id}/prompt"), Role::User);
            message.created_at = created_at;
            self.add_files(&mut message, activity, notes);
            let has_files = !message.pieces.is_empty();
            message.add_text(if has_files { without_attachment_count(prompt.trim()) } else { prompt.trim() });
            self.push(message);
        } else if let Some(first) = answers.first_mut() {
            // Content that Gemini created, a canvas for example, is a reply under its title.
            let body = PieceBody::Text(title.to_owned());
            first.pieces.insert(0, MessagePiece { author: Author::Assistant, created_at: None, body });
        }
        self.push_answers(answers);
    }

    /// Adds a message behind the last one.
    fn push(&mut self, message: ImportedMessage) {
        let id = message.source_id.clone();
        let parent = self.last.replace(id.clone());
        self.nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
    }

    /// Adds the versions of an answer. The chat continues after the last one, which is the newest.
    fn push_answers(&mut self, answers: Vec<ImportedMessage>) {
        let parent = self.last.clone();
        for message in answers {
            self.last = parent.clone();
            self.push(message);
        }
    }

    fn answers(
        &self,
        activity: &Value,
        id: &str,
        created_at: Option<DateTime<Utc>>,
        notes: &mut ConversationNotes,
    ) -> Vec<ImportedMessage> {
        let mut answers = Vec::new();
        let items = match activity.get("safeHtmlItem") {
            Some(Value::Array(items)) => items.as_slice(),
            Some(item @ Value::Object(_)) => std::slice::from_ref(item),
            _ => &[],
        };
        for item in items {
            keys::ANSWER.report_lost(item, id, notes);
            let converted = to_markdown(text(item, "html").unwrap_or_default());
            answers.extend(self.answer(converted, &format!("{id}/{}", answers.len() + 1), notes));
        }
        if let Some(response) = detail(activity, "Response").filter(|_| answers.is_empty()) {
            let converted = ConvertedHtml { text: response.to_owned(), ..ConvertedHtml::default() };
            answers.extend(self.answer(converted, &format!("{id}/1"), notes));
        }
        answers.iter_mut().for_each(|answer| answer.created_at = created_at);
        answers
    }

    fn answer(&self, converted: ConvertedHtml, id: &str, notes: &mut ConversationNotes) -> Option<ImportedMessage> {
        let mut message = empty_message(id, Role::Assistant);
        message.provider = Some("google".to_owned());
        message.add_text(&converted.text);
        if converted.is_cut {
            notes.add(IssueKind::LeftOut, id, bounds::byte_limit_text(bounds::CONVERSATION_BYTES as u64));
        }
        for (address, alt) in converted.pictures {
            message.add_piece(attachment_body(self.file(&address, None, id, notes), &alt, true));
        }
        (!message.pieces.is_empty()).then_some(message)
    }

    /// Adds the files of a prompt, each once, and reports the other lines below it.
    fn add_files(&self, message: &mut ImportedMessage, activity: &Value, notes: &mut ConversationNotes) {
        let of = message.source_id.clone();
        let mut files: Vec<(&str, Option<&str>)> = Vec::new();
        for subtitle in list(activity, "subtitles") {
            keys::SUBTITLE.report_lost(subtitle, &of, notes);
            let (name, address) = (text(subtitle, "name").unwrap_or_default().trim(), text(subtitle, "url"));
            match (name.strip_prefix('-'), address) {
                (Some(name), Some(address)) => files.push((address, Some(name.trim()))),
                (_, Some(address)) if address.contains("/gems/") => {
                    notes.add(IssueKind::Lost, &of, "it used a Gem, which is not imported");
                }
                _ if is_attachment_count(name) || name.is_empty() => {}
                _ => {
                    let line = printable(name, 80);
                    notes.add(IssueKind::Lost, &of, format!("a line below a prompt is not imported ({line})"));
                }
            }
        }
        let named = list(activity, "attachedFiles").iter();
        let named = named.filter_map(|file| file.as_str().or_else(|| text(file, "name")));
        let mut known: HashSet<&str> = files.iter().map(|(address, _)| *address).collect();
        for address in text(activity, "imageFile").into_iter().chain(named) {
            if known.insert(address) {
                files.push((address, None));
            }
        }
        for (address, name) in files {
            let file = self.file(address, name, &of, notes);
            message.add_piece(attachment_body(file, "", false));
        }
    }

    /// Returns a file beside the log.
    fn file(&self, address: &str, name: Option<&str>, of: &str, notes: &mut ConversationNotes) -> MessageFile {
        let folder = self.part.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let entry = if folder.is_empty() { address.to_owned() } else { format!("{folder}/{address}") };
        let base = address.rsplit('/').next().unwrap_or_default();
        let mime = mime_of(base).to_owned();
        let name = name.filter(|name| !name.is_empty()).unwrap_or(base).to_owned();
        let bytes = match self.parts.index_of(&entry) {
            Some(_) => FileBytes::Entry(entry),
            None => {
                notes.add(IssueKind::Lost, of, "a file is not in the export");
                FileBytes::Absent(address.to_owned())
            }
        };
        MessageFile { name, mime, bytes }
    }
}

fn report_other(title: &str, id: &str, notes: &mut ConversationNotes) {
    let words = title.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    let words = printable(&words, 60);
    notes.add(IssueKind::Lost, id, format!("an activity that is no prompt is not imported ({words})"));
}

fn activity_kind(title: &str) -> ActivityKind<'_> {
    // The space behind the verb is one that does not break.
    let begins = |words: &&&str| {
        let begin: String = title.chars().take(words.chars().count()).collect();
        begin.replace('\u{a0}', " ") == **words
    };
    if OTHER_WORDS.iter().any(|words| begins(&words)) {
        return ActivityKind::Other;
    }
    match PROMPT_WORDS.iter().find(begins) {
        Some(words) => {
            let length: usize = title.chars().take(words.chars().count()).map(char::len_utf8).sum();
            ActivityKind::Prompt(&title[length..])
        }
        None => ActivityKind::Unknown,
    }
}

/// Returns the value of a detail by its name.
fn detail<'v>(activity: &'v Value, name: &str) -> Option<&'v str> {
    list(activity, "details").iter().find(|detail| text(detail, "name") == Some(name)).and_then(|of| text(of, "value"))
}

/// Removes “Attached 2 files.” from the end of a prompt.
fn without_attachment_count(prompt: &str) -> &str {
    match prompt.rfind("Attached ") {
        Some(at) if is_attachment_count(&prompt[at..]) => prompt[..at].trim_end(),
        _ => prompt,
    }
}

fn is_attachment_count(line: &str) -> bool {
    let rest = line.strip_prefix("Attached ").unwrap_or_default();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches!(rest[digits..].trim_end_matches('.'), " file" | " files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversation_is_named_by_address() {
        let table = [
            (json!({"titleUrl": "https://gemini.google.com/app/0123abcd4567?hl=en"}), Some("0123abcd4567")),
            (json!({"titleUrl": "https://gemini.google.com/app/c/0123abcd4567"}), Some("0123abcd4567")),
            (json!({"details": [{"name": "https://gemini.google.com/app/0123abcd4567"}]}), Some("0123abcd4567")),
            (json!({"titleUrl": "https://gemini.google.com/app/"}), None),
            (json!({"titleUrl": "https://gemini.google.com/gems/0123abcd4567"}), None),
            (json!({}), None),
        ];
        for (activity, expected) in table {
            assert_eq!(conversation_id(&activity), expected, "{activity}");
        }
    }

    #[test]
    fn prompt_is_without_words_before_and_after_it() {
        let prompt = |title| match activity_kind(title) {
            ActivityKind::Prompt(prompt) => without_attachment_count(prompt.trim()).to_owned(),
            ActivityKind::Other => "other".to_owned(),
            ActivityKind::Unknown => "unknown".to_owned(),
        };
        let table = [
            ("Prompted Hello", "Hello"),
            ("Prompted\u{a0}Hello", "Hello"),
            ("Prompted with: Hello", "Hello"),
            ("Eingegebener Prompt: Grüße", "Grüße"),
            ("Prompted See this Attached 2 files.", "See this"),
            ("Prompted Attached to it", "Attached to it"),
            ("Gave feedback: Good response", "other"),
            ("Préguntó: hola", "unknown"),
        ];
        for (title, expected) in table {
            assert_eq!(prompt(title), expected, "{title}");
        }
    }
}
