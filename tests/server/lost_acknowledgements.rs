//! Ambiguous commits: PostgreSQL stores a transaction, but its acknowledgement is lost. Nothing is done twice, and
//! nothing is left unfinished.

use std::sync::Arc;

use tokio::sync::Notify;
use turnleaf::domain::TurnStatus;
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_store::{Db, TimeLimits};

use crate::databases::{self, TestDatabase};
use crate::postgres_proxy::PostgresProxy;
use crate::test_server::{TestServer, streamed_answer, text_step, thinking_step};

/// Opens a migrated database of the cluster through a proxy. Returns `None` where no cluster is named.
pub async fn behind_proxy(limits: TimeLimits) -> Option<(TestDatabase, PostgresProxy, Db)> {
    let fresh = databases::migrated_postgres().await?;
    let (before, rest) = fresh.url.split_once('@').unwrap();
    let (host, name) = rest.split_once('/').unwrap();
    let proxy = PostgresProxy::start(tokio::net::lookup_host(host).await.unwrap().next().unwrap()).unwrap();
    let db = Db::open_with_limits(&format!("{before}@{}/{name}", proxy.address()), limits).await.unwrap();
    Some((fresh, proxy, db))
}

/// These statements select the transaction whose acknowledgement is lost.
const GROWTH: &str = "INSERT INTO turn_events";
const BEGINNING: &str = "INSERT INTO generations";
const ENDING: &str = "completed_at = $7";
const SUBMIT: &str = "INSERT INTO exchanges";

async fn reply_completes_when_the_acknowledgement_is_lost(of: &str) {
    let Some((fresh, proxy, db)) = behind_proxy(TimeLimits::SERVING).await else { return };
    let gate = Arc::new(Notify::new());
    let words: Vec<String> = (0..60).map(|n| format!("word {n} ")).collect();
    let steps = [thinking_step("hm"), text_step("first "), ScriptedStep::WaitForSignal(gate.clone())].into_iter();
    let steps = steps.chain(words.iter().map(|word| text_step(word))).chain([thinking_step("so")]).collect::<Vec<_>>();
    let provider = ScriptedProvider::new("scripted", [streamed_answer(steps), streamed_answer([text_step("next")])]);
    let log = provider.log();
    let instance = TestServer::with_database(db, provider).await;
    if of == BEGINNING || of == SUBMIT {
        proxy.drop_commit_acknowledgement(of);
    }
    let started = instance.send("?").await;
    instance.wait_until(started.assistant_turn.id, |turn| turn.content_text() == "first ").await;
    if of == GROWTH || of == ENDING {
        proxy.drop_commit_acknowledgement(of);
    }
    gate.notify_one();
    let turn = instance.wait_until_ended(started.assistant_turn.id).await;
    assert_eq!(proxy.dropped_count(), 1, "{of}");
    assert_eq!((turn.status, &turn.error), (TurnStatus::Complete, &None), "{of}");
    assert_eq!(turn.content_text(), format!("first {}", words.concat()), "{of}");
    assert_eq!(log.requests().len(), 1, "{of}: the provider is asked once");
    let next = instance.send_to(started.chat.id, "and?").await;
    assert_eq!(instance.wait_until_ended(next.assistant_turn.id).await.status, TurnStatus::Complete, "{of}");
    instance.check_invariants().await;
    instance.close().await;
    fresh.close().await;
}

#[tokio::test]
async fn reply_completes_when_start_acknowledgement_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(BEGINNING).await;
}

#[tokio::test]
async fn reply_completes_when_append_acknowledgement_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(GROWTH).await;
}

#[tokio::test]
async fn reply_completes_when_ending_acknowledgement_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(ENDING).await;
}

#[tokio::test]
async fn message_is_answered_when_commit_acknowledgement_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(SUBMIT).await;
}
