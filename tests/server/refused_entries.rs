//! Journal entries that the database refuses for their content: their turn ends with what is stored, and all others
//! continue. A trigger makes the database refuse them.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::Notify;
use tokio::time::timeout;
use turnleaf::domain::{FailureKind, TurnId, TurnStatus};
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_run::RunTimeouts;
use turnleaf_run::{EventCursor, FollowerItem};
use turnleaf_store::Db;

use crate::test_server::{TestServer, streamed_answer, text_step};

/// Far less than the journal's timeout, far more than a reply takes.
const SOON: Duration = Duration::from_secs(20);
const OTHERS: usize = 4;
const WORDS: usize = 20;

fn reply_text() -> String {
    (0..WORDS).map(|n| format!("word {n} ")).collect()
}

/// Makes the database refuse every event that contains "poison"; `code` is PostgreSQL's error code.
async fn install_refusing_trigger(instance: &TestServer, code: &str) {
    match &instance.db {
        Db::Sqlite { .. } => {
            instance
                .sql(
                    "CREATE TRIGGER refuses BEFORE INSERT ON turn_events WHEN NEW.event LIKE '%poison%' \
                     BEGIN SELECT RAISE(ABORT, 'refused'); END",
                )
                .await;
        }
        Db::Postgres { writer, .. } => {
            let text = format!(
                "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN \
                 RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$ LANGUAGE plpgsql; \
                 CREATE TRIGGER refuses BEFORE INSERT ON turn_events FOR EACH ROW \
                 WHEN (NEW.event LIKE '%poison%') EXECUTE FUNCTION refuse()"
            );
            sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(writer).await.unwrap();
        }
    }
}

/// Returns the gates of the replies, the refused one's first.
fn gates(others: usize) -> Vec<Arc<Notify>> {
    (0..=others).map(|_| Arc::default()).collect()
}

/// Returns a provider of one refused reply and of others, each of which waits at its gate.
fn provider(gates: &[Arc<Notify>]) -> ScriptedProvider {
    let pause = || ScriptedStep::Wait(Duration::from_millis(10));
    let words = || (1..WORDS).flat_map(|n| [text_step(&format!("word {n} ")), pause()]);
    let of_gate = |(at, gate): (usize, &Arc<Notify>)| match at {
        0 => streamed_answer([
            text_step("first "),
            ScriptedStep::WaitForSignal(gate.clone()),
            text_step("poison "),
            pause(),
            text_step("last"),
        ]),
        _ => streamed_answer(
            [text_step("word 0 "), ScriptedStep::WaitForSignal(gate.clone())].into_iter().chain(words()),
        ),
    };
    let answers = gates.iter().enumerate().map(of_gate).chain([streamed_answer([text_step("next")])]);
    ScriptedProvider::new("scripted", answers.collect::<Vec<_>>())
}

/// Starts the replies, the refused one first.
async fn start_replies(instance: &TestServer, replies: usize) -> Vec<TurnId> {
    let refused = instance.send("?").await.assistant_turn.id;
    instance.wait_until(refused, |turn| turn.content_text() == "first ").await;
    let mut begun = vec![refused];
    while begun.len() < replies {
        let id = instance.send("?").await.assistant_turn.id;
        // Waits so that the provider gets the requests in the order of the gates.
        instance.wait_until(id, |turn| turn.content_text() == "word 0 ").await;
        begun.push(id);
    }
    begun
}

async fn assert_ends_as_stored(instance: &TestServer, id: TurnId) {
    // The turn may have ended already.
    if let Some(live) = instance.service.supervisor().live_turn(id) {
        timeout(SOON, live.wait_until_ended()).await.expect("the turn that is refused ends");
    }
    let turn = instance.service.turn(instance.owner, id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Error);
    let failure = turn.error.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!(turn.content_text(), "first ", "what was stored is kept");
    instance.check_invariants().await;
}

