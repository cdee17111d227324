//! The groups that services name for identities: those of the last sign-in, or of the last request through a proxy.

use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use turnleaf_domain::{IdentityId, UserId};

const TABLE: &str = "identity_groups";

sql! {
    OF_IDENTITY = "SELECT n.issuer, n.name FROM identity_groups n JOIN identities i ON i.id = n.identity_id \
        WHERE i.owner_id = $1 AND i.id = $2";
    CLEAR = "DELETE FROM identity_groups WHERE identity_id = ( \
        SELECT i.id FROM identities i WHERE i.owner_id = $1 AND i.id = $2)";
    INSERT = "INSERT INTO identity_groups (identity_id, issuer, name) SELECT i.id, $3, $4 FROM identities i \
        WHERE i.owner_id = $1 AND i.id = $2 ON CONFLICT DO NOTHING";
    NAMES = "SELECT DISTINCT name FROM identity_groups ORDER BY name LIMIT $1";
}

/// Replaces the groups of an identity, whose row the transaction has locked. `issuer` is that of the configuration, by
/// which mappings name it. Returns false if these are its groups already.
pub async fn replace(
    tx: &mut Tx,
    owner: UserId,
    identity: IdentityId,
    (issuer, names): (&str, &[String]),
) -> Result<bool, StoreError> {
    let (owner, identity): (Uuid, Uuid) = (owner.uuid(), identity.uuid());
    let stored: Vec<Readable<(String, String)>> =
        in_tx!(tx, |conn| sqlx::query_as(OF_IDENTITY).bind(owner).bind(identity).fetch_all(conn).await?);
    let mut stored = keep_readable(stored, TABLE);
    stored.sort_unstable();
    let mut named: Vec<(String, String)> = names.iter().map(|name| (issuer.to_owned(), name.clone())).collect();
    named.sort_unstable();
    named.dedup();
    if stored == named {
        return Ok(false);
    }
    in_tx!(tx, |conn| {
        sqlx::query(CLEAR).bind(owner).bind(identity).execute(&mut *conn).await?;
        for (issuer, name) in &named {
            let insert = sqlx::query(INSERT).bind(owner).bind(identity).bind(issuer.as_str());
            insert.bind(name.as_str()).execute(&mut *conn).await?;
        }
    });
    Ok(true)
}

/// Returns the names of groups that services have named for anybody, in order.
pub async fn names(db: &Db, limit: u32) -> Result<Vec<String>, StoreError> {
    let rows: Vec<Readable<(String,)>> =
        with_pool!(db, |pool| sqlx::query_as(NAMES).bind(i64::from(limit)).fetch_all(pool).await?);
    let mut names: Vec<String> = keep_readable(rows, TABLE).into_iter().map(|(name,)| name).collect();
    // Databases order texts differently.
    names.sort_unstable();
    Ok(names)
}
