//! Blobs: bytes outside of block rows, content-addressed by sha256; the blocks and the shares that reference them; and
//! other forms of images.

use std::collections::HashSet;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{self, Damage, Lossy, Readable, keep_decoded};
use crate::database::rows::{parse_word, storable_text, to_unsigned, to_word};
use turnleaf_domain::{BlockId, ShareId, UserId};

/// SQL condition: a block that is not deleted, an upload, or a document of this owner ($1) references the blob `o`, or
/// an image of which `o` is a form.
macro_rules! is_referenced_by_owner {
    () => {
        "EXISTS (SELECT 1 FROM ( \
            SELECT o.sha256 AS sha256 UNION SELECT f.sha256 FROM blob_forms f WHERE f.is_in = o.sha256) n WHERE \
            EXISTS (SELECT 1 FROM block_blobs r JOIN turn_blocks b ON b.id = r.block_id \
                JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id \
                WHERE r.sha256 = n.sha256 AND c.owner_id = $1 AND t.deleted_at IS NULL AND c.deleted_at IS NULL) \
            OR EXISTS (SELECT 1 FROM uploads u WHERE u.sha256 = n.sha256 AND u.owner_id = $1) \
            OR EXISTS (SELECT 1 FROM document_versions v JOIN documents d ON d.id = v.document_id \
                WHERE v.origin = n.sha256 AND d.owner_id = $1 AND d.deleted_at IS NULL))"
    };
}

sql! {
    // The time is updated for existing blobs too, so that a purge does not delete a blob that was just referenced
    // again.
    PUT = "INSERT INTO blobs (sha256, mime, byte_count, bytes, created_at) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (sha256) DO UPDATE SET created_at = excluded.created_at";
    FIND = concat!("SELECT o.mime, o.bytes, (SELECT MAX(u.name) FROM uploads u \
            WHERE u.owner_id = $1 AND u.sha256 = o.sha256) AS name \
        FROM blobs o WHERE o.sha256 = $2 AND o.bytes IS NOT NULL AND ", is_referenced_by_owner!());
    SIZE = concat!("SELECT o.mime, o.byte_count FROM blobs o WHERE o.sha256 = $2 AND ", is_referenced_by_owner!());
    FORMS = "SELECT form, is_in, width, height FROM blob_forms WHERE sha256 = $1";
    ADD_FORM = "INSERT INTO blob_forms (sha256, form, is_in, width, height) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (sha256, form) DO NOTHING";
    NAME_OWN = concat!("INSERT INTO block_blobs (block_id, sha256) SELECT k.id, o.sha256 \
        FROM turn_blocks k CROSS JOIN blobs o WHERE k.id = $2 AND o.sha256 = $3 AND ", is_referenced_by_owner!(),
        " ON CONFLICT (block_id, sha256) DO NOTHING");
    NAME_OF_SHARE = concat!("INSERT INTO share_blobs (share_id, sha256) SELECT s.id, o.sha256 \
        FROM shares s CROSS JOIN blobs o WHERE s.id = $2 AND s.owner_id = $1 AND o.sha256 = $3 AND ",
        is_referenced_by_owner!(), " ON CONFLICT (share_id, sha256) DO NOTHING");
    NAME = "INSERT INTO block_blobs (block_id, sha256) VALUES ($1, $2) ON CONFLICT (block_id, sha256) DO NOTHING";
}

/// A blob to store, with the block that references it. The block is stored before, in the same transaction.
#[derive(Debug, Clone, Copy)]
pub struct NewBlockBlob<'a> {
    pub block: BlockId,
    /// The sha256 of `bytes`, in lower-case hex.
    pub sha256: &'a str,
    pub mime: &'a str,
    pub bytes: &'a [u8],
}

/// Stores blobs that do not exist yet, and the references of these blocks to them.
pub async fn put(tx: &mut Tx, blobs: &[NewBlockBlob<'_>], now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut seen = HashSet::new();
    for blob in blobs {
        if seen.insert(blob.sha256) {
            insert_unreferenced(tx, blob.sha256, blob.mime, blob.bytes, now).await?;
        }
        in_tx!(&mut *tx, |conn| {
            sqlx::query(NAME).bind(blob.block.uuid()).bind(blob.sha256).execute(conn).await?;
        });
    }
    Ok(())
}

/// Adds a block's reference to this blob, if the owner references it already: knowing a hash gives no access to
/// another user's blob. The block may be that of a reader to whom the owner has shown it.
pub async fn reference_owned(tx: &mut Tx, owner: UserId, block: BlockId, sha256: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(NAME_OWN).bind(owner.uuid()).bind(block.uuid()).bind(sha256).execute(conn).await?;
    });
    Ok(())
}

