//! The reactive state of one turn on screen. It distinguishes two kinds of change: that of its shape (another block,
//! state or ending) and the growth of one block. A delta is growth, so it renders only its block again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use leptos::prelude::*;

use crate::api::view::{BlockMarkup, TurnView};
use crate::domain::blocks::segment::{RenderedItem, segments};
use crate::domain::turns::fold::{self, ApplyOutcome};
use crate::domain::turns::frame::{StreamFrame, StreamSignal as Aside};
use crate::domain::{Block, BlockId, Content, Event, Role, Turn, TurnId};

/// A turn and its subscribers. Clones are handles of the same turn.
#[derive(Clone)]
pub struct TurnState {
    id: TurnId,
    role: Role,
    /// The batch with which it came to the screen.
    batch: u32,
    /// The blocks that have been shown: those it came with, and those that have been rendered since.
    seen: Arc<Mutex<HashSet<BlockId>>>,
    /// Notified of changes of shape only.
    view: ArcRwSignal<TurnView>,
    growth: Arc<Mutex<HashMap<BlockId, ArcTrigger>>>,
}

/// The outcome of a batch of frames beyond its changes.
#[derive(Debug, Default, PartialEq)]
pub struct FramesOutcome {
    /// Events before one of the batch are missing: the turn must be reloaded.
    pub is_gap: bool,
    /// The newest time of the server.
    pub server_time: Option<chrono::DateTime<chrono::Utc>>,
}

/// The change of one frame.
enum FrameChange {
    Nothing,
    Shape(Option<BlockId>),
    Growth(BlockId),
    All,
}

impl TurnState {
    pub fn new(view: TurnView) -> Self {
        let (id, role) = (view.turn.id, view.turn.role);
        let seen = Arc::new(Mutex::new(view.turn.blocks.iter().map(|block| block.id).collect()));
        Self { id, role, batch: 0, seen, view: ArcRwSignal::new(view), growth: Arc::default() }
    }

    /// Returns whether a block that began while the turn was on screen is rendered for the first time. Only such a
    /// block may be rendered incrementally: others need their height at once, because the reader's scroll position
    /// depends on it.
    pub fn is_first_render(&self, block: BlockId) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(block)
    }

    /// Returns the turn with this batch.
    pub fn in_batch(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// Returns the batch it came with. A list that gets many rows in front at once moves the existing ones, and a
    /// moved element loses its focus and selection; a single row in front moves none. So the rows of the list are
    /// batches.
    pub fn batch(&self) -> u32 {
        self.batch
    }

    pub fn id(&self) -> TurnId {
        self.id
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// Reads the turn and tracks changes of its shape.
    pub fn with<T>(&self, read: impl FnOnce(&TurnView) -> T) -> T {
        self.view.with(read)
    }

    /// Like [`Self::with`]; none for a turn that is gone from the page, which a list may still name for a moment.
    pub fn try_with<T>(&self, read: impl FnOnce(&TurnView) -> T) -> Option<T> {
        self.view.try_with(read)
    }

    /// Reads the turn without tracking.
    pub fn with_untracked<T>(&self, read: impl FnOnce(&TurnView) -> T) -> T {
        self.view.with_untracked(read)
    }

    /// Reads one block and tracks its changes only.
    pub fn with_block<T>(&self, id: BlockId, read: impl FnOnce(&Block, Option<&BlockMarkup>) -> T) -> Option<T> {
        self.trigger(id).track();
        self.view.with_untracked(|view| {
            let block = view.turn.blocks.iter().find(|block| block.id == id)?;
            Some(read(block, view.markup.iter().find(|markup| markup.block_id == id)))
        })
    }

    /// Returns whether the reply is still running.
    pub fn is_running(&self) -> bool {
        self.with(|view| !view.turn.status.is_terminal())
    }

    /// Returns the rendered items of the turn, by the rules of `domain::blocks::segment`.
    pub fn items(&self) -> Vec<RenderedItem> {
        self.with(|view| segments(&view.turn.blocks, view.is_thinking_mode))
    }

    /// Takes a newer view of the turn from the server. Of an older one only the versions are taken.
    pub fn replace(&self, view: TurnView) {
        let is_older = self.with_untracked(|known| {
            view.turn.last_event_seq < known.turn.last_event_seq
                || (known.turn.status.is_terminal() && !view.turn.status.is_terminal())
        });
        if self.with_untracked(|known| *known == view) {
            return;
        }
        if is_older {
            return self.view.update(|known| known.siblings = view.siblings);
        }
        self.view.set(view);
        self.notify_all_blocks();
    }

    /// Applies frames in order and notifies subscribers of the changes once.
    pub fn apply(&self, frames: Vec<StreamFrame>) -> FramesOutcome {
        let mut outcome = FramesOutcome::default();
        let mut shape = false;
        let mut all = false;
        let mut grown: Vec<BlockId> = Vec::new();
        self.view.update_untracked(|view| {
            for frame in frames {
                match apply_frame(view, frame, &mut outcome) {
                    FrameChange::Nothing => {}
                    FrameChange::All => (shape, all) = (true, true),
                    FrameChange::Shape(block) => {
                        shape = true;
                        grown.extend(block);
                    }
                    FrameChange::Growth(block) => grown.push(block),
                }
                if outcome.is_gap {
                    break;
                }
            }
        });
        if shape {
            self.view.notify();
        }
        if all {
            self.notify_all_blocks();
        } else {
            grown.dedup();
            for block in grown {
                self.trigger(block).notify();
            }
        }
        outcome
    }

    fn trigger(&self, block: BlockId) -> ArcTrigger {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner).entry(block).or_default().clone()
    }

    fn notify_all_blocks(&self) {
        let triggers: Vec<_> = self.growth.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for trigger in triggers {
            trigger.notify();
        }
    }
}

