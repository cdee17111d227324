//! PostgreSQL fails while replies stream, in each way in which it can: the server recovers by itself, and nothing
//! that was acknowledged or shown is lost.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use crate::chat_client::{ChatClient, OutgoingMessage, ReplyFollower, failure_code_of, is_over, text_of};
use crate::installation::{RunningServer, TestInstallation};
use crate::model_server::{paced_servers, reply_words};
use crate::own_cluster::OwnCluster;
use crate::postgres_proxy::PostgresProxy;
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;

const STREAMS: usize = 8;
const WORDS: usize = 250;
const PAUSE: Duration = Duration::from_millis(20);
/// The time within which the server must have recovered.
const RECOVERY: Duration = Duration::from_secs(5);
const BLACK_HOLE: Duration = Duration::from_secs(60);
/// The time that a request may wait for an unresponsive database.
const REFUSAL: Duration = Duration::from_secs(30);
/// The time for the replies to stream the rest of their words after the recovery.
const ENDING: Duration = Duration::from_secs(30);

/// Statements that select the transactions whose acknowledgement is lost: a message, the beginning of a reply, its
/// appended events, its end.
const COMMITS: [&str; 4] =
    ["INSERT INTO exchanges", "INSERT INTO generations", "INSERT INTO turn_events", "completed_at = $7"];

const TERMINATE: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
    WHERE pid <> pg_backend_pid() AND application_name LIKE 'turnleaf%'";

/// Streaming replies, each with a follower.
struct StreamingReplies {
    chats: Vec<String>,
    replies: Vec<(String, ReplyFollower)>,
}

impl StreamingReplies {
    async fn start_streams(client: &ChatClient) -> Self {
        let begun = (0..STREAMS).map(|at| async move {
            let chat = client.create_chat(&format!("p{at}")).await;
            let reply = client.send_and_get_reply_id(&chat, &OutgoingMessage::new("?", None)).await;
            let follower = client.follow_reply(&reply);
            (chat, (reply, follower))
        });
        let (chats, replies) = join_all(begun).await.into_iter().unzip();
        Self { chats, replies }
    }

    /// Asserts that every reply ended with all that was shown, and completely if `must_complete`, which holds for an
    /// outage that is short enough.
    async fn assert_recovered(
        self,
        client: &ChatClient,
        fault: &str,
        must_complete: bool,
        findings: &mut ScenarioFindings,
    ) {
        let ended = join_all(self.replies.iter().map(|(reply, _)| client.wait_until_ended(reply, ENDING))).await;
        let mut complete = 0;
        for (at, ((reply, follower), turn)) in self.replies.into_iter().zip(ended).enumerate() {
            let (stored, full) = (text_of(&turn), reply_words(&format!("K{at:02}"), WORDS));
            let shown = follower.snapshot();
            findings.check(is_over(&turn), || format!("{fault}: the turn {reply} is {}", turn["status"]));
            findings.check(full.starts_with(&stored), || {
                format!("{fault}: {reply} has text that the provider did not send: {stored}")
            });
            findings.check(stored.starts_with(&shown.text), || {
                format!("{fault}: {reply} was shown {} bytes and has {}", shown.text.len(), stored.len())
            });
            let is_complete = turn["status"] == "complete" && stored == full;
            complete += usize::from(is_complete);
            findings.check(is_complete || !must_complete, || {
                format!(
                    "{fault}: {reply} is {} ({}) with {} bytes",
                    turn["status"],
                    failure_code_of(&turn),
                    stored.len()
                )
            });
        }
        findings.count("replies during outages", STREAMS);
        findings.count("of them complete", complete);
    }
}

