//! What the page knows of the path that is on screen: its turns, which of them are being written, and the server's
//! time. Not for drawing, and not for asking the server: the page brings a callback for that.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;

use crate::api::view::TurnView;
use crate::browser::clock;
use crate::domain::{BlockId, Role, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::connection::Connection;

mod follow;
mod run;
pub mod saying;
mod turn;

pub use turn::{Heard, TurnState};

/// The path on screen, root first, and the replies in it that are followed while they are written. One for a chat's
/// page; cheap to copy.
#[derive(Clone, Copy)]
pub struct ChatState {
    path: RwSignal<Vec<TurnState>>,
    /// The server's time by the tick; nothing before the first, so that both sides draw the same at first.
    now: RwSignal<Option<DateTime<Utc>>>,
    /// How far the server's clock is ahead of this device's.
    skew: StoredValue<TimeDelta>,
    followed: StoredValue<HashMap<TurnId, follow::Follower>>,
    /// What the reader opened or closed by hand; nothing else opens or closes it again.
    toggled: StoredValue<HashMap<BlockId, bool>>,
    /// Asks the page to load a turn anew and to [`put`](Self::put) it.
    reload: Callback<TurnId>,
    connection: Option<Connection>,
    announcer: Option<Announcer>,
}

impl ChatState {
    /// The state of a page that shows these turns. `reload` loads a turn from the server and puts it here; it is called
    /// when events of a followed reply are missing.
    pub fn new(turns: Vec<TurnView>, reload: Callback<TurnId>) -> Self {
        Self {
            path: RwSignal::new(turns.into_iter().map(TurnState::new).collect()),
            now: RwSignal::new(None),
            skew: StoredValue::new(TimeDelta::zero()),
            followed: StoredValue::new(HashMap::new()),
            toggled: StoredValue::new(HashMap::new()),
            reload,
            connection: use_context(),
            announcer: use_context(),
        }
    }

    /// The turns on screen, root first.
    pub fn turns(self) -> Vec<TurnState> {
        self.path.get()
    }

    /// The state of a turn on screen.
    pub fn find(self, id: TurnId) -> Option<TurnState> {
        self.path.with(|path| path.iter().find(|turn| turn.id() == id).cloned())
    }

    /// The newest turn on screen.
    pub fn leaf(self) -> Option<TurnState> {
        self.path.with(|path| path.last().cloned())
    }

    /// The newest turn on screen at this moment; nothing when the page is gone.
    pub fn leaf_id(self) -> Option<TurnId> {
        self.path.try_with_untracked(|path| path.last().map(TurnState::id)).flatten()
    }

    /// The reply on screen that is being written, if one is.
    pub fn running(self) -> Option<TurnId> {
        self.path.with(|path| path.iter().rev().find(|turn| turn.is_running()).map(TurnState::id))
    }

    /// How many tokens of context the newest reply that said so filled.
    pub fn context_used(self) -> Option<u64> {
        self.path.with(|path| path.iter().rev().find_map(|turn| turn.with(|view| view.turn.context_tokens)))
    }

    /// Shows this path. Turns that were shown before keep their place in the page and what is known of them.
    pub fn show(self, turns: Vec<TurnView>) {
        let old = self.path.get_untracked();
        let path = turns
            .into_iter()
            .map(|view| match old.iter().find(|turn| turn.id() == view.turn.id) {
                Some(turn) => {
                    turn.replace(view);
                    turn.clone()
                }
                None => TurnState::new(view),
            })
            .collect();
        self.path.set(path);
        self.drop_unseen();
    }

    /// Takes one turn from the server: a turn on screen is brought up to date, one that follows a turn on screen takes
    /// the place of what followed it. False when the turn has no place on this path.
    pub fn put(self, view: TurnView) -> bool {
        let path = self.path.get_untracked();
        if let Some(known) = path.iter().find(|turn| turn.id() == view.turn.id) {
            known.replace(view);
            return true;
        }
        let keep = match view.turn.prev_turn_id {
            None => 0,
            Some(prev) => match path.iter().position(|turn| turn.id() == prev) {
                Some(at) => at + 1,
                None => return false,
            },
        };
        self.path.update(|path| {
            path.truncate(keep);
            path.push(TurnState::new(view));
        });
        self.drop_unseen();
        true
    }

    /// Brings a turn on screen up to date. A turn that is not on screen any more stays away.
    pub fn refresh(self, view: TurnView) {
        if let Some(known) = self.shown(view.turn.id) {
            known.replace(view);
        }
    }

    /// Puts older turns before those on screen.
    pub fn prepend(self, older: Vec<TurnView>) {
        self.path.update(|path| {
            let fresh = older.into_iter().filter(|view| !path.iter().any(|turn| turn.id() == view.turn.id));
            let mut all: Vec<_> = fresh.map(TurnState::new).collect();
            all.append(path);
            *path = all;
        });
    }

    /// The server's time, by the second, while something is being written.
    pub fn now(self) -> Option<DateTime<Utc>> {
        self.now.get()
    }

    /// Takes the time. Called by the tick.
    pub fn tick(self) {
        let now = clock::now().map(|now| now + self.skew.get_value());
        self.now.set(now);
        self.look_after_followed();
    }

    /// What the reader did with this disclosure by hand.
    pub fn toggled(self, block: BlockId) -> Option<bool> {
        self.toggled.with_value(|toggled| toggled.get(&block).copied())
    }

    /// Remembers what the reader did with this disclosure by hand.
    pub fn remember_toggle(self, block: BlockId, is_open: bool) {
        self.toggled.update_value(|toggled| {
            toggled.insert(block, is_open);
        });
    }

    /// Says something politely to a screen reader.
    pub fn say(self, text: impl Into<String>) {
        if let Some(announcer) = self.announcer {
            announcer.say(text);
        }
    }

    /// The turn, if the page and it are still there; timers may ask late.
    fn shown(self, id: TurnId) -> Option<TurnState> {
        self.path.try_with_untracked(|path| path.iter().find(|turn| turn.id() == id).cloned()).flatten()
    }

    fn is_shown(self, id: TurnId) -> bool {
        self.path.with_untracked(|path| path.iter().any(|turn| turn.id() == id))
    }

    fn drop_unseen(self) {
        self.followed.update_value(|followed| followed.retain(|id, _| self.is_shown(*id)));
    }
}

/// How many versions a turn has and which of them this is, from 1.
pub fn place_among(siblings: &[TurnId], id: TurnId) -> Option<(usize, usize)> {
    let at = siblings.iter().position(|sibling| *sibling == id)?;
    Some((at + 1, siblings.len()))
}

/// Whether a turn is one that can be written.
fn is_reply(role: Role) -> bool {
    role == Role::Assistant
}

#[cfg(test)]
mod tests;
