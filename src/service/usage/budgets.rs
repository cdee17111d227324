//! Budgets of accounts and groups: what is used of them, what administrators set, and the reservation for an exchange.

use std::sync::Arc;

use crate::accounts::Actor;
use crate::accounts::account_error::AccountError;
use crate::usage::UsagePeriod;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, BudgetKind, BudgetState, BudgetTarget, GroupId, MessageCode, SpendingAmount, UserId};
use turnleaf_platform::ids;
use turnleaf_run::{BudgetDecision, BudgetReservation};
use turnleaf_store::accounts::{groups, users};
use turnleaf_store::usage::{budgets, ledger};

pub use turnleaf_store::usage::budgets::StoredBudgets;
pub use turnleaf_store::usage::ledger::{AccountSpending, SpenderGrouping};

/// The name of the default budgets in the audit log. No account has it, because names are one word.
const ALL_ACCOUNTS: &str = "all accounts";

/// Budgets to set; `None` removes one.
pub type BudgetChanges = Vec<(BudgetKind, Option<u64>)>;

impl Service {
    /// Makes budgets apply, on a server with accounts.
    pub fn enforce_budgets(&self) {
        self.supervisor().enforce_budgets();
    }

    /// Returns the readable budgets of an account with what is used of them; none on a server without accounts.
    pub async fn budgets(&self, account: UserId) -> Result<Vec<BudgetState>, ServiceError> {
        Ok(self.supervisor().budget_states(account).await?)
    }

    /// Reserves the least that a reply can spend, before its exchange is stored.
    ///
    /// # Errors
    /// `BudgetExhausted` when nothing is left of a budget, `budget_unreadable` when one cannot be read.
    pub(crate) async fn reserve_budget(&self, owner: UserId) -> Result<Option<Arc<BudgetReservation>>, ServiceError> {
        match self.supervisor().reserve_budget(owner, SpendingAmount::LEAST).await? {
            BudgetDecision::Granted(reservation) => Ok(reservation),
            BudgetDecision::Exhausted(budget) => Err(ServiceError::BudgetExhausted(budget)),
            BudgetDecision::Unreadable => {
                Err(ServiceError::conflict("budget_unreadable", MessageCode::BudgetUnreadable))
            }
        }
    }

    /// Returns the stored budgets of all accounts and groups and the defaults, for administrators.
    pub async fn stored_budgets(&self) -> Result<StoredBudgets, ServiceError> {
        Ok(budgets::list_all(self.db()).await?)
    }

    /// Returns the groups of these accounts, whose budgets apply to them, as pairs with the accounts.
    pub async fn group_memberships(&self, accounts: &[UserId]) -> Result<Vec<(GroupId, UserId)>, ServiceError> {
        Ok(groups::memberships_of(self.db(), accounts).await?)
    }

    /// Sets budgets of an account or of a group, or the defaults of all accounts.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn set_budgets(
        &self,
        actor: Actor,
        target: BudgetTarget,
        changes: BudgetChanges,
    ) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let name = match target {
            BudgetTarget::Account(account) => {
                users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?.name
            }
            BudgetTarget::Group(group) => {
                let group = groups::find(self.db(), group).await?.ok_or(ServiceError::NotFound)?;
                format!("group {}", group.name)
            }
            BudgetTarget::Default => ALL_ACCOUNTS.to_owned(),
        };
        let given = given_budgets(&name, &changes);
        let mut tx = self.db().begin().await?;
        // One that cannot be read may be of any kind, so it stays until all are set.
        if BudgetKind::ALL.iter().all(|kind| changes.iter().any(|(changed, _)| changed == kind)) {
            budgets::delete_unreadable(&mut tx, target).await?;
        }
        for (kind, most) in changes {
            budgets::set(&mut tx, ids::mint(), target, kind, most).await?;
        }
        self.record(&mut tx, actor, AuditVerb::SetBudgets, &given).await?;
        Ok(tx.commit().await?)
    }

    /// Returns what all accounts or groups have spent in a period, by model, for administrators: so many sums, or all of
    /// them. It names no chats.
    pub async fn usage_by_spender(
        &self,
        grouping: SpenderGrouping,
        period: UsagePeriod,
        most: Option<u32>,
    ) -> Result<Vec<AccountSpending>, ServiceError> {
        Ok(ledger::sums_by_spender(self.db(), grouping, period.moments(), most.unwrap_or(u32::MAX)).await?)
    }
}

/// Returns the target of a change of budgets in the audit log: whose they are, and what they are set to.
fn given_budgets(name: &str, changes: &[(BudgetKind, Option<u64>)]) -> String {
    let given = changes.iter().map(|(kind, most)| {
        let most = most.map_or_else(|| "none".to_owned(), |most| kind.format_amount(most));
        format!("{} {most}", kind.as_str())
    });
    format!("{name}: {}", given.collect::<Vec<_>>().join(", "))
}
