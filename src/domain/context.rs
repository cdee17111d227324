//! Context: how each earlier turn goes into the next request (domain.md 4.7), and the record of it that is kept with
//! the generation. Not for the provider's own shape of a request: that is the adapter's.
//!
//! A reply may be replayed as it came from the provider only to the provider and model it came from. Everything at and
//! behind the newest reply of another lock is told as plain text, so that no model gets another's signatures.

use serde::{Deserialize, Serialize};

use crate::attachment::ShownAttachment;
use crate::block::{Block, Content};
use crate::branch::ModelLock;
use crate::exchange::DroppedParam;
use crate::id::TurnId;
use crate::notice::is_notice;
use crate::repair::RequestRepair;
use crate::tokens::block_tokens;
use crate::turn::{Role, Turn};
use crate::user_input_wait::is_pause;

/// One turn of the path, with what decides its mode.
#[derive(Debug, Clone, Copy)]
pub struct PathTurn<'a> {
    pub turn: &'a Turn,
    /// The lock of the turn's branch. Locks are compared, not `model_used`: providers answer with dated names.
    pub lock: &'a ModelLock,
    /// What is stored of the bytes that it came in.
    pub raw: RawCoverage,
    /// How what the provider refused before changes this turn.
    pub repair: Option<RequestRepair>,
}

/// What is stored of the bytes that a reply came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawCoverage {
    /// Nothing, or not of all of its generations: imported, from an old version, or not kept.
    Missing,
    /// Of every generation, but the last one was stopped, broke or failed.
    Partial,
    Whole,
}

/// How a turn is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// The provider's own output, replayed by its adapter's rule.
    Raw,
    /// Rendered from blocks: a reply as plain text, a person's message as what it holds.
    Canonical,
    /// Not at all.
    Omitted,
}

/// Why a turn is sent that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayReason {
    /// A reply of this lock, with no other lock between it and the request.
    SameLock,
    /// Not a reply: always rendered from its blocks.
    FromBlocks,
    /// The newest reply of another lock.
    ModelBreak,
    /// The newest reply that a person wrote: a break like another model's, because no bytes of it exist.
    Edited,
    /// Older than the model break.
    BehindModelBreak,
    /// A reply of this lock that was stopped, broke or failed: what came whole goes back as it came, and of the rest
    /// what the provider takes (providers.md 2.6).
    Partial,
    /// The steps so far of the reply that is being written.
    OwnSteps,
    /// A reply of this lock whose bytes are not kept. Not a break.
    #[serde(alias = "raw_incomplete")]
    RawMissing,
    /// The provider keeps it, and the request names the response to go on from. Of the reply that is being written only
    /// what its last calls gave is sent.
    KeptByProvider,
    /// There is nothing in it to send; an error is not the model's words.
    Empty,
}

/// What went into a generation's request, kept with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestManifest {
    pub turns: Vec<ManifestEntry>,
    /// The parameters that were asked for and did not go out.
    pub not_sent: Vec<DroppedParam>,
    /// The form in which the request went out again after it was refused, in this reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RequestRepair>,
    /// The response of the provider's that the request goes on from, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<String>,
}

/// One line of a generation's manifest: how a turn went into the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    pub turn_id: TurnId,
    pub mode: ReplayMode,
    pub reason: ReplayReason,
    /// Blocks that went in, before an adapter's own replay rule.
    pub blocks_sent: u32,
    pub blocks_omitted: u32,
    /// An estimate, see [`block_tokens`].
    pub approx_tokens: u64,
    /// In which form it went, where the provider had refused the whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RequestRepair>,
    /// How what is attached to it went in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ShownAttachment>,
}

