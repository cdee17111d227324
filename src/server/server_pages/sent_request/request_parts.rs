//! The parts of a request and their sizes: prompt, tools, messages, attachments, results.

use std::collections::HashMap;

use crate::domain::turns::context::{ManifestEntry, RequestManifest};
use crate::domain::usage::tokens::{approx_tokens, block_tokens};
use crate::domain::{Content, Role, Turn, TurnId};
use turnleaf_service::turns::generations::SentRequests;

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    Prompt,
    /// The instructions of tool servers.
    ServerInstructions,
    Tools,
    Messages,
    Replies,
    Attachments,
    Results,
    /// Turns that are no longer on this path, or that are beyond the loaded part of it.
    Unlisted,
}

/// Returns the tokens of each part, largest first, without empty parts.
pub(super) fn tokens_by_part(sent: &SentRequests, manifest: &RequestManifest) -> Vec<(RequestPart, u64)> {
    let turns = turns_by_id(sent);
    let tools = sent.frozen.tools.as_ref().and_then(|tools| serde_json::to_string(tools).ok()).unwrap_or_default();
    let mut sums = vec![
        (RequestPart::Prompt, approx_tokens(&sent.frozen.system_prompt)),
        (RequestPart::ServerInstructions, manifest.server_instructions.iter().map(|one| one.approx_tokens).sum()),
        (RequestPart::Tools, approx_tokens(&tools)),
    ];
    if sent.frozen.tools.as_ref().is_none_or(Vec::is_empty) {
        sums.retain(|(part, _)| *part != RequestPart::Tools);
    }
    for entry in &manifest.turns {
        sums.extend(turn_tokens_by_part(entry, turns.get(&entry.turn_id).copied()));
    }
    let kinds = [
        RequestPart::Prompt,
        RequestPart::ServerInstructions,
        RequestPart::Tools,
        RequestPart::Messages,
        RequestPart::Replies,
        RequestPart::Attachments,
        RequestPart::Results,
        RequestPart::Unlisted,
    ];
    let sum = |kind: RequestPart| sums.iter().filter(|(of, _)| *of == kind).map(|(_, tokens)| tokens).sum::<u64>();
    let mut parts: Vec<_> = kinds.into_iter().map(|kind| (kind, sum(kind))).filter(|(_, tokens)| *tokens > 0).collect();
    parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    parts
}

/// Returns the turns that may have been sent, by id.
pub(super) fn turns_by_id(sent: &SentRequests) -> HashMap<TurnId, &Turn> {
    sent.path.iter().chain([&sent.turn]).map(|turn| (turn.id, turn)).collect()
}

/// Splits the tokens of a turn by part; the sum never exceeds the total.
fn turn_tokens_by_part(entry: &ManifestEntry, turn: Option<&Turn>) -> [(RequestPart, u64); 3] {
    let all = entry.approx_tokens;
    let attached = entry.attachments.iter().map(|shown| shown.approx_tokens).sum::<u64>().min(all);
    let is_result = |content: &Content| matches!(content, Content::ToolResult { .. });
    let results = turn.into_iter().flat_map(|turn| &turn.blocks).filter(|block| is_result(&block.content));
    let results = results.map(|block| block_tokens(&block.content)).sum::<u64>().min(all - attached);
    let rest = match turn.map(|turn| turn.role) {
        None => RequestPart::Unlisted,
        Some(Role::Assistant) => RequestPart::Replies,
        Some(Role::System) => RequestPart::Prompt,
        Some(Role::User) => RequestPart::Messages,
    };
    [(RequestPart::Attachments, attached), (RequestPart::Results, results), (rest, all - attached - results)]
}
