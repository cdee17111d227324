//! Damaged rows: whatever value is damaged in one row of any table, the server starts, the other chats are listed,
//! read and exported, and `fsck` names what it cannot read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgPool};
use turnleaf::domain::tools::approval::ToolApprovalPolicy;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::{Block, ChatId, Content, Turn, TurnId, TurnStatus, UserId};
use turnleaf_convert::PlainReader;
use turnleaf_interchange::archive::{ArchivedChat, check_chat};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_platform::sealing::Keyring;
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_run::{EventCursor, FollowerItem, RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::documents::change::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::usage::{SpendingGrouping, UsagePeriod};
use turnleaf_store::accounts::users;
use turnleaf_store::chats::chat_tools;
use turnleaf_store::database::dialect;
use turnleaf_store::database::readable::is_placeholder;
use turnleaf_store::fsck::{self, CheckMode, repair};
use turnleaf_store::tools::listings;
use turnleaf_store::tools::tool_servers::{self, StoredToolServer, ToolServerSettings};
use turnleaf_store::{Db, StoreError};

use crate::damage_values::{RowDamage, damage_statement, damage_values, nested_json, open_unchecked, sqlite_columns};
use crate::damaged_readers;
use crate::databases::{TestDatabase, drop_postgres, empty_sqlite, migrated_postgres, noon, postgres, test_databases};
use crate::domain_fixtures::{next_id, next_time};
use crate::{seeded_rows, walkthrough};

const WORDS: &str = "a message of the chat beside the damaged one";

/// Starts a service as `turnleaf serve` does.
pub async fn start_service(db: &Db, dir: &Path) -> Result<(Service, UserId), String> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let text = |step: &'static str| move |error: StoreError| format!("{step}: {error}");
    let mut tx = db.begin().await.map_err(text("begin"))?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await.map_err(text("owner"))?;
    tx.commit().await.map_err(text("owner"))?;
    let sealer = Sealer::new(Keyring::open(None, dir).map_err(|error| error.to_string())?);
    let registry = Arc::new(ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0)));
    let tools = ServiceToolbox::new(db.clone(), Vec::new(), Arc::new(PlainReader));
    let supervisor =
        Supervisor::new(db.clone(), registry, Arc::new(tools.clone()), clock, true, RunTimeouts::default());
    supervisor.sweep().await.map_err(text("sweep"))?;
    let service = Service::new(supervisor.clone(), owner, sealer).with_tools(tools);
    service.pause_interrupted_reruns().await.map_err(text("grafts"))?;
    service.load_rights().await.map_err(|error| format!("rights: {error}"))?;
    service.load_all_providers().await.map_err(|error| format!("providers: {error}"))?;
    service.load_tools(owner).await.map_err(|error| format!("tools: {error}"))?;
    supervisor.resume_waiting_turns().await.map_err(text("resume"))?;
    Ok((service, owner))
}

/// Sends a message into a new chat and waits for the reply of the demo model.
pub async fn send_and_wait(service: &Service, owner: UserId, words: &str) -> ChatId {
    let message = TurnRequest { content: vec![MessageBlock::Text { text: words.into() }], ..TurnRequest::default() };
    let started = service.start_turn(owner, message).await.unwrap();
    wait_until_ended(service, owner, started.assistant_turn.id).await;
    started.user_turn.chat_id
}

/// Waits for the end of a reply.
pub async fn wait_until_ended(service: &Service, owner: UserId, reply: TurnId) {
    let followed = service.supervisor().follow(owner, reply, EventCursor::After(0)).await.unwrap().unwrap();
    followed.for_each(|next| async { drop(next.unwrap()) }).await;
}

