//! Requests for titles, on both databases: one chapter of the walkthrough.

use serde_json::json;
use turnleaf::domain::*;
use turnleaf_store::chats::title_requests::{self, NewTitleRequest};
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::turns::generations::{GenerationEnd, GenerationStatus, RawKind};
use turnleaf_store::usage::storage;
use turnleaf_store::{Db, StoreError};

use crate::domain_fixtures::{next_id, next_time};
use crate::reruns::StoryState;

fn new_request(reply: TurnId) -> NewTitleRequest {
    NewTitleRequest {
        id: next_id(),
        turn_id: reply,
        provider: "openai".into(),
        api: "openai_chat".into(),
        model_requested: "gpt".into(),
        body: r#"{"messages":[]}"#.into(),
        manifest: r#"{"turns":[]}"#.into(),
        started_at: next_time(),
    }
}

fn end_of(new: &NewTitleRequest) -> GenerationEnd {
    GenerationEnd {
        id: GenerationId::from(new.id.uuid()),
        status: GenerationStatus::Complete,
        raw_complete: true,
        model_returned: Some("gpt-1\0".into()),
        stop_reason: Some("stop".into()),
        usage: Usage { input_tokens: Some(7), output_tokens: Some(2), ..Usage::default() },
        charge: Some(Charge { micros: 5, basis: CostBasis::Listed, price_version: Some("2026".into()) }),
        error: None,
        first_token_at: Some(next_time()),
        ended_at: next_time(),
        estimate: None,
        body: Some("data: a title".into()),
    }
}

/// Returns whether the checker finds a request that nothing will end.
async fn is_found_open(db: &Db) -> bool {
    let findings = fsck::check(db, CheckMode::Stopped).await.unwrap();
    findings.iter().any(|finding| (finding.invariant, finding.table) == ("R5", "title_requests"))
}

/// The reply of the story has ended by now.
pub async fn check_title_requests(db: &Db, state: &StoryState<'_>) {
    let (owner, chat, stranger): (UserId, ChatId, UserId) = (state.owner, state.chat, next_id());
    let before = storage::measure(db, owner).await.unwrap();
    let new = new_request(state.reply.id);
    let mut tx = db.begin().await.unwrap();
    assert!(!title_requests::insert(&mut tx, stranger, &new).await.unwrap());
    assert!(title_requests::insert(&mut tx, owner, &new).await.unwrap());
    tx.commit().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let second = title_requests::insert(&mut tx, owner, &new_request(state.reply.id)).await;
    assert!(matches!(second, Err(StoreError::NotUnique)), "one at a time: {second:?}");
    tx.rollback().await.unwrap();

    let found = title_requests::find(db, owner, new.id).await.unwrap().unwrap();
    assert_eq!((found.chat_id, found.title, found.call.turn_id), (chat, None, state.reply.id));
    assert_eq!((found.call.status, found.call.raw_kind), (GenerationStatus::Running, RawKind::SseEvents));
    assert_eq!(found.call.request_manifest, json!({ "turns": [] }));
    assert_eq!(title_requests::find_body(db, owner, new.id).await.unwrap().unwrap(), new.body);
    assert_eq!(title_requests::find_raw(db, owner, new.id).await.unwrap(), None);

    // The first end counts.
    let end = end_of(&new);
    let mut tx = db.begin().await.unwrap();
    assert!(!title_requests::finish(&mut tx, stranger, &end, Some("Boats")).await.unwrap());
    assert!(title_requests::finish(&mut tx, owner, &end, Some("Boats")).await.unwrap());
    assert!(!title_requests::finish(&mut tx, owner, &end, Some("Ships")).await.unwrap());
    tx.commit().await.unwrap();
    let found = title_requests::find(db, owner, new.id).await.unwrap().unwrap();
    assert_eq!((found.title.as_deref(), found.call.status), (Some("Boats"), GenerationStatus::Complete));
    assert_eq!((found.call.usage, found.call.cost_micros), (end.usage, Some(5)));
    assert_eq!(
        (found.call.model_returned.as_deref(), found.call.ended_at),
        (Some("gpt-1\u{2400}"), Some(end.ended_at))
    );
    assert_eq!((found.call.raw_bytes, found.call.raw_complete), (Some(13), true));
    assert_eq!(title_requests::find_raw(db, owner, new.id).await.unwrap().unwrap(), b"data: a title");
    assert!(storage::measure(db, owner).await.unwrap().chats > before.chats);

    // A request that its process left running ends at the next start, and before another request of its chat.
    let (left, failure) = (new_request(state.reply.id), Failure::new(FailureKind::ServerRestarted, ""));
    assert_eq!(title_requests::find_running(db, owner, chat).await.unwrap(), None);
    for all in [true, false] {
        let left = NewTitleRequest { id: next_id(), ..left.clone() };
        let mut tx = db.begin().await.unwrap();
        title_requests::insert(&mut tx, owner, &left).await.unwrap();
        title_requests::interrupt_running_of_chat(&mut tx, stranger, chat, &failure, next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let status = async || title_requests::find(db, owner, left.id).await.unwrap().unwrap().call.status;
        assert_eq!(status().await, GenerationStatus::Running);
        assert_eq!(title_requests::find_running(db, owner, chat).await.unwrap(), Some(left.id));
        assert_eq!(title_requests::find_running(db, stranger, chat).await.unwrap(), None);
        assert!(is_found_open(db).await);
        let mut tx = db.begin().await.unwrap();
        match all {
            true => title_requests::interrupt_running(&mut tx, &failure, next_time()).await.unwrap(),
            false => {
                title_requests::interrupt_running_of_chat(&mut tx, owner, chat, &failure, next_time()).await.unwrap();
            }
        }
        tx.commit().await.unwrap();
        assert_eq!(status().await, GenerationStatus::Error);
        assert!(!is_found_open(db).await);
        assert_eq!(title_requests::find(db, owner, left.id).await.unwrap().unwrap().call.error, Some(failure.clone()));
    }

    assert_eq!(title_requests::count(db, owner, chat).await.unwrap(), 3);
    let listed = title_requests::list(db, owner, chat, 9).await.unwrap();
    assert_eq!((listed.len(), listed[2].id, listed[2].title.as_deref()), (3, new.id, Some("Boats")));
    assert_eq!(title_requests::list(db, owner, chat, 1).await.unwrap(), listed[..1]);
    assert_eq!(title_requests::count(db, stranger, chat).await.unwrap(), 0);
    assert_eq!(title_requests::list(db, stranger, chat, 9).await.unwrap(), []);
    assert_eq!(title_requests::find(db, stranger, new.id).await.unwrap(), None);
    assert_eq!(title_requests::find_body(db, stranger, new.id).await.unwrap(), None);
    assert_eq!(title_requests::find_raw(db, stranger, new.id).await.unwrap(), None);
}
