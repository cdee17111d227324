//! Context assembly: the path, each turn in its replay mode, and this turn's own steps so far. The path is read once
//! per turn; steps are added as they end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::attachments::read_path_attachments;
use super::client_tool_results::attach_client_results;
use super::run::{HaltReason, RequestContext, TurnRun};
use crate::path_cache::{CachedPath, CachedResponse};
use crate::supervisor::ChatOpening;
use turnleaf_domain::blocks::block::STEP;
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::providers::repair::{KeptResponse, ProviderState, RequestRepair, describe_steps};
use turnleaf_domain::tools::tool::{OfferedTool, ToolLabel};
use turnleaf_domain::turns::context::{
    PathTurn, RawCoverage, ReplayMode, RequestManifest, SentInstructions, build_manifest, can_continue_from,
    current_results_entry, current_steps_entry, has_model_break, omit_kept_by_provider,
};
use turnleaf_domain::turns::continued_text;
use turnleaf_domain::{Author, Block, BranchId, Content, Event, Failure, FailureKind, Role, Turn, TurnId};
use turnleaf_platform::hex::hex;
use turnleaf_providers::provider::{ChatRequest, HistoryTurn};
use turnleaf_providers::stored_response::StoredResponse;
use turnleaf_store::branches::PathBranch;
use turnleaf_store::{StoreError, branches};

/// The pause before a busy database is read again.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// The path above a turn, as read from the store.
struct LoadedPath {
    path: CachedPath,
    branches: HashMap<BranchId, PathBranch>,
    /// The bytes of those replies that may be sent raw, by turn.
    raws: HashMap<TurnId, (RawCoverage, Vec<StoredResponse>)>,
    /// The frozen prompt prefix of the turn's own branch, and the provider state the branch keeps.
    frozen: PromptPrefix,
    state: ProviderState,
}

