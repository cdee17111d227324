//! Tests of files and archives: intact, broken and hostile.

use std::io::{Cursor, Read, Write, repeat};
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::conversation::Conversation;
use crate::formats::{ImportFormat, read};
use crate::sink::ImportSink;
use crate::test_support::{open_input, read_all, zip_archive};

/// Returns a conversation with one message.
fn one(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","mapping":{{"a":{{"message":{{"author":{{"role":"user"}},"content":{{"parts":["{id}"]}}}}}}}}}}"#
    )
}

fn ids(bytes: impl Into<Vec<u8>>) -> (Vec<String>, Vec<String>, Result<(), ImportError>) {
    let (kept, end) = read_all(ImportFormat::Chatgpt, bytes);
    let ids = kept.conversations.iter().map(|read| read.source_id.clone()).collect();
    (ids, kept.issue_lines(), end)
}

/// Returns an archive as written to a stream, with the sizes after the entries.
fn streamed(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new_stream(Vec::new());
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn file_kind_is_detected_by_content() {
    let text = format!("[{},{}]", one("a"), one("b"));
    let utf16 =
        |order: fn(u16) -> [u8; 2]| format!("\u{feff}{text}").encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let lines = format!("{}\n{}\n", one("a"), one("b"));
    let gzipped = gzip(text.as_bytes());
    let files: [Vec<u8>; 9] = [
        text.clone().into_bytes(),
        format!("\u{feff}{text}").into_bytes(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        lines.into_bytes(),
        format!(r#"{{"version": 1, "conversations": {text}, "more": {{}}}}"#).into_bytes(),
        zip_archive(&[("x/conversations.json", text.as_bytes())]),
        streamed(&[("conversations.json", text.as_bytes())]),
        gzipped,
    ];
    for file in files {
        let (ids, issues, end) = ids(file);
        end.unwrap();
        assert_eq!((ids, issues), (vec!["a".to_owned(), "b".to_owned()], Vec::new()));
    }
}

#[test]
fn bad_conversation_does_not_affect_others() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let table = [
        ("{\"id\":\"x\",\"mapping\":", "expected value", 21, false),
        ("{\"id\" 3}", "expected `:`", 7, true),
        ("nonsense", "expected ident", 2, true),
    ];
    for (bad, why, column, goes_on) in table {
        let (ids, issues, end) = ids(format!("[{},\n\n {bad},{}]", one("a"), one("b")));
        end.unwrap();
        assert_eq!(ids, if goes_on { vec!["a", "b"] } else { vec!["a"] }, "{bad}");
        let place = format!("line 3 column {}", column + 1);
        assert_eq!(issues[0], format!("left out: sample.json › 2: it is not JSON: {why} at {place}"), "{bad}");
    }
    let strange = [
        ("\"create_time\": NaN", "values that are not JSON numbers"),
        ("\"create_time\": 1e999", "values that are not JSON numbers"),
        ("\"title\": \"\\ud83d\"", "incomplete characters"),
        ("\"title\": \"\n\"", "control characters"),
        (&format!("\"bomb\": {deep}"), "values nested too deeply"),
    ];
    for (member, expected) in strange {
        let (ids, issues, end) = ids(format!("[{},{}]", one("a").replacen('{', &format!("{{{member},"), 1), one("b")));
        end.unwrap();
        assert_eq!((ids.len(), issues.len()), (2, 1), "{issues:?}");
        assert!(issues[0].contains(expected), "{issues:?}");
    }
    let (ids, issues, _) = ids([b"[", one("a").as_bytes(), b",\"\xff\"]"].concat());
    assert_eq!((ids.len(), issues.len()), (1, 2), "{issues:?}");
}

#[test]
fn path_traversal_names_are_reported_and_never_used() {
    let long = "x".repeat(5_000);
    let text = format!("[{}]", one("a"));
    let names = [
        "../../conversations.json",
        "/conversations.json",
        "C:/conversations.json",
        "a\\..\\conversations.json",
        &long,
    ];
    let mut entries: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, text.as_bytes())).collect();
    entries.push(("ok/conversations.json", text.as_bytes()));
    let bytes = zip_archive(&entries);
    let opened = open_input(bytes.clone()).unwrap();
    let parts: Vec<&str> = opened.parts.all().iter().map(|part| part.name.as_str()).collect();
    assert_eq!(parts, ["ok/conversations.json"]);
    let (ids, issues, end) = ids(bytes);
    end.unwrap();
    assert_eq!(ids, ["a"]);
    assert_eq!(issues.len(), names.len(), "{issues:?}");
    assert!(issues.iter().all(|line| line.starts_with("left out: ") && line.contains("its name ")), "{issues:?}");
}

