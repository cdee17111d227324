//! Budgets of accounts, and the defaults of all.

use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Lossy, Readable, keep_decoded, keep_readable};
use crate::rows::{parse_word, to_bigint, to_unsigned};
use turnleaf_domain::{BudgetId, BudgetKind, UserId};

const TABLE: &str = "budgets";

sql! {
    /// Those of an account ($1), and the defaults.
    OF_ACCOUNT = "SELECT id, owner_id, kind, most FROM budgets WHERE owner_id = $1 OR owner_id IS NULL";
    ALL = "SELECT id, owner_id, kind, most FROM budgets ORDER BY owner_id, kind";
    DELETE = "DELETE FROM budgets WHERE owner_id = $1 AND kind = $2";
    DELETE_DEFAULT = "DELETE FROM budgets WHERE owner_id IS NULL AND kind = $1";
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

struct BudgetRow {
    id: Uuid,
    owner_id: Option<Uuid>,
    kind: Lossy<String>,
    most: i64,
}
from_row!(BudgetRow { id, owner_id, kind, most });

impl TryFrom<BudgetRow> for StoredBudget {
    type Error = StoreError;

    fn try_from(row: BudgetRow) -> Result<Self, StoreError> {
        let kind = row.kind.unwrap_or_default(TABLE, "kind", row.id);
        Ok(Self {
            account: row.owner_id.map(UserId::from),
            kind: parse_word(kind, TABLE, "kind", row.id)?,
            most: to_unsigned(row.most),
        })
    }
}

fn read_budgets(rows: Vec<Readable<BudgetRow>>) -> Vec<StoredBudget> {
    keep_decoded(keep_readable(rows, TABLE).into_iter().map(StoredBudget::try_from), TABLE)
}

/// Returns the budgets that apply to an account: its own, and the defaults of the other kinds.
pub async fn list_for_account(db: &Db, account: UserId) -> Result<Vec<StoredBudget>, StoreError> {
    let rows: Vec<Readable<BudgetRow>> =
        with_pool!(db, |pool| sqlx::query_as(OF_ACCOUNT).bind(account.uuid()).fetch_all(pool).await?);
    let mut budgets = read_budgets(rows);
    let own: Vec<BudgetKind> =
        budgets.iter().filter(|budget| budget.account.is_some()).map(|budget| budget.kind).collect();
    budgets.retain(|budget| budget.account.is_some() || !own.contains(&budget.kind));
    budgets.sort_by_key(|budget| budget.kind);
    Ok(budgets)
}

/// Returns the budgets of all accounts and the defaults.
pub async fn list_all(db: &Db) -> Result<Vec<StoredBudget>, StoreError> {
    let rows: Vec<Readable<BudgetRow>> = with_pool!(db, |pool| sqlx::query_as(ALL).fetch_all(pool).await?);
    Ok(read_budgets(rows))
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
