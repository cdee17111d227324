//! Tests that an exported repository is imported as an equal chat, and that damaged and hostile ones are refused.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use super::*;
use crate::archive::{ArchiveItem, ArchivedBranch, ArchivedChat, ChatPart};
use crate::chat_builder::{BuildContext, build_chat};
use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::{ModelLock, UserId, fixtures};
use crate::git::{BranchManifest, ChatRecord, Repository, RepositorySink, ZipSink};
use crate::input::Seekable;
use crate::{ImportFormat, detect};

/// The files of a repository in memory.
#[derive(Default, Clone)]
struct MemoryFiles(BTreeMap<String, Vec<u8>>);

impl RepositorySink for MemoryFiles {
    fn write_file(&mut self, path: &str, _: u64, content: &mut dyn Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        self.0.insert(path.to_owned(), bytes);
        Ok(())
    }

    fn create_folder(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

impl RepositoryFiles for MemoryFiles {
    fn open(&mut self, path: &str, _: &mut dyn ImportSink) -> Result<Option<Box<dyn Seekable>>, ImportError> {
        Ok(self.0.get(path).map(|bytes| Box::new(Cursor::new(bytes.clone())) as Box<dyn Seekable>))
    }

    fn names(&mut self, folder: &str) -> Result<Vec<String>, ImportError> {
        let below = format!("{folder}/");
        let names = self.0.keys().filter_map(|path| path.strip_prefix(&below));
        let mut names: Vec<String> = names
            .map(|rest| rest.split_once('/').map_or_else(|| rest.to_owned(), |(folder, _)| format!("{folder}/")))
            .collect();
        names.dedup();
        Ok(names)
    }
}

/// Collects the items that an import yields.
#[derive(Default)]
struct ImportedRepository {
    chat: Option<ArchivedChat>,
    blobs: Vec<ArchivedBlob>,
    issues: Vec<String>,
}

impl ImportSink for ImportedRepository {
    fn take_conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        unreachable!("a repository has a chat")
    }

    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        match item {
            ArchiveItem::Blob(blob) => self.blobs.push(blob),
            ArchiveItem::Document(_) | ArchiveItem::Project(_) => {
                unreachable!("a repository has no documents and no projects")
            }
            ArchiveItem::Chat(mut spooled) => {
                let (turns, generations) = (Vec::new(), Vec::new());
                let mut chat = ArchivedChat {
                    chat: spooled.chat.clone(),
                    imported_from: spooled.imported_from.take(),
                    turns,
                    generations,
                    exchanges: Vec::new(),
                    branches: Vec::new(),
                };
                loop {
                    let parts = spooled.next_parts().unwrap();
                    if parts.is_empty() {
                        break;
                    }
                    for part in parts {
                        match part {
                            ChatPart::Branch(branch) => chat.branches.push(*branch),
                            ChatPart::Exchange(exchange) => chat.exchanges.push(*exchange),
                            ChatPart::Turn(turn) => chat.turns.push(*turn),
                            ChatPart::Generation(_) => unreachable!("a repository has no responses"),
                        }
                    }
                }
                self.chat = Some(chat);
            }
        }
        ControlFlow::Continue(())
    }

    fn default_lock(&self) -> ModelLock {
        ModelLock::new("mine", "default")
    }

    fn default_model(&self, provider: &str) -> Option<String> {
        (provider == "other").then(|| "usual".to_owned())
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        self.issues.push(format!("{}: {}", finding.location, finding.text));
        ControlFlow::Continue(())
    }
}

fn import(files: &MemoryFiles) -> (ImportedRepository, Result<(), ImportError>) {
    let mut heard = ImportedRepository::default();
    let read = read_repository(&mut files.clone(), &mut heard);
    (heard, read)
}

fn imported_chat(files: &MemoryFiles) -> ArchivedChat {
    let (heard, read) = import(files);
    read.unwrap();
    heard.chat.unwrap_or_else(|| panic!("{:?}", heard.issues))
}

/// The place of the branch manifests in an exported repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manifests {
    InCommits,
    Absent,
}

