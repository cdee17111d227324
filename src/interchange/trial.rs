//! What the readers' tests share: a taker that keeps all it is given, a plain form to compare with, and mutations of
//! samples.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use proptest::prelude::*;
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::conversation::{Body, Bytes, Conversation, Ending, Message};
use crate::input::Input;
use crate::reading::{Format, read};
use crate::report::{Finding, What};
use crate::taker::{Stopped, Taker};

/// Keeps what it is given.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) findings: Vec<Finding>,
}

impl Taker for Kept {
    fn conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        self.conversations.push(conversation);
        ControlFlow::Continue(())
    }

    fn finding(&mut self, finding: Finding) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

impl Kept {
    /// The findings, in one line each.
    pub(crate) fn told(&self) -> Vec<String> {
        let word = |what| match what {
            What::LeftOut => "left out",
            What::PutRight => "put right",
            What::Lost => "lost",
        };
        self.findings
            .iter()
            .map(|finding| format!("{}: {}: {}", word(finding.what), finding.place, finding.text))
            .collect()
    }
}

pub(crate) fn input(bytes: impl Into<Vec<u8>>) -> Result<Input, Stopped> {
    Input::open("sample.json", Box::new(Cursor::new(bytes.into())))
}

/// Reads all of it; what was kept, and how it ended.
pub(crate) fn kept(format: Format, bytes: impl Into<Vec<u8>>) -> (Kept, Result<(), Stopped>) {
    let mut kept = Kept::default();
    let end = input(bytes).and_then(|mut input| read(format, &mut input, &mut kept));
    (kept, end)
}

/// An archive of these entries, deflated.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A conversation as lines: `number<parent role [model] [time] (ending): piece | piece`, the shown one with a star.
pub(crate) fn lines(conversation: &Conversation) -> Vec<String> {
    let line = |(at, message): (usize, &Message)| {
        let parent = message.parent.map(|parent| parent.to_string()).unwrap_or_default();
        let star = if conversation.current == Some(at) { "*" } else { "" };
        let model = message.model.as_ref().map(|model| format!(" [{model}]")).unwrap_or_default();
        let ending = match &message.ending {
            Ending::Complete => String::new(),
            Ending::Cancelled => " (cancelled)".to_owned(),
            Ending::Failed(why) => format!(" (failed: {why})"),
        };
        let pieces: Vec<String> = message.pieces.iter().map(|piece| body(&piece.body)).collect();
        format!("{star}{at}<{parent} {}{model}{ending}: {}", message.role.as_str(), pieces.join(" | "))
    };
    conversation.messages.iter().enumerate().map(line).collect()
}

fn body(body: &Body) -> String {
    let bytes = |bytes: &Bytes| match bytes {
        Bytes::Entry(name) => format!("entry {name}"),
        Bytes::Inline(bytes) => format!("{} bytes", bytes.len()),
        Bytes::TextOnly(text) => format!("text {text}"),
        Bytes::Absent(at) => format!("absent {at}"),
    };
    match body {
        Body::Text(text) => format!("{text:?}"),
        Body::Thinking { text, title, duration_ms } => {
            let title = title.as_ref().map(|title| format!(" {title:?}")).unwrap_or_default();
            let time = duration_ms.map(|ms| format!(" {ms}ms")).unwrap_or_default();
            format!("thinking{title}{time} {text:?}")
        }
        Body::Call { id, name, arguments, arguments_raw } => {
            let raw = if arguments.is_null() { format!("raw {arguments_raw:?}") } else { arguments.to_string() };
            format!("call {id} {name} {raw}")
        }
        Body::Answer { id, name, result, success, .. } => {
            format!("answer {id} {name} {}{result}", if *success { "" } else { "failed " })
        }
        Body::Picture { file, alt } => format!("picture {} {} {} {alt:?}", file.name, file.mime, bytes(&file.bytes)),
        Body::Attachment { file } => format!("file {} {} {}", file.name, file.mime, bytes(&file.bytes)),
        Body::Sources(sources) => {
            let one = |source: &crate::conversation::Source| {
                let at = source.stretch.map(|(start, end)| format!("@{start}-{end}")).unwrap_or_default();
                format!("{}<{}>{at}", source.title, source.url)
            };
            format!("sources {}", sources.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

/// What must be true of every conversation, whatever it was read from.
pub(crate) fn assert_sound(conversation: &Conversation) {
    let length = conversation.messages.len();
    assert!(length > 0, "an empty conversation was handed over");
    assert!(conversation.current.is_none_or(|current| current < length));
    let mut ids = std::collections::HashSet::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        assert!(message.parent.is_none_or(|parent| parent < at), "message {at} stands before its parent");
        assert!(ids.insert(&message.source_id), "the id {} is there twice", message.source_id);
        for piece in &message.pieces {
            if let Body::Answer { id, .. } = &piece.body {
                let path = std::iter::successors(Some(at), |&at| conversation.messages[at].parent);
                let mut pieces = path.flat_map(|at| &conversation.messages[at].pieces);
                let has_call = pieces.any(|piece| matches!(&piece.body, Body::Call { id: call, .. } if call == id));
                assert!(has_call, "the answer {id} has no call");
            }
            if let Body::Sources(sources) = &piece.body {
                assert!(sources.iter().all(|source| source.stretch.is_none_or(|(start, end)| start < end)));
            }
        }
    }
}

/// What is done to a value somewhere in a sample.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Delete,
    Replace(Value),
    /// Another value of the sample stands there.
    Copy(usize),
}

/// Some changes, each at a place given as a number among all values.
pub(crate) fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
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
        2 => Just(Change::Delete),
        3 => strange.prop_map(Change::Replace),
        2 => any::<usize>().prop_map(Change::Copy),
    ];
    prop::collection::vec((any::<usize>(), change), 1..6)
}

/// The sample with the changes.
pub(crate) fn changed(mut sample: Value, changes: &[(usize, Change)]) -> Value {
    for (place, change) in changes {
        let count = count(&sample);
        let new = match change {
            Change::Delete => None,
            Change::Replace(value) => Some(value.clone()),
            Change::Copy(from) => find(&sample, &mut (from % count)).cloned(),
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

/// Whether it is done.
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
