//! What a message of LibreChat holds: parts in `content`, or a `text` with fences in it; files, quotes, attachments.

use serde_json::Value;

use super::cited::{Found, cited};
use crate::conversation::{Body, Bytes, Ending, File, Message};
use crate::domain::turn::Role;
use crate::fields::{first_text, id, is_set, list, text};
use crate::made::{SOURCE_SAYS_FAILED, as_quote, attached, behind, call};
use crate::media::{base64, mime_of};
use crate::notes::Notes;
use crate::report::What;

/// Fills in what a message says and how it ended.
pub(super) fn fill(message: &mut Message, value: &Value, notes: &mut Notes) {
    let id = message.source_id.clone();
    for file in list(value, "files") {
        add_file(message, file, notes);
    }
    let quotes: Vec<String> = list(value, "quotes").iter().filter_map(Value::as_str).map(as_quote).collect();
    if !quotes.is_empty() {
        notes.add(What::PutRight, &id, "quotes beside a message were put before its text");
        message.say_text(&quotes.join("\n\n"));
    }
    let parts = list(value, "content");
    let found = Found::of(value);
    let mut words = Words { found: &found, has_marks: false };
    // An error's words stand in its text; the parts are what came before it.
    let is_error = is_set(value, "error");
    let before = message.pieces.len();
    for part in parts.iter().filter(|part| !part.is_null()) {
        add_part(message, part, &mut words, notes);
    }
    let whole = text(value, "text").unwrap_or_default();
    if is_error {
        if !whole.is_empty() || !matches!(message.ending, Ending::Failed(_)) {
            message.fail(if whole.is_empty() { SOURCE_SAYS_FAILED } else { whole });
        }
    } else if !message.pieces[before..].iter().any(|piece| matches!(piece.body, Body::Text(_))) {
        // The parts have no text of their own: it stands beside them.
        fenced(message, whole, &mut words);
    }
    for attachment in list(value, "attachments") {
        add_attachment(message, attachment, notes);
    }
    // Where no word is marked, what was found is of the whole reply.
    if !words.has_marks && !found.all.is_empty() {
        message.say(Body::Sources(found.all.clone()));
    }
    if is_set(value, "unfinished") && message.ending == Ending::Complete {
        message.ending = Ending::Cancelled;
    }
    if value.get("feedback").is_some_and(Value::is_object) {
        notes.add(What::Lost, &id, "ratings are not kept");
    }
}

/// The texts of a message, which may be marked with what they rest on.
struct Words<'a> {
    found: &'a Found,
    has_marks: bool,
}

impl Words<'_> {
    fn say(&mut self, message: &mut Message, text: &str) {
        if message.role == Role::User {
            return message.say_text(text);
        }
        let (text, sources) = cited(text, self.found);
        message.say_text(&text);
        if !sources.is_empty() {
            self.has_marks = true;
            message.say(Body::Sources(sources));
        }
    }
}

/// Reasoning in the text itself, as older versions kept it. A fence that is not closed is text.
fn fenced(message: &mut Message, whole: &str, words: &mut Words<'_>) {
    const OPEN: &str = ":::thinking";
    const CLOSE: &str = ":::";
    let mut rest = whole;
    while let Some((before, (thought, after))) =
        rest.split_once(OPEN).and_then(|(before, after)| Some((before, after.split_once(CLOSE)?)))
    {
        words.say(message, before);
        message.think(thought.trim());
        rest = after.trim_start_matches(['\r', '\n']);
    }
    words.say(message, rest);
}

/// A string, or an object that has it as its `value`.
fn worded<'a>(part: &'a Value, name: &str) -> &'a str {
    match part.get(name) {
        Some(Value::String(text)) => text,
        Some(inner) => text(inner, "value").unwrap_or_default(),
        None => "",
    }
}