/// Seeds a database with rows in every table, and a second chat that no test damages.
async fn seed_chats(db: &Db, dir: &Path) -> ChatId {
    walkthrough::start_small_walkthrough(db).await;
    let (service, owner) = start_service(db, dir).await.unwrap();
    let trashed = send_and_wait(&service, owner, "a chat for Trash").await;
    let document = NewDocumentRequest {
        title: Some("Plan".into()),
        kind: Some("text/markdown".into()),
        source: DocumentTextSource::Text("# Plan".into()),
        client_request_id: None,
    };
    service.create_document(owner, document).await.unwrap();
    let never = Some(ToolApprovalPolicy::Never);
    service.set_tool_policy(owner, Actor::default(), ("", "calculator", None), never).await.unwrap();
    let server = StoredToolServer {
        id: next_id(),
        owner_id: owner,
        slug: "files".into(),
        name: "Files".into(),
        url: "http://127.0.0.1:9/mcp".into(),
        sealed_headers: None,
        settings: ToolServerSettings::default(),
        is_enabled: false,
        created_at: next_time(),
        updated_at: next_time(),
    };
    let other_chat = send_and_wait(&service, owner, WORDS).await;
    let mut tx = db.begin().await.unwrap();
    tool_servers::insert(&mut tx, &server).await.unwrap();
    listings::put(&mut tx, owner, "files", (&[], ""), next_time()).await.unwrap();
    chat_tools::put(&mut tx, owner, trashed, &ToolChoice::default()).await.unwrap();
    tx.commit().await.unwrap();
    damaged_readers::seed_reader_rows(db, owner).await;
    service.delete_chat(owner, trashed).await.unwrap();
    service.supervisor().toolbox().shut_down().await;
    other_chat
}

/// Seeds a database as [`seed_chats`] does, with a value for nearly every column.
async fn seed_all_tables(db: &Db, dir: &Path) -> ChatId {
    let other_chat = seed_chats(db, dir).await;
    let (service, owner) = start_service(db, dir).await.unwrap();
    seeded_rows::seed_all_rows(db, &service, owner).await;
    service.supervisor().toolbox().shut_down().await;
    other_chat
}

/// Returns the texts of an archive, each with its turn.
fn texts(archive: &Value) -> BTreeSet<(String, String)> {
    let turns = archive["chats"].as_array().into_iter().flatten().flat_map(|chat| chat["turns"].as_array()).flatten();
    let texts = turns.flat_map(|turn| {
        let blocks = turn["blocks"].as_array().into_iter().flatten();
        blocks.filter_map(|block| Some((turn["id"].to_string(), block["text"].as_str()?.to_owned())))
    });
    texts.collect()
}

/// The beginning of the failure of an archive that lost more texts than one damage may cost.
const LOST_TEXTS: &str = "export: it lost";

/// Checks that an archive passes the validation of an import, and that at most one text is lost because of one
/// damaged row, unless the row is that of a whole chat.
fn check_kept_texts(archive: &Value, sound: &BTreeSet<(String, String)>, tables: &[&str]) -> Result<(), String> {
    for chat in archive["chats"].as_array().into_iter().flatten() {
        let mut chat = chat.clone();
        chat["generations"] = Value::Array(Vec::new());
        for turn in chat["turns"].as_array_mut().into_iter().flatten() {
            for block in turn["blocks"].as_array_mut().into_iter().flatten() {
                block["generation_id"] = Value::Null;
            }
        }
        let chat: ArchivedChat = serde_json::from_value(chat).map_err(|error| format!("export: {error}"))?;
        check_chat(&chat).map_err(|reason| format!("export: an import refuses it: {reason}; {}", archive["chats"]))?;
    }
    let now = texts(archive);
    let lost: Vec<_> = sound.difference(&now).collect();
    // A damaged journal may cost all of a running reply.
    let turns: BTreeSet<_> = lost.iter().map(|(turn, _)| turn).collect();
    let is_one = lost.len() <= 1 || (tables.contains(&"turn_events") && turns.len() <= 1);
    if !is_one && !tables.contains(&"chats") { Err(format!("{LOST_TEXTS} {lost:?}")) } else { Ok(()) }
}

