//! Tests that an archive round-trips: it yields what was written into it.

use serde_json::json;

use std::io::Cursor;
use std::ops::ControlFlow;

use super::*;
use crate::bounds;
use crate::chat_builder::{BuildContext, build_chat};
use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::{Project, ProjectColor, Role, UserId, fixtures};
use crate::{ImportError, ImportFormat, ImportIssue, ImportSink, Input, detect};

#[test]
fn bytes_are_written_as_text_when_utf8_and_read_back_exactly() {
    for bytes in [&b""[..], b"data: {}\n\n", "\u{0}\u{fffd}é".as_bytes(), &[0xff, 0x00, 0x80]] {
        let written = serde_json::to_value(ArchivedBytes(bytes.to_vec())).unwrap();
        assert_eq!(written.get("text").is_some(), std::str::from_utf8(bytes).is_ok());
        assert_eq!(serde_json::from_value::<ArchivedBytes>(written).unwrap().0, bytes);
    }
    for nonsense in
        [json!({}), json!({"text": 1}), json!({"base64": "?"}), json!("text"), json!({"text": "a", "base64": ""})]
    {
        assert!(serde_json::from_value::<ArchivedBytes>(nonsense.clone()).is_err(), "{nonsense}");
    }
}

#[test]
fn parts_are_written_in_order_and_empty_archive_is_valid() {
    let head = ArchiveHead::new(fixtures::time(0));
    let empty = ArchiveWriter::new(Vec::new(), &head).unwrap().finish().unwrap();
    let value: Value = serde_json::from_slice(&empty).unwrap();
    assert_eq!(value["format"], FORMAT);
    assert_eq!((&value["documents"], &value["blobs"], &value["chats"]), (&json!([]), &json!([]), &json!([])));

    let blob =
        ArchivedBlob { sha256: "0".repeat(64), mime: "image/png".into(), name: None, bytes: ArchivedBytes(vec![0xff]) };
    let mut writer = ArchiveWriter::new(Vec::new(), &head).unwrap();
    writer.write_blob(&blob).unwrap();
    writer.write_blob(&blob).unwrap();
    let document = ArchivedDocument {
        id: fixtures::uuid(9).into(),
        title: "Notes".into(),
        kind: "text/markdown".into(),
        created_at: fixtures::time(0),
        updated_at: fixtures::time(0),
        versions: Vec::new(),
    };
    writer.write_document(&document).unwrap();
    assert!(writer.write_blob(&blob).is_err(), "blobs come first");
    assert!(writer.write_turn(&fixtures::user_turn(1, "Hello")).is_err(), "chat not found: yet");
    let written = writer.finish().unwrap();
    let value: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(value["blobs"].as_array().map(Vec::len), Some(2));
}

#[derive(Default)]
struct CollectedItems {
    items: Vec<ArchiveItem>,
    findings: Vec<ImportIssue>,
}

impl ImportSink for CollectedItems {
    fn take_conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        unreachable!("an archive has chats")
    }

    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        self.items.push(item);
        ControlFlow::Continue(())
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

fn read_items(bytes: Vec<u8>) -> (CollectedItems, Result<(), ImportError>) {
    let mut input = Input::open("archive.json", Box::new(Cursor::new(bytes))).unwrap();
    assert_eq!(detect(&mut input).unwrap(), Some(ImportFormat::Turnleaf));
    let mut items = CollectedItems::default();
    let read = crate::read(ImportFormat::Turnleaf, &mut input, &mut items);
    (items, read)
}

/// Unwraps items that are all blobs.
fn blobs(items: Vec<ArchiveItem>) -> Vec<ArchivedBlob> {
    let blob = |item| if let ArchiveItem::Blob(blob) = item { blob } else { panic!("it is no blob") };
    items.into_iter().map(blob).collect()
}