#[test]
fn folders_of_windows_archive_and_metadata_of_macos_are_no_chats() {
    let text = format!("[{}]", one("a"));
    let bytes = zip_archive(&[
        ("export\\files\\", b""),
        ("export\\conversations.json", text.as_bytes()),
        ("__MACOSX/export/._conversations.json", b"\x00\x05\x16\x07"),
        ("export/._conversations.json", b"\x00\x05\x16\x07"),
    ]);
    let opened = open_input(bytes.clone()).unwrap();
    assert!(opened.parts.index_of("export/conversations.json").is_some());
    let (ids, issues, end) = ids(bytes);
    end.unwrap();
    assert_eq!((ids, issues), (vec!["a".to_owned()], Vec::<String>::new()));
}

#[test]
fn truncated_archive_yields_entries_before_cut() {
    let many: Vec<String> = (0..2_000).map(|number| one(&format!("c{number}"))).collect();
    let text = format!("[{}]", many.join(","));
    let entries: [(&str, &[u8]); 3] =
        [("first/conversations.json", b"[]"), ("conversations-000.json", text.as_bytes()), ("picture.png", b"png")];
    for whole in [zip_archive(&entries), streamed(&entries)] {
        let directory = whole.windows(4).position(|signs| signs == b"PK\x01\x02").unwrap();
        // Without the directory every entry is found by scanning.
        let mut opened = open_input(&whole[..directory]).unwrap();
        assert_eq!(opened.parts().all().len(), 3);
        assert_eq!(opened.read_part("picture.png", 10).unwrap(), b"png");
        let (all, issues, end) = ids(&whole[..directory]);
        end.unwrap();
        assert_eq!((all.len(), issues.len()), (2_000, 1), "{issues:?}");
        // The cut goes through an entry; everything before it is read.
        let (some, issues, end) = ids(&whole[..directory * 2 / 3]);
        end.unwrap();
        assert!(some.len() > 100 && some.len() < 2_000, "{}", some.len());
        assert!(
            issues.iter().any(|line| line.contains("damaged from here: ") || line.contains("ends in the middle")),
            "{issues:?}"
        );
    }
    assert!(matches!(open_input(&b"PK\x03\x04not really"[..]), Err(ImportError::Damaged(_))));
}

#[test]
fn truncation_and_flipped_bytes_never_panic() {
    let text = format!("[{},{}]", one("a"), one("b"));
    let entries: [(&str, &[u8]); 2] = [("conversations.json", text.as_bytes()), ("x.png", b"png")];
    for whole in [zip_archive(&entries), streamed(&entries), gzip(text.as_bytes())] {
        for at in 0..whole.len() {
            let (ids_of_cut, ..) = ids(&whole[..at]);
            assert!(ids_of_cut.len() <= 2);
            let mut flipped = whole.clone();
            flipped[at] ^= 0xff;
            let _ = ids(flipped);
        }
    }
}

