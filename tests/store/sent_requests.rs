//! Stored requests: each is read back byte for byte however it is stored, on any tree and after deletions, and the
//! stored size of a path grows linearly.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::json;
use turnleaf::domain::*;
use turnleaf_interchange::{self, archive::ArchivedGeneration};
use turnleaf_run::request_base_cache::RequestBaseCache;
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::transfer::archive;
use turnleaf_store::turns::generations::requests::{self, StoredRequest};
use turnleaf_store::turns::generations::{self, NewGeneration, RawKind};
use turnleaf_store::{Db, deletions};

use crate::databases::{noon, test_databases};
use crate::domain_fixtures::{next_id, next_time};
use crate::tree_fixtures::{TreeFixture, plant_tree, pseudo_random_parent};

/// Builds a request body with every message of a path, and its manifest.
fn request_and_list(path: &[Turn]) -> (Bytes, Bytes) {
    let message = |turn: &Turn| json!({ "role": turn.role, "content": format!("{} {}", turn.id, "word ".repeat(400)) });
    let body = json!({ "messages": path.iter().map(message).collect::<Vec<_>>(), "model": "m", "stream": true });
    let entry = |turn: &Turn| json!({ "turn_id": turn.id, "mode": "canonical" });
    let manifest = json!({ "not_sent": [], "turns": path.iter().map(entry).collect::<Vec<_>>() });
    (body.to_string().into(), manifest.to_string().into())
}

/// Stores the requests of a reply as a run does: as a delta of the base that the cache names, if it is long enough.
async fn store_request(
    db: &Db,
    bases: &RequestBaseCache,
    bush: &TreeFixture,
    reply: &Turn,
    step: u32,
) -> (GenerationId, Bytes, Bytes) {
    let mut path = bush.walk_to_root(reply);
    path.truncate(path.len() - 1 + step as usize);
    let (body, manifest) = request_and_list(&path);
    let base = match turnleaf::domain::encoding::byte_delta::is_too_short_for_delta(body.len() + manifest.len()) {
        true => None,
        false => bases.load_base(db, (reply.id, step, "demo", "scripted")).await.unwrap(),
    };
    let request = match base {
        None => StoredRequest::from_whole(body.clone(), manifest.clone()),
        Some(base) => StoredRequest::against_base(&base, body.clone(), manifest.clone()),
    };
    let new = NewGeneration {
        id: next_id(),
        turn_id: reply.id,
        step,
        provider: "demo".into(),
        api: "openai_chat".into(),
        model_requested: "scripted".into(),
        request,
        raw_kind: RawKind::None,
        started_at: noon(),
    };
    let mut tx = db.begin().await.unwrap();
    generations::insert(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
    (new.id, body, manifest)
}

async fn number(db: &Db, sql: &'static str) -> usize {
    let number: i64 = match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
    };
    number as usize
}

async fn stored_bytes(db: &Db) -> usize {
    number(db, "SELECT CAST(SUM(LENGTH(body) + LENGTH(manifest)) AS BIGINT) FROM generation_requests").await
}

/// Returns how many requests are stored as deltas.
async fn after_others(db: &Db) -> usize {
    number(db, "SELECT COUNT(*) FROM generation_requests WHERE base_id IS NOT NULL").await
}

async fn run(db: &Db, sql: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(sql).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(sql).execute(writer).await.unwrap()),
    }
}

/// Ends all generations, so that `fsck` has no finding.
async fn end_all_turns(db: &Db) {
    run(db, "UPDATE generations SET status = 'complete', ended_at = started_at").await;
}

