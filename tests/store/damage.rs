//! Damaged rows: whatever stands in one row of any table, the server starts, the other chats are listed, read and
//! exported, and the checker names what cannot be read.

use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use turnleaf::domain::approval::Policy;
use turnleaf::domain::tool::ToolChoice;
use turnleaf::domain::{Block, ChatId, Content, Turn, TurnStatus, UserId};
use turnleaf::server::convert::PlainReader;
use turnleaf::server::outbound::demo::Demo;
use turnleaf::server::outbound::registry::Registry;
use turnleaf::server::platform::clock::{Clock, SystemClock};
use turnleaf::server::platform::ids;
use turnleaf::server::platform::sealing::Keyring;
use turnleaf::server::run::{Cursor, Pace, Supervisor};
use turnleaf::server::service::Service;
use turnleaf::server::service::documents::change::{NewDocument, Source};
use turnleaf::server::service::exports::Which;
use turnleaf::server::service::messages::MessageBlock;
use turnleaf::server::service::providers::Sealer;
use turnleaf::server::service::toolbox::Tools;
use turnleaf::server::service::turns::StartTurn;
use turnleaf::server::service::usage::{Grouping, Period};
use turnleaf::server::store::fsck::{self, While};
use turnleaf::server::store::readable::is_placeholder;
use turnleaf::server::store::tool_servers::{self, StoredToolServer, ToolServerSettings};
use turnleaf::server::store::{Db, StoreError, chat_tools, tool_listings, users};

use crate::actors::{id, now};
use crate::damages::{columns, damages, deep, reckless, statement};
use crate::databases::{empty_sqlite, fresh, noon};
use crate::story;

const WORDS: &str = "a message of the chat beside the damaged one";

/// A server as `turnleaf serve` starts it.
async fn start(db: &Db, dir: &Path) -> Result<(Service, UserId), String> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let text = |step: &'static str| move |error: StoreError| format!("{step}: {error}");
    let mut tx = db.begin().await.map_err(text("begin"))?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await.map_err(text("owner"))?;
    tx.commit().await.map_err(text("owner"))?;
    let sealer = Sealer::new(Keyring::open(None, dir).map_err(|error| error.to_string())?);
    let registry = Arc::new(Registry::new(Vec::new(), None, Vec::new(), Demo::new(0.0)));
    let tools = Tools::new(db.clone(), Vec::new(), Arc::new(PlainReader));
    let supervisor = Supervisor::new(db.clone(), registry, Arc::new(tools.clone()), clock, true, Pace::default());
    supervisor.sweep().await.map_err(text("sweep"))?;
    let service = Service::new(supervisor.clone(), owner, sealer).with_tools(tools);
    service.settle_grafts().await.map_err(text("grafts"))?;
    service.load_providers(owner).await.map_err(|error| format!("providers: {error}"))?;
    service.load_tools(owner).await.map_err(|error| format!("tools: {error}"))?;
    supervisor.resume().await.map_err(text("resume"))?;
    Ok((service, owner))
}

/// Sends a message into a new chat and waits for the reply of the demo model.
async fn say(service: &Service, owner: UserId, words: &str) -> ChatId {
    let message = StartTurn { content: vec![MessageBlock::Text { text: words.into() }], ..StartTurn::default() };
    let started = service.start_turn(owner, message).await.unwrap();
    let reply = started.assistant_turn.id;
    let followed = service.supervisor().follow(owner, reply, Cursor::After(0)).await.unwrap().unwrap();
    followed.for_each(|next| async { drop(next.unwrap()) }).await;
    started.user_turn.chat_id
}

/// A database with one of everything, and a chat beside it all.
async fn furnish(db: &Db, dir: &Path) -> ChatId {
    story::begin(db).await;
    let (service, owner) = start(db, dir).await.unwrap();
    let trashed = say(&service, owner, "a chat for Trash").await;
    let document = NewDocument {
        title: Some("Plan".into()),
        kind: Some("text/markdown".into()),
        source: Source::Text("# Plan".into()),
        client_request_id: None,
    };
    service.create_document(owner, document).await.unwrap();
    service.set_tool_policy(owner, "", "calculator", None, Policy::Never).await.unwrap();
    let server = StoredToolServer {
        id: id(),
        owner_id: owner,
        slug: "files".into(),
        name: "Files".into(),
        url: "http://127.0.0.1:9/mcp".into(),
        sealed_headers: None,
        settings: ToolServerSettings::default(),
        is_enabled: false,
        created_at: now(),
        updated_at: now(),
    };
    let beside = say(&service, owner, WORDS).await;
    let mut tx = db.begin().await.unwrap();
    tool_servers::insert(&mut tx, &server).await.unwrap();
    tool_listings::put(&mut tx, owner, "files", &[], now()).await.unwrap();
    chat_tools::put(&mut tx, owner, trashed, &ToolChoice::default()).await.unwrap();
    tx.commit().await.unwrap();
    service.delete_chat(owner, trashed).await.unwrap();
    service.supervisor().toolbox().shut_down().await;
    beside
}

