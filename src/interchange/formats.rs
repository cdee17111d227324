//! The import formats: detection and dispatch to their readers.

use serde_json::Value;

use crate::domain::text::plural;
use crate::input::{Input, InputPart};
use crate::programs::openai_messages::{self, MessageKeys};
use crate::programs::{
    ai_studio, anything_llm, big_agi, chatgpt, cherry_studio, claude, claude_code, codex, deepseek, gemini_cli,
    gemini_takeout, grok, jan, librechat, llama_cpp, lobehub, open_webui, silly_tavern,
};
use crate::reading::export_entries;
use crate::reading::fields::printable;
use crate::sink::{FirstIssue, ImportError, ImportSink, report_issue};
use crate::{archive, bounds, git};

/// A supported import format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportFormat {
    Chatgpt,
    Claude,
    OpenWebui,
    Librechat,
    LlamaCpp,
    BigAgi,
    ClaudeCode,
    Codex,
    GeminiCli,
    Deepseek,
    AiStudio,
    /// The activity of Gemini Apps in Google Takeout.
    GeminiTakeout,
    Grok,
    /// Lists of messages as OpenAI's API takes them.
    Messages,
    Lobehub,
    CherryStudio,
    SillyTavern,
    Jan,
    AnythingLlm,
    /// Turnleaf's own archive.
    Turnleaf,
    /// Turnleaf's git export.
    Git,
}

/// Members under which formats keep their list of conversations in a top-level object.
const LISTS: [&str; 4] = ["conversations", "data", "chats", "items"];

/// Detects the format of an input from the first conversation that is recognized. `None` if nothing in it says why the
/// format is unknown.
///
/// # Errors
/// The input cannot be read, a bound is reached, or no part is recognized; the error says what is wrong with the parts.
pub fn detect(input: &mut Input) -> Result<Option<ImportFormat>, ImportError> {
    if git::is_repository(&input.parts()) {
        return Ok(Some(ImportFormat::Git));
    }
    match input.read_start(0) {
        Ok(start) if git::is_stream(&start) => return Ok(Some(ImportFormat::Git)),
        Ok(start) if archive::detect_version(&start).is_some() => return Ok(Some(ImportFormat::Turnleaf)),
        // One unreadable part does not decide about the others.
        Ok(_) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) => {}
        Err(other) => return Err(other),
    }
    if anything_llm::has_table(input)? {
        return Ok(Some(ImportFormat::AnythingLlm));
    }
    let parts = input.parts();
    // Many programs' files hold plain messages beside others, so this format counts only if no part has another.
    let mut fallback = None;
    let mut reasons = UnrecognizedParts::default();
    reasons.add("", cherry_studio::unreadable_backup(&parts));
    for part in candidates(input).into_iter().take(bounds::DETECT_PARTS) {
        let mut seen = 0;
        let mut format = None;
        let mut findings = FirstIssue::default();
        let mut unknown = None;
        let looked = for_each_candidate(input, part, &mut findings, &mut |value| {
            seen += 1;
            format = format_of(&value);
            unknown.get_or_insert_with(|| unknown_value(&value));
            if format.is_some() || seen == bounds::DETECT_ELEMENTS { Err(ImportError::Cancelled) } else { Ok(()) }
        });
        let name = &parts.all()[part].name;
        if format.is_none() {
            format = dump_format(input, part)?;
        }
        match looked {
            _ if format == Some(ImportFormat::Messages) => fallback = format,
            _ if format.is_some() => return Ok(format),
            Err(error @ ImportError::TooLarge(_)) if input.is_exhausted() && fallback.is_none() => return Err(error),
            Ok(0) if findings.first.is_none() => reasons.add(name, why_nothing(input, part)?),
            Ok(_) | Err(ImportError::Cancelled) => reasons.add(name, findings.first.or(unknown)),
            Err(why @ (ImportError::WrongFormat(_) | ImportError::Damaged(_) | ImportError::TooLarge(_))) => {
                reasons.add(name, findings.first.or_else(|| Some(why.to_string())));
            }
            Err(other) => return Err(other),
        }
    }
    if fallback.is_some() {
        return Ok(fallback);
    }
    if gemini_takeout::has_html_log(input)? {
        return Ok(Some(ImportFormat::GeminiTakeout));
    }
    for skipped in input.take_issues() {
        reasons.add(&skipped.location.file, Some(skipped.text));
    }
    match reasons.into_text(input) {
        Some(text) => Err(ImportError::Unrecognized(text)),
        None => Ok(None),
    }
}

