//! The undo of imports: what of their creations may be deleted, and the deletions that restoring them reverts.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::ImportedTurns;
use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use crate::database::rows::to_word;
use crate::deletions::{DeletionRoot, NewDeletion};
use turnleaf_domain::transfer::import_record::PlacedTurn;
use turnleaf_domain::{ChatId, DeletionId, DocumentId, ImportId, ImportState, TurnId, UndoScope, UserId};

/// No message uses the document `d`.
macro_rules! is_unused {
    () => {
        "NOT EXISTS (SELECT 1 FROM block_documents r JOIN turn_blocks b ON b.id = r.block_id \
            JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id \
            WHERE r.document_id = d.id AND t.deleted_at IS NULL AND c.deleted_at IS NULL)"
    };
}
pub(crate) use is_unused;

/// A document `d` that an import created (`m`) is as it was then.
macro_rules! is_unchanged {
    () => {
        "d.title = m.title \
         AND (SELECT COUNT(*) FROM document_versions v WHERE v.document_id = d.id) <= m.versions"
    };
}

/// The documents `d` of an import.
macro_rules! of_documents {
    () => {
        "SELECT m.document_id FROM import_documents m JOIN imports i ON i.id = m.import_id \
         JOIN documents d ON d.id = m.document_id WHERE i.owner_id = $1 AND i.id = $2"
    };
}

/// No draft and no queued message has the document `d`, whose id is $4. Ids in JSON are text, so both are searched for
/// the text of the id.
macro_rules! is_not_attached {
    () => {
        "NOT EXISTS (SELECT 1 FROM drafts k LEFT JOIN chats c ON c.id = k.chat_id \
            WHERE k.owner_id = $1 AND c.deleted_at IS NULL AND k.attachments LIKE '%' || $4 || '%') \
         AND NOT EXISTS (SELECT 1 FROM queued_messages q JOIN chats c ON c.id = q.chat_id \
            WHERE q.owner_id = $1 AND q.turn_id IS NULL AND c.deleted_at IS NULL AND q.request LIKE '%' || $4 || '%')"
    };
}

sql! {
    CHATS = "SELECT m.chat_id, m.first_ord, m.last_ord FROM import_chats m JOIN imports i ON i.id = m.import_id \
        JOIN chats c ON c.id = m.chat_id WHERE i.owner_id = $1 AND i.id = $2 AND c.deleted_at IS NULL \
        ORDER BY m.chat_id, m.first_ord";
    /// A turn that no import created, a draft, or a queued message. Turns with the deletion $3 count as not deleted: the
    /// check runs in the transaction that deletes them, under the lock of the chat.
    WRITTEN_IN_CHAT = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND (t.deleted_at IS NULL OR t.deletion_id = $3) AND NOT EXISTS ( \
            SELECT 1 FROM import_chats m WHERE m.chat_id = t.chat_id AND t.ord BETWEEN m.first_ord AND m.last_ord) \
        UNION ALL SELECT k.chat_id FROM drafts k \
        WHERE k.owner_id = $1 AND k.chat_id = $2 AND (k.text <> '' OR k.attachments <> '[]') \
        UNION ALL SELECT q.chat_id FROM queued_messages q \
        WHERE q.owner_id = $1 AND q.chat_id = $2 AND q.turn_id IS NULL LIMIT 1";
    /// A turn of the deletion $4 that the import did not create.
    WRITTEN_BELOW = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND t.deletion_id = $4 AND NOT EXISTS ( \
            SELECT 1 FROM import_chats m WHERE m.import_id = $3 AND m.chat_id = t.chat_id \
            AND t.ord BETWEEN m.first_ord AND m.last_ord) LIMIT 1";
    PLACED_TURNS = "SELECT t.id, t.prev_turn_id, t.ord FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL AND t.deleted_at IS NULL";
    UNTOUCHED_DOCUMENTS = concat!(of_documents!(), " AND d.deleted_at IS NULL AND ", is_unchanged!(), " AND ",
        is_unused!(), " ORDER BY m.document_id");
    UNUSED_DOCUMENTS = concat!(of_documents!(), " AND d.deleted_at IS NULL AND ", is_unused!(),
        " ORDER BY m.document_id");
    IS_UNTOUCHED = concat!(of_documents!(), " AND d.id = $3 AND ", is_unchanged!(), " AND ", is_unused!(), " AND ",
        is_not_attached!());
    IS_UNUSED = concat!(of_documents!(), " AND d.id = $3 AND ", is_unused!(), " AND ", is_not_attached!());
    ADD_DELETION = "INSERT INTO import_deletions (deletion_id, import_id) \
        SELECT d.id, i.id FROM imports i JOIN deletions d ON d.owner_id = i.owner_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND d.id = $3 ON CONFLICT DO NOTHING";
    SET_DOCUMENT_DELETION = "UPDATE import_documents SET deletion_id = $4 WHERE document_id = $3 AND import_id IN ( \
        SELECT i.id FROM imports i WHERE i.owner_id = $1 AND i.id = $2)";
    /// The newest first, because an earlier one may be below a later one.
    DELETIONS = "SELECT d.id FROM import_deletions m JOIN imports i ON i.id = m.import_id \
        JOIN deletions d ON d.id = m.deletion_id WHERE i.owner_id = $1 AND i.id = $2 AND d.purging_since IS NULL \
        ORDER BY d.id DESC";
    DELETED_DOCUMENTS = "SELECT m.document_id FROM import_documents m JOIN imports i ON i.id = m.import_id \
        JOIN documents d ON d.id = m.document_id WHERE i.owner_id = $1 AND i.id = $2 AND d.deletion_id = m.deletion_id";
    MARK_UNDONE = "UPDATE imports SET state = 'undone', undone_at = $3 WHERE owner_id = $1 AND id = $2 \
        AND state <> 'running'";
    MARK_RESTORED = "UPDATE imports SET state = $3, undone_at = NULL WHERE owner_id = $1 AND id = $2 \
        AND state = 'undone'";
}

