//! Replies whose rows another transaction locks on PostgreSQL for longer than a reply waits: they delay no other
//! reply, and everything that was shown is stored once the rows are free.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use turnleaf::domain::{TurnId, TurnStatus};
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_run::RunTimeouts;
use turnleaf_store::Db;

use crate::test_server::{TestServer, streamed_answer, text_step};

/// Far more time than a reply takes, and far less than one attempt of the journal may take.
const SOON: Duration = Duration::from_secs(12);

#[tokio::test]
async fn locked_turn_blocks_no_other_and_is_stored_completely_once_unlocked() {
    let gates: [Arc<Notify>; 3] = Default::default();
    let of_provider = gates.clone();
    let provider = move || {
        let reply = |gate: &Arc<Notify>| {
            streamed_answer([text_step("first "), ScriptedStep::WaitForSignal(gate.clone()), text_step("second")])
        };
        ScriptedProvider::new("scripted", of_provider.each_ref().map(reply))
    };
    let pace = RunTimeouts { database: Duration::from_secs(1), ..RunTimeouts::default() };
    for instance in TestServer::on_every_database_with_pace(pace, provider).await {
        let Db::Postgres { writer, .. } = &instance.db else {
            // SQLite has no row locks.
            instance.close().await;
            continue;
        };
        let mut replies: Vec<TurnId> = Vec::new();
        for _ in &gates {
            let id = instance.send("?").await.assistant_turn.id;
            instance.wait_until(id, |turn| turn.content_text() == "first ").await;
            replies.push(id);
        }
        let mut holder = writer.begin().await.unwrap();
        let hold = sqlx::query("SELECT id FROM turns WHERE id = $1 FOR UPDATE").bind(replies[0].uuid());
        hold.execute(&mut *holder).await.unwrap();
        let live = instance.service.supervisor().live_turn(replies[0]).unwrap();
        gates.iter().for_each(|gate| gate.notify_one());
        for id in &replies[1..] {
            let turn = timeout(SOON, instance.wait_until_ended(*id)).await.expect("others are not held up");
            assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "first second"));
        }
        // The run gives up on the database, and followers see that it ended.
        let is_given_up = async {
            while !live.with_turn(|turn| turn.status.is_terminal()) {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, is_given_up).await.expect("a reply does not wait for ever");
        assert_eq!(live.turn().content_text(), "first second");
        holder.rollback().await.unwrap();
        timeout(SOON, live.wait_until_ended()).await.expect("it is stored once it is free");
        let turn = instance.service.turn(instance.owner, replies[0]).await.unwrap();
        assert_eq!((turn.status, turn.content_text()), (live.turn().status, "first second".to_owned()));
        instance.check_invariants().await;
        instance.close().await;
    }
}
