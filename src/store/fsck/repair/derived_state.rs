//! Updates the derived state of a repaired row, in the same transaction: the text and the types of a turn, its
//! journal, the search index, the quota. So an interrupted repair leaves nothing that a later one does not find.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::journal::{self, JournalRebuild};
use super::outcome::ValueRepair;
use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, WHOLE_ROW, is_placeholder, keep_readable_of_turn, ok_or_log};
use crate::database::rows::content_text_column;
use crate::search;
use crate::turns::blocks::BlockRow;
use crate::usage::storage;
use turnleaf_domain::Block;
use turnleaf_domain::blocks::derived_text::content_text;

sql! {
    IS_OVER = "SELECT completed_at IS NOT NULL FROM turns WHERE id = $1";
    BLOCKS = "SELECT id, turn_id, seq, chat_seq, author, state, content, parent_block_id, generation_id, metadata, \
        created_at FROM turn_blocks WHERE turn_id = $1 ORDER BY seq";
    SET_TEXT = "UPDATE turns SET content_text = $2 WHERE id = $1 AND content_text <> $2";
    SET_TYPE = "UPDATE turn_blocks SET block_type = $2 WHERE id = $1 AND block_type <> $2";
}

/// Returns whether a turn is finished; none if it does not exist.
pub(super) async fn is_over(tx: &mut Tx, turn: Uuid) -> Result<Option<bool>, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(IS_OVER).bind(turn).fetch_optional(conn).await?))
}

/// Updates state that is derived from the rows of a turn, once all of them are readable. `is_text_lost` says that the
/// turn's own text was unreadable: then the text of its readable blocks replaces it, even if incomplete.
pub(super) async fn update_turn(
    db: &Db,
    tx: &mut Tx,
    id: Uuid,
    is_text_lost: bool,
    now: DateTime<Utc>,
) -> Result<Option<ValueRepair>, StoreError> {
    if is_over(tx, id).await? != Some(true) {
        return Ok(None);
    }
    let rows: Vec<Readable<BlockRow>> =
        in_tx!(&mut *tx, |conn| sqlx::query_as(BLOCKS).bind(id).fetch_all(conn).await?);
    let mut damages = Vec::new();
    let rows = keep_readable_of_turn(rows, "turn_blocks", id.into(), &mut damages);
    let blocks: Vec<Block> = rows.into_iter().map(|row| row.into_block(&mut damages)).collect();
    let text = content_text_column(&content_text(blocks.iter().map(|block| &block.content)));
    // The text of an unreadable block may exist only here, unless that is in quarantine.
    let is_whole = damages.is_empty() && !blocks.iter().any(|block| is_placeholder(&block.content));
    in_tx!(&mut *tx, |conn| {
        if is_whole || is_text_lost {
            sqlx::query(SET_TEXT).bind(id).bind(text).execute(&mut *conn).await?;
        }
        for block in &blocks {
            // The type of an unreadable block is set when its content is repaired.
            let is_read = damages.iter().all(|damage| damage.column != "content" || damage.id != block.id.to_string());
            if is_read {
                let query = sqlx::query(SET_TYPE).bind(block.id.uuid()).bind(block.content.block_type());
                query.execute(&mut *conn).await?;
            }
        }
    });
    ok_or_log(search::queue::put_turn(tx, id.into()).await, "turns")?;
    storage::invalidate_turn_size(tx, id.into()).await?;
    damages.retain(|damage| damage.column != WHOLE_ROW);
    if !damages.is_empty() {
        // The journal may still rebuild values that are repaired next.
        return Ok(None);
    }
    let reason = match journal::rebuild(tx, id).await? {
        JournalRebuild::NoJournal | JournalRebuild::AroundUnreadableLine(_) => return Ok(None),
        JournalRebuild::Turn(turn) if is_same(&turn.blocks, &blocks) => return Ok(None),
        JournalRebuild::Turn(_) => "it no longer matches what is stored",
        JournalRebuild::AroundGaps(_) => "lines of the same journal are missing",
    };
    journal::quarantine_lines(db, tx, id, i64::MIN, reason, now).await
}

fn is_same(replayed: &[Block], stored: &[Block]) -> bool {
    let json = |block: &Block| serde_json::to_string(block).ok();
    replayed.len() == stored.len() && replayed.iter().zip(stored).all(|(one, other)| json(one) == json(other))
}

/// Reindexes a chat or a document whose row was repaired.
pub(super) async fn reindex(tx: &mut Tx, table: &'static str, id: Uuid) -> Result<(), StoreError> {
    let indexed = match table {
        "chats" => search::queue::put_chat_title(tx, id.into()).await,
        "documents" | "document_versions" => search::queue::put_document(tx, id.into()).await,
        _ => return Ok(()),
    };
    ok_or_log(indexed, table).map(drop)
}
