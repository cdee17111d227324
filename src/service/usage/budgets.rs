//! Budgets of accounts: what is used of them, what administrators set, and the reservation for an exchange.

use std::sync::Arc;

use crate::accounts::Actor;
use crate::accounts::account_error::AccountError;
use crate::usage::UsagePeriod;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, BudgetKind, BudgetState, SpendingAmount, UserId};
use turnleaf_platform::ids;
use turnleaf_run::{BudgetDecision, BudgetReservation};
use turnleaf_store::{budgets, ledger, users};

pub use turnleaf_store::budgets::StoredBudget;
pub use turnleaf_store::ledger::AccountSpending;

/// The name of the default budgets in the audit log. No account has it, because names are one word.
const ALL_ACCOUNTS: &str = "all accounts";

/// Budgets to set; `None` removes one.
pub type BudgetChanges = Vec<(BudgetKind, Option<u64>)>;

impl Service {
    /// Makes budgets apply, on a server with accounts.
    pub fn enforce_budgets(&self) {
        self.supervisor().enforce_budgets();
    }

    /// Returns the budgets of an account with what is used of them; none on a server without accounts.
    pub async fn budgets(&self, account: UserId) -> Result<Vec<BudgetState>, ServiceError> {
        Ok(self.supervisor().budget_states(account).await?)
    }

    /// Reserves the least that a reply can spend, before its exchange is stored.
    ///
    /// # Errors
    /// `BudgetExhausted` when nothing is left of a budget.
    pub(crate) async fn reserve_budget(&self, owner: UserId) -> Result<Option<Arc<BudgetReservation>>, ServiceError> {
        match self.supervisor().reserve_budget(owner, SpendingAmount::LEAST).await? {
            BudgetDecision::Granted(reservation) => Ok(reservation),
            BudgetDecision::Exhausted(budget) => Err(ServiceError::BudgetExhausted(budget)),
        }
    }

    /// Returns the stored budgets of all accounts and the defaults, for administrators.
    pub async fn stored_budgets(&self) -> Result<Vec<StoredBudget>, ServiceError> {
        Ok(budgets::list_all(self.db()).await?)
    }

    /// Sets budgets of an account, or the defaults of all accounts.
    ///
    /// # Errors
    /// `PasswordNeeded` in a session whose password was not entered lately.
    pub async fn set_budgets(
        &self,
        actor: Actor,
        account: Option<UserId>,
        changes: BudgetChanges,
    ) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let name = match account {
            Some(account) => users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?.name,
            None => ALL_ACCOUNTS.to_owned(),
        };
        let mut tx = self.db().begin().await?;
        for (kind, most) in changes {
            budgets::set(&mut tx, ids::mint(), account, kind, most).await?;
        }
        self.record(&mut tx, actor, AuditVerb::SetBudgets, &name).await?;
        Ok(tx.commit().await?)
    }

    /// Returns what all accounts have spent in a period, by model, for administrators: so many sums, or all of them. It
    /// names no chats.
    pub async fn usage_by_account(
        &self,
        period: UsagePeriod,
        most: Option<u32>,
    ) -> Result<Vec<AccountSpending>, ServiceError> {
        Ok(ledger::sums_by_account(self.db(), period.moments(), most.unwrap_or(u32::MAX)).await?)
    }
}
