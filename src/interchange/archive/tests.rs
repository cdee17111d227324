//! An archive holds what was written into it.

use serde_json::json;

use std::io::Cursor;
use std::ops::ControlFlow;

use super::*;
use crate::conversation::Conversation;
use crate::domain::sample;
use crate::{Finding, Format, Input, Stopped, Taker, detect};

#[test]
fn bytes_are_text_where_they_are_and_come_back_exactly() {
    for bytes in [&b""[..], b"data: {}\n\n", "\u{0}\u{fffd}é".as_bytes(), &[0xff, 0x00, 0x80]] {
        let written = serde_json::to_value(Bytes(bytes.to_vec())).unwrap();
        assert_eq!(written.get("text").is_some(), std::str::from_utf8(bytes).is_ok());
        assert_eq!(serde_json::from_value::<Bytes>(written).unwrap().0, bytes);
    }
    for nonsense in
        [json!({}), json!({"text": 1}), json!({"base64": "?"}), json!("text"), json!({"text": "a", "base64": ""})]
    {
        assert!(serde_json::from_value::<Bytes>(nonsense.clone()).is_err(), "{nonsense}");
    }
}

#[test]
fn parts_come_in_their_order_and_an_empty_archive_is_one() {
    let head = Head::now(sample::time(0));
    let empty = Writer::begin(Vec::new(), &head).unwrap().end().unwrap();
    let value: Value = serde_json::from_slice(&empty).unwrap();
    assert_eq!(value["format"], FORMAT);
    assert_eq!((&value["documents"], &value["blobs"], &value["chats"]), (&json!([]), &json!([]), &json!([])));

    let blob = ArchivedBlob { sha256: "0".repeat(64), mime: "image/png".into(), name: None, bytes: Bytes(vec![0xff]) };
    let mut writer = Writer::begin(Vec::new(), &head).unwrap();
    writer.blob(&blob).unwrap();
    writer.blob(&blob).unwrap();
    let document = ArchivedDocument {
        id: sample::uuid(9).into(),
        title: "Notes".into(),
        kind: "text/markdown".into(),
        created_at: sample::time(0),
        updated_at: sample::time(0),
        versions: Vec::new(),
    };
    writer.document(&document).unwrap();
    assert!(writer.blob(&blob).is_err(), "blobs come first");
    assert!(writer.turn(&sample::user_turn(1, "Hello")).is_err(), "there is no chat yet");
    let written = writer.end().unwrap();
    let value: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(value["blobs"].as_array().map(Vec::len), Some(2));
}

#[derive(Default)]
struct Heard {
    items: Vec<Item>,
    findings: Vec<Finding>,
}

impl Taker for Heard {
    fn conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        unreachable!("an archive has chats")
    }

    fn archived(&mut self, item: Item) -> ControlFlow<()> {
        self.items.push(item);
        ControlFlow::Continue(())
    }

    fn finding(&mut self, finding: Finding) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

fn heard(bytes: Vec<u8>) -> (Heard, Result<(), Stopped>) {
    let mut input = Input::open("archive.json", Box::new(Cursor::new(bytes))).unwrap();
    assert_eq!(detect(&mut input).unwrap(), Some(Format::Turnleaf));
    let mut heard = Heard::default();
    let read = crate::read(Format::Turnleaf, &mut input, &mut heard);
    (heard, read)
}

/// There is nothing else among them.
fn blobs(items: Vec<Item>) -> Vec<ArchivedBlob> {
    let blob = |item| if let Item::Blob(blob) = item { blob } else { panic!("it is no blob") };
    items.into_iter().map(blob).collect()
}

#[test]
fn what_is_written_is_read_and_what_does_not_fit_is_told_and_passed_over() {
    let blob = ArchivedBlob { sha256: "0".repeat(64), mime: "image/png".into(), name: None, bytes: Bytes(vec![0xff]) };
    let mut writer = Writer::begin(Vec::new(), &Head::now(sample::time(0))).unwrap();
    writer.blob(&blob).unwrap();
    let written = writer.end().unwrap();
    let (whole, read) = heard(written.clone());
    read.unwrap();
    assert_eq!((blobs(whole.items), whole.findings), (vec![blob.clone()], Vec::new()));

    let mut value: Value = serde_json::from_slice(&written).unwrap();
    value["blobs"].as_array_mut().unwrap().push(json!({"sha256": 1}));
    value["chats"] = json!([{"chat": {"title": "Half"}}]);
    let (some, read) = heard(serde_json::to_vec(&value).unwrap());
    read.unwrap();
    assert_eq!(blobs(some.items), [blob]);
    let places: Vec<_> = some.findings.iter().map(|finding| finding.place.conversation.as_str()).collect();
    assert_eq!(places, ["blobs 2", "chats 1, Half"]);
}

#[test]
fn an_archive_of_a_newer_version_is_refused() {
    let mut head = Head::now(sample::time(0));
    head.version = VERSION + 1;
    let written = Writer::begin(Vec::new(), &head).unwrap().end().unwrap();
    let (_, read) = heard(written);
    assert!(matches!(read, Err(Stopped::TooNew(2))), "{read:?}");
}
