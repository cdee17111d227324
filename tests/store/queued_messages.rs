//! Queued messages, on both databases: one chapter of the walkthrough.

use turnleaf::domain::*;
use turnleaf_store::turns::queued_messages::{self, NewQueuedMessage};
use turnleaf_store::usage::storage;
use turnleaf_store::{Db, StoreError, turns};

use crate::domain_fixtures::{next_id, next_time};
use crate::reruns::StoryState;

pub async fn check_queue(db: &Db, state: &StoryState<'_>) {
    let (owner, stranger): (UserId, UserId) = (state.owner, next_id());
    let (reply, other) = (state.reply.id, state.question.id);
    let (first, second): (QueuedMessageId, QueuedMessageId) = (next_id(), next_id());
    let list = async |owner, after| {
        let queue = queued_messages::list(db, owner, after).await.unwrap();
        queue.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert!(!queued_messages::is_any_waiting(db).await.unwrap());
    let before = storage::measure(db, owner).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    for (ord, id) in [first, second].into_iter().enumerate() {
        let ord = u64::try_from(ord).unwrap();
        let new = NewQueuedMessage { id, chat_id: state.chat, after_turn_id: reply, ord, request: r#"{"content":[]}"# };
        queued_messages::insert(&mut tx, owner, &new, next_time()).await.unwrap();
        let nul = NewQueuedMessage { id: next_id(), request: "a\0b", ..new };
        let refused = queued_messages::insert(&mut tx, owner, &nul, next_time()).await;
        assert!(matches!(refused, Err(StoreError::Nul(_))));
    }
    tx.commit().await.unwrap();
    assert_eq!(list(owner, reply).await, [first, second]);
    assert!(queued_messages::is_any_waiting(db).await.unwrap());
    assert!(storage::measure(db, owner).await.unwrap().chats >= before.chats + 2 * r#"{"content":[]}"#.len() as u64);
    assert_eq!((list(stranger, reply).await, list(owner, other).await), (vec![], vec![]));
    assert!(queued_messages::find(db, stranger, first).await.unwrap().is_none());
    let ended = turns::find(db, owner, reply).await.unwrap().unwrap().status;
    let is_complete = ended == TurnStatus::Complete;
    let due = if is_complete { vec![(owner, first)] } else { Vec::new() };
    assert_eq!(queued_messages::list_due(db, 9).await.unwrap(), due);

    // Somebody else's are not held. The first message holds the queue, until it is edited.
    let held = MessageCode::AccountWasDisabled.into();
    let mut tx = db.begin().await.unwrap();
    queued_messages::hold_all(&mut tx, stranger, &held).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(queued_messages::list_due(db, 9).await.unwrap(), due);
    let mut tx = db.begin().await.unwrap();
    queued_messages::hold_all(&mut tx, owner, &held).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(queued_messages::list_due(db, 9).await.unwrap(), []);
    assert_eq!(queued_messages::find(db, owner, first).await.unwrap().unwrap().refusal, Some(held));
    assert_eq!(queued_messages::find(db, owner, second).await.unwrap().unwrap().refusal, None);
    let mut tx = db.begin().await.unwrap();
    assert!(queued_messages::set_request(&mut tx, owner, first, r#"{"content":[]}"#, next_time()).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(queued_messages::list_due(db, 9).await.unwrap(), due);

    // The second moves to the front, and is refused there.
    let reason = MessageCode::AttachedGone.into();
    let mut tx = db.begin().await.unwrap();
    assert!(!queued_messages::set_ord(&mut tx, stranger, first, 5, next_time()).await.unwrap());
    assert!(queued_messages::set_ord(&mut tx, owner, first, 5, next_time()).await.unwrap());
    assert!(!queued_messages::refuse(&mut tx, owner, second, "another request", &reason).await.unwrap());
    assert!(queued_messages::refuse(&mut tx, owner, second, r#"{"content":[]}"#, &reason).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(list(owner, reply).await, [second, first]);
    assert_eq!(queued_messages::find(db, owner, second).await.unwrap().unwrap().refusal, Some(reason));
    assert_eq!(queued_messages::list_due(db, 9).await.unwrap(), []);

    // An edit clears the refusal, and the queue moves behind another turn.
    let mut tx = db.begin().await.unwrap();
    assert!(!queued_messages::set_request(&mut tx, stranger, second, "{}", next_time()).await.unwrap());
    assert!(queued_messages::set_request(&mut tx, owner, second, "{}", next_time()).await.unwrap());
    queued_messages::follow(&mut tx, stranger, reply, other).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(list(owner, reply).await, [second, first]);
    let found = queued_messages::find(db, owner, second).await.unwrap().unwrap();
    assert_eq!((found.request.as_deref(), found.refusal), (Some("{}"), None));
    let mut tx = db.begin().await.unwrap();
    queued_messages::follow(&mut tx, owner, reply, other).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((list(owner, reply).await, list(owner, other).await), (vec![], vec![second, first]));

    // A sent one keeps its row and leaves the queue; nothing changes it any more.
    let mut tx = db.begin().await.unwrap();
    assert!(!queued_messages::mark_sent(&mut tx, stranger, second, other, next_time()).await.unwrap());
    assert!(queued_messages::mark_sent(&mut tx, owner, second, other, next_time()).await.unwrap());
    assert!(!queued_messages::mark_sent(&mut tx, owner, second, other, next_time()).await.unwrap());
    assert!(!queued_messages::set_request(&mut tx, owner, second, "{}", next_time()).await.unwrap());
    assert!(!queued_messages::set_ord(&mut tx, owner, second, 1, next_time()).await.unwrap());
    assert!(!queued_messages::delete(&mut tx, owner, second).await.unwrap());
    assert!(!queued_messages::delete(&mut tx, stranger, first).await.unwrap());
    assert!(queued_messages::delete(&mut tx, owner, first).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(list(owner, other).await, []);
    assert!(!queued_messages::is_any_waiting(db).await.unwrap());
    assert_eq!(storage::measure(db, owner).await.unwrap(), before);
    let sent = queued_messages::find(db, owner, second).await.unwrap().unwrap();
    assert_eq!((sent.request, sent.turn_id), (None, Some(other)));
    assert!(queued_messages::find(db, owner, first).await.unwrap().is_none());
}
