//! PostgreSQL fails in the middle of replies and recovers: the server reconnects by itself, nothing that was
//! acknowledged is lost, and the replies complete.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use turnleaf::domain::{Event, TurnStatus};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_store::database::claim::ClaimState;
use turnleaf_store::{Claim, Db, TimeLimits};

use crate::databases;
use crate::lost_acknowledgements::behind_proxy;
use crate::own_cluster::OwnCluster;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

/// Short timeouts, so that an outage of seconds is a long one.
const SHORT: TimeLimits = TimeLimits {
    acquire: Duration::from_secs(1),
    probe: Duration::from_millis(300),
    probe_every: Duration::from_millis(100),
    statement: Some(Duration::from_secs(1)),
    attempt: Duration::from_secs(1),
    outcome: Duration::from_secs(2),
};
/// The time within which the server must have recovered.
const RECOVERY: Duration = Duration::from_secs(5);
const REPLIES: usize = 8;
const WORDS: usize = 150;

/// A server that has claimed its database, with streaming replies.
struct StreamingServer {
    instance: TestServer,
    log: Arc<turnleaf_providers::scripted::RequestLog>,
    replies: Vec<turnleaf_service::turns::AcceptedExchange>,
    claim: tokio::task::JoinHandle<()>,
    gates: Vec<Arc<Notify>>,
}

fn reply_text() -> String {
    (0..WORDS).map(|n| format!("word {n} ")).collect()
}

impl StreamingServer {
    /// Starts replies that wait in the middle until [`Self::release_gates`].
    async fn start(db: Db) -> Self {
        let mut claim = Claim::acquire(&db, ids::mint()).await.unwrap();
        claim.start_epoch().await.unwrap();
        let claim = tokio::spawn(async move { claim.watch().await });
        let gates: Vec<Arc<Notify>> = (0..REPLIES).map(|_| Arc::default()).collect();
        let word = |n: usize| [text_step(&format!("word {n} ")), ScriptedStep::Wait(Duration::from_millis(10))];
        let steps = |gate: &Arc<Notify>| {
            let rest = [ScriptedStep::WaitForSignal(gate.clone())].into_iter().chain((1..WORDS).flat_map(word));
            word(0).into_iter().chain(rest).collect::<Vec<_>>()
        };
        let answers =
            gates.iter().map(|gate| streamed_answer(steps(gate))).chain([streamed_answer([text_step("next")])]);
        let provider = ScriptedProvider::new("scripted", answers);
        let log = provider.log();
        let instance = TestServer::with_database(db, provider).await;
        let mut replies = Vec::new();
        for _ in 0..REPLIES {
            replies.push(instance.send("?").await);
        }
        for reply in &replies {
            instance.wait_until(reply.assistant_turn.id, |turn| !turn.content_text().is_empty()).await;
        }
        Self { instance, log, replies, claim, gates }
    }

    fn release_gates(&self) {
        self.gates.iter().for_each(|gate| gate.notify_one());
    }

