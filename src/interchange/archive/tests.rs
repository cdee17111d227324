//! An archive holds what was written into it.

use serde_json::json;

use std::io::Cursor;
use std::ops::ControlFlow;

use super::*;
use crate::bounds;
use crate::conversation::{Body, Conversation, Ending, Message, Piece};
use crate::domain::block::Author;
use crate::domain::{Role, UserId, sample};
use crate::grow::{Soil, grow};
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
    assert!(matches!(read, Err(Stopped::TooNew(3))), "{read:?}");
}

/// A chat of one message.
fn chat(title: &str) -> ArchivedChat {
    let piece =
        Piece { author: Author::User, created_at: None, body: Body::Text(format!("\"chats\":[{{ of {title}\n")) };
    let question = Message {
        source_id: "q".into(),
        parent: None,
        role: Role::User,
        provider: None,
        model: None,
        created_at: None,
        ended_at: None,
        ending: Ending::Complete,
        pieces: vec![piece],
        usage: Usage::default(),
        is_thinking_mode: None,
    };
    let messages = vec![question];
    let conversation = Conversation { title: title.into(), messages, ..Conversation::default() };
    // Any function of the words will do, as long as other words give another id.
    let id = |part: &str| {
        let number =
            format!("{title} {part}").bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte));
        uuid::Uuid::from_u64_pair(number, number.rotate_left(9))
    };
    let owner = UserId::from_uuid(sample::uuid(1));
    let soil = Soil { owner, now: sample::time(0), id: &id, provider: "openai", files: Default::default() };
    grow(&conversation, &soil, &mut |finding| panic!("{finding:?}"))
}

/// A call of a reply to `chat`, which sends this and names that.
fn call(number: u8, turn: TurnId, model: &str, request: &[u8], manifest: Value) -> ArchivedGeneration {
    ArchivedGeneration {
        id: sample::uuid(100 + u64::from(number)).into(),
        turn_id: turn,
        step: u32::from(number),
        provider: "openai".into(),
        api: None,
        model_requested: model.into(),
        model_returned: None,
        request: Bytes(request.to_vec()),
        request_manifest: manifest,
        raw_kind: "none".into(),
        raw_complete: false,
        raw: None,
        status: "complete".into(),
        stop_reason: None,
        usage: Usage::default(),
        cost_micros: None,
        cost_basis: None,
        price_version: None,
        error: None,
        first_token_at: None,
        started_at: sample::time(0),
        ended_at: Some(sample::time(1)),
    }
}

/// An archive of one chat with a reply that was made by these calls.
fn with_calls(calls: &[ArchivedGeneration]) -> String {
    let mut of = chat("One");
    let mut reply = of.turns[0].clone();
    reply.id = sample::uuid(99).into();
    (reply.ord, reply.depth, reply.role) = (reply.ord + 1, 1, Role::Assistant);
    reply.prev_turn_id = Some(of.turns[0].id);
    reply.blocks.clear();
    of.branches[0].branch.head_turn_id = Some(reply.id);
    of.turns.push(reply);
    let mut writer = Writer::begin(Vec::new(), &Head::now(sample::time(0))).unwrap();
    writer.begin_chat(&of.chat, None, None).unwrap();
    of.turns.iter().for_each(|turn| writer.turn(turn).unwrap());
    calls.iter().for_each(|call| writer.generation(call.clone()).unwrap());
    of.exchanges.iter().for_each(|exchange| writer.exchange(exchange).unwrap());
    of.branches.iter().for_each(|branch| writer.branch(branch).unwrap());
    writer.end_chat().unwrap();
    String::from_utf8(writer.end().unwrap()).unwrap()
}

/// The calls of the one chat of an archive, as they are taken out; or the first that is told.
fn calls_of(text: String) -> Result<Vec<ArchivedGeneration>, String> {
    let (heard, read) = heard(text.into_bytes());
    read.unwrap();
    if let Some(finding) = heard.findings.first() {
        return Err(finding.text.clone());
    }
    let mut calls = Vec::new();
    for item in heard.items {
        let Item::Chat(mut chat) = item else { panic!("it is no chat") };
        loop {
            let parts = chat.some()?;
            if parts.is_empty() {
                break;
            }
            calls.extend(parts.into_iter().filter_map(|part| match part {
                Part::Generation(call) => Some(*call),
                _ => None,
            }));
        }
    }
    Ok(calls)
}

