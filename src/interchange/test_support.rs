//! Test support for the readers: a collecting sink, a compact text form of conversations, and mutations of samples.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::conversation::{Conversation, FileBytes, ImportedMessage, MessageEnding, PieceBody};
use crate::formats::{ImportFormat, detect, read};
use crate::input::Input;
use crate::reading::known_keys::KnownKeys;
use crate::report::{ImportIssue, IssueKind};
use crate::sink::{ImportError, ImportSink};

/// Collects everything that it receives.
#[derive(Default)]
pub(crate) struct CollectingSink {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) findings: Vec<ImportIssue>,
}

impl ImportSink for CollectingSink {
    fn take_conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        self.conversations.push(conversation);
        ControlFlow::Continue(())
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

impl CollectingSink {
    /// Returns the issues, one per line.
    pub(crate) fn issue_lines(&self) -> Vec<String> {
        let word = |kind| match kind {
            IssueKind::LeftOut => "left out",
            IssueKind::PutRight => "put right",
            IssueKind::Lost => "lost",
        };
        self.findings
            .iter()
            .map(|finding| format!("{}: {}: {}", word(finding.kind), finding.location, finding.text))
            .collect()
    }
}

pub(crate) fn open_input(bytes: impl Into<Vec<u8>>) -> Result<Input, ImportError> {
    Input::open("sample.json", Box::new(Cursor::new(bytes.into())))
}

/// Reads a whole input; returns the collected items and the result.
pub(crate) fn read_all(format: ImportFormat, bytes: impl Into<Vec<u8>>) -> (CollectingSink, Result<(), ImportError>) {
    let mut kept = CollectingSink::default();
    let end = open_input(bytes).and_then(|mut input| read(format, &mut input, &mut kept));
    (kept, end)
}

/// Reads a file after its format was detected, and asserts the invariants of its conversations.
pub(crate) fn read_detected(format: ImportFormat, bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected_file(format, "sample.json", bytes)
}

/// Works like [`read_detected`], for a file whose name matters.
pub(crate) fn read_detected_file(format: ImportFormat, name: &str, bytes: impl Into<Vec<u8>>) -> CollectingSink {
    let bytes = bytes.into();
    let open = || Input::open(name, Box::new(Cursor::new(bytes.clone()))).unwrap();
    assert_eq!(detect(&mut open()).unwrap(), Some(format), "{name}");
    let mut kept = CollectingSink::default();
    read(format, &mut open(), &mut kept).unwrap();
    kept.conversations.iter().for_each(assert_sound);
    kept
}

/// Creates a deflated ZIP archive of these entries.
pub(crate) fn zip_archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Formats a conversation as lines: `number<parent role [model] [time] (ending): piece | piece`, the current message
/// with a star.
pub(crate) fn conversation_lines(conversation: &Conversation) -> Vec<String> {
    let line = |(at, message): (usize, &ImportedMessage)| {
        let parent = message.parent.map(|parent| parent.to_string()).unwrap_or_default();
        let star = if conversation.current == Some(at) { "*" } else { "" };
        let model = message.model.as_ref().map(|model| format!(" [{model}]")).unwrap_or_default();
        let ending = match &message.ending {
            MessageEnding::Complete => String::new(),
            MessageEnding::Cancelled => " (cancelled)".to_owned(),
            MessageEnding::Failed(reason) => format!(" (failed: {reason})"),
        };
        let pieces: Vec<String> = message.pieces.iter().map(|piece| body(&piece.body)).collect();
        format!("{star}{at}<{parent} {}{model}{ending}: {}", message.role.as_str(), pieces.join(" | "))
    };
    conversation.messages.iter().enumerate().map(line).collect()
}

fn body(body: &PieceBody) -> String {
    let bytes = |bytes: &FileBytes| match bytes {
        FileBytes::Entry(name) => format!("entry {name}"),
        FileBytes::Inline(bytes) => format!("{} bytes", bytes.len()),
        FileBytes::InlineWithText(bytes, text) => format!("{} bytes, text {text}", bytes.len()),
        FileBytes::TextOnly(text) => format!("text {text}"),
        FileBytes::Absent(at) => format!("absent {at}"),
    };
    match body {
        PieceBody::Text(text) => format!("{text:?}"),
        PieceBody::Thinking { text, title, duration_ms } => {
            let title = title.as_ref().map(|title| format!(" {title:?}")).unwrap_or_default();
            let time = duration_ms.map(|ms| format!(" {ms}ms")).unwrap_or_default();
            format!("thinking{title}{time} {text:?}")
        }
        PieceBody::ToolCall { id, name, arguments, arguments_raw } => {
            let raw = if arguments.is_null() { format!("raw {arguments_raw:?}") } else { arguments.to_string() };
            format!("call {id} {name} {raw}")
        }
        PieceBody::ToolResult { id, name, result, success, .. } => {
            format!("answer {id} {name} {}{result}", if *success { "" } else { "failed " })
        }
        PieceBody::Picture { file, alt } => {
            format!("picture {} {} {} {alt:?}", file.name, file.mime, bytes(&file.bytes))
        }
        PieceBody::Attachment { file } => format!("file {} {} {}", file.name, file.mime, bytes(&file.bytes)),
        PieceBody::Sources(sources) => {
            let one = |source: &crate::conversation::ImportedSource| {
                let at = source.cited_range.map(|(start, end)| format!("@{start}-{end}")).unwrap_or_default();
                format!("{}<{}>{at}", source.title, source.url)
            };
            format!("sources {}", sources.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Asserts the invariants of every conversation, whatever its source.
pub(crate) fn assert_sound(conversation: &Conversation) {
    let length = conversation.messages.len();
    assert!(length > 0, "an empty conversation was handed over");
    assert!(conversation.current.is_none_or(|current| current < length));
    let mut ids = std::collections::HashSet::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        assert!(message.parent.is_none_or(|parent| parent < at), "message {at} stands before its parent");
        assert!(ids.insert(&message.source_id), "the id {} is there twice", message.source_id);
        for piece in &message.pieces {
            if let PieceBody::ToolResult { id, .. } = &piece.body {
                let path = std::iter::successors(Some(at), |&at| conversation.messages[at].parent);
                let mut pieces = path.flat_map(|at| &conversation.messages[at].pieces);
                let has_call =
                    pieces.any(|piece| matches!(&piece.body, PieceBody::ToolCall { id: call, .. } if call == id));
                assert!(has_call, "the answer {id} has no call");
            }
            if let PieceBody::Sources(sources) = &piece.body {
                assert!(sources.iter().all(|source| source.cited_range.is_none_or(|(start, end)| start < end)));
            }
        }
    }
}

/// A mutation of one value within a sample.
#[derive(Debug, Clone)]
pub(crate) enum SampleMutation {
    Delete,
    Replace(Value),
    /// Replaces the value with another one of the sample.
    Copy(usize),
}

/// Generates mutations, each at an index among all values.
pub(crate) fn any_mutations() -> impl Strategy<Value = Vec<(usize, SampleMutation)>> {
    let strange = prop_oneof![
        Just(Value::Null),
        Just(Value::from(-1)),
        Just(Value::from(1e300)),
        Just(Value::from("")),
        Just(Value::from("…\u{e200}x\u{0}<details type=\"reasoning\">【&lt;")),
        Just(Value::from(true)),
        Just(Value::Array(Vec::new())),
        Just(Value::Array(vec![Value::Null, Value::from("a"), Value::from(3)])),
        Just(Value::Object(serde_json::Map::new())),
    ];
    let change = prop_oneof![
        2 => Just(SampleMutation::Delete),
        3 => strange.prop_map(SampleMutation::Replace),
        2 => any::<usize>().prop_map(SampleMutation::Copy),
    ];
    prop::collection::vec((any::<usize>(), change), 1..6)
}

/// Applies mutations to a sample.
pub(crate) fn mutate(mut sample: Value, changes: &[(usize, SampleMutation)]) -> Value {
    for (place, change) in changes {
        let count = count(&sample);
        let new = match change {
            SampleMutation::Delete => None,
            SampleMutation::Replace(value) => Some(value.clone()),
            SampleMutation::Copy(from) => find(&sample, &mut (from % count)).cloned(),
        };
        put(&mut sample, &mut (place % count), &new);
    }
    sample
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn find<'a>(value: &'a Value, left: &mut usize) -> Option<&'a Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| find(item, left)),
        Value::Object(members) => members.values().find_map(|member| find(member, left)),
        _ => None,
    }
}

/// Returns whether the mutation was applied.
fn put(value: &mut Value, left: &mut usize, new: &Option<Value>) -> bool {
    if *left == 0 {
        *value = new.clone().unwrap_or_default();
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(items) => {
            for at in 0..items.len() {
                if *left == 0 && new.is_none() {
                    items.remove(at);
                    return true;
                }
                if put(&mut items[at], left, new) {
                    return true;
                }
            }
            false
        }
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names {
                if *left == 0 && new.is_none() {
                    members.shift_remove(&name);
                    return true;
                }
                if members.get_mut(&name).is_some_and(|member| put(member, left, new)) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Asserts that every key of the objects at a path is known. A step `*` stands for all items or members.
pub(crate) fn assert_keys_known(sample: &Value, path: &str, keys: &KnownKeys) {
    let mut found = vec![sample];
    for step in path.split('.').filter(|step| !step.is_empty()) {
        found = found.into_iter().flat_map(|value| children(value, step)).collect();
    }
    assert!(found.iter().any(|value| value.is_object()), "{path} has no objects");
    for key in found.iter().filter_map(|value| value.as_object()).flat_map(|members| members.keys()) {
        assert!(keys.is_known(key), "{path}: the key {key} is neither read nor reported nor ignored");
    }
}

fn children<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    match (value, step) {
        (Value::Array(items), "*") => items.iter().collect(),
        (Value::Object(members), "*") => members.values().collect(),
        (value, name) => value.get(name).into_iter().collect(),
    }
}