/// Returns the parts that may hold conversations, the most likely ones first.
fn candidates(input: &Input) -> Vec<usize> {
    let parts = input.parts();
    let may_hold_chats = export_entries::candidate_filter(input);
    let mut found: Vec<usize> = (0..parts.all().len()).filter(|&at| may_hold_chats(&parts.all()[at])).collect();
    // A folder of sessions holds many other files. The tables of a backup may stand behind any number of files.
    found.sort_by_key(|&at| {
        let part = &parts.all()[at];
        let is_likely = export_entries::is_likely_chats(part);
        let is_usual = export_entries::has_usual_name(part);
        (!cherry_studio::is_table_file(part), !is_likely, !is_usual, !part.is_json_lines())
    });
    found
}

/// Passes on the values of a part that may be conversations: its lines if it holds JSON lines by its name and by its
/// content, else its elements.
fn for_each_candidate(
    input: &mut Input,
    part: usize,
    findings: &mut FirstIssue,
    look: &mut dyn FnMut(Value) -> Result<(), ImportError>,
) -> Result<u64, ImportError> {
    if input.parts().all().get(part).is_some_and(InputPart::is_json_lines) {
        match input.for_each_line(part, findings, &mut |line, _| look(line.value)) {
            Err(ImportError::WrongFormat(_)) => {}
            looked => return looked,
        }
    }
    input.for_each_element(part, &LISTS, findings, &mut |value, _, _| look(value))
}

/// Returns why a part holds no elements; a part without any text says nothing.
fn why_nothing(input: &mut Input, part: usize) -> Result<Option<String>, ImportError> {
    let is_blank = input.read_start(part)?.trim_start_matches('\u{feff}').trim().is_empty();
    Ok((!is_blank).then(|| "it has no conversations".to_owned()))
}

/// Describes an element that no reader recognizes.
fn unknown_value(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let names: Vec<String> = members.keys().take(KEYS).map(|key| shown(key)).collect();
            let more = if members.len() > KEYS { ", …" } else { "" };
            format!("no supported program writes objects with these keys: {}{more}", names.join(", "))
        }
        _ => "it is JSON, but not of a supported program".to_owned(),
    }
}

/// Number of keys, of parts and of entries that a reason names.
const KEYS: usize = 8;
const PARTS: usize = 3;
const ENTRIES: usize = 5;

/// Shortens an untrusted name for a sentence.
fn shown(name: &str) -> String {
    let start = printable(name, 60);
    if start.len() < name.len() { format!("{start}…") } else { start }
}

/// The reasons why the parts of an input are not recognized.
#[derive(Default)]
struct UnrecognizedParts(Vec<(String, String)>);

impl UnrecognizedParts {
    fn add(&mut self, part: &str, why: Option<String>) {
        if let Some(why) = why {
            self.0.push((part.to_owned(), why));
        }
    }