/// What a person sees of the server, after it was started.
async fn look(db: &Db, dir: &Path, beside: ChatId) -> Result<(), String> {
    let (service, owner) = start(db, dir).await?;
    let text = |step: &'static str| move |error| format!("{step}: {error}");
    let listed = service.list_chats(owner, 100).await.map_err(text("list"))?;
    if !listed.iter().any(|chat| chat.id == beside) {
        return Err("list: the other chat is missing".into());
    }
    service.newest_chats(owner, 100).await.map_err(text("newest"))?;
    service.pinned_chats(owner).await.map_err(text("pinned"))?;
    service.trash(owner, None, 100).await.map_err(text("trash"))?;
    service.documents(owner, None, None, 100).await.map_err(text("documents"))?;
    service.providers(owner).await.map_err(text("providers"))?;
    service.tool_servers(owner).await.map_err(text("tool servers"))?;
    service.tool_policies(owner).await.map_err(text("policies"))?;
    service.models_in_use(owner).await.map_err(text("models"))?;
    let today = now().date_naive();
    let period = Period::new(None, None, today).unwrap();
    service.usage(owner, period, Grouping::Day).await.map_err(text("usage"))?;
    let path = service.path(owner, beside, None, 100).await.map_err(text("the other chat"))?;
    if path.turns.first().is_none_or(|turn| turn.content_text() != WORDS) {
        return Err("the other chat does not say what it said".into());
    }
    let (send, mut receive) = tokio::sync::mpsc::channel(4);
    let (exported, archive) = tokio::join!(
        async {
            let exported = service.export_archive(owner, Which::Everything, &send).await;
            drop(send);
            exported
        },
        async {
            let mut bytes = Vec::new();
            while let Some(some) = receive.recv().await {
                bytes.extend_from_slice(&some);
            }
            bytes
        }
    );
    exported.map_err(text("export"))?;
    let archive: Value = serde_json::from_slice(&archive).map_err(|error| format!("export: {error}"))?;
    if !archive["chats"].as_array().is_some_and(|chats| chats.iter().any(|chat| chat.to_string().contains(WORDS))) {
        return Err("export: the other chat is missing".into());
    }
    service.supervisor().tidy().await.map_err(|error| format!("housekeeping: {error}"))?;
    service.supervisor().toolbox().shut_down().await;
    fsck::check(db, While::Serving).await.map_err(|error| format!("fsck: {error}"))?;
    Ok(())
}

async fn every_damage_of(part: usize, parts: usize) {
    let whole = empty_sqlite().await;
    whole.db.migrate(None, noon()).await.unwrap();
    let beside = furnish(&whole.db, whole.dir.path()).await;
    let file = whole.db.path().unwrap().to_owned();
    whole.db.close().await;
    let pool = reckless(&file).await;
    let tables = columns(&pool).await;
    pool.close().await;
    let mut failures = Vec::new();
    let (mut tried, mut empty) = (0, Vec::new());
    for (table, columns) in tables.iter().skip(part).step_by(parts) {
        for (column, damage) in
            columns.iter().flat_map(|(name, kind)| damages(kind).into_iter().map(move |d| (name, d)))
        {
            let dir = tempfile::tempdir().unwrap();
            std::fs::copy(whole.dir.path().join("secret.key"), dir.path().join("secret.key")).unwrap();
            let copy = dir.path().join("turnleaf.db");
            std::fs::copy(&file, &copy).unwrap();
            let pool = reckless(&copy).await;
            let done = sqlx::query(AssertSqlSafe(statement(table, column, &damage))).execute(&pool).await;
            pool.close().await;
            match done {
                Ok(done) if done.rows_affected() == 0 => empty.push(format!("{table}.{column}")),
                // A generated column, or a row that is unique by it.
                Err(_) => {}
                Ok(_) => {
                    tried += 1;
                    let db = Db::open(&format!("sqlite://{}", copy.display())).await.unwrap();
                    if let Err(failure) = look(&db, dir.path(), beside).await {
                        failures.push(format!("{table}.{column} = {}: {failure}", &damage[..damage.len().min(40)]));
                    }
                    db.close().await;
                }
            }
        }
    }
    eprintln!("{tried} damages; without a value: {empty:?}");
    assert!(tried > 40, "{tried}");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn a_damaged_row_stops_nothing_else_first_part() {
    every_damage_of(0, 4).await;
}

#[tokio::test]
async fn a_damaged_row_stops_nothing_else_second_part() {
    every_damage_of(1, 4).await;
}

#[tokio::test]
async fn a_damaged_row_stops_nothing_else_third_part() {
    every_damage_of(2, 4).await;
}

#[tokio::test]
async fn a_damaged_row_stops_nothing_else_fourth_part() {
    every_damage_of(3, 4).await;
}

async fn sql(db: &Db, text: String) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
    }
}