#[test]
fn written_items_are_read_and_invalid_ones_are_reported_and_skipped() {
    let blob =
        ArchivedBlob { sha256: "0".repeat(64), mime: "image/png".into(), name: None, bytes: ArchivedBytes(vec![0xff]) };
    let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
    writer.write_blob(&blob).unwrap();
    let written = writer.finish().unwrap();
    let (whole, read) = read_items(written.clone());
    read.unwrap();
    assert_eq!((blobs(whole.items), whole.findings), (vec![blob.clone()], Vec::new()));

    let mut value: Value = serde_json::from_slice(&written).unwrap();
    value["blobs"].as_array_mut().unwrap().push(json!({"sha256": 1}));
    value["chats"] = json!([{"chat": {"title": "Half"}}]);
    let (some, read) = read_items(serde_json::to_vec(&value).unwrap());
    read.unwrap();
    assert_eq!(blobs(some.items), [blob]);
    let places: Vec<_> = some.findings.iter().map(|finding| finding.location.conversation.as_str()).collect();
    assert_eq!(places, ["blobs 2", "chats 1, Half"]);
}

#[test]
fn archive_of_newer_version_is_refused() {
    let mut head = ArchiveHead::new(fixtures::time(0));
    head.version = VERSION + 1;
    let written = ArchiveWriter::new(Vec::new(), &head).unwrap().finish().unwrap();
    let (_, read) = read_items(written);
    assert!(matches!(read, Err(ImportError::NewerVersion(3))), "{read:?}");
}

/// Returns a chat of one message.
fn chat(title: &str) -> ArchivedChat {
    let piece = MessagePiece {
        author: Author::User,
        created_at: None,
        body: PieceBody::Text(format!("\"chats\":[{{ of {title}\n")),
    };
    let question = ImportedMessage {
        source_id: "q".into(),
        parent: None,
        role: Role::User,
        provider: None,
        model: None,
        created_at: None,
        ended_at: None,
        ending: MessageEnding::Complete,
        pieces: vec![piece],
        usage: Usage::default(),
        is_thinking_mode: None,
        parts: Vec::new(),
    };
    let messages = vec![question];
    let conversation = Conversation { title: title.into(), messages, ..Conversation::default() };
    // A hash of the words suffices, as long as different words yield different ids.
    let id = |part: &str| {
        let number =
            format!("{title} {part}").bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte));
        uuid::Uuid::from_u64_pair(number, number.rotate_left(9))
    };
    let owner = UserId::from_uuid(fixtures::uuid(1));
    let soil = BuildContext { owner, now: fixtures::time(0), id: &id, provider: "openai", files: Default::default() };
    build_chat(&conversation, &soil, &mut |finding| panic!("{finding:?}"))
}

/// Returns a generation of a reply to `chat` with this request and manifest.
fn call(number: u8, turn: TurnId, model: &str, request: &[u8], manifest: Value) -> ArchivedGeneration {
    ArchivedGeneration {
        id: fixtures::uuid(100 + u64::from(number)).into(),
        turn_id: turn,
        step: u32::from(number),
        provider: "openai".into(),
        api: None,
        model_requested: model.into(),
        model_returned: None,
        request: ArchivedBytes(request.to_vec()),
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
        started_at: fixtures::time(0),
        ended_at: Some(fixtures::time(1)),
    }
}