    /// Asserts that all replies are complete and as they were sent, that each was requested once, and that the next
    /// message is answered.
    async fn assert_recovery(self) {
        let well_again = async {
            for reply in &self.replies {
                let id = reply.assistant_turn.id;
                let events = self.instance.follow_events(id, 0).await;
                let numbers: Vec<u64> = events.iter().map(|(seq, _)| *seq).collect();
                assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "dense");
                let turn = self.instance.wait_until_ended(id).await;
                assert_eq!(
                    (turn.status, turn.content_text()),
                    (TurnStatus::Complete, reply_text()),
                    "{:?}",
                    turn.error
                );
                assert!(matches!(events.last(), Some((_, Event::TurnEnd { status: TurnStatus::Complete, .. }))));
            }
            let next = self.instance.send_to(self.replies[0].chat.id, "and?").await;
            assert_eq!(self.instance.wait_until_ended(next.assistant_turn.id).await.status, TurnStatus::Complete);
        };
        timeout(RECOVERY, well_again).await.expect("it recovers by itself in time");
        assert!(matches!(self.instance.db.claim_state(), ClaimState::Held(_)), "{:?}", self.instance.db.claim_state());
        assert_eq!(self.log.requests().len(), REPLIES + 1, "nothing is asked twice");
        self.instance.check_invariants().await;
        self.claim.abort();
        self.instance.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_postgres_restarts_as_after_crash() {
    let Some(mut cluster) = OwnCluster::start() else { return };
    let db = Db::open_with_limits(&cluster.url(), SHORT).await.unwrap();
    db.migrate(None, SystemClock.now()).await.unwrap();
    let streaming = StreamingServer::start(db).await;
    streaming.release_gates();
    tokio::task::block_in_place(|| cluster.restart_immediately());
    streaming.assert_recovery().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_all_connections_are_terminated() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let streaming = StreamingServer::start(Db::open_with_limits(&fresh.url, SHORT).await.unwrap()).await;
    streaming.release_gates();
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'turnleaf%'";
    let Db::Postgres { writer, .. } = &fresh.db else { unreachable!() };
    let mut admin = writer.acquire().await.unwrap().detach();
    let ended: i64 = sqlx::query_scalar(end).fetch_one(&mut admin).await.unwrap();
    assert!(ended >= 2, "{ended}");
    drop(admin);
    streaming.assert_recovery().await;
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_after_network_black_hole_and_no_request_hangs() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let streaming = StreamingServer::start(db.clone()).await;
    proxy.start_black_hole();
    let began = Instant::now();
    streaming.release_gates();
    let refused = streaming.instance.service.start_turn(streaming.instance.owner, message_to_send("now?")).await;
    assert!(matches!(&refused, Err(ServiceError::Store(error)) if error.is_busy()), "{refused:?}");
    while !matches!(db.claim_state(), ClaimState::Lost(_)) {
        tokio::task::yield_now().await;
    }
    assert!(began.elapsed() < RECOVERY, "both have their limits: {:?}", began.elapsed());
    // The outage is longer than any timeout, so that every operation in progress has been given up.
    tokio::time::sleep_until(began + Duration::from_secs(4)).await;
    proxy.heal();
    streaming.assert_recovery().await;
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_complete_when_all_connections_die_silently() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let streaming = StreamingServer::start(db).await;
    proxy.silence_links();
    streaming.release_gates();
    // The server's own timeouts pass first, once for a statement and once for an attempt.
    let instance = &streaming.instance;
    let first = streaming.replies[0].assistant_turn.id;
    timeout(RECOVERY, instance.wait_until_ended(first)).await.expect("it recovers without being healed");
    streaming.assert_recovery().await;
    proxy.heal();
    fresh.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reply_started_during_outage_waits_for_its_context() {
    let Some((fresh, proxy, db)) = behind_proxy(SHORT).await else { return };
    let provider = ScriptedProvider::new(
        "scripted",
        [streamed_answer([text_step("first")]), streamed_answer([text_step("second")])],
    );
    let log = provider.log();
    let instance = TestServer::with_database(db, provider).await;
    let first = instance.send("?").await;
    assert_eq!(instance.wait_until_ended(first.assistant_turn.id).await.status, TurnStatus::Complete);
    // The black hole begins when the message is stored, before anything is read for its reply.
    proxy.black_hole_after_commit("INSERT INTO exchanges");
    let second = instance.send_to(first.chat.id, "and?").await;
    assert!(proxy.is_black_hole());
    // The outage is longer than any timeout, so that every first attempt at the context has been given up.
    tokio::time::sleep(Duration::from_secs(4)).await;
    proxy.heal();
    let turn =
        timeout(RECOVERY, instance.wait_until_ended(second.assistant_turn.id)).await.expect("it recovers in time");
    assert_eq!((turn.status, turn.content_text().as_str()), (TurnStatus::Complete, "second"), "{:?}", turn.error);
    assert_eq!(log.requests().len(), 2, "nothing is asked twice");
    instance.check_invariants().await;
    instance.close().await;
    fresh.close().await;
}
