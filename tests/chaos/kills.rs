//! SIGKILL at any moment, with replies that stream: what was accepted and what was shown is there after the next start.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::chat_client::{Message, is_over, text_of};
use crate::ground::Ground;
use crate::model_server::{paced_servers, words};
use crate::report::Findings;

const KILLS: usize = 40;
const STREAMS: usize = 20;
const WORDS: usize = 200;
const PAUSE: Duration = Duration::from_millis(12);
/// What of a reply may be missing after a kill.
const UNSTORED: Duration = Duration::from_millis(250);
/// How long a turn may take to end after a start: the sweep comes before the port.
const SWEEP: Duration = Duration::from_secs(1);
const STOP: Duration = Duration::from_secs(10);

pub async fn run(mut ground: Ground) -> Findings {
    let mut findings = Findings::default();
    let (_providers, configuration) = paced_servers(STREAMS, WORDS, PAUSE).await;
    let installation = ground.installation(&configuration);
    let mut server = installation.start().await;
    let mut chats = Vec::new();
    for at in 0..STREAMS {
        chats.push((server.client.chat(&format!("p{at}")).await, None::<String>));
    }
    let (mut missing, mut youngest) = (0, Duration::ZERO);
    for kill in 0..KILLS {
        let messages: Vec<Message> =
            chats.iter().map(|(_, last)| Message::new(&format!("message {kill}"), last.clone())).collect();
        let client = server.client.clone();
        // In tasks of their own: the kill does not wait for answers.
        let sends = chats.iter().zip(&messages).map(|((chat, _), message)| {
            let (client, chat, message) = (client.clone(), chat.clone(), message.clone());
            tokio::spawn(async move {
                let (status, started) = client.send(&chat, &message).await.ok()?;
                assert!(status == 201, "{status} {started}");
                let id = started["assistant_turn"]["id"].as_str()?.to_owned();
                let follower = client.follow(&id);
                Some((id, started, follower))
            })
        });
        let sends: Vec<_> = sends.collect();
        let longest = *ground.randomness.choose(&[200, 800, 1500, 2600]);
        sleep(ground.randomness.between(Duration::ZERO, Duration::from_millis(longest))).await;
        let killed = Instant::now();
        server.kill().await;
        let begun = join_all(sends).await;
        server = installation.start().await;
        findings.count("kills", 1);
        for (at, begun) in begun.into_iter().enumerate() {
            let (chat, last) = &mut chats[at];
            let full = words(&format!("K{at:02}"), WORDS);
            let Some((id, started, follower)) = begun.unwrap() else {
                // Nobody knows whether it was accepted; the same request again makes it, or finds it.
                let reply = server.client.begin(chat, &messages[at]).await;
                let (status, stopped) =
                    server.client.post(&format!("/api/turns/{reply}/stop"), &Value::Null).await.unwrap();
                findings.hold(status < 300, || format!("kill {kill}: stop answered {status} {stopped}"));
                let turn = server.client.ended(&reply, STOP).await;
                findings.hold(is_over(&turn), || format!("kill {kill}: the repeated message {reply} does not end"));
                findings.count("messages sent again", 1);
                *last = Some(reply);
                continue;
            };
            findings.count("accepted messages", 1);
            let shown = follower.ended().await;
            let asked = started["user_turn"]["id"].as_str().unwrap_or_default();
            let (status, question) = server.client.turn(asked).await.unwrap();
            findings.hold(status == 200 && text_of(&question) == messages[at].text, || {
                format!("kill {kill}: the accepted message {asked} is {status} {question}")
            });
            let turn = server.client.ended(&id, SWEEP).await;
            findings.hold(is_over(&turn), || format!("kill {kill}: the turn {id} is {}", turn["status"]));
            let stored = text_of(&turn);
            findings.hold(full.starts_with(&stored), || format!("kill {kill}: {id} has words nobody said: {stored}"));
            let old = shown.until(killed - UNSTORED);
            findings.hold(stored.starts_with(old), || {
                let age = shown.age_of(stored.len(), killed);
                format!("kill {kill}: {id} lost what was shown {} ms before", age.as_millis())
            });
            if shown.text.len() > stored.len() {
                missing += 1;
                youngest = youngest.max(shown.age_of(stored.len(), killed));
            }
            *last = Some(id);
        }
        let check = installation.check().await;
        findings.hold(check.is_clean(), || format!("kill {kill}: {check}"));
    }
    findings.note(format!("{missing} replies without their newest words (at most {} ms old)", youngest.as_millis()));
    let status = server.end().await;
    findings.hold(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    findings
}
