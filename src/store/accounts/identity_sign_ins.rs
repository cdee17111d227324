//! Sign-ins at identity providers that have begun. Of their state and of the secret of the browser only the hashes are
//! stored; the request is encrypted, and the store does not decrypt it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::database::rows::inconsistent;
use turnleaf_domain::{IdentitySignInId, UserId};

sql! {
    BEGIN = "INSERT INTO identity_sign_ins (id, state_hash, browser_hash, owner_id, sealed_request, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    /// Both the state and the browser have to be right, so that nobody else ends a sign-in.
    TAKE = "DELETE FROM identity_sign_ins WHERE state_hash = $1 AND browser_hash = $2 \
        RETURNING id, owner_id, sealed_request, expires_at";
    DELETE_EXPIRED = "DELETE FROM identity_sign_ins WHERE expires_at <= $1";
    /// Those that began first, beyond so many ($1).
    DELETE_SURPLUS = "DELETE FROM identity_sign_ins WHERE id NOT IN \
        (SELECT k.id FROM identity_sign_ins k ORDER BY k.expires_at DESC, k.id DESC LIMIT $1)";
}

/// A sign-in that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIdentitySignIn {
    pub id: IdentitySignInId,
    /// The SHA-256 of the state that names it in its answer.
    pub state_hash: [u8; 32],
    /// The SHA-256 of the secret in the cookie of the browser.
    pub browser_hash: [u8; 32],
    /// The account that is linked; `None` for a person who signs in.
    pub owner: Option<UserId>,
    /// The request, encrypted.
    pub sealed: String,
    pub expires_at: DateTime<Utc>,
}

type IdentitySignInRow = (Uuid, Option<Uuid>, Vec<u8>, DateTime<Utc>);

/// Stores a sign-in that begins.
pub async fn begin(tx: &mut Tx, begun: &StoredIdentitySignIn) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(BEGIN)
            .bind(begun.id.uuid())
            .bind(begun.state_hash.as_slice())
            .bind(begun.browser_hash.as_slice())
            .bind(begun.owner.map(UserId::uuid))
            .bind(begun.sealed.as_bytes())
            .bind(begun.expires_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Deletes the sign-in with this state in this browser and returns it, so that each answer is used once. It may have
/// expired.
pub async fn take(
    tx: &mut Tx,
    state_hash: &[u8; 32],
    browser_hash: &[u8; 32],
) -> Result<Option<StoredIdentitySignIn>, StoreError> {
    let row: Option<IdentitySignInRow> = in_tx!(tx, |conn| {
        let query = sqlx::query_as(TAKE).bind(state_hash.as_slice()).bind(browser_hash.as_slice());
        query.fetch_optional(conn).await?
    });
    row.map(|(id, owner, sealed, expires_at)| {
        let sealed = String::from_utf8(sealed);
        let sealed = sealed.map_err(|_| inconsistent("identity_sign_ins", "sealed_request", id, "it is not text"))?;
        Ok(StoredIdentitySignIn {
            id: id.into(),
            state_hash: *state_hash,
            browser_hash: *browser_hash,
            owner: owner.map(UserId::from),
            sealed,
            expires_at,
        })
    })
    .transpose()
}

/// Deletes the sign-ins that have expired at `now`.
pub async fn delete_expired(tx: &mut Tx, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_EXPIRED).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the sign-ins that began first, beyond so many.
pub async fn delete_surplus(tx: &mut Tx, most: u32) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_SURPLUS).bind(i64::from(most)).execute(conn).await?;
    });
    Ok(())
}
