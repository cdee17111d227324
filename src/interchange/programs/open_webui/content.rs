//! Converts the content of an Open WebUI message into pieces.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::details::{DetailsElement, TextSegment, json_or_text, split_details};
use super::{edits, keys, output};
use crate::conversation::{FileBytes, ImportedSource, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::reading::notes::ConversationNotes;
use crate::reading::{fields, media};
use crate::report::{IssueKind, IssueLocation};

/// Number of characters of a document that are kept as a source's snippet.
const SNIPPET_CHARS: usize = 2_000;

/// The pieces of a message, and those of its earlier wordings if its user edited it.
pub(crate) struct MessageWording {
    pub pieces: Vec<MessagePiece>,
    /// The pieces that the model wrote, if `output` still has them.
    pub output: Option<Vec<MessagePiece>>,
    /// The text before the last edit, if it differs from the others.
    pub original: Option<Vec<MessagePiece>>,
}

/// Returns the pieces of a message: files before a question and after a reply.
pub(crate) fn pieces(
    message: &Value,
    id: &str,
    role: Role,
    created_at: Option<DateTime<Utc>>,
    notes: &mut ConversationNotes,
) -> MessageWording {
    let mut reader = ContentReader { id, notes };
    let files = reader.files(message);
    let Wording { words, output, original } = wording(&mut reader, message, role);
    let bodies = if role == Role::Assistant {
        let found = sources(message);
        let found = (!found.is_empty()).then_some(PieceBody::Sources(found));
        let runs = reader.code_runs(message);
        reader.report_steps(message);
        words.into_iter().chain(runs).chain(files).chain(found).collect::<Vec<_>>()
    } else {
        files.into_iter().chain(words).collect()
    };
    let author = |body: &PieceBody| match (role, body) {
        (_, PieceBody::ToolResult { .. }) => Author::Tool,
        (Role::User, _) => Author::User,
        (Role::System, _) => Author::System,
        (Role::Assistant, _) => Author::Assistant,
    };
    let pieces = |bodies: Vec<PieceBody>| {
        bodies.into_iter().map(|body| MessagePiece { author: author(&body), created_at, body }).collect()
    };
    MessageWording { pieces: pieces(bodies), output: output.map(pieces), original: original.map(pieces) }
}

/// The content of a message as it is shown, and its earlier wordings.
struct Wording {
    words: Vec<PieceBody>,
    output: Option<Vec<PieceBody>>,
    original: Option<Vec<PieceBody>>,
}

/// Reads a message. Its user's words win; reasoning and calls of the model stay with them.
fn wording(reader: &mut ContentReader<'_, '_>, message: &Value, role: Role) -> Wording {
    let items = fields::list(message, "output");
    let output = if role == Role::Assistant && !items.is_empty() { reader.items(items) } else { Vec::new() };
    // If nothing could be read from the output, the text is used.
    let (words, output) = match message.get("content") {
        _ if output.is_empty() => (reader.content(message, role), None),
        Some(Value::String(text)) if !text.trim().is_empty() && !edits::is_rendered_from(text, &output) => {
            let text = quietly(reader.id, |reader| reader.split_text(text));
            (edits::with_words(&output, text), Some(output))
        }
        _ => (output, None),
    };
    let original = fields::text(message, "originalContent").filter(|_| role == Role::Assistant);
    let original = original.map(|text| quietly(reader.id, |reader| reader.split_text(text))).filter(|original| {
        let said = edits::bare_words(original);
        let is_known = |bodies: &Vec<PieceBody>| edits::bare_words(bodies) == said;
        !said.is_empty() && !is_known(&words) && !output.as_ref().is_some_and(is_known)
    });
    if output.is_some() || original.is_some() {
        let text = "it was edited in the source: the earlier words are imported as another version";
        reader.notes.add(IssueKind::PutRight, reader.id, text);
    }
    Wording { words, output, original }
}

/// Reads without notes, because the same content is reported elsewhere.
fn quietly<T>(id: &str, read: impl FnOnce(&mut ContentReader<'_, '_>) -> T) -> T {
    read(&mut ContentReader { id, notes: &mut ConversationNotes::new(IssueLocation::default()) })
}

struct ContentReader<'a, 'n> {
    id: &'a str,
    notes: &'n mut ConversationNotes,
}

impl ContentReader<'_, '_> {
    fn items(&mut self, items: &[Value]) -> Vec<PieceBody> {
        let mut unknown = Vec::new();
        let mut pictures = Vec::new();
        let mut bodies = output::bodies(items, &mut |kind| unknown.push(kind.to_owned()), &mut |file| {
            let body = file_body(file)?;
            pictures.push(is_absent(&body));
            Some(body)
        });
        for item in items {
            // Calls that the provider ran are kept with all their members, and unknown items are reported as a whole.
            let kind = fields::text(item, "type").unwrap_or_default();
            if keys::ITEM_TYPES.contains(&kind) {
                keys::ITEM.report_lost(item, self.id, self.notes);
            }
        }
        self.unread_parts(items, &mut bodies);
        for kind in unknown {
            let kind: String = kind.chars().take(60).collect();
            self.notes.add(IssueKind::Lost, self.id, format!("items of type “{kind}” are not imported"));
        }
        for _ in pictures.into_iter().filter(|is_absent| *is_absent) {
            self.report_absent();
        }
        // Generated call ids count per message, so the message id makes them unique within the conversation.
        for body in &mut bodies {
            if let PieceBody::ToolCall { id, .. } | PieceBody::ToolResult { id, .. } = body
                && id.starts_with("call-")
            {
                *id = format!("{}-{id}", self.id);
            }
        }
        bodies
    }

    /// Adds the pictures among the parts of items, which are no text, and reports the other ones.
    fn unread_parts(&mut self, items: &[Value], bodies: &mut Vec<PieceBody>) {
        let parts = |item: &Value| -> Vec<Value> {
            match fields::text(item, "type") {
                Some("message" | "reasoning") => fields::list(item, "content").to_vec(),
                Some("function_call_output") => fields::list(item, "output").to_vec(),
                _ => Vec::new(),
            }
        };
        let is_text = |part: &Value| part.is_string() || part.get("text").is_some() || part.get("refusal").is_some();
        for part in items.iter().flat_map(parts).filter(|part| !is_text(part)) {
            bodies.extend(self.part(&part));
        }
    }

    /// Returns the code that the page ran for the reply: each run as a call with its result.
    fn code_runs(&mut self, message: &Value) -> Vec<PieceBody> {
        let mut bodies = Vec::new();
        for (at, run) in fields::list(message, "code_executions").iter().enumerate() {
            let id = fields::id(run, "id").or_else(|| fields::id(run, "uuid")).unwrap_or_else(|| at.to_string());
            let code = fields::text(run, "code").map(str::to_owned);
            let result = run.get("result").filter(|result| !result.is_null()).cloned();
            let has_failed = run.get("result").is_some_and(|result| fields::text(result, "error").is_some());
            let files = run.get("result").and_then(|result| result.get("files")).cloned();
            bodies.extend(output::code_run_bodies(format!("{}-run-{id}", self.id), code, result, !has_failed));
            self.pictures(files, &mut bodies);
        }
        bodies
    }

    /// Reports the lines that show the steps of a search or a tool above a reply.
    fn report_steps(&mut self, message: &Value) {
        let steps = fields::list(message, "statusHistory").iter().chain(message.get("status"));
        let actions =
            steps.filter(|step| step.is_object()).map(|step| fields::first_text(step, &["action"]).unwrap_or("status"));
        let mut told: Vec<String> = actions.map(|action| action.chars().take(60).collect()).collect();
        told.dedup();
        for action in told {
            let text = format!("the status lines above a reply are not imported ({action})");
            self.notes.add(IssueKind::Lost, self.id, text);
        }
    }

    fn content(&mut self, message: &Value, role: Role) -> Vec<PieceBody> {
        match message.get("content") {
            Some(Value::String(text)) if role == Role::Assistant => self.split_text(text),
            Some(Value::String(text)) if !text.trim().is_empty() => vec![PieceBody::Text(text.clone())],
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| self.part(part)).collect(),
            Some(Value::Object(_)) => {
                self.notes.add(IssueKind::Lost, self.id, "content of type “object” is not imported");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn part(&mut self, part: &Value) -> Option<PieceBody> {
        let url = part.get("image_url").and_then(|image| image.as_str().or_else(|| fields::text(image, "url")));
        if let Some(url) = url {
            let body = picture(url, "");
            if is_absent(&body) {
                self.report_absent();
            }
            return Some(body);
        }
        if !part.is_string() && !part.is_null() && part.get("text").is_none() {
            let kind: String = fields::text(part, "type").unwrap_or("unknown").chars().take(60).collect();
            self.notes.add(IssueKind::Lost, self.id, format!("parts of type “{kind}” are not imported"));
        }
        part.as_str().or_else(|| fields::text(part, "text")).map(|text| PieceBody::Text(text.to_owned()))
    }

    /// Splits a text at the `<details>` elements of older messages.
    fn split_text(&mut self, text: &str) -> Vec<PieceBody> {
        let mut bodies = Vec::new();
        for (at, stretch) in split_details(text).into_iter().enumerate() {
            match stretch {
                TextSegment::Text(text) => bodies.push(PieceBody::Text(text.to_owned())),
                TextSegment::Details(details) => self.details(at, &details, &mut bodies),
            }
        }
        bodies
    }

    fn details(&mut self, at: usize, details: &DetailsElement<'_>, bodies: &mut Vec<PieceBody>) {
        let id = details.attribute("id").map_or_else(|| format!("{}-{at}", self.id), |id| id.into_owned());
        match details.kind {
            "reasoning" => {
                let seconds = details.attribute("duration").and_then(|text| text.trim().parse::<f64>().ok());
                let duration = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 3.2e9);
                let duration_ms = duration.map(|seconds| (seconds * 1000.0).round() as u64);
                bodies.push(PieceBody::Thinking { text: details.reasoning(), title: None, duration_ms });
            }
            "code_interpreter" => {
                let body = details.body();
                let code = body.strip_prefix("```").and_then(|rest| rest.split_once('\n'));
                let code = code.map_or(body.as_str(), |(_, code)| code.trim_end().trim_end_matches("```").trim_end());
                bodies.extend(output::code_run_bodies(id, Some(code.to_owned()), details.json("output"), true));
            }
            _ if details.attribute("content").is_some() => self.calls_of_round(details, bodies),
            _ => {
                let name = details.attribute("name").unwrap_or("tool".into()).into_owned();
                let raw = details.attribute("arguments").map(|raw| raw.into_owned());
                let arguments = raw.as_deref().map(json_or_text).filter(|value| !value.is_string()).unwrap_or_default();
                let call = PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments, arguments_raw: raw };
                bodies.push(call);
                let body = details.body();
                let result = details.json("result").or_else(|| (!body.is_empty()).then(|| json_or_text(&body)));
                if result.is_some() || details.attribute("done").as_deref() == Some("true") {
                    let result = result.unwrap_or_default();
                    bodies.push(PieceBody::ToolResult { id, name, result, success: true, metadata: Value::Null });
                }
                self.pictures(details.json("files"), bodies);
            }
        }
    }

    /// The oldest format: all calls of a round in one JSON value.
    fn calls_of_round(&mut self, details: &DetailsElement<'_>, bodies: &mut Vec<PieceBody>) {
        let (calls, results) =
            (details.json("content").unwrap_or_default(), details.json("results").unwrap_or_default());
        let results = results.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut of_call: HashMap<String, &Value> = HashMap::with_capacity(results.len());
        for result in results {
            if let Some(call) = fields::id(result, "tool_call_id") {
                of_call.entry(call).or_insert(result);
            }
        }
        for (at, call) in calls.as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate() {
            let id = fields::id(call, "id").unwrap_or_else(|| format!("{}-{at}", self.id));
            let function = call.get("function").unwrap_or(call);
            let name = fields::text(function, "name").unwrap_or("tool").to_owned();
            let raw = fields::text(function, "arguments").map(str::to_owned);
            let arguments = raw.as_deref().map(json_or_text).filter(|value| !value.is_string()).unwrap_or_default();
            bodies.push(PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments, arguments_raw: raw });
            if let Some(result) = of_call.get(&id) {
                let content = result.get("content").cloned().unwrap_or_default();
                bodies.push(PieceBody::ToolResult { id, name, result: content, success: true, metadata: Value::Null });
                self.pictures(result.get("files").cloned(), bodies);
            }
        }
    }

    fn pictures(&mut self, files: Option<Value>, bodies: &mut Vec<PieceBody>) {
        for file in files.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
            if let Some(body) = file.as_str().map(|url| picture(url, "")).or_else(|| file_body(file)) {
                if is_absent(&body) {
                    self.report_absent();
                }
                bodies.push(body);
            }
        }
    }

    fn files(&mut self, message: &Value) -> Vec<PieceBody> {
        let mut bodies: Vec<PieceBody> = fields::list(message, "files").iter().filter_map(file_body).collect();
        // Older messages contain only images instead of files.
        let pictures = fields::list(message, "images").iter().filter_map(Value::as_str);
        bodies.extend(pictures.map(|url| picture(url, "")));
        for _ in bodies.iter().filter(|body| is_absent(body)) {
            self.report_absent();
        }
        bodies
    }

    fn report_absent(&mut self) {
        self.notes.add(IssueKind::Lost, self.id, "a file is not in the export");
    }
}

