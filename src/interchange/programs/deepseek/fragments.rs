//! Reads the content of a DeepSeek message: its fragments, the older form without them, and its files.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, ImportedSource, MessageFile, PieceBody};
use crate::domain::blocks::sources::is_web_url;
use crate::markdown::escaping::link_target;
use crate::reading::code_fences::CodeFences;
use crate::reading::fields::{count, first_text, id, list, printable, seconds_as_ms, text};
use crate::reading::media::mime_of;
use crate::reading::message_builder::{attachment_body, call_body};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The number of characters of a page's text that its source repeats; the result of the search has the whole text.
const SNIPPET_CHARS: usize = 500;

/// Addresses of the pages that a text cites by their numbers.
type CitedPages = HashMap<u64, String>;

/// Adds the fragments of a message in order.
pub(super) fn add(message: &mut ImportedMessage, fragments: &[&Value], notes: &mut ConversationNotes) {
    let found: Vec<&Value> = fragments
        .iter()
        .flat_map(|fragment| list(fragment, "results").iter().chain(list(fragment, "references")))
        .collect();
    let pages = cited_pages(&found);
    for fragment in fragments {
        if keys::FRAGMENT_TYPES.contains(&text(fragment, "type").unwrap_or_default()) {
            keys::FRAGMENT.report_lost(fragment, &message.source_id, notes);
        }
        let content = text(fragment, "content").unwrap_or_default();
        match text(fragment, "type").unwrap_or_default() {
            "REQUEST" => message.add_text(content),
            "RESPONSE" => message.add_text(&link_citations(content, &pages)),
            "THINK" => add_thought(message, content, seconds_as_ms(fragment, "elapsed_secs")),
            "SEARCH" | "TOOL_SEARCH" => add_step(message, ("web_search", &["queries", "query"]), fragment, notes),
            "TOOL_OPEN" => add_step(message, ("open_page", &["url"]), fragment, notes),
            "FILE" => add_files(message, list(fragment, "files"), notes),
            // The fixed notice below every reply.
            "TIP" => {}
            kind if content.is_empty() => {
                let kind = printable(kind, 60);
                notes.add(IssueKind::Lost, &message.source_id, format!("parts of type “{kind}” are not imported"));
            }
            _ => message.add_text(content),
        }
    }
    add_sources(message, &found);
}

/// Adds the content of a message of before autumn 2025, which has no fragments.
pub(super) fn add_older_content(message: &mut ImportedMessage, value: &Value) {
    let results = list(value, "search_results");
    if !results.is_empty() {
        add_call(message, "web_search", Map::new(), Value::Array(results.to_vec()));
    }
    let thought = first_text(value, &["reasoning_content", "thinking_content"]).unwrap_or_default();
    add_thought(message, thought, seconds_as_ms(value, "thinking_elapsed_secs"));
    let found: Vec<&Value> = results.iter().collect();
    let content = text(value, "content").unwrap_or_default();
    message.add_text(&link_citations(content, &cited_pages(&found)));
    add_sources(message, &found);
}

fn add_thought(message: &mut ImportedMessage, content: &str, duration_ms: Option<u64>) {
    if !content.trim().is_empty() {
        message.add_piece(PieceBody::Thinking { text: content.to_owned(), title: None, duration_ms });
    }
}

