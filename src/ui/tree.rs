//! The tree map of a chat: an outline of rows that come ready from the server, a filter, and the card of the turn that
//! is looked at. The same parts make the panel beside a chat and the page of its own. Everything is also a link or a
//! form, so the page works without script.

mod card;
mod keys;
pub mod panel;
mod row;

use std::time::Duration;

use leptos::ev::{FocusEvent, KeyboardEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::tree::{load_tree, load_tree_card};
use crate::api::view::tree::{TreeAsk, TreeCard, TreePage, TreeRow};
use crate::browser::{focus, tree};
use crate::domain::{Branch, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live, on_change, rows, view};
use crate::ui::tree::card::Card;
use crate::ui::tree::keys::{Step, step};
use crate::ui::tree::row::{draw_row, key_of, row_id};
use crate::ui::words;
use crate::ui::words::tree as said;

/// How long letters belong to one word (typeahead).
const TYPING: Duration = Duration::from_millis(700);
/// A turn that is only passed on the way needs no card.
const PASSING: Duration = Duration::from_millis(150);

/// What the tree map knows. Cheap to copy.
#[derive(Clone, Copy)]
pub struct TreeState {
    ask: RwSignal<TreeAsk>,
    page: RwSignal<Option<TreePage>>,
    card: RwSignal<Option<TreeCard>>,
    problem: RwSignal<Option<String>>,
    /// The element of the row that has the focus, or had it last.
    current: StoredValue<String>,
    typed: StoredValue<String>,
    /// Of the newest question: an older answer is late.
    number: StoredValue<u32>,
    /// Shows a turn in the chat.
    show: Callback<TurnId>,
    /// Told of a branch that was changed.
    on_branch: Callback<Branch>,
    announcer: Option<Announcer>,
}

impl TreeState {
    pub fn new(ask: TreeAsk, page: Option<TreePage>, show: Callback<TurnId>, on_branch: Callback<Branch>) -> Self {
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
            on_branch,
            announcer: use_context(),
        }
    }

    /// Whether there are rows to go to.
    pub fn is_loaded(self) -> bool {
        self.page.with(Option::is_some)
    }

    /// Asks the server for what is to be shown now.
    fn load(self) {
        let number = self.number.get_value() + 1;
        self.number.set_value(number);
        let ask = self.ask.get_untracked();
        spawn_local(async move {
            let answer = load_tree(ask).await;
            if self.number.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(page) => {
                    let had_focus = focus::is_within("#tree");
                    self.problem.set(None);
                    if let (Some(announcer), Some(_)) = (self.announcer, page.hits) {
                        announcer.say(said::summary(page.turns, page.leaves, page.hits));
                    }
                    if page.card.is_some() {
                        self.card.set(page.card.clone());
                    }
                    if !page.rows.iter().any(|row| self.current.with_value(|id| *id == row_id(row))) {
                        self.current.set_value(first_current(&page).unwrap_or_default());
                    }
                    self.page.set(Some(page));
                    request_animation_frame(move || {
                        self.settle();
                        if had_focus {
                            self.focus();
                        }
                    });
                }
                Err(error) => {
                    if let Some(announcer) = self.announcer {
                        announcer.alert(said::FAILED);
                    }
                    self.problem.set(Some(error.to_string()));
                }
            }
        });
    }

    fn change(self, change: impl FnOnce(&mut TreeAsk)) {
        self.ask.update(change);
        self.load();
    }

    /// Makes one row the tab stop.
    fn settle(self) {
        self.current.try_with_value(|id| tree::settle(id));
    }

    /// Puts the focus on the row that had it last.
    pub fn focus(self) {
        if let Some(id) = self.current.try_get_value().filter(|id| !id.is_empty()) {
            focus::on(&format!("#{id}"));
        }
    }

    /// The row that has the focus, and where it stands.
    fn at(self) -> Option<usize> {
        let id = tree::focused()?;
        self.page.with_untracked(|page| page.as_ref()?.rows.iter().position(|row| row_id(row) == id))
    }

    fn toggle(self, row: &TreeRow) {
        let (turn, is_open) = (row.turn, row.is_open == Some(true));
        self.change(|ask| {
            ask.open.retain(|open| *open != turn);
            ask.shut.retain(|shut| *shut != turn);
            if is_open { &mut ask.shut } else { &mut ask.open }.push(turn);
            ask.on = Some(turn);
            ask.from = None;
        });
    }

    /// Shows the card of a turn.
    fn look_at(self, turn: TurnId) {
        self.ask.update_untracked(|ask| ask.on = Some(turn));
        let (chat, at) = self.ask.with_untracked(|ask| (ask.chat_id, ask.at));
        spawn_local(async move {
            if let Ok(card) = load_tree_card(chat, at, turn).await
                && self.ask.try_with_untracked(|ask| ask.on) == Some(Some(turn))
            {
                self.card.set(Some(card));
            }
        });
    }

    fn on_focus(self, _: FocusEvent) {
        let Some(id) = tree::focused() else { return };
        if self.current.with_value(|current| *current == id) && self.card.with_untracked(Option::is_some) {
            return;
        }
        tree::choose(&id);
        self.current.set_value(id.clone());
        set_timeout(
            move || {
                if self.current.try_get_value() == Some(id)
                    && let Some(at) = self.at()
                    && let Some(turn) = self.with_row(at, |row| row.folded.is_none().then_some(row.turn)).flatten()
                {
                    self.look_at(turn);
                }
            },
            PASSING,
        );
    }

    fn with_row<T>(self, at: usize, read: impl FnOnce(&TreeRow) -> T) -> Option<T> {
        self.page.with_untracked(|page| page.as_ref()?.rows.get(at).map(read))
    }

    fn on_key(self, event: KeyboardEvent) {
        // Keys of the links and buttons in a row are their own, and so is anything with a modifier.
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
            return;
        }
        let Some(at) = self.at() else { return };
        let key = event.key();
        let asked = self.page.with_untracked(|page| {
            self.typed.with_value(|typed| step(page.as_ref().map_or(&[], |page| &page.rows), at, &key, typed))
        });
        let Some(asked) = asked else { return };
        event.prevent_default();
        if key.chars().count() == 1 && key != " " && key != "*" {
            self.remember(&key);
        }
        match asked {
            Step::To(at) => {
                if let Some(id) = self.with_row(at, row_id) {
                    focus::on(&format!("#{id}"));
                }
            }
            Step::Toggle => drop(self.with_row(at, Clone::clone).map(|row| self.toggle(&row))),
            Step::OpenSiblings => self.open_siblings(at),
            Step::Show => drop(self.with_row(at, |row| row.turn).map(|turn| self.show.run(turn))),
            Step::Before => self.turn_over(false),
            Step::After => self.turn_over(true),
            Step::Stay => {}
        }
    }

    fn remember(self, key: &str) {
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
            self.change(|ask| {
                ask.shut.retain(|shut| !closed.contains(shut));
                ask.open.extend(closed);
            });
        }
    }

    /// Goes to the rows before or after those on screen, as far as there are any.
    fn turn_over(self, is_on: bool) {
        let from = self.page.with_untracked(|page| {
            let page = page.as_ref()?;
            // The row that one comes from stays in sight.
            let half = page.rows.len() / 2;
            match is_on {
                true => (page.after > 0).then(|| page.before + half),
                false => (page.before > 0).then(|| page.before.saturating_sub(half)),
            }
        });
        if let Some(from) = from {
            self.change(|ask| ask.from = Some(from));
        }
    }
}

