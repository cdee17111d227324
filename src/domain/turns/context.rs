//! Context assembly: decides how each earlier turn is sent in the next request (`docs/reference/domain.md 4.7`), and
//! builds the manifest that records it with the generation. The format of the request itself belongs to the adapters.
//!
//! A reply is replayed raw only to the provider and model that produced it. The newest reply of another lock and
//! everything before it are sent as plain text, so that no model receives the signatures of another.

use serde::{Deserialize, Serialize};

use crate::blocks::block::{Block, Content};
use crate::blocks::notice::is_notice;
use crate::branches::branch::ModelLock;
use crate::documents::attachment::ShownAttachment;
use crate::id::TurnId;
use crate::providers::repair::RequestRepair;
use crate::tools::server_instructions::{ServerInstructions, instructions_tokens};
use crate::turns::exchange::DroppedParam;
use crate::turns::turn::{Role, Turn};
use crate::turns::user_input_wait::is_pause;
use crate::usage::tokens::block_tokens;

/// One turn of the path, with the facts that decide its mode.
#[derive(Debug, Clone, Copy)]
pub struct PathTurn<'a> {
    pub turn: &'a Turn,
    /// The lock of the turn's branch. Locks are compared instead of `model_used`, because providers return dated
    /// model names.
    pub lock: &'a ModelLock,
    /// The stored part of the reply's raw response.
    pub raw: RawCoverage,
    /// The repair that applies to this turn after the provider refused an earlier form.
    pub repair: Option<RequestRepair>,
}

/// The coverage of a reply's raw response in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawCoverage {
    /// The raw bytes of at least one generation are missing: imported, from an old version, or not kept.
    Missing,
    /// Every generation has raw bytes, but the last one was stopped, interrupted or failed.
    Partial,
    Whole,
}

/// The form in which a turn is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// The provider's own output, replayed by the rule of its adapter.
    Raw,
    /// Rendered from blocks: a reply as plain text, a message with all its content.
    Canonical,
    /// Not sent.
    Omitted,
}

/// The reason for a turn's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayReason {
    /// A reply of this lock, with no reply of another lock after it.
    SameLock,
    /// Not a reply: always rendered from its blocks.
    FromBlocks,
    /// The newest reply of another lock.
    ModelBreak,
    /// The newest reply that a person edited. It is a break like another model's reply, because it has no raw bytes.
    Edited,
    /// Older than the model break.
    BehindModelBreak,
    /// A reply of this lock that was stopped, interrupted or failed. Complete parts are replayed raw, and of the rest
    /// as much as the provider accepts (`docs/reference/providers.md 2.6`).
    Partial,
    /// The steps so far of the reply that is being generated.
    OwnSteps,
    /// A reply of this lock whose raw bytes are not stored. It is not a break.
    #[serde(alias = "raw_incomplete")]
    RawMissing,
    /// The provider keeps the turn, and the request names the response to continue from. Of the reply that is being
    /// generated, only the results of its last calls are sent.
    KeptByProvider,
    /// The turn has nothing to send. Error texts are not the model's words and do not count.
    Empty,
}

/// The manifest: how each turn was sent in a generation's request. It is stored with the generation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestManifest {
    pub turns: Vec<ManifestEntry>,
    /// The requested parameters that were not sent.
    pub not_sent: Vec<DroppedParam>,
    /// The repair in effect for this request, after the provider refused an earlier form within this reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RequestRepair>,
    /// The provider's response that the request continues from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<String>,
    /// The names of the offered tools that a search of the model had found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_tools: Vec<String>,
    /// The tool servers whose instructions followed the system prompt, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_instructions: Vec<SentInstructions>,
}

/// The instructions of a tool server in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentInstructions {
    /// The server's id.
    pub server: String,
    /// Its display name.
    pub name: String,
    /// An estimate, with the tags around the text, and at the first with the introduction to all.
    pub approx_tokens: u64,
    /// The SHA-256 of the text in hexadecimal. Empty in manifests of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

impl SentInstructions {
    /// Creates the entries of instructions that are sent. `sha256` hashes a text.
    pub fn list(instructions: &[ServerInstructions], sha256: impl Fn(&str) -> String) -> Vec<Self> {
        let entry = |(ServerInstructions { server, name, text }, approx_tokens): (&ServerInstructions, u64)| Self {
            server: server.clone(),
            name: name.clone(),
            approx_tokens,
            sha256: sha256(text),
        };
        instructions.iter().zip(instructions_tokens(instructions)).map(entry).collect()
    }

    /// Returns whether these instructions are the ones that were sent. `sha256` is the hash of their text.
    pub fn is_of(&self, instructions: &ServerInstructions, sha256: &str) -> bool {
        !self.sha256.is_empty() && self.server == instructions.server && self.sha256 == sha256
    }
}

/// One entry of a manifest: how a turn was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    pub turn_id: TurnId,
    pub mode: ReplayMode,
    pub reason: ReplayReason,
    /// The number of blocks sent, before the adapter's own replay rule.
    pub blocks_sent: u32,
    pub blocks_omitted: u32,
    /// An estimate, see [`block_tokens`].
    pub approx_tokens: u64,
    /// The repair that applied to the turn, if the provider had refused its full form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RequestRepair>,
    /// The form in which each attachment of the turn was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ShownAttachment>,
}