fn is_absent(body: &PieceBody) -> bool {
    matches!(body, PieceBody::Picture { file, .. } | PieceBody::Attachment { file } if matches!(file.bytes, FileBytes::Absent(_)))
}

/// Returns an image from an address: a data URL, or a file on the source server.
fn picture(url: &str, name: &str) -> PieceBody {
    let name = if name.is_empty() { "picture" } else { name }.to_owned();
    let file = match media::parse_data_url(url) {
        Some((mime, bytes)) => MessageFile { name, mime, bytes: FileBytes::Inline(bytes.into()) },
        None => {
            // A malformed data URL is as long as its image.
            let at: String = url.chars().take(500).collect();
            MessageFile { mime: media::mime_of(&name).to_owned(), name, bytes: FileBytes::Absent(at) }
        }
    };
    PieceBody::Picture { file, alt: String::new() }
}

/// Reads an entry of a message's file list; `None` if it is no file.
fn file_body(given: &Value) -> Option<PieceBody> {
    let within = given.get("file").unwrap_or(given);
    let meta = within.get("meta").unwrap_or(&Value::Null);
    let name = fields::first_text(given, &["name"])
        .or_else(|| fields::first_text(within, &["filename", "name"]))
        .or_else(|| fields::text(meta, "name"))
        .unwrap_or_default();
    let url = fields::first_text(given, &["url", "id"]).or_else(|| fields::text(within, "id")).unwrap_or_default();
    let mime = fields::first_text(meta, &["content_type"]).or_else(|| fields::text(given, "content_type"));
    let is_picture =
        fields::text(given, "type") == Some("image") || mime.is_some_and(|mime| mime.starts_with("image/"));
    if is_picture && !url.is_empty() {
        return Some(picture(url, name));
    }
    if name.is_empty() && url.is_empty() {
        return None;
    }
    let text = within.get("data").and_then(|of| fields::text(of, "content")).or_else(|| fields::text(given, "content"));
    let bytes = match (text, media::parse_data_url(url)) {
        (Some(text), Some((_, bytes))) => FileBytes::InlineWithText(bytes.into(), text.to_owned()),
        (None, Some((_, bytes))) => FileBytes::Inline(bytes.into()),
        (Some(text), None) => FileBytes::TextOnly(text.to_owned()),
        (None, None) => FileBytes::Absent(url.chars().take(500).collect()),
    };
    let mime = mime.unwrap_or_else(|| media::mime_of(name)).to_owned();
    let name = if name.is_empty() { "file" } else { name }.to_owned();
    Some(PieceBody::Attachment { file: MessageFile { name, mime, bytes } })
}