/// Starts the server, reads everything that a person can see, and returns an archive of everything.
async fn inspect(db: &Db, dir: &Path, other_chat: ChatId) -> Result<Value, String> {
    let (service, owner) = start_service(db, dir).await?;
    let text = |step: &'static str| move |error| format!("{step}: {error}");
    let listed = service.list_chats(owner, 100).await.map_err(text("list"))?;
    if !listed.iter().any(|chat| chat.id == other_chat) {
        return Err("list: the other chat is missing".into());
    }
    service.newest_chats(owner, 100).await.map_err(text("newest"))?;
    service.pinned_chats(owner).await.map_err(text("pinned"))?;
    service.list_trash(owner, None, 100).await.map_err(text("trash"))?;
    service.documents(owner, None, None, 100).await.map_err(text("documents"))?;
    service.projects(owner).await.map_err(text("projects"))?;
    service.recent_projects(owner).await.map_err(text("recent projects"))?;
    service.shares(owner).await.map_err(text("shares"))?;
    service.account_groups().await.map_err(text("groups"))?;
    service.access_rules().await.map_err(text("access rules"))?;
    service.providers(owner).await.map_err(text("providers"))?;
    service.tool_servers(owner).await.map_err(text("tool servers"))?;
    service.tool_policies(owner).await.map_err(text("policies"))?;
    service.models_in_use(owner).await.map_err(text("models"))?;
    let today = next_time().date_naive();
    let period = UsagePeriod::new(None, None, today).unwrap();
    service.usage(owner, period, SpendingGrouping::Day).await.map_err(text("usage"))?;
    let path = service.path(owner, other_chat, None, 100).await.map_err(text("the other chat"))?;
    if path.turns.first().is_none_or(|turn| turn.content_text() != WORDS) {
        return Err("the other chat has other text".into());
    }
    damaged_readers::read_all(db, &service, owner, (other_chat, WORDS)).await?;
    let (send, mut receive) = tokio::sync::mpsc::channel(4);
    let (exported, archive) = tokio::join!(
        async {
            let exported = service.export_archive(owner, ExportScope::Everything, &send).await;
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
    service.supervisor().run_maintenance().await.map_err(|error| format!("housekeeping: {error}"))?;
    service.supervisor().toolbox().shut_down().await;
    fsck::check(db, CheckMode::Serving).await.map_err(|error| format!("fsck: {error}"))?;
    Ok(archive)
}

/// Inspects and repairs the database, then checks `fsck`: only rows that the repair refused, and bodies of generations
/// and shares, may still be reported as unreadable.
async fn inspect_and_repair(
    db: &Db,
    dir: &Path,
    other_chat: ChatId,
    sound: &BTreeSet<(String, String)>,
    tables: &[&str],
) -> Result<(), String> {
    let archive = inspect(db, dir, other_chat).await?;
    check_kept_texts(&archive, sound, tables)?;
    let repairs = repair::repair(db, next_time()).await.map_err(|error| format!("repair: {error}"))?;
    let stayed: Vec<_> = repairs.iter().filter(|one| one.outcome.is_err()).collect();
    let is_reason = |reason: &String| reason.contains("other rows depend on it");
    if let Some(refused) = stayed.iter().find(|one| !one.outcome.as_ref().is_err_and(is_reason)) {
        return Err(format!("repair refused {refused:?}"));
    }
    let kept = repair::list_quarantined(db).await.map_err(|error| format!("quarantine: {error}"))?;
    if kept.len() < repairs.len() - stayed.len() && !kept.iter().any(|value| value.column_name.is_empty()) {
        return Err(format!("repair: {} values in quarantine of {repairs:?}", kept.len()));
    }
    let findings = fsck::check(db, CheckMode::Serving).await.map_err(|error| format!("fsck: {error}"))?;
    let unreadable = findings.into_iter().filter(|finding| finding.problem.contains("cannot be read"));
    let unreadable = unreadable.filter(|finding| {
        !["its raw_response", "its body", "its manifest", "its raw_bytes", "its snapshot", "its turns"]
            .iter()
            .any(|body| finding.problem.starts_with(body))
    });
    for finding in unreadable {
        if !stayed.iter().any(|one| one.table == finding.table && one.row == finding.id) {
            return Err(format!("repair left {finding:?} after {repairs:?}"));
        }
    }
    Ok(())
}

/// Columns without a value, so that no damage of them is tried.
const WITHOUT_VALUE: &[&str] = &["blobs.path", "deletions.purging_since", "generation_requests.base_id"];

#[tokio::test]
async fn nearly_every_column_has_value_to_damage() {
    let whole = empty_sqlite().await;
    whole.db.migrate(None, noon()).await.unwrap();
    seed_all_tables(&whole.db, whole.dir.path()).await;
    let file = whole.db.path().unwrap().to_owned();
    whole.db.close().await;
    let pool = open_unchecked(&file).await;
    let mut without = Vec::new();
    for (table, columns) in sqlite_columns(&pool).await {
        for (column, _) in columns {
            let text = format!("SELECT EXISTS (SELECT 1 FROM \"{table}\" WHERE \"{column}\" IS NOT NULL)");
            let has_value: bool = sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&pool).await.unwrap();
            if !has_value {
                without.push(format!("{table}.{column}"));
            }
        }
    }
    pool.close().await;
    assert_eq!(without, WITHOUT_VALUE);
}

/// Returns whether [`damage_values`] tries this damage only because the column holds JSON.
fn is_of_json(damage: &str) -> bool {
    ["'{", "'["].iter().any(|start| damage.starts_with(start))
}

/// Tables whose rows are what a chat is read from. Each damage of them is tried alone, because it may hide others.
const TABLES_OF_CHATS: &[&str] = &[
    "blob_forms",
    "blobs",
    "block_blobs",
    "block_documents",
    "branches",
    "chats",
    "exchanges",
    "generation_chunks",
    "generation_requests",
    "generations",
    "grafts",
    "turn_blocks",
    "turn_events",
    "turns",
];

/// The damages of other tables that are tried together, each in a table of its own.
const DAMAGES_AT_ONCE: usize = 20;

/// Divides damages into groups that are tried together, which takes half of the time.
fn group_damages(damages: Vec<RowDamage>) -> Vec<Vec<RowDamage>> {
    let (alone, others): (Vec<_>, Vec<_>) =
        damages.into_iter().partition(|damage| TABLES_OF_CHATS.contains(&damage.table.as_str()));
    let mut groups: Vec<Vec<RowDamage>> = alone.into_iter().map(|damage| vec![damage]).collect();
    let mut waiting: BTreeMap<String, Vec<RowDamage>> = BTreeMap::new();
    for damage in others {
        waiting.entry(damage.table.clone()).or_default().push(damage);
    }
    while !waiting.is_empty() {
        // The longest lists first, so that the groups stay full.
        let mut lists: Vec<&mut Vec<RowDamage>> = waiting.values_mut().collect();
        lists.sort_by_key(|list| std::cmp::Reverse(list.len()));
        groups.push(lists.into_iter().take(DAMAGES_AT_ONCE).filter_map(Vec::pop).collect());
        waiting.retain(|_, list| !list.is_empty());
    }
    groups
}

/// A sound database, of which each damage is applied to a copy.
struct SoundDatabase {
    database: TestDatabase,
    other_chat: ChatId,
    /// Its texts, each with its turn.
    texts: BTreeSet<(String, String)>,
}

impl SoundDatabase {
    /// Applies damages to a copy, inspects and repairs it. Returns how many could be applied.
    async fn try_damages(&self, damages: &[RowDamage]) -> Result<usize, String> {
        let (applied, copy) = match self.database.db.path() {
            Some(file) => self.damaged_sqlite(file, damages).await,
            None => self.damaged_postgres(damages).await,
        };
        let checked = if applied == 0 {
            Ok(())
        } else {
            let tables: Vec<&str> = damages.iter().map(|damage| damage.table.as_str()).collect();
            inspect_and_repair(&copy.db, copy.dir.path(), self.other_chat, &self.texts, &tables).await
        };
        copy.close().await;
        checked.map(|()| applied)
    }

    /// Tries groups of damages, those of a failing group one by one, and returns how many were applied and the
    /// failures. Two rows may cost two texts; that alone is no failure of a group.
    async fn try_groups(&self, groups: impl IntoIterator<Item = Vec<RowDamage>>) -> (usize, Vec<String>) {
        let (mut tried, mut failures) = (0, Vec::new());
        for group in groups {
            match self.try_damages(&group).await {
                Ok(applied) => tried += applied,
                Err(failure) if group.len() == 1 => failures.push(format!("{}: {failure}", group[0].describe())),
                Err(together) => {
                    let known = failures.len();
                    for damage in &group {
                        match self.try_damages(std::slice::from_ref(damage)).await {
                            Ok(applied) => tried += applied,
                            Err(failure) => failures.push(format!("{}: {failure}", damage.describe())),
                        }
                    }
                    if failures.len() == known && !together.starts_with(LOST_TEXTS) {
                        let all: Vec<String> = group.iter().map(RowDamage::describe).collect();
                        failures.push(format!("{}: {together}", all.join(" and ")));
                    }
                }
            }
        }
        (tried, failures)
    }
}
impl SoundDatabase {
    /// Copies the file and damages the copy. A damage is not applied if the column has no value, is generated, or is
    /// unique.
    async fn damaged_sqlite(&self, file: &Path, damages: &[RowDamage]) -> (usize, TestDatabase) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::copy(self.database.dir.path().join("secret.key"), dir.path().join("secret.key")).unwrap();
        let copy = dir.path().join("turnleaf.db");
        std::fs::copy(file, &copy).unwrap();
        let pool = open_unchecked(&copy).await;
        let mut applied = 0;
        for RowDamage { table, column, value } in damages {
            let done = sqlx::query(AssertSqlSafe(damage_statement(table, column, value))).execute(&pool).await;
            applied += usize::from(done.is_ok_and(|done| done.rows_affected() > 0));
        }
        pool.close().await;
        let url = format!("sqlite://{}", copy.display());
        (applied, TestDatabase { db: Db::open(&url).await.unwrap(), url, dir })
    }

    /// Copies the database and damages the copy. A damage is not applied if the column is unique or if another one is
    /// computed from it.
    async fn damaged_postgres(&self, damages: &[RowDamage]) -> (usize, TestDatabase) {
        let template = self.database.url.rsplit('/').next().unwrap().split('?').next().unwrap();
        let copy = postgres(&format!("TEMPLATE {template}")).await.unwrap();
        std::fs::copy(self.database.dir.path().join("secret.key"), copy.dir.path().join("secret.key")).unwrap();
        let Db::Postgres { writer, .. } = &copy.db else { unreachable!() };
        let mut applied = 0;
        for RowDamage { table, column, value } in damages {
            let update = format!(
                "SET session_replication_role = replica; UPDATE \"{table}\" SET \"{column}\" = '{value}' WHERE ctid = \
                 (SELECT ctid FROM \"{table}\" WHERE \"{column}\" IS NOT NULL LIMIT 1); RESET session_replication_role"
            );
            applied += usize::from(sqlx::raw_sql(AssertSqlSafe(update)).execute(writer).await.is_ok());
        }
        (applied, copy)
    }
}

