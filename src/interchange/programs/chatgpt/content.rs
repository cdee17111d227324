//! Converts the content of a ChatGPT message into pieces, by content type.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::assets::{ExportAssets, pointer_id};
use super::citations::{SearchBudget, extract_citations, source_of};
use crate::conversation::{ImportedSource, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::reading::fields;
use crate::reading::message_builder::{QUOTE_BEFORE_TEXT, as_quote};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The role of a message, as far as it affects its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageSpeaker {
    User,
    Assistant,
    System,
    Tool,
}

impl MessageSpeaker {
    fn author(self) -> Author {
        match self {
            Self::User => Author::User,
            Self::Assistant => Author::Assistant,
            Self::System => Author::System,
            Self::Tool => Author::Tool,
        }
    }
}

/// The content of a message and its context while it is read.
pub(crate) struct MessageContent<'a> {
    pub(crate) message: &'a Value,
    pub(crate) content: &'a Value,
    pub(crate) metadata: &'a Value,
    pub(crate) id: &'a str,
    pub(crate) speaker: MessageSpeaker,
    pub(crate) created_at: Option<DateTime<Utc>>,
    pub(crate) assets: &'a ExportAssets,
    pub(crate) search_budget: SearchBudget,
}

impl MessageContent<'_> {
    pub(crate) fn kind(&self) -> &str {
        fields::text(self.content, "content_type").unwrap_or("text")
    }

    pub(crate) fn piece(&self, body: PieceBody) -> MessagePiece {
        MessagePiece { author: self.speaker.author(), created_at: self.created_at, body }
    }

    /// Returns the content as text and files, for all messages except those from and to tools.
    pub(crate) fn pieces(&self, notes: &mut ConversationNotes) -> Vec<MessagePiece> {
        let mut bodies = match self.kind() {
            "thoughts" => self.thoughts(),
            // The duration of a recap belongs to the preceding thoughts; see `calls`.
            "reasoning_recap" => Vec::new(),
            "code" => self.code(notes),
            _ => self.words(notes),
        };
        let quote = as_quote(&self.targeted_reply());
        if !quote.is_empty() {
            notes.add(IssueKind::PutRight, self.id, QUOTE_BEFORE_TEXT);
            bodies.insert(0, PieceBody::Text(quote));
        }
        bodies.extend(self.attachments(notes));
        bodies.into_iter().map(|body| self.piece(body)).collect()
    }

    /// Returns the passage of an earlier reply that the user answers.
    fn targeted_reply(&self) -> String {
        let places = [self.metadata, self.message, self.content];
        let parts = match places.into_iter().filter_map(|place| place.get("targeted_reply")).find(|of| !of.is_null()) {
            Some(Value::Array(parts)) => parts.as_slice(),
            Some(part) => std::slice::from_ref(part),
            None => &[],
        };
        let text = |part| fields::first_text(part, &["text", "content", "quote"]);
        let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| text(part)));
        texts.map(str::trim).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    fn thoughts(&self) -> Vec<PieceBody> {
        let thoughts = [self.parts(), fields::list(self.content, "thoughts")].concat();
        let thoughts = thoughts.iter().filter_map(|thought| {
            if let Some(text) = thought.as_str() {
                let text = text.to_owned();
                return (!text.trim().is_empty()).then_some(PieceBody::Thinking {
                    text,
                    title: None,
                    duration_ms: None,
                });
            }
            let title = fields::text(thought, "summary").map(str::to_owned);
            let chunks =
                || fields::list(thought, "chunks").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
            let text = fields::text(thought, "content").map_or_else(chunks, str::to_owned);
            let is_empty = title.is_none() && text.is_empty();
            (!is_empty).then_some(PieceBody::Thinking { text, title, duration_ms: None })
        });
        thoughts.collect()
    }

    /// Returns the parts of a content that has them; a single part may stand without its list, and a text without its
    /// object.
    fn parts(&self) -> &[Value] {
        match (self.content, self.content.get("parts")) {
            (Value::String(_) | Value::Array(_), _) => match self.content {
                Value::Array(parts) => parts,
                text => std::slice::from_ref(text),
            },
            (_, Some(Value::Array(parts))) => parts,
            (_, Some(part @ (Value::String(_) | Value::Object(_)))) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// Returns code for the reader as Markdown.
    fn code(&self, notes: &mut ConversationNotes) -> Vec<PieceBody> {
        let joined = self.parts().iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        let code = fields::first_text(self.content, &["text", "finished_text"])
            .or(Some(joined.as_str()).filter(|code| !code.is_empty()))
            .or_else(|| fields::text(self.metadata, "finished_text"));
        let Some(code) = code else {
            notes.add(IssueKind::Lost, self.id, "the code of a message is not in the export");
            return Vec::new();
        };
        let language =
            fields::text(self.content, "language").filter(|language| *language != "unknown").unwrap_or_default();
        let mut longest = 0;
        let mut run = 0;
        for c in code.chars() {
            run = if c == '`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat(3.max(longest + 1));
        vec![PieceBody::Text(format!("{fence}{language}\n{code}\n{fence}"))]
    }

    /// Returns the parts, or the text that other types store in various members.
    fn words(&self, notes: &mut ConversationNotes) -> Vec<PieceBody> {
        let parts = self.parts();
        if parts.is_empty() {
            return self.plain_text(notes);
        }
        let mut bodies = Vec::new();
        let mut found = Vec::new();
        for part in parts {
            match part {
                Value::String(text) => self.text(text, &mut bodies, &mut found, notes),
                part => self.part(part, &mut bodies, &mut found, notes),
            }
        }
        found.extend(self.searched_pages());
        if !found.is_empty() {
            bodies.push(PieceBody::Sources(found));
        }
        bodies
    }

    /// Adds a text followed by its sources, because their ranges count in it.
    fn text(
        &self,
        text: &str,
        bodies: &mut Vec<PieceBody>,
        found: &mut Vec<ImportedSource>,
        notes: &mut ConversationNotes,
    ) {
        if text.trim().is_empty() {
            return;
        }
        if self.speaker != MessageSpeaker::Assistant {
            bodies.push(PieceBody::Text(text.to_owned()));
            return;
        }
        let read = extract_citations(text, self.metadata, &self.search_budget);
        if read.lost > 0 {
            notes.add(IssueKind::Lost, self.id, "widgets in the text (a map, an image list) are not imported");
        }
        if !read.text.trim().is_empty() {
            bodies.push(PieceBody::Text(read.text));
        }
        // A second text has the same metadata; the sources belong to the first.
        if !read.sources.is_empty()
            && found.is_empty()
            && !bodies.iter().any(|body| matches!(body, PieceBody::Sources(_)))
        {
            found.extend(read.sources);
            if found.iter().any(|source| source.cited_range.is_some()) {
                bodies.push(PieceBody::Sources(std::mem::take(found)));
            }
        }
    }

    fn part(
        &self,
        part: &Value,
        bodies: &mut Vec<PieceBody>,
        found: &mut Vec<ImportedSource>,
        notes: &mut ConversationNotes,
    ) {
        match fields::text(part, "content_type").unwrap_or_default() {
            "image_asset_pointer" => bodies.extend(self.picture(part, notes)),
            "audio_transcription" => self.text(fields::text(part, "text").unwrap_or_default(), bodies, found, notes),
            "audio_asset_pointer" | "video_container_asset_pointer" => bodies.extend(self.recording(part, notes)),
            "real_time_user_audio_video_asset_pointer" => {
                let within = ["audio_asset_pointer", "video_container_asset_pointer"].map(|name| part.get(name));
                bodies.extend(within.into_iter().flatten().filter_map(|recording| self.recording(recording, notes)));
            }
            kind => match fields::text(part, "text") {
                Some(text) => self.text(text, bodies, found, notes),
                None if part.is_null() => {}
                None => notes.add(
                    IssueKind::Lost,
                    self.id,
                    format!("parts of type “{}” are not imported", shortened_word(kind)),
                ),
            },
        }
    }

    fn picture(&self, part: &Value, notes: &mut ConversationNotes) -> Option<PieceBody> {
        let pointer = fields::text(part, "asset_pointer")?;
        let made = part.get("metadata").and_then(|metadata| metadata.get("dalle"));
        let title = fields::text(self.metadata, "image_gen_title");
        let alt = made.and_then(|made| fields::text(made, "prompt")).or(title).unwrap_or_default();
        let mut attached = self.attachment_values().take_while(|_| self.search_budget.allows_source());
        let attached =
            attached.find(|attached| fields::text(attached, "id").is_some_and(|id| id == pointer_id(pointer)));
        let name = attached.and_then(|attached| fields::text(attached, "name"));
        let mime = attached.and_then(|attached| fields::first_text(attached, &["mime_type", "mimeType"]));
        let file = self.assets.file(pointer, name, mime);
        self.report_absent(&file.bytes, "a picture", notes);
        Some(PieceBody::Picture { file, alt: alt.to_owned() })
    }

    fn recording(&self, part: &Value, notes: &mut ConversationNotes) -> Option<PieceBody> {
        let pointer = fields::text(part, "asset_pointer")?;
        let mime = match fields::text(part, "format") {
            Some(format) => crate::reading::media::mime_of(&format!(".{format}")),
            None => "",
        };
        let file = self.assets.file(pointer, None, Some(mime).filter(|mime| !mime.is_empty()));
        self.report_absent(&file.bytes, "a recording", notes);
        Some(PieceBody::Attachment { file })
    }

    fn attachment_values(&self) -> impl Iterator<Item = &Value> {
        fields::list(self.metadata, "attachments").iter()
    }

    /// Returns attached files that are not among the images of the message.
    fn attachments(&self, notes: &mut ConversationNotes) -> Vec<PieceBody> {
        let parts = self.parts();
        let shown: HashSet<&str> =
            parts.iter().filter_map(|part| fields::text(part, "asset_pointer")).map(pointer_id).collect();
        let mut bodies = Vec::new();
        for attached in self.attachment_values() {
            let id = fields::text(attached, "id").unwrap_or_default();
            let name = fields::text(attached, "name");
            if (id.is_empty() && name.is_none()) || (!id.is_empty() && shown.contains(pointer_id(id))) {
                continue;
            }
            let file = self.assets.file(id, name, fields::first_text(attached, &["mime_type", "mimeType"]));
            self.report_absent(&file.bytes, "a file", notes);
            bodies.push(PieceBody::Attachment { file });
        }
        bodies
    }

    fn report_absent(&self, bytes: &crate::conversation::FileBytes, label: &str, notes: &mut ConversationNotes) {
        if matches!(bytes, crate::conversation::FileBytes::Absent(_)) {
            notes.add(IssueKind::Lost, self.id, format!("{label} is not in the export"));
        }
    }

    /// Reads a content that stores its text outside of `parts`.
    fn plain_text(&self, notes: &mut ConversationNotes) -> Vec<PieceBody> {
        let words = fields::first_text(self.content, &["text", "result", "content", "summary", "model_set_context"]);
        let has_parts = self.content.get("parts").is_some();
        let mut bodies = Vec::new();
        let mut found = Vec::new();
        match words {
            Some(text) => self.text(text, &mut bodies, &mut found, notes),
            None if has_parts || self.content.is_null() || self.kind() == "text" => {}
            None => {
                let text = format!("content of type “{}” is not imported", shortened_word(self.kind()));
                notes.add(IssueKind::Lost, self.id, text);
            }
        }
        found.extend(source_of(self.content));
        found.extend(self.searched_pages());
        if !found.is_empty() {
            bodies.push(PieceBody::Sources(found));
        }
        bodies
    }

    /// Returns the pages of a search result without duplicates.
    fn searched_pages(&self) -> Vec<ImportedSource> {
        let groups = fields::list(self.metadata, "search_result_groups").iter();
        let pages = groups.flat_map(|group| fields::list(group, "entries")).filter_map(source_of);
        let cite =
            self.metadata.get("_cite_metadata").map(|cite| fields::list(cite, "metadata_list")).unwrap_or_default();
        let mut known = HashSet::new();
        pages.chain(cite.iter().filter_map(source_of)).filter(|page| known.insert(page.url.clone())).collect()
    }

    /// Reads tool output: its text is the result, images and pages follow.
    pub(crate) fn tool_result(&self, notes: &mut ConversationNotes) -> (Value, bool, Vec<PieceBody>) {
        let mut words = Vec::new();
        let mut others = Vec::new();
        for body in self.words(notes) {
            match body {
                PieceBody::Text(text) => words.push(text),
                other => others.push(other),
            }
        }
        let run = self.metadata.get("aggregate_result");
        for message in run.map(|run| fields::list(run, "messages")).unwrap_or_default() {
            if let Some(pointer) = fields::text(message, "image_url") {
                let file = self.assets.file(pointer, None, None);
                self.report_absent(&file.bytes, "a picture", notes);
                others.push(PieceBody::Picture { file, alt: String::new() });
            }
        }
        let has_failed = self.kind() == "system_error"
            || fields::text(self.message, "status") == Some("error")
            || run.is_some_and(|run| {
                fields::text(run, "status").is_some_and(|status| status.starts_with("failed") || status == "error")
                    || run.get("in_kernel_exception").is_some_and(Value::is_object)
            });
        (json!(words.join("\n")), !has_failed, others)
    }
}

/// Shortens a foreign word for use in a sentence.
pub(crate) fn shortened_word(word: &str) -> String {
    if word.is_empty() { "none".to_owned() } else { word.chars().take(60).collect() }
}
