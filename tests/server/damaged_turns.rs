//! Running replies whose own or neighbouring rows are unreadable or break the constraints of their tables: each of
//! them ends, at Stop and at the next start.

use std::sync::Arc;
use std::time::Duration;

use sqlx::AssertSqlSafe;
use tokio::time::timeout;
use turnleaf::domain::{TurnId, TurnStatus};
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_store::{Db, turns};
use turnleaf_tools::toolbox::NoTools;

use crate::test_server::{TestServer, streamed_answer, text_step};

/// Damages of a turn, of its branch and of its blocks, as a bad disk may cause them. PostgreSQL does not let anybody
/// write most of them, so they run on SQLite only.
const DAMAGES: [&str; 18] = [
    "UPDATE turns SET role = 'assistanu' WHERE id = {turn}",
    "UPDATE turns SET role = CAST(X'ff' AS TEXT) WHERE id = {turn}",
    "UPDATE turns SET ord = 0 WHERE id = {turn}",
    "UPDATE turns SET depth = -1 WHERE id = {turn}",
    "UPDATE turns SET branch_id = X'00' WHERE id = {turn}",
    "UPDATE turns SET exchange_id = X'' WHERE id = {turn}",
    "UPDATE turns SET prev_turn_id = X'00' WHERE id = {turn}",
    "UPDATE turns SET created_at = 'yesterday' WHERE id = {turn}",
    "UPDATE turns SET input_tokens = -1, content_text = CAST(X'ff' AS TEXT) WHERE id = {turn}",
    "DROP TRIGGER branches_keep_their_lock; UPDATE branches SET model = CAST(X'ff' AS TEXT) WHERE id = (SELECT branch_id FROM turns WHERE id = {turn})",
    "UPDATE turn_blocks SET chat_seq = -1, author = 'nobody' WHERE turn_id = {turn}",
    "UPDATE generations SET status = CAST(X'ff' AS TEXT) WHERE turn_id = {turn}",
    "UPDATE turn_blocks SET chat_seq = chat_seq + 1 WHERE turn_id = {turn}",
    "UPDATE turns SET prev_turn_id = CAST(prev_turn_id AS TEXT) WHERE id = {turn}",
    "UPDATE turns SET branch_id = CAST(branch_id AS TEXT) WHERE id = {turn}",
    "UPDATE turn_blocks SET generation_id = CAST(generation_id AS TEXT) WHERE turn_id = {turn}",
    "UPDATE turn_blocks SET seq = 'first' WHERE turn_id = {turn}",
    // This damages the search index, for all replies.
    "UPDATE search_words_data SET block = X'ffff' WHERE id = 10",
];

/// Far more time than the end of a reply takes.
const SOON: Duration = Duration::from_secs(20);

async fn damage(instance: &TestServer, id: TurnId, damage: &str) {
    let Db::Sqlite { writer, .. } = &instance.db else { unreachable!() };
    let damage = damage.replace("{turn}", &format!("X'{}'", id.uuid().simple()));
    // One bit of a row's header can change the type of a value, so the `STRICT` tables are made loose meanwhile.
    let schema = |sql: &str| {
        format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = {sql} \
             WHERE type = 'table' AND name IN ('turns', 'turn_blocks'); PRAGMA writable_schema = RESET"
        )
    };
    let (loose, strict) = (schema("replace(sql, ') STRICT', ')')"), schema("sql || ' STRICT'"));
    let text = format!(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {loose}; {damage}; {strict}; \
         PRAGMA ignore_check_constraints = OFF; PRAGMA foreign_keys = ON"
    );
    sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap();
}

async fn status(instance: &TestServer, id: TurnId) -> String {
    let Db::Sqlite { writer, .. } = &instance.db else { unreachable!() };
    sqlx::query_scalar("SELECT status FROM turns WHERE id = $1").bind(id.uuid()).fetch_one(writer).await.unwrap()
}

/// Returns whether the reply's text is in its row and in a block.
async fn has_words(instance: &TestServer, id: TurnId) -> bool {
    const IN_ROW: &str = "SELECT COUNT(*) > 0 FROM turns WHERE id = $1 AND content_text LIKE '%first words%'";
    const IN_BLOCK: &str = "SELECT COUNT(*) > 0 FROM turn_blocks WHERE turn_id = $1 AND content LIKE '%first words%'";
    let Db::Sqlite { writer, .. } = &instance.db else { unreachable!() };
    let has = async |text| sqlx::query_scalar::<_, bool>(text).bind(id.uuid()).fetch_one(writer).await.unwrap();
    has(IN_ROW).await && has(IN_BLOCK).await
}

/// Starts replies that hang after their first words, each in its own chat, with everything stored.
async fn replies_cut_off() -> (TestServer, Vec<TurnId>) {
    let hangs = || streamed_answer([text_step("first words"), ScriptedStep::Hang]);
    let instance = TestServer::new_patient(ScriptedProvider::new("scripted", DAMAGES.map(|_| hangs()))).await;
    let mut replies = Vec::new();
    for _ in DAMAGES {
        let id = instance.send("?").await.assistant_turn.id;
        instance.wait_until(id, |turn| turn.content_text() == "first words").await;
        let is_stored = async || {
            let stored = turns::find(&instance.db, instance.owner, id).await.unwrap().unwrap();
            stored.content_text() == "first words"
        };
        while !is_stored().await {
            tokio::task::yield_now().await;
        }
        replies.push(id);
    }
    (instance, replies)
}

#[tokio::test]
async fn reply_whose_row_or_neighbours_are_damaged_ends_at_first_start() {
    let (instance, replies) = replies_cut_off().await;
    for (id, text) in replies.iter().zip(DAMAGES) {
        damage(&instance, *id, text).await;
    }
    let instance = instance
        .restart_after_kill(
            ScriptedProvider::new("scripted", [streamed_answer([text_step("next")])]),
            Arc::new(NoTools),
        )
        .await;
    for (id, damage) in replies.iter().zip(DAMAGES) {
        assert_eq!(status(&instance, *id).await, "error", "{damage}");
        assert!(has_words(&instance, *id).await, "{damage}: what was shown is kept");
    }
    assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 0, "nothing is left for another start");
    // The constraints of the tables still hold for all other statements.
    let Db::Sqlite { writer, .. } = &instance.db else { unreachable!() };
    assert!(sqlx::query("UPDATE turns SET ord = 0").execute(writer).await.is_err());
    let next = instance.send("and now?").await.assistant_turn.id;
    assert_eq!(instance.wait_until_ended(next).await.status, TurnStatus::Complete);
    instance.close().await;
}

#[tokio::test]
async fn reply_whose_row_or_neighbours_get_damaged_while_it_runs_ends_when_it_is_stopped() {
    let (instance, replies) = replies_cut_off().await;
    for (id, text) in replies.iter().zip(DAMAGES) {
        damage(&instance, *id, text).await;
        let live = instance.service.supervisor().live_turn(*id).unwrap();
        timeout(SOON, instance.service.supervisor().stop_turn(*id)).await.expect(text);
        live.wait_until_ended().await;
        let status = status(&instance, *id).await;
        assert!(matches!(status.as_str(), "cancelled" | "error"), "{text}: {status}");
        assert!(has_words(&instance, *id).await, "{text}: what was shown is kept");
    }
    instance.close().await;
}
