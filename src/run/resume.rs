//! Resume: turns that wait for a person when the server starts are driven again from their stored state. Their
//! questions are stored with them; no provider request is made and no tool runs until the person decides.

use super::supervisor::{RunJob, Supervisor};
use turnleaf_domain::providers::params_resolution::{ResolvedParams, resolve_params};
use turnleaf_domain::turns::user_input_wait::outlasts_process;
use turnleaf_domain::{ModelParams, Thinking, Turn};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{StoreError, branches, chats};

impl Supervisor {
    /// Drives every stored turn that waits for a person; returns their number. Call after the sweep and once the
    /// providers are known.
    ///
    /// # Errors
    /// Those of reading the list. A turn that cannot be driven is logged and left as it is.
    pub async fn resume_waiting_turns(&self) -> Result<usize, StoreError> {
        let mut resumed = 0;
        for turn in turns::list_unfinished(self.db()).await? {
            let id = turn.id;
            match self.resume_waiting_turn(turn).await {
                Ok(is_driven) => resumed += usize::from(is_driven),
                Err(error) => tracing::error!(turn = %id, %error, "a waiting turn could not be resumed"),
            }
        }
        Ok(resumed)
    }

    /// Drives a stored turn that waits for a person, unless it is driven already; returns whether it waits.
    pub async fn resume_waiting_turn(&self, turn: Turn) -> Result<bool, StoreError> {
        if !outlasts_process(&turn) || self.live_turn(turn.id).is_some() {
            return Ok(outlasts_process(&turn));
        }
        let Some(owner) = chats::owner_of(self.db(), turn.chat_id).await? else { return Ok(false) };
        let chat = chats::find(self.db(), owner, turn.chat_id).await?;
        let branch = branches::find(self.db(), owner, turn.branch_id).await?;
        let exchange = exchanges::find(self.db(), owner, turn.exchange_id).await?;
        let (Some(chat), Some(branch), Some(exchange)) = (chat, branch, exchange) else { return Ok(false) };
        let capabilities = self.registry().capabilities(owner, &branch.lock);
        // The exchange's parameters were resolved before; current capabilities can only drop more of them.
        let settled = resolve_params(&ModelParams::default(), &exchange.params, &capabilities);
        let (params, thinking) = settled.map(|settled| (settled.params, settled.thinking)).unwrap_or_else(|invalid| {
            tracing::warn!(turn = %turn.id, %invalid, "a turn continues without its parameters");
            (ModelParams::default(), Thinking::Off)
        });
        let is_thinking_undecided = exchange.is_thinking_undecided();
        let (is_thinking_mode, not_sent) = (exchange.is_thinking_mode, exchange.not_sent);
        let settled = ResolvedParams { params, thinking, is_thinking_mode, not_sent };
        let (lock, resolved_params) = (branch.lock, settled);
        self.resume_run(RunJob {
            owner,
            chat,
            turn,
            lock,
            resolved_params,
            capabilities,
            is_thinking_undecided,
            opening: None,
            budget: None,
        });
        Ok(true)
    }
}