/// Returns an archive of one chat whose reply has these generations.
fn archive_with_calls(calls: &[ArchivedGeneration]) -> String {
    let mut of = chat("One");
    let mut reply = of.turns[0].clone();
    reply.id = fixtures::uuid(99).into();
    (reply.ord, reply.depth, reply.role) = (reply.ord + 1, 1, Role::Assistant);
    reply.prev_turn_id = Some(of.turns[0].id);
    reply.blocks.clear();
    of.branches[0].branch.head_turn_id = Some(reply.id);
    of.turns.push(reply);
    let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
    writer.start_chat(&of.chat, None, None).unwrap();
    of.turns.iter().for_each(|turn| writer.write_turn(turn).unwrap());
    calls.iter().for_each(|call| writer.write_generation(call.clone()).unwrap());
    of.exchanges.iter().for_each(|exchange| writer.write_exchange(exchange).unwrap());
    of.branches.iter().for_each(|branch| writer.write_branch(branch).unwrap());
    writer.end_chat().unwrap();
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// Returns the generations of an archive's single chat, or the first reported issue.
fn calls_of(text: String) -> Result<Vec<ArchivedGeneration>, String> {
    let (items, read) = read_items(text.into_bytes());
    read.unwrap();
    if let Some(finding) = items.findings.first() {
        return Err(finding.text.clone());
    }
    let mut calls = Vec::new();
    for item in items.items {
        let ArchiveItem::Chat(mut chat) = item else { panic!("it is no chat") };
        loop {
            let parts = chat.next_parts()?;
            if parts.is_empty() {
                break;
            }
            calls.extend(parts.into_iter().filter_map(|part| match part {
                ChatPart::Generation(call) => Some(*call),
                _ => None,
            }));
        }
    }
    Ok(calls)
}

/// Returns generations of a growing chat by two models; the requests of one contain invalid UTF-8.
fn calls_of_growing_chat() -> Vec<ArchivedGeneration> {
    let turn = fixtures::uuid(99).into();
    let (mut history, mut named) = ("é".repeat(20_000).into_bytes(), vec![json!("a".repeat(9_000))]);
    let mut calls = Vec::new();
    for number in 0..6 {
        history.extend_from_slice(format!("message {number} ").as_bytes());
        // An é is split in the middle, so the delta is not valid UTF-8.
        history.extend_from_slice(&[0xc3, 0xa9 + number]);
        named.push(json!(number));
        let request = [&history[..], b"]}"].concat();
        calls.push(call(2 * number, turn, "one", &request, json!({"turns": named, "not_sent": []})));
        calls.push(call(2 * number + 1, turn, "other", &[b"{", &request[..]].concat(), json!({"turns": named})));
    }
    calls
}

#[test]
fn similar_request_is_written_as_delta_and_read_whole() {
    let calls = calls_of_growing_chat();
    let text = archive_with_calls(&calls);
    assert_eq!(text.matches("\"after\":{").count(), calls.len() - 2, "the first of each model is whole");
    let length: usize = calls.iter().map(|call| call.request.0.len()).sum();
    assert!(text.len() < length / 2, "{} of {length}", text.len());
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn dissimilar_or_short_request_is_written_whole() {
    let turn = fixtures::uuid(99).into();
    let calls = [
        call(0, turn, "one", &[b'a'; 20_000], json!([])),
        call(1, turn, "one", &[&[b'a'; 20_000][..], &[b'b'; 20_010]].concat(), json!([])),
        call(2, turn, "one", b"short", json!([])),
        call(3, turn, "one", b"short", json!([])),
    ];
    let text = archive_with_calls(&calls);
    assert!(!text.contains("\"after\""));
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn request_delta_without_usable_base_is_reported() {
    let text = archive_with_calls(&calls_of_growing_chat());
    let (first, second, third) = (fixtures::uuid(100), fixtures::uuid(101), fixtures::uuid(102));
    let after = |id: uuid::Uuid| format!("\"after\":{{\"generation\":\"{id}\"");
    // Replaces the base of the first model's third generation, leaving that of the second.
    let (head, rest) = text.split_at(text.find(&after(first)).unwrap() + 1);
    let third_after = |id| format!("{head}{}", rest.replacen(&after(first), &after(id), 1));
    let not_whole = "its base is missing, incomplete or comes later";
    for (text, reason) in [
        (text.replacen(&after(first), &after(fixtures::uuid(77)), 1), format!("generations[2]: {not_whole}")),
        (text.replacen(&after(first), &after(third), 1), format!("generations[2]: {not_whole}")),
        (third_after(third), format!("generations[4]: {not_whole}")),
        (text.replacen("\"head\":40", "\"head\":4000", 1), "generations: its base is too short".to_owned()),
        (text.replacen("},\"turns\":2}", "},\"turns\":3}", 1), "generations: its base has too few turns".to_owned()),
        (
            text.replacen("\"head\":40", "\"head\":18446744073709551000,\"more\":40", 1),
            "generations: the full request is too long".to_owned(),
        ),
    ] {
        let reported = calls_of(text).unwrap_err();
        assert!(reported.starts_with(&reason), "{reported}");
    }
    // A base of another model is valid, too, if it is long enough.
    assert!(calls_of(third_after(second)).is_ok());
}

#[test]
fn request_deltas_stay_within_their_chat_and_older_archive_has_whole_requests() {
    let calls = calls_of_growing_chat();
    let one = archive_with_calls(&calls);
    let chat = &one[one.find("{\"chat\":").unwrap()..one.rfind("]}").unwrap()];
    let two = one.replacen(chat, &format!("{chat},\n{}", chat.replace("0190b5b4", "0190b5b5")), 1);
    assert_eq!(calls_of(two).unwrap().len(), 2 * calls.len());
    let mut head = ArchiveHead::new(fixtures::time(0));
    head.version = 1;
    let mut writer = ArchiveWriter::new(Vec::new(), &head).unwrap();
    let mut bases = 0;
    for _ in 0..2 {
        let of = self::chat("One");
        writer.start_chat(&of.chat, None, None).unwrap();
        calls.iter().for_each(|call| writer.write_generation(call.clone()).unwrap());
        writer.end_chat().unwrap();
        bases += 2;
    }
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    assert_eq!(text.matches("\"after\":").count(), 2 * calls.len() - bases, "none after another chat's");
    // Version 1 stores each generation whole.
    let (mut text, whole) = (archive_with_calls(&[]), serde_json::to_string(&calls).unwrap());
    text = text
        .replace("\"version\":2", "\"version\":1")
        .replace("\"generations\":[", &format!("\"generations\":{}", &whole[..whole.len() - 1]));
    assert_eq!(calls_of(text).unwrap(), calls);
}

#[test]
fn oversized_request_is_no_base_and_least_recently_used_base_is_evicted() {
    let turn = fixtures::uuid(99).into();
    let of = |number: u8, model: &str, length: usize| {
        let letter = b'a' + u8::try_from(model.len()).unwrap();
        call(number, turn, model, &vec![letter; length], json!({"turns": []}))
    };
    let half_limit = bounds::DELTA_BASE_BYTES / 2 - 10;
    let after = |calls: &[ArchivedGeneration]| archive_with_calls(calls).matches("\"after\":").count();
    let heavy = bounds::DELTA_BASE_BYTES + 1;
    assert_eq!(after(&[of(0, "a", half_limit), of(1, "b-", heavy), of(2, "b-", heavy), of(3, "a", half_limit)]), 1);
    // The third base evicts the least recently used one.
    let calls = [
        of(0, "a", half_limit),
        of(1, "b-", half_limit),
        of(2, "a", half_limit),
        of(3, "c--", half_limit),
        of(4, "a", half_limit),
        of(5, "b-", half_limit),
    ];
    assert_eq!(after(&calls), 2);
}

/// Returns an archive of two blobs, two documents and three chats.
fn sample_archive() -> String {
    let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
    for number in ["0", "1"] {
        let sha256 = number.repeat(64);
        writer
            .write_blob(&ArchivedBlob {
                sha256,
                mime: "image/png".into(),
                name: None,
                bytes: ArchivedBytes(vec![0xff]),
            })
            .unwrap();
    }
    for number in [1, 2] {
        let version = ArchivedVersion {
            version_timestamp: fixtures::time(0),
            mime: "text/plain".into(),
            content: "Words".into(),
            notes: Vec::new(),
            origin: None,
        };
        let (created_at, updated_at) = (fixtures::time(0), fixtures::time(0));
        let (id, title, kind) = (fixtures::uuid(number).into(), format!("Document {number}"), "text/plain".into());
        writer
            .write_document(&ArchivedDocument { id, title, kind, created_at, updated_at, versions: vec![version] })
            .unwrap();
    }
    for title in ["One", "Two", "Three"] {
        let of = chat(title);
        writer.start_chat(&of.chat, None, None).unwrap();
        of.turns.iter().for_each(|turn| writer.write_turn(turn).unwrap());
        of.exchanges.iter().for_each(|exchange| writer.write_exchange(exchange).unwrap());
        of.branches.iter().for_each(|branch| writer.write_branch(branch).unwrap());
        writer.end_chat().unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// Returns the archive with its lists in this order, otherwise unchanged.
fn with_list_order(archive: &str, order: [&str; 3]) -> String {
    let at = |list: &str| archive.find(&format!("\n\"{list}\":[")).unwrap();
    let (blobs, documents, chats) = (at("blobs"), at("documents"), at("chats"));
    let list = |name: &str| match name {
        "blobs" => &archive[blobs..documents - 1],
        "documents" => &archive[documents..chats - 1],
        _ => archive[chats..].trim_end().strip_suffix('}').unwrap(),
    };
    format!("{}{}}}\n", &archive[..blobs], order.map(list).join(","))
}

/// Returns the imported blobs, documents and chats by the ends of their names, and the locations of the issues.
fn read_titles(text: &str) -> (Vec<String>, Vec<String>) {
    let (items, read) = read_items(text.as_bytes().to_vec());
    read.unwrap();
    let name = |item: &ArchiveItem| match item {
        ArchiveItem::Blob(blob) => blob.sha256[..1].to_owned(),
        ArchiveItem::Document(document) => document.title.clone(),
        ArchiveItem::Project(project) => project.name.clone(),
        ArchiveItem::Chat(chat) => chat.chat.title.clone(),
    };
    let describe = |finding: &ImportIssue| format!("{}: {}", finding.location.conversation, finding.text);
    (items.items.iter().map(name).collect(), items.findings.iter().map(describe).collect())
}

const ALL: [&str; 7] = ["0", "1", "Document 1", "Document 2", "One", "Two", "Three"];

#[test]
fn lists_in_any_order_are_read_in_import_order() {
    let whole = sample_archive();
    for order in [
        ["blobs", "documents", "chats"],
        ["blobs", "chats", "documents"],
        ["documents", "blobs", "chats"],
        ["documents", "chats", "blobs"],
        ["chats", "blobs", "documents"],
        ["chats", "documents", "blobs"],
    ] {
        assert_eq!(read_titles(&with_list_order(&whole, order)), (ALL.map(str::to_owned).into(), vec![]), "{order:?}");
    }
}

/// Returns all names except these.
fn all_except(left_out: &[&str]) -> Vec<String> {
    ALL.iter().filter(|name| !left_out.contains(name)).map(|name| (*name).to_owned()).collect()
}

#[test]
fn damaged_elements_are_reported_and_rest_is_read() {
    let whole = sample_archive();
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
    for (text, missing, issue) in [
        // A list that is not a list, and one that is invalid JSON.
        (
            broken(documents, "\n\"documents\":null"),
            &["Document 1", "Document 2"] as &[&str],
            "documents: it is not a list",
        ),
        (broken(documents, "\n\"documents\":[}"), &["Document 1", "Document 2"], "documents 1: the rest is not JSON"),
        (broken(documents, "\n\"documents\":}"), &["Document 1", "Document 2"], ": the rest is not JSON"),
        // A broken element: an extra character; a missing quote, so that the rest seems to be within a text; a list
        // that is not closed.
        (broken("\n{\"sha256\":\"1", "\n}{\"sha256\":\"1"), &["1"], "blobs 2: the rest is not JSON"),
        (without(a_quote), &["Two"], "chats 2: "),
        (without(a_list), &["Two"], "chats 2: the rest is not JSON"),
    ] {
        let (imported, of) = read_titles(&text);
        assert_eq!(imported, all_except(missing), "{issue}");
        assert!(of.len() == 1 && of[0].starts_with(issue), "{issue}: {of:?}");
    }
}

#[test]
fn reordered_lists_are_read_when_one_is_damaged() {
    let whole = sample_archive();
    for order in [["chats", "documents", "blobs"], ["chats", "blobs", "documents"], ["documents", "chats", "blobs"]] {
        let turned = with_list_order(&whole, order);
        // The last list is truncated within its second element.
        let (last, missing) = if order[2] == "blobs" { ("{\"sha256\":\"1", "1") } else { ("Document 2", "Document 2") };
        let cut = turned.find(last).unwrap() + 3;
        let (some, issues) = read_titles(&turned[..cut]);
        assert_eq!(some, all_except(&[missing]), "{order:?}");
        assert_eq!(issues, [format!("{} 2: the file ends in the middle of it", order[2])]);
        // The second chat has lost the quote at the end of its title, wherever the list of chats is.
        let at = turned.find("\"title\":\"Two").unwrap() + "\"title\":\"Two".len();
        let (some, issues) = read_titles(&format!("{}{}", &turned[..at], &turned[at + 1..]));
        assert_eq!(some, all_except(&["Two"]), "{order:?}");
        assert!(issues.len() == 1 && issues[0].starts_with("chats 2"), "{issues:?}");
    }
}

#[test]
fn reading_archive_damaged_everywhere_terminates() {
    let whole = sample_archive();
    for at in (0..whole.len()).step_by(7) {
        for sign in ["\"", "}", "[", "\\"] {
            if whole.is_char_boundary(at) && at > 200 {
                // Whatever is delivered is complete, and nothing panics.
                let _ = read_items(format!("{}{sign}{}", &whole[..at], &whole[at..]).into_bytes());
            }
        }
    }
}

#[test]
fn rest_after_too_many_damages_is_skipped_and_reported() {
    for damages in [bounds::DAMAGES - 1, bounds::DAMAGES] {
        let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
        for number in 0..=damages {
            let sha256 = format!("{number:064}");
            writer
                .write_blob(&ArchivedBlob {
                    sha256,
                    mime: "image/png".into(),
                    name: None,
                    bytes: ArchivedBytes(vec![0]),
                })
                .unwrap();
        }
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        // An extra character follows each element but the last.
        let text = text.replace(",\n{\"sha256\"", "},\n{\"sha256\"");
        let (some, issues) = read_titles(&text);
        let is_cut = damages == bounds::DAMAGES;
        let outcome = (some.len(), issues.len(), issues.last().unwrap().contains("damaged in 100 places"));
        assert_eq!(
            outcome,
            (if is_cut { damages } else { damages + 1 }, damages + usize::from(is_cut), is_cut),
            "{issues:?}"
        );
    }
}

fn project(n: u64, name: &str) -> Project {
    Project {
        id: fixtures::uuid(n).into(),
        owner_id: fixtures::uuid(1).into(),
        name: name.into(),
        color: ProjectColor::Blue,
        instructions: "Be brief.\n\"chats\":[".into(),
        default_model: Some(fixtures::lock()),
        version: 3,
        created_at: fixtures::time(0),
        updated_at: fixtures::time(0),
    }
}

#[test]
fn projects_are_read_before_chats_and_invalid_ones_are_skipped() {
    let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
    writer.write_projects(&[project(7, "Boat"), project(8, "House")]).unwrap();
    let late = ArchivedBlob { sha256: "0".repeat(64), mime: String::new(), name: None, bytes: ArchivedBytes(vec![]) };
    assert!(writer.write_blob(&late).is_err(), "blobs come first");
    let written = writer.finish().unwrap();
    let (read, ended) = read_items(written.clone());
    ended.unwrap();
    let names = |items: &[ArchiveItem]| -> Vec<String> {
        let name = |item: &ArchiveItem| match item {
            ArchiveItem::Project(project) => format!("{} {}", project.name, project.version),
            _ => panic!("it is no project"),
        };
        items.iter().map(name).collect()
    };
    assert_eq!((names(&read.items), read.findings.len()), (vec!["Boat 3".to_owned(), "House 3".to_owned()], 0));

    let mut value: Value = serde_json::from_slice(&written).unwrap();
    assert!(value["projects"][0].get("owner_id").is_none());
    value["projects"][0]["name"] = json!(1);
    let (read, ended) = read_items(serde_json::to_vec(&value).unwrap());
    ended.unwrap();
    assert_eq!(names(&read.items), ["House 3"]);
    assert_eq!(read.findings[0].location.conversation, "projects 1");
    value["projects"] = json!("none");
    let (read, ended) = read_items(serde_json::to_vec(&value).unwrap());
    ended.unwrap();
    assert_eq!((read.items.len(), read.findings.len()), (0, 1));
}