/// Of a growing chat, by two models, of which one's requests are not text everywhere.
fn growing() -> Vec<ArchivedGeneration> {
    let turn = sample::uuid(99).into();
    let (mut said, mut named) = ("é".repeat(20_000).into_bytes(), vec![json!("a".repeat(9_000))]);
    let mut calls = Vec::new();
    for number in 0..6 {
        said.extend_from_slice(format!("message {number} ").as_bytes());
        // An é is cut in the middle: what is its own is no text.
        said.extend_from_slice(&[0xc3, 0xa9 + number]);
        named.push(json!(number));
        let request = [&said[..], b"]}"].concat();
        calls.push(call(2 * number, turn, "one", &request, json!({"turns": named, "not_sent": []})));
        calls.push(call(2 * number + 1, turn, "other", &[b"{", &request[..]].concat(), json!({"turns": named})));
    }
    calls
}

#[test]
fn a_request_that_is_nearly_another_is_written_after_it_and_read_whole() {
    let calls = growing();
    let text = with_calls(&calls);
    assert_eq!(text.matches("\"after\":{").count(), calls.len() - 2, "the first of each model is whole");
    let length: usize = calls.iter().map(|call| call.request.0.len()).sum();
    assert!(text.len() < length / 2, "{} of {length}", text.len());
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn a_request_that_has_much_of_its_own_is_written_whole_and_short_ones_are() {
    let turn = sample::uuid(99).into();
    let calls = [
        call(0, turn, "one", &[b'a'; 20_000], json!([])),
        call(1, turn, "one", &[&[b'a'; 20_000][..], &[b'b'; 20_010]].concat(), json!([])),
        call(2, turn, "one", b"short", json!([])),
        call(3, turn, "one", b"short", json!([])),
    ];
    let text = with_calls(&calls);
    assert!(!text.contains("\"after\""));
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn a_request_after_what_is_not_there_whole_and_long_enough_is_told() {
    let text = with_calls(&growing());
    let (first, second, third) = (sample::uuid(100), sample::uuid(101), sample::uuid(102));
    let after = |id: uuid::Uuid| format!("\"after\":{{\"generation\":\"{id}\"");
    // Of the calls of the first model, the second one's and the third one's.
    let (head, rest) = text.split_at(text.find(&after(first)).unwrap() + 1);
    let third_after = |id| format!("{head}{}", rest.replacen(&after(first), &after(id), 1));
    let not_whole = "what it is written after is not there whole before it";
    for (text, why) in [
        (text.replacen(&after(first), &after(sample::uuid(77)), 1), format!("generations[2]: {not_whole}")),
        (text.replacen(&after(first), &after(third), 1), format!("generations[2]: {not_whole}")),
        (third_after(third), format!("generations[4]: {not_whole}")),
        (
            text.replacen("\"head\":40", "\"head\":4000", 1),
            "generations: what it is written after is too short for it".to_owned(),
        ),
        (
            text.replacen("},\"turns\":2}", "},\"turns\":3}", 1),
            "generations: what it is written after names too few turns for it".to_owned(),
        ),
        (
            text.replacen("\"head\":40", "\"head\":18446744073709551000,\"more\":40", 1),
            "generations: the request is too long when it is whole".to_owned(),
        ),
    ] {
        let told = calls_of(text).unwrap_err();
        assert!(told.starts_with(&why), "{told}");
    }
    // Another model's is as good, where it is long enough.
    assert!(calls_of(third_after(second)).is_ok());
}

#[test]
fn requests_are_written_after_those_of_their_chat_and_an_older_archive_has_them_whole() {
    let calls = growing();
    let one = with_calls(&calls);
    let chat = &one[one.find("{\"chat\":").unwrap()..one.rfind("]}").unwrap()];
    let two = one.replacen(chat, &format!("{chat},\n{}", chat.replace("0190b5b4", "0190b5b5")), 1);
    assert_eq!(calls_of(two).unwrap().len(), 2 * calls.len());
    let mut head = Head::now(sample::time(0));
    head.version = 1;
    let mut writer = Writer::begin(Vec::new(), &head).unwrap();
    let mut bases = 0;
    for _ in 0..2 {
        let of = self::chat("One");
        writer.begin_chat(&of.chat, None, None).unwrap();
        calls.iter().for_each(|call| writer.generation(call.clone()).unwrap());
        writer.end_chat().unwrap();
        bases += 2;
    }
    let text = String::from_utf8(writer.end().unwrap()).unwrap();
    assert_eq!(text.matches("\"after\":").count(), 2 * calls.len() - bases, "none after another chat's");
    // Version 1: each call as it was made.
    let (mut text, whole) = (with_calls(&[]), serde_json::to_string(&calls).unwrap());
    text = text
        .replace("\"version\":2", "\"version\":1")
        .replace("\"generations\":[", &format!("\"generations\":{}", &whole[..whole.len() - 1]));
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn what_is_too_heavy_is_no_base_and_what_was_not_used_for_long_goes() {
    let turn = sample::uuid(99).into();
    let of = |number: u8, model: &str, length: usize| {
        let letter = b'a' + u8::try_from(model.len()).unwrap();
        call(number, turn, model, &vec![letter; length], json!({"turns": []}))
    };
    let half = bounds::BASES_BYTES / 2 - 10;
    let after = |calls: &[ArchivedGeneration]| with_calls(calls).matches("\"after\":").count();
    let heavy = bounds::BASES_BYTES + 1;
    assert_eq!(after(&[of(0, "a", half), of(1, "b-", heavy), of(2, "b-", heavy), of(3, "a", half)]), 1);
    // The third base pushes out the one that was not used again.
    let calls = [
        of(0, "a", half),
        of(1, "b-", half),
        of(2, "a", half),
        of(3, "c--", half),
        of(4, "a", half),
        of(5, "b-", half),
    ];
    assert_eq!(after(&calls), 2);
}

/// An archive of two blobs, two documents and three chats, as it is written.
fn whole() -> String {
    let mut writer = Writer::begin(Vec::new(), &Head::now(sample::time(0))).unwrap();
    for number in ["0", "1"] {
        let sha256 = number.repeat(64);
        writer.blob(&ArchivedBlob { sha256, mime: "image/png".into(), name: None, bytes: Bytes(vec![0xff]) }).unwrap();
    }
    for number in [1, 2] {
        let version = ArchivedVersion {
            version_timestamp: sample::time(0),
            mime: "text/plain".into(),
            content: "Words".into(),
            notes: Vec::new(),
            origin: None,
        };
        let (created_at, updated_at) = (sample::time(0), sample::time(0));
        let (id, title, kind) = (sample::uuid(number).into(), format!("Document {number}"), "text/plain".into());
        writer
            .document(&ArchivedDocument { id, title, kind, created_at, updated_at, versions: vec![version] })
            .unwrap();
    }
    for title in ["One", "Two", "Three"] {
        let of = chat(title);
        writer.begin_chat(&of.chat, None, None).unwrap();
        of.turns.iter().for_each(|turn| writer.turn(turn).unwrap());
        of.exchanges.iter().for_each(|exchange| writer.exchange(exchange).unwrap());
        of.branches.iter().for_each(|branch| writer.branch(branch).unwrap());
        writer.end_chat().unwrap();
    }
    String::from_utf8(writer.end().unwrap()).unwrap()
}

/// Its lists in this order, each as it is written there.
fn ordered(archive: &str, order: [&str; 3]) -> String {
    let at = |list: &str| archive.find(&format!("\n\"{list}\":[")).unwrap();
    let (blobs, documents, chats) = (at("blobs"), at("documents"), at("chats"));
    let list = |name: &str| match name {
        "blobs" => &archive[blobs..documents - 1],
        "documents" => &archive[documents..chats - 1],
        _ => archive[chats..].trim_end().strip_suffix('}').unwrap(),
    };
    format!("{}{}}}\n", &archive[..blobs], order.map(list).join(","))
}

/// What came: blobs, documents and chats by the ends of their names; and where something is told of.
fn came(text: &str) -> (Vec<String>, Vec<String>) {
    let (heard, read) = heard(text.as_bytes().to_vec());
    read.unwrap();
    let name = |item: &Item| match item {
        Item::Blob(blob) => blob.sha256[..1].to_owned(),
        Item::Document(document) => document.title.clone(),
        Item::Chat(chat) => chat.chat.title.clone(),
    };
    let told = |finding: &Finding| format!("{}: {}", finding.place.conversation, finding.text);
    (heard.items.iter().map(name).collect(), heard.findings.iter().map(told).collect())
}

const ALL: [&str; 7] = ["0", "1", "Document 1", "Document 2", "One", "Two", "Three"];

#[test]
fn lists_in_any_order_are_taken_in_theirs() {
    let whole = whole();
    for order in [
        ["blobs", "documents", "chats"],
        ["blobs", "chats", "documents"],
        ["documents", "blobs", "chats"],
        ["documents", "chats", "blobs"],
        ["chats", "blobs", "documents"],
        ["chats", "documents", "blobs"],
    ] {
        assert_eq!(came(&ordered(&whole, order)), (ALL.map(str::to_owned).into(), vec![]), "{order:?}");
    }
}

/// Without some of them.
fn but(left_out: &[&str]) -> Vec<String> {
    ALL.iter().filter(|name| !left_out.contains(name)).map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_is_damaged_is_told_and_everything_else_comes() {
    let whole = whole();
    let broken = |from: &str, to: &str| {
        assert_eq!(whole.matches(from).count(), 1, "{from}");
        whole.replace(from, to)
    };
    let documents = &whole[whole.find("\n\"documents\"").unwrap()..whole.find("],\n\"chats\"").unwrap() + 1];
    let second = whole.find("{\"chat\":").unwrap() + 1;
    let second = second + whole[second..].find("{\"chat\":").unwrap();
    let a_quote = second + whole[second..].find("\"title\":\"Two\"").unwrap();
    let a_list = second + whole[second..].find("\"exchanges\":[").unwrap() + "\"exchanges\":".len();
    let without = |at: usize| format!("{}{}", &whole[..at], &whole[at + 1..]);
    for (text, missing, told) in [
        // A list that is none, and one that is no JSON.
        (
            broken(documents, "\n\"documents\":null"),
            &["Document 1", "Document 2"] as &[&str],
            "documents: it is no list",
        ),
        (
            broken(documents, "\n\"documents\":[}"),
            &["Document 1", "Document 2"],
            "documents 1: what follows is not JSON",
        ),
        (broken(documents, "\n\"documents\":}"), &["Document 1", "Document 2"], ": what follows is not JSON"),
        // An element: a sign more, one that is missing, so that the rest seems to lie within a text, or a list open.
        (broken("\n{\"sha256\":\"1", "\n}{\"sha256\":\"1"), &["1"], "blobs 2: what follows is not JSON"),
        (without(a_quote), &["Two"], "chats 2: "),
        (without(a_list), &["Two"], "chats 2: what follows is not JSON"),
    ] {
        let (came, of) = came(&text);
        assert_eq!(came, but(missing), "{told}");
        assert!(of.len() == 1 && of[0].starts_with(told), "{told}: {of:?}");
    }
}

#[test]
fn lists_in_another_order_come_though_one_of_them_is_damaged() {
    let whole = whole();
    for order in [["chats", "documents", "blobs"], ["chats", "blobs", "documents"], ["documents", "chats", "blobs"]] {
        let turned = ordered(&whole, order);
        // The last list is cut off in its second element.
        let (last, missing) = if order[2] == "blobs" { ("{\"sha256\":\"1", "1") } else { ("Document 2", "Document 2") };
        let cut = turned.find(last).unwrap() + 3;
        let (some, told) = came(&turned[..cut]);
        assert_eq!(some, but(&[missing]), "{order:?}");
        assert_eq!(told, [format!("{} 2: the file ends within it", order[2])]);
        // One of the chats, which stand before their turn, has lost the end of a text.
        let at = turned.find("\"title\":\"Two").unwrap() + "\"title\":\"Two".len();
        let (some, told) = came(&format!("{}{}", &turned[..at], &turned[at + 1..]));
        assert_eq!(some, but(&["Two"]), "{order:?}");
        assert!(told.len() == 1 && told[0].starts_with("chats 2"), "{told:?}");
    }
}

#[test]
fn an_archive_that_is_damaged_everywhere_ends() {
    let whole = whole();
    for at in (0..whole.len()).step_by(7) {
        for sign in ["\"", "}", "[", "\\"] {
            if whole.is_char_boundary(at) && at > 200 {
                // Whatever comes is whole, and nothing breaks down.
                let _ = heard(format!("{}{sign}{}", &whole[..at], &whole[at..]).into_bytes());
            }
        }
    }
}

#[test]
fn what_stands_behind_too_many_damages_is_not_read_and_that_is_told() {
    for damages in [bounds::DAMAGES - 1, bounds::DAMAGES] {
        let mut writer = Writer::begin(Vec::new(), &Head::now(sample::time(0))).unwrap();
        for number in 0..=damages {
            let sha256 = format!("{number:064}");
            writer.blob(&ArchivedBlob { sha256, mime: "image/png".into(), name: None, bytes: Bytes(vec![0]) }).unwrap();
        }
        let text = String::from_utf8(writer.end().unwrap()).unwrap();
        // Behind each but the last is a sign too many.
        let text = text.replace(",\n{\"sha256\"", "},\n{\"sha256\"");
        let (some, told) = came(&text);
        let is_cut = damages == bounds::DAMAGES;
        let what = (some.len(), told.len(), told.last().unwrap().contains("damaged in 100 places"));
        assert_eq!(
            what,
            (if is_cut { damages } else { damages + 1 }, damages + usize::from(is_cut), is_cut),
            "{told:?}"
        );
    }
}
