//! Exports of damaged chats: whatever row of the tree cannot be read, everything else is exported, the export says what is
//! missing, and an import takes it.

use serde_json::Value;
use turnleaf::domain::export::Parts;
use turnleaf::domain::{ChatId, DifferenceKind, TurnId, UserId};
use turnleaf::server::http::exports::standalone;
use turnleaf::server::service::Service;
use turnleaf::server::service::exports::Which;
use turnleaf::server::service::imports::Import;
use turnleaf::server::service::messages::MessageBlock;
use turnleaf::server::service::turns::StartTurn;
use turnleaf::server::store::Db;
use turnleaf::server::store::fsck::{self, While};

use crate::damage::{drop_checks, say, sql, start};
use crate::databases::{Fresh, empty_sqlite, fresh, noon};

const WORDS: [&str; 4] = ["the first message", "the second message", "the third message", "the message of a fork"];

/// A chat of three exchanges and a fork that leaves the first reply.
struct Tree {
    chat: ChatId,
    /// Messages and replies of the first path, from the root.
    path: Vec<TurnId>,
    fork: Vec<TurnId>,
}

async fn tree(service: &Service, owner: UserId) -> Tree {
    let chat = say(service, owner, WORDS[0]).await;
    for words in &WORDS[1..3] {
        let content = vec![MessageBlock::Text { text: (*words).into() }];
        say_more(service, owner, StartTurn { chat_id: Some(chat), content, ..StartTurn::default() }).await;
    }
    let path: Vec<TurnId> =
        service.path(owner, chat, None, 100).await.unwrap().turns.iter().map(|turn| turn.id).collect();
    let mut fork = StartTurn { chat_id: Some(chat), ..StartTurn::default() };
    fork.content = vec![MessageBlock::Text { text: WORDS[3].into() }];
    fork.place.prev_turn_id = Some(path[1]);
    let fork = say_more(service, owner, fork).await;
    Tree { chat, path, fork }
}

async fn say_more(service: &Service, owner: UserId, message: StartTurn) -> Vec<TurnId> {
    let started = service.start_turn(owner, message).await.unwrap();
    crate::damage::end_of(service, owner, started.assistant_turn.id).await;
    vec![started.user_turn.id, started.assistant_turn.id]
}

async fn archive_of(service: &Service, owner: UserId, which: Which) -> (u64, Vec<u8>) {
    let (send, mut receive) = tokio::sync::mpsc::channel(4);
    let write = async {
        let damaged = service.export_archive(owner, which, &send).await.unwrap();
        drop(send);
        damaged
    };
    let read = async {
        let mut bytes = Vec::new();
        while let Some(some) = receive.recv().await {
            bytes.extend_from_slice(&some);
        }
        bytes
    };
    tokio::join!(write, read)
}

async fn repository_of(service: &Service, owner: UserId, chat: ChatId) -> Vec<u8> {
    let (send, mut receive) = tokio::sync::mpsc::channel::<bytes::Bytes>(4);
    let read = async {
        let mut bytes = Vec::new();
        while let Some(some) = receive.recv().await {
            bytes.extend_from_slice(&some);
        }
        bytes
    };
    let (written, bytes) = tokio::join!(service.export_git(owner, chat, send), read);
    written.unwrap();
    bytes
}