/// Applies one frame.
fn apply_frame(view: &mut TurnView, frame: StreamFrame, outcome: &mut FramesOutcome) -> FrameChange {
    match frame {
        StreamFrame::Event { turn_id, seq, event } if turn_id == view.turn.id => {
            let was_blank = growing_block(&event).is_some_and(|id| is_blank(&view.turn, id));
            let title_before = growing_title(&view.turn, &event);
            match fold::apply(&mut view.turn, seq, &event) {
                ApplyOutcome::Gap => {
                    outcome.is_gap = true;
                    return FrameChange::Nothing;
                }
                ApplyOutcome::AlreadyCovered | ApplyOutcome::Impossible(_) => return FrameChange::Nothing,
                ApplyOutcome::Changed => {}
            }
            let has_new_title = title_before != growing_title(&view.turn, &event);
            match event {
                Event::BlockEnd { block_id, .. } => {
                    // A further end may correct the text that the server has rendered.
                    view.markup.retain(|markup| markup.block_id != block_id);
                    FrameChange::Shape(Some(block_id))
                }
                // The first visible character makes a block a segment, and a heading is the title of its panel.
                Event::BlockDelta { block_id, .. }
                    if has_new_title || (was_blank && !is_blank(&view.turn, block_id)) =>
                {
                    FrameChange::Shape(Some(block_id))
                }
                Event::BlockDelta { block_id, .. } => FrameChange::Growth(block_id),
                Event::BlockUpdate { block_id, .. } | Event::CallEdited { block_id, .. } => {
                    FrameChange::Shape(Some(block_id))
                }
                Event::BlockStart { block } => FrameChange::Shape(Some(block.id)),
                Event::Usage { .. } | Event::Unknown(_) => FrameChange::Nothing,
                _ => FrameChange::Shape(None),
            }
        }
        StreamFrame::Event { .. } => FrameChange::Nothing,
        StreamFrame::Other(Aside::Snapshot { turn }) if turn.id == view.turn.id => {
            view.turn = *turn;
            FrameChange::All
        }
        StreamFrame::Other(Aside::Snapshot { .. }) => FrameChange::Nothing,
        StreamFrame::Other(Aside::Markup { block_id, parts }) => {
            view.markup.retain(|markup| markup.block_id != block_id);
            view.markup.push(BlockMarkup { block_id, parts });
            FrameChange::Growth(block_id)
        }
        StreamFrame::Other(Aside::Heartbeat { now }) => {
            outcome.server_time = Some(now);
            FrameChange::Nothing
        }
    }
}

fn growing_block(event: &Event) -> Option<BlockId> {
    match event {
        Event::BlockDelta { block_id, .. } => Some(*block_id),
        _ => None,
    }
}

/// Returns the title of the reasoning that an event grows, if the event can change it: a heading is a whole line.
fn growing_title(turn: &Turn, event: &Event) -> Option<String> {
    let Event::BlockDelta { block_id, text } = event else { return None };
    let grown = || turn.blocks.iter().rev().find(|block| block.id == *block_id);
    if text.contains('\n') { grown().and_then(Block::reasoning_title) } else { None }
}

/// Returns whether a block shows nothing yet. Stops at the first character.
fn is_blank(turn: &Turn, id: BlockId) -> bool {
    turn.blocks.iter().rev().find(|block| block.id == id).is_some_and(|block| match &block.content {
        Content::Text { text, .. } => text.chars().all(char::is_whitespace),
        Content::Thinking { thinking, .. } => thinking.chars().all(char::is_whitespace),
        _ => false,
    })
}
