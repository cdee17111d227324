//! aimock: conversations in all five APIs without provider errors, with reasoning, tools, several turns and another
//! version, and an interrupted connection. Its deviations from the real providers are allowed for
//! (`docs/reference/providers.md 12`): its Gemini has no signatures, and its Ollama sends reasoning where Ollama does
//! not.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::peer_client::{EndedReply, PeerClient};
use crate::http;
use crate::process::{RunningProcess, free_port};
use crate::server::bare_command;

/// An API with a model, and the expected blocks of a greeting and of one tool round.
struct Peer {
    api: &'static str,
    model: &'static str,
    greeting: &'static [&'static str],
    round: &'static [&'static str],
}

const SIGNED: &[&str] = &["thinking", "thinking_signature", "text"];
const ROUND: &[&str] = &["thinking", "text", "tool_use", "tool_result", "thinking", "text"];
const SIGNED_ROUND: &[&str] =
    &["thinking", "thinking_signature", "text", "tool_use", "tool_result", "thinking", "thinking_signature", "text"];

const PEERS: [Peer; 5] = [
    Peer { api: "openai_chat", model: "gpt-5", greeting: &["thinking", "text"], round: ROUND },
    Peer { api: "openai_responses", model: "gpt-5", greeting: SIGNED, round: SIGNED_ROUND },
    Peer { api: "anthropic", model: "claude-opus-4-6", greeting: SIGNED, round: SIGNED_ROUND },
    Peer { api: "gemini", model: "gemini-3-pro", greeting: &["thinking", "text"], round: ROUND },
    Peer { api: "ollama", model: "qwen3:8b", greeting: &["text"], round: &["text", "tool_use", "tool_result", "text"] },
];

const GREETING: &str = "Hello 你好 😀, **how** are you today?";
const CUT: &str = "This reply is cut off long before it has said everything that it wanted to say.";
const THOUGHT: &str = "A greeting, in several scripts.";

/// # Errors
/// The server does not start.
pub fn start(dir: &Path) -> Result<RunningProcess> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = bare_command(Path::new("node"));
    command.arg(super::peers_dir().join("node_modules/@copilotkit/aimock/dist/cli.js"));
    command.args(["--port", &address.port().to_string(), "--chunk-size", "5", "--strict", "--log-level", "warn"]);
    command.arg("--fixtures").arg(super::peers_dir().join("replies.json"));
    super::start(command, address, &dir.join("aimock.log"))
}

/// # Errors
/// A conversation did not go as expected.
pub fn check_conversations(talk: &PeerClient, aimock: SocketAddr) -> Result<()> {
    for peer in &PEERS {
        converse(talk, aimock, peer).with_context(|| format!("with {}", peer.api))?;
    }
    Ok(())
}

fn converse(talk: &PeerClient, aimock: SocketAddr, peer: &Peer) -> Result<()> {
    let chat = talk.create_chat(&format!("aimock-{}", peer.api), peer.model)?;
    let is_greeting = |reply: &EndedReply| {
        let thought = if peer.greeting.contains(&"thinking") { THOUGHT } else { "" };
        expect(reply, "complete", peer.greeting)?;
        ensure!(
            reply.text_of_blocks("text") == GREETING && reply.text_of_blocks("thinking") == thought,
            "{:#}",
            reply.turn
        );
        Ok(())
    };
    is_greeting(&talk.send_message(&chat, "hello")?)?;
    let round = talk.send_message(&chat, "what is the weather?")?;
    expect(&round, "complete", peer.round)?;
    ensure!(round.text_of_blocks("text") == "One moment.I cannot look outside.", "{:#}", round.turn);
    let call = round.turn["blocks"].as_array().and_then(|all| all.iter().find(|block| block["type"] == "tool_use"));
    let arguments = call.map(|call| &call["arguments"]);
    ensure!(arguments == Some(&serde_json::json!({ "city": "Zürich", "days": 2 })), "{:#}", round.turn);
    let third = talk.send_message(&chat, "hello again")?;
    is_greeting(&third)?;
    let roles = ["user", "assistant", "user", "assistant", "tool", "assistant", "user"];
    ensure!(received_requests(aimock)? == roles, "the conversation went as {:?}", received_requests(aimock)?);
    is_greeting(&talk.retry_reply(&third)?)?;
    ensure!(talk.get_turn(&third.id())? == third.turn, "another version changed the one before it");
    let broken = talk.send_message(&chat, "be broken")?;
    ensure!(broken.text_of_blocks("text") != CUT, "nothing was cut: {:#}", broken.turn);
    ensure!(broken.ending() == "provider_truncated", "{:#}", broken.turn);
    ensure!(broken.blocks().last() == Some(&"error"), "{:#}", broken.turn);
    ensure!(
        CUT.starts_with(&broken.text_of_blocks("text")) && !broken.text_of_blocks("text").is_empty(),
        "{:#}",
        broken.turn
    );
    Ok(())
}

fn expect(reply: &EndedReply, ending: &str, blocks: &[&str]) -> Result<()> {
    ensure!(reply.ending() == ending, "it ended as {}: {:#}", reply.ending(), reply.turn);
    ensure!(reply.blocks() == blocks, "it has the blocks {:?}", reply.blocks());
    Ok(())
}

/// Returns the roles of the last request as aimock parsed them. Responses has separate entries for text and calls.
fn received_requests(aimock: SocketAddr) -> Result<Vec<String>> {
    let journal: Value = serde_json::from_slice(&http::get(aimock, "/__aimock/journal", "identity")?.body)?;
    let last = journal.as_array().and_then(|all| all.last()).context("aimock's journal is empty")?;
    let messages = last.pointer("/body/messages").and_then(Value::as_array).context("a request without messages")?;
    let mut roles: Vec<String> =
        messages.iter().filter_map(|message| Some(message["role"].as_str()?.to_owned())).collect();
    roles.dedup();
    Ok(roles)
}
