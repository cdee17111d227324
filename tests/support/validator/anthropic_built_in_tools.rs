//! Rules of Messages for tools that the API runs itself (docs/reference/providers.md 3.5; messages as clients report
//! them): each call is followed by its result in the same message, and encrypted content comes back unchanged.

use serde_json::{Map, Value};

use super::memory::ProviderMemory;
use super::{ProviderRefusal, ProviderRequest, refuse};

/// Each tool type with its required name and its optional keys.
const TOOLS: [(&str, &str, &[&str]); 5] = [
    ("advisor_20260301", "advisor", &["max_tokens", "max_uses", "model"]),
    ("web_search_20250305", "web_search", &["max_uses", "allowed_domains", "blocked_domains", "user_location"]),
    ("web_fetch_20250910", "web_fetch", &["max_uses", "allowed_domains", "blocked_domains", "citations"]),
    ("code_execution_20250825", "code_execution", &[]),
    ("code_execution_20260120", "code_execution", &[]),
];
/// The names that the model may call.
const NAMES: [&str; 6] =
    ["advisor", "web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution"];

/// Checks the declaration of a built-in tool.
pub fn check_tool(at: usize, kind: &str, tool: &Value) -> Result<(), ProviderRefusal> {
    let Some((_, name, more)) = TOOLS.iter().find(|(known, ..)| *known == kind) else {
        refuse!("tools.{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags");
    };
    if tool["name"] != *name {
        refuse!("tools.{at}.{kind}.name: Input should be '{name}'");
    }
    let is_known = |key: &str| ["type", "name", "cache_control"].contains(&key) || more.contains(&key);
    if let Some(key) = tool.as_object().into_iter().flat_map(Map::keys).find(|key| !is_known(key)) {
        refuse!("tools.{at}.{kind}.{key}: Extra inputs are not permitted");
    }
    Ok(())
}

/// Checks the calls and results of a message. A message in which the model paused may end with a call that still
/// runs.
pub fn check_calls(
    at: usize,
    blocks: &[Value],
    is_paused: bool,
    request: &ProviderRequest,
    memory: &ProviderMemory,
) -> Result<(), ProviderRefusal> {
    let is_user = request.list("messages")[at]["role"] == "user";
    let mut open: Vec<&str> = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let kind = block["type"].as_str().unwrap_or_default();
        // Tool servers ("connectors") have ids and names of their own.
        let is_result = !matches!(kind, "tool_result" | "mcp_tool_result") && kind.ends_with("_tool_result");
        if is_user && (kind == "server_tool_use" || is_result) {
            refuse!("messages.{at}.content.{place}: {kind} blocks may only be in `assistant` messages");
        }
        if kind == "server_tool_use" {
            let (id, name) = (block["id"].as_str().unwrap_or_default(), block["name"].as_str().unwrap_or_default());
            let letters = id.strip_prefix("srvtoolu_").unwrap_or_default();
            if letters.is_empty() || !letters.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                refuse!(
                    "messages.{at}.content.{place}.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
                );
            }
            if !NAMES.contains(&name) {
                refuse!("messages.{at}.content.{place}.server_tool_use.name: Input should be '{}'", NAMES.join("', '"));
            }
            if !block["input"].is_object() {
                refuse!("messages.{at}.content.{place}.server_tool_use.input: Input should be a valid dictionary");
            }
            open.push(id);
        }
        if is_result {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let Some(call) = open.iter().position(|known| *known == id) else {
                refuse!(
                    "messages.{at}.content.{place}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` block must have a corresponding `server_tool_use` block before it."
                );
            };
            open.remove(call);
            check_encrypted_content(at, place, block, request, memory)?;
        }
        for citation in block["citations"].as_array().into_iter().flatten() {
            let has_citation =
                |sent_block: &Value| sent_block["citations"].as_array().is_some_and(|all| all.contains(citation));
            if memory.find(&request.provider, request.text("model"), has_citation).is_none() {
                refuse!("messages.{at}.content.{place}: Invalid `encrypted_index` in `citations`");
            }
        }
    }
    if let Some(id) = open.first().filter(|_| !is_paused) {
        let block = blocks.iter().find(|block| block["id"] == **id);
        let name = block.and_then(|block| block["name"].as_str()).unwrap_or_default();
        refuse!(
            "messages.{at}: `{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block"
        );
    }
    Ok(())
}

/// Search results are encrypted for the model that found them.
fn check_encrypted_content(
    at: usize,
    place: usize,
    block: &Value,
    request: &ProviderRequest,
    memory: &ProviderMemory,
) -> Result<(), ProviderRefusal> {
    let is_it =
        |sent_block: &Value| sent_block["tool_use_id"] == block["tool_use_id"] && sent_block["type"] == block["type"];
    let known = memory.find(&request.provider, request.text("model"), is_it).map(|(sent, was)| &sent.content[was]);
    if known.is_none_or(|known| known["content"] != block["content"]) {
        refuse!("messages.{at}.content.{place}: Invalid `encrypted_content` in `search_result` block");
    }
    Ok(())
}