/// Returns the turns that an import created in chats that are not in Trash, those of a chat together.
pub async fn list_turns(db: &Db, owner: UserId, id: ImportId) -> Result<Vec<ImportedTurns>, StoreError> {
    let rows: Vec<Readable<(Uuid, i64, i64)>> =
        with_pool!(db, |pool| sqlx::query_as(CHATS).bind(owner.uuid()).bind(id.uuid()).fetch_all(pool).await?);
    let rows = keep_readable(rows, "import_chats").into_iter();
    Ok(rows.map(|(chat, first, last)| ImportedTurns { chat_id: chat.into(), ords: first..=last }).collect())
}

/// Returns whether something was written here in a chat of this owner: turns that no import created, or a draft with
/// text or attachments.
pub async fn is_written_in(db: &Db, owner: UserId, chat: ChatId) -> Result<bool, StoreError> {
    let found: Option<Uuid> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(WRITTEN_IN_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(None::<Uuid>).fetch_optional(pool).await?
    });
    Ok(found.is_some())
}

/// Returns whether a deletion that undoes an import would take what was written here: of a whole chat as
/// [`is_written_in`], of a part of it turns that the import did not create. It runs in the transaction that marked the
/// turns, which holds the lock of the chat.
pub async fn takes_writing(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    deletion: &NewDeletion,
) -> Result<bool, StoreError> {
    let (chat, deletion_id) = (deletion.chat_id.uuid(), deletion.id.uuid());
    let found: Option<Uuid> = in_tx!(tx, |conn| match deletion.root {
        DeletionRoot::Chat => {
            let query = sqlx::query_scalar(WRITTEN_IN_CHAT).bind(owner.uuid()).bind(chat).bind(deletion_id);
            query.fetch_optional(conn).await?
        }
        DeletionRoot::Turn(_) | DeletionRoot::Branch(_) | DeletionRoot::AllBut(_) => {
            let query = sqlx::query_scalar(WRITTEN_BELOW).bind(owner.uuid()).bind(chat);
            query.bind(id.uuid()).bind(deletion_id).fetch_optional(conn).await?
        }
    });
    Ok(found.is_some())
}

