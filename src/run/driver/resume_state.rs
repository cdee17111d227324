//! The resume state of a turn that an earlier process left waiting: rebuilds what its run would know from stored
//! data.

use bytes::Bytes;

use super::context::replayable_responses;
use super::run::{AppliedRepair, HaltReason, TurnRun};
use crate::path_cache::CachedResponse;
use turnleaf_domain::blocks::notice::is_notice;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::call_edit::CallEdit;
use turnleaf_domain::tools::tool;
use turnleaf_domain::turns::context::RequestManifest;
use turnleaf_domain::{Block, Charge, Content, Failure, FailureKind, GenerationId, Turn};
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::provider::{DecodedItem, Provider};
use turnleaf_store::StoreError;
use turnleaf_store::turns::generations::{self, Generation, raw};

impl TurnRun<'_> {
    /// Continues a turn that waits for a person.
    pub(super) async fn resume_steps(&mut self) -> Result<(), HaltReason> {
        self.restore_state().await.map_err(|error| {
            tracing::error!(turn = %self.job.turn.id, %error, "the resume state of a turn could not be read");
            Failure::new(FailureKind::Internal, "")
        })?;
        let calls = open_calls(self.recorder.turn());
        self.run_steps(Some(calls)).await
    }

    async fn restore_state(&mut self) -> Result<(), StoreError> {
        let (db, turn) = (self.supervisor.db(), self.recorder.turn().clone());
        let made = generations::list(db, self.job.owner, turn.id).await?;
        for generation in &made {
            self.usages.set(generation.id, generation.usage);
            self.charges.push(charge_of(generation));
        }
        self.step = made.iter().map(|generation| generation.step + 1).max().unwrap_or_default();
        let steps = raw::list_by_turns(db, &[turn.id]).await?.remove(&turn.id).unwrap_or_default();
        let mut steps: Vec<CachedResponse> = steps.into_iter().map(CachedResponse::from).collect();
        // A request that was refused and repaired is not a step.
        steps.retain(|step| has_blocks_from(&turn, step.generation_id));
        let has_empty_step = steps.iter().any(|step| step.is_empty);
        (_, self.steps_raw) = replayable_responses(&turn, &steps, self.provider.api());
        self.repair = applied_repair(&turn, &made);
        if has_empty_step && self.repair.as_ref().is_none_or(|repaired| repaired.repair != RequestRepair::StepsTold) {
            // Without their bytes, steps can only be sent as text.
            self.repair = Some(AppliedRepair::already_announced(
                RequestRepair::StepsTold,
                self.steps_raw.len(),
                turn.blocks.len(),
            ));
        }
        if let Some(last) = self.steps_raw.last() {
            self.response_id = response_id(self.provider.as_ref(), &last.bytes());
        }
        Ok(())
    }

    /// Extends the steps that are sent as text by the results of the newest calls, as long as no step follows them.
    pub(super) fn extend_repair_over_results(&mut self) {
        let (steps, blocks) = (self.steps_raw.len(), self.recorder.turn().blocks.len());
        if let Some(repair) =
            self.repair.as_mut().filter(|repair| repair.repair == RequestRepair::StepsTold && repair.steps == steps)
        {
            repair.blocks = blocks;
        }
    }
}

/// Returns whether the model wrote a block of the turn in this generation.
fn has_blocks_from(turn: &Turn, generation: GenerationId) -> bool {
    turn.blocks.iter().any(|block| block.generation_id == Some(generation))
}

fn charge_of(generation: &Generation) -> Option<Charge> {
    Some(Charge {
        micros: generation.cost_micros?,
        basis: generation.cost_basis?,
        price_version: generation.price_version.clone(),
    })
}

/// Returns the repair of the turn's requests, with the steps and blocks the turn had at that time.
fn applied_repair(turn: &Turn, made: &[Generation]) -> Option<AppliedRepair> {
    let form = |generation: &Generation| {
        serde_json::from_value::<RequestManifest>(generation.request_manifest.clone()).ok()?.repair
    };
    let at = made.iter().position(|generation| form(generation).is_some())?;
    let steps = made[..at].iter().filter(|generation| has_blocks_from(turn, generation.id)).count();
    let behind: Vec<GenerationId> = made[at..].iter().map(|generation| generation.id).collect();
    let is_behind = |block: &Block| block.generation_id.is_some_and(|generation| behind.contains(&generation));
    let first = turn.blocks.iter().position(is_behind).unwrap_or(turn.blocks.len());
    // The notice of the repair is between the two generations.
    let is_repair_notice = |block: &Block| block.generation_id.is_none() && is_notice(&block.content);
    let blocks = first - usize::from(first > 0 && is_repair_notice(&turn.blocks[first - 1]));
    Some(AppliedRepair::already_announced(form(&made[at])?, steps, blocks))
}

/// Returns the id under which the provider keeps a response, as the response states it.
fn response_id(provider: &dyn Provider, bytes: &Bytes) -> Option<String> {
    if !provider.keeps_responses() {
        return None;
    }
    let (mut decoder, mut items) = (provider.decoder(), Vec::new());
    decoder.feed(bytes, &mut items);
    decoder.finish(&mut items);
    items.into_iter().rev().find_map(|item| if let DecodedItem::ResponseId(id) = item { Some(id) } else { None })
}

/// Returns the unfinished calls as the model made them.
fn open_calls(turn: &Turn) -> Vec<PendingCall> {
    let open = |block: &Block| match &block.content {
        Content::ToolUse { tool_use_id, tool_name, arguments_raw, arguments, status, .. } if status.is_open() => {
            // A person's edit counts instead of what the model wrote.
            let raw = arguments_raw.clone().filter(|_| CallEdit::from_block(block).is_none());
            let raw = raw.unwrap_or_else(|| arguments.to_string());
            Some(PendingCall {
                block_id: block.id,
                tool_use_id: tool_use_id.clone(),
                name: tool_name.clone(),
                arguments: tool::parse_arguments(&raw),
                raw,
            })
        }
        _ => None,
    };
    turn.blocks.iter().filter_map(open).collect()
}
