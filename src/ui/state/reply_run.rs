//! Replies with no message between them. They are drawn as the one reply that they are for the reader: reasoning at the
//! end of one and at the beginning of the next is one reasoning block, by the function that also makes groups of a path
//! (domain.md 4.6). It stands where it begins.

use leptos::prelude::*;

use super::{ChatState, TurnState, is_reply};
use crate::domain::segment::{RenderedItem, segments_by_mode};
use crate::domain::{Block, BlockId};

/// What a reply is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowingItem {
    /// That of its item.
    pub key: BlockId,
    pub is_reasoning: bool,
}

impl ChatState {
    /// The replies around this one with no message between them, itself included, in order.
    fn reply_run(self, turn: &TurnState) -> Vec<TurnState> {
        let path = self.turns();
        let mut runs = path.chunk_by(|before, turn| is_reply(before.role()) && is_reply(turn.role()));
        let run = runs.find(|run| run.iter().any(|known| known.id() == turn.id()));
        run.map_or_else(|| vec![turn.clone()], <[TurnState]>::to_vec)
    }

    /// What is drawn where this reply stands. The places in it are of the blocks of its whole run, one reply after the
    /// other: see [`ChatState::block_at`].
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

    /// The newest item of its run while that is being written. What is in it may be over: until something else follows,
    /// the model may go on with it. Each piece of a reply asks again, so it is asked once for all that is drawn of one.
    pub fn growing_item(self, turn: &TurnState) -> Option<GrowingItem> {
        if !self.is_run_running(turn) {
            return None;
        }
        let newest = self.reply_run(turn).iter().rev().find_map(|reply| self.run_items(reply).pop())?;
        Some(GrowingItem { key: newest.key(), is_reasoning: matches!(newest, RenderedItem::Reasoning(_)) })
    }

    /// The block at a place that [`ChatState::items`] names, and the reply that it is of.
    pub fn block_at(self, turn: &TurnState, at: usize) -> Option<(TurnState, Block)> {
        self.read_at(turn, at, Block::clone)
    }

    /// The same, and what is read of the block.
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

    /// Whether any reply of its run is still being written.
    pub fn is_run_running(self, turn: &TurnState) -> bool {
        self.reply_run(turn).iter().any(TurnState::is_running)
    }
}
