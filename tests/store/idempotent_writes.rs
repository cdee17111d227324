//! Journal writes are idempotent: when the acknowledgement of a commit is lost, the journal writes the same batch
//! again.

use turnleaf::domain::*;
use turnleaf_store::turns::events::{self, EventRow, JoinedEvents};
use turnleaf_store::turns::generations::raw::{self, RawChunk};
use turnleaf_store::turns::generations::requests::StoredRequest;
use turnleaf_store::turns::generations::{self, GenerationEnd, GenerationStatus, NewGeneration, RawKind};
use turnleaf_store::{Db, StoreError, TimeLimits};

use crate::databases::{migrated_postgres, test_databases};
use crate::domain_fixtures::{next_id, next_time};
use crate::failures::{create_linear_chat, create_owner};

async fn append(db: &Db, rows: &[EventRow<'_>]) -> Result<(), StoreError> {
    let mut tx = db.begin().await.unwrap();
    events::append(&mut tx, rows).await?;
    tx.commit_idempotent().await
}

async fn append_raw(db: &Db, generation_id: GenerationId, pieces: &[(u64, &[u8])]) -> Result<(), StoreError> {
    let mut tx = db.begin().await.unwrap();
    let chunks: Vec<RawChunk<'_>> =
        pieces.iter().map(|(offset, bytes)| RawChunk { generation_id, offset: *offset, bytes }).collect();
    raw::append_chunks(&mut tx, &chunks).await?;
    tx.commit_idempotent().await
}

fn new_generation(turn_id: TurnId) -> NewGeneration {
    NewGeneration {
        id: next_id(),
        turn_id,
        step: 0,
        provider: "scripted".into(),
        api: "openai_chat".into(),
        model_requested: "model-a".into(),
        request: StoredRequest::from_whole("{}".into(), "{\"turns\":[]}".into()),
        raw_kind: RawKind::SseEvents,
        started_at: next_time(),
    }
}

#[tokio::test]
async fn events_appended_again_are_stored_once_and_others_are_refused() {
    for fresh in test_databases().await {
        let (_, line) = create_linear_chat(&fresh.db, create_owner(&fresh.db).await, 2).await;
        let texts: Vec<String> = (1..=100).map(|n| format!("{{\"type\":\"x\",\"n\":{n}}}")).collect();
        let of = |turn: &Turn| {
            let turn_id = turn.id;
            (1..).zip(&texts).map(move |(seq, event)| EventRow { turn_id, seq, event }).collect::<Vec<_>>()
        };
        let rows: Vec<EventRow<'_>> = line.iter().flat_map(of).collect();
        append(&fresh.db, &rows[..150]).await.unwrap();
        append(&fresh.db, &rows[..150]).await.unwrap();
        append(&fresh.db, &rows).await.unwrap();
        for turn in &line {
            assert_eq!(events::last_seq(&fresh.db, turn.id).await.unwrap(), 100);
        }
        let other = EventRow { event: "{\"type\":\"y\"}", ..rows[199] };
        let refused = append(&fresh.db, &[rows[0], other]).await.unwrap_err();
        assert!(matches!(refused, StoreError::NotUnique), "{refused:?}");
        fresh.close().await;
    }
}

#[tokio::test]
async fn generation_stored_again_is_stored_once_and_another_of_its_step_is_refused() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (_, line) = create_linear_chat(&fresh.db, owner, 1).await;
        let new = new_generation(line[0].id);
        for _ in 0..2 {
            let mut tx = fresh.db.begin().await.unwrap();
            generations::insert(&mut tx, &new).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(generations::list_ids(&fresh.db, owner, line[0].id).await.unwrap(), [new.id]);
        let mut tx = fresh.db.begin().await.unwrap();
        let refused = generations::insert(&mut tx, &new_generation(line[0].id)).await.unwrap_err();
        assert!(matches!(refused, StoreError::NotUnique), "{refused:?}");
        drop(tx);
        fresh.close().await;
    }
}