async fn reply_of(service: &Service, owner: UserId, chat: ChatId) -> Turn {
    service.path(owner, chat, None, 100).await.unwrap().turns.pop().unwrap()
}

/// The turn that was stored so deep, by an earlier version, that nothing could read it.
#[tokio::test]
async fn a_block_nested_beyond_readers_is_shown_and_one_that_is_no_json_is_damaged() {
    for fresh in fresh().await {
        let beside = furnish(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start(&fresh.db, fresh.dir.path()).await.unwrap();
        let words =
            |turn: &Turn| turn.blocks.iter().map(|block| serde_json::to_string(block).unwrap()).collect::<String>();
        let before = reply_of(&service, owner, beside).await;
        let block = before.blocks.iter().find(|block| matches!(block.content, Content::Text { .. })).unwrap();
        let blob = if fresh.db.path().is_some() {
            format!("X'{}'", block.id.uuid().simple())
        } else {
            format!("'{}'", block.id)
        };
        let over = |content: &str| format!("UPDATE turn_blocks SET content = '{content}' WHERE id = {blob}");

        let call = |levels| {
            format!(
                r#"{{"type":"tool_result","tool_use_id":"x","tool_name":"t","result":{},"success":true,"is_error":false}}"#,
                deep(levels)
            )
        };
        sql(&fresh.db, over(&call(127))).await;
        let deeper = reply_of(&service, owner, beside).await;
        let read = deeper.blocks.iter().find(|read| read.id == block.id).unwrap();
        assert!(matches!(read.content, Content::ToolResult { .. }), "{read:?}");
        look(&fresh.db, fresh.dir.path(), beside).await.unwrap();

        sql(&fresh.db, over(r#"{"type":"text","text":["not","a","text"]}"#)).await;
        let other = reply_of(&service, owner, beside).await;
        assert_eq!(other.blocks.len(), before.blocks.len());
        assert!(words(&other).contains("not"), "what is stored is kept as it is");
        let findings = fsck::check(&fresh.db, While::Serving).await.unwrap();
        assert!(findings.iter().any(|finding| finding.id == block.id.to_string()), "{findings:#?}");
        assert_eq!(other.status, TurnStatus::Complete);
        fresh.close().await;
    }
}

/// A journal of a running reply with a line that cannot be read: the sweep ends the turn with what can be.
#[tokio::test]
async fn a_running_reply_with_a_damaged_journal_is_ended_with_what_can_be_read() {
    for fresh in fresh().await {
        let beside = furnish(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start(&fresh.db, fresh.dir.path()).await.unwrap();
        let before = reply_of(&service, owner, beside).await;
        let is_file = fresh.db.path().is_some();
        let turn = if is_file { format!("X'{}'", before.id.uuid().simple()) } else { format!("'{}'", before.id) };
        // As a kill leaves it: the end is missing, and a line in the middle is damaged.
        for text in [
            format!("DELETE FROM turn_events WHERE turn_id = {turn} AND event LIKE '{{\"type\":\"turn_end\"%'"),
            format!(
                "UPDATE turn_events SET event = '{}' WHERE turn_id = {turn} AND event LIKE '{{\"type\":\"block_start\"%'",
                deep(127)
            ),
            format!("UPDATE turns SET status = 'streaming', completed_at = NULL WHERE id = {turn}"),
        ] {
            sql(&fresh.db, text).await;
        }
        look(&fresh.db, fresh.dir.path(), beside).await.unwrap();
        let (service, owner) = start(&fresh.db, fresh.dir.path()).await.unwrap();
        let ended = reply_of(&service, owner, beside).await;
        assert_eq!(ended.status, TurnStatus::Error);
        assert_eq!(ended.content_text(), before.content_text(), "the rows have what the journal lost");
        assert!(ended.blocks.iter().any(|block: &Block| is_placeholder(&block.content)), "it says that it is damaged");
        // And its chat goes on.
        let message = StartTurn {
            chat_id: Some(beside),
            content: vec![MessageBlock::Text { text: "and now?".into() }],
            ..StartTurn::default()
        };
        let started = service.start_turn(owner, message).await.unwrap();
        let reply = started.assistant_turn.id;
        let followed = service.supervisor().follow(owner, reply, Cursor::After(0)).await.unwrap().unwrap();
        followed.for_each(|next| async { drop(next.unwrap()) }).await;
        assert_eq!(service.turn(owner, reply).await.unwrap().status, TurnStatus::Complete);
        fresh.close().await;
    }
}