    /// Returns the sentence; `None` if the parts say nothing.
    fn into_text(self, input: &Input) -> Option<String> {
        let is_archive = input.is_archive();
        let mut reasons: Vec<String> = Vec::new();
        for (part, why) in self.0.iter().take(PARTS) {
            let is_named = is_archive && !part.is_empty();
            reasons.push(if is_named { format!("{}: {why}", shown(part)) } else { why.clone() });
        }
        if self.0.len() > PARTS {
            reasons.push(plural::counted((self.0.len() - PARTS) as u64, "more file", "more files"));
        }
        if is_archive {
            let parts = input.parts();
            let all = parts.all();
            let names: Vec<String> = all.iter().take(ENTRIES).map(|part| shown(&part.name)).collect();
            let more = if all.len() > ENTRIES { ", …" } else { "" };
            let count = plural::counted(all.len() as u64, "file", "files");
            reasons.push(match names.is_empty() {
                true => "it is empty".to_owned(),
                false => format!("it holds {count}: {}{more}", names.join(", ")),
            });
            if let Some(inner) = all.iter().find(|part| export_entries::is_inner_archive(part)) {
                let name = shown(inner.base_name());
                reasons.push(format!("{name} is an archive inside the archive: extract it and import it by itself"));
            }
        }
        if let Some(log) = input.parts().all().iter().find(|part| gemini_takeout::is_html_log(part)) {
            let name = shown(log.base_name());
            reasons.push(format!("{name} is a log in HTML without activities of Gemini"));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// Returns the format of a conversation.
fn format_of(value: &Value) -> Option<ImportFormat> {
    type ValueRecognizer = fn(&Value) -> bool;
    let known: &[(ImportFormat, ValueRecognizer)] = &[
        (ImportFormat::Deepseek, deepseek::is_conversation),
        (ImportFormat::AiStudio, ai_studio::is_conversation),
        (ImportFormat::GeminiTakeout, gemini_takeout::is_activity),
        (ImportFormat::Grok, grok::is_conversation),
        (ImportFormat::Chatgpt, chatgpt::is_conversation),
        (ImportFormat::Claude, claude::is_conversation),
        (ImportFormat::OpenWebui, open_webui::is_conversation),
        (ImportFormat::LlamaCpp, llama_cpp::is_conversation),
        (ImportFormat::Librechat, librechat::is_conversation),
        (ImportFormat::BigAgi, big_agi::is_conversation),
        (ImportFormat::ClaudeCode, claude_code::is_record),
        (ImportFormat::Codex, codex::is_record),
        (ImportFormat::GeminiCli, gemini_cli::is_record),
        (ImportFormat::SillyTavern, silly_tavern::is_line),
        (ImportFormat::Jan, jan::is_record),
        (ImportFormat::AnythingLlm, anything_llm::is_record),
        // Many programs' exports look like plain messages, so this format comes last.
        (ImportFormat::Messages, openai_messages::is_conversation),
    ];
    known.iter().find(|(_, is)| is(value)).map(|(format, _)| *format)
}

/// The options for reading a file, in addition to its format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The keys of [`ImportFormat::Messages`].
    pub message_keys: MessageKeys,
}

/// Reads all conversations of a format, with the usual options.
///
/// # Errors
/// See [`read_with`].
pub fn read(format: ImportFormat, input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    read_with(format, &ReadOptions::default(), input, taker)
}

/// Returns the format of a part that is the dump of a database, whose conversations are no single values.
fn dump_format(input: &mut Input, part: usize) -> Result<Option<ImportFormat>, ImportError> {
    type DumpRecognizer = fn(&mut Input, usize) -> Result<bool, ImportError>;
    let known: [(ImportFormat, DumpRecognizer); 2] =
        [(ImportFormat::Lobehub, lobehub::is_export), (ImportFormat::CherryStudio, cherry_studio::is_backup)];
    for (format, is) in known {
        match is(input, part) {
            Ok(true) => return Ok(Some(format)),
            // The walk over the elements reports the problem.
            Ok(false) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// Reads all conversations of a format.
///
/// # Errors
/// The input has another format, is truncated before any content, or exceeds a bound, or the sink stops the import.
/// Conversations that were delivered before stay valid.
pub fn read_with(
    format: ImportFormat,
    options: &ReadOptions,
    input: &mut Input,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    for finding in input.take_issues() {
        report_issue(taker, finding)?;
    }
    match format {
        ImportFormat::Chatgpt => chatgpt::read(input, taker),
        ImportFormat::Claude => claude::read(input, taker),
        ImportFormat::OpenWebui => open_webui::read(input, taker),
        ImportFormat::Librechat => librechat::read(input, taker),
        ImportFormat::LlamaCpp => llama_cpp::read(input, taker),
        ImportFormat::BigAgi => big_agi::read(input, taker),
        ImportFormat::ClaudeCode => claude_code::read(input, taker),
        ImportFormat::Codex => codex::read(input, taker),
        ImportFormat::GeminiCli => gemini_cli::read(input, taker),
        ImportFormat::Deepseek => deepseek::read(input, taker),
        ImportFormat::AiStudio => ai_studio::read(input, taker),
        ImportFormat::GeminiTakeout => gemini_takeout::read(input, taker),
        ImportFormat::Grok => grok::read(input, taker),
        ImportFormat::Messages => openai_messages::read(input, &options.message_keys, taker),
        ImportFormat::Lobehub => lobehub::read(input, taker),
        ImportFormat::CherryStudio => cherry_studio::read(input, taker),
        ImportFormat::SillyTavern => silly_tavern::read(input, taker),
        ImportFormat::Jan => jan::read(input, taker),
        ImportFormat::AnythingLlm => anything_llm::read(input, taker),
        ImportFormat::Turnleaf => archive::read(input, taker),
        ImportFormat::Git => git::read(input, taker),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{open_input, zip_archive};

    fn reason(bytes: impl Into<Vec<u8>>) -> String {
        match detect(&mut open_input(bytes).unwrap()) {
            Ok(found) => format!("{found:?}"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn unknown_input_says_what_is_wrong_with_it() {
        let table: [(&[u8], &str); 9] = [
            (b"{\"conversationId\":\"c\",\n\"messages\":[],}", "it is not JSON: trailing comma at line 2 column 15"),
            (b"[\n  {\"mapping\": {\"a\": \"b \\x\"}}\n]", "it is not JSON: invalid escape at line 2 column 25"),
            (b"[{\"a\": 1}, {\"b\": ", "the file ends in the middle of it (it begins at line 1 column 12)"),
            (b"[{\"a\": 1}]", "no supported program writes objects with these keys: a"),
            (b"{\"a\": ", "the file ends in the middle of it (it begins at line 1 column 1)"),
            (b"<html>", "this is not JSON"),
            (b"[1, 2]", "it is JSON, but not of a supported program"),
            (b"\xef\xbb\xbf []", "it has no conversations"),
            (b"{\"conversations\": []}", "it has no conversations"),
        ];
        for (bytes, expected) in table {
            let text = reason(bytes);
            assert!(text.starts_with("no chats were found in it: ") && text.contains(expected), "{text}");
        }
        assert_eq!(reason(""), "None");
    }

    #[test]
    fn plain_messages_count_only_without_another_format() {
        let messages: (&str, &[u8]) = ("a.json", br#"{"messages": [{"role": "user", "content": "Hi"}]}"#);
        let studio: (&str, &[u8]) = ("b.json", br#"{"chunkedPrompt": {"chunks": []}}"#);
        assert_eq!(reason(zip_archive(&[messages, studio])), "Some(AiStudio)");
        assert_eq!(reason(zip_archive(&[messages, ("b.json", b"{\"a\": 1}")])), "Some(Messages)");
    }

    #[test]
    fn files_with_usual_names_are_examined_before_others() {
        let others: Vec<String> = (0..=bounds::DETECT_PARTS).map(|at| format!("Takeout/{at}.json")).collect();
        let session: &[u8] = br#"{"sessionId": "s", "projectHash": "h", "messages": []}"#;
        let names = ["tmp/h/chats/session-1.json", "tmp/h/checkpoint-x.json", "Takeout/Gemini Apps/MyActivity.json"];
        for name in names.into_iter().chain(["sessions/rollout-1.json", "sessions/rollout-1.jsonl.gz"]) {
            let found = |part: &str| {
                let entries: Vec<(&str, &[u8])> =
                    others.iter().map(|other| (other.as_str(), b"{}".as_slice())).chain([(part, session)]).collect();
                let input = open_input(zip_archive(&entries)).unwrap();
                candidates(&input).first().map(|&at| input.parts().all()[at].name.clone())
            };
            assert_eq!(found(name).as_deref(), Some(name));
            assert_eq!(found("Takeout/x.json").as_deref(), Some("Takeout/0.json"));
        }
    }

    #[test]
    fn unknown_archive_says_what_it_holds() {
        let inner = zip_archive(&[("conversations.json", b"[]")]);
        let nested = zip_archive(&[("Activity/Conversations__abc.zip", &inner), ("README.txt", b"x")]);
        let text = reason(nested);
        for part in ["README.txt: this is not JSON", "it holds 2 files: Activity/Conv", "extract it and import it"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let text = reason(zip_archive(&[("a.png", b"x")]));
        assert_eq!(text, "no chats were found in it: it holds 1 file: a.png");
        let log = zip_archive(&[("Takeout/My Activity/Gemini Apps/MyActivity.html", b"<html>")]);
        assert!(reason(log).contains("MyActivity.html is a log in HTML without activities of Gemini"));
        let broken = zip_archive(&[("conversations.json", b"[{\"a\" 1}]")]);
        assert!(reason(broken).contains("conversations.json: it is not JSON: expected `:` at line 1 column 7"));
    }
}