/// Waits until the server accepts requests again, and records a failure if that takes longer after `healed` than
/// promised.
async fn wait_for_recovery(
    client: &ChatClient,
    fault: &str,
    healed: Instant,
    findings: &mut ScenarioFindings,
) -> Duration {
    loop {
        let made = timeout(RECOVERY, client.post("/api/chats", &json!({ "provider": "p0", "model": "m" }))).await;
        let ready = timeout(RECOVERY, client.get("/readyz")).await;
        let is_well = matches!(made, Ok(Ok((201, _)))) && matches!(ready, Ok(Ok((200, _))));
        let took = healed.elapsed();
        if is_well || took > ENDING {
            findings.check(is_well && took <= RECOVERY, || {
                format!(
                    "{fault}: it was {} after {:.1} s",
                    if is_well { "well" } else { "not well" },
                    took.as_secs_f64()
                )
            });
            return took;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

struct OutageRun {
    cluster: Option<OwnCluster>,
    proxy: PostgresProxy,
    server: RunningServer,
    installation: TestInstallation,
    findings: ScenarioFindings,
    slowest: Duration,
}

impl OutageRun {
    async fn lost_acknowledgements(&mut self) {
        for part in COMMITS {
            let fault = format!("lost acknowledgement of {part}");
            let dropped = self.proxy.dropped_count();
            let arms_first = part == COMMITS[0] || part == COMMITS[1];
            if arms_first {
                self.proxy.drop_commit_acknowledgement(part);
            }
            let streams = StreamingReplies::start_streams(&self.server.client).await;
            if !arms_first {
                self.proxy.drop_commit_acknowledgement(part);
            }
            streams.assert_recovered(&self.server.client, &fault, true, &mut self.findings).await;
            self.findings.count("lost acknowledgements", self.proxy.dropped_count() - dropped);
            let is_dropped = self.proxy.dropped_count() == dropped + 1;
            self.findings.check(is_dropped, || format!("{fault}: the proxy saw no such commit"));
        }
    }

    async fn assert_recovery(&mut self, fault: &str, healed: Instant) {
        let took = wait_for_recovery(&self.server.client, fault, healed, &mut self.findings).await;
        self.slowest = self.slowest.max(took);
    }

    async fn restart(&mut self) {
        let fault = "pg_ctl restart -m immediate";
        let streams = StreamingReplies::start_streams(&self.server.client).await;
        let mut cluster = self.cluster.take().unwrap();
        let cluster = spawn_blocking(move || {
            cluster.restart_immediately();
            cluster
        });
        self.cluster = Some(cluster.await.unwrap());
        self.assert_recovery(fault, Instant::now()).await;
        streams.assert_recovered(&self.server.client, fault, true, &mut self.findings).await;
        self.findings.count("restarts", 1);
    }

    async fn terminated_sessions(&mut self) {
        let fault = "pg_terminate_backend";
        let streams = StreamingReplies::start_streams(&self.server.client).await;
        let mut admin = PgConnection::connect(&self.cluster.as_ref().unwrap().url()).await.unwrap();
        let ended: i64 = sqlx::query_scalar(TERMINATE).fetch_one(&mut admin).await.unwrap();
        let healed = Instant::now();
        admin.close().await.unwrap();
        self.findings.check(ended >= 2, || format!("{fault} ended {ended}"));
        self.assert_recovery(fault, healed).await;
        streams.assert_recovered(&self.server.client, fault, true, &mut self.findings).await;
        self.findings.count("terminated sessions", ended.try_into().unwrap());
    }

    async fn black_hole(&mut self) {
        let fault = "black hole";
        let streams = StreamingReplies::start_streams(&self.server.client).await;
        self.proxy.start_black_hole();
        let began = Instant::now();
        let client = self.server.client.clone();
        let message = OutgoingMessage::new("in the hole", None);
        let (chat, waiting) = (streams.chats[0].clone(), Instant::now());
        let refused = timeout(REFUSAL, client.send_message(&chat, &message)).await;
        let answer = |answer: &Result<Result<(u16, Value), reqwest::Error>, _>| match answer {
            Ok(Ok((status, _))) => *status,
            _ => 0,
        };
        let is_refused = answer(&refused) >= 500;
        self.findings.check(is_refused, || {
            format!("{fault}: a message is answered with {refused:?} after {:?}", waiting.elapsed())
        });
        let ready = timeout(REFUSAL, client.get("/readyz")).await;
        self.findings.check(answer(&ready) == 503, || format!("{fault}: readyz answers {ready:?}"));
        let live = timeout(RECOVERY, client.get("/healthz")).await;
        self.findings.check(answer(&live) == 200 || answer(&live) == 503, || format!("{fault}: healthz {live:?}"));
        tokio::time::sleep_until(began + BLACK_HOLE).await;
        self.proxy.heal();
        self.assert_recovery(fault, Instant::now()).await;
        // This outage is longer than replies are held back without a database, so they may have ended.
        streams.assert_recovered(&client, fault, false, &mut self.findings).await;
        self.findings.count("black holes of 60 s", 1);
    }
}

pub async fn run(ground: ScenarioContext) -> ScenarioFindings {
    let cluster = spawn_blocking(OwnCluster::try_start).await.unwrap().unwrap();
    let (_providers, configuration) = paced_servers(STREAMS, WORDS, PAUSE).await;
    let upstream = cluster.url().split_once('@').unwrap().1.split_once('/').unwrap().0.parse().unwrap();
    let proxy = PostgresProxy::start(upstream).unwrap();
    let url = format!("postgres://turnleaf@{}/postgres", proxy.address());
    let installation = TestInstallation::new(&ground.binary, &ground.dir, Some(url), &configuration);
    let server = installation.start().await;
    let mut of = OutageRun {
        cluster: Some(cluster),
        proxy,
        server,
        installation,
        findings: ScenarioFindings::default(),
        slowest: Duration::ZERO,
    };
    of.lost_acknowledgements().await;
    of.terminated_sessions().await;
    of.restart().await;
    of.black_hole().await;
    let check = of.installation.run_fsck().await;
    of.findings.check(check.is_clean(), || check.to_string());
    let status = of.server.terminate().await;
    of.findings.check(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    if of.findings.has_failed() {
        of.cluster.unwrap().dump_database("postgres", &ground.dir.join("database.sql"));
    }
    of.findings.add_note(format!("slowest recovery {:.1} s", of.slowest.as_secs_f64()));
    of.findings
}
