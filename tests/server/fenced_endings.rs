//! Endings of somebody to whom the turn does not belong any more: the ending that is stored stays.

use std::sync::Arc;

use tokio::sync::Notify;
use turnleaf::domain::TurnStatus;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{Scripted, Step};
use turnleaf_service::ServiceError;
use turnleaf_store::{Claim, Db, StoreError, turn_events, turns};

use crate::databases;
use crate::house::{House, answer, text};

#[tokio::test]
async fn ending_of_a_run_is_not_stored_over_another_ending() {
    let gate = Arc::new(Notify::new());
    let of_gate = gate.clone();
    let provider =
        move || Scripted::new("scripted", [answer([text("first"), Step::Until(of_gate.clone()), text(" second")])]);
    for house in House::everywhere(provider).await {
        let id = house.send("?").await.assistant_turn.id;
        house.until(id, |turn| turn.content_text() == "first").await;
        let live = house.service.supervisor().live(id).unwrap();
        // Somebody else ends the turn, and nothing of its journal tells.
        house.sql("UPDATE turns SET status = 'cancelled', completed_at = created_at WHERE role = 'assistant'").await;
        let before = turns::find(&house.db, house.owner, id).await.unwrap().unwrap();
        gate.notify_one();
        live.ended().await;
        let after = turns::find(&house.db, house.owner, id).await.unwrap().unwrap();
        assert_eq!(after, before, "its blocks, too");
        let stored = turn_events::after(&house.db, house.owner, id, 0, 100).await.unwrap();
        assert!(!stored.iter().any(|(_, event)| event.contains("turn_end")), "{stored:#?}");
        house.close().await;
    }
}

#[tokio::test]
async fn stop_in_a_process_that_lost_its_claim_changes_nothing() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let mut claim = Claim::take(&fresh.db, ids::mint()).await.unwrap();
    claim.begin_epoch().await.unwrap();
    let provider = Scripted::new("scripted", [answer([text("first"), Step::Hang])]);
    let house = House::upon(fresh.db.clone(), provider).await;
    let id = house.send("?").await.assistant_turn.id;
    house.until(id, |turn| turn.content_text() == "first").await;
    // Nothing drives it here, and another process takes the database.
    let idle = House::upon(fresh.db.clone(), Scripted::new("scripted", [])).await;
    claim.release().await;
    let other = Db::open(&fresh.url).await.unwrap();
    let mut taken = Claim::take(&other, ids::mint()).await.unwrap();
    taken.begin_epoch().await.unwrap();
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
