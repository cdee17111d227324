//! What was sent is read as it was, however it is stored: on any tree, after deletions, and not as long as its square.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::json;
use turnleaf::domain::*;
use turnleaf_interchange::{self, archive::ArchivedGeneration};
use turnleaf_run::bases::Bases;
use turnleaf_store::fsck::{self, While};
use turnleaf_store::generations::requests::{self, StoredRequest};
use turnleaf_store::generations::{self, NewGeneration, RawKind};
use turnleaf_store::{Db, archive, deletions};

use crate::actors::{id, now};
use crate::bush::{Bush, anywhere, bush};
use crate::databases::{fresh, noon};

/// A body that holds every message of a path, and its manifest.
fn sent(path: &[Turn]) -> (Bytes, Bytes) {
    let said = |turn: &Turn| json!({ "role": turn.role, "content": format!("{} {}", turn.id, "word ".repeat(400)) });
    let body = json!({ "messages": path.iter().map(said).collect::<Vec<_>>(), "model": "m", "stream": true });
    let entry = |turn: &Turn| json!({ "turn_id": turn.id, "mode": "canonical" });
    let manifest = json!({ "not_sent": [], "turns": path.iter().map(entry).collect::<Vec<_>>() });
    (body.to_string().into(), manifest.to_string().into())
}

/// Stores the calls of a reply as a run does: each after what the database names, if it is long enough.
async fn call(db: &Db, bases: &Bases, bush: &Bush, reply: &Turn, step: u32) -> (GenerationId, Bytes, Bytes) {
    let mut path = bush.walked(reply);
    path.truncate(path.len() - 1 + step as usize);
    let (body, manifest) = sent(&path);
    let base = match turnleaf::domain::alike::is_short(body.len() + manifest.len()) {
        true => None,
        false => bases.before(db, (reply.id, step, "demo", "scripted")).await.unwrap(),
    };
    let request = match base {
        None => StoredRequest::whole(body.clone(), manifest.clone()),
        Some(base) => StoredRequest::after(&base, body.clone(), manifest.clone()),
    };
    let new = NewGeneration {
        id: id(),
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

/// How many requests are stored after others.
async fn after_others(db: &Db) -> usize {
    number(db, "SELECT COUNT(*) FROM generation_requests WHERE base_id IS NOT NULL").await
}

async fn run(db: &Db, sql: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(sql).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(sql).execute(writer).await.unwrap()),
    }
}

/// The calls are over, so that the checker has nothing to say of them.
async fn end_all(db: &Db) {
    run(db, "UPDATE generations SET status = 'complete', ended_at = started_at").await;
}

