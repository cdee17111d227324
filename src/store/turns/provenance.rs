//! Provenance of a path: its content besides the model's own words, which is tool results, provider blocks,
//! attachments and text of people. It is read from the rows, so that decisions based on it survive a restart.

use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable;
use crate::database::rows::inconsistent;
use crate::turns::blocks::BlockRow;
use turnleaf_domain::{Block, Role, TurnId, UserId, limits};

sql! {
    /// `CROSS` makes SQLite start with the path; otherwise it would read every block in the database.
    PROVENANCE = concat!(up_from_leaf!(), "SELECT t.role, b.id, b.turn_id, b.seq, b.chat_seq, b.author, b.state, \
        b.content, b.parent_block_id, b.generation_id, b.metadata, b.created_at \
        FROM path CROSS JOIN turns t CROSS JOIN turn_blocks b WHERE t.id = path.id AND b.turn_id = path.id \
        AND (t.role = 'user' OR b.block_type NOT IN ('text', 'thinking', 'thinking_signature')) \
        ORDER BY path.step DESC, b.seq");
    TURNS = concat!(up_from_leaf!(), "SELECT id FROM path");
}

struct ProvenanceRow {
    role: String,
    block: BlockRow,
}
from_row!(ProvenanceRow { role, block: flatten });

/// A block with its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct PathBlock {
    pub turn: TurnId,
    pub role: Role,
    pub block: Block,
}

/// Returns the turns of a path, from its leaf on.
pub async fn path_turns(db: &Db, owner: UserId, leaf: TurnId) -> Result<Vec<TurnId>, StoreError> {
    let turns: Vec<Uuid> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(TURNS).bind(owner.uuid()).bind(leaf.uuid());
        query.bind(limits::TURNS_PER_CHAT).fetch_all(pool).await?
    });
    Ok(turns.into_iter().map(TurnId::from).collect())
}

/// Returns the blocks of the path to `leaf` that are not text or reasoning of the model, in path order. Empty if the
/// owner has no such turn.
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