/// Adds a step of the model, a search or a page that it opened, as a call of the tool with these parameters, and with
/// the rest of the step as its result.
fn add_step(
    message: &mut ImportedMessage,
    (tool, parameters): (&str, &[&str]),
    fragment: &Value,
    notes: &mut ConversationNotes,
) {
    let member = |name: &str| fragment.get(name).filter(|value| is_filled(value)).cloned();
    let arguments: Map<String, Value> =
        parameters.iter().filter_map(|name| Some(((*name).to_owned(), member(name)?))).collect();
    let title = || member("title").map(|title| json!({ "title": title }));
    let result = member("results").or_else(|| member("result")).or_else(|| member("content")).or_else(title);
    if arguments.is_empty() && result.is_none() {
        let kind = text(fragment, "type").unwrap_or_default();
        let text = format!("a step of the reply is not in the export ({kind})");
        notes.add(IssueKind::Lost, &message.source_id, text);
        return;
    }
    add_call(message, tool, arguments, result.unwrap_or_default());
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => !values.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

fn add_call(message: &mut ImportedMessage, tool: &str, arguments: Map<String, Value>, result: Value) {
    let call_id = format!("{}/{}", message.source_id, message.pieces.len());
    message.add_piece(call_body(call_id.clone(), tool, Some(&Value::Object(arguments))));
    message.add_tool_result(&call_id, tool, result, true);
}

/// Adds the pages that were found, each once.
fn add_sources(message: &mut ImportedMessage, found: &[&Value]) {
    let mut sources: Vec<ImportedSource> = Vec::new();
    for page in found {
        let url = text(page, "url").unwrap_or_default();
        let title = first_text(page, &["title", "site_name"]).unwrap_or_default();
        let is_known = sources.iter().rev().take(SAME_PAGES).any(|source| source.url == url);
        if is_known || (url.is_empty() && title.is_empty()) {
            continue;
        }
        let snippet = text(page, "snippet").unwrap_or_default().chars().take(SNIPPET_CHARS).collect();
        sources.push(ImportedSource { title: title.to_owned(), url: url.to_owned(), snippet, cited_range: None });
    }
    if !sources.is_empty() {
        message.add_piece(PieceBody::Sources(sources));
    }
}

/// The number of pages before one among which its repetition is looked for; a search finds at most a few dozens.
const SAME_PAGES: usize = 100;

fn cited_pages(found: &[&Value]) -> CitedPages {
    let page = |page: &&Value| Some((count(page, "cite_index")?, text(page, "url")?.to_owned()));
    found.iter().filter_map(page).filter(|(_, url)| is_web_url(url)).collect()
}

/// Turns the marks of citations outside of code into links. A mark without a page stays.
fn link_citations(text: &str, pages: &CitedPages) -> String {
    let mut fences = CodeFences::new(text);
    let mut linked = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text[at..].find('[').map(|found| at + found) {
        if let Some(end) = fences.end_at(start) {
            at = end;
            continue;
        }
        at = start + 1;
        let Some((number, length)) = citation_mark(&text[start..]) else { continue };
        if let Some(url) = pages.get(&number) {
            linked.push_str(&text[from..start]);
            linked.push_str(&format!("[{number}]({})", link_target(url)));
            (from, at) = (start + length, start + length);
        }
    }
    linked.push_str(&text[from..]);
    linked
}

/// The number of digits that the number of a search result has at most.
const MARK_DIGITS: usize = 6;

/// Reads a mark such as `[citation:3]` at the beginning of a text; returns its number and its length.
fn citation_mark(text: &str) -> Option<(u64, usize)> {
    let rest = text.strip_prefix("[citation:").or_else(|| text.strip_prefix("[reference:"))?;
    let digits = rest.bytes().take(MARK_DIGITS).take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    rest[digits..].starts_with(']').then_some((number, text.len() - rest.len() + digits + 1))
}

/// Adds attached files: the text that was extracted from them, or only their names.
pub(super) fn add_files(message: &mut ImportedMessage, files: &[Value], notes: &mut ConversationNotes) {
    for file in files {
        keys::FILE.report_lost(file, &message.source_id, notes);
        let place = id(file, "id").or_else(|| id(file, "file_id")).unwrap_or_default();
        let name = text(file, "file_name").unwrap_or_default().to_owned();
        if name.is_empty() && place.is_empty() {
            notes.add(IssueKind::Lost, &message.source_id, "a file without a name was skipped");
            continue;
        }
        let (name, mime) = if name.is_empty() { (place.clone(), "") } else { (name.clone(), mime_of(&name)) };
        let bytes = match text(file, "content") {
            Some(content) => {
                let text = "a file is not in the export, only its extracted text";
                notes.add(IssueKind::Lost, &message.source_id, text);
                FileBytes::TextOnly(content.to_owned())
            }
            None => {
                notes.add(IssueKind::Lost, &message.source_id, "a file is not in the export");
                FileBytes::Absent(place)
            }
        };
        let is_picture = mime.starts_with("image/") && !matches!(bytes, FileBytes::TextOnly(_));
        let file = MessageFile { name, mime: mime.to_owned(), bytes };
        let body = if is_picture { attachment_body(file, "", true) } else { PieceBody::Attachment { file } };
        message.add_piece(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citation_marks_become_links_outside_of_code() {
        let pages = CitedPages::from([(1, "https://a.example/x_(y)".to_owned()), (12, "https://b.example".to_owned())]);
        let table = [
            ("So.[citation:1][citation:12]", "So.[1](<https://a.example/x_(y)>)[12](https://b.example)"),
            ("[reference:12] [citation:2]", "[12](https://b.example) [citation:2]"),
            ("[citation:] [citation:x] [citation:1", "[citation:] [citation:x] [citation:1"),
            ("```\n[citation:1]\n```\n[citation:12]", "```\n[citation:1]\n```\n[12](https://b.example)"),
            ("[a [citation:12]", "[a [12](https://b.example)"),
            ("[citation:99999999999999999999]é", "[citation:99999999999999999999]é"),
        ];
        for (text, expected) in table {
            assert_eq!(link_citations(text, &pages), expected);
        }
    }
}
