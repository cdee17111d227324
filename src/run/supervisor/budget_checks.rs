//! Budgets of the supervisor's runs: whether they apply, what is used of them, and whether more may be spent.

use super::Supervisor;
use crate::budgets::BudgetDecision;
use turnleaf_domain::{BudgetState, SpendingAmount, UserId};
use turnleaf_store::StoreError;

impl Supervisor {
    /// Makes budgets apply, on a server with accounts. Without accounts there are none.
    pub fn enforce_budgets(&self) {
        self.0.budgets.enforce();
    }

    /// Returns whether budgets apply.
    pub fn enforces_budgets(&self) -> bool {
        self.0.budgets.is_enforced()
    }

    /// Returns the budgets of an account with what is used of them.
    pub async fn budget_states(&self, account: UserId) -> Result<Vec<BudgetState>, StoreError> {
        self.0.budgets.states(&self.0.db, account, self.0.clock.now()).await
    }

    /// Reserves an amount in the budgets of an account, unless nothing is left of one, or one cannot be read.
    pub async fn reserve_budget(&self, account: UserId, amount: SpendingAmount) -> Result<BudgetDecision, StoreError> {
        self.0.budgets.reserve(&self.0.db, account, amount, self.0.clock.now()).await
    }
}