fn export_to(chat: &ArchivedChat, manifests: Manifests, to: &mut dyn RepositorySink) {
    let mut repository = Repository::new(Cursor::new(Vec::new()));
    for ArchivedBranch { branch, system_prompt, .. } in &chat.branches {
        if manifests == Manifests::InCommits {
            let manifest = BranchManifest { lock: branch.lock.clone(), system_prompt: system_prompt.clone() };
            repository.add_branch(branch.id, &manifest).unwrap();
        }
    }
    for turn in &chat.turns {
        let exchange = chat.exchanges.iter().find(|exchange| exchange.id == turn.exchange_id).unwrap();
        repository.add_turn(turn, exchange.is_thinking_mode).unwrap();
    }
    let record = ChatRecord {
        chat: chat.chat.clone(),
        imported_from: chat.imported_from.clone(),
        branches: chat.branches.iter().map(|of| of.branch.clone()).collect(),
        exchanges: chat.exchanges.clone(),
        damaged: Vec::new(),
    };
    repository.write(&record, to).unwrap();
}

fn export(chat: &ArchivedChat, manifests: Manifests) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    export_to(chat, manifests, &mut files);
    files
}

fn id(key: &str) -> Uuid {
    // A hash of the words suffices, as long as different words yield different ids.
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in key.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    Uuid::from_u128(hash)
}

fn message(number: usize, parent: Option<usize>, role: Role, model: &str, bodies: Vec<PieceBody>) -> ImportedMessage {
    let author = if role == Role::User { Author::User } else { Author::Assistant };
    ImportedMessage {
        source_id: format!("m{number}"),
        parent,
        role,
        provider: (role == Role::Assistant).then(|| "openai".to_owned()),
        model: (role == Role::Assistant).then(|| model.to_owned()),
        created_at: Some(fixtures::time(60 * number as i64)),
        ended_at: Some(fixtures::time(60 * number as i64 + 7)),
        ending: if number % 5 == 4 { MessageEnding::Cancelled } else { MessageEnding::Complete },
        parts: Vec::new(),
        pieces: bodies.into_iter().map(|body| MessagePiece { author, created_at: None, body }).collect(),
        usage: Default::default(),
        is_thinking_mode: number.is_multiple_of(3).then_some(true),
    }
}

/// Builds a chat as a repository can have it: without responses and with the owner that an import sees.
fn built_chat(messages: Vec<ImportedMessage>) -> ArchivedChat {
    let conversation = Conversation {
        source_id: "c".into(),
        title: "A chat".into(),
        system_prompt: "Be brief.".into(),
        messages,
        ..Conversation::default()
    };
    let owner = UserId::from_uuid(Uuid::nil());
    let context =
        BuildContext { owner, now: fixtures::time(10_000), id: &id, provider: "openai", files: Default::default() };
    let mut chat = build_chat(&conversation, &context, &mut |_| ());
    chat.generations.clear();
    for block in chat.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        block.generation_id = None;
    }
    chat.exchanges.iter_mut().for_each(|exchange| exchange.client_request_id = None);
    chat.branches.iter_mut().for_each(|branch| branch.tools = None);
    chat
}

fn branched_chat() -> ArchivedChat {
    let text = |text: &str| vec![PieceBody::Text(text.to_owned())];
    let thought = PieceBody::Thinking { text: "Hm.".into(), title: Some("Plan".into()), duration_ms: Some(12_000) };
    built_chat(vec![
        message(0, None, Role::User, "", text("Hello")),
        message(1, Some(0), Role::Assistant, "a", vec![thought, PieceBody::Text("Hi.".into())]),
        message(2, Some(0), Role::Assistant, "b", text("Good day.")),
        message(3, Some(2), Role::User, "", text("And now?")),
        message(4, Some(3), Role::Assistant, "b", text("Now")),
    ])
}

/// Sorts the rows that an archive may have in any order.
fn sorted(mut chat: ArchivedChat) -> ArchivedChat {
    chat.exchanges.sort_by_key(|exchange| exchange.id.uuid());
    chat.branches.sort_by_key(|of| of.branch.id.uuid());
    chat
}