impl TurnRun<'_> {
    /// Builds the next request of this turn, with its manifest.
    pub(super) async fn next_request(&mut self) -> Result<(ChatRequest, RequestManifest), HaltReason> {
        self.load_context().await?;
        self.load_own_images().await?;
        Ok(self.assemble_request())
    }

    /// Returns the tools that the model of this turn was offered.
    pub(super) async fn offered_tools(&mut self) -> Result<Vec<OfferedTool>, HaltReason> {
        self.load_context().await?;
        let frozen = self.context.as_ref().and_then(|context| context.frozen.tools.clone());
        Ok(frozen.unwrap_or_else(|| self.provider.tools().into_iter().map(OfferedTool::from_provider).collect()))
    }

    /// Adds the display name of the tool and the step of the reply to a call's block, from its first event on.
    pub(super) fn describe_call(&self, event: &mut Event) {
        let Event::BlockStart { block } = event else { return };
        let Content::ToolUse { tool_name, .. } = &block.content else { return };
        // The step was counted when its request was stored.
        block.block_metadata[STEP] = json!(self.step.saturating_sub(1));
        let tools = self.context.as_ref().and_then(|context| context.frozen.tools.as_ref());
        let tool = tools.and_then(|tools| tools.iter().find(|tool| tool.spec.name == *tool_name));
        if let Some(called) =
            tool.and_then(OfferedTool::label).filter(|_| block.block_metadata.get(ToolLabel::KEY).is_none())
        {
            block.block_metadata[ToolLabel::KEY] = json!(called);
        }
    }

    async fn load_context(&mut self) -> Result<(), HaltReason> {
        if self.context.is_none() {
            let earlier = async {
                // The first request of a chat has none before it.
                let is_first = self.step == 0 && self.job.opening.is_some();
                if is_first { None } else { self.earlier_request(self.step).await }
            };
            let (context, earlier) = tokio::join!(self.read_available(|| self.read_context().boxed()), earlier);
            self.base_of_step = Some((self.step, earlier));
            self.context = Some(context?);
        }
        Ok(())
    }

    /// Reads what a request needs, with retries while the database is busy: the start of a reply waits as long as a
    /// write of its deltas would.
    pub(super) async fn read_available<'a, T>(
        &'a self,
        read: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
    ) -> Result<T, HaltReason> {
        let began = Instant::now();
        loop {
            let error = match read().await {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            if !error.is_busy() || began.elapsed() > self.supervisor.timeouts().database {
                tracing::error!(turn = %self.job.turn.id, %error, "the context could not be read");
                return Err(Failure::new(FailureKind::Internal, "").into());
            }
            tokio::select! {
                interrupt = self.live.wait_for_interrupt() => return Err(HaltReason::Interrupted(interrupt)),
                () = sleep(TRY_AGAIN) => {}
            }
        }
    }

    /// Assembles the request from the context, in the form that a repair requires.
    pub(super) fn assemble_request(&self) -> (ChatRequest, RequestManifest) {
        let context = self.context.clone().unwrap_or_default();
        let previous_response = self.previous_response(&context);
        let (mut history, mut manifest) = (context.history, context.manifest);
        let form = self.repair.as_ref().map(|repaired| repaired.repair);
        // Repairs that only resend the request or describe images as text change no reply.
        let repair = form.filter(|repair| repair.changes_replies());
        if let Some(kept) = &previous_response {
            omit_kept_by_provider(&mut manifest, kept.turn_id);
        }
        for turn in history.iter_mut().filter(|turn| !turn.raw.is_empty()) {
            turn.leaves_out_reasoning |= repair.is_some_and(RequestRepair::omits_earlier_reasoning);
        }
        for entry in manifest.iter_mut().filter(|entry| entry.mode == ReplayMode::Raw) {
            // A repair that a turn already has is never undone.
            entry.repair = entry.repair.filter(|known| known.omits_earlier_reasoning()).or(repair).or(entry.repair);
        }
        // After the first step, the entry of the steps covers the beginning, too.
        let (beginning, entry) = self.beginning_of_reply().unzip();
        history.extend(beginning);
        let entry = entry.filter(|_| self.steps_raw.is_empty());
        let is_continuation = entry.is_some();
        manifest.extend(entry);
        if !self.steps_raw.is_empty() {
            manifest.push(match &previous_response {
                Some(_) => current_results_entry(self.recorder.turn()),
                None => current_steps_entry(self.recorder.turn(), repair.or(context.reasoning_members.repair())),
            });
            history.extend(self.own_steps());
        }
        self.fit_images(&mut history, &mut manifest, &context.state);
        let offered = context.frozen.tools.clone().unwrap_or_default();
        let system = context.frozen.sent_prompt();
        let server_instructions =
            SentInstructions::list(&context.frozen.instructions, |text| hex(Sha256::digest(text)));
        let found_tools = offered.iter().filter(|tool| tool.is_found).map(|tool| tool.spec.name.clone()).collect();
        let (own, others): (Vec<_>, Vec<_>) = offered.into_iter().partition(|tool| tool.provider_tool_name().is_some());
        let tools = match context.frozen.tools {
            Some(_) => others.into_iter().map(|offered| offered.spec).collect(),
            None => self.provider.tools(),
        };
        let request = ChatRequest {
            model: self.job.lock.model.clone(),
            system,
            history,
            params: self.job.resolved_params.params.clone(),
            thinking: self.job.resolved_params.thinking,
            is_thinking_mode: self.job.resolved_params.is_thinking_mode,
            capabilities: self.job.capabilities.clone(),
            tools,
            provider_tools: own.iter().filter_map(|tool| tool.provider_tool_name().map(str::to_owned)).collect(),
            reasoning_members: repair
                .map(RequestRepair::reasoning_members)
                .unwrap_or_default()
                .or(context.reasoning_members),
            policy: context.policy,
            previous_response,
            is_continuation,
        };
        let not_sent = self.job.resolved_params.not_sent.clone();
        let previous_response_id = request.previous_response.as_ref().map(|kept| kept.response_id.clone());
        let manifest = RequestManifest {
            turns: manifest,
            not_sent,
            repair: form,
            previous_response_id,
            found_tools,
            server_instructions,
        };
        (request, manifest)
    }

    /// Returns the response to continue from: this turn's last step, otherwise the reply before it. A repaired turn
    /// sends everything instead.
    fn previous_response(&self, context: &RequestContext) -> Option<KeptResponse> {
        if !self.provider.keeps_responses() || self.repair.is_some() || context.is_masked {
            return None;
        }
        match self.steps_raw.is_empty() {
            true => context.previous_response.clone(),
            false => self.kept_response(),
        }
    }

    fn kept_response(&self) -> Option<KeptResponse> {
        let response_id = self.response_id.clone()?;
        Some(KeptResponse { turn_id: self.job.turn.id, response_id })
    }

    /// Returns the new provider state of the branch if this complete reply changes it. A refusal was recorded before
    /// (`keep_repair`), and no request continues from a reply that had one.
    pub(super) fn provider_state_update(&self) -> Option<ProviderState> {
        let context = self.context.as_ref().filter(|_| self.repair.is_none())?;
        let state = &context.state;
        let previous_response = Some(self.kept_response()).filter(|_| self.provider.keeps_responses()).flatten();
        let mut next = ProviderState { previous_response, ..state.clone() };
        next.set_reasoning_members(context.reasoning_members);
        (next != *state).then_some(next)
    }

    /// Returns the steps so far: raw, except for those that are sent as text because the provider refused them.
    fn own_steps(&self) -> Vec<HistoryTurn> {
        let (blocks, turn_id) = (&self.recorder.turn().blocks, self.job.turn.id);
        let repair = self.repair.as_ref().filter(|repaired| repaired.repair == RequestRepair::StepsTold);
        let (steps, of_steps) = repair.map_or((0, 0), |repaired| (repaired.steps, repaired.blocks));
        let mut turns = Vec::new();
        if steps > 0 {
            let words = Content::text(describe_steps(&blocks[..of_steps]));
            let text_block = blocks.first().map(|block| Block { content: words, ..block.clone() });
            turns.push(HistoryTurn::new(turn_id, Role::User, text_block.into_iter().collect::<Vec<_>>()));
        }
        if self.steps_raw.len() > steps {
            turns.push(HistoryTurn {
                turn_id,
                role: Role::Assistant,
                blocks: blocks[of_steps..].to_vec().into(),
                raw: self.steps_raw[steps..].to_vec(),
                leaves_out_reasoning: self
                    .repair
                    .as_ref()
                    .is_some_and(|repaired| repaired.repair == RequestRepair::ReasoningLeftOut),
                attached: self.images.clone(),
            });
        }
        turns
    }

    /// Reads the path above this turn, with its branches and the raw bytes of its replies.
    async fn read_path(&self) -> Result<LoadedPath, StoreError> {
        if let Some(ChatOpening { message, policy, frozen }) = self.job.opening.clone() {
            let branch = PathBranch { lock: self.job.lock.clone(), policy };
            return Ok(LoadedPath {
                path: vec![Arc::new(message)],
                branches: HashMap::from([(self.job.turn.branch_id, branch)]),
                raws: HashMap::new(),
                frozen,
                state: ProviderState::default(),
            });
        }
        let db = self.supervisor.db();
        let branch_id = self.job.turn.branch_id;
        // The reads run concurrently, because a person waits for all of them.
        let owner = self.job.owner;
        let paths = self.supervisor.path_cache();
        let begun = async {
            match self.job.turn.prev_turn_id {
                Some(leaf) => paths.read_newest(db, owner, self.job.turn.chat_id, leaf).await.map(Some),
                None => Ok(None),
            }
        };
        let (own, begun, branches) = tokio::try_join!(
            branches::frozen_and_provider_state(db, branch_id),
            begun,
            branches::list_on_path(db, owner, branch_id)
        )?;
        let (frozen, state) = own.unwrap_or_default();
        let lock_of = |turn: &Turn| branches.get(&turn.branch_id).map(|branch| &branch.lock);
        let is_own = |turn: &Turn| turn.role == Role::Assistant && lock_of(turn) == Some(&self.job.lock);
        let (path, mut steps) = match begun {
            Some(begun) => paths.read_rest(db, owner, begun, is_own).await?,
            None => Default::default(),
        };
        let mut raws: HashMap<TurnId, (RawCoverage, Vec<StoredResponse>)> = HashMap::new();
        for turn in &path {
            if let Some(steps) = steps.remove(&turn.id) {
                raws.insert(turn.id, replayable_responses(turn, &steps, self.provider.api()));
            }
        }
        Ok(LoadedPath { path, branches, raws, frozen, state })
    }

    async fn read_context(&self) -> Result<RequestContext, StoreError> {
        let LoadedPath { path, branches, mut raws, frozen, state } = self.read_path().await?;
        let policy = branches.get(&self.job.turn.branch_id).map(|branch| branch.policy);
        let lock_of = |turn: &Turn| branches.get(&turn.branch_id).map(|branch| &branch.lock);
        // The repair covers the replies up to the refused one; none if the refused one is not on this path.
        let refused = state.reasoning_left_out_until.and_then(|until| path.iter().position(|turn| turn.id == until));
        // The branch's own knowledge comes first; a new branch has that of other chats with the endpoint.
        let reasoning_members = state.reasoning_members().or(self.learned_reasoning_members());
        let is_refused = |at: usize| refused.is_some_and(|refused| at <= refused);
        let repair =
            |at: usize| is_refused(at).then_some(RequestRepair::EarlierReasoningLeftOut).or(reasoning_members.repair());
        let described: Vec<PathTurn<'_>> = path
            .iter()
            .enumerate()
            .map(|(at, turn)| PathTurn {
                turn,
                lock: lock_of(turn).unwrap_or(&self.job.lock),
                raw: raws.get(&turn.id).map_or(RawCoverage::Missing, |(raw, _)| *raw),
                repair: repair(at),
            })
            .collect();
        let mut manifest = build_manifest(&described, &self.job.lock);
        let previous =
            state.previous_response.clone().filter(|kept| can_continue_from(&described, &manifest, kept.turn_id));
        let is_masked = has_model_break(&manifest);
        // A model of unknown capability is sent the image; if it refuses, the repair records that.
        let sees = self.job.capabilities.images != Some(false);
        let mut attached =
            read_path_attachments(self.supervisor.db(), self.job.owner, &path, &mut manifest, sees).await?;
        let earlier = path.iter().rev().find(|turn| turn.role == Role::Assistant).map(|turn| turn.id);
        let mut history: Vec<HistoryTurn> = path
            .into_iter()
            .zip(&manifest)
            .enumerate()
            .filter(|(_, (_, entry))| entry.mode != ReplayMode::Omitted)
            .map(|(at, (turn, entry))| {
                let raw = Some(entry.mode).filter(|mode| *mode == ReplayMode::Raw).and_then(|_| raws.remove(&turn.id));
                HistoryTurn {
                    turn_id: turn.id,
                    role: turn.role,
                    raw: raw.map(|(_, steps)| steps).unwrap_or_default(),
                    leaves_out_reasoning: is_refused(at),
                    attached: attached.remove(&turn.id).unwrap_or_default(),
                    blocks: turn.into(),
                }
            })
            .collect();
        self.read_images(&mut history).await?;
        Ok(RequestContext {
            history: attach_client_results(history),
            manifest,
            frozen,
            policy: policy.unwrap_or_default(),
            state,
            reasoning_members,
            previous_reply: earlier,
            previous_response: previous,
            is_masked,
        })
    }
}

