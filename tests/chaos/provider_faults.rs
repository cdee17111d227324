//! Model servers that do what none should: each reply ends, keeps what came, says why, and asks no more often than is
//! promised; the next message of its chat is answered.

use std::net::TcpListener;
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::chat_client::{ChatClient, Message, code_of, is_over, text_of};
use crate::fakeprov::{FakeProvider, Verb};
use crate::ground::Ground;
use crate::installation::Server;
use crate::model_server::{at_once, delta, ending, event, opening, pieces, provider, words};
use crate::randomness::Randomness;
use crate::report::Findings;

/// How many places of a body a connection ends at.
const OFFSETS: usize = 20;
const PIECES: usize = 20;
/// The promise is 30 s after the cause; the clocks for silence are set to five.
const ENDING: Duration = Duration::from_secs(30);
const SILENCE: &str = "silence_seconds = 5\n";
/// The clock for events that never come is everybody's.
const PROGRESS: Duration = Duration::from_secs(300);
const PACE: Duration = Duration::from_millis(10);
/// One event more than a provider may send at once.
const GIANT: usize = 17 << 20;

/// A fault and what must become of it.
struct Fault {
    name: String,
    /// What connection after connection does; `None` is nobody who listens.
    scripts: Option<Vec<Vec<Verb>>>,
    status: &'static str,
    codes: &'static [&'static str],
    /// How often the provider is asked.
    requests: usize,
    /// What is kept is a beginning of this, and no shorter than that.
    full: String,
    at_least: usize,
    within: Duration,
    /// Seconds between the first two requests.
    pause: u64,
}

impl Fault {
    fn new(name: &str, script: Vec<Verb>, codes: &'static [&'static str]) -> Self {
        Self {
            name: name.into(),
            scripts: Some(vec![script]),
            status: "error",
            codes,
            requests: 1,
            full: words("F", PIECES),
            at_least: 0,
            within: ENDING,
            pause: 0,
        }
    }

    /// Begins in order and keeps so many words.
    fn after(name: &str, count: usize, then: Vec<Verb>, codes: &'static [&'static str]) -> Self {
        let script = [opening(), vec![Verb::Bytes(pieces("F", count))], then].concat();
        Self { at_least: words("F", count).len(), ..Self::new(name, script, codes) }
    }

    /// The same at each attempt.
    fn three_times(self) -> Self {
        let scripts = self.scripts.map(|scripts| vec![scripts[0].clone(); 3]);
        Self { scripts, requests: 3, ..self }
    }

    /// The answer is whole at the next attempt.
    fn and_then_well(self) -> Self {
        let scripts = self.scripts.map(|scripts| [scripts, vec![at_once("F", PIECES)]].concat());
        let requests = self.requests + 1;
        Self { scripts, requests, status: "complete", codes: &[""], at_least: self.full.len(), ..self }
    }
}

fn status(code: u16, more: Option<(&'static str, String)>) -> Vec<Verb> {
    let body = br#"{"error":{"message":"not now","type":"test"}}"#.to_vec();
    let head = [Verb::Status(code), Verb::Header("content-type", "application/json".into())].into_iter();
    let more = more.map(|(name, value)| Verb::Header(name, value));
    let length = Verb::Header("content-length", body.len().to_string());
    head.chain(more).chain([length, Verb::Bytes(body), Verb::Fin]).collect()
}

fn of_status() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (code, kind) in [
        (500, &["provider_error"] as &[_]),
        (502, &["provider_error", "provider_overloaded"]),
        (503, &["provider_error", "provider_overloaded"]),
        (504, &["provider_error", "provider_overloaded"]),
        (529, &["provider_overloaded"]),
    ] {
        faults.push(Fault::new(&format!("{code} three times"), status(code, None), kind).three_times());
        faults.push(Fault::new(&format!("{code} once"), status(code, None), kind).and_then_well());
    }
    let limited = |seconds: u64| status(429, Some(("retry-after", seconds.to_string())));
    let waits = Fault::new("429 for a second", limited(1), &[]).and_then_well();
    faults.push(Fault { pause: 1, ..waits });
    faults.push(Fault::new("429 for an hour", limited(3_600), &["provider_rate_limited"]));
    faults
}

