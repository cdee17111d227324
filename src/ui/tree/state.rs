//! The state of the tree: loads rows and cards, manages the focus, handles keys.

use std::time::Duration;

use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::keys::{TreeKeyAction, tree_key_action};
use crate::api::tree::{load_tree, load_tree_card};
use crate::api::view::tree::{TreeCard, TreePage, TreePageQuery, TreeRow};
use crate::browser::{focus, tree_focus};
use crate::domain::{Branch, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::deletion::{DeletePart, DeletedPart};
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::tree as texts;

/// The time within which letters belong to one typeahead text.
const TYPING: Duration = Duration::from_millis(700);
/// The debounce before a focused turn's card is loaded, so that turns which are only passed load none.
const PASSING: Duration = Duration::from_millis(150);

/// Returns the id of a row's element.
pub fn row_id(row: &TreeRow) -> String {
    format!("{}-{}", if row.folded.is_some() { "fold" } else { "row" }, row.turn)
}

/// The state of the tree. Cheap to copy.
#[derive(Clone, Copy)]
pub struct TreeState {
    pub(super) ask: RwSignal<TreePageQuery>,
    pub(super) page: RwSignal<Option<TreePage>>,
    pub(super) card: RwSignal<Option<TreeCard>>,
    pub(super) problem: RwSignal<Option<String>>,
    /// The id of the row that has the focus, or had it last.
    current: StoredValue<String>,
    typed: StoredValue<String>,
    /// The number of the newest request; older responses are obsolete.
    number: StoredValue<u32>,
    /// Shows a turn in the chat.
    pub(super) show: Callback<TurnId>,
    deleting: DeletePart,
    /// Receives a branch that was changed.
    pub(super) on_branch: Callback<Branch>,
    pub(super) announcer: Option<Announcer>,
}

impl TreeState {
    pub fn new(
        ask: TreePageQuery,
        page: Option<TreePage>,
        show: Callback<TurnId>,
        deleting: DeletePart,
        on_branch: Callback<Branch>,
    ) -> Self {
        let current = page.as_ref().and_then(first_current).unwrap_or_default();
        Self {
            ask: RwSignal::new(ask),
            card: RwSignal::new(page.as_ref().and_then(|page| page.card.clone())),
            page: RwSignal::new(page),
            problem: RwSignal::new(None),
            current: StoredValue::new(current),
            typed: StoredValue::new(String::new()),
            number: StoredValue::new(0),
            show,
            deleting,
            on_branch,
            announcer: use_context(),
        }
    }

    /// Returns whether rows are loaded.
    pub fn is_loaded(self) -> bool {
        self.page.with(Option::is_some)
    }

    /// Loads the current part of the tree.
    pub(super) fn load(self) {
        // The caller may have waited until the tree was gone.
        let Some(number) = self.number.try_get_value() else { return };
        let number = number + 1;
        self.number.set_value(number);
        let ask = self.ask.get_untracked();
        let on = ask.on;
        spawn_local(async move {
            let answer = load_tree(ask).await;
            if self.number.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(page) => {
                    // Another turn may be selected by now.
                    let is_card_for_now = on.is_some() && self.ask.with_untracked(|ask| ask.on == on);
                    let was_in_card = focus::is_within(".tree-card");
                    let had_focus = focus::is_within("#tree");
                    self.problem.set(None);
                    if let (Some(announcer), Some(_)) = (self.announcer, page.hits) {
                        announcer.announce(texts::summary(page.turns, page.leaves, page.hits));
                    }
                    // None: the turn no longer exists.
                    if is_card_for_now {
                        self.card.set(page.card.clone());
                    }
                    if !page.rows.iter().any(|row| self.current.with_value(|id| *id == row_id(row))) {
                        self.current.set_value(self.next_current(&page).unwrap_or_default());
                    }
                    self.page.set(Some(page));
                    request_animation_frame(move || {
                        self.update_tab_stop();
                        // The row, or the pressed button, may have been removed. The focus may also have moved on since.
                        let is_lost = (had_focus || was_in_card) && focus::is_unfocused();
                        if is_lost || (had_focus && focus::is_within("#tree")) {
                            self.focus();
                        }
                    });
                }
                Err(error) => {
                    if let Some(announcer) = self.announcer {
                        announcer.alert(texts::failed());
                    }
                    self.problem.set(Some(problem(&error)));
                }
            }
        });
    }

    pub(super) fn update_ask(self, change: impl FnOnce(&mut TreePageQuery)) {
        self.ask.update(change);
        self.load();
    }

    /// Returns whether the selected turn is on the current path.
    pub fn is_card_on_path(self) -> bool {
        self.card.with_untracked(|card| card.as_ref().is_some_and(|card| card.is_on_path))
    }

    /// Returns the row that becomes the tab stop when the previous one is not among the rows: at an end of the tree,
    /// its outermost one.
    fn next_current(self, page: &TreePage) -> Option<String> {
        let outermost = match self.ask.with_untracked(|ask| ask.from) {
            Some(0) => page.rows.first(),
            Some(_) if page.after == 0 => page.rows.last(),
            _ => None,
        };
        outermost.map(row_id).or_else(|| first_current(page))
    }

    /// Deletes a part of the chat from the card.
    pub(super) fn delete(self, part: DeletedPart) {
        self.deleting.0.run((part, None));
    }

    /// Makes one row the tab stop (roving tabindex).
    pub(super) fn update_tab_stop(self) {
        self.current.try_with_value(|id| tree_focus::reset_tab_stop(id));
    }

    /// Focuses the row that had the focus last.
    pub fn focus(self) {
        if let Some(id) = self.current.try_get_value().filter(|id| !id.is_empty()) {
            focus::focus_first(&format!("#{id}"));
        }
    }

    /// Returns the index of the focused row.
    fn focused_index(self) -> Option<usize> {
        let id = tree_focus::focused_row()?;
        self.page.with_untracked(|page| page.as_ref()?.rows.iter().position(|row| row_id(row) == id))
    }

    pub(super) fn toggle(self, row: &TreeRow) {
        let (turn, is_open) = (row.turn, row.is_open == Some(true));
        self.update_ask(|ask| {
            ask.open.retain(|open| *open != turn);
            ask.shut.retain(|shut| *shut != turn);
            if is_open { &mut ask.shut } else { &mut ask.open }.push(turn);
            ask.on = Some(turn);
            ask.from = None;
        });
    }

    /// Shows the card of a turn.
    pub(super) fn show_card(self, turn: TurnId) {
        self.ask.update_untracked(|ask| ask.on = Some(turn));
        let (chat, at) = self.ask.with_untracked(|ask| (ask.chat_id, ask.at));
        spawn_local(async move {
            let answer = load_tree_card(chat, at, turn).await;
            match answer {
                _ if self.ask.try_with_untracked(|ask| ask.on) != Some(Some(turn)) => {}
                Ok(card) => self.card.set(Some(card)),
                Err(error) => self.problem.set(Some(problem(&error))),
            }
        });
    }

    pub(super) fn on_focus(self, _: FocusEvent) {
        let Some(id) = tree_focus::focused_row() else { return };
        if self.current.with_value(|current| *current == id) && self.card.with_untracked(Option::is_some) {
            return;
        }
        tree_focus::move_tab_stop(&id);
        self.current.set_value(id.clone());
        set_timeout(
            move || {
                if self.current.try_get_value() == Some(id)
                    && let Some(at) = self.focused_index()
                    && let Some(turn) = self.with_row(at, |row| row.folded.is_none().then_some(row.turn)).flatten()
                {
                    self.show_card(turn);
                }
            },
            PASSING,
        );
    }

    fn with_row<T>(self, at: usize, read: impl FnOnce(&TreeRow) -> T) -> Option<T> {
        self.page.with_untracked(|page| page.as_ref()?.rows.get(at).map(read))
    }

    pub(super) fn on_key(self, event: KeyboardEvent) {
        // Keys of the links and buttons in a row are their own, and so is anything with a modifier.
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
            return;
        }
        let Some(at) = self.focused_index() else { return };
        let key = event.key();
        let action = self
            .page
            .with_untracked(|page| self.typed.with_value(|typed| tree_key_action(page.as_ref()?, at, &key, typed)));
        let Some(action) = action else { return };
        event.prevent_default();
        let is_letter = key.chars().count() == 1 && key != "*";
        if is_letter && (key != " " || self.typed.with_value(|typed| !typed.is_empty())) {
            self.remember_typed(&key);
        } else if !is_letter {
            // Moving to another row ends the typeahead text.
            self.typed.set_value(String::new());
        }
        match action {
            TreeKeyAction::MoveTo(at) => {
                if let Some(id) = self.with_row(at, row_id) {
                    focus::focus_first(&format!("#{id}"));
                }
            }
            TreeKeyAction::Toggle => drop(self.with_row(at, Clone::clone).map(|row| self.toggle(&row))),
            TreeKeyAction::OpenSiblings => self.open_siblings(at),
            TreeKeyAction::Show => drop(self.with_row(at, |row| row.turn).map(|turn| self.show.run(turn))),
            TreeKeyAction::TurnPage(from) => self.update_ask(|ask| ask.from = Some(from)),
            TreeKeyAction::TurnToEnd(from) => {
                // The focus moves to the outermost row once it is loaded.
                self.current.set_value(String::new());
                self.update_ask(|ask| ask.from = Some(from));
            }
            TreeKeyAction::NotFound => {
                if let Some(announcer) = self.announcer {
                    announcer.announce(texts::not_in_sight());
                }
            }
            TreeKeyAction::Stay => {}
        }
    }

    fn remember_typed(self, key: &str) {
        self.typed.update_value(|typed| typed.push_str(key));
        let now = self.typed.get_value();
        set_timeout(
            move || {
                if self.typed.try_with_value(|typed| *typed == now) == Some(true) {
                    self.typed.set_value(String::new());
                }
            },
            TYPING,
        );
    }

    fn open_siblings(self, at: usize) {
        let closed = self.page.with_untracked(|page| {
            let rows = page.as_ref().map_or(&[][..], |page| &page.rows);
            let level = rows.get(at).map_or(0, |row| row.level);
            let is_sibling = |row: &&TreeRow| row.level >= level;
            let before = rows[..at].iter().rev().take_while(is_sibling);
            let siblings = before.chain(rows[at..].iter().take_while(is_sibling)).filter(|row| row.level == level);
            siblings.filter(|row| row.is_open == Some(false)).map(|row| row.turn).collect::<Vec<_>>()
        });
        if !closed.is_empty() {
            self.update_ask(|ask| {
                ask.shut.retain(|shut| !closed.contains(shut));
                ask.open.extend(closed);
            });
        }
    }
}

/// Returns the initial tab stop: the selected turn, else the end of the current path.
fn first_current(page: &TreePage) -> Option<String> {
    let on = page.card.as_ref().map(|card| card.turn);
    let row = |found: &dyn Fn(&TreeRow) -> bool| page.rows.iter().find(|row| found(row));
    row(&|row| Some(row.turn) == on)
        .or_else(|| row(&|row| row.is_leaf))
        .or_else(|| page.rows.iter().rfind(|row| row.is_on_path))
        .or_else(|| page.rows.first())
        .map(row_id)
}
