//! Loading turns that are not on screen: the buttons at both ends of the list, loading on scroll, and jumps to one
//! turn (docs/reference/ux.md S8).

use std::time::Duration;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::focus_entry::PathEndLoader;
use super::turn_heading::{LIST_ID, article_id, heading_id, turn_of_article};
use crate::api::turns::load_turns;
use crate::api::view::{ChatPage, PathDirection};
use crate::browser::{focus, scroll};
use crate::domain::{TurnId, limits};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::messages::transcript as words;
use crate::ui::state::ChatState;

/// The button at one end of the list; nothing where the path ends. A link, so that it works without script.
#[component]
pub fn LoadMore(state: ChatState, side: PathDirection) -> impl IntoView {
    let has_more = Memo::new(move |_| state.has_more(side));
    let has_failed = Memo::new(move |_| state.loading().has_failed(side));
    let (name, failed) = match side {
        PathDirection::Older => (words::load_older(), words::older_failed()),
        PathDirection::Newer => (words::load_newer(), words::newer_failed()),
    };
    let href = move || {
        let _ = state.turns();
        let (chat, at, _) = state.edge(side)?;
        // The fragment keeps the previous first turn, now the last of the loaded ones, in view.
        let place = if side == PathDirection::Older { format!("#{}", article_id(at)) } else { String::new() };
        Some(format!("/c/{chat}?at={at}&side={}{place}", side.as_str()))
    };
    let on_click = move |event: MouseEvent| {
        event.prevent_default();
        load_side(state, side);
    };
    let on_keydown = move |event: KeyboardEvent| {
        if event.key() == " " {
            event.prevent_default();
            load_side(state, side);
        }
    };
    live_view(move || {
        has_more.get().then(|| {
            view! {
                <div class="more-turns" data-side=side.as_str()>
                    {move || has_failed.get().then(|| view! { <p class="hint">{failed}</p> })}
                    <p class="only-print">{words::more_not_printed()}</p>
                    <a class="button" role="button" rel="external" href=move || href() on:click=on_click on:keydown=on_keydown>
                        {name}
                    </a>
                </div>
            }
        })
    })
}

/// Loads more turns when the reader approaches an end of the window. After a failure it waits for the button.
pub fn load_as_scrolled(state: ChatState, place: RwSignal<scroll::ScrollStatus>) {
    effect(move || {
        let place = place.get();
        if place.is_near_start && state.may_load(PathDirection::Older) {
            load_side(state, PathDirection::Older);
        } else if place.is_near_end && state.may_load(PathDirection::Newer) {
            load_side(state, PathDirection::Newer);
        }
    });
}

/// Loads the next turns on one side, one request at a time, with the reader's scroll position anchored.
fn load_side(state: ChatState, side: PathDirection) {
    let Some((chat, from, leaf)) = state.edge(side).filter(|_| state.start_loading(side)) else { return };
    spawn_local(async move {
        let page = load_turns(chat, from, leaf, Some(side)).await;
        // The reader may have moved to another path or page meanwhile.
        if !state.is_page_alive() || state.edge(side) != Some((chat, from, leaf)) {
            return state.finish_loading();
        }
        let Ok(page) = page else {
            state.fail_loading(side);
            return state.announce(match side {
                PathDirection::Older => words::older_failed(),
                PathDirection::Newer => words::newer_failed(),
            });
        };
        let had_focus = focus::is_within(&format!(".more-turns[data-side={}]", side.as_str()));
        let was_in_list = focus::is_within(".turns");
        let change = move || {
            if state.take_turns(side, from, page) {
                trim(state, if side == PathDirection::Older { PathDirection::Newer } else { PathDirection::Older });
            }
        };
        scroll::change_keeping_view(LIST_ID, change, move || {
            if had_focus || (was_in_list && focus::is_unfocused()) {
                // The focus moves from a removed button, or from a turn that was unloaded with the focus in it, to
                // the adjacent turn.
                focus::focus_first_without_scroll(&format!("#{}", heading_id(from)));
            }
            // Deferred until the new scroll position is known, because the next load depends on it.
            set_timeout(move || state.finish_loading(), Duration::ZERO);
        });
    });
}

/// Unloads turns at the side that the reader is far from, except those in use.
pub fn trim(state: ChatState, side: PathDirection) {
    // The focus stays behind where a person came by a link and scrolled on; it must not keep everything loaded that
    // they scroll past.
    let by_focus = untrack(move || state.turns()).len() <= limits::SHOWN_FOR_FOCUS;
    state.trim(side, limits::SHOWN_TURNS, |turn| scroll::is_in_use(&article_id(turn), by_focus));
}

/// Brings a turn of the path on screen, loading it if necessary, and then calls `then`; not if the reader moved
/// elsewhere meanwhile.
pub fn bring_turn(state: ChatState, turn: TurnId, then: impl FnOnce(bool) + 'static) {
    if state.is_on_screen(turn) {
        return then(true);
    }
    let Some((chat, _, leaf)) = state.edge(PathDirection::Newer) else { return };
    let request = state.start_move();
    spawn_local(async move {
        let page = load_turns(chat, turn, leaf, None).await;
        if !state.is_current_move(request) {
            return;
        }
        let is_there = page.is_ok();
        if let Ok(page) = page {
            state.show_turns(page);
        }
        // The turns are in the page after this task.
        request_animation_frame(move || then(is_there));
    });
}

/// Scrolls to the path's end.
pub fn go_to_latest(state: ChatState) {
    if let Some(leaf) = state.leaf_id() {
        bring_turn(state, leaf, |_| scroll::scroll_to_latest());
    }
}

/// Registers the loader of the path's end for code that acts on the last turns.
pub fn register_path_end_loader(state: ChatState) {
    let Some(end) = use_context::<PathEndLoader>() else { return };
    end.set_loader(Callback::new(move |then: Callback<()>| {
        let leaf = untrack(move || state.leaf_id().filter(|_| state.has_more(PathDirection::Newer)));
        let Some(leaf) = leaf else { return false };
        bring_turn(state, leaf, move |is_there| {
            if is_there {
                scroll::scroll_to_latest();
                then.run(());
            }
        });
        true
    }));
}

/// Applies changes that another tab made to the path. A reader far from the change keeps their position if the turn
/// before their eyes is still on the path. False when the screen changed meanwhile, and nothing was applied.
pub async fn follow_path(state: ChatState, page: ChatPage) -> bool {
    // A reader who follows the end keeps following it.
    let is_following = scroll::is_following() && !untrack(move || state.has_more(PathDirection::Newer));
    let seen = scroll::first_visible_id(LIST_ID).and_then(|id| turn_of_article(&id)).filter(|_| !is_following);
    let Some(page) = state.follow_path(page, seen) else { return true };
    let end = page.end.clone().or_else(|| page.turns.last().cloned());
    let request = state.start_move();
    let around = match seen.zip(end.as_ref()).zip(state.edge(PathDirection::Newer)) {
        Some(((seen, end), (chat, ..))) => load_turns(chat, seen, end.turn.id, None).await.ok(),
        None => None,
    };
    if !state.is_current_move(request) {
        return false;
    }
    match around.zip(end) {
        Some((around, end)) => state.show_with_end(around, end),
        None => state.show_page(page),
    }
    true
}