/// Every way in which a row of the tree is damaged, with statements that do it. Those that PostgreSQL's own types refuse
/// are for a file.
fn damages(db: &Db, tree: &Tree) -> Vec<(&'static str, String)> {
    let is_file = db.path().is_some();
    let literal = |id: TurnId| if is_file { format!("X'{}'", id.uuid().simple()) } else { format!("'{id}'") };
    let [root, reply, middle, middle_reply] = [0, 1, 2, 3].map(|at| literal(tree.path[at]));
    let (last, leaf, forked) = (literal(tree.path[4]), literal(tree.path[5]), literal(tree.fork[0]));
    let of = |column: &str, turn: &str| format!("(SELECT {column} FROM turns WHERE id = {turn})");
    let mut all = vec![
        ("exchange of the root", format!("UPDATE exchanges SET kind = 'none' WHERE id = {}", of("exchange_id", &root))),
        ("exchange in the middle", format!("DELETE FROM exchanges WHERE id = {}", of("exchange_id", &middle))),
        ("exchange of the fork", format!("DELETE FROM exchanges WHERE id = {}", of("exchange_id", &forked))),
        ("branch of the root", format!("UPDATE branches SET origin = 'none' WHERE id = {}", of("branch_id", &root))),
        ("branch of the root, gone", format!("DELETE FROM branches WHERE id = {}", of("branch_id", &root))),
        ("branch of the fork", format!("UPDATE branches SET policy = 'none' WHERE id = {}", of("branch_id", &forked))),
        ("branch of the fork, gone", format!("DELETE FROM branches WHERE id = {}", of("branch_id", &forked))),
        ("row of the root", format!("DELETE FROM turns WHERE id = {root}")),
        ("row of a reply", format!("DELETE FROM turns WHERE id = {reply}")),
        ("row of a message", format!("DELETE FROM turns WHERE id = {middle}")),
        ("rows in the middle", format!("DELETE FROM turns WHERE id IN ({middle}, {middle_reply})")),
        ("row of a leaf", format!("DELETE FROM turns WHERE id = {leaf}")),
        ("role of a message", format!("UPDATE turns SET role = 'none' WHERE id = {middle}")),
        ("status of a reply", format!("UPDATE turns SET status = 'none' WHERE id = {middle_reply}")),
        ("status of a message", format!("UPDATE turns SET status = 'none' WHERE id = {middle}")),
        ("depth in the middle", format!("UPDATE turns SET depth = 77 WHERE id = {middle}")),
        ("place in the middle", format!("UPDATE turns SET ord = 900 WHERE id = {middle}")),
        ("place of the root", format!("UPDATE turns SET ord = -3 WHERE id = {root}")),
        (
            "hangs elsewhere",
            format!("UPDATE turns SET prev_turn_id = {} WHERE id = {last}", literal(TurnId::from(tree.chat.uuid()))),
        ),
        ("a circle", format!("UPDATE turns SET prev_turn_id = {leaf} WHERE id = {root}")),
    ];
    if is_file {
        for (name, column, turn) in [
            ("id of the root", "id", &root),
            ("id of a reply", "id", &reply),
            ("chat of a message", "chat_id", &middle),
            ("branch of a message", "branch_id", &middle),
            ("branch of the root's turn", "branch_id", &root),
            ("exchange of a message", "exchange_id", &middle),
            ("predecessor of a message", "prev_turn_id", &middle),
            ("predecessor of a fork", "prev_turn_id", &forked),
        ] {
            all.push((name, format!("UPDATE turns SET {column} = randomblob(5) WHERE id = {turn}")));
        }
        let id_of_branch = "UPDATE branches SET id = randomblob(5) WHERE id = ";
        all.push(("id of a branch", format!("{id_of_branch}{}", of("branch_id", &forked))));
    }
    all
}

async fn reckless_sql(db: &Db, text: &str) {
    let whole = match db {
        Db::Sqlite { .. } => format!(
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {text}; \
             PRAGMA ignore_check_constraints = OFF; PRAGMA foreign_keys = ON"
        ),
        Db::Postgres { .. } => {
            format!("SET session_replication_role = replica; {text}; RESET session_replication_role")
        }
    };
    sql(db, whole).await;
}

#[tokio::test]
async fn what_hangs_on_damaged_rows_is_exported_named_and_imported() {
    for fresh in fresh().await {
        if let Db::Postgres { writer, .. } = &fresh.db {
            drop_checks(writer).await;
        }
        let (service, owner) = start(&fresh.db, fresh.dir.path()).await.unwrap();
        let sound = tree(&service, owner).await;
        let (damaged, bytes) = archive_of(&service, owner, Which::Everything).await;
        let archive: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((damaged, archive.get("damaged"), archive["chats"][0].get("damaged")), (0, None, None));
        let count = damages(&fresh.db, &sound).len();
        service.delete_chat(owner, sound.chat).await.unwrap();
        let mut failures = Vec::new();
        for at in 0..count {
            let tree = tree(&service, owner).await;
            let (name, text) = damages(&fresh.db, &tree).swap_remove(at);
            reckless_sql(&fresh.db, &text).await;
            if let Err(why) = comes_along(&service, owner, tree.chat).await {
                failures.push(format!("{name}: {why}"));
            }
        }
        service.supervisor().toolbox().shut_down().await;
        assert!(failures.is_empty(), "of {count}:\n{}", failures.join("\n"));
        fresh.close().await;
    }
}