/// Adds a share's reference to this blob, under the same condition as [`reference_owned`].
pub async fn reference_by_share(tx: &mut Tx, owner: UserId, share: ShareId, sha256: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(NAME_OF_SHARE).bind(owner.uuid()).bind(share.uuid()).bind(sha256).execute(conn).await?;
    });
    Ok(())
}

/// Stores bytes without a reference: the caller adds the reference in the same transaction.
pub async fn insert_unreferenced(
    tx: &mut Tx,
    sha256: &str,
    mime: &str,
    bytes: &[u8],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mime = storable_text(mime, "the type of a blob")?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(PUT).bind(sha256).bind(mime).bind(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        query.bind(bytes).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// The purpose of another form of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFormKind {
    /// A small form for lists.
    Thumbnail,
    /// The form that models are sent if the image itself is too large for them.
    Model,
}

/// Another form of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageForm {
    pub kind: ImageFormKind,
    /// The sha256 of its own blob.
    pub sha256: String,
    pub size: (u32, u32),
}

/// Stores another form of an image; both blobs are stored before.
pub async fn add_image_form(tx: &mut Tx, sha256: &str, form: &ImageForm) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(ADD_FORM).bind(sha256).bind(to_word(form.kind)).bind(&form.sha256);
        query.bind(i64::from(form.size.0)).bind(i64::from(form.size.1)).execute(conn).await?;
    });
    Ok(())
}

/// Returns the other forms of an image. The caller has checked the owner.
pub async fn image_forms(db: &Db, sha256: &str) -> Result<Vec<ImageForm>, StoreError> {
    let rows: Vec<Readable<(String, String, i64, i64)>> =
        with_pool!(db, |pool| sqlx::query_as(FORMS).bind(sha256).fetch_all(pool).await?);
    let side = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    let form = |(kind, is_in, width, height)| {
        let kind = parse_word(kind, "blob_forms", "form", sha256)?;
        Ok::<_, StoreError>(ImageForm { kind, sha256: is_in, size: (side(width), side(height)) })
    };
    Ok(keep_decoded(readable::keep_readable(rows, "blob_forms").into_iter().map(form), "blob_forms"))
}

/// Bytes with the type that their uploader declared, which is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    pub mime: String,
    pub bytes: Bytes,
    /// The name under which this owner uploaded them, if any.
    pub name: Option<String>,
}

/// Returns the type for bytes whose stored type cannot be read.
fn unknown_mime() -> String {
    "application/octet-stream".into()
}

/// Returns the bytes with this hash, if this owner references them.
pub async fn find(db: &Db, owner: UserId, sha256: &str) -> Result<Option<StoredBlob>, StoreError> {
    let mut damages = Vec::new();
    let found = find_with_damages(db, owner, sha256, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(found)
}

/// Works like [`find`], and records unreadable values of the row.
pub async fn find_with_damages(
    db: &Db,
    owner: UserId,
    sha256: &str,
    damages: &mut Vec<Damage>,
) -> Result<Option<StoredBlob>, StoreError> {
    type DamagedBlobRow = (Lossy<String>, Vec<u8>, Lossy<Option<String>>);
    let row: Option<Readable<DamagedBlobRow>> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(sha256).fetch_optional(pool).await?);
    let row = readable::keep_readable_with_damages(row.into_iter().collect(), "blobs", sha256, damages).pop();
    let mut value = |column, reason| {
        damages.push(Damage { table: "blobs", column, id: sha256.to_owned(), reason });
    };
    Ok(row.map(|(mime, bytes, name)| StoredBlob {
        mime: mime.into_result().unwrap_or_else(|reason| {
            value("mime", reason);
            unknown_mime()
        }),
        bytes: bytes.into(),
        name: name.into_result().unwrap_or_else(|reason| {
            value("name", reason);
            None
        }),
    }))
}

/// Returns the type and the length of these bytes, under the same condition as [`find`].
pub async fn find_type_and_size(db: &Db, owner: UserId, sha256: &str) -> Result<Option<(String, u64)>, StoreError> {
    let row: Option<Readable<(Lossy<String>, i64)>> =
        with_pool!(db, |pool| sqlx::query_as(SIZE).bind(owner.uuid()).bind(sha256).fetch_optional(pool).await?);
    let row = readable::keep_readable(row.into_iter().collect(), "blobs").pop();
    Ok(row.map(|(mime, length)| (mime.into_result().unwrap_or_else(|_| unknown_mime()), to_unsigned(length))))
}
