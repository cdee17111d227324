//! Converts the content of a Claude message into pieces, block by block.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::keys;
use crate::conversation::{FileBytes, ImportedSource, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::input::InputParts;
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;
use crate::reading::{fields, media};
use crate::report::IssueKind;

/// The metadata of a message, read before its pieces.
pub(crate) struct MessageHead<'m> {
    pub id: &'m str,
    pub role: Role,
    pub created_at: Option<DateTime<Utc>>,
}

/// Returns the pieces of a message: its blocks, or its text if it has none, and its files.
pub(crate) fn pieces(
    message: &Value,
    head: &MessageHead<'_>,
    calls: &mut UnansweredCalls,
    parts: &InputParts,
    notes: &mut ConversationNotes,
) -> Vec<MessagePiece> {
    let author = match head.role {
        Role::User => Author::User,
        Role::Assistant => Author::Assistant,
        Role::System => Author::System,
    };
    let (id, created_at) = (head.id, head.created_at);
    let mut reader =
        ClaudeContentReader { id, author, created_at, parts, pieces: Vec::new(), open: OpenCalls::default(), calls };
    let blocks = fields::list(message, "content");
    for (at, block) in blocks.iter().enumerate() {
        reader.block(at, block, notes);
    }
    if blocks.is_empty() {
        let content = message.get("content").and_then(Value::as_str).filter(|text| !text.is_empty());
        let text = content.or_else(|| fields::text(message, "text")).unwrap_or_default();
        reader.text(text, created_at);
    }
    reader.files(message, notes);
    reader.pieces
}

/// Ids and names of the conversation's calls without a result so far, because it may be in a later message.
#[derive(Default)]
pub(crate) struct UnansweredCalls(HashMap<String, String>);

struct ClaudeContentReader<'a> {
    id: &'a str,
    author: Author,
    created_at: Option<DateTime<Utc>>,
    parts: &'a InputParts,
    pieces: Vec<MessagePiece>,
    open: OpenCalls,
    calls: &'a mut UnansweredCalls,
}

