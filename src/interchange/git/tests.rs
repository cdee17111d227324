//! Tests of repositories without git: the output is deterministic, and a pack matches its index.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

use super::object::CommitAuthor;
use super::*;
use crate::domain::fixtures;
use crate::domain::{Branch, Chat, ChatId, UserId};

/// Keeps files in memory.
#[derive(Default)]
struct MemorySink(BTreeMap<String, Vec<u8>>);

impl RepositorySink for MemorySink {
    fn write_file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        assert_eq!(bytes.len() as u64, length, "{path}");
        assert!(self.0.insert(path.to_owned(), bytes).is_none(), "{path} twice");
        Ok(())
    }

    fn create_folder(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

fn chat(title: &str) -> Chat {
    let (id, owner) = (ChatId::from_uuid(fixtures::uuid(1)), UserId::from_uuid(fixtures::uuid(2)));
    Chat { title: title.into(), rev: 1, ..Chat::new(id, owner, fixtures::time(0)) }
}

fn branch(turn: &Turn, name: &str) -> Branch {
    let branch = Branch::new(turn.branch_id, turn.chat_id, name, fixtures::lock(), fixtures::time(0));
    Branch { head_turn_id: Some(turn.id), ..branch }
}

fn write_repository(turns: &[Turn], title: &str, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut repository = Repository::new(Cursor::new(Vec::new()));
    let branches: Vec<Branch> = turns.last().map(|turn| branch(turn, name)).into_iter().collect();
    for branch in &branches {
        let locked = BranchManifest { lock: branch.lock.clone(), system_prompt: "Be brief.".into() };
        repository.add_branch(branch.id, &locked).unwrap();
    }
    for turn in turns {
        repository.add_turn(turn, true).unwrap();
    }
    let mut kept = MemorySink::default();
    let (exchanges, damaged) = (Vec::new(), Vec::new());
    let record = ChatRecord { chat: chat(title), imported_from: None, branches, exchanges, damaged };
    repository.write(&record, &mut kept).unwrap();
    kept.0
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

#[test]
fn same_turns_give_same_commits_under_any_name() {
    let turns = [fixtures::user_turn(1, "Hello\n\nthere"), fixtures::rich_reply(2)];
    let (one, other) = (write_repository(&turns, "A", "main"), write_repository(&turns, "Another title", "other name"));
    let head = |files: &BTreeMap<String, Vec<u8>>| {
        let refs = text(files, "packed-refs");
        refs.lines().nth(1).unwrap().split_once(' ').map(|(id, name)| (id.to_owned(), name.to_owned())).unwrap()
    };
    assert_eq!(head(&one).0, head(&other).0);
    assert_eq!((head(&one).1.as_str(), head(&other).1.as_str()), ("refs/heads/main", "refs/heads/other-name"));
    assert_eq!(
        (text(&one, "HEAD").as_str(), text(&other, "HEAD").as_str()),
        ("ref: refs/heads/main\n", "ref: refs/heads/other-name\n")
    );
    assert_eq!((text(&one, "description").as_str(), text(&other, "description").as_str()), ("A\n", "Another title\n"));
    let packs = |files: &BTreeMap<String, Vec<u8>>| {
        files
            .iter()
            .filter(|(name, _)| name.starts_with("objects/"))
            .map(|(n, b)| (n.clone(), b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(packs(&one), packs(&other), "names and titles lie beside the objects");
    assert_eq!(one, write_repository(&turns, "A", "main"));
}

#[test]
fn commit_has_author_times_and_message() {
    let mut reply = fixtures::failed_reply(2, crate::domain::FailureKind::ProviderOverloaded);
    reply.model_used = Some(" <b>model</b>\n. ".into());
    reply.provider_used = Some("Über Co.".into());
    reply.blocks.clear();
    assert_eq!(commit_message::author(&reply), CommitAuthor::new("bmodel/b", "ber-co", ""));
    let message = commit_message::message(&reply);
    assert!(
        message.starts_with(&format!("{}\n\nTurn: {}\n", reply.error.as_ref().unwrap().message, reply.id)),
        "{message}"
    );
    assert!(message.contains("Status: error\n") && message.contains("Model: <b>model</b>\n"), "{message}");
    let person = fixtures::user_turn(1, "# A heading\nmore");
    assert!(
        commit_message::message(&person).starts_with("A heading\n\nTurn: "),
        "{}",
        commit_message::message(&person)
    );
    let early = Commit {
        tree: ObjectId([0xab; 20]),
        parent: Some(ObjectId([1; 20])),
        author: &CommitAuthor::new("..", "", "Assistant"),
        written_at: chrono::DateTime::UNIX_EPOCH - chrono::TimeDelta::days(400),
        committed_at: fixtures::time(0),
        message: "a\0b",
    };
    let body = String::from_utf8(early.body()).unwrap();
    let wanted = format!(
        "tree {}\nparent {}\nauthor Assistant <unknown@turnleaf.invalid> 0 +0000\ncommitter Assistant \
         <unknown@turnleaf.invalid> 1767225600 +0000\n\nab",
        "ab".repeat(20),
        "01".repeat(20)
    );
    assert_eq!(body, wanted);
}

#[test]
fn object_ids_match_git() {
    // Expected values from `git hash-object` and `git mktree`.
    assert_eq!(ObjectId::hash_of(ObjectKind::Blob, b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    assert_eq!(
        ObjectId::hash_of(ObjectKind::Tree, &encode_tree(Vec::new())).to_string(),
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    );
    let entry = |name: &str, is_tree: bool| TreeEntry { name: name.into(), is_tree, id: ObjectId([0; 20]) };
    let sorted = encode_tree(vec![entry("a0", false), entry("a", true), entry("a.b", false)]);
    let names: Vec<&[u8]> = sorted.split(|byte| *byte == 0).filter(|part| part.contains(&b' ')).collect();
    assert_eq!(names, [&b"100644 a.b"[..], b"40000 a", b"100644 a0"]);
}

#[test]
fn chat_without_turns_has_head_and_no_objects() {
    let files = write_repository(&[], "", "");
    assert!(files.keys().all(|name| !name.starts_with("objects/")), "{files:?}");
    assert_eq!(text(&files, "HEAD"), "ref: refs/heads/main\n");
}
