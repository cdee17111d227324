//! Broken and hostile files through the import service: damage is reported, the rest is imported, nothing stays
//! half-written, and temporary files are removed.

use std::io::Write;
use std::path::Path;

use axum::body::Body;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use futures::SinkExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::{ImportJobs, ImportReport, ImportRequest};
use turnleaf_store::Db;

use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file};
use crate::samples::{assert_same, chat_lines, test_servers};
use crate::test_server::TestServer;

/// One entry of an archive with its headers, which may be false.
struct ZipEntry {
    name: Vec<u8>,
    is_deflated: bool,
    packed: Vec<u8>,
    size: u32,
    sum: u32,
}

/// Writes a ZIP archive by hand, so that its headers may hold anything.
fn build_archive(entries: &[ZipEntry]) -> Vec<u8> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = u32::try_from(all.len()).unwrap();
        let mut head: Vec<u8> = Vec::new();
        head.extend([20, 0, 0, 0]);
        head.extend([if entry.is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        head.extend(entry.sum.to_le_bytes());
        head.extend(u32::try_from(entry.packed.len()).unwrap().to_le_bytes());
        head.extend(entry.size.to_le_bytes());
        head.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
        head.extend([0, 0]);
        all.extend(b"PK\x03\x04");
        all.extend(&head);
        all.extend(&entry.name);
        all.extend(&entry.packed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(&entry.name);
    }
    let at = u32::try_from(all.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    all.extend(&directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    all.extend([count, count].concat());
    all.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    all.extend(at.to_le_bytes());
    all.extend([0, 0]);
    all
}

/// Writes a ZIP archive of these files.
pub fn zip_files(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entry = |(name, bytes): &(&'_ str, &[u8])| {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        (name.as_bytes().to_vec(), packed.finish().unwrap(), u32::try_from(bytes.len()).unwrap(), crc32(bytes))
    };
    let entries: Vec<(Vec<u8>, Vec<u8>, u32, u32)> = files.iter().map(entry).collect();
    let heads =
        entries.into_iter().map(|(name, packed, size, sum)| ZipEntry { name, is_deflated: true, packed, size, sum });
    build_archive(&heads.collect::<Vec<_>>())
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// Returns an entry that is stored without compression.
fn stored_entry(name: &[u8], bytes: &[u8]) -> ZipEntry {
    let size = u32::try_from(bytes.len()).unwrap();
    ZipEntry { name: name.to_vec(), is_deflated: false, packed: bytes.to_vec(), size, sum: crc32(bytes) }
}

pub fn mapping_node(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    json!({
        "id": id, "parent": parent, "children": [],
        "message": {"id": id, "author": {"role": role}, "create_time": 1_700_000_000, "metadata": {},
            "content": {"content_type": "text", "parts": [text]}},
    })
}

/// Returns a conversation of these messages.
pub fn conversation(id: &str, nodes: &[Value]) -> Value {
    let mapping: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap().to_owned(), node.clone())).collect();
    json!({"id": id, "title": id, "create_time": 1_700_000_000, "mapping": mapping})
}

fn valid_conversation(id: &str) -> Value {
    conversation(id, &[mapping_node("q", None, "user", "Hello"), mapping_node("a", Some("q"), "assistant", "Hi")])
}

/// Returns the texts of the issues of this kind.
fn issues_of_kind<'r>(report: &'r ImportReport, kind: &str) -> Vec<&'r str> {
    report
        .findings
        .iter()
        .filter(|finding| finding.kind.as_str() == kind)
        .map(|finding| finding.text.as_str())
        .collect()
}

async fn titles(instance: &TestServer) -> Vec<String> {
    let archive: Value = serde_json::from_slice(&export_archive(instance, ExportScope::Everything).await).unwrap();
    let all = archive["chats"].as_array().unwrap().iter();
    let mut titles: Vec<String> = all.map(|chat| chat["chat"]["title"].as_str().unwrap().to_owned()).collect();
    titles.sort();
    titles
}

/// Asserts that no row lacks the chat that it belongs to, and that nothing was begun and not finished.
async fn assert_database_sound(instance: &TestServer) {
    instance.check_invariants().await;
    for sql in [
        "SELECT COUNT(*) FROM chats c WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.chat_id = c.id)",
        "SELECT COUNT(*) FROM chats c WHERE c.default_branch_id IS NULL",
        "SELECT COUNT(*) FROM generations g WHERE g.status = 'running' OR NOT g.is_copy",
        "SELECT COUNT(*) FROM documents d WHERE NOT EXISTS (SELECT 1 FROM block_documents r WHERE r.document_id = d.id)",
    ] {
        let left: i64 = match &instance.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
            Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        };
        assert_eq!(left, 0, "{sql}");
    }
}

