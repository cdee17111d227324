//! PostgreSQL goes away in the middle of replies and comes back: the server recovers by itself, nothing that was
//! acknowledged is lost, and the replies complete.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use turnleaf::domain::{Event, TurnStatus};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{Scripted, Step};
use turnleaf_service::ServiceError;
use turnleaf_store::claim::ClaimState;
use turnleaf_store::{Claim, Db, TimeLimits};

use crate::databases;
use crate::house::{House, answer, message, text};
use crate::lost_acknowledgements::behind_proxy;
use crate::own_cluster::OwnCluster;

/// Short limits, so that an outage of seconds is a long one.
const SHORT: TimeLimits = TimeLimits {
    acquire: Duration::from_secs(1),
    probe: Duration::from_millis(300),
    probe_every: Duration::from_millis(100),
    statement: Some(Duration::from_secs(1)),
    attempt: Duration::from_secs(1),
    outcome: Duration::from_secs(2),
};
/// How long everything may take to be well again.
const RECOVERY: Duration = Duration::from_secs(5);
const REPLIES: usize = 8;
const WORDS: usize = 150;

/// A server that has claimed its database, with replies that stream.
struct Streaming {
    house: House,
    log: Arc<turnleaf_providers::scripted::Log>,
    replies: Vec<turnleaf_service::turns::Started>,
    claim: tokio::task::JoinHandle<()>,
    gates: Vec<Arc<Notify>>,
}

fn said() -> String {
    (0..WORDS).map(|n| format!("word {n} ")).collect()
}

impl Streaming {
    /// Begins replies that wait in the middle until [`Self::go_on`].
    async fn begin(db: Db) -> Self {
        let mut claim = Claim::take(&db, ids::mint()).await.unwrap();
        claim.begin_epoch().await.unwrap();
        let claim = tokio::spawn(async move { claim.watch().await });
        let gates: Vec<Arc<Notify>> = (0..REPLIES).map(|_| Arc::default()).collect();
        let word = |n: usize| [text(&format!("word {n} ")), Step::Wait(Duration::from_millis(10))];
        let steps = |gate: &Arc<Notify>| {
            let rest = [Step::Until(gate.clone())].into_iter().chain((1..WORDS).flat_map(word));
            word(0).into_iter().chain(rest).collect::<Vec<_>>()
        };
        let answers = gates.iter().map(|gate| answer(steps(gate))).chain([answer([text("next")])]);
        let provider = Scripted::new("scripted", answers);
        let log = provider.log();
        let house = House::upon(db, provider).await;
        let mut replies = Vec::new();
        for _ in 0..REPLIES {
            replies.push(house.send("?").await);
        }
        for reply in &replies {
            house.until(reply.assistant_turn.id, |turn| !turn.content_text().is_empty()).await;
        }
        Self { house, log, replies, claim, gates }
    }

    fn go_on(&self) {
        self.gates.iter().for_each(|gate| gate.notify_one());
    }

    /// All replies are complete and as they were sent, each asked for once, and the next message is answered.
    async fn recovers(self) {
        let well_again = async {
            for reply in &self.replies {
                let id = reply.assistant_turn.id;
                let events = self.house.follow(id, 0).await;
                let numbers: Vec<u64> = events.iter().map(|(seq, _)| *seq).collect();
                assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "dense");
                let turn = self.house.ended(id).await;
                assert_eq!((turn.status, turn.content_text()), (TurnStatus::Complete, said()), "{:?}", turn.error);
                assert!(matches!(events.last(), Some((_, Event::TurnEnd { status: TurnStatus::Complete, .. }))));
            }
            let next = self.house.send_to(self.replies[0].chat.id, "and?").await;
            assert_eq!(self.house.ended(next.assistant_turn.id).await.status, TurnStatus::Complete);
        };
        timeout(RECOVERY, well_again).await.expect("it recovers by itself in time");
        assert!(matches!(self.house.db.claim_state(), ClaimState::Held(_)), "{:?}", self.house.db.claim_state());
        assert_eq!(self.log.requests().len(), REPLIES + 1, "nothing is asked twice");
        self.house.check().await;
        self.claim.abort();
        self.house.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_postgres_restarts_as_after_a_crash() {
    let Some(mut cluster) = OwnCluster::start() else { return };
    let db = Db::open_within(&cluster.url(), SHORT).await.unwrap();
    db.migrate(None, SystemClock.now()).await.unwrap();
    let streaming = Streaming::begin(db).await;
    streaming.go_on();
    tokio::task::block_in_place(|| cluster.restart_immediately());
    streaming.recovers().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_all_connections_are_terminated() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let streaming = Streaming::begin(Db::open_within(&fresh.url, SHORT).await.unwrap()).await;
    streaming.go_on();
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'turnleaf%'";
    let Db::Postgres { writer, .. } = &fresh.db else { unreachable!() };
    let mut admin = writer.acquire().await.unwrap().detach();
    let ended: i64 = sqlx::query_scalar(end).fetch_one(&mut admin).await.unwrap();
    assert!(ended >= 2, "{ended}");
    drop(admin);
    streaming.recovers().await;
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_after_a_black_hole_and_nobody_hangs_in_it() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let streaming = Streaming::begin(db.clone()).await;
    proxy.black_hole();
    let began = Instant::now();
    streaming.go_on();
    let refused = streaming.house.service.start_turn(streaming.house.owner, message("now?")).await;
    assert!(matches!(&refused, Err(ServiceError::Store(error)) if error.is_busy()), "{refused:?}");
    while !matches!(db.claim_state(), ClaimState::Lost(_)) {
        tokio::task::yield_now().await;
    }
    assert!(began.elapsed() < RECOVERY, "both have their limits: {:?}", began.elapsed());
    // Longer than any limit, so that whatever is under way has been given up.
    tokio::time::sleep_until(began + Duration::from_secs(4)).await;
    proxy.heal();
    streaming.recovers().await;
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_all_connections_die_without_a_word() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let streaming = Streaming::begin(db).await;
    proxy.silence();
    streaming.go_on();
    // Its limits pass first, once for a statement and once for an attempt.
    let house = &streaming.house;
    let first = streaming.replies[0].assistant_turn.id;
    timeout(RECOVERY, house.ended(first)).await.expect("it recovers without being healed");
    streaming.recovers().await;
    proxy.heal();
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reply_that_begins_while_postgres_is_away_waits_for_its_context() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let provider = Scripted::new("scripted", [answer([text("first")]), answer([text("second")])]);
    let log = provider.log();
    let house = House::upon(db, provider).await;
    let first = house.send("?").await;
    assert_eq!(house.ended(first.assistant_turn.id).await.status, TurnStatus::Complete);
    // From the moment at which the message is stored, and before anything is read for its reply.
    proxy.black_hole_after_commit("INSERT INTO exchanges");
    let second = house.send_to(first.chat.id, "and?").await;
    assert!(proxy.is_black_hole());
    // Longer than any limit, so that every first attempt at the context has been given up.
    tokio::time::sleep(Duration::from_secs(4)).await;
    proxy.heal();
    let turn = timeout(RECOVERY, house.ended(second.assistant_turn.id)).await.expect("it recovers in time");
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "second"), "{:?}", turn.error);
    assert_eq!(log.requests().len(), 2, "nothing is asked twice");
    house.check().await;
    house.close().await;
    fresh.close().await;
}
