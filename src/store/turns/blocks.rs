//! Block rows. `content` is the block's tagged JSON as text, on both databases: JSONB would reorder the keys of tool
//! arguments and rewrite their numbers, and a reloaded reply must equal the live one byte for byte.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::deferred_write::insert_of_rows;
use crate::database::error::StoreError;
use crate::database::readable::{self, Damage, Lossy, Readable, RowReader};
use crate::database::rows::{to_json, to_word};
use crate::turns::events::fixed_chunks;
use crate::turns::span::{self, PathSpan};
use turnleaf_domain::blocks::block::{LAST_BLOCK_SEQ, chat_seq};
use turnleaf_domain::{Author, Block, BlockId, BlockState, ChatId, GenerationId, Turn, TurnId, UserId};

const TABLE: &str = "turn_blocks";
/// Rows of values follow.
const INSERT: &str = "INSERT INTO turn_blocks (id, turn_id, chat_id, seq, chat_seq, block_type, author, state, content, \
    parent_block_id, generation_id, metadata, created_at, updated_at) ";
/// The number of columns of [`INSERT`].
const COLUMNS: usize = 14;
/// Blocks are append-only: only these columns change once a block exists (`docs/reference/domain.md I6`).
const OR_UPDATE: &str = " ON CONFLICT (id) DO UPDATE SET state = excluded.state, content = excluded.content, \
    metadata = excluded.metadata, updated_at = excluded.updated_at";

sql! {
    OF_TURN = "SELECT id, turn_id, seq, chat_seq, author, state, content, parent_block_id, generation_id, metadata, \
        created_at FROM turn_blocks WHERE turn_id = $1 ORDER BY seq";
    /// By the turn and by its positions in the chat, because either value of a row may be damaged.
    PLACES = "SELECT id, seq, chat_seq, state FROM turn_blocks \
        WHERE turn_id = $1 OR (chat_id = $2 AND chat_seq BETWEEN $3 AND $4)";
    CLOSE_OPEN = "UPDATE turn_blocks SET state = $2, updated_at = $3 WHERE turn_id = $1 AND state = $4";
    RESULTS_OF = "SELECT COUNT(*) FROM turn_blocks b JOIN turns t ON t.id = b.turn_id \
        WHERE b.parent_block_id = $1 AND b.block_type = 'tool_result' AND t.deleted_at IS NULL";
    /// The condition of a path's spans and their order follow.
    ON_PATH = "SELECT b.id, b.turn_id, b.seq, b.chat_seq, b.author, b.state, b.content, b.parent_block_id, \
        b.generation_id, b.metadata, b.created_at FROM turns t CROSS JOIN chats c \
        JOIN turn_blocks b ON b.turn_id = t.id ";
    /// The condition of a path's spans follows. SQLite knows the length of a text without reading it.
    BYTES_ON_PATH = "SELECT t.depth, CAST(OCTET_LENGTH(b.content) AS BIGINT) FROM turns t \
        CROSS JOIN chats c JOIN turn_blocks b ON b.turn_id = t.id ";
    COUNT_ON_PATH = "SELECT COUNT(*) FROM turns t CROSS JOIN chats c JOIN turn_blocks b ON b.turn_id = t.id ";
}

/// A block to store, with its turn and chat.
#[derive(Debug, Clone, Copy)]
pub struct BlockUpsert<'a> {
    pub chat_id: ChatId,
    pub turn_id: TurnId,
    pub block: &'a Block,
}

pub(crate) struct BlockRow {
    id: Uuid,
    pub(crate) turn_id: Uuid,
    seq: i64,
    chat_seq: i64,
    author: Lossy<String>,
    state: Lossy<String>,
    content: Lossy<String>,
    parent_block_id: Lossy<Option<Uuid>>,
    generation_id: Lossy<Option<Uuid>>,
    metadata: Lossy<String>,
    created_at: Lossy<DateTime<Utc>>,
}
from_row!(BlockRow {
    id,
    turn_id,
    seq,
    chat_seq,
    author,
    state,
    content,
    parent_block_id,
    generation_id,
    metadata,
    created_at,
});

