//! Budgets of accounts, and the defaults of all.

use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Lossy, ok_or_log};
use crate::rows::{inconsistent, parse_word, to_bigint, to_unsigned};
use turnleaf_domain::{BudgetId, BudgetKind, UserId};

const TABLE: &str = "budgets";

sql! {
    /// Those of an account ($1), and the defaults.
    OF_ACCOUNT = "SELECT id, owner_id, kind, most FROM budgets WHERE owner_id = $1 OR owner_id IS NULL";
    ALL = "SELECT id, owner_id, kind, most FROM budgets ORDER BY owner_id, kind";
    DELETE = "DELETE FROM budgets WHERE owner_id = $1 AND kind = $2";
    DELETE_DEFAULT = "DELETE FROM budgets WHERE owner_id IS NULL AND kind = $1";
    /// Those of an account ($1), or the defaults, of a kind that nobody knows.
    DELETE_UNREADABLE = "DELETE FROM budgets WHERE owner_id IS NOT DISTINCT FROM $1 \
        AND kind NOT IN ('day_cost', 'day_tokens', 'month_cost', 'month_tokens')";
    /// Those of an account ($1), except kinds that the other ($2) has.
    MOVE = "UPDATE budgets SET owner_id = $2 WHERE owner_id = $1 \
        AND kind NOT IN (SELECT b.kind FROM budgets b WHERE b.owner_id = $2)";
    INSERT = "INSERT INTO budgets (id, owner_id, kind, most) VALUES ($1, $2, $3, $4)";
}

/// A stored budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBudget {
    /// `None` for a default of all accounts.
    pub account: Option<UserId>,
    pub kind: BudgetKind,
    /// The budget, in tokens or in millionths of a US dollar.
    pub most: u64,
}

/// The stored budgets, as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredBudgets {
    pub budgets: Vec<StoredBudget>,
    /// The accounts with a budget that cannot be read; `None` for the defaults of all accounts. It still bounds them: an
    /// unknown budget is not the same as none.
    pub unreadable: Vec<Option<UserId>>,
}

struct BudgetRow {
    id: Lossy<Uuid>,
    owner_id: Lossy<Option<Uuid>>,
    kind: Lossy<String>,
    most: Lossy<i64>,
}
from_row!(BudgetRow { id, owner_id, kind, most });

fn read_budgets(rows: Vec<BudgetRow>) -> Result<StoredBudgets, StoreError> {
    let mut read = StoredBudgets::default();
    for BudgetRow { id, owner_id, kind, most } in rows {
        let id = id.unwrap_or_default(TABLE, "id", Uuid::nil());
        // No account is found by an id that cannot be read, so such a budget is nobody's.
        let account = owner_id.unwrap_or_log(TABLE, "owner_id", id, || Some(Uuid::nil())).map(UserId::from);
        match ok_or_log(read_budget(id, account, kind, most), TABLE)? {
            Some(budget) => read.budgets.push(budget),
            None => read.unreadable.push(account),
        }
    }
    Ok(read)
}

fn read_budget(
    id: Uuid,
    account: Option<UserId>,
    kind: Lossy<String>,
    most: Lossy<i64>,
) -> Result<StoredBudget, StoreError> {
    let kind = kind.into_result().map_err(|reason| inconsistent(TABLE, "kind", id, reason))?;
    let most = most.into_result().map_err(|reason| inconsistent(TABLE, "most", id, reason))?;
    Ok(StoredBudget { account, kind: parse_word(kind, TABLE, "kind", id)?, most: to_unsigned(most) })
}

/// Returns the budgets that apply to an account: its own, and the defaults of the other kinds.
pub async fn list_for_account(db: &Db, account: UserId) -> Result<StoredBudgets, StoreError> {
    let rows: Vec<BudgetRow> =
        with_pool!(db, |pool| sqlx::query_as(OF_ACCOUNT).bind(account.uuid()).fetch_all(pool).await?);
    let mut read = read_budgets(rows)?;
    let own: Vec<BudgetKind> =
        read.budgets.iter().filter(|budget| budget.account.is_some()).map(|budget| budget.kind).collect();
    read.budgets.retain(|budget| budget.account.is_some() || !own.contains(&budget.kind));
    read.budgets.sort_by_key(|budget| budget.kind);
    Ok(read)
}

/// Returns the budgets of all accounts and the defaults.
pub async fn list_all(db: &Db) -> Result<StoredBudgets, StoreError> {
    let rows: Vec<BudgetRow> = with_pool!(db, |pool| sqlx::query_as(ALL).fetch_all(pool).await?);
    read_budgets(rows)
}

/// Deletes the budgets of an account, or the defaults, whose kind cannot be read, before all kinds are set.
pub async fn delete_unreadable(tx: &mut Tx, account: Option<UserId>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_UNREADABLE).bind(account.map(UserId::uuid)).execute(conn).await?;
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

/// Sets a budget of an account, or a default; `None` removes it. `id` is for a new row.
pub async fn set(
    tx: &mut Tx,
    id: BudgetId,
    account: Option<UserId>,
    kind: BudgetKind,
    most: Option<u64>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let delete = match account {
            Some(account) => sqlx::query(DELETE).bind(account.uuid()),
            None => sqlx::query(DELETE_DEFAULT),
        };
        delete.bind(kind.as_str()).execute(&mut *conn).await?;
        if let Some(most) = most {
            let insert = sqlx::query(INSERT).bind(id.uuid()).bind(account.map(UserId::uuid)).bind(kind.as_str());
            insert.bind(to_bigint(most)).execute(&mut *conn).await?;
        }
    });
    Ok(())
}