#[tokio::test]
async fn turn_with_refused_entry_ends_alone_and_others_complete() {
    // `54000` is `program_limit_exceeded`.
    assert_only_one_refused("54000", RunTimeouts::default()).await;
}

#[tokio::test]
async fn turn_with_seemingly_busy_entry_blocks_no_other_and_ends_after_timeout() {
    // `53200` is `out_of_memory`, which PostgreSQL also reports for a single value that is too large.
    assert_only_one_refused("53200", RunTimeouts { database: Duration::from_secs(3), ..RunTimeouts::default() }).await;
}

async fn assert_only_one_refused(code: &str, pace: RunTimeouts) {
    let gates = gates(OTHERS);
    let of_provider = gates.clone();
    for instance in TestServer::on_every_database_with_pace(pace, move || provider(&of_provider)).await {
        let replies = start_replies(&instance, gates.len()).await;
        install_refusing_trigger(&instance, code).await;
        gates.iter().for_each(|gate| gate.notify_one());
        for id in &replies[1..] {
            let turn = timeout(SOON, instance.wait_until_ended(*id)).await.expect("others are not held up");
            assert_eq!((turn.status, turn.content_text()), (TurnStatus::Complete, reply_text()), "{:?}", turn.error);
        }
        assert_ends_as_stored(&instance, replies[0]).await;
        let next = instance.send("and now?").await;
        assert_eq!(
            timeout(SOON, instance.wait_until_ended(next.assistant_turn.id)).await.unwrap().status,
            TurnStatus::Complete
        );
        instance.close().await;
    }
}

#[tokio::test]
async fn turn_with_seemingly_busy_entry_ends_without_other_replies() {
    let gates = gates(0);
    let of_provider = gates.clone();
    let pace = RunTimeouts { database: Duration::from_secs(1), ..RunTimeouts::default() };
    for instance in TestServer::on_every_database_with_pace(pace, move || provider(&of_provider)).await {
        let replies = start_replies(&instance, gates.len()).await;
        install_refusing_trigger(&instance, "53200").await;
        gates[0].notify_one();
        assert_ends_as_stored(&instance, replies[0]).await;
        instance.close().await;
    }
}

/// The followers were shown events that are not stored.
#[tokio::test]
async fn followers_of_turn_with_refused_entry_get_stored_turn() {
    let gates = gates(0);
    let of_provider = gates.clone();
    for instance in TestServer::on_every_database(move || provider(&of_provider)).await {
        let id = start_replies(&instance, 1).await[0];
        install_refusing_trigger(&instance, "54000").await;
        let follow = async |after| {
            let followed = instance.service.supervisor().follow(instance.owner, id, EventCursor::After(after)).await;
            followed.unwrap().unwrap().map(Result::unwrap).boxed()
        };
        let mut early = follow(0).await;
        let live = instance.service.supervisor().live_turn(id).unwrap();
        let shown = live.turn().last_event_seq;
        gates[0].notify_one();
        let mut frames = Vec::new();
        while let Some(one) = timeout(SOON, early.next()).await.expect("a follower receives the ending") {
            frames.push(one);
        }
        let stored = instance.service.turn(instance.owner, id).await.unwrap();
        let Some(FollowerItem::Snapshot(last)) = frames.pop() else { panic!("no snapshot: {frames:?}") };
        assert_eq!((last.status, last.content_text()), (TurnStatus::Error, stored.content_text()));
        let is_line_of_end = |one: &FollowerItem| matches!(one, FollowerItem::Line(line) if line.name() == "turn_end");
        assert!(!frames.iter().any(is_line_of_end), "it receives only one ending: {frames:?}");
        // A follower that reconnects with the number of an unstored event gets a snapshot.
        let back: Vec<FollowerItem> = follow(shown).await.collect().await;
        assert!(matches!(back.as_slice(), [FollowerItem::Snapshot(_)]), "{back:?}");
        instance.close().await;
    }
}
