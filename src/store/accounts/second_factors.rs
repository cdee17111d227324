//! Second factors: the encrypted secret of an authenticator app, and the hashes of recovery codes.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, time_of_id};
use crate::database::rows::to_unsigned;
use turnleaf_domain::UserId;

const TABLE: &str = "second_factors";

sql! {
    /// One that counts stays as it is.
    BEGIN = "INSERT INTO second_factors (owner_id, sealed_secret, created_at) VALUES ($1, $2, $3) \
        ON CONFLICT (owner_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, created_at = excluded.created_at \
        WHERE second_factors.confirmed_at IS NULL";
    FIND = "SELECT sealed_secret, confirmed_at FROM second_factors WHERE owner_id = $1";
    COUNT_CONFIRMED = "SELECT COUNT(*) FROM second_factors WHERE owner_id = $1 AND confirmed_at IS NOT NULL";
    /// Only the secret that the code was checked with ($2).
    CONFIRM = "UPDATE second_factors SET last_step = $3, confirmed_at = $4 \
        WHERE owner_id = $1 AND sealed_secret = $2 AND confirmed_at IS NULL";
    /// One of several concurrent uses of a code changes the row.
    USE_STEP = "UPDATE second_factors SET last_step = $2 \
        WHERE owner_id = $1 AND confirmed_at IS NOT NULL AND last_step < $2";
    DELETE = "DELETE FROM second_factors WHERE owner_id = $1";
    INSERT_CODE = "INSERT INTO recovery_codes (id, owner_id, hash, created_at) VALUES ($1, $2, $3, $4)";
    COUNT_CODES = "SELECT COUNT(*) FROM recovery_codes WHERE owner_id = $1";
    USE_CODE = "DELETE FROM recovery_codes WHERE owner_id = $1 AND hash = $2";
    DELETE_CODES = "DELETE FROM recovery_codes WHERE owner_id = $1";
}

/// A second factor as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecondFactor {
    /// The encrypted secret.
    pub sealed: String,
    /// `None` until the first code was entered: it does not count before.
    pub confirmed_at: Option<DateTime<Utc>>,
}

/// Stores a secret that does not count yet, in place of an earlier such one. Returns false if one counts already.
pub async fn begin(tx: &mut Tx, owner: UserId, sealed: &str, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(BEGIN).bind(owner.uuid()).bind(sealed.as_bytes()).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    Ok(stored > 0)
}

/// Returns the second factor of an account. An unreadable time of its confirmation is that of one that counts.
pub async fn find(db: &Db, owner: UserId) -> Result<Option<StoredSecondFactor>, StoreError> {
    type SecondFactorRow = (Vec<u8>, Lossy<Option<DateTime<Utc>>>);
    let row: Option<SecondFactorRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).fetch_optional(pool).await?);
    Ok(row.map(|(sealed, confirmed_at)| {
        let id = owner.uuid();
        StoredSecondFactor {
            // A damaged text is not decrypted.
            sealed: String::from_utf8_lossy(&sealed).into_owned(),
            confirmed_at: confirmed_at.unwrap_or_log(TABLE, "confirmed_at", id, || Some(time_of_id(id))),
        }
    }))
}

/// Returns whether an account has a second factor that counts.
pub async fn is_confirmed(tx: &mut Tx, owner: UserId) -> Result<bool, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT_CONFIRMED).bind(owner.uuid()).fetch_one(conn).await?);
    Ok(count > 0)
}

/// Makes a secret count, after a code of this step was entered. Returns false if it was replaced or counts already.
pub async fn confirm(
    tx: &mut Tx,
    owner: UserId,
    sealed: &str,
    step: i64,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let confirmed = in_tx!(tx, |conn| {
        let query = sqlx::query(CONFIRM).bind(owner.uuid()).bind(sealed.as_bytes()).bind(step).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    Ok(confirmed > 0)
}

/// Records that the code of a step was used. Returns false if it or a later one was used before.
pub async fn use_step(tx: &mut Tx, owner: UserId, step: i64) -> Result<bool, StoreError> {
    let used =
        in_tx!(tx, |conn| sqlx::query(USE_STEP).bind(owner.uuid()).bind(step).execute(conn).await?.rows_affected());
    Ok(used > 0)
}

/// Deletes the second factor of an account with its recovery codes. Returns false if it has none.
pub async fn delete(tx: &mut Tx, owner: UserId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE_CODES).bind(owner.uuid()).execute(&mut *conn).await?;
        sqlx::query(DELETE).bind(owner.uuid()).execute(&mut *conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Stores the hashes of recovery codes in place of those that are left.
pub async fn replace_codes(
    tx: &mut Tx,
    owner: UserId,
    codes: &[(Uuid, [u8; 32])],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_CODES).bind(owner.uuid()).execute(&mut *conn).await?;
        for (id, hash) in codes {
            let query = sqlx::query(INSERT_CODE).bind(*id).bind(owner.uuid()).bind(hash.as_slice()).bind(now);
            query.execute(&mut *conn).await?;
        }
    });
    Ok(())
}

/// Counts the recovery codes that were not used.
pub async fn count_codes(db: &Db, owner: UserId) -> Result<u64, StoreError> {
    let count: i64 = with_pool!(db, |pool| sqlx::query_scalar(COUNT_CODES).bind(owner.uuid()).fetch_one(pool).await?);
    Ok(to_unsigned(count))
}

/// Uses a recovery code up. Returns false if the account has no such code.
pub async fn use_code(tx: &mut Tx, owner: UserId, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let used = in_tx!(tx, |conn| {
        sqlx::query(USE_CODE).bind(owner.uuid()).bind(hash.as_slice()).execute(conn).await?.rows_affected()
    });
    Ok(used > 0)
}
