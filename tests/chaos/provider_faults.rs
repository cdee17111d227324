//! Model servers that violate the protocol: each reply ends, keeps what arrived, names the cause, and sends no more
//! requests than promised; the next message of its chat is answered.

use std::net::TcpListener;
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::chat_client::{ChatClient, OutgoingMessage, failure_code_of, is_over, text_of};
use crate::fakeprov::{FakeProvider, ServerStep};
use crate::installation::RunningServer;
use crate::model_server::{
    delta, event, final_events, immediate_reply, provider_config, reply_words, response_head, word_events,
};
use crate::report::ScenarioFindings;
use crate::scenario_context::ScenarioContext;
use crate::seeded_rng::SeededRng;

/// The number of places in a body at which a connection breaks.
const OFFSETS: usize = 20;
const PIECES: usize = 20;
/// The promised bound is 30 s after the cause; the silence timeouts are set to 5 s.
const ENDING: Duration = Duration::from_secs(30);
const SILENCE: &str = "silence_seconds = 5\n";
/// The timeout for missing events, which `silence_seconds` does not shorten, so its default applies.
const PROGRESS: Duration = Duration::from_secs(300);
const PACE: Duration = Duration::from_millis(10);
/// A size above the limit for a single event (`limits::PROVIDER_EVENT_BYTES`).
const GIANT: usize = 17 << 20;

/// A fault and its expected outcome.
struct Fault {
    name: String,
    /// The script of each connection; `None` means that nothing listens.
    scripts: Option<Vec<Vec<ServerStep>>>,
    status: &'static str,
    codes: &'static [&'static str],
    /// The expected number of requests.
    requests: usize,
    /// The stored text must be a prefix of this, of at least `at_least` bytes.
    full: String,
    at_least: usize,
    within: Duration,
    /// The minimal pause between the first two requests, in seconds.
    pause: u64,
}

impl Fault {
    fn new(name: &str, script: Vec<ServerStep>, codes: &'static [&'static str]) -> Self {
        Self {
            name: name.into(),
            scripts: Some(vec![script]),
            status: "error",
            codes,
            requests: 1,
            full: reply_words("F", PIECES),
            at_least: 0,
            within: ENDING,
            pause: 0,
        }
    }

    /// Returns a fault after a proper beginning, of which this many words must be kept.
    fn after_words(name: &str, count: usize, then: Vec<ServerStep>, codes: &'static [&'static str]) -> Self {
        let script = [response_head(), vec![ServerStep::Bytes(word_events("F", count))], then].concat();
        Self { at_least: reply_words("F", count).len(), ..Self::new(name, script, codes) }
    }

    /// Repeats the fault at each attempt.
    fn on_every_attempt(self) -> Self {
        let scripts = self.scripts.map(|scripts| vec![scripts[0].clone(); 3]);
        Self { scripts, requests: 3, ..self }
    }

    /// Completes the reply at the next attempt.
    fn then_healthy(self) -> Self {
        let scripts = self.scripts.map(|scripts| [scripts, vec![immediate_reply("F", PIECES)]].concat());
        let requests = self.requests + 1;
        Self { scripts, requests, status: "complete", codes: &[""], at_least: self.full.len(), ..self }
    }
}

fn status_script(code: u16, more: Option<(&'static str, String)>) -> Vec<ServerStep> {
    let body = br#"{"error":{"message":"not now","type":"test"}}"#.to_vec();
    let head = [ServerStep::Status(code), ServerStep::Header("content-type", "application/json".into())].into_iter();
    let more = more.map(|(name, value)| ServerStep::Header(name, value));
    let length = ServerStep::Header("content-length", body.len().to_string());
    head.chain(more).chain([length, ServerStep::Bytes(body), ServerStep::Fin]).collect()
}

fn status_faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (code, kind) in [
        (500, &["provider_error"] as &[_]),
        (502, &["provider_error", "provider_overloaded"]),
        (503, &["provider_error", "provider_overloaded"]),
        (504, &["provider_error", "provider_overloaded"]),
        (529, &["provider_overloaded"]),
    ] {
        faults.push(Fault::new(&format!("{code} three times"), status_script(code, None), kind).on_every_attempt());
        faults.push(Fault::new(&format!("{code} once"), status_script(code, None), kind).then_healthy());
    }
    let limited = |seconds: u64| status_script(429, Some(("retry-after", seconds.to_string())));
    let waits = Fault::new("429 for a second", limited(1), &[]).then_healthy();
    faults.push(Fault { pause: 1, ..waits });
    faults.push(Fault::new("429 for an hour", limited(3_600), &["provider_rate_limited"]));
    faults
}