async fn every_damage_of(part: usize, parts: usize) {
    let whole = empty_sqlite().await;
    whole.db.migrate(None, noon()).await.unwrap();
    let other_chat = seed_all_tables(&whole.db, whole.dir.path()).await;
    let file = whole.db.path().unwrap().to_owned();
    let before = tempfile::tempdir().unwrap();
    dialect::backup(&whole.db, &before.path().join("furnished.db")).await.unwrap();
    let texts = texts(&inspect(&whole.db, whole.dir.path(), other_chat).await.unwrap());
    assert!(texts.len() > 8, "{texts:?}");
    whole.db.close().await;
    std::fs::copy(before.path().join("furnished.db"), &file).unwrap();
    let pool = open_unchecked(&file).await;
    let mut damages = Vec::new();
    for (table, columns) in sqlite_columns(&pool).await {
        for (column, kind) in columns {
            let text = format!("SELECT EXISTS (SELECT 1 FROM \"{table}\" WHERE json_valid(\"{column}\"))");
            let has_json: bool =
                kind == "TEXT" && sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&pool).await.unwrap();
            let values = damage_values(&kind).into_iter().filter(|value| has_json || !is_of_json(value));
            let of_column = |value| RowDamage { table: table.clone(), column: column.clone(), value };
            damages.extend(values.map(of_column));
        }
    }
    pool.close().await;
    let sound = SoundDatabase { database: whole, other_chat, texts };
    let groups = group_damages(damages).into_iter().skip(part).step_by(parts);
    let (tried, failures) = sound.try_groups(groups).await;
    assert!(tried > 100, "{tried}");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn damaged_row_affects_nothing_else_part_1() {
    every_damage_of(0, 4).await;
}

