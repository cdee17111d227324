//! The blocks of a history turn. They are shared with the turn that was read, because a long path has thousands of
//! them and requests must not copy them.

use std::ops::Deref;
use std::sync::Arc;

use turnleaf_domain::{Block, Turn};

/// The blocks of a turn in a request.
#[derive(Debug, Clone)]
pub enum TurnBlocks {
    /// All blocks of a turn.
    Turn(Arc<Turn>),
    /// A selection of blocks.
    List(Arc<[Block]>),
}

impl Deref for TurnBlocks {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        match self {
            Self::Turn(turn) => &turn.blocks,
            Self::List(blocks) => blocks,
        }
    }
}

impl From<Arc<Turn>> for TurnBlocks {
    fn from(turn: Arc<Turn>) -> Self {
        Self::Turn(turn)
    }
}

impl From<Vec<Block>> for TurnBlocks {
    fn from(blocks: Vec<Block>) -> Self {
        Self::List(blocks.into())
    }
}

impl FromIterator<Block> for TurnBlocks {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        Self::List(blocks.into_iter().collect())
    }
}
