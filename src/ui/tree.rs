//! The tree of a chat: an outline of rows that the server prepares, a filter, and the card of the selected turn. The
//! same components make the panel beside a chat and the tree page. Everything is also a link or a form, so the page
//! works without script.

mod card;
mod keys;
pub mod lazy_tree;
mod panel;
mod row;
mod state;

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;

use crate::api::view::tree::TreeCard;
use crate::domain::TurnId;
use crate::ui::erased::{effect, keyed_rows, live_view, on_change, view};
use crate::ui::input_method::InputMethod;
use crate::ui::messages;
use crate::ui::messages::tree as texts;
use crate::ui::tree::card::TurnCard;
use crate::ui::tree::keys::adjacent_page;
use crate::ui::tree::row::{draw_row, row_key};
pub use crate::ui::tree::state::TreeState;

/// The outline with its filter and its card.
#[component]
pub fn TreeMap(
    state: TreeState,
    /// The end of the current path; the rows follow it.
    #[prop(into)]
    leaf: Signal<Option<TurnId>>,
    /// Incremented when the turns of the chat change.
    #[prop(into)]
    changes: Signal<u64>,
) -> impl IntoView {
    let chat = state.ask.with_untracked(|ask| ask.chat_id);
    let action = format!("/c/{chat}/tree");
    effect(move || match state.page.with_untracked(Option::is_some) {
        true => request_animation_frame(move || state.update_tab_stop()),
        false => state.load(),
    });
    on_change(
        move || (leaf.get(), changes.get()),
        move |_, (leaf, _)| {
            state.update_ask(|ask| ask.at = leaf.or(ask.at));
        },
    );
    let words = RwSignal::new(state.ask.with_untracked(|ask| ask.words.clone()));
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        state.update_ask(|ask| (ask.words, ask.from) = (words.get_untracked(), None));
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
    let clear_to = action.clone();
    let rows = keyed_rows(
        move || state.page.with(|page| page.as_ref().map(|page| page.rows.clone()).unwrap_or_default()),
        row_key,
        move |row| draw_row(state, chat, row),
    );
    // Keyed by the turn, so that input in its card survives reloads of the tree.
    let card = keyed_rows(
        move || state.card.get().into_iter().collect(),
        |card: &TreeCard| card.turn.as_u128(),
        move |card| view! { <TurnCard state card/> },
    );
    view! {
        <div class="tree-map">
            <form class="tree-form" method="get" action=action on:submit=on_submit>
                <TreeFilter words/>
                {move || kept()}
                <TreeSummary state words clear_to/>
                <LoadProblem state/>
                <EmptyHint state/>
                <TreePageLink state is_on=false/>
                <div
                    id="tree"
                    class="tree"
                    role="tree"
                    aria-label=texts::tree()
                    on:keydown=move |event| state.on_key(event)
                    on:focusin=move |event| state.on_focus(event)
                >
                    {rows}
                </div>
                <TreePageLink state is_on=true/>
            </form>
            {card}
        </div>
    }
}

/// The filter by words.
#[component]
fn TreeFilter(words: RwSignal<String>) -> impl IntoView {
    let input_method = InputMethod::default();
    view! {
        <div class="tree-filter" role="search">
            <input
                class="field"
                type="search"
                name="q"
                aria-label=texts::filter()
                placeholder=texts::filter()
                maxlength="200"
                value=words.get_untracked()
                prop:value=move || words.get()
                on:input=move |event| words.set(event_target_value(&event))
                on:keydown=move |event| input_method.block_composition_key(&event)
                on:compositionend=move |event| input_method.on_composition_end(&event)
            />
            <button type="submit" class="button">{texts::apply()}</button>
        </div>
    }
}

/// The size of the tree, and the link that clears the filter.
#[component]
fn TreeSummary(state: TreeState, words: RwSignal<String>, clear_to: String) -> impl IntoView {
    let summary = move || {
        let words =
            state.page.with(|page| page.as_ref().map(|page| texts::summary(page.turns, page.leaves, page.hits)));
        words.unwrap_or_else(|| texts::loading().to_owned())
    };
    let is_filtered = move || state.page.with(|page| page.as_ref().is_some_and(|page| page.hits.is_some()));
    let clear = move |event: MouseEvent| {
        event.prevent_default();
        words.set(String::new());
        state.update_ask(|ask| (ask.words, ask.from) = (String::new(), None));
    };
    view! {
        <p class="tree-summary">
            {move || summary()}
            {move || is_filtered().then(|| view! {
                " "
                <a href=clear_to.clone() on:click=clear>{texts::clear()}</a>
            })}
        </p>
    }
}

/// The problem of a failed load, with a retry button.
#[component]
fn LoadProblem(state: TreeState) -> impl IntoView {
    live_view(move || {
        let reason = state.problem.get()?;
        Some(view! {
            <div class="hint">
                <p>{texts::failed()}" "{reason}</p>
                <button type="button" class="button" on:click=move |_| state.load()>{messages::retry()}</button>
            </div>
        })
    })
}

/// The hint for a tree without turns or branches.
#[component]
fn EmptyHint(state: TreeState) -> impl IntoView {
    live_view(move || {
        let words = state.page.with(|page| match page.as_ref()? {
            page if page.turns == 0 => Some(texts::no_turns()),
            page if page.leaves < 2 && page.hits.is_none() => Some(texts::no_branches()),
            _ => None,
        })?;
        Some(view! { <p class="hint">{words}</p> })
    })
}

/// The link to rows that are not on screen; nothing where there are none.
#[component]
fn TreePageLink(state: TreeState, is_on: bool) -> impl IntoView {
    live_view(move || {
        let (from, count) = state.page.with(|page| {
            let page = page.as_ref()?;
            Some((adjacent_page(page, is_on)?, if is_on { page.after } else { page.before }))
        })?;
        let on_click = move |event: MouseEvent| {
            event.prevent_default();
            state.update_ask(|ask| ask.from = Some(from));
        };
        let name = if is_on { texts::later() } else { texts::earlier() };
        Some(view! {
            <button type="submit" class="button tree-turner" name="from" value=from.to_string() on:click=on_click>
                {name}" "{texts::more(count)}
            </button>
        })
    })
}