/// Decides the mode of every turn of a path, given from root to leaf and answered in that order, for a request on a
/// branch with this lock.
pub fn build_manifest(path: &[PathTurn<'_>], lock: &ModelLock) -> Vec<ManifestEntry> {
    // The break is the newest reply of another lock or of a person; a system or user turn never is one.
    let is_break = |at: &PathTurn<'_>| at.turn.role == Role::Assistant && (at.lock != lock || at.turn.is_edited());
    let boundary = path.iter().rposition(is_break);
    path.iter().enumerate().map(|(at, turn)| manifest_entry(turn, boundary.map(|boundary| at.cmp(&boundary)))).collect()
}

/// A reply as plain text for another model: its text blocks without errors (domain.md I10). Reasoning, signatures and
/// tool calls stay behind.
pub fn canonical_text(turn: &Turn) -> String {
    turn.content_text()
}

fn manifest_entry(path_turn: &PathTurn<'_>, from_boundary: Option<std::cmp::Ordering>) -> ManifestEntry {
    let turn = path_turn.turn;
    let (mode, reason) = if turn.role != Role::Assistant {
        (ReplayMode::Canonical, ReplayReason::FromBlocks)
    } else {
        match from_boundary {
            Some(std::cmp::Ordering::Equal) if turn.is_edited() => (ReplayMode::Canonical, ReplayReason::Edited),
            Some(std::cmp::Ordering::Equal) => (ReplayMode::Canonical, ReplayReason::ModelBreak),
            Some(std::cmp::Ordering::Less) => (ReplayMode::Canonical, ReplayReason::BehindModelBreak),
            _ => match path_turn.raw {
                RawCoverage::Whole => (ReplayMode::Raw, ReplayReason::SameLock),
                RawCoverage::Partial => (ReplayMode::Raw, ReplayReason::Partial),
                RawCoverage::Missing => (ReplayMode::Canonical, ReplayReason::RawMissing),
            },
        }
    };
    entry_with_repair(turn, mode, reason, path_turn.repair.filter(|_| mode == ReplayMode::Raw))
}

/// The entry of the steps so far of the reply that is being written.
pub fn current_steps_entry(turn: &Turn, repair: Option<RequestRepair>) -> ManifestEntry {
    let entry = entry_with_repair(turn, ReplayMode::Raw, ReplayReason::OwnSteps, repair);
    if repair == Some(RequestRepair::StepsTold) {
        ManifestEntry { mode: ReplayMode::Canonical, ..entry }
    } else {
        entry
    }
}

/// The entry of the steps so far where the provider keeps them: what the calls of the last one gave.
pub fn current_results_entry(turn: &Turn) -> ManifestEntry {
    let is_call = |block: &&Block| matches!(block.content, Content::ToolUse { .. });
    let newest = turn.blocks.iter().rfind(is_call).and_then(|call| call.generation_id);
    let is_result = |block: &Block| matches!(block.content, Content::ToolResult { .. });
    entry_of_sent_blocks(turn, ReplayMode::Raw, ReplayReason::KeptByProvider, |block| {
        is_result(block) && block.generation_id == newest
    })
}

/// What becomes of these turns where the provider keeps the conversation up to this one: they stay behind. All of them
/// do behind a turn that is not among them, because it is being written.
pub fn omit_kept_by_provider(manifest: &mut [ManifestEntry], kept: TurnId) {
    let end = manifest.iter().rposition(|entry| entry.turn_id == kept).map_or(manifest.len(), |at| at + 1);
    for entry in manifest[..end].iter_mut().filter(|entry| entry.mode != ReplayMode::Omitted) {
        (entry.mode, entry.reason) = (ReplayMode::Omitted, ReplayReason::KeptByProvider);
        entry.blocks_omitted += std::mem::take(&mut entry.blocks_sent);
        entry.approx_tokens = 0;
        entry.attachments.clear();
    }
}

/// What became of a message's attachments, whose tokens are counted now instead of guessed.
pub fn record_attachments(entry: &mut ManifestEntry, message: &Turn, shown: Vec<ShownAttachment>) {
    let is_shown = |block: &&Block| shown.iter().any(|shown| shown.block_id == block.id);
    let guessed: u64 = message.blocks.iter().filter(is_shown).map(|block| block_tokens(&block.content)).sum();
    let counted: u64 = shown.iter().map(|shown| shown.approx_tokens).sum();
    entry.approx_tokens = entry.approx_tokens.saturating_sub(guessed) + counted;
    entry.attachments = shown;
}

/// Whether a request may go on from the response that the provider keeps of this reply (domain.md 4.7): it is the newest
/// reply of the path, went back whole and unrepaired so far, and no model break masks anything.
pub fn can_continue_from(path: &[PathTurn<'_>], manifest: &[ManifestEntry], kept: TurnId) -> bool {
    let newest = path.iter().rposition(|at| at.turn.role == Role::Assistant).map(|at| &manifest[at]);
    let is_whole = |entry: &ManifestEntry| entry.reason == ReplayReason::SameLock && entry.repair.is_none();
    newest.is_some_and(|entry| entry.turn_id == kept && is_whole(entry)) && !has_model_break(manifest)
}

/// Whether a model break keeps anything of the path from being sent as it came.
pub fn has_model_break(manifest: &[ManifestEntry]) -> bool {
    manifest.iter().any(|entry| {
        matches!(entry.reason, ReplayReason::ModelBreak | ReplayReason::Edited | ReplayReason::BehindModelBreak)
    })
}

fn entry_with_repair(
    turn: &Turn,
    mode: ReplayMode,
    reason: ReplayReason,
    repair: Option<RequestRepair>,
) -> ManifestEntry {
    let has_reasoning = repair.is_none_or(|repair| !repair.omits_earlier_reasoning());
    let stays = |content: &Content| !has_reasoning && is_reasoning(content);
    let is_in = |block: &Block| is_sent(block, turn.role, mode) && !stays(&block.content);
    ManifestEntry { repair, ..entry_of_sent_blocks(turn, mode, reason, is_in) }
}

/// The entry of a turn of which these blocks are sent.
fn entry_of_sent_blocks(
    turn: &Turn,
    mode: ReplayMode,
    reason: ReplayReason,
    is_in: impl Fn(&Block) -> bool,
) -> ManifestEntry {
    let sent = || turn.blocks.iter().filter(|block| is_in(block));
    let blocks_sent = count(sent());
    let (mode, reason) = if blocks_sent == 0 { (ReplayMode::Omitted, ReplayReason::Empty) } else { (mode, reason) };
    ManifestEntry {
        turn_id: turn.id,
        mode,
        reason,
        blocks_sent,
        blocks_omitted: count(turn.blocks.iter()) - blocks_sent,
        approx_tokens: sent().map(|block| block_tokens(&block.content)).sum(),
        repair: None,
        attachments: Vec::new(),
    }
}

fn count<'a>(blocks: impl Iterator<Item = &'a Block>) -> u32 {
    u32::try_from(blocks.count()).unwrap_or(u32::MAX)
}

/// Whether a block's content is part of the request when its turn goes in this way.
fn is_sent(block: &Block, role: Role, mode: ReplayMode) -> bool {
    match &block.content {
        Content::Text { text, is_error } => !is_error && !text.trim().is_empty(),
        content if is_notice(content) || is_pause(block) => false,
        Content::Other(_) => mode == ReplayMode::Raw,
        // Of a reply that is told in words, an image is told by its own.
        Content::Image { .. } => true,
        _ => mode == ReplayMode::Raw || role != Role::Assistant,
    }
}

fn is_reasoning(content: &Content) -> bool {
    matches!(content, Content::Thinking { .. } | Content::ThinkingSignature { .. })
}

#[cfg(test)]
mod tests;