/// Whether all that was said in a chat is in all of its exports, and comes in elsewhere.
async fn comes_along(service: &Service, owner: UserId, chat: ChatId) -> Result<(), String> {
    let (damaged, bytes) = archive_of(service, owner, Which::Chat(chat)).await;
    let archive: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let named = archive["chats"][0]["damaged"].as_array().cloned().unwrap_or_default();
    if named.is_empty() || named.len() as u64 != damaged {
        return Err(format!("{damaged} damages, named {named:?}"));
    }
    let whole = archive["chats"][0]["turns"].to_string();
    if let Some(lost) = WORDS.iter().find(|words| !whole.contains(*words)) {
        return Err(format!("the archive lost {lost:?}; named {named:?}"));
    }
    let replies = archive["chats"][0]["turns"].as_array().map_or(0, Vec::len);
    if replies < 8 {
        return Err(format!("{replies} turns in the archive"));
    }
    let all = Parts::default();
    let markdown =
        service.export_markdown(owner, chat, None, all).await.map_err(|error| format!("Markdown: {error}"))?;
    let page = standalone(service, String::new(), owner, chat, None, all).await;
    let page = page.map_err(|error| format!("HTML: {}", error.detail()))?;
    for (name, text) in [("Markdown", String::from_utf8_lossy(&markdown).into_owned()), ("HTML", page)] {
        // The path that is shown ends in the fork or on the first branch.
        if !text.contains(WORDS[0]) || !(text.contains(WORDS[2]) || text.contains(WORDS[3])) {
            return Err(format!("{name} lost words: {text}"));
        }
    }
    if repository_of(service, owner, chat).await.is_empty() {
        return Err("there is no repository".into());
    }
    let elsewhere = empty_sqlite().await;
    elsewhere.db.migrate(None, noon()).await.map_err(|error| error.to_string())?;
    let done = comes_in(&elsewhere, &bytes).await;
    elsewhere.close().await;
    done.map_err(|why| format!("{why}; named {named:?}"))
}

async fn comes_in(elsewhere: &Fresh, bytes: &[u8]) -> Result<(), String> {
    let (service, owner) = start(&elsewhere.db, elsewhere.dir.path()).await?;
    let file = elsewhere.dir.path().join("damaged.json");
    std::fs::write(&file, bytes).unwrap();
    let import = Import { owner, file, name: "damaged.json".into(), format: None, dry_run: false };
    let report = service.import(import, &mut |_| true).await.map_err(|error| error.to_string())?;
    if report.imported != 1 {
        return Err(format!("it was not imported: {:?}", report.findings));
    }
    let is_told = |text: &str| text.starts_with("it was damaged when it was exported");
    if !report.findings.iter().any(|one| one.kind != DifferenceKind::LeftOut && is_told(&one.text)) {
        return Err(format!("the import does not say it: {:?}", report.findings));
    }
    let id = report.chats[0].id.ok_or("no id")?;
    let kept = service.imported_from(owner, id).await.map_err(|error| error.to_string())?;
    if !kept.is_some_and(|kept| kept.differences.iter().any(|one| is_told(&one.text))) {
        return Err("the chat does not keep it".into());
    }
    let (_, again) = archive_of(&service, owner, Which::Everything).await;
    let again = String::from_utf8_lossy(&again).into_owned();
    if let Some(lost) = WORDS.iter().find(|words| !again.contains(*words)) {
        return Err(format!("{lost:?} did not come in"));
    }
    service.supervisor().toolbox().shut_down().await;
    let findings = fsck::check(&elsewhere.db, While::Stopped).await.map_err(|error| error.to_string())?;
    if findings.is_empty() { Ok(()) } else { Err(format!("{findings:#?}")) }
}
