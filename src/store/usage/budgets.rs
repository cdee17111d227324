//! Budgets of accounts and of groups, and the defaults of all.

use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, ok_or_log};
use crate::database::rows::{inconsistent, parse_word, to_bigint, to_unsigned};
use turnleaf_domain::{Budget, BudgetId, BudgetKind, BudgetTarget, UserId};

const TABLE: &str = "budgets";

sql! {
    /// Those of an account ($1) and of its groups, and the defaults.
    OF_ACCOUNT = concat!("SELECT id, owner_id, group_id, kind, most FROM budgets WHERE owner_id = $1 \
        OR group_id IN (SELECT m.group_id FROM ", memberships!(of_account), " m) \
        OR (owner_id IS NULL AND group_id IS NULL)");
    ALL = "SELECT id, owner_id, group_id, kind, most FROM budgets ORDER BY owner_id, group_id, kind";
    /// That of an account ($1) or of a group ($2), or without both the default.
    DELETE = "DELETE FROM budgets WHERE owner_id IS NOT DISTINCT FROM $1 AND group_id IS NOT DISTINCT FROM $2 \
        AND kind = $3";
    /// Like [`DELETE`], those of a kind that nobody knows.
    DELETE_UNREADABLE = "DELETE FROM budgets WHERE owner_id IS NOT DISTINCT FROM $1 \
        AND group_id IS NOT DISTINCT FROM $2 AND kind NOT IN \
        ('day_cost', 'day_tokens', 'day_requests', 'month_cost', 'month_tokens', 'month_requests')";
    /// Those of an account ($1), except kinds that the other ($2) has.
    MOVE = "UPDATE budgets SET owner_id = $2 WHERE owner_id = $1 \
        AND kind NOT IN (SELECT b.kind FROM budgets b WHERE b.owner_id = $2)";
    INSERT = "INSERT INTO budgets (id, owner_id, group_id, kind, most) VALUES ($1, $2, $3, $4, $5)";
}

/// The stored budgets, as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredBudgets {
    pub budgets: Vec<Budget>,
    /// The targets of budgets that cannot be read. These still bound them: an unknown budget is not the same as none.
    pub unreadable: Vec<BudgetTarget>,
}

struct BudgetRow {
    id: Lossy<Uuid>,
    owner_id: Lossy<Option<Uuid>>,
    group_id: Lossy<Option<Uuid>>,
    kind: Lossy<String>,
    most: Lossy<i64>,
}
from_row!(BudgetRow { id, owner_id, group_id, kind, most });

fn read_budgets(rows: Vec<BudgetRow>) -> Result<StoredBudgets, StoreError> {
    let mut read = StoredBudgets::default();
    for BudgetRow { id, owner_id, group_id, kind, most } in rows {
        let id = id.unwrap_or_default(TABLE, "id", Uuid::nil());
        // No account and no group is found by an id that cannot be read, so such a budget is nobody's.
        let account = owner_id.unwrap_or_log(TABLE, "owner_id", id, || Some(Uuid::nil()));
        let group = group_id.unwrap_or_log(TABLE, "group_id", id, || Some(Uuid::nil()));
        let target = match (account, group) {
            (Some(account), _) => BudgetTarget::Account(account.into()),
            (None, Some(group)) => BudgetTarget::Group(group.into()),
            (None, None) => BudgetTarget::Default,
        };
        match ok_or_log(read_budget(id, target, kind, most), TABLE)? {
            Some(budget) => read.budgets.push(budget),
            None => read.unreadable.push(target),
        }
    }
    Ok(read)
}

fn read_budget(id: Uuid, target: BudgetTarget, kind: Lossy<String>, most: Lossy<i64>) -> Result<Budget, StoreError> {
    let kind = kind.into_result().map_err(|reason| inconsistent(TABLE, "kind", id, reason))?;
    let most = most.into_result().map_err(|reason| inconsistent(TABLE, "most", id, reason))?;
    Ok(Budget { target, kind: parse_word(kind, TABLE, "kind", id)?, most: to_unsigned(most) })
}

/// Returns the budgets in force for an account, by kind.
pub async fn list_for_account(db: &Db, account: UserId) -> Result<StoredBudgets, StoreError> {
    let rows: Vec<BudgetRow> =
        with_pool!(db, |pool| sqlx::query_as(OF_ACCOUNT).bind(account.uuid()).fetch_all(pool).await?);
    let mut read = read_budgets(rows)?;
    read.budgets = Budget::in_force(&read.budgets);
    Ok(read)
}

/// Returns the budgets of all accounts and groups, and the defaults.
pub async fn list_all(db: &Db) -> Result<StoredBudgets, StoreError> {
    let rows: Vec<BudgetRow> = with_pool!(db, |pool| sqlx::query_as(ALL).fetch_all(pool).await?);
    read_budgets(rows)
}

/// Returns the account and the group of a target.
fn columns_of(target: BudgetTarget) -> (Option<Uuid>, Option<Uuid>) {
    match target {
        BudgetTarget::Default => (None, None),
        BudgetTarget::Group(group) => (None, Some(group.uuid())),
        BudgetTarget::Account(account) => (Some(account.uuid()), None),
    }
}

/// Deletes the budgets of a target whose kind cannot be read, before all kinds are set.
pub async fn delete_unreadable(tx: &mut Tx, target: BudgetTarget) -> Result<(), StoreError> {
    let (account, group) = columns_of(target);
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_UNREADABLE).bind(account).bind(group).execute(conn).await?;
    });
    Ok(())
}

/// Gives the budgets of an account to another one, which keeps those that it has.
pub async fn move_to(tx: &mut Tx, (from, to): (UserId, UserId)) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(MOVE).bind(from.uuid()).bind(to.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Sets a budget of a target; `None` removes it. `id` is for a new row.
pub async fn set(
    tx: &mut Tx,
    id: BudgetId,
    target: BudgetTarget,
    kind: BudgetKind,
    most: Option<u64>,
) -> Result<(), StoreError> {
    let (account, group) = columns_of(target);
    in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(account).bind(group).bind(kind.as_str()).execute(&mut *conn).await?;
        if let Some(most) = most {
            let insert = sqlx::query(INSERT).bind(id.uuid()).bind(account).bind(group).bind(kind.as_str());
            insert.bind(to_bigint(most)).execute(&mut *conn).await?;
        }
    });
    Ok(())
}
