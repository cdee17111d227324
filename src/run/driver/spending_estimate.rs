//! Estimates of what a provider call spends. It is reserved in the budgets of the account before the
//! call, and counted where the provider has not reported everything. A reply that is stopped shortly before its end
//! would be free otherwise.

use bytes::Bytes;
use futures::FutureExt;

use super::conclusion::price;
use super::generation::progress::GenerationProgress;
use super::run::{HaltReason, TurnRun};
use crate::budgets::BudgetDecision;
use crate::supervisor::Supervisor;
use turnleaf_domain::{FailureKind, SpendingAmount, Usage};
use turnleaf_providers::prices::BillableCall;

/// The tokens of a reply of which nothing has arrived.
pub(super) const REPLY_TOKENS: u64 = 1_000;

/// Estimates the tokens of this many bytes. It is for budgets, not for billing.
pub(super) fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// Estimates what a call spends that reads and writes at least this many tokens. Without a known price it costs
/// nothing.
pub(super) async fn estimate_spending(
    supervisor: &Supervisor,
    call: BillableCall,
    (input, output): (u64, u64),
) -> SpendingAmount {
    let (input, output) =
        (input.max(call.usage.input_tokens.unwrap_or(0)), output.max(call.usage.output_tokens.unwrap_or(0)));
    let usage = Usage { input_tokens: Some(input), output_tokens: Some(output), ..call.usage };
    let call = BillableCall { usage, reported_micros: None, is_refused: false, is_cut_off: false, ..call };
    let micros = price(supervisor, call).await.map_or(0, |charge| charge.micros);
    SpendingAmount { tokens: input.saturating_add(output), micros, requests: 1 }
}

impl TurnRun<'_> {
    /// Reserves the next call in the budgets of the account, before anything of it is stored or sent.
    ///
    /// # Errors
    /// Nothing is left of a budget, or one cannot be read.
    pub(super) async fn reserve_budget(&mut self, body: &Bytes) -> Result<(), HaltReason> {
        // The call before this one is in the ledger by now.
        self.budget = None;
        let accepted = self.job.budget.take();
        if !self.supervisor.enforces_budgets() {
            return Ok(());
        }
        let tokens = (tokens_of_bytes(body.len() as u64), REPLY_TOKENS);
        let estimate = estimate_spending(self.supervisor, self.unsent_call(), tokens).await;
        if let Some(accepted) = accepted {
            accepted.set_amount(estimate);
            self.budget = Some(accepted);
            return Ok(());
        }
        let (supervisor, owner) = (self.supervisor, self.job.owner);
        let decision = self.read_available(|| supervisor.reserve_budget(owner, estimate).boxed()).await?;
        match decision {
            BudgetDecision::Granted(reservation) => {
                self.budget = reservation;
                Ok(())
            }
            BudgetDecision::Exhausted(budget) => Err(self.failure(budget.kind.failure_kind()).into()),
            BudgetDecision::Unreadable => Err(self.failure(FailureKind::BudgetUnreadable).into()),
        }
    }

    /// Returns the inputs of the estimate for a call that has ended, if its provider has not reported everything. What
    /// the call counts in budgets is at least this estimate. The progress is not `Sync`, so nothing of it is borrowed
    /// when the price is awaited.
    pub(super) fn unreported_call(&self, progress: &GenerationProgress, is_cut_off: bool) -> Option<UnreportedCall> {
        let is_reported = progress.usage.input_tokens.is_some() && progress.usage.output_tokens.is_some();
        if !self.supervisor.enforces_budgets() || progress.is_refused || (is_reported && !is_cut_off) {
            return None;
        }
        let tokens = (progress.request_tokens, tokens_of_bytes(progress.builder.size().bytes()));
        Some(UnreportedCall { call: self.billable_call(progress), tokens })
    }
}

/// A provider call whose usage is not completely known.
pub(super) struct UnreportedCall {
    call: BillableCall,
    tokens: (u64, u64),
}

impl UnreportedCall {
    pub(super) async fn spending(self, supervisor: &Supervisor) -> SpendingAmount {
        estimate_spending(supervisor, self.call, self.tokens).await
    }
}