impl BlockRow {
    /// Returns the block as far as it can be read, with a placeholder for unreadable content. Unreadable values are
    /// recorded in `damages`.
    pub(crate) fn into_block(self, damages: &mut Vec<Damage>) -> Block {
        let mut row = RowReader { table: TABLE, id: self.id, damages };
        let seq = u32::try_from(self.seq).unwrap_or_else(|error| {
            row.note("seq", error);
            u32::MAX
        });
        let author = row.value("author", self.author).and_then(|word| row.word("author", word));
        let state = row.value("state", self.state).and_then(|word| row.word("state", word));
        let before = row.damages.len();
        let stored = row.value("content", self.content);
        let content = stored.as_deref().and_then(|text| row.json("content", text));
        let content = content.unwrap_or_else(|| readable::placeholder(&row.damages[before..], stored.as_deref()));
        Block {
            id: self.id.into(),
            seq,
            chat_seq: self.chat_seq,
            author: author.unwrap_or(Author::System),
            state: state.unwrap_or(BlockState::Failed),
            content,
            parent_block_id: row.value("parent_block_id", self.parent_block_id).flatten().map(BlockId::from),
            generation_id: row.value("generation_id", self.generation_id).flatten().map(GenerationId::from),
            block_metadata: row
                .value("metadata", self.metadata)
                .and_then(|text| row.json("metadata", &text))
                .unwrap_or_default(),
            created_at: row.moment("created_at", self.created_at),
        }
    }
}

/// Upserts blocks: new ones are added, known ones get their new state, content and metadata. Of several states of one
/// block the last is stored.
pub async fn upsert(tx: &mut Tx, blocks: &[BlockUpsert<'_>], now: DateTime<Utc>) -> Result<(), StoreError> {
    defer_upsert(tx, blocks, now).await?;
    tx.flush().await
}

/// Works like [`upsert`], as deferred writes.
pub async fn defer_upsert(tx: &mut Tx, blocks: &[BlockUpsert<'_>], now: DateTime<Utc>) -> Result<(), StoreError> {
    // One statement must not touch a row twice.
    let last: HashMap<BlockId, usize> = blocks.iter().enumerate().map(|(at, of)| (of.block.id, at)).collect();
    let mut rows = Vec::with_capacity(last.len());
    for (at, of) in blocks.iter().enumerate() {
        if last.get(&of.block.id) == Some(&at) {
            let content = to_json(&of.block.content, "turn_blocks", "content")?;
            let metadata = to_json(&of.block.block_metadata, "turn_blocks", "metadata")?;
            rows.push((*of, content, metadata));
        }
    }
    for chunk in fixed_chunks(&rows) {
        let mut insert = tx.defer(insert_of_rows(INSERT, chunk.len(), COLUMNS, OR_UPDATE));
        for (of, content, metadata) in chunk {
            let block = of.block;
            insert = insert
                .bind(block.id.uuid())
                .bind(of.turn_id.uuid())
                .bind(of.chat_id.uuid())
                .bind(i64::from(block.seq))
                .bind(block.chat_seq)
                .bind(block.content.block_type().to_owned())
                .bind(to_word(block.author))
                .bind(to_word(block.state))
                .bind(content.clone())
                .bind(block.parent_block_id.map(BlockId::uuid))
                .bind(block.generation_id.map(GenerationId::uuid))
                .bind(metadata.clone())
                .bind(block.created_at)
                .bind(now);
        }
        insert.run().await?;
    }
    Ok(())
}

/// The position of a block's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBlockPosition {
    /// `None` if it cannot be read.
    pub id: Option<BlockId>,
    /// `None` if it is not a valid position.
    pub seq: Option<u32>,
    /// The position by `chat_seq`, which differs from `seq` if one of them is damaged.
    pub seq_in_chat: Option<u32>,
    /// True if its content is final.
    pub is_finished: bool,
}

/// Returns the rows of a turn's blocks, readable or not: they determine where another block can be stored, and which
/// must not change.
pub async fn stored_positions(tx: &mut Tx, turn: &Turn) -> Result<Vec<StoredBlockPosition>, StoreError> {
    type BlockPositionRow = (Lossy<Uuid>, Lossy<i64>, Lossy<i64>, Lossy<String>);
    let rows: Vec<BlockPositionRow> = in_tx!(tx, |conn| {
        let query = sqlx::query_as(PLACES).bind(turn.id.uuid()).bind(turn.chat_id.uuid());
        let query = query.bind(chat_seq(turn.ord, 0)).bind(chat_seq(turn.ord, LAST_BLOCK_SEQ));
        query.fetch_all(conn).await?
    });
    let first = chat_seq(turn.ord, 0);
    let seq_of = |seq: i64| u32::try_from(seq).ok().filter(|seq| *seq < LAST_BLOCK_SEQ);
    let place = |(id, seq, of_chat, state): BlockPositionRow| StoredBlockPosition {
        id: id.into_result().ok().map(BlockId::from),
        seq: seq.into_result().ok().and_then(seq_of),
        seq_in_chat: of_chat.into_result().ok().and_then(|of_chat| seq_of(of_chat.checked_sub(first)?)),
        is_finished: state.into_result().is_ok_and(|state| state != to_word(BlockState::Open)),
    };
    Ok(rows.into_iter().map(place).collect())
}

/// Closes the open blocks of a finished turn without reading them.
pub async fn close_open_blocks(tx: &mut Tx, turn: TurnId, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(CLOSE_OPEN).bind(turn.uuid()).bind(to_word(BlockState::Aborted)).bind(now);
        query.bind(to_word(BlockState::Open)).execute(conn).await.map(drop)
    })?;
    Ok(())
}

