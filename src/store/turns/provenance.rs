//! What a path is made of besides the model's own words: results of tools, pieces of providers, what people attached and
//! what they wrote. Read from the rows, so that a restart changes nothing of what follows from it.

use uuid::Uuid;

use crate::db::Db;
use crate::error::StoreError;
use crate::readable;
use crate::rows::inconsistent;
use crate::turn_blocks::BlockRow;
use turnleaf_domain::{Block, Role, TurnId, UserId, limits};

sql! {
    /// `CROSS` says to SQLite where to begin: with the path. By itself it reads every block that there is.
    PROVENANCE = concat!(up_from_leaf!(), "SELECT t.role, b.id, b.turn_id, b.seq, b.chat_seq, b.author, b.state, \
        b.content, b.parent_block_id, b.generation_id, b.metadata, b.created_at \
        FROM path CROSS JOIN turns t CROSS JOIN turn_blocks b WHERE t.id = path.id AND b.turn_id = path.id \
        AND (t.role = 'user' OR b.block_type NOT IN ('text', 'thinking', 'thinking_signature')) \
        ORDER BY path.step DESC, b.seq");
    TURNS = concat!(up_from_leaf!(), "SELECT id FROM path");
}

#[derive(sqlx::FromRow)]
struct ProvenanceRow {
    role: String,
    #[sqlx(flatten)]
    block: BlockRow,
}

/// A block with the turn that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct PathBlock {
    pub turn: TurnId,
    pub role: Role,
    pub block: Block,
}

/// The turns of a path, from its leaf.
pub async fn path_turns(db: &Db, owner: UserId, leaf: TurnId) -> Result<Vec<TurnId>, StoreError> {
    let turns: Vec<Uuid> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(TURNS).bind(owner.uuid()).bind(leaf.uuid());
        query.bind(limits::TURNS_PER_CHAT).fetch_all(pool).await?
    });
    Ok(turns.into_iter().map(TurnId::from).collect())
}

/// The blocks of the path to `leaf` that the model did not write as text or reasoning, in the order of the path. Empty when
/// the owner has no such turn.
pub async fn provenance(db: &Db, owner: UserId, leaf: TurnId) -> Result<Vec<PathBlock>, StoreError> {
    let rows: Vec<ProvenanceRow> = with_pool!(db, |pool| {
        let query = sqlx::query_as(PROVENANCE).bind(owner.uuid()).bind(leaf.uuid());
        query.bind(limits::TURNS_PER_CHAT).fetch_all(pool).await?
    });
    let mut damages = Vec::new();
    let block = |row: ProvenanceRow| {
        let role = Role::parse(&row.role).ok_or_else(|| inconsistent("turns", "role", leaf, &row.role))?;
        Ok(PathBlock { turn: row.block.turn_id.into(), role, block: row.block.into_block(&mut damages) })
    };
    let blocks = rows.into_iter().map(block).collect();
    readable::log_damages(&damages);
    blocks
}