#[tokio::test]
async fn every_request_of_any_tree_is_read_as_it_was_sent() {
    for fresh in fresh().await {
        let db = &fresh.db;
        let bush = bush(db, Lock::new("demo", "scripted"), 70, anywhere).await;
        let (mut calls, bases) = (HashMap::new(), Bases::default());
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            for step in 0..=(reply.ord % 2) as u32 {
                let (id, body, manifest) = call(db, &bases, &bush, reply, step).await;
                calls.insert(id, (reply.id, body, manifest));
            }
        }
        end_all(db).await;
        let stranger: UserId = id();
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
        assert_eq!(fsck::check(db, While::Stopped).await.unwrap(), Vec::new());
        // A reply that goes for ever takes what was sent below it, and leaves all else.
        let gone = &bush.turns.iter().filter(|turn| turn.role == Role::Assistant).nth(4).unwrap();
        let new = deletions::NewDeletion {
            id: id(),
            owner_id: bush.owner,
            chat_id: bush.chat,
            root: deletions::Root::Turn(gone.id),
            at: now(),
        };
        let mut tx = db.begin().await.unwrap();
        deletions::mark(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        assert!(deletions::purge::doom(&mut tx, bush.owner, new.id, now()).await.unwrap());
        tx.commit().await.unwrap();
        let below = |turn: &TurnId| {
            let turn = bush.turns.iter().find(|one| one.id == *turn).unwrap();
            bush.walked(turn).iter().any(|up| up.id == gone.id)
        };
        for doomed in deletions::purge::doomed(db, now()).await.unwrap() {
            for turn in deletions::purge::turns_of(db, doomed).await.unwrap() {
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
async fn a_chat_ten_times_as_long_is_not_stored_a_hundred_times_over() {
    for fresh in fresh().await {
        let db = &fresh.db;
        let bush = bush(db, Lock::new("demo", "scripted"), 400, |n| n.checked_sub(1)).await;
        let (mut sent, bases) = (0, Bases::default());
        let mut longest = 0;
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            let (_, body, manifest) = call(db, &bases, &bush, reply, 0).await;
            sent += body.len() + manifest.len();
            longest = body.len() + manifest.len();
        }
        end_all(db).await;
        let stored = stored_bytes(db).await;
        assert!(sent > 90 * longest, "{sent} bytes in all, {longest} of the last");
        assert!(stored < sent / 6, "{stored} of {sent} bytes are stored");
        assert_eq!(fsck::check(db, While::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}

#[tokio::test]
async fn a_request_is_not_stored_after_what_was_kept_of_a_chat_that_was_another_one() {
    for fresh in fresh().await {
        let db = &fresh.db;
        let bush = bush(db, Lock::new("demo", "scripted"), 40, |n| n.checked_sub(1)).await;
        let replies: Vec<&Turn> = bush.turns.iter().filter(|turn| turn.role == Role::Assistant).collect();
        let (last, before) = replies.split_last().unwrap();
        let bases = Bases::default();
        for reply in before {
            call(db, &bases, &bush, reply, 0).await;
        }
        let whole = before.len() - after_others(db).await;
        // As it is where the chat was deleted for ever and came in again from an archive that somebody had edited.
        run(db, "UPDATE generation_requests SET body = manifest WHERE base_id IS NULL; UPDATE chats SET epoch = id")
            .await;
        let (id, body, _) = call(db, &bases, &bush, last, 0).await;
        assert_eq!(requests::find(db, bush.owner, id).await.unwrap().as_deref(), Some(&body[..]));
        assert_eq!(replies.len() - after_others(db).await, whole + 1, "it has little of what is there now");
        fresh.close().await;
    }
}

#[tokio::test]
async fn another_models_request_between_two_of_one_is_passed_over() {
    for fresh in fresh().await {
        let db = &fresh.db;
        let bush = bush(db, Lock::new("demo", "scripted"), 24, |n| n.checked_sub(1)).await;
        let bases = Bases::default();
        let replies: Vec<&Turn> = bush.turns.iter().filter(|turn| turn.role == Role::Assistant).collect();
        for reply in &replies[..10] {
            call(db, &bases, &bush, reply, 0).await;
        }
        let own = bases.before(db, (replies[11].id, 0, "demo", "scripted")).await.unwrap().unwrap();
        let newest = requests::before(db, (replies[10].id, 0, "demo", "scripted")).await.unwrap().unwrap();
        assert_eq!(own.id, newest.0, "a reply without a call lies between");
        assert!(bases.before(db, (replies[11].id, 0, "demo", "another")).await.unwrap().is_none());
        fresh.close().await;
    }
}

#[tokio::test]
async fn calls_that_come_in_are_stored_after_others_too() {
    for fresh in fresh().await {
        let db = &fresh.db;
        let bush = bush(db, Lock::new("demo", "scripted"), 70, anywhere).await;
        let mut calls = Vec::new();
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            for step in 0..2 {
                let mut path = bush.walked(reply);
                path.truncate(path.len() - 1 + step);
                let (body, manifest) = sent(&path);
                let came = ArchivedGeneration {
                    id: id(),
                    turn_id: reply.id,
                    step: step as u32,
                    provider: "demo".into(),
                    api: None,
                    model_requested: "scripted".into(),
                    model_returned: None,
                    request: turnleaf_interchange::archive::Bytes(body.to_vec()),
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
                archive::insert_generation(&mut tx, &came).await.unwrap();
                tx.commit().await.unwrap();
                calls.push(came);
            }
        }
        assert!(after_others(db).await > calls.len() / 3, "{} of {}", after_others(db).await, calls.len());
        for reply in bush.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            let came: Vec<_> = calls.iter().filter(|call| call.turn_id == reply.id).cloned().collect();
            let mut damages = Vec::new();
            assert_eq!(archive::generations(db, bush.owner, reply.id, &mut damages).await.unwrap(), came);
            assert_eq!(damages, []);
        }
        assert_eq!(fsck::check(db, While::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}