#[tokio::test]
async fn damaged_row_affects_nothing_else_part_2() {
    every_damage_of(1, 4).await;
}

#[tokio::test]
async fn damaged_row_affects_nothing_else_part_3() {
    every_damage_of(2, 4).await;
}

#[tokio::test]
async fn damaged_row_affects_nothing_else_part_4() {
    every_damage_of(3, 4).await;
}

/// Returns the columns of a PostgreSQL database whose values the type does not fully constrain: text and JSON.
async fn checked_columns(pool: &PgPool) -> Vec<(String, String, String)> {
    const COLUMNS: &str = "SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), CAST(t.typname AS TEXT) \
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid \
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND a.attgenerated = '' \
        AND (t.typname = 'jsonb' OR (t.typname = 'text' AND EXISTS (SELECT 1 FROM pg_constraint k \
            WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)))) ORDER BY 1, 2";
    sqlx::query_as(COLUMNS).fetch_all(pool).await.unwrap()
}

/// Drops all CHECK constraints, so that a table accepts what a damaged disk would leave in it.
pub async fn drop_checks(pool: &PgPool) {
    const CHECKS: &str = "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) \
        FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace";
    let checks: Vec<String> = sqlx::query_scalar(CHECKS).fetch_all(pool).await.unwrap();
    for text in checks {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(pool).await.unwrap();
    }
}