fn of_connections(randomness: &mut Randomness) -> Vec<Fault> {
    let unreachable = Fault::new("refused", Vec::new(), &["provider_unreachable"]);
    let mut faults = vec![
        Fault { scripts: None, requests: 3, ..unreachable },
        Fault::new("never answers", vec![Verb::Stall], &["provider_stalled"]),
        Fault::after("falls silent", 10, vec![Verb::Stall], &["provider_stalled"]),
        Fault::after("wrong length", 0, Vec::new(), &["provider_truncated"]),
    ];
    let bytes = pieces("F", 5);
    let long = [opening(), vec![Verb::Header("content-length", "99999".into()), Verb::Bytes(bytes), Verb::Fin]];
    faults[3].scripts = Some(vec![long.concat()]);
    faults[3].at_least = words("F", 5).len();
    let reset = [opening(), vec![Verb::Drip(pieces("F", 10), delta("F-000000 ").len(), PACE), Verb::Rst]].concat();
    faults.push(Fault { at_least: 1, ..Fault::new("reset", reset, &["provider_truncated"]) });
    let body = pieces("F", PIECES);
    for _ in 0..OFFSETS {
        let offset = randomness.below(body.len());
        let script = [opening(), vec![Verb::Bytes(body[..offset].to_vec()), Verb::Fin]].concat();
        let kept = (0..PIECES).take_while(|count| pieces("F", *count + 1).len() <= offset).count();
        let fault = Fault::new(&format!("ends after {offset} bytes"), script, &["provider_truncated"]);
        faults.push(Fault { at_least: words("F", kept).len(), ..fault });
    }
    faults
}

fn of_content() -> Vec<Fault> {
    let html = b"<html><body>please log in</body></html>".to_vec();
    let page = [Verb::Status(200), Verb::Header("content-type", "text/html".into()), Verb::Bytes(html), Verb::Fin];
    let signs = "你好😀👩‍👩‍👧 ";
    let split = [delta(signs), delta(signs), delta(signs), ending()].concat();
    let split = [opening(), vec![Verb::Drip(split, 1, Duration::from_millis(1)), Verb::Fin]].concat();
    let whole = Fault::new("split in each byte", split, &[""]);
    let drip = |bytes: Vec<u8>, size| vec![Verb::Drip(bytes, size, Duration::from_secs(1)), Verb::Stall];
    let forever = PROGRESS.as_secs() as usize + 60;
    let mut faults = vec![
        Fault::after("no JSON", 10, vec![Verb::Bytes(event("{\"a\":")), Verb::Fin], &["provider_protocol"]),
        Fault::new("a page", page.to_vec(), &["provider_protocol"]),
        Fault::new(
            "an empty body",
            [opening(), vec![Verb::Bytes(Vec::new()), Verb::Fin]].concat(),
            &["provider_truncated", "provider_protocol"],
        ),
        Fault::after("a giant event", 3, vec![Verb::Bytes(delta(&"z".repeat(GIANT))), Verb::Stall], &["limit_event"]),
        Fault { status: "complete", full: signs.repeat(3), at_least: signs.len() * 3, ..whole },
    ];
    for (name, script) in [
        ("pings alone", drip(b": ping\n\n".repeat(forever), 8)),
        ("a byte a second", drip(format!("data: {{\"x\":\"{}", "y".repeat(forever)).into_bytes(), 1)),
    ] {
        let fault = Fault::after(name, 3, script, &["provider_stalled"]);
        faults.push(Fault { within: PROGRESS + ENDING, ..fault });
    }
    faults
}

