//! Jumps of the wall clock. The test cannot set the machine's clock, so it moves the past instead: every stored time,
//! by hours and days in both directions, under a running server with replies, and again between a kill and the next
//! start. This covers all code that compares a stored time with the present (order, the sweep, housekeeping,
//! idempotency keys); timers of a running process are monotonic and do not jump.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

use crate::chat_client::{ChatClient, OutgoingMessage, is_over, text_of};
use crate::installation::TestInstallation;
use crate::model_server::{paced_servers, reply_words};
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;

const STREAMS: usize = 6;
const WORDS: usize = 150;
const PAUSE: Duration = Duration::from_millis(15);
/// The hours by which stored times are moved; a positive number simulates a clock that was set back.
const JUMPS: [i64; 4] = [3, -3, 26, -100 * 24];
const ENDING: Duration = Duration::from_secs(30);
const SWEEP: Duration = Duration::from_secs(1);

/// Lists the columns with times. The times of blocks are left out, because the journal's events hold them too, and
/// nothing compares them with the present.
const SQLITE_TIMES: &str = "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
    WHERE m.type = 'table' AND c.name LIKE '%\\_at' ESCAPE '\\' AND c.type = 'TEXT' AND m.name NOT LIKE '\\_%' ESCAPE '\\' \
    AND m.name <> 'turn_blocks'";
const POSTGRES_TIMES: &str = "SELECT table_name::text, column_name::text FROM information_schema.columns \
    WHERE table_schema = 'public' AND data_type = 'timestamp with time zone' AND table_name NOT LIKE '\\_%' \
    AND table_name <> 'turn_blocks' AND is_generated = 'NEVER'";

/// Moves every stored time. Returns the number of columns.
async fn shift_timestamps(ground: &ScenarioContext, installation: &TestInstallation, hours: i64) -> usize {
    if let Some(url) = &ground.url {
        let mut conn = PgConnection::connect(url).await.unwrap();
        let times: Vec<(String, String)> = sqlx::query_as(POSTGRES_TIMES).fetch_all(&mut conn).await.unwrap();
        for (table, column) in &times {
            let text = format!("UPDATE \"{table}\" SET \"{column}\" = \"{column}\" + INTERVAL '{hours} hours'");
            sqlx::query(AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
        }
        conn.close().await.unwrap();
        return times.len();
    }
    let url = format!("sqlite://{}", installation.data_dir().join("turnleaf.db").display());
    let mut conn = SqliteConnection::connect(&url).await.unwrap();
    let times: Vec<(String, String)> = sqlx::query_as(SQLITE_TIMES).fetch_all(&mut conn).await.unwrap();
    let mut tx = conn.begin_with("BEGIN IMMEDIATE").await.unwrap();
    for (table, column) in &times {
        let all = format!("SELECT DISTINCT \"{column}\" FROM \"{table}\" WHERE \"{column}\" IS NOT NULL");
        let mut stored: Vec<DateTime<Utc>> = sqlx::query_scalar(AssertSqlSafe(all)).fetch_all(&mut *tx).await.unwrap();
        // The order ensures that a moved time cannot equal a stored time that is still to be moved.
        stored.sort_by_key(|time| -time.timestamp_micros() * hours.signum());
        for time in stored {
            let update = format!("UPDATE \"{table}\" SET \"{column}\" = ? WHERE \"{column}\" = ?");
            let moved = sqlx::query(AssertSqlSafe(update)).bind(time + TimeDelta::hours(hours)).bind(time);
            moved.execute(&mut *tx).await.unwrap();
        }
    }
    tx.commit().await.unwrap();
    conn.close().await.unwrap();
    times.len()
}

/// A chat and its turns in the order in which they were sent.
struct SentChat {
    id: String,
    turns: Vec<String>,
}

async fn send_to_chats(client: &ChatClient, chats: &mut [SentChat]) -> Vec<String> {
    let sends = chats.iter().map(|chat| async move {
        let message = OutgoingMessage::new("and?", chat.turns.last().cloned());
        let (status, started) = client.send_message(&chat.id, &message).await.unwrap();
        assert_eq!(status, 201, "{started}");
        let id = |turn: &str| started[turn]["id"].as_str().unwrap().to_owned();
        (id("user_turn"), id("assistant_turn"))
    });
    let begun = join_all(sends).await;
    let of_each = chats.iter_mut().zip(begun);
    of_each
        .map(|(chat, (question, reply))| {
            chat.turns.extend([question, reply.clone()]);
            reply
        })
        .collect()
}

async fn assert_order(client: &ChatClient, chats: &[SentChat], when: &str, findings: &mut ScenarioFindings) {
    for chat in chats {
        let (status, page) = client.get(&format!("/api/chats/{}/turns?limit=200", chat.id)).await.unwrap();
        let turns = page["turns"].as_array().into_iter().flatten();
        let found: Vec<&str> = turns.filter_map(|turn| turn["id"].as_str()).collect();
        findings.check(status == 200 && found == chat.turns, || {
            format!("{when}: {status}, the turns are {found:?}, sent as {:?}", chat.turns)
        });
    }
}

pub async fn run(ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let (_providers, configuration) = paced_servers(STREAMS, WORDS, PAUSE).await;
    let installation = ground.installation(&configuration);
    let mut server = installation.start().await;
    let mut chats = Vec::new();
    for at in 0..STREAMS {
        chats.push(SentChat { id: server.client.create_chat(&format!("p{at}")).await, turns: Vec::new() });
    }
    for hours in JUMPS {
        let when = format!("{hours} hours");
        let running = send_to_chats(&server.client, &mut chats).await;
        let columns = shift_timestamps(&ground, &installation, hours).await;
        findings.check(columns > 10, || format!("{when}: {columns} columns have times"));
        for (at, reply) in running.iter().enumerate() {
            let turn = server.client.wait_until_ended(reply, ENDING).await;
            let is_whole = turn["status"] == "complete" && text_of(&turn) == reply_words(&format!("K{at:02}"), WORDS);
            findings.check(is_whole, || format!("{when}: {reply} is {} ({})", turn["status"], turn["error"]));
        }
        assert_order(&server.client, &chats, &when, &mut findings).await;
        let killed = send_to_chats(&server.client, &mut chats).await;
        server.kill().await;
        shift_timestamps(&ground, &installation, hours).await;
        server = installation.start().await;
        for reply in &killed {
            let turn = server.client.wait_until_ended(reply, SWEEP).await;
            findings.check(is_over(&turn), || format!("{when}: {reply} is {} after the start", turn["status"]));
        }
        assert_order(&server.client, &chats, &when, &mut findings).await;
        let check = installation.run_fsck().await;
        findings.check(check.is_clean(), || format!("{when}: {check}"));
        findings.count("jumps", 2);
        findings.count("replies", 2 * STREAMS);
    }
    findings.add_note("stored times moved".into());
    let status = server.terminate().await;
    findings.check(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    findings
}