/// Returns the kept bytes of a reply, without requests in it that were refused and sent again. Bytes that were
/// written by another API under the same provider name cannot be replayed, nor those of a reply whose beginning is in
/// the bytes of another version.
pub(super) fn replayable_responses(
    turn: &Turn,
    steps: &[CachedResponse],
    api: &str,
) -> (RawCoverage, Vec<StoredResponse>) {
    let wrote = |step: &CachedResponse| {
        let is_of =
            |block: &Block| block.generation_id == Some(step.generation_id) && block.author == Author::Assistant;
        turn.blocks.iter().any(is_of)
    };
    let last = steps.len().saturating_sub(1);
    let steps: Vec<&CachedResponse> = steps
        .iter()
        .enumerate()
        .filter(|(at, step)| step.is_complete || *at == last || wrote(step))
        .map(|(_, step)| step)
        .collect();
    let is_foreign = |step: &&CachedResponse| step.api.as_deref().is_some_and(|of| of != api);
    let is_lost = |step: &&CachedResponse| step.is_empty && wrote(step);
    let begins_elsewhere = continued_text::beginning(turn).is_some();
    let raw = if steps.is_empty() || begins_elsewhere || steps.iter().any(is_foreign) || steps.iter().any(is_lost) {
        RawCoverage::Missing
    } else if steps.iter().all(|step| step.is_complete) {
        RawCoverage::Whole
    } else {
        RawCoverage::Partial
    };
    (raw, steps.into_iter().map(|step| step.response.clone()).collect())
}
