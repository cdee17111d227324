//! A commit that PostgreSQL has stored, and whose acknowledgement is lost: nothing is done twice, nothing is left behind.

use std::sync::Arc;

use tokio::sync::Notify;
use turnleaf::domain::TurnStatus;
use turnleaf_providers::scripted::{Scripted, Step};
use turnleaf_store::{Db, TimeLimits};

use crate::databases::{self, Fresh};
use crate::house::{House, answer, text, thinking};
use crate::postgres_proxy::Proxy;

/// A migrated database of the cluster, reached through a proxy. `None` where no cluster is named.
pub async fn behind_proxy(limits: TimeLimits) -> Option<(Fresh, Proxy, Db)> {
    let fresh = databases::migrated_postgres().await?;
    let (before, rest) = fresh.url.split_once('@').unwrap();
    let (host, name) = rest.split_once('/').unwrap();
    let proxy = Proxy::start(tokio::net::lookup_host(host).await.unwrap().next().unwrap()).unwrap();
    let db = Db::open_within(&format!("{before}@{}/{name}", proxy.address()), limits).await.unwrap();
    Some((fresh, proxy, db))
}

/// Which statement the transaction has whose acknowledgement is lost.
const GROWTH: &str = "INSERT INTO turn_events";
const BEGINNING: &str = "INSERT INTO generations";
const ENDING: &str = "completed_at = $7";
const SUBMIT: &str = "INSERT INTO exchanges";

async fn reply_completes_when_the_acknowledgement_is_lost(of: &str) {
    let Some((fresh, proxy, db)) = behind_proxy(TimeLimits::SERVING).await else { return };
    let gate = Arc::new(Notify::new());
    let words: Vec<String> = (0..60).map(|n| format!("word {n} ")).collect();
    let steps = [thinking("hm"), text("first "), Step::Until(gate.clone())].into_iter();
    let steps = steps.chain(words.iter().map(|word| text(word))).chain([thinking("so")]).collect::<Vec<_>>();
    let provider = Scripted::new("scripted", [answer(steps), answer([text("next")])]);
    let log = provider.log();
    let house = House::upon(db, provider).await;
    if of == BEGINNING || of == SUBMIT {
        proxy.drop_commit_acknowledgement(of);
    }
    let started = house.send("?").await;
    house.until(started.assistant_turn.id, |turn| turn.content_text() == "first ").await;
    if of == GROWTH || of == ENDING {
        proxy.drop_commit_acknowledgement(of);
    }
    gate.notify_one();
    let turn = house.ended(started.assistant_turn.id).await;
    assert_eq!(proxy.dropped(), 1, "{of}");
    assert_eq!((turn.status, &turn.error), (TurnStatus::Complete, &None), "{of}");
    assert_eq!(turn.content_text(), format!("first {}", words.concat()), "{of}");
    assert_eq!(log.requests().len(), 1, "{of}: the provider is asked once");
    let next = house.send_to(started.chat.id, "and?").await;
    assert_eq!(house.ended(next.assistant_turn.id).await.status, TurnStatus::Complete, "{of}");
    house.check().await;
    house.close().await;
    fresh.close().await;
}

#[tokio::test]
async fn reply_completes_when_the_acknowledgement_of_its_beginning_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(BEGINNING).await;
}

#[tokio::test]
async fn reply_completes_when_the_acknowledgement_of_growth_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(GROWTH).await;
}

#[tokio::test]
async fn reply_completes_when_the_acknowledgement_of_its_ending_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(ENDING).await;
}

#[tokio::test]
async fn message_is_answered_when_the_acknowledgement_of_its_commit_is_lost() {
    reply_completes_when_the_acknowledgement_is_lost(SUBMIT).await;
}