#[tokio::test]
async fn damaged_row_affects_nothing_else_on_postgresql() {
    let Some(whole) = migrated_postgres().await else { return };
    let other_chat = seed_all_tables(&whole.db, whole.dir.path()).await;
    let texts = texts(&inspect(&whole.db, whole.dir.path(), other_chat).await.unwrap());
    let pool = PgPool::connect(&whole.url).await.unwrap();
    let columns = checked_columns(&pool).await;
    drop_checks(&pool).await;
    // PostgreSQL copies a database only while no client is connected to it.
    pool.close().await;
    whole.db.close().await;
    let mut damages = Vec::new();
    for (table, column, kind) in columns {
        let values = match kind.as_str() {
            "jsonb" => vec!["[]".into(), nested_json(900)],
            _ => vec!["no value of this column".into(), nested_json(127)],
        };
        let of_column = |value| RowDamage { table: table.clone(), column: column.clone(), value };
        damages.extend(values.into_iter().map(of_column));
    }
    let url = whole.url.clone();
    let sound = SoundDatabase { database: whole, other_chat, texts };
    let (tried, failures) = sound.try_groups(group_damages(damages)).await;
    assert!(tried > 30, "{tried}");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
    drop_postgres(&std::env::var("TURNLEAF_TEST_PG").unwrap(), &url).await;
}

pub async fn sql(db: &Db, text: String) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
    }
}

pub async fn reply_of(service: &Service, owner: UserId, chat: ChatId) -> Turn {
    service.path(owner, chat, None, 100).await.unwrap().turns.pop().unwrap()
}