#[tokio::test]
async fn bytes_stored_again_are_stored_once_however_split() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (_, line) = create_linear_chat(&fresh.db, owner, 1).await;
        let new = new_generation(line[0].id);
        let mut tx = fresh.db.begin().await.unwrap();
        generations::insert(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        append_raw(&fresh.db, new.id, &[(0, b"one "), (4, b"two ")]).await.unwrap();
        append_raw(&fresh.db, new.id, &[(0, b"one "), (4, b"two ")]).await.unwrap();
        append_raw(&fresh.db, new.id, &[(0, b"one two three")]).await.unwrap();
        append_raw(&fresh.db, new.id, &[(8, b"th")]).await.unwrap();
        let stored = || async { raw::find(&fresh.db, owner, new.id).await.unwrap().unwrap() };
        assert_eq!(stored().await, b"one two three");
        let refused = append_raw(&fresh.db, new.id, &[(4, b"2 ")]).await.unwrap_err();
        assert!(matches!(refused, StoreError::NotUnique), "{refused:?}");

        // The whole last batch is written again after its body was packed.
        let end = GenerationEnd {
            id: new.id,
            status: GenerationStatus::Complete,
            raw_complete: true,
            model_returned: None,
            stop_reason: None,
            usage: Usage::default(),
            charge: None,
            error: None,
            first_token_at: None,
            ended_at: next_time(),
            estimate: None,
            body: None,
        };
        for _ in 0..2 {
            let mut tx = fresh.db.begin().await.unwrap();
            let last = RawChunk { generation_id: new.id, offset: 13, bytes: b" four" };
            raw::append_chunks(&mut tx, &[last]).await.unwrap();
            assert!(generations::finish(&mut tx, &end).await.unwrap(), "the same end is no other one");
            tx.commit().await.unwrap();
            assert_eq!(stored().await, b"one two three four");
        }
        assert_eq!(raw::list_unpacked(&fresh.db, 9).await.unwrap(), []);
        let left = match &fresh.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(CHUNKS).fetch_one(writer).await.unwrap(),
            Db::Postgres { writer, .. } => sqlx::query_scalar::<_, i64>(CHUNKS).fetch_one(writer).await.unwrap(),
        };
        assert_eq!(left, 0, "no piece lies beside the packed body");
        fresh.close().await;
    }
}

#[tokio::test]
async fn deltas_stored_again_in_other_rows_are_read_once() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (_, line) = create_linear_chat(&fresh.db, owner, 1).await;
        let (turn_id, block_id) = (line[0].id, next_id());
        let delta = |text: &str| {
            let event = Event::BlockDelta { block_id, text: text.to_owned() };
            serde_json::to_string(&event).unwrap()
        };
        let texts: Vec<String> = (1..=9).map(|n| delta(&format!("{n} \"\u{e9}\" "))).collect();
        let rows: Vec<EventRow<'_>> = (1..).zip(&texts).map(|(seq, event)| EventRow { turn_id, seq, event }).collect();
        let store = async |some: &[EventRow<'_>]| {
            let joined = events::join(some.iter().copied());
            let rows: Vec<EventRow<'_>> = joined.iter().map(JoinedEvents::row).collect();
            append(&fresh.db, &rows).await
        };
        // A retry has more, and an ending has what came back, one by one.
        for some in [0..3, 0..3, 0..5] {
            store(&rows[some]).await.unwrap();
        }
        append(&fresh.db, &rows[2..]).await.unwrap();
        let all: Vec<(u64, String)> = (1..).zip(texts.clone()).collect();
        for after in 0..=9 {
            let page = events::list_after(&fresh.db, owner, turn_id, after, 100).await.unwrap();
            assert_eq!(page.events, all[after as usize..], "after {after}");
        }
        assert_eq!(events::last_seq(&fresh.db, turn_id).await.unwrap(), 9);
        let others = [delta("other"), delta("writer")];
        let others: Vec<EventRow<'_>> =
            (1..).zip(&others).map(|(seq, event)| EventRow { turn_id, seq, event }).collect();
        assert!(matches!(store(&others).await, Err(StoreError::NotUnique)));
        fresh.close().await;
    }
}

const CHUNKS: &str = "SELECT COUNT(*) FROM generation_chunks";

#[tokio::test]
async fn refused_commit_is_not_taken_for_stored_one() {
    let Some(fresh) = migrated_postgres().await else { return };
    let db = Db::open_with_limits(&fresh.url, TimeLimits::SERVING).await.unwrap();
    let owner = create_owner(&db).await;
    let mut tx = db.begin().await.unwrap();
    turnleaf_store::chats::insert(&mut tx, &crate::domain_fixtures::chat(owner)).await.unwrap();
    let Db::Postgres { writer, .. } = &fresh.db else { unreachable!() };
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND state = 'idle in transaction'";
    let ended: i64 = sqlx::query_scalar(end).fetch_one(writer).await.unwrap();
    assert_eq!(ended, 1);
    let refused = tx.commit().await.unwrap_err();
    assert!(refused.is_busy() && !matches!(refused, StoreError::Unacknowledged(_)), "{refused:?}");
    assert_eq!(turnleaf_store::chats::list(&db, owner, 9).await.unwrap(), []);
    db.close().await;
    fresh.close().await;
}