#[tokio::test]
async fn every_request_of_any_tree_is_read_as_it_was_sent() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, ModelLock::new("demo", "scripted"), 70, pseudo_random_parent).await;
        let (mut calls, bases) = (HashMap::new(), RequestBaseCache::default());
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            for step in 0..=(reply.ord % 2) as u32 {
                let (id, body, manifest) = store_request(db, &bases, &bush, reply, step).await;
                calls.insert(id, (reply.id, body, manifest));
            }
        }
        end_all_turns(db).await;
        let stranger: UserId = next_id();
        let read_as_sent = async |calls: &HashMap<GenerationId, (TurnId, Bytes, Bytes)>| {
            for (id, (turn, body, manifest)) in calls {
                let read = requests::find(db, bush.owner, *id).await.unwrap();
                assert_eq!(read.as_deref(), Some(&body[..]));
                assert_eq!(requests::find(db, stranger, *id).await.unwrap(), None);
                let listed = generations::list(db, bush.owner, *turn).await.unwrap();
                let listed = listed.iter().find(|one| one.id == *id).unwrap();
                let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
                assert_eq!(listed.request_manifest, manifest);
                assert_eq!(generations::find(db, bush.owner, *id).await.unwrap().unwrap(), *listed);
            }
        };
        read_as_sent(&calls).await;
        assert!(after_others(db).await > 5, "not all of them are whole");
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
        // Permanent deletion of a reply deletes the requests below it and keeps all others.
        let gone = &bush.turns.iter().filter(|turn| turn.role == Role::Assistant).nth(4).unwrap();
        let new = deletions::NewDeletion {
            id: next_id(),
            owner_id: bush.owner,
            chat_id: bush.chat,
            root: deletions::DeletionRoot::Turn(gone.id),
            at: next_time(),
        };
        let mut tx = db.begin().await.unwrap();
        deletions::soft_delete(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        assert!(deletions::purge::schedule_purge(&mut tx, bush.owner, new.id, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let below = |turn: &TurnId| {
            let turn = bush.turns.iter().find(|one| one.id == *turn).unwrap();
            bush.walk_to_root(turn).iter().any(|up| up.id == gone.id)
        };
        for doomed in deletions::purge::list_due(db, next_time()).await.unwrap() {
            for turn in deletions::purge::turns_to_delete(db, doomed).await.unwrap() {
                let mut tx = db.begin().await.unwrap();
                deletions::purge::delete_turns(&mut tx, doomed, &[turn]).await.unwrap();
                tx.commit().await.unwrap();
                calls.retain(|_, (of, ..)| of.uuid() != turn);
                read_as_sent(
                    &calls.iter().filter(|(_, (of, ..))| !below(of)).map(|(id, call)| (*id, call.clone())).collect(),
                )
                .await;
            }
            let mut tx = db.begin().await.unwrap();
            deletions::purge::finish(&mut tx, doomed).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert!(calls.iter().all(|(_, (of, ..))| !below(of)), "what is below it is gone");
        read_as_sent(&calls).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn request_storage_grows_linearly_with_chat_length() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, ModelLock::new("demo", "scripted"), 400, |n| n.checked_sub(1)).await;
        let (mut sent, bases) = (0, RequestBaseCache::default());
        let mut longest = 0;
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            let (_, body, manifest) = store_request(db, &bases, &bush, reply, 0).await;
            sent += body.len() + manifest.len();
            longest = body.len() + manifest.len();
        }
        end_all_turns(db).await;
        let stored = stored_bytes(db).await;
        assert!(sent > 90 * longest, "{sent} bytes in all, {longest} of the last");
        assert!(stored < sent / 6, "{stored} of {sent} bytes are stored");
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}

#[tokio::test]
async fn request_is_not_based_on_stale_base_of_changed_chat() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, ModelLock::new("demo", "scripted"), 40, |n| n.checked_sub(1)).await;
        let replies: Vec<&Turn> = bush.turns.iter().filter(|turn| turn.role == Role::Assistant).collect();
        let (last, before) = replies.split_last().unwrap();
        let bases = RequestBaseCache::default();
        for reply in before {
            store_request(db, &bases, &bush, reply, 0).await;
        }
        let whole = before.len() - after_others(db).await;
        // The state after a chat was deleted permanently and imported again from an edited archive.
        run(db, "UPDATE generation_requests SET body = manifest WHERE base_id IS NULL; UPDATE chats SET epoch = id")
            .await;
        let (id, body, _) = store_request(db, &bases, &bush, last, 0).await;
        assert_eq!(requests::find(db, bush.owner, id).await.unwrap().as_deref(), Some(&body[..]));
        assert_eq!(replies.len() - after_others(db).await, whole + 1, "it has little of what is there now");
        fresh.close().await;
    }
}

#[tokio::test]
async fn request_of_other_model_in_between_is_skipped_as_base() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, ModelLock::new("demo", "scripted"), 24, |n| n.checked_sub(1)).await;
        let bases = RequestBaseCache::default();
        let replies: Vec<&Turn> = bush.turns.iter().filter(|turn| turn.role == Role::Assistant).collect();
        for reply in &replies[..10] {
            store_request(db, &bases, &bush, reply, 0).await;
        }
        let own = bases.load_base(db, (replies[11].id, 0, "demo", "scripted")).await.unwrap().unwrap();
        let newest = requests::find_base_id(db, (replies[10].id, 0, "demo", "scripted")).await.unwrap().unwrap();
        assert_eq!(own.id, newest.0, "a reply without a call lies between");
        assert!(bases.load_base(db, (replies[11].id, 0, "demo", "another")).await.unwrap().is_none());
        fresh.close().await;
    }
}

#[tokio::test]
async fn imported_requests_are_stored_as_deltas() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, ModelLock::new("demo", "scripted"), 70, pseudo_random_parent).await;
        let mut calls = Vec::new();
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            for step in 0..2 {
                let mut path = bush.walk_to_root(reply);
                path.truncate(path.len() - 1 + step);
                let (body, manifest) = request_and_list(&path);
                let imported = ArchivedGeneration {
                    id: next_id(),
                    turn_id: reply.id,
                    step: step as u32,
                    provider: "demo".into(),
                    api: None,
                    model_requested: "scripted".into(),
                    model_returned: None,
                    request: turnleaf_interchange::archive::ArchivedBytes(body.to_vec()),
                    request_manifest: serde_json::from_slice(&manifest).unwrap(),
                    raw_kind: "none".into(),
                    raw_complete: true,
                    raw: None,
                    status: "complete".into(),
                    stop_reason: None,
                    usage: Usage::default(),
                    cost_micros: None,
                    cost_basis: None,
                    price_version: None,
                    error: None,
                    first_token_at: None,
                    started_at: noon(),
                    ended_at: Some(noon()),
                };
                let mut tx = db.begin().await.unwrap();
                archive::insert_generation(&mut tx, &imported).await.unwrap();
                tx.commit().await.unwrap();
                calls.push(imported);
            }
        }
        assert!(after_others(db).await > calls.len() / 3, "{} of {}", after_others(db).await, calls.len());
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            let imported: Vec<_> = calls.iter().filter(|call| call.turn_id == reply.id).cloned().collect();
            let mut damages = Vec::new();
            assert_eq!(archive::generations(db, bush.owner, reply.id, &mut damages).await.unwrap(), imported);
            assert_eq!(damages, []);
        }
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}