impl ClaudeContentReader<'_> {
    fn push(&mut self, author: Author, at: Option<DateTime<Utc>>, body: PieceBody) {
        self.pieces.push(MessagePiece { author, created_at: at.or(self.created_at), body });
    }

    fn text(&mut self, text: &str, at: Option<DateTime<Utc>>) {
        if !text.trim().is_empty() {
            self.push(self.author, at, PieceBody::Text(text.to_owned()));
        }
    }

    fn block(&mut self, at: usize, block: &Value, notes: &mut ConversationNotes) {
        let started = notes.date(block, "start_timestamp", self.id);
        let stopped = notes.date(block, "stop_timestamp", self.id);
        let kind = fields::text(block, "type").unwrap_or_default();
        if keys::BLOCK_TYPES.contains(&kind) {
            keys::BLOCK.report_lost(block, self.id, notes);
        }
        match kind {
            "text" => {
                let text = fields::text(block, "text").unwrap_or_default();
                self.text(text, started);
                let found = citations(block, text);
                if !found.is_empty() {
                    self.push(self.author, started, PieceBody::Sources(found));
                }
            }
            "thinking" => {
                let mut text = fields::text(block, "thinking").unwrap_or_default().to_owned();
                let summaries = fields::list(block, "summaries").iter();
                let mut summaries: Vec<&str> =
                    summaries.filter_map(|summary| fields::text(summary, "summary")).collect();
                let title = summaries.pop().map(str::to_owned);
                // The last summary is what the page shows; the ones before it tell what came first.
                summaries.retain(|summary| Some(*summary) != title.as_deref());
                if !summaries.is_empty() {
                    if text.is_empty() {
                        text = summaries.join("\n\n");
                    } else {
                        notes.add(IssueKind::Lost, self.id, "earlier summaries of the reasoning are not imported");
                    }
                }
                let time =
                    started.zip(stopped).and_then(|(from, to)| u64::try_from((to - from).num_milliseconds()).ok());
                let duration_ms = time.filter(|time| *time > 0);
                if !text.is_empty() || title.is_some() {
                    self.push(self.author, started, PieceBody::Thinking { text, title, duration_ms });
                }
            }
            "tool_use" => {
                let id = fields::id(block, "id").unwrap_or_else(|| format!("{}-{at}", self.id));
                let name = fields::text(block, "name").unwrap_or("tool").to_owned();
                self.open.add(id.clone(), name.clone());
                self.calls.0.insert(id.clone(), name.clone());
                let arguments = block.get("input").cloned().unwrap_or_default();
                self.push(Author::Assistant, started, PieceBody::ToolCall { id, name, arguments, arguments_raw: None });
            }
            "tool_result" => self.answer(at, block, started, notes),
            "image" => self.image(block, Author::User, notes),
            "voice_note" => self.text(fields::first_text(block, &["text", "transcript"]).unwrap_or_default(), started),
            "document" | "context" => self.document(block, notes),
            "file" => {
                let name = fields::text(block, "file_name").unwrap_or("file");
                let id = fields::first_text(block, &["file_uuid", "file_id"]).unwrap_or(name);
                self.file(name, "", None, id, notes);
            }
            // It reports the remaining context of the model, which is no content.
            "token_budget" => {}
            "flag" => notes.add(IssueKind::Lost, self.id, "a service flag on the message is not imported"),
            kind => match fields::first_text(block, &["text", "content"]) {
                Some(text) => self.text(text, started),
                None => {
                    let kind: String = kind.chars().take(60).collect();
                    notes.add(IssueKind::Lost, self.id, format!("blocks of type “{kind}” are not imported"));
                }
            },
        }
    }

    /// Adds a result to its call: the one that it names, else the first open one with its name, else a call that is
    /// created for it.
    fn answer(&mut self, at: usize, block: &Value, started: Option<DateTime<Utc>>, notes: &mut ConversationNotes) {
        let named = fields::id(block, "tool_use_id").or_else(|| fields::id(block, "id"));
        let name = fields::text(block, "name");
        let earlier = named.as_ref().and_then(|id| self.calls.0.remove_entry(id));
        let call = match (self.open.take(named.as_deref(), name), earlier) {
            (Some(open), _) => open,
            (None, Some(earlier)) => earlier,
            (None, None) => {
                let id = format!("{}-{at}", self.id);
                let name = name.unwrap_or("tool").to_owned();
                let arguments = Value::Null;
                let call = PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments, arguments_raw: None };
                self.push(Author::Assistant, started, call);
                (id, name)
            }
        };
        let content = block.get("content").unwrap_or(&Value::Null);
        let items = fields::list(block, "content");
        let is_text = |item: &Value| fields::text(item, "type") == Some("text");
        let plain = fields::text(block, "text").filter(|_| content.is_null());
        let result = if let Some(text) = plain {
            Value::String(text.to_owned())
        } else if !items.is_empty() && items.iter().all(is_text) {
            Value::String(items.iter().filter_map(|item| fields::text(item, "text")).collect::<Vec<_>>().join("\n"))
        } else {
            content.clone()
        };
        let success = !fields::is_set(block, "is_error");
        self.push(
            Author::Tool,
            started,
            PieceBody::ToolResult { id: call.0, name: call.1, result, success, metadata: Value::Null },
        );
        let found: Vec<ImportedSource> = items.iter().filter_map(knowledge).collect();
        if !found.is_empty() {
            self.push(Author::Tool, started, PieceBody::Sources(found));
        }
        for image in items.iter().filter(|item| fields::text(item, "type") == Some("image")) {
            self.image(image, Author::Tool, notes);
        }
    }

    fn image(&mut self, block: &Value, author: Author, notes: &mut ConversationNotes) {
        let source = block.get("source").unwrap_or(block);
        let mime = fields::text(source, "media_type").unwrap_or_default().to_owned();
        let bytes =
            fields::text(source, "data").and_then(media::decode_base64).map(|bytes| FileBytes::Inline(bytes.into()));
        let at = fields::first_text(source, &["file_uuid", "url"])
            .or_else(|| fields::first_text(block, &["file_uuid", "file_id"]));
        let bytes = bytes.unwrap_or_else(|| self.entry(at.unwrap_or_default(), notes));
        let name = fields::first_text(block, &["file_name", "title"]).unwrap_or("picture").to_owned();
        self.push(author, None, PieceBody::Picture { file: MessageFile { name, mime, bytes }, alt: String::new() });
    }

    fn document(&mut self, block: &Value, notes: &mut ConversationNotes) {
        let within = block.get("document").unwrap_or(block);
        let name = fields::first_text(block, &["name", "title"]).or_else(|| fields::text(within, "name"));
        let text = fields::first_text(block, &["text", "body", "content"]).or_else(|| fields::text(within, "text"));
        match (name, text) {
            (None, None) => notes.add(IssueKind::Lost, self.id, "documents without a name and text are not imported"),
            (name, text) => self.file(name.unwrap_or("document.txt"), "", text, "", notes),
        }
    }

    /// Adds attachments, which contain extracted text, and files, of which the export contains only names.
    fn files(&mut self, message: &Value, notes: &mut ConversationNotes) {
        // Duplicates are found by id, or by name if either file has no id.
        let (mut ids, mut names, mut names_alone) = (HashSet::new(), HashSet::new(), HashSet::new());
        for list in ["attachments", "files", "files_v2"] {
            for given in fields::list(message, list) {
                let id = fields::first_text(given, &["file_uuid", "uuid", "id"]).unwrap_or_default();
                let name = fields::first_text(given, &["file_name", "name"]).unwrap_or_default();
                let text = fields::first_text(given, &["extracted_content", "text"]);
                let is_named = |names: &HashSet<&str>| !name.is_empty() && names.contains(name);
                let is_known = match id {
                    "" => is_named(&names),
                    id => ids.contains(id) || is_named(&names_alone),
                };
                if is_known || (id.is_empty() && name.is_empty() && text.is_none()) {
                    continue;
                }
                names.insert(name);
                if id.is_empty() {
                    names_alone.insert(name);
                } else {
                    ids.insert(id);
                }
                let kind = fields::first_text(given, &["file_type", "file_kind"]).unwrap_or_default();
                self.file(if name.is_empty() { "pasted.txt" } else { name }, kind, text, id, notes);
            }
        }
    }

    fn file(&mut self, name: &str, kind: &str, text: Option<&str>, id: &str, notes: &mut ConversationNotes) {
        let media_type =
            if kind.contains('/') { kind.to_owned() } else { media::mime_of(&format!(".{kind}")).to_owned() };
        let mime = if media_type.is_empty() { media::mime_of(name).to_owned() } else { media_type };
        let is_picture = kind == "image" || mime.starts_with("image/");
        let bytes = match text {
            Some(text) => {
                notes.add(IssueKind::Lost, self.id, "the export only has the text of a file");
                FileBytes::TextOnly(text.to_owned())
            }
            None => self.entry(if id.is_empty() { name } else { id }, notes),
        };
        let file = MessageFile { name: name.to_owned(), mime, bytes };
        let is_text = matches!(file.bytes, FileBytes::TextOnly(_));
        let body = if is_picture && !is_text {
            PieceBody::Picture { file, alt: String::new() }
        } else {
            PieceBody::Attachment { file }
        };
        self.push(self.author, None, body);
    }

    /// Returns the entry whose name contains the file's id; known exports contain none.
    fn entry(&self, id: &str, notes: &mut ConversationNotes) -> FileBytes {
        let is_id = id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let entry = self.parts.all().iter().find(|part| is_id && part.name.contains(id));
        entry.map_or_else(
            || {
                notes.add(IssueKind::Lost, self.id, "a file is not in the export");
                FileBytes::Absent(id.to_owned())
            },
            |part| FileBytes::Entry(part.name.clone()),
        )
    }
}

