//! SIGKILL at random moments while replies stream: every accepted message and all shown text, but for the last
//! moment, exist after the next start.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::chat_client::{ChatClient, OutgoingMessage, ReplyFollower, is_over, text_of};
use crate::model_server::{paced_servers, reply_words};
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;

const KILLS: usize = 40;
const STREAMS: usize = 20;
const WORDS: usize = 200;
const PAUSE: Duration = Duration::from_millis(12);
/// The newest part of a reply that may be missing after a kill.
const UNSTORED: Duration = Duration::from_millis(250);
/// The time for a turn to end after a start: the sweep runs before the port opens.
const SWEEP: Duration = Duration::from_secs(1);
const STOP: Duration = Duration::from_secs(10);

/// An accepted message with its reply.
struct AcceptedMessage {
    question: String,
    reply: String,
    follower: ReplyFollower,
}

/// The state of a chat after a kill.
struct ChatAfterKill {
    last: String,
    was_accepted: bool,
    /// The age of the newest missing words at the kill.
    missing: Option<Duration>,
    broken: Vec<String>,
}

async fn send_message(client: ChatClient, chat: String, message: OutgoingMessage) -> Option<AcceptedMessage> {
    let (status, started) = client.send_message(&chat, &message).await.ok()?;
    assert_eq!(status, 201, "{started}");
    let id = |turn: &str| started[turn]["id"].as_str().unwrap().to_owned();
    let reply = id("assistant_turn");
    let follower = client.follow_reply(&reply);
    Some(AcceptedMessage { question: id("user_turn"), reply, follower })
}

/// Repeats a message of unknown fate with its idempotency key, which creates it or finds it, and stops its reply.
async fn resend_message(client: &ChatClient, chat: &str, message: &OutgoingMessage) -> ChatAfterKill {
    let reply = client.send_and_get_reply_id(chat, message).await;
    let stopped = client.post(&format!("/api/turns/{reply}/stop"), &Value::Null).await;
    let turn = client.wait_until_ended(&reply, STOP).await;
    let mut broken = Vec::new();
    if !is_over(&turn) || !stopped.as_ref().is_ok_and(|(status, _)| *status < 300) {
        broken.push(format!("the repeated message {reply} is {} after Stop ({stopped:?})", turn["status"]));
    }
    ChatAfterKill { last: reply, was_accepted: false, missing: None, broken }
}

async fn inspect_chat(
    client: &ChatClient,
    accepted: AcceptedMessage,
    message: &OutgoingMessage,
    full: &str,
    killed: Instant,
) -> ChatAfterKill {
    let mut broken = Vec::new();
    let id = accepted.reply;
    let shown = accepted.follower.wait_for_end().await;
    let (status, question) = client.get_turn(&accepted.question).await.unwrap();
    if status != 200 || text_of(&question) != message.text {
        broken.push(format!("the accepted message {} is {status} {question}", accepted.question));
    }
    let turn = client.wait_until_ended(&id, SWEEP).await;
    if !is_over(&turn) {
        broken.push(format!("the turn {id} is {}", turn["status"]));
    }
    let stored = text_of(&turn);
    if !full.starts_with(&stored) {
        broken.push(format!("{id} has text that the provider did not send: {stored}"));
    }
    if !stored.starts_with(shown.text_shown_by(killed - UNSTORED)) {
        let age = shown.age_of(stored.len(), killed);
        broken.push(format!("{id} lost what was shown {} ms before", age.as_millis()));
    }
    let missing = (shown.text.len() > stored.len()).then(|| shown.age_of(stored.len(), killed));
    ChatAfterKill { last: id, was_accepted: true, missing, broken }
}

pub async fn run(mut ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let (_providers, configuration) = paced_servers(STREAMS, WORDS, PAUSE).await;
    let installation = ground.installation(&configuration);
    let mut server = installation.start().await;
    let mut chats = Vec::new();
    for at in 0..STREAMS {
        chats.push((server.client.create_chat(&format!("p{at}")).await, None::<String>));
    }
    let mut missing = Vec::new();
    for kill in 0..KILLS {
        let messages: Vec<OutgoingMessage> =
            chats.iter().map(|(_, last)| OutgoingMessage::new(&format!("message {kill}"), last.clone())).collect();
        // The messages are sent from their own tasks, because the kill does not wait for responses.
        let sends = chats.iter().zip(&messages).map(|((chat, _), message)| {
            tokio::spawn(send_message(server.client.clone(), chat.clone(), message.clone()))
        });
        let mut sends: Vec<_> = sends.collect();
        let mut begun = Vec::new();
        if ground.randomness.next_below(3) > 0 {
            begun = join_all(std::mem::take(&mut sends)).await;
            sleep(ground.randomness.next_duration(Duration::ZERO, Duration::from_secs(2))).await;
        } else {
            sleep(ground.randomness.next_duration(Duration::ZERO, Duration::from_millis(600))).await;
        }
        let killed = Instant::now();
        server.kill().await;
        begun.extend(join_all(sends).await);
        server = installation.start().await;
        findings.count("kills", 1);
        let client = &server.client;
        let looks = begun.into_iter().enumerate().map(|(at, begun)| {
            let (chat, message) = (&chats[at].0, &messages[at]);
            async move {
                match begun.unwrap() {
                    Some(accepted) => {
                        inspect_chat(client, accepted, message, &reply_words(&format!("K{at:02}"), WORDS), killed).await
                    }
                    None => resend_message(client, chat, message).await,
                }
            }
        });
        let found = join_all(looks).await;
        for ((_, last), found) in chats.iter_mut().zip(found) {
            *last = Some(found.last);
            findings.count(if found.was_accepted { "accepted messages" } else { "messages sent again" }, 1);
            missing.extend(found.missing);
            found.broken.into_iter().for_each(|text| findings.add_failure(format!("kill {kill}: {text}")));
        }
        let check = installation.run_fsck().await;
        findings.check(check.is_clean(), || format!("kill {kill}: {check}"));
    }
    let oldest = missing.iter().max().copied().unwrap_or_default().as_millis();
    findings.add_note(format!("{} replies without their newest words (at most {oldest} ms old)", missing.len()));
    let status = server.terminate().await;
    findings.check(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    findings
}