fn connection_faults(randomness: &mut SeededRng) -> Vec<Fault> {
    let unreachable = Fault::new("refused", Vec::new(), &["provider_unreachable"]);
    let mut faults = vec![
        Fault { scripts: None, requests: 3, ..unreachable },
        Fault::new("never answers", vec![ServerStep::Stall], &["provider_stalled"]),
        Fault::after_words("falls silent", 10, vec![ServerStep::Stall], &["provider_stalled"]),
        Fault::after_words("wrong length", 0, Vec::new(), &["provider_truncated"]),
    ];
    let bytes = word_events("F", 5);
    let long = [
        response_head(),
        vec![ServerStep::Header("content-length", "99999".into()), ServerStep::Bytes(bytes), ServerStep::Fin],
    ];
    faults[3].scripts = Some(vec![long.concat()]);
    faults[3].at_least = reply_words("F", 5).len();
    let reset = [
        response_head(),
        vec![ServerStep::Drip(word_events("F", 10), delta("F-000000 ").len(), PACE), ServerStep::Rst],
    ]
    .concat();
    faults.push(Fault { at_least: 1, ..Fault::new("reset", reset, &["provider_truncated"]) });
    let body = word_events("F", PIECES);
    for _ in 0..OFFSETS {
        let offset = randomness.next_below(body.len());
        let script = [response_head(), vec![ServerStep::Bytes(body[..offset].to_vec()), ServerStep::Fin]].concat();
        let kept = (0..PIECES).take_while(|count| word_events("F", *count + 1).len() <= offset).count();
        let fault = Fault::new(&format!("ends after {offset} bytes"), script, &["provider_truncated"]);
        faults.push(Fault { at_least: reply_words("F", kept).len(), ..fault });
    }
    faults
}

fn content_faults() -> Vec<Fault> {
    let html = b"<html><body>please log in</body></html>".to_vec();
    let page = [
        ServerStep::Status(200),
        ServerStep::Header("content-type", "text/html".into()),
        ServerStep::Bytes(html),
        ServerStep::Fin,
    ];
    let signs = "你好😀👩‍👩‍👧 ";
    let split = [delta(signs), delta(signs), delta(signs), final_events()].concat();
    let split = [response_head(), vec![ServerStep::Drip(split, 1, Duration::from_millis(1)), ServerStep::Fin]].concat();
    let whole = Fault::new("split in each byte", split, &[""]);
    let drip = |bytes: Vec<u8>, size| vec![ServerStep::Drip(bytes, size, Duration::from_secs(1)), ServerStep::Stall];
    let forever = PROGRESS.as_secs() as usize + 60;
    let mut faults = vec![
        Fault::after_words(
            "no JSON",
            10,
            vec![ServerStep::Bytes(event("{\"a\":")), ServerStep::Fin],
            &["provider_protocol"],
        ),
        Fault::new("a page", page.to_vec(), &["provider_protocol"]),
        Fault::new(
            "an empty body",
            [response_head(), vec![ServerStep::Bytes(Vec::new()), ServerStep::Fin]].concat(),
            &["provider_truncated", "provider_protocol"],
        ),
        Fault::after_words(
            "a giant event",
            3,
            vec![ServerStep::Bytes(delta(&"z".repeat(GIANT))), ServerStep::Stall],
            &["limit_event"],
        ),
        Fault { status: "complete", full: signs.repeat(3), at_least: signs.len() * 3, ..whole },
    ];
    for (name, script) in [
        ("pings alone", drip(b": ping\n\n".repeat(forever), 8)),
        ("a byte a second", drip(format!("data: {{\"x\":\"{}", "y".repeat(forever)).into_bytes(), 1)),
    ] {
        let fault = Fault::after_words(name, 3, script, &["provider_stalled"]);
        faults.push(Fault { within: PROGRESS + ENDING, ..fault });
    }
    faults
}