/// Returns the pages that a text cites, with their ranges.
fn citations(block: &Value, text: &str) -> Vec<ImportedSource> {
    let length = text.chars().count() as u64;
    let cited = fields::list(block, "citations").iter().filter_map(|citation| {
        let details = citation.get("details").unwrap_or(citation);
        let url = fields::text(details, "url").or_else(|| fields::text(citation, "url")).unwrap_or_default();
        let title = fields::first_text(details, &["title", "name"]).or_else(|| fields::text(citation, "title"));
        let title = title.unwrap_or_default();
        if url.is_empty() && title.is_empty() {
            return None;
        }
        let start = fields::count(citation, "start_index");
        let stretch =
            start.zip(fields::count(citation, "end_index")).filter(|(start, end)| start < end && *end <= length);
        let snippet = fields::first_text(details, &["cited_text", "snippet", "text"]).unwrap_or_default();
        Some(ImportedSource {
            title: title.to_owned(),
            url: url.to_owned(),
            snippet: snippet.to_owned(),
            cited_range: stretch,
        })
    });
    cited.collect()
}

/// Returns a page of a search result.
fn knowledge(item: &Value) -> Option<ImportedSource> {
    let url = fields::text(item, "url").filter(|_| fields::text(item, "type") == Some("knowledge"))?;
    let title = fields::text(item, "title").unwrap_or_default().to_owned();
    // The whole text is in the result of the call.
    let snippet = fields::text(item, "text").unwrap_or_default().chars().take(500).collect();
    Some(ImportedSource { title, url: url.to_owned(), snippet, cited_range: None })
}