fn add_part(message: &mut Message, part: &Value, words: &mut Words<'_>, notes: &mut Notes) {
    let of = message.source_id.clone();
    match text(part, "type").unwrap_or_default() {
        "text" => words.say(message, worded(part, "text")),
        "text_delta" => {
            let delta = worded(part, "text_delta");
            words.say(message, if delta.is_empty() { worded(part, "text") } else { delta });
        }
        "think" => message.think(worded(part, "think")),
        "error" => {
            let why = [worded(part, "text"), worded(part, "error")].into_iter().find(|why| !why.is_empty());
            message.fail(why.unwrap_or(SOURCE_SAYS_FAILED));
        }
        "tool_call" => add_call(message, part.get("tool_call").unwrap_or(&Value::Null), notes),
        "image_file" => add_file(message, part.get("image_file").unwrap_or(&Value::Null), notes),
        "image_url" | "video_url" => {
            let inner = part.get("image_url").or_else(|| part.get("video_url"));
            let address = inner.and_then(|inner| inner.as_str().or_else(|| text(inner, "url"))).unwrap_or_default();
            let (mime, bytes) = behind(address);
            let file = File { name: String::new(), mime, bytes };
            message.say(attached(file, "", part.get("image_url").is_some()));
        }
        "input_audio" => {
            let audio = part.get("input_audio").unwrap_or(&Value::Null);
            let format = text(audio, "format").unwrap_or_default();
            let bytes = text(audio, "data").and_then(base64);
            let bytes = bytes.map_or_else(|| Bytes::Absent("audio".to_owned()), |bytes| Bytes::Inline(bytes.into()));
            let name = format!("audio.{format}");
            message.say(Body::Attachment { file: File { mime: mime_of(&name).to_owned(), name, bytes } });
        }
        "agent_update" => notes.add(What::Lost, &of, "where one agent handed over to the next is not kept"),
        "summary" => notes.add(What::Lost, &of, "summaries that the source made of earlier messages are not kept"),
        other => {
            let told = worded(part, "text");
            if told.trim().is_empty() {
                notes.add(
                    What::Lost,
                    &of,
                    format!("a part of a kind that is not known was left out ({})", kind(other)),
                );
            } else {
                words.say(message, told);
            }
        }
    }
}

/// A stranger's word for a sentence.
fn kind(word: &str) -> String {
    let word: String = word.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
    if word.is_empty() { "no kind".to_owned() } else { word }
}

/// A call and, in the same part, what it brought. Empty output is none: it is what a call has while it waits.
fn add_call(message: &mut Message, told: &Value, notes: &mut Notes) {
    let of = message.source_id.clone();
    let call_id = id(told, "id").unwrap_or_else(|| format!("{of}/{}", message.pieces.len()));
    let (name, arguments, output) = match (told.get("function"), told.get("code_interpreter")) {
        (Some(function), _) => {
            (text(function, "name").unwrap_or("function"), function.get("arguments"), function.get("output"))
        }
        (None, Some(code)) => ("code_interpreter", code.get("input"), code.get("outputs")),
        (None, None) => {
            let name = first_text(told, &["name", "type"]).unwrap_or("tool");
            (name, told.get("args"), told.get("output"))
        }
    };
    let has_code = told.get("code_interpreter").is_some();
    // Code is no JSON: it is kept as the one argument that it is.
    let code = arguments.filter(|_| has_code).map(|input| serde_json::json!({ "input": input }));
    message.say(call(call_id.clone(), name, code.as_ref().or(arguments)));
    let is_said = |output: &&Value| match output {
        Value::String(text) => !text.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Null => false,
        _ => true,
    };
    if let Some(output) = output.filter(is_said) {
        message.answer(&call_id, name, output.clone(), true);
    }
    if text(told, "auth").is_some() {
        notes.add(What::Lost, &of, "a tool's sign-in is not kept");
    }
}

/// A file that a message names: its bytes are on the server that it was exported from.
fn add_file(message: &mut Message, told: &Value, notes: &mut Notes) {
    let of = message.source_id.clone();
    let Some(place) = first_text(told, &["filepath", "file_id", "filename"]) else {
        return notes.add(What::Lost, &of, "a file that has no name was left out");
    };
    let (mut mime, mut bytes) = behind(place);
    let name = text(told, "filename").unwrap_or_default();
    if mime.is_empty() {
        let guessed = [text(told, "type").filter(|kind| kind.contains('/')), Some(mime_of(name)), Some(mime_of(place))];
        let guessed = guessed.into_iter().flatten().find(|mime| !mime.is_empty());
        mime = guessed.unwrap_or_default().to_owned();
    }
    if let (Bytes::Absent(_), Some(taken)) = (&bytes, text(told, "text")) {
        bytes = Bytes::TextOnly(taken.to_owned());
    }
    let is_picture = told.get("width").is_some_and(Value::is_number);
    let file = File { name: name.to_owned(), mime, bytes };
    message.say(attached(file, text(told, "prompt").unwrap_or_default(), is_picture));
}

/// What a tool left beside its answer: files. Pages are read elsewhere (see `Found`).
fn add_attachment(message: &mut Message, told: &Value, notes: &mut Notes) {
    let of = message.source_id.clone();
    if first_text(told, &["filepath", "file_id"]).is_some() {
        add_file(message, told, notes);
    } else if !Found::is_of(told) {
        let kind = kind(text(told, "type").unwrap_or_default());
        notes.add(What::Lost, &of, format!("what a tool showed beside its answer is not kept ({kind})"));
    }
}
