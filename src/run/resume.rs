//! Resuming: turns that wait for a person when the server starts are driven again from where they stand. What they were
//! asked is stored with them; nothing is asked of a provider, and no tool is touched, until the person says so.

use super::supervisor::{Job, Supervisor};
use turnleaf_domain::settle::{Settled, settle};
use turnleaf_domain::waiting::waits_for;
use turnleaf_domain::{Params, Thinking, Turn};
use turnleaf_store::{StoreError, branches, chats, exchanges, turns};

impl Supervisor {
    /// Drives every stored turn that waits for a person; gives their number. Call after the sweep and once the providers
    /// are known.
    ///
    /// # Errors
    /// Those of reading the list of them. One that cannot be driven is left as it is, and noted.
    pub async fn resume(&self) -> Result<usize, StoreError> {
        let mut resumed = 0;
        for turn in turns::unfinished(self.db()).await? {
            let id = turn.id;
            match self.resume_turn(turn).await {
                Ok(is_driven) => resumed += usize::from(is_driven),
                Err(error) => tracing::error!(turn = %id, %error, "a turn that waits could not be resumed"),
            }
        }
        Ok(resumed)
    }

    /// Drives a stored turn that waits for a person, unless it is driven already; gives whether it waits.
    pub async fn resume_turn(&self, turn: Turn) -> Result<bool, StoreError> {
        if waits_for(&turn).is_none() || self.live(turn.id).is_some() {
            return Ok(waits_for(&turn).is_some());
        }
        let Some(owner) = chats::owner_of(self.db(), turn.chat_id).await? else { return Ok(false) };
        let chat = chats::find(self.db(), owner, turn.chat_id).await?;
        let branch = branches::find(self.db(), owner, turn.branch_id).await?;
        let exchange = exchanges::find(self.db(), owner, turn.exchange_id).await?;
        let (Some(chat), Some(branch), Some(exchange)) = (chat, branch, exchange) else { return Ok(false) };
        let capabilities = self.registry().capabilities(&branch.lock);
        // It was settled when the exchange was made; what the model is known to take now can only make it less.
        let settled = settle(&Params::default(), &exchange.params, &capabilities);
        let (params, thinking) = settled.map(|settled| (settled.params, settled.thinking)).unwrap_or_else(|invalid| {
            tracing::warn!(turn = %turn.id, %invalid, "a turn goes on without its parameters");
            (Params::default(), Thinking::Off)
        });
        let (is_thinking_mode, not_sent) = (exchange.is_thinking_mode, exchange.not_sent);
        let settled = Settled { params, thinking, is_thinking_mode, not_sent };
        self.go_on(Job { owner, chat, turn, lock: branch.lock, settled, capabilities });
        Ok(true)
    }
}
