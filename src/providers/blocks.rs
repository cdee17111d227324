//! The blocks of a turn on its way to a model: of a long path there are thousands, so they are shared with the turn that was
//! read, and no request has them copied.

use std::ops::Deref;
use std::sync::Arc;

use turnleaf_domain::{Block, Turn};

/// The blocks that are sent of a turn.
#[derive(Debug, Clone)]
pub enum Blocks {
    /// All of its blocks.
    Of(Arc<Turn>),
    /// Others.
    Own(Arc<[Block]>),
}

impl Deref for Blocks {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        match self {
            Self::Of(turn) => &turn.blocks,
            Self::Own(blocks) => blocks,
        }
    }
}

impl From<Arc<Turn>> for Blocks {
    fn from(turn: Arc<Turn>) -> Self {
        Self::Of(turn)
    }
}

impl From<Vec<Block>> for Blocks {
    fn from(blocks: Vec<Block>) -> Self {
        Self::Own(blocks.into())
    }
}

impl FromIterator<Block> for Blocks {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        Self::Own(blocks.into_iter().collect())
    }
}
