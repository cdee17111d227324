//! The blocks of a turn on its way to a model: of a long path there are thousands, so they are shared with the turn that was
//! read, and no request has them copied.

use std::ops::Deref;
use std::sync::Arc;

use turnleaf_domain::{Block, Turn};

/// The blocks that are sent of a turn.
#[derive(Debug, Clone)]
pub enum TurnBlocks {
    /// All of its blocks.
    Turn(Arc<Turn>),
    /// Others.
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
