//! One damaged value after another in a database that the program has written: it starts all the same, and everything
//! else is there. A part of what `tests/store/damage.rs` tries, on the real program.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::chat_client::{ChatClient, Message, is_over};
use crate::damages::{columns, damages, deep, reckless, statement};
use crate::fakeprov::FakeProvider;
use crate::ground::Ground;
use crate::installation::{Check, Installation};
use crate::model_server::{at_once, provider};
use crate::report::Findings;

const DAMAGES: usize = 40;
const WORDS: &str = "a message of the chat beside the damaged one";
const REPLY: Duration = Duration::from_secs(30);

/// Columns of words, which hold what a reader can fail on, and the tables as SQLite's list leaves them out.
const POSTGRES_COLUMNS: &str = "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c \
    JOIN information_schema.tables t USING (table_schema, table_name) \
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND c.data_type = 'text' \
    AND c.is_generated = 'NEVER' AND table_name NOT IN ('_sqlx_migrations', 'users') ORDER BY 1, 2";

/// A value that is written over another one.
struct Damage {
    table: String,
    column: String,
    value: String,
}

impl Damage {
    fn shown(&self) -> String {
        let value: String = self.value.chars().take(40).collect();
        format!("{}.{} = {value}", self.table, self.column)
    }
}

async fn say(client: &ChatClient, words: &str) -> String {
    let chat = client.chat("p").await;
    let reply = client.begin(&chat, &Message::new(words, None)).await;
    assert!(is_over(&client.ended(&reply, REPLY).await));
    chat
}

/// Everything that this scenario damages, and the chat beside it.
async fn furnish(client: &ChatClient) -> String {
    let trashed = say(client, "a chat for Trash").await;
    say(client, "a chat that is damaged").await;
    let beside = say(client, WORDS).await;
    let document = json!({ "title": "Plan", "kind": "text/markdown", "content": "# Plan" });
    for (method, path, body) in
        [("POST", "/api/documents".to_owned(), Some(document)), ("DELETE", format!("/api/chats/{trashed}"), None)]
    {
        let (status, answer) = client.call(method, &path, body.as_ref()).await.unwrap();
        assert!(status < 300, "{method} {path}: {status} {answer}");
    }
    beside
}

async fn every_damage(ground: &Ground, whole: &Installation) -> Vec<Damage> {
    let of = |table: &str, column: &str, kind: &str| {
        let of = |value| Damage { table: table.into(), column: column.into(), value };
        damages(kind).into_iter().map(of).collect::<Vec<_>>()
    };
    if let Some(url) = &ground.url {
        let mut conn = PgConnection::connect(url).await.unwrap();
        let found: Vec<(String, String)> = sqlx::query_as(POSTGRES_COLUMNS).fetch_all(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        let all = found.iter().flat_map(|(table, column)| of(table, column, "TEXT"));
        // PostgreSQL keeps no bytes that are no text.
        return all.filter(|damage| !damage.value.starts_with("CAST")).collect();
    }
    let pool = reckless(&whole.data_dir().join("turnleaf.db")).await;
    let tables = columns(&pool).await;
    pool.close().await;
    let all = tables.iter().flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)));
    all.flat_map(|(table, (column, kind))| of(table, column, kind)).collect()
}

/// A copy with the damage in it; `None` where the database does not take it, or there is no such row.
async fn damaged(ground: &Ground, whole: &Installation, configuration: &str, damage: &Damage) -> Option<Installation> {
    let dir = ground.dir.join("damaged");
    let _ = std::fs::remove_dir_all(&dir);
    copy(whole.data_dir(), &dir.join("data"));
    let Some(cluster) = ground.cluster.as_ref().filter(|_| ground.url.is_some()) else {
        let pool = reckless(&dir.join("data/turnleaf.db")).await;
        let text = statement(&damage.table, &damage.column, &damage.value);
        let done = sqlx::query(AssertSqlSafe(text)).execute(&pool).await;
        pool.close().await;
        let is_done = done.is_ok_and(|done| done.rows_affected() > 0);
        return is_done.then(|| Installation::new(&ground.binary, &dir, None, configuration));
    };
    let url = cluster.copy(&ground.database_name, "damaged").await;
    let mut conn = PgConnection::connect(&url).await.unwrap();
    sqlx::query("SET session_replication_role = replica").execute(&mut conn).await.unwrap();
    let Damage { table, column, value } = damage;
    let text = format!(
        "UPDATE \"{table}\" SET \"{column}\" = {value} WHERE ctid IN \
         (SELECT ctid FROM \"{table}\" WHERE \"{column}\" IS NOT NULL LIMIT 1)"
    );
    let done = sqlx::query(AssertSqlSafe(text)).execute(&mut conn).await;
    conn.close().await.unwrap();
    let is_done = done.is_ok_and(|done| done.rows_affected() > 0);
    is_done.then(|| Installation::new(&ground.binary, &dir, Some(url), configuration))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What a person sees of the server on such a database.
async fn look(installation: &Installation, beside: &str) -> Result<Check, String> {
    let server = installation.try_start().await?;
    let client = &server.client;
    for (path, part) in [
        ("/api/chats?limit=100".to_owned(), beside),
        (format!("/api/chats/{beside}/turns"), WORDS),
        ("/api/export".to_owned(), WORDS),
        ("/api/trash".to_owned(), ""),
        ("/api/documents".to_owned(), ""),
    ] {
        let (status, answer) = client.get(&path).await.map_err(|error| format!("{path}: {error}"))?;
        let answer = answer.to_string();
        if status != 200 || !answer.contains(part) {
            return Err(format!("{path}: {status} {}", answer.chars().take(200).collect::<String>()));
        }
    }
    let check = installation.check().await;
    server.end().await;
    if check.is_complete() { Ok(check) } else { Err(check.to_string()) }
}

pub async fn run(mut ground: Ground) -> Findings {
    let mut findings = Findings::default();
    let model_server = FakeProvider::start(vec![at_once("D", 5)]).await;
    let configuration = provider("p", &model_server.base_url(), "");
    let whole = ground.installation(&configuration);
    let server = whole.start().await;
    let beside = furnish(&server.client).await;
    server.end().await;
    let mut all = every_damage(&ground, &whole).await;
    let mut tables = std::collections::BTreeSet::new();
    while let Some(last) = all.len().checked_sub(1) {
        let damage = all.swap_remove(ground.randomness.below(last + 1));
        let Some(installation) = damaged(&ground, &whole, &configuration, &damage).await else { continue };
        findings.count("damages", 1);
        match look(&installation, &beside).await {
            Err(why) => findings.fail(format!("{}: {why}", damage.shown())),
            Ok(check) => {
                findings.count("named by fsck", usize::from(!check.is_clean()));
                // A block is JSON, whose depth every reader bounds.
                let is_unreadable = damage.table == "turn_blocks" && damage.column == "content";
                let is_unreadable = is_unreadable && damage.value.contains(&deep(900));
                findings.hold(!is_unreadable || !check.is_clean(), || format!("{}: {check}", damage.shown()));
            }
        }
        tables.insert(damage.table);
        if findings.done("damages") == DAMAGES {
            break;
        }
    }
    findings.count("tables", tables.len());
    findings
}