pub async fn run(mut ground: Ground) -> Findings {
    let mut findings = Findings::default();
    let faults: Vec<Fault> =
        of_status().into_iter().chain(of_connections(&mut ground.randomness)).chain(of_content()).collect();
    let mut servers = Vec::new();
    let mut configuration = String::new();
    for (at, fault) in faults.iter().enumerate() {
        // The next message of a chat is answered as it should be.
        let server = match &fault.scripts {
            Some(scripts) => Some(FakeProvider::start([scripts.clone(), vec![at_once("N", 3)]].concat()).await),
            None => None,
        };
        let nobody = || format!("http://{}/v1", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
        let base_url = server.as_ref().map_or_else(nobody, FakeProvider::base_url);
        configuration += &provider(&format!("f{at}"), &base_url, SILENCE);
        servers.push(server);
    }
    let installation = ground.installation(&configuration);
    let server = installation.start().await;
    let held = faults.iter().zip(&servers).enumerate().map(|(at, (fault, provider))| {
        let client = server.client.clone();
        async move { (fault, hold(&client, at, fault, provider.as_ref()).await) }
    });
    for (fault, broken) in join_all(held).await {
        findings.count("faults", 1);
        broken.into_iter().for_each(|text| findings.fail(format!("{}: {text}", fault.name)));
    }
    is_well(&server, &mut findings).await;
    let check = installation.check().await;
    findings.hold(check.is_clean(), || check.to_string());
    server.end().await;
    findings
}

async fn is_well(server: &Server, findings: &mut Findings) {
    let ready = server.client.get("/readyz").await;
    findings.hold(ready.as_ref().is_ok_and(|(status, _)| *status == 200), || format!("readyz: {ready:?}"));
}

/// Lets one fault happen; gives what did not hold.
async fn hold(client: &ChatClient, at: usize, fault: &Fault, provider: Option<&FakeProvider>) -> Vec<String> {
    let mut broken = Vec::new();
    let chat = client.chat(&format!("f{at}")).await;
    let reply = client.begin(&chat, &Message::new("?", None)).await;
    let follower = client.follow(&reply);
    let turn = client.ended(&reply, fault.within).await;
    if !is_over(&turn) {
        return vec![format!("it is {} after {} s", turn["status"], fault.within.as_secs())];
    }
    let text = text_of(&turn);
    if turn["status"] != fault.status || !fault.codes.contains(&code_of(&turn)) {
        broken.push(format!("it is {} with {}", turn["status"], turn["error"]));
    }
    if !fault.full.starts_with(&text) || text.len() < fault.at_least {
        let tail: String = text.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
        broken.push(format!("it kept {} bytes, of at least {}: …{tail}", text.len(), fault.at_least));
    }
    let shown = follower.ended().await;
    if shown.text != text {
        broken.push(format!("{} bytes were shown and {} are stored", shown.text.len(), text.len()));
    }
    let repeated = shown.events.iter().filter(|event| event["type"] == "attempt").count();
    if repeated + 1 != fault.requests {
        broken.push(format!("it says that it asked {} times, not {}", repeated + 1, fault.requests));
    }
    let Some(provider) = provider else { return broken };
    let asked: Vec<_> = provider.requests().into_iter().filter(|request| request.method == "POST").collect();
    if asked.len() != fault.requests {
        broken.push(format!("the provider was asked {} times, not {}", asked.len(), fault.requests));
    }
    if asked.len() > 1 && (asked[1].at - asked[0].at).as_secs() < fault.pause {
        broken.push(format!("it was asked again after {:?}", asked[1].at - asked[0].at));
    }
    broken.extend(next_is_answered(client, &chat, reply).await);
    broken
}

async fn next_is_answered(client: &ChatClient, chat: &str, behind: String) -> Option<String> {
    let (status, started) = client.send(chat, &Message::new("and now?", Some(behind))).await.unwrap();
    let id = started["assistant_turn"]["id"].as_str().unwrap_or_default();
    let turn = if status == 201 { client.ended(id, ENDING).await } else { Value::Null };
    let is_answered = turn["status"] == "complete" && text_of(&turn) == words("N", 3);
    (!is_answered).then(|| format!("the next message: {status} {started}, {turn}"))
}
