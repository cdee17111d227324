//! The kinds of what goes to a model, and how much each of them is: prompt, tools, messages, attachments, results.

use std::collections::HashMap;

use crate::domain::context::{ManifestEntry, RequestManifest};
use crate::domain::tokens::{approx_tokens, block_tokens};
use crate::domain::{Content, Role, Turn, TurnId};
use turnleaf_service::turns::generations::Sent;

/// A kind of what goes to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Prompt,
    Tools,
    Messages,
    Replies,
    Attachments,
    Results,
    /// Of turns that are not on this path any more, or too far up to be looked up.
    Others,
}

/// How many tokens each kind has, the largest first; nothing of those that have none.
pub(super) fn parts(sent: &Sent, manifest: &RequestManifest) -> Vec<(Part, u64)> {
    let turns = by_id(sent);
    let tools = sent.frozen.tools.as_ref().and_then(|tools| serde_json::to_string(tools).ok()).unwrap_or_default();
    let mut sums =
        vec![(Part::Prompt, approx_tokens(&sent.frozen.system_prompt)), (Part::Tools, approx_tokens(&tools))];
    if sent.frozen.tools.as_ref().is_none_or(Vec::is_empty) {
        sums[1].1 = 0;
    }
    for entry in &manifest.turns {
        sums.extend(of_turn(entry, turns.get(&entry.turn_id).copied()));
    }
    let kinds =
        [Part::Prompt, Part::Tools, Part::Messages, Part::Replies, Part::Attachments, Part::Results, Part::Others];
    let sum = |kind: Part| sums.iter().filter(|(of, _)| *of == kind).map(|(_, tokens)| tokens).sum::<u64>();
    let mut parts: Vec<_> = kinds.into_iter().map(|kind| (kind, sum(kind))).filter(|(_, tokens)| *tokens > 0).collect();
    parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    parts
}

/// The turns that may have gone along.
pub(super) fn by_id(sent: &Sent) -> HashMap<TurnId, &Turn> {
    sent.path.iter().chain([&sent.turn]).map(|turn| (turn.id, turn)).collect()
}

/// What a turn's tokens are for; never more than it had.
fn of_turn(entry: &ManifestEntry, turn: Option<&Turn>) -> [(Part, u64); 3] {
    let all = entry.approx_tokens;
    let attached = entry.attachments.iter().map(|shown| shown.approx_tokens).sum::<u64>().min(all);
    let is_result = |content: &Content| matches!(content, Content::ToolResult { .. });
    let results = turn.into_iter().flat_map(|turn| &turn.blocks).filter(|block| is_result(&block.content));
    let results = results.map(|block| block_tokens(&block.content)).sum::<u64>().min(all - attached);
    let rest = match turn.map(|turn| turn.role) {
        None => Part::Others,
        Some(Role::Assistant) => Part::Replies,
        Some(Role::System) => Part::Prompt,
        Some(Role::User) => Part::Messages,
    };
    [(Part::Attachments, attached), (Part::Results, results), (rest, all - attached - results)]
}
