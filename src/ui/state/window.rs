//! Windowing: the stretch of the path that is on screen. Older and newer turns are loaded and unloaded at its two
//! sides; the path's last turn is always known, because messages follow it and it may be running.

use leptos::prelude::*;

use super::{ChatState, TurnState};
use crate::api::view::{ChatPage, PathDirection, TurnView, TurnsPage};
use crate::domain::{ChatId, TurnId};

/// The loading state of the window: whether more turns are being loaded, and the sides on which loading failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowLoading {
    is_busy: bool,
    failed_older: bool,
    failed_newer: bool,
}

impl WindowLoading {
    /// Returns whether loading on this side failed.
    pub fn has_failed(self, side: PathDirection) -> bool {
        match side {
            PathDirection::Older => self.failed_older,
            PathDirection::Newer => self.failed_newer,
        }
    }

    fn with_failure(self, side: PathDirection, failed: bool) -> Self {
        match side {
            PathDirection::Older => Self { failed_older: failed, ..self },
            PathDirection::Newer => Self { failed_newer: failed, ..self },
        }
    }
}

impl ChatState {
    /// Returns the loading state.
    pub fn loading(self) -> WindowLoading {
        self.loading.get()
    }

    /// Starts loading on this side. False when a load is pending already, or there is nothing to load.
    pub fn start_loading(self, side: PathDirection) -> bool {
        let may = untrack(move || !self.loading().is_busy && self.has_more(side));
        if may {
            self.loading
                .update(|loading| *loading = WindowLoading { is_busy: true, ..loading.with_failure(side, false) });
        }
        may
    }

    /// Returns whether to load on this side as the reader approaches it. After a failure there it waits for the
    /// button, whatever happens on the other side.
    pub fn may_load(self, side: PathDirection) -> bool {
        let loading = self.loading();
        !loading.is_busy && !loading.has_failed(side) && self.has_more(side)
    }

    /// Starts a move to other turns; returns the number that the response must still find.
    pub fn start_move(self) -> u64 {
        self.moves.update_value(|moves| *moves += 1);
        self.moves.get_value()
    }

    /// Returns the number of the last move, for a response that is obsolete after another one.
    pub fn current_move(self) -> u64 {
        self.moves.try_get_value().unwrap_or_default()
    }

    /// Returns whether no other move has started since, and the page still exists; a response may be late.
    pub fn is_current_move(self, moves: u64) -> bool {
        self.moves.try_get_value() == Some(moves)
    }

    /// Counts a request from here that starts a reply, until its response.
    pub fn count_start(self, is_pending: bool) {
        let _ = self.starts.try_update_value(|starts| match is_pending {
            true => *starts += 1,
            false => *starts = starts.saturating_sub(1),
        });
    }

    /// Returns whether the result of a poll that began at this move may be shown. Not while a reply is being started from
    /// here: its response brings the new turns, scrolls to them and removes the optimistic message, which would move
    /// what the reader uses by then.
    pub fn may_show_polled(self, moves: u64) -> bool {
        self.is_current_move(moves) && self.starts.try_get_value() == Some(0) && !self.has_pending_deletion()
    }

    /// Ends loading, if the page still exists.
    pub fn finish_loading(self) {
        let _ = self.loading.try_update(|loading| loading.is_busy = false);
    }

    /// Records that loading on this side failed.
    pub fn fail_loading(self, side: PathDirection) {
        let _ = self
            .loading
            .try_update(|loading| *loading = WindowLoading { is_busy: false, ..loading.with_failure(side, true) });
    }

    /// Returns whether the page still exists; a response may be late.
    pub fn is_page_alive(self) -> bool {
        self.path.try_with_untracked(Vec::is_empty).is_some()
    }

    /// Returns whether a turn is on screen.
    pub fn is_on_screen(self, id: TurnId) -> bool {
        self.path.with_untracked(|path| path.iter().any(|turn| turn.id() == id))
    }

    /// Takes the window's edges from a page. For the state that was created from the page's turns.
    pub fn with_edges_of(self, page: &ChatPage) -> Self {
        self.has_older.set(page.has_more_before);
        self.beyond.set(page.end.clone().map(TurnState::new));
        self
    }

    /// Returns whether the path has more turns on this side of the window.
    pub fn has_more(self, side: PathDirection) -> bool {
        match side {
            PathDirection::Older => self.has_older.get(),
            PathDirection::Newer => self.beyond.with(Option::is_some),
        }
    }

    /// Returns the parameters for loading more: the chat, the outermost turn on this side, and the path's last turn.
    pub fn edge(self, side: PathDirection) -> Option<(ChatId, TurnId, TurnId)> {
        let leaf = self.leaf_id()?;
        self.path.with_untracked(|path| {
            let outermost = match side {
                PathDirection::Older => path.first(),
                PathDirection::Newer => path.last(),
            };
            outermost.map(|turn| (turn.with_untracked(|view| view.turn.chat_id), turn.id(), leaf))
        })
    }

    /// Shows the path of a page. Turns that were shown before keep their place and their state; so do those before
    /// the page's, where they are on the same path.
    pub fn show_page(self, page: ChatPage) {
        let end = page.end.map(|view| self.turn_state(view, 0));
        self.show_window(page.turns, page.has_more_before, end);
    }

    /// Shows other turns of the same path.
    pub fn show_turns(self, page: TurnsPage) {
        // The known end stays, also that of a path which grew meanwhile.
        let end = self.last_turn().filter(|end| page.turns.iter().all(|view| view.turn.id != end.id()));
        self.show_window(page.turns, page.has_more_before, end);
    }

