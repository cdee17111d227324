//! What is in a repository, without git: the same input gives the same bytes, and a pack has what its index says.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

use super::object::Author;
use super::*;
use crate::domain::sample;
use crate::domain::{ChatId, Origin, UserId};

/// Keeps files in memory.
#[derive(Default)]
struct Kept(BTreeMap<String, Vec<u8>>);

impl Place for Kept {
    fn file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        assert_eq!(bytes.len() as u64, length, "{path}");
        assert!(self.0.insert(path.to_owned(), bytes).is_none(), "{path} twice");
        Ok(())
    }

    fn folder(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

fn chat(title: &str) -> Chat {
    let at = sample::time(0);
    Chat {
        id: ChatId::from_uuid(sample::uuid(1)),
        owner_id: UserId::from_uuid(sample::uuid(2)),
        title: title.into(),
        system_prompt: String::new(),
        settings: Default::default(),
        default_branch_id: None,
        last_viewed_turn_id: None,
        copied_from_turn_id: None,
        pinned_at: None,
        archived_at: None,
        rev: 1,
        created_at: at,
        updated_at: at,
    }
}

fn branch(turn: &Turn, name: &str) -> Branch {
    Branch {
        id: turn.branch_id,
        chat_id: turn.chat_id,
        name: name.into(),
        lock: sample::lock(),
        parent_branch_id: None,
        fork_turn_id: None,
        head_turn_id: Some(turn.id),
        origin: Origin::Root,
        label: None,
        pinned: false,
        policy: Default::default(),
        created_at: sample::time(0),
    }
}

fn written(turns: &[Turn], title: &str, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut repository = Repository::new(Cursor::new(Vec::new()));
    let branches: Vec<Branch> = turns.last().map(|turn| branch(turn, name)).into_iter().collect();
    for branch in &branches {
        let locked = Locked { lock: branch.lock.clone(), system_prompt: "Be brief.".into() };
        repository.branch(branch.id, &locked).unwrap();
    }
    for turn in turns {
        repository.turn(turn, true).unwrap();
    }
    let mut kept = Kept::default();
    repository.write(&chat(title), None, &branches, &[], &mut kept).unwrap();
    kept.0
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

#[test]
fn the_same_turns_are_the_same_commits_whatever_they_are_called() {
    let turns = [sample::user_turn(1, "Hello\n\nthere"), sample::rich_reply(2)];
    let (one, other) = (written(&turns, "A", "main"), written(&turns, "Another title", "other name"));
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
    assert_eq!(one, written(&turns, "A", "main"));
}

#[test]
fn a_commit_says_who_when_and_what() {
    let mut reply = sample::failed_reply(2, crate::domain::FailureKind::ProviderOverloaded);
    reply.model_used = Some(" <b>model</b>\n. ".into());
    reply.provider_used = Some("Über Co.".into());
    reply.blocks.clear();
    assert_eq!(said::author(&reply), Author::new("bmodel/b", "ber-co", ""));
    let message = said::message(&reply);
    assert!(
        message.starts_with(&format!("{}\n\nTurn: {}\n", reply.error.as_ref().unwrap().message, reply.id)),
        "{message}"
    );
    assert!(message.contains("Status: error\n") && message.contains("Model: <b>model</b>\n"), "{message}");
    let person = sample::user_turn(1, "# A heading\nmore");
    assert!(said::message(&person).starts_with("A heading\n\nTurn: "), "{}", said::message(&person));
    let early = Commit {
        tree: Id([0xab; 20]),
        parent: Some(Id([1; 20])),
        author: &Author::new("..", "", "Assistant"),
        written_at: chrono::DateTime::UNIX_EPOCH - chrono::TimeDelta::days(400),
        committed_at: sample::time(0),
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
fn ids_are_those_of_git() {
    // What `git hash-object` and `git mktree` say.
    assert_eq!(Id::of(Kind::Blob, b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    assert_eq!(Id::of(Kind::Tree, &tree(Vec::new())).to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    let entry = |name: &str, is_tree: bool| Entry { name: name.into(), is_tree, id: Id([0; 20]) };
    let sorted = tree(vec![entry("a0", false), entry("a", true), entry("a.b", false)]);
    let names: Vec<&[u8]> = sorted.split(|byte| *byte == 0).filter(|part| part.contains(&b' ')).collect();
    assert_eq!(names, [&b"100644 a.b"[..], b"40000 a", b"100644 a0"]);
}

#[test]
fn a_chat_without_turns_has_a_head_and_no_objects() {
    let files = written(&[], "", "");
    assert!(files.keys().all(|name| !name.starts_with("objects/")), "{files:?}");
    assert_eq!(text(&files, "HEAD"), "ref: refs/heads/main\n");
}