/// Returns the sources of a reply: every document of every source, without duplicates by address or name.
fn sources(message: &Value) -> Vec<ImportedSource> {
    let mut found: Vec<ImportedSource> = Vec::new();
    // Address, or the title if there is no address.
    let mut known: HashSet<(&str, &str)> = HashSet::new();
    for name in ["sources", "citations"] {
        for given in fields::list(message, name) {
            let source = given.get("source").unwrap_or(given);
            let documents = fields::list(given, "document");
            let metadata = fields::list(given, "metadata");
            for at in 0..documents.len().max(metadata.len()).max(1) {
                let of = metadata.get(at).unwrap_or(&Value::Null);
                let is_address = |url: &&str| url.starts_with("http://") || url.starts_with("https://");
                let named = [
                    fields::text(of, "url"),
                    fields::text(of, "source"),
                    fields::text(source, "url"),
                    fields::text(source, "name"),
                ];
                let url = named.into_iter().flatten().find(is_address).unwrap_or_default();
                let title =
                    fields::first_text(of, &["title", "name"]).or_else(|| fields::first_text(source, &["name", "id"]));
                let title = title.unwrap_or_default();
                let key = (url, if url.is_empty() { title } else { "" });
                if (url.is_empty() && title.is_empty()) || !known.insert(key) {
                    continue;
                }
                let words = documents.get(at).and_then(Value::as_str).unwrap_or_default();
                let snippet = words.chars().take(SNIPPET_CHARS).collect();
                found.push(ImportedSource { title: title.to_owned(), url: url.to_owned(), snippet, cited_range: None });
            }
        }
    }
    found
}