prop_compose! {
    fn any_messages()(rows in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, any::<bool>(), "[a\\x00é ]{0,3}"), 1..14))
        -> Vec<ImportedMessage> {
        let rows = rows.into_iter().enumerate();
        rows.map(|(number, (parent, kind, is_second_model, text))| {
            let parent = (number > 0).then(|| parent.index(number));
            let role = if kind == 0 { Role::User } else { Role::Assistant };
            let thinking = PieceBody::Thinking { text: text.clone(), title: None, duration_ms: Some(3) };
            let mut bodies = vec![PieceBody::Text(text)];
            if kind == 2 {
                bodies.insert(0, thinking);
            }
            message(number, parent, role, if is_second_model { "b" } else { "a" }, bodies)
        })
        .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn exported_chat_is_imported_as_equal_chat(messages in any_messages()) {
        let chat = built_chat(messages);
        prop_assert_eq!(sorted(imported_chat(&export(&chat, Manifests::InCommits))), sorted(chat));
    }

    #[test]
    fn clone_without_metadata_has_turns_locks_and_forks(messages in any_messages()) {
        let chat = sorted(built_chat(messages));
        let mut files = export(&chat, Manifests::InCommits);
        files.0.retain(|path, _| ![METADATA_FILE, LOCKS_FILE, "description"].contains(&path.as_str()));
        let imported = sorted(imported_chat(&files));
        prop_assert_eq!(&imported.turns, &chat.turns);
        let structure = |chat: &ArchivedChat| -> Vec<_> {
            let row = |of: &ArchivedBranch| {
                let branch = of.branch.clone();
                (branch.id, branch.lock, branch.fork_turn_id, branch.head_turn_id, of.system_prompt.clone())
            };
            chat.branches.iter().map(row).collect()
        };
        prop_assert_eq!(structure(&imported), structure(&chat));
        let pairs = |chat: &ArchivedChat| -> Vec<_> {
            chat.exchanges.iter().map(|exchange| (exchange.id, exchange.user_turn_id)).collect()
        };
        prop_assert_eq!(pairs(&imported), pairs(&chat));
    }

    #[test]
    fn damaged_repository_never_panics(messages in any_messages(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut files = export(&built_chat(messages), Manifests::InCommits);
        let path = files.0.keys().nth(at.index(files.0.len())).unwrap().clone();
        let bytes = files.0.get_mut(&path).unwrap();
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = import(&files);
        let bytes = files.0.get_mut(&path).unwrap();
        bytes.truncate(at.index(bytes.len() + 1));
        let _ = import(&files);
    }
}

#[test]
fn locks_come_from_lock_file_and_else_from_defaults() {
    let chat = branched_chat();
    let mut files = export(&chat, Manifests::Absent);
    files.0.remove(METADATA_FILE);
    let locks = |chat: &ArchivedChat| {
        let mut locks: Vec<_> = chat.branches.iter().map(|of| (of.branch.id.uuid(), of.branch.lock.clone())).collect();
        locks.sort();
        locks
    };
    assert_eq!(locks(&imported_chat(&files)), locks(&chat), "{LOCKS_FILE}");
    files.0.remove(LOCKS_FILE);
    let (heard, read) = import(&files);
    read.unwrap();
    let imported = heard.chat.unwrap();
    assert!(imported.branches.iter().all(|of| of.branch.lock == ModelLock::new("mine", "default")));
    assert_eq!(heard.issues.len(), chat.branches.len(), "{:?}", heard.issues);
    assert!(heard.issues[0].contains("does not name the provider and model"), "{:?}", heard.issues);
    assert_eq!(imported.chat.title, "A chat", "git's description has the title");
    files.0.insert("description".into(), b"Unnamed repository; edit this file\n".to_vec());
    assert_eq!(imported_chat(&files).chat.title, "Hello");
}

#[test]
fn lock_without_model_keeps_its_provider_with_the_default_model() {
    let chat = branched_chat();
    let mut files = export(&chat, Manifests::Absent);
    files.0.remove(METADATA_FILE);
    let entries = |provider: &str| {
        let stored: Value = serde_json::from_slice(&export(&chat, Manifests::Absent).0[LOCKS_FILE]).unwrap();
        let names = stored.as_object().unwrap().keys();
        let locks: serde_json::Map<_, _> =
            names.map(|name| (name.clone(), serde_json::json!({"provider": provider}))).collect();
        serde_json::to_vec(&locks).unwrap()
    };
    for (provider, lock, words) in [
        ("other", ModelLock::new("other", "usual"), "does not name the model"),
        ("elsewhere", ModelLock::new("mine", "default"), "does not name the provider and model"),
    ] {
        files.0.insert(LOCKS_FILE.into(), entries(provider));
        let (heard, read) = import(&files);
        read.unwrap();
        let imported = heard.chat.unwrap();
        assert!(imported.branches.iter().all(|of| of.branch.lock == lock), "{provider}");
        assert_eq!(heard.issues.len(), chat.branches.len(), "{:?}", heard.issues);
        assert!(heard.issues.iter().all(|issue| issue.contains(words)), "{:?}", heard.issues);
    }
}

#[test]
fn older_metadata_gives_names_and_locks() {
    let chat = branched_chat();
    let mut files = export(&chat, Manifests::InCommits);
    let mut metadata: Value = serde_json::from_slice(&files.0[METADATA_FILE]).unwrap();
    metadata.as_object_mut().unwrap().remove("exchanges");
    let row = |value: &Value, names: &[&str]| -> Value {
        names.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect::<serde_json::Map<_, _>>().into()
    };
    metadata["chat"] = row(&metadata["chat"], &["id", "title", "created_at", "updated_at"]);
    for branch in metadata["branches"].as_object_mut().unwrap().values_mut() {
        *branch = row(branch, &["provider", "model", "name", "label", "id"]);
    }
    files.0.insert(METADATA_FILE.into(), serde_json::to_vec(&metadata).unwrap());
    let imported = sorted(imported_chat(&files));
    let chat = sorted(chat);
    assert_eq!((&imported.turns, &imported.chat.title), (&chat.turns, &chat.chat.title));
    let named = |chat: &ArchivedChat| -> Vec<_> {
        chat.branches.iter().map(|of| (of.branch.name.clone(), of.branch.lock.clone())).collect()
    };
    assert_eq!(named(&imported), named(&chat));
    let modes = imported.exchanges.iter().filter(|exchange| exchange.is_thinking_mode).count();
    assert_eq!(modes, 1, "the mode of a reply with reasoning is inferred");
}

#[test]
fn zip_is_detected_and_imported() {
    let chat = branched_chat();
    let mut zip = ZipSink::new(Vec::new(), "A-chat.git");
    export_to(&chat, Manifests::InCommits, &mut zip);
    let bytes = zip.finish().unwrap();
    let mut input = Input::open("A-chat.git.zip", Box::new(Cursor::new(bytes))).unwrap();
    assert_eq!(detect(&mut input).unwrap(), Some(ImportFormat::Git));
    let mut heard = ImportedRepository::default();
    crate::read(ImportFormat::Git, &mut input, &mut heard).unwrap();
    assert_eq!(sorted(heard.chat.unwrap()), sorted(chat));
}

/// Writes an object as a loose file.
fn add_loose(files: &mut MemoryFiles, kind: &str, body: &[u8]) -> String {
    let kinds = [("commit", crate::git::object::ObjectKind::Commit), ("tree", crate::git::object::ObjectKind::Tree)];
    let id = ObjectId::hash_of(kinds.into_iter().find(|(name, _)| *name == kind).unwrap().1, body).to_string();
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(format!("{kind} {}\0", body.len()).as_bytes()).unwrap();
    deflate.write_all(body).unwrap();
    files.0.insert(format!("objects/{}/{}", &id[..2], &id[2..]), deflate.finish().unwrap());
    id
}

#[test]
fn commit_of_person_on_top_and_loose_refs_are_followed() {
    let chat = branched_chat();
    let mut files = export(&chat, Manifests::InCommits);
    let packed = String::from_utf8(files.0["packed-refs"].clone()).unwrap();
    let (head, name) = packed.lines().nth(1).unwrap().split_once(' ').unwrap();
    let tree = add_loose(&mut files, "tree", b"");
    let text = format!("tree {tree}\nparent {head}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nNotes\n");
    let commit = add_loose(&mut files, "commit", text.as_bytes());
    files.0.insert(name.to_owned(), format!("{commit}\n").into_bytes());
    assert_eq!(sorted(imported_chat(&files)), sorted(chat));
}

#[test]
fn shallow_repository_is_imported_from_its_first_commits() {
    let chat = branched_chat();
    let mut files = export(&chat, Manifests::InCommits);
    let packed = String::from_utf8(files.0["packed-refs"].clone()).unwrap();
    let absent = "11".repeat(20);
    let tree = add_loose(&mut files, "tree", b"");
    let text = format!("tree {tree}\nparent {absent}\nauthor A <a@b> 0 +0000\n\nx\n");
    let commit = add_loose(&mut files, "commit", text.as_bytes());
    files.0.insert("packed-refs".into(), format!("{packed}{commit} refs/heads/zz\n").into_bytes());
    let (heard, read) = import(&files);
    read.unwrap();
    assert_eq!(heard.chat.unwrap().turns, chat.turns);
    assert!(heard.issues.iter().any(|issue| issue.contains("shallow clone")), "{:?}", heard.issues);
}

#[test]
fn what_is_no_exported_repository_is_refused_with_reason() {
    let chat = branched_chat();
    let whole = export(&chat, Manifests::InCommits);
    let changed = |path: &str, bytes: &[u8]| {
        let mut files = whole.clone();
        files.0.insert(path.to_owned(), bytes.to_vec());
        import(&files).1.map_err(|error| error.to_string()).unwrap_err()
    };
    let unknown = format!("{} refs/heads/main\n", "22".repeat(20));
    let sha256 = format!("{} refs/heads/main\n", "22".repeat(32));
    for (path, bytes, words) in [
        ("packed-refs", unknown.as_bytes(), "is missing"),
        ("packed-refs", sha256.as_bytes(), "SHA-256"),
        ("reftable/tables.list", b"x", "reftable"),
        (METADATA_FILE, b"{\"version\": 2}", "newer version"),
    ] {
        let why = changed(path, bytes);
        assert!(why.contains(words), "{path}: {why}");
    }
    assert!(matches!(import(&MemoryFiles::default()).1, Err(ImportError::WrongFormat(_))));
    let mut unreadable = whole.clone();
    unreadable.0.insert(METADATA_FILE.into(), b"{".to_vec());
    let (heard, read) = import(&unreadable);
    read.unwrap();
    assert_eq!(heard.chat.unwrap().turns, chat.turns);
    assert!(heard.issues[0].starts_with(METADATA_FILE), "{:?}", heard.issues);
}

#[test]
fn stream_of_commits_is_detected_and_malformed_one_is_refused() {
    let read_stream = |text: &str| {
        let mut input = Input::open("stream", Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap();
        assert_eq!(detect(&mut input).unwrap(), Some(ImportFormat::Git), "{text}");
        let mut heard = ImportedRepository::default();
        let read = crate::read(ImportFormat::Git, &mut input, &mut heard);
        (heard.chat, read.map_err(|error| error.to_string()))
    };
    let turn = fixtures::user_turn(1, "Hello");
    let json = serde_json::to_string(&turn).unwrap();
    let lock = r#"{"provider": "demo", "model": "m"}"#;
    let good = format!(
        "blob\nmark :1\ndata {}\n{json}\nblob\nmark :2\ndata {}\n{lock}\nreset refs/heads/main\ncommit \
         refs/heads/main\nmark :3\nauthor U <u@x> 0 +0000\ncommitter U <u@x> 0 +0000\ndata 5\nHello\nM 100644 :2 \
         branch.json\nM 100644 :1 turns/00001-00100/00001-user/turn.json\n\ndone\n",
        json.len(),
        lock.len()
    );
    let (chat, read) = read_stream(&good);
    read.unwrap();
    let chat = chat.unwrap();
    assert_eq!(chat.turns, [turn]);
    assert_eq!(
        (chat.branches[0].branch.name.as_str(), &chat.branches[0].branch.lock),
        ("main", &ModelLock::new("demo", "m"))
    );
    for (text, words) in [
        (&good[..40], "ends too early"),
        ("blob\nmark :1\ndata 99999999999\nx", "ends too early"),
        ("blob\ndata <<END\nx\nEND\n", "without a length"),
        ("reset refs/heads/main\nfrom :7\n\n", "not a git repository that Turnleaf exported"),
    ] {
        let (_, read) = read_stream(text);
        assert!(read.as_ref().is_err_and(|why| why.contains(words)), "{text}: {read:?}");
    }
}
