//! Sources of imported chats, and what the import could not take over. A chat that started here has no row.

use chrono::{DateTime, Utc};

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, Readable, RowReader, SalvagedText, keep_decoded, keep_readable};
use crate::database::rows::{from_json, storable_text, to_json};
use turnleaf_domain::{ChatId, ImportOrigin, UserId};

sql! {
    PUT = "INSERT INTO chat_sources (chat_id, format, file, imported_at, differences) \
        SELECT id, $3, $4, $5, $6 FROM chats WHERE owner_id = $1 AND id = $2 \
        ON CONFLICT (chat_id) DO UPDATE SET differences = excluded.differences";
    FIND = "SELECT s.format, s.file, s.imported_at, s.differences FROM chat_sources s JOIN chats c ON c.id = s.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL";
}

type ChatSourceRow = (String, String, DateTime<Utc>, String);
type LossyRow = (SalvagedText, SalvagedText, Lossy<DateTime<Utc>>, Lossy<String>);

/// Stores the source of an owner's chat. For a known source only the differences are updated.
pub async fn put(tx: &mut Tx, owner: UserId, chat: ChatId, source: &ImportOrigin) -> Result<(), StoreError> {
    let differences = to_json(&source.differences, "chat_sources", "differences")?;
    let (format, file) =
        (storable_text(&source.format, "a format")?, storable_text(&source.file, "the name of a file")?);
    in_tx!(tx, |conn| {
        let query = sqlx::query(PUT).bind(owner.uuid()).bind(chat.uuid()).bind(format).bind(file);
        query.bind(source.imported_at).bind(differences).execute(conn).await?;
    });
    Ok(())
}

const TABLE: &str = "chat_sources";

/// Returns the source of an owner's chat; none if it cannot be read.
pub async fn find(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<ImportOrigin>, StoreError> {
    let row: Option<Readable<ChatSourceRow>> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?);
    let rows = keep_readable(row.into_iter().collect(), TABLE).into_iter();
    Ok(keep_decoded(rows.map(|row| read(row, chat)), TABLE).pop())
}

/// Works like [`find`], but returns the readable values and records the unreadable ones.
pub async fn find_with_damages(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<Option<ImportOrigin>, StoreError> {
    let row: Option<LossyRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?);
    Ok(row.map(|(format, file, imported_at, differences)| {
        let mut row = RowReader { table: TABLE, id: chat.uuid(), damages };
        ImportOrigin {
            format: row.text("format", format),
            file: row.text("file", file),
            imported_at: row.moment("imported_at", imported_at),
            differences: row
                .value("differences", differences)
                .and_then(|text| row.json("differences", &text))
                .unwrap_or_default(),
        }
    }))
}

/// Works like [`find`], inside a transaction.
pub async fn find_in_tx(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<Option<ImportOrigin>, StoreError> {
    let row: Option<ChatSourceRow> =
        in_tx!(tx, |conn| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(conn).await?);
    row.map(|row| read(row, chat)).transpose()
}

fn read((format, file, imported_at, differences): ChatSourceRow, chat: ChatId) -> Result<ImportOrigin, StoreError> {
    let differences = from_json(&differences, "chat_sources", "differences", chat)?;
    Ok(ImportOrigin { format, file, imported_at, differences })
}