pub async fn run(mut ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let faults: Vec<Fault> =
        status_faults().into_iter().chain(connection_faults(&mut ground.randomness)).chain(content_faults()).collect();
    let mut servers = Vec::new();
    let mut configuration = String::new();
    for (at, fault) in faults.iter().enumerate() {
        // The server answers the next message of the chat properly.
        let server = match &fault.scripts {
            Some(scripts) => Some(FakeProvider::start([scripts.clone(), vec![immediate_reply("N", 3)]].concat()).await),
            None => None,
        };
        let nobody = || format!("http://{}/v1", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
        let base_url = server.as_ref().map_or_else(nobody, FakeProvider::base_url);
        configuration += &provider_config(&format!("f{at}"), &base_url, SILENCE);
        servers.push(server);
    }
    let installation = ground.installation(&configuration);
    let server = installation.start().await;
    let held = faults.iter().zip(&servers).enumerate().map(|(at, (fault, provider))| {
        let client = server.client.clone();
        async move { (fault, check_fault(&client, at, fault, provider.as_ref()).await) }
    });
    for (fault, broken) in join_all(held).await {
        findings.count("faults", 1);
        broken.into_iter().for_each(|text| findings.add_failure(format!("{}: {text}", fault.name)));
    }
    check_health(&server, &mut findings).await;
    let check = installation.run_fsck().await;
    findings.check(check.is_clean(), || check.to_string());
    server.terminate().await;
    findings
}

async fn check_health(server: &RunningServer, findings: &mut ScenarioFindings) {
    let ready = server.client.get("/readyz").await;
    findings.check(ready.as_ref().is_ok_and(|(status, _)| *status == 200), || format!("readyz: {ready:?}"));
}

/// Runs one fault. Returns the violated expectations.
async fn check_fault(client: &ChatClient, at: usize, fault: &Fault, provider: Option<&FakeProvider>) -> Vec<String> {
    let mut broken = Vec::new();
    let chat = client.create_chat(&format!("f{at}")).await;
    let reply = client.send_and_get_reply_id(&chat, &OutgoingMessage::new("?", None)).await;
    let follower = client.follow_reply(&reply);
    let turn = client.wait_until_ended(&reply, fault.within).await;
    if !is_over(&turn) {
        return vec![format!("it is {} after {} s", turn["status"], fault.within.as_secs())];
    }
    let text = text_of(&turn);
    if turn["status"] != fault.status || !fault.codes.contains(&failure_code_of(&turn)) {
        broken.push(format!("it is {} with {}", turn["status"], turn["error"]));
    }
    if !fault.full.starts_with(&text) || text.len() < fault.at_least {
        let tail: String = text.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
        broken.push(format!("it kept {} bytes, of at least {}: …{tail}", text.len(), fault.at_least));
    }
    let shown = follower.wait_for_end().await;
    if shown.text != text {
        broken.push(format!("{} bytes were shown and {} are stored", shown.text.len(), text.len()));
    }
    let repeated = shown.events.iter().filter(|event| event["type"] == "attempt").count();
    if repeated + 1 != fault.requests {
        broken.push(format!("it reports {} requests, not {}", repeated + 1, fault.requests));
    }
    let Some(provider) = provider else { return broken };
    let requests: Vec<_> = provider.requests().into_iter().filter(|request| request.method == "POST").collect();
    if requests.len() != fault.requests {
        broken.push(format!("the provider was asked {} times, not {}", requests.len(), fault.requests));
    }
    if requests.len() > 1 && (requests[1].at - requests[0].at).as_secs() < fault.pause {
        broken.push(format!("it was asked again after {:?}", requests[1].at - requests[0].at));
    }
    broken.extend(check_next_reply(client, &chat, reply).await);
    broken
}

async fn check_next_reply(client: &ChatClient, chat: &str, behind: String) -> Option<String> {
    let (status, started) = client.send_message(chat, &OutgoingMessage::new("and now?", Some(behind))).await.unwrap();
    let id = started["assistant_turn"]["id"].as_str().unwrap_or_default();
    let turn = if status == 201 { client.wait_until_ended(id, ENDING).await } else { Value::Null };
    let is_answered = turn["status"] == "complete" && text_of(&turn) == reply_words("N", 3);
    (!is_answered).then(|| format!("the next message: {status} {started}, {turn}"))
}