#[test]
fn entry_that_cannot_be_unpacked_is_left_out() {
    let text = format!("[{}]", one("a"));
    let whole = zip_archive(&[("other.json", text.as_bytes()), ("conversations.json", text.as_bytes())]);
    // Flags and method of the first entry, in its header and in the directory.
    let directory = whole.windows(4).position(|signs| signs == b"PK\x01\x02").unwrap();
    for (offset, value, reason) in [(6, 1, "it is encrypted"), (8, 12, "its compression method is not supported")] {
        let mut changed = whole.clone();
        changed[offset] = value;
        changed[directory + offset + 2] = value;
        let (ids, issues, end) = ids(changed);
        end.unwrap();
        assert_eq!((ids.len(), issues.len()), (1, 1));
        assert!(issues[0].contains(reason), "{issues:?}");
    }
}

#[test]
fn zip_bombs_stop_at_bounds() {
    let unpacked = |compressed: u64| {
        let from = repeat(b' ').take(bounds::RATIO_FROM + (1 << 20));
        std::io::copy(&mut BoundedReader::new(from, compressed, &mut 0), &mut std::io::sink()).map_err(import_error)
    };
    let end = unpacked(bounds::RATIO_FROM / bounds::RATIO);
    assert!(matches!(&end, Err(ImportError::TooLarge(reason)) if reason.contains("times its size")), "{end:?}");
    assert!(unpacked(bounds::RATIO_FROM / bounds::RATIO * 2).is_ok());

    // The directory declares one entry as a bomb; the other entry is harmless.
    let mut declared_bomb =
        zip_archive(&[("conversations-001.json", b"[ ]"), ("conversations-002.json", one("a").as_bytes())]);
    let directory = declared_bomb.windows(4).position(|signs| signs == b"PK\x01\x02").unwrap();
    declared_bomb[directory + 24..directory + 28].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    let (read, issues, end) = ids(declared_bomb);
    end.unwrap();
    assert_eq!((read, issues.len()), (vec!["a".to_owned()], 1), "{issues:?}");
    assert!(issues[0].contains("an unpacked size far too large"), "{issues:?}");

    let mut total = bounds::TOTAL_BYTES - 100;
    let mut out = Vec::new();
    let end =
        BoundedReader::new(repeat(b' ').take(1_000), 1_000, &mut total).read_to_end(&mut out).map_err(import_error);
    assert!(matches!(end, Err(ImportError::TooLarge(_))));

    let mut opened = open_input(zip_archive(&[("a.bin", &[0; 1_000])])).unwrap();
    assert!(matches!(opened.read_part("a.bin", 999), Err(ImportError::TooLarge(_))));
    assert_eq!(opened.read_part("a.bin", 1_000).unwrap().len(), 1_000);
    assert!(opened.read_part("../a.bin", 1_000).is_err());
}

#[test]
fn too_many_entries_are_refused_before_they_are_held() {
    let count = bounds::ENTRIES as u64 + 1;
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(64, 0);
    let start = bytes.len() as u64;
    let mut entry = b"PK\x01\x02".to_vec();
    entry.resize(46, 0);
    entry[28] = 1;
    entry.push(b'a');
    (0..count).for_each(|_| bytes.extend_from_slice(&entry));
    let (size, end) = (bytes.len() as u64 - start, bytes.len() as u64);
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&44_u64.to_le_bytes());
    bytes.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    [count, count, size, start].iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    bytes.extend_from_slice(&end.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    let end = open_input(bytes).map(|_| ());
    assert!(matches!(&end, Err(ImportError::TooLarge(reason)) if reason.contains("entries")), "{end:?}");
}

#[test]
fn sink_that_breaks_ends_reading() {
    struct Once(u32);

    impl ImportSink for Once {
        fn take_conversation(&mut self, _: Conversation) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Break(())
        }

        fn take_issue(&mut self, _: ImportIssue) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    let mut once = Once(0);
    let mut opened = Input::open("x", Box::new(Cursor::new(format!("[{},{}]", one("a"), one("b"))))).unwrap();
    assert!(matches!(read(ImportFormat::Chatgpt, &mut opened, &mut once), Err(ImportError::Cancelled)));
    assert_eq!(once.0, 1);
}
