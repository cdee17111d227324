//! Copies of paths. Rows are copied inside the database, so that their text never passes through this process, except
//! for signatures. The caller supplies the new ids. A copied generation keeps its raw bytes, from which the next
//! request is built, and loses its request, its token counts and its cost, because it was not made again.

use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::rows::{from_json, inconsistent, to_unsigned};
use crate::search;
use crate::turns::events::fixed_chunks;
use turnleaf_domain::{
    BlockId, BranchId, ChatId, Content, ExchangeId, GenerationId, Role, TurnId, TurnStatus, UserId, limits,
};

sql! {
    TURNS = concat!(up_from_leaf!(), "SELECT t.id, t.branch_id, t.exchange_id, t.role, t.status \
        FROM path JOIN turns t ON t.id = path.id ORDER BY path.step DESC");
    /// The content of a signature contains the id of its block.
    BLOCKS = concat!(up_from_leaf!(), "SELECT b.id, b.turn_id, b.seq, b.parent_block_id, b.generation_id, \
        CASE WHEN b.block_type = 'thinking_signature' THEN b.content END FROM path JOIN turn_blocks b ON b.turn_id = path.id ORDER BY path.step DESC, b.seq");
    GENERATIONS = concat!(up_from_leaf!(), "SELECT g.id, g.turn_id \
        FROM path JOIN generations g ON g.turn_id = path.id ORDER BY path.step DESC, g.step");
    EXCHANGES = concat!(up_from_leaf!(), "SELECT DISTINCT e.id, e.user_turn_id \
        FROM path JOIN turns t ON t.id = path.id JOIN exchanges e ON e.id = t.exchange_id");
    COUNT_ON = "UPDATE chats SET next_ord = $2, rev = $2 WHERE id = $1";
}

const OF_EXCHANGES: &str = "WITH m (old_id, new_id, branch_id, user_turn_id) AS (";
const COPY_EXCHANGES: &str = ") INSERT INTO exchanges (id, owner_id, chat_id, branch_id, user_turn_id, kind, \
    is_thinking_mode, params, created_at, not_sent) \
    SELECT m.new_id, e.owner_id, ";
const FROM_EXCHANGES: &str = ", m.branch_id, m.user_turn_id, e.kind, e.is_thinking_mode, e.params, e.created_at, \
    e.not_sent FROM m JOIN exchanges e ON e.id = m.old_id";
const OF_TURNS: &str = "WITH m (old_id, new_id, prev_id, branch_id, exchange_id, ord) AS (";
const COPY_TURNS: &str = ") INSERT INTO turns (id, chat_id, ord, depth, branch_id, exchange_id, prev_turn_id, role, \
    status, provider_used, model_used, context_tokens, content_text, error, last_event_seq, created_at, started_at, \
    completed_at) SELECT m.new_id, ";
const FROM_TURNS: &str = ", m.ord, m.ord - 1, m.branch_id, m.exchange_id, m.prev_id, t.role, t.status, \
    t.provider_used, t.model_used, t.context_tokens, t.content_text, t.error, t.last_event_seq, t.created_at, \
    t.started_at, t.completed_at FROM m JOIN turns t ON t.id = m.old_id";
const OF_GENERATIONS: &str = "WITH m (old_id, new_id, turn_id) AS (";
const COPY_GENERATIONS: &str = ") INSERT INTO generations (id, turn_id, step, provider, model_requested, \
    model_returned, raw_response, raw_sha256, raw_bytes, raw_kind, raw_complete, api, \
    status, stop_reason, error, first_token_at, started_at, ended_at, is_copy) \
    SELECT m.new_id, m.turn_id, g.step, g.provider, g.model_requested, g.model_returned";
const FROM_GENERATIONS: &str = ", g.raw_response, g.raw_sha256, g.raw_bytes, g.raw_kind, \
    g.raw_complete, g.api, g.status, g.stop_reason, g.error, g.first_token_at, g.started_at, g.ended_at, ";
const END_GENERATIONS: &str = " FROM m JOIN generations g ON g.id = m.old_id";
/// The requests of copied calls stay with the original chat.
const COPY_REQUESTS: &str = ") INSERT INTO generation_requests (generation_id, body, manifest) SELECT m.new_id, ";
const OF_BLOCKS: &str = "WITH m (old_id, new_id, turn_id, parent_id, generation_id, chat_seq, old_for, new_for) AS (";
const COPY_BLOCKS: &str = ") INSERT INTO turn_blocks (id, turn_id, chat_id, seq, chat_seq, block_type, author, state, \
    content, parent_block_id, generation_id, metadata, created_at, updated_at) \
    SELECT m.new_id, m.turn_id, ";
const FROM_BLOCKS: &str = ", b.seq, m.chat_seq, b.block_type, b.author, b.state, \
    COALESCE(REPLACE(b.content, m.old_for, m.new_for), b.content), m.parent_id, m.generation_id, b.metadata, b.created_at, b.updated_at FROM m JOIN turn_blocks b ON b.id = m.old_id";

