//! Budgets: whether an account may spend more, asked when an exchange is made and before every provider call. The
//! spending of running calls is reserved in memory, because one process drives the replies of a database. So parallel
//! replies exceed a budget by at most one call each: whoever comes after the last of it was reserved is refused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::Mutex as AsyncMutex;
use uuid::Uuid;

use turnleaf_domain::{Budget, BudgetKind, BudgetState, BudgetTarget, SpendingAmount, UserId};
use turnleaf_platform::ids;
use turnleaf_store::usage::{budgets, ledger};
use turnleaf_store::{Db, StoreError};

/// The reservations of this process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct BudgetLedger(Arc<BudgetLedgerState>);

#[derive(Debug, Default)]
struct BudgetLedgerState {
    /// False for a server without accounts, which has no budgets.
    is_enforced: AtomicBool,
    /// Serializes check and reservation, so that two calls never both get the last of a budget.
    checking: AsyncMutex<()>,
    reserved: Mutex<HashMap<Uuid, ReservedCall>>,
}

#[derive(Debug, Clone, Copy)]
struct ReservedCall {
    account: UserId,
    at: DateTime<Utc>,
    amount: SpendingAmount,
}

/// The reservation of a call or an exchange. It is released with the value: after the row of the call is in the ledger,
/// so that a call is counted twice for a moment rather than not at all.
#[derive(Debug)]
pub struct BudgetReservation {
    ledger: BudgetLedger,
    id: Uuid,
}

impl BudgetReservation {
    /// Changes what is reserved, once more is known about the call.
    pub(crate) fn set_amount(&self, amount: SpendingAmount) {
        if let Some(call) = self.ledger.reserved().get_mut(&self.id) {
            call.amount = amount;
        }
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        self.ledger.reserved().remove(&self.id);
    }
}

/// The answer to whether an account may spend more.
#[derive(Debug)]
pub enum BudgetDecision {
    /// It may, and this is reserved if it has budgets.
    Granted(Option<Arc<BudgetReservation>>),
    /// Nothing is left of this budget.
    Exhausted(BudgetState),
    /// A budget cannot be read, so that nobody knows whether anything is left of it.
    Unreadable,
}

impl BudgetLedger {
    pub(crate) fn enforce(&self) {
        self.0.is_enforced.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_enforced(&self) -> bool {
        self.0.is_enforced.load(Ordering::Relaxed)
    }

    fn reserved(&self) -> MutexGuard<'_, HashMap<Uuid, ReservedCall>> {
        self.0.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what an account has reserved since then. A call belongs to the period in which it began.
    fn reserved_since(&self, account: UserId, begin: DateTime<Utc>) -> SpendingAmount {
        let reserved = self.reserved();
        let calls = reserved.values().filter(|call| call.account == account && call.at >= begin);
        calls.fold(SpendingAmount::default(), |sum, call| sum.plus(call.amount))
    }

    /// Returns the readable budgets of an account with what is used of them; none on a server without accounts.
    pub(crate) async fn states(
        &self,
        db: &Db,
        account: UserId,
        now: DateTime<Utc>,
    ) -> Result<Vec<BudgetState>, StoreError> {
        if !self.is_enforced() {
            return Ok(Vec::new());
        }
        let budgets = budgets::list_for_account(db, account).await?.budgets;
        if budgets.is_empty() {
            return Ok(Vec::new());
        }
        let (month, day) = (BudgetKind::MonthCost.begins_at(now), BudgetKind::DayCost.begins_at(now));
        // Read before the ledger: a call that ends in between is counted twice, not missed.
        let reserved = |begin| self.reserved_since(account, begin);
        let running = (reserved(month), reserved(day));
        let spent = ledger::spent(db, account, (month, day)).await?;
        let state = |budget: Budget| {
            let used = match budget.kind.is_daily() {
                true => spent.day.plus(running.1),
                false => spent.month.plus(running.0),
            };
            BudgetState {
                kind: budget.kind,
                most: budget.most,
                used: budget.kind.part_of(used),
                is_default: budget.target == BudgetTarget::Default,
                is_of_group: matches!(budget.target, BudgetTarget::Group(_)),
                resets_at: budget.kind.resets_at(now),
            }
        };
        Ok(budgets.into_iter().map(state).collect())
    }

    /// Reserves an amount in all budgets of an account, unless nothing is left of one, or one cannot be read.
    pub(crate) async fn reserve(
        &self,
        db: &Db,
        account: UserId,
        amount: SpendingAmount,
        now: DateTime<Utc>,
    ) -> Result<BudgetDecision, StoreError> {
        if !self.is_enforced() {
            return Ok(BudgetDecision::Granted(None));
        }
        let stored = budgets::list_for_account(db, account).await?;
        if !stored.unreadable.is_empty() {
            return Ok(BudgetDecision::Unreadable);
        }
        // Accounts without budgets do not wait for others.
        if stored.budgets.is_empty() {
            return Ok(BudgetDecision::Granted(None));
        }
        let _checking = self.0.checking.lock().await;
        let states = self.states(db, account, now).await?;
        if let Some(exhausted) = states.into_iter().find(BudgetState::is_exhausted) {
            return Ok(BudgetDecision::Exhausted(exhausted));
        }
        let id: Uuid = ids::mint();
        self.reserved().insert(id, ReservedCall { account, at: now, amount });
        Ok(BudgetDecision::Granted(Some(Arc::new(BudgetReservation { ledger: self.clone(), id }))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservation_counts_in_its_period_until_it_is_dropped() {
        let (ledger, at) = (BudgetLedger::default(), DateTime::UNIX_EPOCH);
        let [account, other] = [1, 2].map(|number| UserId::from_uuid(Uuid::from_u128(number)));
        let amount = SpendingAmount { tokens: 5, micros: 7, requests: 1 };
        let reserve = |number, account| {
            let id = Uuid::from_u128(number);
            ledger.reserved().insert(id, ReservedCall { account, at, amount });
            BudgetReservation { ledger: ledger.clone(), id }
        };
        let (first, _second, _of_other) = (reserve(1, account), reserve(2, account), reserve(3, other));
        let sum = |begin| ledger.reserved_since(account, begin);
        assert_eq!(sum(at), SpendingAmount { tokens: 10, micros: 14, requests: 2 });
        // The next period begins without it.
        assert_eq!(sum(at + chrono::TimeDelta::days(1)), SpendingAmount::default());
        first.set_amount(SpendingAmount { tokens: 100, micros: 0, requests: 1 });
        assert_eq!(sum(at), SpendingAmount { tokens: 105, micros: 7, requests: 2 });
        drop(first);
        assert_eq!(sum(at), amount);
        assert!(!ledger.is_enforced());
        ledger.enforce();
        assert!(ledger.clone().is_enforced());
    }
}