    /// Applies changes that another tab made to the path, where it is certain that a reader at this turn keeps their
    /// position. Otherwise returns the page.
    pub fn follow_path(self, page: ChatPage, seen: Option<TurnId>) -> Option<ChatPage> {
        let has = |id: TurnId| page.turns.iter().any(|view| view.turn.id == id);
        // The path continues from the known end.
        let goes_on = self.beyond.get_untracked().is_some_and(|end| has(end.id()));
        if let Some(last) = page.turns.last().filter(|_| goes_on).cloned() {
            self.beyond.set(Some(self.turn_state(last, 0)));
            return None;
        }
        let place = |id: TurnId| self.path.with_untracked(|path| path.iter().position(|turn| turn.id() == id));
        // Turns on screen before the page's first turn stay.
        let first = page.turns.first().and_then(|view| place(view.turn.id));
        let is_kept = |seen: TurnId| has(seen) || place(seen).zip(first).is_some_and(|(seen, first)| seen < first);
        if seen.is_none_or(is_kept) {
            self.show_page(page);
            return None;
        }
        Some(page)
    }

    /// Shows turns around the reader's position on a path that ends with another turn than the one on screen.
    pub fn show_with_end(self, page: TurnsPage, end: TurnView) {
        let end = Some(self.turn_state(end, 0)).filter(|end| page.turns.iter().all(|view| view.turn.id != end.id()));
        self.show_window(page.turns, page.has_more_before, end);
    }

    /// Adds more turns beside those on screen. Returns false and does nothing when the window has changed since they
    /// were requested.
    pub fn take_turns(self, side: PathDirection, from: TurnId, page: TurnsPage) -> bool {
        if self.edge(side).is_none_or(|(_, outermost, _)| outermost != from) {
            return false;
        }
        let path = self.path.get_untracked();
        let batch = match side {
            PathDirection::Older => self.new_batch(),
            PathDirection::Newer => path.last().map_or(0, TurnState::batch),
        };
        let turns = page.turns.into_iter().map(|view| self.turn_state(view, batch));
        let mut turns: Vec<_> = turns.filter(|turn| path.iter().all(|shown| shown.id() != turn.id())).collect();
        match side {
            PathDirection::Older => {
                self.has_older.set(page.has_more_before);
                turns.extend(path);
            }
            PathDirection::Newer => {
                let end = self.beyond.get_untracked().filter(|end| turns.iter().all(|turn| turn.id() != end.id()));
                self.beyond.set(end);
                turns.splice(0..0, path);
            }
        }
        self.path.set(turns);
        true
    }

    /// Unloads turns at one side until `most` are left, or until one that must stay. They are loaded again when the
    /// reader returns.
    pub fn trim(self, side: PathDirection, most: usize, must_stay: impl Fn(TurnId) -> bool) {
        let mut path = self.path.get_untracked();
        let surplus = path.len().saturating_sub(most);
        let count_removable = |turns: &mut dyn Iterator<Item = &TurnState>| {
            turns.take(surplus).take_while(|turn| !must_stay(turn.id())).count()
        };
        let count = match side {
            PathDirection::Older => count_removable(&mut path.iter()),
            PathDirection::Newer => count_removable(&mut path.iter().rev()),
        };
        if count == 0 {
            return;
        }
        match side {
            PathDirection::Older => {
                path.drain(..count);
                self.has_older.set(true);
            }
            PathDirection::Newer => {
                let end = self.last_turn();
                path.truncate(path.len() - count);
                self.beyond.set(end);
            }
        }
        self.path.set(path);
    }

    fn show_window(self, turns: Vec<TurnView>, has_older: bool, end: Option<TurnState>) {
        let old = self.path.get_untracked();
        let first = turns.first().map(|view| view.turn.id);
        let place = old.iter().position(|turn| Some(turn.id()) == first);
        let mut path: Vec<TurnState> = old.into_iter().take(place.unwrap_or(0)).collect();
        for view in turns {
            let batch = path.last().map_or_else(|| self.new_batch(), TurnState::batch);
            path.push(self.turn_state(view, batch));
        }
        if place.is_none() {
            self.has_older.set(has_older);
        }
        self.path.set(path);
        self.beyond.set(end);
        self.start_move();
        // The failure was about other turns.
        self.loading.set(WindowLoading::default());
        self.drop_unseen();
    }

    /// Returns the batches of the turns on screen, in order.
    pub fn batches(self) -> Vec<u32> {
        self.path.with(|path| {
            let mut batches: Vec<u32> = path.iter().map(TurnState::batch).collect();
            batches.dedup();
            batches
        })
    }

    /// Returns the turns of a batch that are on screen.
    pub fn turns_of_batch(self, batch: u32) -> Vec<TurnState> {
        self.path.with(|path| path.iter().filter(|turn| turn.batch() == batch).cloned().collect())
    }

    /// Returns a batch number that no known turn has.
    fn new_batch(self) -> u32 {
        let newest = |turns: &Vec<TurnState>| turns.iter().map(TurnState::batch).max();
        let on_screen = self.path.with_untracked(newest).max(self.last_turn().map(|end| end.batch()));
        on_screen.map_or(0, |batch| batch + 1)
    }

    /// Returns the state of this turn: the known one, updated, or a new one of this batch.
    fn turn_state(self, view: TurnView, batch: u32) -> TurnState {
        match self.find_if_alive(view.turn.id) {
            Some(turn) => {
                turn.replace(view);
                turn
            }
            None => TurnState::new(view).in_batch(batch),
        }
    }
}

#[cfg(test)]
mod tests;