const OF_NAMES: &str = "WITH m (old_id, new_id) AS (";
const COPY_BLOBS: &str = ") INSERT INTO block_blobs (block_id, sha256) SELECT m.new_id, r.sha256 FROM m \
    JOIN block_blobs r ON r.block_id = m.old_id";
const COPY_DOCUMENTS: &str = ") INSERT INTO block_documents (block_id, document_id, version_timestamp) \
    SELECT m.new_id, r.document_id, r.version_timestamp FROM m JOIN block_documents r ON r.block_id = m.old_id";

/// A path without its text, root first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSkeleton {
    pub turns: Vec<BareTurn>,
    pub blocks: Vec<BareBlock>,
    pub generations: Vec<(GenerationId, TurnId)>,
    /// Exchanges with their user turn, which may be missing.
    pub exchanges: Vec<(ExchangeId, Option<TurnId>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareTurn {
    pub id: TurnId,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub role: Role,
    pub status: TurnStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareBlock {
    pub id: BlockId,
    pub turn_id: TurnId,
    pub seq: u64,
    pub parent_block_id: Option<BlockId>,
    pub generation_id: Option<GenerationId>,
    /// The block to which a signature belongs.
    pub attaches_to: Option<BlockId>,
}

/// The copies of all rows, in the order of the path.
#[derive(Debug, Clone, Default)]
pub struct CopyPlan {
    pub exchanges: Vec<CopiedExchange>,
    /// The n-th turn gets position n in the chat, from 1: the copy is one chain.
    pub turns: Vec<CopiedTurn>,
    /// Old id, new id, new turn.
    pub generations: Vec<(GenerationId, GenerationId, TurnId)>,
    pub blocks: Vec<CopiedBlock>,
}

#[derive(Debug, Clone, Copy)]
pub struct CopiedExchange {
    pub old: ExchangeId,
    pub new: ExchangeId,
    pub branch_id: BranchId,
    pub user_turn_id: Option<TurnId>,
}

#[derive(Debug, Clone, Copy)]
pub struct CopiedTurn {
    pub old: TurnId,
    pub new: TurnId,
    pub prev: Option<TurnId>,
    pub branch_id: BranchId,
    pub exchange_id: ExchangeId,
    pub ord: i64,
}

#[derive(Debug, Clone, Copy)]
pub struct CopiedBlock {
    pub old: BlockId,
    pub new: BlockId,
    pub turn_id: TurnId,
    pub parent_block_id: Option<BlockId>,
    pub generation_id: Option<GenerationId>,
    pub chat_seq: i64,
    /// Old and new id of the block to which a signature belongs.
    pub attaches_to: Option<(BlockId, BlockId)>,
}

struct BareTurnRow {
    id: Uuid,
    branch_id: Uuid,
    exchange_id: Uuid,
    role: String,
    status: String,
}
from_row!(BareTurnRow { id, branch_id, exchange_id, role, status });

impl BareTurnRow {
    fn into_turn(self) -> Result<BareTurn, StoreError> {
        let role = Role::parse(&self.role).ok_or_else(|| inconsistent("turns", "role", self.id, &self.role))?;
        let status =
            TurnStatus::parse(&self.status).ok_or_else(|| inconsistent("turns", "status", self.id, &self.status))?;
        let (branch_id, exchange_id) = (self.branch_id.into(), self.exchange_id.into());
        Ok(BareTurn { id: self.id.into(), branch_id, exchange_id, role, status })
    }
}

/// Returns the path that ends at this leaf, without its text. Empty if the owner has no such turn.
pub async fn path_skeleton(db: &Db, owner: UserId, leaf: TurnId) -> Result<PathSkeleton, StoreError> {
    macro_rules! fetch_rows {
        ($pool:expr, $text:expr) => {
            sqlx::query_as($text)
                .bind(owner.uuid())
                .bind(leaf.uuid())
                .bind(limits::TURNS_PER_CHAT)
                .fetch_all($pool)
                .await?
        };
    }
    type BareBlockRow = (Uuid, Uuid, i64, Option<Uuid>, Option<Uuid>, Option<String>);
    with_pool!(db, |pool| {
        let turns: Vec<BareTurnRow> = fetch_rows!(pool, TURNS);
        let blocks: Vec<BareBlockRow> = fetch_rows!(pool, BLOCKS);
        let generations: Vec<(Uuid, Uuid)> = fetch_rows!(pool, GENERATIONS);
        let exchanges: Vec<(Uuid, Option<Uuid>)> = fetch_rows!(pool, EXCHANGES);
        let block = |(id, turn, seq, parent, generation, signature): BareBlockRow| {
            let content = signature.map(|content| from_json(&content, "turn_blocks", "content", id)).transpose()?;
            Ok::<_, StoreError>(BareBlock {
                id: id.into(),
                turn_id: turn.into(),
                seq: to_unsigned(seq),
                parent_block_id: parent.map(BlockId::from),
                generation_id: generation.map(GenerationId::from),
                attaches_to: match content {
                    Some(Content::ThinkingSignature { attaches_to, .. }) => attaches_to,
                    _ => None,
                },
            })
        };
        Ok(PathSkeleton {
            turns: turns.into_iter().map(BareTurnRow::into_turn).collect::<Result<_, _>>()?,
            blocks: blocks.into_iter().map(block).collect::<Result<_, _>>()?,
            generations: generations.into_iter().map(|(id, turn)| (id.into(), turn.into())).collect(),
            exchanges: exchanges.into_iter().map(|(id, turn)| (id.into(), turn.map(TurnId::from))).collect(),
        })
    })
}

/// Copies rows that the caller has found by their owner into a chat of the same owner, which already has its branches
/// but no turns.
pub async fn copy(tx: &mut Tx, chat: ChatId, copies: &CopyPlan) -> Result<(), StoreError> {
    let chat = chat.uuid();
    let next_ord = i64::try_from(copies.turns.len()).unwrap_or(i64::MAX).saturating_add(1);
    in_tx!(&mut *tx, |conn| {
        for some in fixed_chunks(&copies.exchanges) {
            let mut query = QueryBuilder::new(OF_EXCHANGES);
            query.push_values(some, |mut row, copy| {
                row.push_bind(copy.old.uuid()).push_bind(copy.new.uuid()).push_bind(copy.branch_id.uuid());
                row.push_bind(copy.user_turn_id.map(TurnId::uuid));
            });
            query.push(COPY_EXCHANGES).push_bind(chat).push(FROM_EXCHANGES).build().execute(&mut *conn).await?;
        }
        for some in fixed_chunks(&copies.turns) {
            let mut query = QueryBuilder::new(OF_TURNS);
            query.push_values(some, |mut row, copy| {
                row.push_bind(copy.old.uuid()).push_bind(copy.new.uuid()).push_bind(copy.prev.map(TurnId::uuid));
                row.push_bind(copy.branch_id.uuid()).push_bind(copy.exchange_id.uuid()).push_bind(copy.ord);
            });
            query.push(COPY_TURNS).push_bind(chat).push(FROM_TURNS).build().execute(&mut *conn).await?;
        }
        for some in fixed_chunks(&copies.generations) {
            let mut query = QueryBuilder::new(OF_GENERATIONS);
            query.push_values(some, |mut row, (old, new, turn)| {
                row.push_bind(old.uuid()).push_bind(new.uuid()).push_bind(turn.uuid());
            });
            query.push(COPY_GENERATIONS).push(FROM_GENERATIONS).push_bind(true).push(END_GENERATIONS);
            query.build().execute(&mut *conn).await?;
            let mut query = QueryBuilder::new(OF_NAMES);
            query.push_values(some, |mut row, (old, new, _)| {
                row.push_bind(old.uuid()).push_bind(new.uuid());
            });
            query.push(COPY_REQUESTS).push_bind(Vec::<u8>::new()).push(", ");
            query.push_bind(br#"{"turns":[],"not_sent":[]}"#.to_vec());
            query.push(" FROM m").build().execute(&mut *conn).await?;
        }
        for some in fixed_chunks(&copies.blocks) {
            let mut query = QueryBuilder::new(OF_BLOCKS);
            query.push_values(some, |mut row, copy| {
                row.push_bind(copy.old.uuid()).push_bind(copy.new.uuid()).push_bind(copy.turn_id.uuid());
                row.push_bind(copy.parent_block_id.map(BlockId::uuid));
                row.push_bind(copy.generation_id.map(GenerationId::uuid)).push_bind(copy.chat_seq);
                let named = |id: BlockId| format!("\"for\":\"{id}\"");
                row.push_bind(copy.attaches_to.map(|(old, _)| named(old)));
                row.push_bind(copy.attaches_to.map(|(_, new)| named(new)));
            });
            query.push(COPY_BLOCKS).push_bind(chat).push(FROM_BLOCKS).build().execute(&mut *conn).await?;
            for named in [COPY_BLOBS, COPY_DOCUMENTS] {
                let mut query = QueryBuilder::new(OF_NAMES);
                query.push_values(some, |mut row, copy| {
                    row.push_bind(copy.old.uuid()).push_bind(copy.new.uuid());
                });
                query.push(named).build().execute(&mut *conn).await?;
            }
        }
        sqlx::query(COUNT_ON).bind(chat).bind(next_ord).execute(&mut *conn).await?;
    });
    for turn in &copies.turns {
        search::queue::put_turn(tx, turn.new).await?;
    }
    Ok(())
}
