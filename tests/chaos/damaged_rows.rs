//! Damages one value after another in a database that the program has written: the server starts anyway, and
//! everything else is available. This scenario runs a sample of the cases of `tests/store/damage.rs` on the real
//! program.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::chat_client::{ChatClient, OutgoingMessage, is_over};
use crate::damages::{RowDamage, damage_statement, damage_values, nested_json, open_unchecked, sqlite_columns};
use crate::fakeprov::FakeProvider;
use crate::installation::{FsckReport, TestInstallation};
use crate::model_server::{immediate_reply, provider_config};
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;

const DAMAGES: usize = 40;
const WORDS: &str = "a message of the chat beside the damaged one";
const REPLY: Duration = Duration::from_secs(30);

/// Lists the text columns, which hold values that a reader can fail on, of the same tables as on SQLite.
const POSTGRES_COLUMNS: &str = "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c \
    JOIN information_schema.tables t USING (table_schema, table_name) \
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND c.data_type = 'text' \
    AND c.is_generated = 'NEVER' AND table_name NOT IN ('_sqlx_migrations', 'users') ORDER BY 1, 2";

async fn send_message(client: &ChatClient, words: &str) -> String {
    let chat = client.create_chat("p").await;
    let reply = client.send_and_get_reply_id(&chat, &OutgoingMessage::new(words, None)).await;
    assert!(is_over(&client.wait_until_ended(&reply, REPLY).await));
    chat
}

/// Creates all rows that this scenario damages, and an undamaged chat. Returns that chat.
async fn seed_chats(client: &ChatClient) -> String {
    let trashed = send_message(client, "a chat for Trash").await;
    send_message(client, "a chat that is damaged").await;
    let other_chat = send_message(client, WORDS).await;
    let document = json!({ "title": "Plan", "kind": "text/markdown", "content": "# Plan" });
    for (method, path, body) in
        [("POST", "/api/documents".to_owned(), Some(document)), ("DELETE", format!("/api/chats/{trashed}"), None)]
    {
        let (status, answer) = client.call(method, &path, body.as_ref()).await.unwrap();
        assert!(status < 300, "{method} {path}: {status} {answer}");
    }
    other_chat
}

async fn every_damage(ground: &ScenarioContext, whole: &TestInstallation) -> Vec<RowDamage> {
    let of = |table: &str, column: &str, kind: &str| {
        let of = |value| RowDamage { table: table.into(), column: column.into(), value };
        damage_values(kind).into_iter().map(of).collect::<Vec<_>>()
    };
    if let Some(url) = &ground.url {
        let mut conn = PgConnection::connect(url).await.unwrap();
        let found: Vec<(String, String)> = sqlx::query_as(POSTGRES_COLUMNS).fetch_all(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        let all = found.iter().flat_map(|(table, column)| of(table, column, "TEXT"));
        // PostgreSQL stores no text that is not valid UTF-8.
        return all.filter(|damage| !damage.value.starts_with("CAST")).collect();
    }
    let pool = open_unchecked(&whole.data_dir().join("turnleaf.db")).await;
    let tables = sqlite_columns(&pool).await;
    pool.close().await;
    let all = tables.iter().flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)));
    all.flat_map(|(table, (column, kind))| of(table, column, kind)).collect()
}

/// Copies the installation and damages the copy. Returns `None` where the database refuses the value, or no row
/// exists.
async fn damaged_copy(
    ground: &ScenarioContext,
    whole: &TestInstallation,
    configuration: &str,
    damage: &RowDamage,
) -> Option<TestInstallation> {
    let dir = ground.dir.join("damaged");
    let _ = std::fs::remove_dir_all(&dir);
    copy(whole.data_dir(), &dir.join("data"));
    let Some(cluster) = ground.cluster.as_ref().filter(|_| ground.url.is_some()) else {
        let pool = open_unchecked(&dir.join("data/turnleaf.db")).await;
        let text = damage_statement(&damage.table, &damage.column, &damage.value);
        let done = sqlx::query(AssertSqlSafe(text)).execute(&pool).await;
        pool.close().await;
        let is_done = done.is_ok_and(|done| done.rows_affected() > 0);
        return is_done.then(|| TestInstallation::new(&ground.binary, &dir, None, configuration));
    };
    let url = cluster.copy_database(&ground.database_name, "damaged").await;
    let mut conn = PgConnection::connect(&url).await.unwrap();
    sqlx::query("SET session_replication_role = replica").execute(&mut conn).await.unwrap();
    let RowDamage { table, column, value } = damage;
    let text = format!(
        "UPDATE \"{table}\" SET \"{column}\" = {value} WHERE ctid IN \
         (SELECT ctid FROM \"{table}\" WHERE \"{column}\" IS NOT NULL LIMIT 1)"
    );
    let done = sqlx::query(AssertSqlSafe(text)).execute(&mut conn).await;
    conn.close().await.unwrap();
    let is_done = done.is_ok_and(|done| done.rows_affected() > 0);
    is_done.then(|| TestInstallation::new(&ground.binary, &dir, Some(url), configuration))
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

/// Starts the server on such a database, uses it like a person, and runs the checker.
async fn inspect_installation(installation: &TestInstallation, other_chat: &str) -> Result<FsckReport, String> {
    let server = installation.try_start().await?;
    let client = &server.client;
    for (path, part) in [
        ("/api/chats?limit=100".to_owned(), other_chat),
        (format!("/api/chats/{other_chat}/turns"), WORDS),
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
    let check = installation.run_fsck().await;
    server.terminate().await;
    if check.is_complete() { Ok(check) } else { Err(check.to_string()) }
}

pub async fn run(mut ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let model_server = FakeProvider::start(vec![immediate_reply("D", 5)]).await;
    let configuration = provider_config("p", &model_server.base_url(), "");
    let whole = ground.installation(&configuration);
    let server = whole.start().await;
    let other_chat = seed_chats(&server.client).await;
    server.terminate().await;
    let mut all = every_damage(&ground, &whole).await;
    let mut tables = std::collections::BTreeSet::new();
    while let Some(last) = all.len().checked_sub(1) {
        let damage = all.swap_remove(ground.randomness.next_below(last + 1));
        let Some(installation) = damaged_copy(&ground, &whole, &configuration, &damage).await else { continue };
        findings.count("damages", 1);
        match inspect_installation(&installation, &other_chat).await {
            Err(failure) => findings.add_failure(format!("{}: {failure}", damage.describe())),
            Ok(check) => {
                findings.count("named by fsck", usize::from(!check.is_clean()));
                // A block is JSON, whose depth every reader limits.
                let is_unreadable = damage.table == "turn_blocks" && damage.column == "content";
                let is_unreadable = is_unreadable && damage.value.contains(&nested_json(900));
                findings.check(!is_unreadable || !check.is_clean(), || format!("{}: {check}", damage.describe()));
            }
        }
        tables.insert(damage.table);
        if findings.count_of("damages") == DAMAGES {
            break;
        }
    }
    findings.count("tables", tables.len());
    findings
}