/// Returns the turns of a chat that are not deleted, with their places.
pub async fn placed_turns(db: &Db, owner: UserId, chat: ChatId) -> Result<Vec<PlacedTurn>, StoreError> {
    let rows: Vec<Readable<(Uuid, Option<Uuid>, i64)>> = with_pool!(db, |pool| {
        sqlx::query_as(PLACED_TURNS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?
    });
    let placed = |(id, prev, ord): (Uuid, Option<Uuid>, i64)| PlacedTurn {
        id: id.into(),
        prev_turn_id: prev.map(TurnId::from),
        ord,
    };
    Ok(keep_readable(rows, "turns").into_iter().map(placed).collect())
}

/// Returns the documents that an import created, that are not deleted, and that no message uses; those that were changed
/// or renamed since only in the scope of changed ones.
pub async fn list_documents_to_undo(
    db: &Db,
    owner: UserId,
    id: ImportId,
    scope: UndoScope,
) -> Result<Vec<DocumentId>, StoreError> {
    let query = match scope {
        UndoScope::Unchanged => UNTOUCHED_DOCUMENTS,
        UndoScope::Changed => UNUSED_DOCUMENTS,
    };
    list_documents(db, owner, id, query).await
}

/// Returns whether a document is among them, and is not attached to a draft either. It may be in Trash: the check runs
/// in the transaction that moves it there, which holds its lock.
pub async fn can_undo_document(
    tx: &mut Tx,
    owner: UserId,
    (id, scope): (ImportId, UndoScope),
    document: DocumentId,
) -> Result<bool, StoreError> {
    let text = match scope {
        UndoScope::Unchanged => IS_UNTOUCHED,
        UndoScope::Changed => IS_UNUSED,
    };
    let found: Option<Uuid> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(text).bind(owner.uuid()).bind(id.uuid()).bind(document.uuid());
        query.bind(document.to_string()).fetch_optional(conn).await?
    });
    Ok(found.is_some())
}

/// Returns the documents that are in Trash because the import was undone.
pub async fn list_deleted_documents(db: &Db, owner: UserId, id: ImportId) -> Result<Vec<DocumentId>, StoreError> {
    list_documents(db, owner, id, DELETED_DOCUMENTS).await
}

async fn list_documents(
    db: &Db,
    owner: UserId,
    id: ImportId,
    query: &'static str,
) -> Result<Vec<DocumentId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(query).bind(owner.uuid()).bind(id.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, "import_documents").into_iter().map(|(id,)| DocumentId::from(id)).collect())
}

/// Assigns a deletion to the import that it undoes, in the transaction of the deletion.
pub async fn record_deletion(tx: &mut Tx, owner: UserId, id: ImportId, deletion: DeletionId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(ADD_DELETION).bind(owner.uuid()).bind(id.uuid()).bind(deletion.uuid());
        query.execute(conn).await?;
    });
    Ok(())
}

/// Assigns the deletion of a document to the import that it undoes, in the transaction of the deletion.
pub async fn record_document_deletion(
    tx: &mut Tx,
    owner: UserId,
    id: ImportId,
    (document, deletion): (DocumentId, DeletionId),
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(SET_DOCUMENT_DELETION).bind(owner.uuid()).bind(id.uuid()).bind(document.uuid());
        query.bind(deletion.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Returns the deletions that undid an import and can be restored, newest first.
pub async fn list_deletions(db: &Db, owner: UserId, id: ImportId) -> Result<Vec<DeletionId>, StoreError> {
    let ids: Vec<Uuid> =
        with_pool!(db, |pool| sqlx::query_scalar(DELETIONS).bind(owner.uuid()).bind(id.uuid()).fetch_all(pool).await?);
    Ok(ids.into_iter().map(DeletionId::from).collect())
}

/// Marks an ended import as undone; returns false if the owner has none.
pub async fn mark_undone(tx: &mut Tx, owner: UserId, id: ImportId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let marked = in_tx!(tx, |conn| {
        let query = sqlx::query(MARK_UNDONE).bind(owner.uuid()).bind(id.uuid()).bind(now);
        query.execute(conn).await?.rows_affected()
    });
    Ok(marked > 0)
}

/// Gives an undone import the state that it had before; returns false if the owner has none.
pub async fn mark_restored(tx: &mut Tx, owner: UserId, id: ImportId, state: ImportState) -> Result<bool, StoreError> {
    let marked = in_tx!(tx, |conn| {
        let query = sqlx::query(MARK_RESTORED).bind(owner.uuid()).bind(id.uuid()).bind(to_word(state));
        query.execute(conn).await?.rows_affected()
    });
    Ok(marked > 0)
}
