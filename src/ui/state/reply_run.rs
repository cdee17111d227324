//! Runs of replies with no message between them. They are rendered as the one reply that they are for the reader:
//! reasoning at the end of one and at the beginning of the next is one reasoning block, by the function that also
//! groups paths (docs/reference/domain.md 4.6). The run is rendered at its first reply.

use leptos::prelude::*;

use super::{ChatState, TurnState, is_reply};
use crate::domain::blocks::segment::{RenderedItem, segments_by_mode};
use crate::domain::{Block, BlockId};

/// The item of a reply that is growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowingItem {
    /// The key of that item.
    pub key: BlockId,
    pub is_reasoning: bool,
}

impl ChatState {
    /// Returns the run of replies around this one, itself included, in order.
    fn reply_run(self, turn: &TurnState) -> Vec<TurnState> {
        let path = self.turns();
        let mut runs = path.chunk_by(|before, turn| is_reply(before.role()) && is_reply(turn.role()));
        let run = runs.find(|run| run.iter().any(|known| known.id() == turn.id()));
        run.map_or_else(|| vec![turn.clone()], <[TurnState]>::to_vec)
    }

    /// Returns the items that are rendered at this reply. Their indices count the blocks of the whole run, one reply
    /// after the other: see [`ChatState::block_at`].
    pub fn run_items(self, turn: &TurnState) -> Vec<RenderedItem> {
        let run = self.reply_run(turn);
        if run.len() < 2 {
            return turn.items();
        }
        let (mut blocks, mut modes, mut own) = (Vec::<Block>::new(), Vec::new(), 0..0);
        for reply in run {
            let start = blocks.len();
            reply.with(|view| {
                blocks.extend_from_slice(&view.turn.blocks);
                modes.resize(blocks.len(), view.is_thinking_mode);
            });
            if reply.id() == turn.id() {
                own = start..blocks.len();
            }
        }
        let mut items = segments_by_mode(&blocks, &|at| modes[at]);
        items.retain(|item| blocks[own.clone()].iter().any(|block| block.id == item.key()));
        items
    }

    /// Returns the newest item of its run while that is running. Its blocks may be done: until something else
    /// follows, the model may continue it. Every part of a reply needs it, so it is computed once for all of them.
    pub fn growing_item(self, turn: &TurnState) -> Option<GrowingItem> {
        if !self.is_run_running(turn) {
            return None;
        }
        let newest = self.reply_run(turn).iter().rev().find_map(|reply| self.run_items(reply).pop())?;
        Some(GrowingItem { key: newest.key(), is_reasoning: matches!(newest, RenderedItem::Reasoning(_)) })
    }

    /// Returns the block at an index of [`ChatState::run_items`], and the reply that it belongs to.
    pub fn block_at(self, turn: &TurnState, at: usize) -> Option<(TurnState, Block)> {
        self.read_at(turn, at, Block::clone)
    }

    /// Like [`ChatState::block_at`], with what `read` returns for the block.
    pub fn read_at<T>(self, turn: &TurnState, at: usize, read: impl Fn(&Block) -> T) -> Option<(TurnState, T)> {
        let mut left = at;
        untrack(|| self.reply_run(turn)).into_iter().find_map(|reply| {
            let found = reply.with_untracked(|view| match view.turn.blocks.get(left) {
                Some(block) => Ok(read(block)),
                None => Err(view.turn.blocks.len()),
            });
            match found {
                Ok(block) => Some((reply, block)),
                Err(passed) => {
                    left -= passed;
                    None
                }
            }
        })
    }

    /// Returns whether any reply of its run is still running.
    pub fn is_run_running(self, turn: &TurnState) -> bool {
        self.reply_run(turn).iter().any(TurnState::is_running)
    }
}
