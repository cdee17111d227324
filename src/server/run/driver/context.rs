//! What goes into a request: the path, each turn in the mode that the context rule gives it, and this turn's own steps
//! so far. Read once a turn; the steps are added as they end.

use std::collections::HashMap;

use bytes::Bytes;

use super::{Halt, Run};
use crate::domain::branch::Frozen;
use crate::domain::context::{ManifestEntry, Mode, PathTurn, RequestManifest, manifest};
use crate::domain::{Failure, FailureKind, Lock, Role, Turn, TurnId, limits};
use crate::server::outbound::provider::{ChatRequest, HistoryTurn};
use crate::server::store::generations::raw;
use crate::server::store::{StoreError, branches, turns};

/// The path before this turn, as it is sent.
#[derive(Default)]
pub(super) struct Context {
    history: Vec<HistoryTurn>,
    manifest: Vec<ManifestEntry>,
    frozen: Frozen,
}

impl Run<'_> {
    /// The next request of this turn, and what went into it.
    pub(super) async fn request(&mut self) -> Result<(ChatRequest, RequestManifest), Halt> {
        if self.context.is_none() {
            let context = self.read_context().await.map_err(|error| {
                tracing::error!(turn = %self.job.turn.id, %error, "the context could not be read");
                Failure::new(FailureKind::Internal, "")
            })?;
            self.context = Some(context);
        }
        let context = self.context.as_ref();
        let mut history = context.map(|context| context.history.clone()).unwrap_or_default();
        let frozen = context.map(|context| context.frozen.clone()).unwrap_or_default();
        if !self.steps_raw.is_empty() {
            history.push(HistoryTurn {
                turn_id: self.job.turn.id,
                role: Role::Assistant,
                blocks: self.recorder.turn().blocks.clone(),
                raw: self.steps_raw.clone(),
            });
        }
        let request = ChatRequest {
            model: self.job.lock.model.clone(),
            system: Some(frozen.system_prompt).filter(|prompt| !prompt.is_empty()),
            history,
            params: self.job.settled.params.clone(),
            thinking: self.job.settled.thinking,
            is_thinking_mode: self.job.settled.is_thinking_mode,
            capabilities: self.job.capabilities.clone(),
            tools: frozen.tools.unwrap_or_else(|| self.provider.tools()),
        };
        let manifest = RequestManifest {
            turns: context.map(|context| context.manifest.clone()).unwrap_or_default(),
            not_sent: self.job.settled.not_sent.clone(),
        };
        Ok((request, manifest))
    }

    async fn read_context(&self) -> Result<Context, StoreError> {
        let db = self.supervisor.db();
        let frozen = branches::frozen(db, self.job.turn.branch_id).await?.unwrap_or_default();
        let Some(leaf) = self.job.turn.prev_turn_id else {
            return Ok(Context { frozen, ..Context::default() });
        };
        let (path, _) = turns::path(db, self.job.owner, leaf, limits::TURNS_PER_CHAT as u32).await?;
        let locks: HashMap<_, Lock> = branches::list(db, self.job.owner, self.job.chat.id)
            .await?
            .into_iter()
            .map(|branch| (branch.id, branch.lock))
            .collect();
        let replies: Vec<TurnId> = path
            .iter()
            .filter(|turn| turn.role == Role::Assistant && locks.get(&turn.branch_id) == Some(&self.job.lock))
            .map(|turn| turn.id)
            .collect();
        let mut raws: HashMap<TurnId, Vec<Bytes>> = raw::of_turns(db, &replies)
            .await?
            .into_iter()
            .filter(|(_, steps)| steps.iter().all(|step| step.is_complete))
            .map(|(turn, steps)| (turn, steps.into_iter().map(|step| step.bytes.into()).collect()))
            .collect();
        let described: Vec<PathTurn<'_>> = path
            .iter()
            .map(|turn| PathTurn {
                turn,
                lock: locks.get(&turn.branch_id).unwrap_or(&self.job.lock),
                has_complete_raw: raws.get(&turn.id).is_some_and(|raw| !raw.is_empty()),
            })
            .collect();
        let manifest = manifest(&described, &self.job.lock);
        let history = path
            .into_iter()
            .zip(&manifest)
            .filter(|(_, entry)| entry.mode != Mode::Omitted)
            .map(|(turn, entry)| sent(turn, entry.mode, &mut raws))
            .collect();
        Ok(Context { history, manifest, frozen })
    }
}

fn sent(turn: Turn, mode: Mode, raws: &mut HashMap<TurnId, Vec<Bytes>>) -> HistoryTurn {
    let raw = match mode {
        Mode::Raw => raws.remove(&turn.id).unwrap_or_default(),
        Mode::Canonical | Mode::Omitted => Vec::new(),
    };
    HistoryTurn { turn_id: turn.id, role: turn.role, blocks: turn.blocks, raw }
}
