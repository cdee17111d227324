//! llmock: one fault after the other in four APIs (it does not speak Ollama's), each with the ending that reliability.md
//! promises; then the judgement of llmock itself, which saw when each request came and when a connection was left. The
//! name of a model is the name of its fault, so all run at once.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use super::peer_client::PeerClient;
use crate::http;
use crate::process::{RunningProcess, free_port};
use crate::server::bare_command;

/// The APIs, and where their paths hang.
pub const APIS: [(&str, &str); 4] =
    [("openai_chat", "/v1"), ("openai_responses", "/v1"), ("anthropic", "/anthropic"), ("gemini", "/gemini/v1beta")];

/// Long enough to go on for seconds after a fault: a client that reads on is told from one that stops.
const REPLY: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six";
/// Between two pieces of a reply.
const PACE_MS: &str = "150";
/// After this many pieces every API has said at least a word.
const SAID: u32 = 7;

/// What is promised for one fault.
struct FaultExpectation {
    fault: &'static str,
    ending: &'static str,
    /// The attempts that people see.
    attempts: &'static [u64],
    /// The words before the fault are kept, and trying again gives the whole reply.
    keeps_words: bool,
}

const fn fault_before_text(fault: &'static str, ending: &'static str, attempts: &'static [u64]) -> FaultExpectation {
    FaultExpectation { fault, ending, attempts, keeps_words: false }
}

const fn fault_in_text(fault: &'static str, ending: &'static str) -> FaultExpectation {
    FaultExpectation { fault, ending, attempts: &[], keeps_words: true }
}

const PROMISES: [FaultExpectation; 11] = [
    fault_before_text("nothing", "completed", &[]),
    fault_before_text("recovers", "completed", &[2, 3]),
    fault_before_text("limited", "provider_rate_limited", &[2, 3]),
    fault_before_text("overloaded", "completed", &[2]),
    fault_before_text("wrong", "provider_refused_request", &[]),
    fault_before_text("stranger", "provider_auth", &[]),
    fault_before_text("gone", "model_not_found", &[]),
    fault_in_text("disconnect", "provider_truncated"),
    fault_in_text("truncate", "provider_truncated"),
    fault_in_text("malformed", "provider_protocol"),
    fault_in_text("stall", "provider_stalled"),
];

/// The faults in llmock's words, for each API anew.
fn faults() -> Vec<Value> {
    let fail = |model: &str, status: u16, times: Option<u32>| json!({ "type": "fail", "status": status, "times": times, "match": { "model": model } });
    let limited = |model: &str, times: Option<u32>| json!({ "type": "fail", "status": 429, "retry_after": 1, "times": times, "match": { "model": model } });
    let mut faults = vec![json!({ "type": "reply", "text": REPLY, "times": null })];
    faults.extend([
        limited("limited", None),
        fail("wrong", 400, None),
        fail("stranger", 401, None),
        json!({ "type": "fail", "status": 404, "code": "model_not_found", "message": "The model `gone` does not exist", "times": null, "match": { "model": "gone" } }),
    ]);
    for (api, _) in APIS {
        // Each API its own order: first the one, then the other.
        let of = |mut fault: Value| {
            fault["match"]["path"] = json!(path_of(api));
            fault
        };
        faults.extend([of(fail("recovers", 500, Some(1))), of(limited("recovers", Some(1)))]);
        faults.push(of(fail("overloaded", 503, Some(1))));
        for kind in ["disconnect", "truncate", "malformed", "stall"] {
            faults.push(of(json!({ "type": "stream_fault", "kind": kind, "after_chunks": SAID, "stall_seconds": 300,
                "match": { "model": kind } })));
        }
    }
    faults
}

/// The paths of an API's requests, as a pattern.
fn path_of(api: &str) -> &'static str {
    match api {
        "openai_chat" => "*/chat/completions",
        "openai_responses" => "*/responses",
        "anthropic" => "/anthropic/*",
        _ => "/gemini/*",
    }
}

/// # Errors
/// It does not start.
pub fn start(python: &Path, dir: &Path) -> Result<RunningProcess> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = bare_command(&python.join("bin/llmock"));
    command.args(["serve", "--host", "127.0.0.1", "--port", &address.port().to_string()]);
    super::start(
        {
            command.args(["--stream-chunk-delay-ms", PACE_MS]);
            command
        },
        address,
        &dir.join("llmock.log"),
    )
}

/// # Errors
/// A promise is broken, or llmock has something to say against the client.
pub fn check_faults(talk: &PeerClient, llmock: SocketAddr) -> Result<()> {
    let queued = http::post(llmock, "/_llmock/scenario", &json!({ "behaviors": faults() }))?;
    ensure!(queued.status == 201, "llmock refuses the faults: {}", queued.text());
    let broken: Vec<String> = thread::scope(|scope| {
        let all = APIS.iter().flat_map(|(api, _)| PROMISES.iter().map(move |promise| (*api, promise)));
        let running: Vec<_> = all
            .map(|(api, promise)| {
                scope.spawn(move || {
                    check_expectation(talk, api, promise).with_context(|| format!("{}, {api}", promise.fault))
                })
            })
            .collect();
        let ended = running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("it panicked"))));
        ended.filter_map(|done| done.err().map(|error| format!("{error:#}"))).collect()
    });
    let verdict = http::get(llmock, "/_llmock/verdict?format=text", "identity")?.text();
    ensure!(broken.is_empty(), "{}\n\n{verdict}", broken.join("\n"));
    ensure!(verdict.contains("  PASS  "), "{verdict}");
    Ok(())
}

fn check_expectation(talk: &PeerClient, api: &str, promise: &FaultExpectation) -> Result<()> {
    let chat = talk.create_chat(&format!("llmock-{api}"), promise.fault)?;
    let reply = talk.send_message(&chat, "Count.")?;
    ensure!(reply.ending() == promise.ending, "it ended as {}: {:#}", reply.ending(), reply.turn);
    ensure!(reply.attempts == promise.attempts, "the attempts were {:?}", reply.attempts);
    let said = reply.text_of_blocks("text");
    if promise.ending == "completed" {
        ensure!(said == REPLY && reply.blocks() == ["text"], "{:#}", reply.turn);
        return Ok(());
    }
    ensure!(reply.blocks().last() == Some(&"error"), "{:#}", reply.turn);
    ensure!(REPLY.starts_with(&said) && said.is_empty() != promise.keeps_words, "it kept {said:?}");
    if promise.keeps_words {
        let again = talk.retry_reply(&reply)?;
        ensure!(again.ending() == "completed" && again.text_of_blocks("text") == REPLY, "again: {:#}", again.turn);
        ensure!(talk.get_turn(&reply.id())? == reply.turn, "trying again changed the broken reply");
    }
    Ok(())
}
