//! One row of the outline.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use leptos::attr::custom::custom_attribute;
use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::state::{TreeState, row_id};
use crate::api::view::tree::TreeRow;
use crate::browser::focus;
use crate::domain::{ChatId, Role};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::messages::tree as texts;

/// The maximum indentation; deeper rows are not indented further and state their level.
const STEPS: usize = 10;

/// Returns the key of a row: changed content makes another row, which is rendered again.
pub fn row_key(row: &TreeRow) -> u128 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    row.turn.as_u128() ^ (u128::from(hasher.finish()) << 64)
}

/// The button that opens or closes the row's children.
fn draw_twisty(state: TreeState, row: &TreeRow, is_open: bool) -> AnyView {
    let (name, icon, label) = if is_open {
        ("fold", "chevron-down", texts::shut_row())
    } else {
        ("unfold", "chevron-right", texts::open_row())
    };
    let toggled = row.clone();
    let toggle = move |event: MouseEvent| {
        event.prevent_default();
        state.toggle(&toggled);
    };
    view! {
        <button type="submit" class="tree-twisty" name=name value=row.turn.to_string() aria-label=label on:click=toggle>
            <Icon name=icon/>
        </button>
    }
}

/// The first words of the turn, with a link to it; for collapsed turns their number.
fn draw_words(state: TreeState, chat: ChatId, row: &TreeRow) -> AnyView {
    if let Some(count) = row.folded {
        return view! { <span class="tree-words tree-fold">{texts::messages(count)}</span> };
    }
    let turn = row.turn;
    let words = if row.words.is_empty() { texts::no_text().to_owned() } else { row.words.clone() };
    let show = move |event: MouseEvent| {
        if is_same_tab_click(&event) {
            event.prevent_default();
            state.show.run(turn);
        }
    };
    view! { <a class="tree-words" href=format!("/c/{chat}?at={turn}") dir="auto" on:click=show>{words}</a> }
}

pub fn draw_row(state: TreeState, chat: ChatId, row: TreeRow) -> AnyView {
    let turn = row.turn;
    let (id, all) = (row_id(&row), texts::row(&row));
    let twisty = row.is_open.map(|is_open| draw_twisty(state, &row, is_open));
    let look = move |event: MouseEvent| {
        event.prevent_default();
        // The card must not cover its row.
        focus::focus_first(&format!("#row-{turn}"));
        state.show_card(turn);
    };
    let words = draw_words(state, chat, &row);
    let mark = texts::mark(row.mark).map(|(sign, word)| {
        view! { " "<span class="tree-mark" data-mark=sign>{sign}" "{word}</span> }
    });
    let more = row.folded.is_none().then(|| {
        view! {
            <button type="submit" class="tree-more" name="on" value=turn.to_string() aria-label=texts::more_for_turn() on:click=look>
                <Icon name="more"/>
            </button>
        }
    });
    let icon = match (row.folded, row.role) {
        (Some(_), _) => "fold",
        (None, Role::User) => "user",
        (None, _) => "chat",
    };
    let title = all.clone();
    let current = if row.is_leaf { Some("location") } else { row.is_on_path.then_some("true") };
    view! {
        <div
            {..custom_attribute("aria-level", row.level.to_string())}
            id=id
            class="tree-row"
            class:is-hit=row.is_hit
            role="treeitem"
            aria-label=all
            aria-posinset=row.place.0.to_string()
            aria-setsize=row.place.1.to_string()
            aria-expanded=row.is_open.map(|open| open.to_string())
            aria-current=current
            data-level=(row.level > STEPS + 1).then(|| row.level.to_string())
            data-step=(row.level - 1).min(STEPS).to_string()
            title=title
        >
            {twisty.unwrap_or_else(|| view! { <span class="tree-twisty"></span> })}
            <Icon name=icon/>
            {words}
            {row.version.map(|version| view! { " "<span class="tree-version">{texts::version(version)}</span> })}
            {mark}
            {row.model.map(|model| view! { " "<bdi class="tree-model">{model}</bdi> })}
            {row.label.map(|label| view! { " "<bdi class="tree-label">{label}</bdi> })}
            {(row.hidden > 0 && row.folded.is_none()).then(|| view! {
                " "
                <span class="tree-hidden">{texts::more(row.hidden)}</span>
            })}
            {more}
        </div>
    }
}
