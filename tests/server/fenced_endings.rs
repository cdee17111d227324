//! Fencing of endings: a process that no longer owns a turn cannot overwrite the ending that another one has stored.

use std::sync::Arc;

use tokio::sync::Notify;
use turnleaf::domain::TurnStatus;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_store::turns::{self, events};
use turnleaf_store::{Claim, Db, StoreError};

use crate::databases;
use crate::test_server::{TestServer, streamed_answer, text_step};

#[tokio::test]
async fn ending_of_run_is_not_stored_over_another_ending() {
    let gate = Arc::new(Notify::new());
    let of_gate = gate.clone();
    let provider = move || {
        ScriptedProvider::new(
            "scripted",
            [streamed_answer([text_step("first"), ScriptedStep::WaitForSignal(of_gate.clone()), text_step(" second")])],
        )
    };
    for instance in TestServer::on_every_database(provider).await {
        let id = instance.send("?").await.assistant_turn.id;
        instance.wait_until(id, |turn| turn.content_text() == "first").await;
        let live = instance.service.supervisor().live_turn(id).unwrap();
        // Another process ends the turn, without an event in the journal.
        instance.sql("UPDATE turns SET status = 'cancelled', completed_at = created_at WHERE role = 'assistant'").await;
        let before = turns::find(&instance.db, instance.owner, id).await.unwrap().unwrap();
        gate.notify_one();
        live.wait_until_ended().await;
        let after = turns::find(&instance.db, instance.owner, id).await.unwrap().unwrap();
        assert_eq!(after, before, "its blocks, too");
        let stored = events::list_after(&instance.db, instance.owner, id, 0, 100).await.unwrap();
        assert!(!stored.events.iter().any(|(_, event)| event.contains("turn_end")), "{stored:#?}");
        instance.close().await;
    }
}

#[tokio::test]
async fn stop_in_process_that_lost_its_claim_changes_nothing() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let mut claim = Claim::acquire(&fresh.db, ids::mint()).await.unwrap();
    claim.start_epoch().await.unwrap();
    let provider = ScriptedProvider::new("scripted", [streamed_answer([text_step("first"), ScriptedStep::Hang])]);
    let instance = TestServer::with_database(fresh.db.clone(), provider).await;
    let id = instance.send("?").await.assistant_turn.id;
    instance.wait_until(id, |turn| turn.content_text() == "first").await;
    // Nothing drives the turn in this server, and another process claims the database.
    let idle = TestServer::with_database(fresh.db.clone(), ScriptedProvider::new("scripted", [])).await;
    claim.release().await;
    let other = Db::open(&fresh.url).await.unwrap();
    let mut taken = Claim::acquire(&other, ids::mint()).await.unwrap();
    taken.start_epoch().await.unwrap();
    let stopped = idle.service.stop_turn(idle.owner, id).await;
    assert!(matches!(stopped, Err(ServiceError::Store(StoreError::InUse))), "{stopped:?}");
    let swept = idle.service.supervisor().sweep().await.unwrap();
    assert_eq!(swept, 0);
    let turn = turns::find(&other, idle.owner, id).await.unwrap().unwrap();
    assert_eq!(turn.status, TurnStatus::Streaming);
    taken.release().await;
    other.close().await;
    fresh.close().await;
}