#[tokio::test]
async fn invalid_trees_are_reported_and_rest_is_imported() {
    let circle = conversation(
        "circle",
        &[
            mapping_node("a", Some("c"), "user", "One"),
            mapping_node("b", Some("a"), "assistant", "Two"),
            mapping_node("c", Some("b"), "user", "Three"),
        ],
    );
    let itself = conversation("itself", &[mapping_node("a", Some("a"), "user", "Alone")]);
    let orphan = conversation(
        "orphan",
        &[mapping_node("q", None, "user", "Hello"), mapping_node("lost", Some("nowhere"), "assistant", "Where am I?")],
    );
    let mut twice = valid_conversation("twice");
    twice["mapping"]["other"] = mapping_node("q", Some("a"), "user", "I have the id of the first");
    let mut dates = valid_conversation("dates");
    dates["create_time"] = json!(1e300);
    dates["update_time"] = json!(-1e18);
    dates["mapping"]["q"]["message"]["create_time"] = json!("in the year of the cat");
    dates["mapping"]["a"]["message"]["create_time"] = json!(99_999_999_999_999_i64);
    let mut kinds = valid_conversation("kinds");
    kinds["mapping"]["a"]["message"]["content"] = json!({"content_type": "hologram", "depth": [1, 2]});
    kinds["mapping"]["a"]["message"]["author"]["role"] = json!("narrator");
    let mut nul = valid_conversation("nul");
    nul["title"] = json!("a \0 title\n\u{202e}");
    nul["mapping"]["a"]["message"]["content"]["parts"][0] = json!("a \0 text");
    nul["mapping"]["a"]["message"]["metadata"]["model_slug"] = json!("a \0 model");
    let all = json!([circle, itself, orphan, twice, dates, kinds, nul, valid_conversation("good"), valid_conversation("good"), 7, null, {"id": "none"}, {"mapping": 3}]);
    for instance in test_servers().await {
        let report = import_file(&instance, "conversations.json", &serde_json::to_vec(&all).unwrap(), false).await;
        assert_eq!(report.stopped, None);
        let counts = (report.imported, report.known, report.left_out);
        assert_eq!(counts, (8, 0, report.conversations - 8), "{report:#?}");
        assert!(report.left_out >= 4, "{report:#?}");
        let mut expected = vec!["circle", "itself", "orphan", "twice", "dates", "kinds", "a   title \u{202e}", "good"];
        expected.sort_unstable();
        assert_eq!(titles(&instance).await, expected);
        let places: Vec<&str> = report.findings.iter().map(|finding| finding.place.as_str()).collect();
        for named in ["circle", "itself", "orphan", "dates", "kinds", "none"] {
            assert!(places.iter().any(|place| place.contains(named)), "{named}: {report:#?}");
        }
        assert!(!issues_of_kind(&report, "put_right").is_empty() && !issues_of_kind(&report, "left_out").is_empty());
        for chat in report.chats.iter().filter_map(|chat| chat.id) {
            let lines = chat_lines(&instance, chat).await;
            assert!(lines.iter().all(|line| !line.contains('\0')), "{lines:?}");
            let now = SystemClock.now();
            let row = instance.service.chat(instance.owner, chat).await.unwrap();
            assert!(row.created_at <= now && row.updated_at <= now && row.created_at.timestamp() > 0, "{row:?}");
        }
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn truncated_or_misdeclared_archives_give_readable_entries() {
    let part =
        |ids: &[&str]| serde_json::to_vec(&ids.iter().map(|id| valid_conversation(id)).collect::<Vec<_>>()).unwrap();
    let (first, second) = (part(&["one", "two"]), part(&["three"]));
    let files: [(&str, &[u8]); 2] = [("conversations-000.json", &first), ("conversations-001.json", &second)];
    let whole = zip_files(&files);
    let second_at = whole.windows(4).rposition(|signs| signs == b"PK\x03\x04").unwrap();
    let outside = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("absolute.json");
    let evil = [
        stored_entry(b"../../../../tmp/turnleaf-evil.json", &first),
        stored_entry(absolute.to_str().unwrap().as_bytes(), &first),
        stored_entry(b"C:\\evil.json", &first),
        stored_entry(b"a/../../evil.json", &first),
        stored_entry(b"conversations-\xff\0.json", &first),
        stored_entry(b"conversations.json", &second),
        stored_entry(b"conversations.json", &first),
    ];
    for instance in test_servers().await {
        let cut = import_file(&instance, "cut.zip", &whole[..second_at + 40], false).await;
        assert_eq!((cut.imported, titles(&instance).await), (2, vec!["one".to_owned(), "two".into()]), "{cut:#?}");
        assert!(!cut.findings.is_empty());
        let evil = import_file(&instance, "evil.zip", &build_archive(&evil), false).await;
        assert_eq!((evil.imported, evil.known), (1, 0), "{evil:#?}");
        assert_eq!(issues_of_kind(&evil, "left_out").len(), 6, "{evil:#?}");
        assert!(!absolute.exists() && !Path::new("/tmp/turnleaf-evil.json").exists());
        let mut flipped = whole.clone();
        flipped[60] ^= 0xff;
        let damaged = import_file(&instance, "damaged.zip", &flipped, false).await;
        assert_eq!(damaged.imported, 0, "{damaged:#?}");
        assert!(!damaged.findings.is_empty() || damaged.stopped.is_some());
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn damaged_turnleaf_archive_gives_everything_readable() {
    for instance in test_servers().await {
        let all: Vec<Value> = ["one", "two", "three"].map(valid_conversation).into();
        import_file(&instance, "all.json", &serde_json::to_vec(&all).unwrap(), false).await;
        import_file(&instance, "files.zip", &with_files("with files"), false).await;
        let whole = String::from_utf8(export_archive(&instance, ExportScope::Everything).await).unwrap();
        let at = |words: &str| whole.find(words).unwrap_or_else(|| panic!("{words}: {whole}"));
        let (blobs, documents, chats) = (at("\n\"blobs\":["), at("\n\"documents\":["), at("\n\"chats\":["));
        // The chats stand first, the documents are no JSON, and one chat has lost the end of its title.
        let head = &whole[..blobs];
        let chats = whole[chats..].trim_end().strip_suffix('}').unwrap();
        let damaged = format!("{head}{chats},\n\"documents\":[}}}}}},{}}}\n", &whole[blobs..documents - 1]);
        let title = damaged.find("\"title\":\"two").unwrap() + "\"title\":\"two".len();
        let damaged = format!("{}{}", &damaged[..title], &damaged[title + 1..]);
        for target in test_servers().await {
            let preview = import_file(&target, "look.json", damaged.as_bytes(), true).await;
            let report = import_file(&target, "damaged.json", damaged.as_bytes(), false).await;
            assert_eq!((report.conversations, report.imported, report.known, report.left_out), (4, 3, 0, 1));
            assert_eq!(report.chats.len(), 3);
            let mut places: Vec<&str> = report.findings.iter().map(|finding| finding.place.as_str()).collect();
            places.retain(|place| place.contains("documents 1") || place.contains("chats"));
            assert_eq!(places.len(), 2, "{:#?}", report.findings);
            assert_eq!(titles(&target).await, ["one", "three", "with files"]);
            // A dry run reports the same, except for the name of the file and the stored chats.
            assert_eq!(
                (preview.imported, preview.left_out, preview.lost),
                (report.imported, report.left_out, report.lost)
            );
            assert_eq!(issues_of_kind(&preview, "lost"), issues_of_kind(&report, "lost"));
            target.check_invariants().await;
            target.close().await;
        }
        instance.close().await;
    }
}

/// Returns a raw deflate stream of this many megabytes of zeros, as one repeated piece.
fn zeros(megabytes: usize) -> Vec<u8> {
    let mut piece = DeflateEncoder::new(Vec::new(), Compression::best());
    piece.write_all(&vec![0; 1 << 20]).unwrap();
    piece.flush().unwrap();
    let piece = piece.get_ref().clone();
    let mut all = piece.repeat(megabytes);
    // An empty last block ends the stream.
    all.extend([3, 0]);
    all
}

#[tokio::test]
async fn ten_gigabytes_of_zeros_are_bounded_and_rest_is_imported() {
    let bomb = zeros(10 << 10);
    assert!(bomb.len() < 20 << 20, "{}", bomb.len());
    let chats = serde_json::to_vec(&[valid_conversation("one")]).unwrap();
    let archive = build_archive(&[
        // This entry claims to be small; the next one claims the largest size that four bytes can hold.
        ZipEntry {
            name: b"conversations-000.json".to_vec(),
            is_deflated: true,
            packed: bomb.clone(),
            size: 1_000,
            sum: 0,
        },
        ZipEntry {
            name: b"conversations-001.json".to_vec(),
            is_deflated: true,
            packed: bomb.clone(),
            size: 4_000_000_000,
            sum: 0,
        },
        stored_entry(b"conversations-002.json", &chats),
    ]);
    let mut gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    gzip.extend(&bomb);
    gzip.extend([0; 8]);
    for instance in test_servers().await {
        let report = import_file(&instance, "bomb.zip", &archive, false).await;
        assert_eq!((report.imported, titles(&instance).await), (1, vec!["one".to_owned()]), "{report:#?}");
        let issues = issues_of_kind(&report, "left_out");
        assert!(
            issues.len() == 2 && issues.iter().all(|issues| issues.contains("reading the file stopped")),
            "{issues:?}"
        );
        let report = import_file(&instance, "conversations.json.gz", &gzip, false).await;
        assert_eq!(report.imported, 0);
        assert!(report.stopped.is_some() || !report.findings.is_empty(), "{report:#?}");
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn encodings_are_read_or_reported() {
    let text = serde_json::to_string(&[valid_conversation("Zürich 树")]).unwrap();
    let with_mark = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(text.replace("Zürich", "Genève").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let latin: Vec<u8> =
        text.replace("Zürich 树", "M\u{fc}nchen").chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let mut broken = text.replace("Zürich 树", "Broken").into_bytes();
    let at = broken.windows(5).position(|words| words == b"Hello").unwrap();
    broken[at] = 0xff;
    for instance in test_servers().await {
        let report = import_file(&instance, "a.json", &with_mark, false).await;
        assert_eq!((report.imported, report.findings.as_slice()), (1, [].as_slice()));
        for (name, bytes) in [("b.json", &utf16), ("c.json", &latin), ("d.json", &broken)] {
            let report = import_file(&instance, name, bytes, false).await;
            let is_reported = report.stopped.is_some() || !report.findings.is_empty();
            assert!(report.imported == 1 || is_reported, "{name}: {report:#?}");
            // An encoding that the import does not understand is reported, not guessed.
            assert!(is_reported || name == "b.json", "{name}: {report:#?}");
        }
        assert!(titles(&instance).await.contains(&"Zürich 树".to_owned()));
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn stopped_or_interrupted_import_leaves_complete_chats_and_no_file() {
    const CHATS: u64 = 20;
    let many: Vec<Value> = (0..CHATS).map(|n| valid_conversation(&format!("chat {n:02}"))).collect();
    let many = serde_json::to_vec(&many).unwrap();
    for instance in test_servers().await {
        // Half of the file is missing.
        let report = import_file(&instance, "half.json", &many[..many.len() / 2], false).await;
        assert!(report.imported > CHATS / 4 && report.imported < CHATS * 3 / 4, "{report:#?}");
        assert!(report.stopped.is_some() || report.left_out > 0);
        assert_eq!(titles(&instance).await.len() as u64, report.imported);
        assert_database_sound(&instance).await;

        // The user stops the import.
        let file = instance.dir.path().join("stopped.json");
        std::fs::write(&file, &many).unwrap();
        let import = ImportRequest {
            owner: instance.owner,
            file,
            name: "stopped.json".into(),
            format: None,
            options: Default::default(),
            dry_run: false,
        };
        let stopped = instance.service.import(import, &mut |report| report.conversations < 15).await.unwrap();
        assert_eq!((stopped.conversations, stopped.stopped.as_deref()), (15, Some("it was stopped")));
        assert_database_sound(&instance).await;

        // Through the import page: the uploaded file is removed in any case, and the remaining chats are imported.
        for bytes in [&many[..], b"Dear reader", &many[..100]] {
            let sent = tempfile::NamedTempFile::new_in(instance.dir.path()).unwrap();
            std::fs::write(sent.path(), bytes).unwrap();
            let path = sent.path().to_owned();
            let import = ImportRequest {
                owner: instance.owner,
                file: path.clone(),
                name: "sent.json".into(),
                format: None,
                options: Default::default(),
                dry_run: false,
            };
            let id = instance.service.start_import(import, sent.into_temp_path()).unwrap();
            while !instance.service.import_job(instance.owner, id).unwrap().is_over {
                tokio::task::yield_now().await;
            }
            assert!(!path.exists());
        }
        assert_eq!(titles(&instance).await.len() as u64, CHATS);
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn conversation_files_are_read_once_up_to_limit() {
    const LARGE: usize = 60 << 20;
    let picture =
        |id: &str| json!({"content_type": "image_asset_pointer", "asset_pointer": format!("sediment://{id}")});
    let large: Vec<String> = (0..6).map(|n| format!("file_0000000{n}")).collect();
    let mut shows = valid_conversation("shows");
    // The chat names the first image five times; counted each time, it would leave no room for the others.
    let named = (0..5).map(|_| &large[0]).chain(&large[1..]);
    shows["mapping"]["q"]["message"]["content"] =
        json!({"content_type": "multimodal_text", "parts": named.map(|id| picture(id)).collect::<Vec<_>>()});
    let chats = serde_json::to_vec(&[shows]).unwrap();
    let zeros = vec![0; LARGE];
    let names: Vec<String> = large.iter().map(|id| format!("{id}-sanitized.png")).collect();
    let mut files: Vec<(&str, &[u8])> = vec![("conversations.json", &chats)];
    files.extend(names.iter().map(|name| (name.as_str(), zeros.as_slice())));
    let archive = zip_files(&files);
    let instance = TestServer::new(crate::interchange::replies(1)).await;
    let preview = import_file(&instance, "files.zip", &archive, true).await;
    let report = import_file(&instance, "files.zip", &archive, false).await;
    assert_eq!(report.imported, 1, "{report:#?}");
    let beyond = issues_of_kind(&report, "lost").iter().filter(|text| text.contains("exceed 256 MiB")).count();
    assert_eq!(beyond, 2, "{:#?}", report.findings);
    assert_same(&preview, &report);
    assert_database_sound(&instance).await;
    instance.close().await;
}

/// A question with four files: two are texts, one cannot be kept, and one is missing.
fn with_files(id: &str) -> Vec<u8> {
    let mut shows = valid_conversation(id);
    let of = |id: &str, name: &str| json!({"id": id, "name": name});
    shows["mapping"]["q"]["message"]["metadata"]["attachments"] =
        json!([of("file-A", "a.md"), of("file-B", "b.md"), of("file-C", "c.bin"), of("file-D", "d.md")]);
    let chats = serde_json::to_vec(&[shows]).unwrap();
    let files: [(&str, &[u8]); 4] = [
        ("conversations.json", &chats),
        ("file-A-a.md", b"# A"),
        ("file-B-b.md", b"# B"),
        ("file-C-c.bin", b"\x7fELF"),
    ];
    zip_files(&files)
}

async fn count(instance: &TestServer, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
    match &instance.db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
    }
}

#[tokio::test]
async fn chat_documents_are_imported_with_it_or_not_at_all_and_never_twice() {
    let archive = with_files("shows");
    for instance in test_servers().await {
        let preview = import_file(&instance, "look.zip", &archive, true).await;
        assert_eq!((count(&instance, "documents").await, count(&instance, "uploads").await), (0, 0));
        // The chat cannot be stored, as if the server had been killed before the import ended.
        instance.sql(if matches!(instance.db, Db::Sqlite { .. }) { SQLITE_FAILS } else { POSTGRES_FAILS }).await;
        let file = instance.dir.path().join("fails.zip");
        std::fs::write(&file, &archive).unwrap();
        let import = ImportRequest {
            owner: instance.owner,
            file,
            name: "fails.zip".into(),
            format: None,
            options: Default::default(),
            dry_run: false,
        };
        instance.service.import(import, &mut |_| true).await.unwrap_err();
        assert_eq!((count(&instance, "documents").await, count(&instance, "chats").await), (0, 0));
        instance.sql(if matches!(instance.db, Db::Sqlite { .. }) { SQLITE_MENDED } else { POSTGRES_MENDED }).await;
        let report = import_file(&instance, "look.zip", &archive, false).await;
        assert_same(&preview, &report);
        assert_eq!((report.imported, report.files, count(&instance, "documents").await), (1, 2, 2), "{report:#?}");
        let lost = issues_of_kind(&report, "lost");
        assert!(lost.iter().any(|text| text.contains("such a file")), "{lost:?}");
        assert_database_sound(&instance).await;
        // A chat that is deleted permanently leaves its documents behind; importing it again uses the same documents.
        let chat = report.chats[0].id.unwrap();
        let shown = chat_lines(&instance, chat).await;
        let deleted = instance.service.delete_chat(instance.owner, chat).await.unwrap();
        instance.service.purge_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        let report = import_file(&instance, "look.zip", &archive, false).await;
        assert_eq!((report.imported, report.chats[0].id), (1, Some(chat)));
        assert_eq!((count(&instance, "documents").await, chat_lines(&instance, chat).await), (2, shown));
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

const SQLITE_FAILS: &str = "CREATE TRIGGER fails BEFORE INSERT ON exchanges BEGIN SELECT RAISE(ABORT, 'no'); END";
const SQLITE_MENDED: &str = "DROP TRIGGER fails";
const POSTGRES_FAILS: &str = "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$; \
    CREATE TRIGGER fails BEFORE INSERT ON exchanges FOR EACH ROW EXECUTE FUNCTION fails()";
const POSTGRES_MENDED: &str = "DROP TRIGGER fails ON exchanges";

#[tokio::test]
async fn chat_continued_elsewhere_is_extended_and_keeps_local_changes() {
    let before = with_files("shows");
    for instance in test_servers().await {
        let chat = import_file(&instance, "a.zip", &before, false).await.chats[0].id.unwrap();
        let shown = chat_lines(&instance, chat).await;
        // The chat continued at the source: with another reply, with a question with a file, and with a reply to
        // that.
        let mut later = valid_conversation("shows");
        let attachments = |names: &[&str]| {
            let of = |name: &&str| json!({"id": format!("file-{name}"), "name": format!("{name}.md")});
            Value::Array(names.iter().map(of).collect())
        };
        later["mapping"]["q"]["message"]["metadata"]["attachments"] = attachments(&["A", "B"]);
        later["mapping"]["b"] = mapping_node("b", Some("q"), "assistant", "Hi, again");
        later["mapping"]["r"] = mapping_node("r", Some("a"), "user", "And?");
        later["mapping"]["r"]["message"]["metadata"]["attachments"] = attachments(&["E"]);
        later["mapping"]["s"] = mapping_node("s", Some("r"), "assistant", "So");
        let chats = serde_json::to_vec(&[later]).unwrap();
        let files: [(&str, &[u8]); 4] =
            [("conversations.json", &chats), ("file-A-A.md", b"# A"), ("file-B-B.md", b"# B"), ("file-E-E.md", b"# E")];
        let archive = zip_files(&files);
        let preview = import_file(&instance, "b.zip", &archive, true).await;
        assert_eq!(chat_lines(&instance, chat).await, shown);
        let report = import_file(&instance, "b.zip", &archive, false).await;
        assert_same(&preview, &report);
        assert_eq!((report.imported, report.known, report.turns, report.branches, report.files), (0, 1, 3, 1, 1));
        assert_eq!(count(&instance, "documents").await, 3);
        let grown = chat_lines(&instance, chat).await;
        assert_eq!(grown[..shown.len()], shown[..], "nothing that was here is another one");
        let has_line = |line: &str| grown.iter().any(|chat_line| chat_line.contains(line));
        assert!(
            has_line("5<1/1")
                && has_line("Hi, again")
                && has_line("3<2/0")
                && has_line("file E.md \"# E\"")
                && has_line("4<3/0"),
            "{grown:#?}"
        );
        assert_eq!(import_file(&instance, "b.zip", &archive, false).await.turns, 0);
        assert_database_sound(&instance).await;
        // A message below one that was deleted here is not imported, and this is reported.
        let all = turnleaf_store::turns::list_of_chat(&instance.db, instance.owner, chat, 0, 100).await.unwrap();
        instance.service.delete_turn(instance.owner, all[3].id).await.unwrap();
        let mut last: Value = serde_json::from_slice(&chats).unwrap();
        last[0]["mapping"]["t"] = mapping_node("t", Some("s"), "user", "Thanks");
        let report = import_file(&instance, "c.json", &serde_json::to_vec(&last).unwrap(), false).await;
        assert_eq!((report.known, report.turns), (1, 0));
        assert!(
            issues_of_kind(&report, "left_out")
                .iter()
                .any(|text| text.contains(": 1 message of the source could not be added to it")),
            "{report:#?}"
        );
        assert_database_sound(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn unknown_format_is_refused_by_name() {
    let api = TestApi::with_server(TestServer::new(crate::interchange::replies(1)).await);
    for from in ["", "telepathy"] {
        let request = Request::post(format!("/api/imports?from={from}")).header("host", "127.0.0.1:3000");
        let response = api.send(request.body(Body::from("[]")).unwrap()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{from:?}");
    }
}

#[tokio::test]
async fn key_mapping_is_used_for_messages_and_refused_otherwise() {
    let api = TestApi::with_server(TestServer::new(crate::interchange::replies(1)).await);
    let list = json!([{"who": {"kind": "human"}, "body": "Hello"}, {"who": {"kind": "gpt"}, "body": "Hi."}]);
    for (query, code) in [
        ("map=role%3Dwho.kind", "only_with"),
        ("from=claude&map=role%3Dwho.kind", "only_with"),
        ("from=messages&map=role", "invalid_key_mapping"),
        ("from=messages&map=mood%3Dwho.mood", "invalid_key_mapping"),
    ] {
        let (status, problem) = api.call("POST", &format!("/api/imports?{query}"), Some(list.clone())).await;
        let error = (&problem["field"], &problem["reason_code"]);
        assert_eq!((status, error), (StatusCode::UNPROCESSABLE_ENTITY, (&json!("map"), &json!(code))), "{problem}");
    }
    let path = "/api/imports?from=messages&name=log.json&map=role%3Dwho.kind,content%3Dbody";
    let (status, started) = api.call("POST", path, Some(list)).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{started}");
    let report = loop {
        let (_, job) = api.call("GET", &format!("/api/imports/{}", started["id"].as_str().unwrap()), None).await;
        if job["is_over"] == true {
            break job["report"].clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&report["imported"], &report["turns"], &report["lost"]), (&json!(1), &json!(2), &json!(0)), "{report}");
    api.instance.close().await;
}

#[tokio::test]
async fn file_being_uploaded_has_own_spool_and_leaves_nothing() {
    let mut instance = TestServer::new(crate::interchange::replies(1)).await;
    let folder = instance.dir.path().join("imports");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("left"), "by a server that was killed").unwrap();
    instance.service = instance.service.clone().with_imports(ImportJobs::in_folder(&folder).unwrap());
    let lying = || std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(lying(), 0);
    let api = TestApi::with_server(instance);
    let send = |body: Body| {
        let request = Request::post("/api/imports?name=a.json").header("host", "127.0.0.1:3000").body(body);
        api.send(request.unwrap())
    };
    let (mut pieces, body) = futures::channel::mpsc::channel(0);
    let arriving = send(Body::from_stream(body));
    let meanwhile = async {
        pieces.send(Ok("[")).await.unwrap();
        // The upload was accepted: its spool file exists. A second upload is refused before its body is read.
        pieces.send(Ok("{")).await.unwrap();
        assert_eq!(lying(), 1);
        let never = Body::from_stream(futures::stream::pending::<Result<&str, std::io::Error>>());
        assert_eq!(send(never).await.status(), StatusCode::CONFLICT);
        pieces.send(Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))).await.unwrap();
    };
    let (broken, ()) = tokio::join!(arriving, meanwhile);
    assert_eq!((broken.status(), lying()), (StatusCode::BAD_REQUEST, 0));
    let whole = serde_json::to_vec(&[valid_conversation("one")]).unwrap();
    assert_eq!(send(Body::from(whole.clone())).await.status(), StatusCode::ACCEPTED);
    let (service, owner) = (api.instance.service.clone(), api.instance.owner);
    let last = async |count: usize| {
        while service.import_jobs(owner).iter().any(|job| !job.is_over) {
            tokio::task::yield_now().await;
        }
        let jobs = service.import_jobs(owner);
        assert_eq!((jobs.len(), lying()), (count, 0));
        jobs.into_iter().next().unwrap().report
    };
    let report = last(1).await;
    assert_eq!((report.imported, report.stopped), (1, None));
    // During shutdown, an import ends at once.
    service.stop_imports();
    assert_eq!(send(Body::from(whole)).await.status(), StatusCode::ACCEPTED);
    assert_eq!(last(2).await.stopped.as_deref(), Some("it was stopped"));
    api.instance.close().await;
}
