//! Entries of the journal that the database refuses for what they are: the turn that they are of ends with what is stored,
//! and all others go on. The refusals are the database's own, by a trigger.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::Notify;
use tokio::time::timeout;
use turnleaf::domain::{FailureKind, TurnId, TurnStatus};
use turnleaf_providers::scripted::{Scripted, Step};
use turnleaf_run::Pace;
use turnleaf_run::{Cursor, Followed};
use turnleaf_store::Db;

use crate::house::{House, answer, text};

/// Far less than the journal's own patience, far more than a reply takes.
const SOON: Duration = Duration::from_secs(20);
const OTHERS: usize = 4;
const WORDS: usize = 20;

fn said() -> String {
    (0..WORDS).map(|n| format!("word {n} ")).collect()
}

/// Makes the database refuse every event with this word in it; `code` is what PostgreSQL says then.
async fn refuse(house: &House, code: &str) {
    match &house.db {
        Db::Sqlite { .. } => {
            house
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

/// What the replies wait for, the refused one first.
fn gates(others: usize) -> Vec<Arc<Notify>> {
    (0..=others).map(|_| Arc::default()).collect()
}

/// One reply that writes what is refused and others beside it, each of which waits at its gate.
fn provider(gates: &[Arc<Notify>]) -> Scripted {
    let pause = || Step::Wait(Duration::from_millis(10));
    let words = || (1..WORDS).flat_map(|n| [text(&format!("word {n} ")), pause()]);
    let of_gate = |(at, gate): (usize, &Arc<Notify>)| match at {
        0 => answer([text("first "), Step::Until(gate.clone()), text("poison "), pause(), text("last")]),
        _ => answer([text("word 0 "), Step::Until(gate.clone())].into_iter().chain(words())),
    };
    let answers = gates.iter().enumerate().map(of_gate).chain([answer([text("next")])]);
    Scripted::new("scripted", answers.collect::<Vec<_>>())
}

/// Begins the replies, the one that is refused first.
async fn begin(house: &House, replies: usize) -> Vec<TurnId> {
    let refused = house.send("?").await.assistant_turn.id;
    house.until(refused, |turn| turn.content_text() == "first ").await;
    let mut begun = vec![refused];
    while begun.len() < replies {
        let id = house.send("?").await.assistant_turn.id;
        // Its request is the next that the provider is asked.
        house.until(id, |turn| turn.content_text() == "word 0 ").await;
        begun.push(id);
    }
    begun
}

async fn assert_ends_as_stored(house: &House, id: TurnId) {
    // It may be over already.
    if let Some(live) = house.service.supervisor().live(id) {
        timeout(SOON, live.ended()).await.expect("the turn that is refused ends");
    }
    let turn = house.service.turn(house.owner, id).await.unwrap();
    assert_eq!(turn.status, TurnStatus::Error);
    let failure = turn.error.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!(turn.content_text(), "first ", "what was stored is kept");
    house.check().await;
}

#[tokio::test]
async fn turn_with_a_refused_entry_ends_alone_and_the_others_complete() {
    // program_limit_exceeded
    refused_alone("54000", Pace::default()).await;
}

#[tokio::test]
async fn turn_whose_entry_only_looks_busy_holds_up_nobody_and_ends_after_the_patience_for_it() {
    // out_of_memory: said of a server that has none, and of a single value that is too large.
    refused_alone("53200", Pace { database: Duration::from_secs(3), ..Pace::default() }).await;
}

async fn refused_alone(code: &str, pace: Pace) {
    let gates = gates(OTHERS);
    let of_provider = gates.clone();
    for house in House::everywhere_at(pace, move || provider(&of_provider)).await {
        let replies = begin(&house, gates.len()).await;
        refuse(&house, code).await;
        gates.iter().for_each(|gate| gate.notify_one());
        for id in &replies[1..] {
            let turn = timeout(SOON, house.ended(*id)).await.expect("others are not held up");
            assert_eq!((turn.status, turn.content_text()), (TurnStatus::Complete, said()), "{:?}", turn.error);
        }
        assert_ends_as_stored(&house, replies[0]).await;
        let next = house.send("and now?").await;
        assert_eq!(timeout(SOON, house.ended(next.assistant_turn.id)).await.unwrap().status, TurnStatus::Complete);
        house.close().await;
    }
}

#[tokio::test]
async fn turn_whose_entry_only_looks_busy_ends_also_where_no_other_reply_runs() {
    let gates = gates(0);
    let of_provider = gates.clone();
    let pace = Pace { database: Duration::from_secs(1), ..Pace::default() };
    for house in House::everywhere_at(pace, move || provider(&of_provider)).await {
        let replies = begin(&house, gates.len()).await;
        refuse(&house, "53200").await;
        gates[0].notify_one();
        assert_ends_as_stored(&house, replies[0]).await;
        house.close().await;
    }
}

/// They were shown what is not stored.
#[tokio::test]
async fn followers_of_a_turn_with_a_refused_entry_are_given_the_turn_as_it_is_stored() {
    let gates = gates(0);
    let of_provider = gates.clone();
    for house in House::everywhere(move || provider(&of_provider)).await {
        let id = begin(&house, 1).await[0];
        refuse(&house, "54000").await;
        let follow = async |after| {
            let followed = house.service.supervisor().follow(house.owner, id, Cursor::After(after)).await;
            followed.unwrap().unwrap().map(Result::unwrap).boxed()
        };
        let mut early = follow(0).await;
        let live = house.service.supervisor().live(id).unwrap();
        let shown = live.turn().last_event_seq;
        gates[0].notify_one();
        let mut told = Vec::new();
        while let Some(one) = timeout(SOON, early.next()).await.expect("a follower is told of the end") {
            told.push(one);
        }
        let stored = house.service.turn(house.owner, id).await.unwrap();
        let Some(Followed::Snapshot(last)) = told.pop() else { panic!("no snapshot: {told:?}") };
        assert_eq!((last.status, last.content_text()), (TurnStatus::Error, stored.content_text()));
        let is_line_of_end = |one: &Followed| matches!(one, Followed::Line(line) if line.name() == "turn_end");
        assert!(!told.iter().any(is_line_of_end), "it is told of one ending only: {told:?}");
        // One who comes back with a number of what was shown cannot know what became of it.
        let back: Vec<Followed> = follow(shown).await.collect().await;
        assert!(matches!(back.as_slice(), [Followed::Snapshot(_)]), "{back:?}");
        house.close().await;
    }
}