/// The row that is the tab stop at first: the turn that is looked at, else where the reader is.
fn first_current(page: &TreePage) -> Option<String> {
    let on = page.card.as_ref().map(|card| card.turn);
    let row = |found: &dyn Fn(&TreeRow) -> bool| page.rows.iter().find(|row| found(row));
    row(&|row| Some(row.turn) == on)
        .or_else(|| row(&|row| row.is_leaf))
        .or_else(|| page.rows.iter().rfind(|row| row.is_on_path))
        .or_else(|| page.rows.first())
        .map(row_id)
}

/// The outline with its filter and its card.
#[component]
pub fn TreeMap(
    state: TreeState,
    /// The end of the path that is read; the rows follow it.
    #[prop(into)]
    leaf: Signal<Option<TurnId>>,
    /// Rises when the chat has other turns than before.
    #[prop(into)]
    changes: Signal<u64>,
) -> impl IntoView {
    let chat = state.ask.with_untracked(|ask| ask.chat_id);
    let action = format!("/c/{chat}/tree");
    effect(move || match state.page.with_untracked(Option::is_some) {
        true => request_animation_frame(move || state.settle()),
        false => state.load(),
    });
    on_change(
        move || (leaf.get(), changes.get()),
        move |_, (leaf, _)| {
            state.change(|ask| ask.at = leaf.or(ask.at));
        },
    );
    let words = RwSignal::new(state.ask.with_untracked(|ask| ask.words.clone()));
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        state.change(|ask| (ask.words, ask.from) = (words.get_untracked(), None));
    };
    let hidden = move |name: &'static str, ids: Vec<TurnId>| {
        let field = |id: TurnId| view! { <input type="hidden" name=name value=id.to_string()/> };
        ids.into_iter().map(field).collect_view()
    };
    let kept = move || {
        let ask = state.ask.get();
        let at = ask.at.into_iter().collect();
        view! { {hidden("at", at)} {hidden("open", ask.open)} {hidden("shut", ask.shut)} }
    };
    let summary = move || {
        let words = state.page.with(|page| page.as_ref().map(|page| said::summary(page.turns, page.leaves, page.hits)));
        words.unwrap_or_else(|| said::LOADING.to_owned())
    };
    let is_filtered = move || state.page.with(|page| page.as_ref().is_some_and(|page| page.hits.is_some()));
    let clear = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        words.set(String::new());
        state.change(|ask| (ask.words, ask.from) = (String::new(), None));
    };
    let clear_to = action.clone();
    let empty = live(move || {
        let words = state.page.with(|page| match page.as_ref()? {
            page if page.turns == 0 => Some(said::NO_TURNS),
            page if page.leaves < 2 && page.hits.is_none() => Some(said::NO_BRANCHES),
            _ => None,
        })?;
        Some(view! { <p class="hint">{words}</p> })
    });
    let problem = live(move || {
        let why = state.problem.get()?;
        Some(view! {
            <div class="hint">
                <p>{said::FAILED}" "{why}</p>
                <button type="button" class="button" on:click=move |_| state.load()>{words::RETRY}</button>
            </div>
        })
    });
    let drawn = rows(
        move || state.page.with(|page| page.as_ref().map(|page| page.rows.clone()).unwrap_or_default()),
        key_of,
        move |row| draw_row(state, chat, row),
    );
    view! {
        <div class="tree-map">
            <form class="tree-form" method="get" action=action on:submit=on_submit>
                <div class="tree-filter" role="search">
                    <input
                        class="field"
                        type="search"
                        name="q"
                        aria-label=said::FILTER
                        placeholder=said::FILTER
                        maxlength="200"
                        value=words.get_untracked()
                        prop:value=move || words.get()
                        on:input=move |event| words.set(event_target_value(&event))
                    />
                    <button type="submit" class="button">{said::APPLY}</button>
                </div>
                {move || kept()}
                <p class="tree-summary">
                    {move || summary()}
                    {move || is_filtered().then(|| view! {
                        " "
                        <a href=clear_to.clone() on:click=clear>{said::CLEAR}</a>
                    })}
                </p>
                {problem}
                {empty}
                <PageTurner state is_on=false/>
                <div
                    id="tree"
                    class="tree"
                    role="tree"
                    aria-label=said::TREE
                    on:keydown=move |event| state.on_key(event)
                    on:focusin=move |event| state.on_focus(event)
                >
                    {drawn}
                </div>
                <PageTurner state is_on=true/>
            </form>
            {move || state.card.get().map(|card| view! { <Card state card/> })}
        </div>
    }
}

/// The way to the rows that are not on screen; nothing where there are none.
#[component]
fn PageTurner(state: TreeState, is_on: bool) -> impl IntoView {
    live(move || {
        let (from, count) = state.page.with(|page| {
            let page = page.as_ref()?;
            let half = page.rows.len() / 2;
            match is_on {
                true => (page.after > 0).then(|| (page.before + half, page.after)),
                false => (page.before > 0).then(|| (page.before.saturating_sub(half), page.before)),
            }
        })?;
        let on_click = move |event: leptos::ev::MouseEvent| {
            event.prevent_default();
            state.turn_over(is_on);
        };
        let name = if is_on { said::LATER } else { said::EARLIER };
        Some(view! {
            <button type="submit" class="button tree-turner" name="from" value=from.to_string() on:click=on_click>
                {name}" "{said::more(count)}
            </button>
        })
    })
}