/// The first block is nested as deeply as an earlier version could store it, too deeply for any reader.
#[tokio::test]
async fn too_deeply_nested_block_is_shown_and_invalid_json_block_is_damaged() {
    for fresh in test_databases().await {
        let other_chat = seed_chats(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let words =
            |turn: &Turn| turn.blocks.iter().map(|block| serde_json::to_string(block).unwrap()).collect::<String>();
        let before = reply_of(&service, owner, other_chat).await;
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
                nested_json(levels)
            )
        };
        sql(&fresh.db, over(&call(127))).await;
        let deeper = reply_of(&service, owner, other_chat).await;
        let read = deeper.blocks.iter().find(|read| read.id == block.id).unwrap();
        assert!(matches!(read.content, Content::ToolResult { .. }), "{read:?}");
        inspect(&fresh.db, fresh.dir.path(), other_chat).await.unwrap();

        sql(&fresh.db, over(r#"{"type":"text","text":["not","a","text"]}"#)).await;
        let other = reply_of(&service, owner, other_chat).await;
        assert_eq!(other.blocks.len(), before.blocks.len());
        assert!(words(&other).contains("not"), "what is stored is kept as it is");
        let findings = fsck::check(&fresh.db, CheckMode::Serving).await.unwrap();
        assert!(findings.iter().any(|finding| finding.id == block.id.to_string()), "{findings:#?}");
        assert_eq!(other.status, TurnStatus::Complete);
        fresh.close().await;
    }
}

/// The journal of a running reply has an unreadable line: the sweep ends the turn with the readable events.
#[tokio::test]
async fn running_reply_with_damaged_journal_ends_with_readable_text() {
    for fresh in test_databases().await {
        let other_chat = seed_chats(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let before = reply_of(&service, owner, other_chat).await;
        let is_file = fresh.db.path().is_some();
        let turn = if is_file { format!("X'{}'", before.id.uuid().simple()) } else { format!("'{}'", before.id) };
        // After a kill the end is missing; here a line in the middle is damaged, too.
        for text in [
            format!("DELETE FROM turn_events WHERE turn_id = {turn} AND event LIKE '{{\"type\":\"turn_end\"%'"),
            format!(
                "UPDATE turn_events SET event = '{}' WHERE turn_id = {turn} AND event LIKE '{{\"type\":\"block_start\"%'",
                nested_json(127)
            ),
            format!("UPDATE turns SET status = 'streaming', completed_at = NULL WHERE id = {turn}"),
        ] {
            sql(&fresh.db, text).await;
        }
        inspect(&fresh.db, fresh.dir.path(), other_chat).await.unwrap();
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let ended = reply_of(&service, owner, other_chat).await;
        assert_eq!(ended.status, TurnStatus::Error);
        assert_eq!(ended.content_text(), before.content_text(), "the rows have what the journal lost");
        assert!(ended.blocks.iter().any(|block: &Block| is_placeholder(&block.content)), "it shows that it is damaged");
        // The chat continues.
        let message = TurnRequest {
            chat_id: Some(other_chat),
            content: vec![MessageBlock::Text { text: "and now?".into() }],
            ..TurnRequest::default()
        };
        let started = service.start_turn(owner, message).await.unwrap();
        let reply = started.assistant_turn.id;
        let followed = service.supervisor().follow(owner, reply, EventCursor::After(0)).await.unwrap().unwrap();
        followed.for_each(|next| async { drop(next.unwrap()) }).await;
        assert_eq!(service.turn(owner, reply).await.unwrap().status, TurnStatus::Complete);
        fresh.close().await;
    }
}

/// Repair replaces damaged parts of a reply with placeholders and quarantines the old bytes; rows that depend on them
/// stay.
#[tokio::test]
async fn repaired_reply_reads_as_before_except_damage_and_keeps_bytes() {
    for fresh in test_databases().await {
        let other_chat = seed_chats(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let before = reply_of(&service, owner, other_chat).await;
        service.supervisor().toolbox().shut_down().await;
        let block = before.blocks.iter().find(|block| matches!(block.content, Content::Text { .. })).unwrap();
        let is_file = fresh.db.path().is_some();
        let literal = |id: uuid::Uuid| if is_file { format!("X'{}'", id.simple()) } else { format!("'{id}'") };
        let damaged = r#"{"type":"text","text":"cut of"#;
        let (whole, of_reply) = (literal(block.id.uuid()), literal(before.id.uuid()));
        match &fresh.db {
            Db::Sqlite { .. } => sql(&fresh.db, "PRAGMA ignore_check_constraints = ON".into()).await,
            Db::Postgres { writer, .. } => drop_checks(writer).await,
        }
        for text in [
            format!("UPDATE turn_blocks SET content = '{damaged}' WHERE id = {whole}"),
            format!("UPDATE turns SET status = 'complere' WHERE id = {of_reply}"),
            // This line is the start of the damaged block itself: if only lines of other blocks were damaged, the
            // block would be rebuilt from the journal.
            format!(
                "UPDATE turn_events SET event = '{}' WHERE turn_id = {of_reply} \
                 AND CAST(event AS TEXT) LIKE '{{\"type\":\"block_start\"%' AND CAST(event AS TEXT) LIKE '%{}%'",
                nested_json(127),
                block.id
            ),
        ] {
            sql(&fresh.db, text).await;
        }
        if is_file {
            sql(&fresh.db, "PRAGMA ignore_check_constraints = OFF".into()).await;
        }
        let repairs = repair::repair(&fresh.db, next_time()).await.unwrap();
        // The three damaged values, and the rest of the journal, which cannot be folded without that line.
        assert_eq!(repairs.len(), 4, "{repairs:#?}");
        assert!(repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        let kept = repair::list_quarantined(&fresh.db).await.unwrap();
        let of = |column: &str| kept.iter().find(|value| value.column_name == column).unwrap();
        assert_eq!(of("content").bytes, damaged.as_bytes());
        assert_eq!(
            (of("status").bytes.as_slice(), of("status").row_key.as_str()),
            (b"complere".as_slice(), before.id.to_string().as_str())
        );
        assert_eq!(of("event").bytes, nested_json(127).as_bytes());
        assert_eq!(fsck::check(&fresh.db, CheckMode::Stopped).await.unwrap(), []);
        assert_eq!(repair::repair(&fresh.db, next_time()).await.unwrap(), [], "there is nothing left to repair");
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let after = reply_of(&service, owner, other_chat).await;
        assert_eq!(after.status, before.status);
        assert_eq!(after.blocks.len(), before.blocks.len());
        for (after, before) in after.blocks.iter().zip(&before.blocks) {
            match after.id == block.id {
                true => assert!(
                    is_placeholder(&after.content) && serde_json::to_string(&after.content).unwrap().contains("cut of")
                ),
                false => assert_eq!(after, before),
            }
        }
        // Permanent deletion of a chat also deletes its quarantined values.
        service.delete_chat(owner, other_chat).await.unwrap();
        service.empty_trash(owner).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        service.supervisor().toolbox().shut_down().await;
        assert_eq!(repair::list_quarantined(&fresh.db).await.unwrap(), []);
        fresh.close().await;
    }
}

/// A follower whose cursor is behind a damaged journal line gets a snapshot of the turn in place of the earlier
/// lines.
#[tokio::test]
async fn follower_gets_snapshot_instead_of_damaged_entry() {
    for fresh in test_databases().await {
        let other_chat = seed_chats(&fresh.db, fresh.dir.path()).await;
        let (service, owner) = start_service(&fresh.db, fresh.dir.path()).await.unwrap();
        let reply = reply_of(&service, owner, other_chat).await;
        let is_file = fresh.db.path().is_some();
        let turn = if is_file { format!("X'{}'", reply.id.uuid().simple()) } else { format!("'{}'", reply.id) };
        sql(&fresh.db, format!("UPDATE turn_events SET event = '{{\"type\":' WHERE turn_id = {turn} AND seq = 3"))
            .await;
        let followed = service.supervisor().follow(owner, reply.id, EventCursor::After(0)).await.unwrap().unwrap();
        let followed: Vec<FollowerItem> = followed.map(Result::unwrap).collect().await;
        let [FollowerItem::Line(first), FollowerItem::Line(second), FollowerItem::Snapshot(whole)] =
            followed.as_slice()
        else {
            panic!("{followed:#?}")
        };
        assert_eq!((first.seq, second.seq), (1, 2));
        assert_eq!((whole.status, &whole.blocks), (reply.status, &reply.blocks));
        service.supervisor().toolbox().shut_down().await;
        fresh.close().await;
    }
}