/// Decides the mode of every turn of a path for a request on a branch with this lock. Takes and returns the turns
/// from root to leaf.
pub fn build_manifest(path: &[PathTurn<'_>], lock: &ModelLock) -> Vec<ManifestEntry> {
    // The break is the newest reply of another lock or of a person; a system or user turn is never a break.
    let is_break = |at: &PathTurn<'_>| at.turn.role == Role::Assistant && (at.lock != lock || at.turn.is_edited());
    let boundary = path.iter().rposition(is_break);
    path.iter().enumerate().map(|(at, turn)| manifest_entry(turn, boundary.map(|boundary| at.cmp(&boundary)))).collect()
}

/// Returns a reply as plain text for another model: its text blocks without errors (`docs/reference/domain.md I10`).
/// Reasoning, signatures and tool calls are not sent.
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

/// Returns the entry for the steps so far of the reply that is being generated.
pub fn current_steps_entry(turn: &Turn, repair: Option<RequestRepair>) -> ManifestEntry {
    let entry = entry_with_repair(turn, ReplayMode::Raw, ReplayReason::OwnSteps, repair);
    if repair == Some(RequestRepair::StepsTold) {
        ManifestEntry { mode: ReplayMode::Canonical, ..entry }
    } else {
        entry
    }
}

/// Returns the entry for the steps so far if the provider keeps them: only the results of the newest calls are sent.
pub fn current_results_entry(turn: &Turn) -> ManifestEntry {
    let is_call = |block: &&Block| matches!(block.content, Content::ToolUse { .. });
    let newest = turn.blocks.iter().rfind(is_call).and_then(|call| call.generation_id);
    let is_result = |block: &Block| matches!(block.content, Content::ToolResult { .. });
    entry_of_sent_blocks(turn, ReplayMode::Raw, ReplayReason::KeptByProvider, |block| {
        is_result(block) && block.generation_id == newest
    })
}

/// Omits the turns that the provider keeps: everything up to and including `kept`. If `kept` is not in the manifest,
/// it is the reply that is being generated, and all turns are omitted.
pub fn omit_kept_by_provider(manifest: &mut [ManifestEntry], kept: TurnId) {
    let end = manifest.iter().rposition(|entry| entry.turn_id == kept).map_or(manifest.len(), |at| at + 1);
    for entry in manifest[..end].iter_mut().filter(|entry| entry.mode != ReplayMode::Omitted) {
        (entry.mode, entry.reason) = (ReplayMode::Omitted, ReplayReason::KeptByProvider);
        entry.blocks_omitted += std::mem::take(&mut entry.blocks_sent);
        entry.approx_tokens = 0;
        entry.attachments.clear();
    }
}

/// Records how the attachments of a message were sent, and replaces their estimated tokens with the counted ones.
pub fn record_attachments(entry: &mut ManifestEntry, message: &Turn, shown: Vec<ShownAttachment>) {
    let is_shown = |block: &&Block| shown.iter().any(|shown| shown.block_id == block.id);
    let guessed: u64 = message.blocks.iter().filter(is_shown).map(|block| block_tokens(&block.content)).sum();
    let counted: u64 = shown.iter().map(|shown| shown.approx_tokens).sum();
    entry.approx_tokens = entry.approx_tokens.saturating_sub(guessed) + counted;
    entry.attachments = shown;
}

/// Returns true if a request may continue from the response that the provider keeps of this reply
/// (`docs/reference/domain.md 4.7`): it is the newest reply of the path, was sent whole and without repair so far,
/// and the path has no model break.
pub fn can_continue_from(path: &[PathTurn<'_>], manifest: &[ManifestEntry], kept: TurnId) -> bool {
    let newest = path.iter().rposition(|at| at.turn.role == Role::Assistant).map(|at| &manifest[at]);
    let is_whole = |entry: &ManifestEntry| entry.reason == ReplayReason::SameLock && entry.repair.is_none();
    newest.is_some_and(|entry| entry.turn_id == kept && is_whole(entry)) && !has_model_break(manifest)
}

/// Returns true if a model break prevents part of the path from being sent raw.
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
    let has_reasoning = repair.is_none_or(|repair| !repair.omits_reasoning());
    let stays = |content: &Content| !has_reasoning && is_reasoning(content);
    let is_in = |block: &Block| is_sent(block, turn.role, mode) && !stays(&block.content);
    ManifestEntry { repair, ..entry_of_sent_blocks(turn, mode, reason, is_in) }
}

/// Returns the entry of a turn of which only these blocks are sent.
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

/// Returns true if a block is part of the request when its turn is sent in this mode.
fn is_sent(block: &Block, role: Role, mode: ReplayMode) -> bool {
    match &block.content {
        Content::Text { text, is_error } => !is_error && !text.trim().is_empty(),
        content if is_notice(content) || is_pause(block) => false,
        Content::Other(_) => mode == ReplayMode::Raw,
        // A reply that is sent as plain text still sends its images; they have their own text form.
        Content::Image { .. } => true,
        _ => mode == ReplayMode::Raw || role != Role::Assistant,
    }
}

fn is_reasoning(content: &Content) -> bool {
    matches!(content, Content::Thinking { .. } | Content::ThinkingSignature { .. })
}

#[cfg(test)]
mod tests;