/// Returns the number of results of a call in turns that are not deleted. The caller has locked the chat.
pub async fn count_results(tx: &mut Tx, call: BlockId) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(RESULTS_OF).bind(call.uuid()).fetch_one(conn).await?))
}

/// Returns the stored blocks of a turn, in order, and records unreadable values. While the turn runs they lag behind
/// the journal.
pub(crate) async fn list_of_turn(db: &Db, turn: TurnId, damages: &mut Vec<Damage>) -> Result<Vec<Block>, StoreError> {
    let rows: Vec<Readable<BlockRow>> =
        with_pool!(db, |pool| sqlx::query_as(OF_TURN).bind(turn.uuid()).fetch_all(pool).await?);
    Ok(readable::keep_readable_of_turn(rows, TABLE, turn, damages)
        .into_iter()
        .map(|row| row.into_block(damages))
        .collect())
}

/// Returns the stored blocks of the turns in these spans of a path, in order, with their turns.
pub(crate) async fn list_on_path(
    tx: &mut Tx,
    owner: UserId,
    spans: &[PathSpan],
) -> Result<Vec<(TurnId, Block)>, StoreError> {
    slice_on_path(tx, owner, spans, 0, i64::MAX).await
}

/// Returns the number of stored blocks of the turns in these spans.
pub async fn count_on_path(tx: &mut Tx, owner: UserId, spans: &[PathSpan]) -> Result<i64, StoreError> {
    let mut count = 0;
    for portion in span::span_portions(spans) {
        count += count_portion(tx, owner, portion).await?;
    }
    Ok(count)
}

/// Returns the bytes of stored blocks of the turns in these spans, by depth; turns without blocks are missing.
pub async fn bytes_on_path(tx: &mut Tx, owner: UserId, spans: &[PathSpan]) -> Result<HashMap<i64, u64>, StoreError> {
    let mut bytes = HashMap::new();
    for portion in span::span_portions(spans) {
        let rows: Vec<(i64, i64)> = in_tx!(&mut *tx, |conn| {
            let mut query = QueryBuilder::new(BYTES_ON_PATH);
            span::push_span_condition(&mut query, owner, portion);
            query.build_query_as().persistent(portion.len() == 1).fetch_all(conn).await?
        });
        for (depth, held) in rows {
            *bytes.entry(depth).or_default() += held.unsigned_abs();
        }
    }
    Ok(bytes)
}

/// Works like [`list_on_path`], but skips `skip` blocks and returns at most `limit`.
pub async fn slice_on_path(
    tx: &mut Tx,
    owner: UserId,
    spans: &[PathSpan],
    skip: i64,
    limit: i64,
) -> Result<Vec<(TurnId, Block)>, StoreError> {
    let (mut skip, mut blocks) = (skip, Vec::new());
    let is_one = spans.len() <= 1;
    for portion in span::span_portions(spans) {
        let left = limit - i64::try_from(blocks.len()).unwrap_or(i64::MAX);
        if left <= 0 {
            break;
        }
        let rows: Vec<Readable<BlockRow>> = in_tx!(&mut *tx, |conn| {
            let mut query = QueryBuilder::new(ON_PATH);
            span::push_span_condition(&mut query, owner, portion);
            query.push(" ORDER BY t.depth, b.seq LIMIT ").push_bind(left).push(" OFFSET ").push_bind(skip);
            query.build_query_as().persistent(is_one).fetch_all(conn).await?
        });
        if skip > 0 {
            skip = if rows.is_empty() { skip - count_portion(tx, owner, portion).await? } else { 0 };
        }
        let mut damages = Vec::new();
        for row in readable::keep_readable(rows, TABLE) {
            blocks.push((row.turn_id.into(), row.into_block(&mut damages)));
        }
        readable::log_damages(&damages);
    }
    Ok(blocks)
}

async fn count_portion(tx: &mut Tx, owner: UserId, portion: &[PathSpan]) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        let mut query = QueryBuilder::new(COUNT_ON_PATH);
        span::push_span_condition(&mut query, owner, portion);
        query.build_query_scalar().persistent(portion.len() == 1).fetch_one(conn).await?
    }))
}
