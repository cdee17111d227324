//! llmock: one fault after another in four APIs (it does not implement Ollama's), each with its expected ending, and
//! then llmock's own judgement of the timing of requests and closed connections. The name of a model is the name of
//! its fault, so all run concurrently.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use super::peer_client::PeerClient;
use crate::http;
use crate::process::{RunningProcess, free_port};
use crate::server::bare_command;

/// The APIs with their base paths.
pub const APIS: [(&str, &str); 4] =
    [("openai_chat", "/v1"), ("openai_responses", "/v1"), ("anthropic", "/anthropic"), ("gemini", "/gemini/v1beta")];

/// The text is long enough to continue for seconds after a fault, so that a client that keeps reading is detected.
const REPLY: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six";
/// The pause between two pieces of a reply.
const PACE_MS: &str = "150";
/// The number of pieces after which every API has sent some text.
const CHUNKS_BEFORE_FAULT: u32 = 7;

/// The expected outcome of one fault.
struct FaultExpectation {
    fault: &'static str,
    ending: &'static str,
    /// The attempts that are shown.
    attempts: &'static [u64],
    /// True if the text before the fault is kept, and a retry returns the whole reply.
    keeps_words: bool,
}

const fn fault_before_text(fault: &'static str, ending: &'static str, attempts: &'static [u64]) -> FaultExpectation {
    FaultExpectation { fault, ending, attempts, keeps_words: false }
}

const fn fault_in_text(fault: &'static str, ending: &'static str) -> FaultExpectation {
    FaultExpectation { fault, ending, attempts: &[], keeps_words: true }
}

const PROMISES: [FaultExpectation; 11] = [
    fault_before_text("nothing", "complete", &[]),
    fault_before_text("recovers", "complete", &[2, 3]),
    fault_before_text("limited", "provider_rate_limited", &[2, 3]),
    fault_before_text("overloaded", "complete", &[2]),
    fault_before_text("wrong", "provider_refused_request", &[]),
    fault_before_text("stranger", "provider_auth", &[]),
    fault_before_text("gone", "model_not_found", &[]),
    fault_in_text("disconnect", "provider_truncated"),
    fault_in_text("truncate", "provider_truncated"),
    fault_in_text("malformed", "provider_protocol"),
    fault_in_text("stall", "provider_stalled"),
];

/// Returns the faults in llmock's format, separately for each API.
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
        // The order is fixed within each API: first the 500, then the 429.
        let of = |mut fault: Value| {
            fault["match"]["path"] = json!(path_of(api));
            fault
        };
        faults.extend([of(fail("recovers", 500, Some(1))), of(limited("recovers", Some(1)))]);
        faults.push(of(fail("overloaded", 503, Some(1))));
        for kind in ["disconnect", "truncate", "malformed", "stall"] {
            faults.push(of(
                json!({ "type": "stream_fault", "kind": kind, "after_chunks": CHUNKS_BEFORE_FAULT, "stall_seconds": 300,
                "match": { "model": kind } }),
            ));
        }
    }
    faults
}

/// Returns the path pattern of an API's requests.
fn path_of(api: &str) -> &'static str {
    match api {
        "openai_chat" => "*/chat/completions",
        "openai_responses" => "*/responses",
        "anthropic" => "/anthropic/*",
        _ => "/gemini/*",
    }
}

/// # Errors
/// The server does not start.
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
/// An expectation is not met, or llmock reports a violation by the client.
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
    let texts = reply.text_of_blocks("text");
    if promise.ending == "complete" {
        ensure!(texts == REPLY && reply.blocks() == ["text"], "{:#}", reply.turn);
        return Ok(());
    }
    ensure!(reply.blocks().last() == Some(&"error"), "{:#}", reply.turn);
    ensure!(REPLY.starts_with(&texts) && texts.is_empty() != promise.keeps_words, "it kept {texts:?}");
    if promise.keeps_words {
        let again = talk.retry_reply(&reply)?;
        ensure!(again.ending() == "complete" && again.text_of_blocks("text") == REPLY, "again: {:#}", again.turn);
        ensure!(talk.get_turn(&reply.id())? == reply.turn, "trying again changed the broken reply");
    }
    Ok(())
}
