//! The transcript: the turns of a path, in order, finished and streaming. Only `domain::blocks::segment` decides what
//! is rendered as reasoning, as a tool or as text.

use std::time::Duration;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

use crate::api::view::PathDirection;
use crate::browser::{clipboard, dialog, focus, scroll};
use crate::domain::{Role, TurnId};
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, keyed_rows, on_change, view};
use crate::ui::messages::transcript as words;
use crate::ui::state::{ChatState, TurnState};

pub mod approval_prompt;
mod assistant_turn;
pub mod async_form;
mod auto_disclosure;
mod continue_reply;
pub mod copy_button;
mod delete_row;
mod edit_link;
pub mod editor;
pub mod elicitation_form;
mod error_reply;
pub mod focus_entry;
mod item_places;
mod items;
pub mod jump_to_latest;
pub mod load_more;
pub mod model_choice;
mod notices;
mod other_block;
mod other_models;
mod quote_button;
mod reasoning_panel;
mod reasoning_section;
mod recovery_actions;
mod refusal_notice;
pub mod refusals;
mod segment_view;
mod shown_section;
mod source_list;
mod status_line;
mod text_block;
mod tool_card;
mod tool_group;
mod turn_actions;
pub mod turn_commands;
pub mod turn_heading;
mod turn_keys;
pub mod turn_menu;
mod user_turn;
mod versions;

use assistant_turn::AssistantTurn;
use jump_to_latest::JumpToLatest;
use load_more::LoadMore;
use quote_button::QuoteButton;
use turn_heading::{LIST_ID, article_id, focus_on_turn, heading_id, turn_of_article};
use user_turn::UserTurn;

/// The newest turn's id: the target of the skip link and of the forms of a page without script.
pub const LATEST_ID: &str = "latest";

/// Renders the turns of the path on screen. Follows running replies and the scroll position.
#[component]
pub fn Transcript(
    state: ChatState,
    /// Stops a reply and keeps its partial text.
    on_stop: Callback<TurnId>,
    /// Requests another reply to the same message.
    on_retry: Callback<TurnId>,
    /// The turn that the address names.
    #[prop(optional_no_strip)]
    at: Option<TurnId>,
    /// True for a new visit; a reload and Back restore the previous position.
    #[prop(optional)]
    is_new_visit: bool,
) -> impl IntoView {
    let place = RwSignal::new(scroll::ScrollStatus { is_following: true, ..scroll::ScrollStatus::default() });
    follow_replies(state);
    load_more::load_as_scrolled(state, place);
    load_more::register_path_end_loader(state);
    effect(move || {
        let watch = scroll::start_watching(LIST_ID, move |now| {
            let _ = place.try_set(now);
        });
        on_cleanup(move || scroll::stop_watching(watch));
        open_at(state, at, is_new_visit);
    });
    let on_keydown = move |event: KeyboardEvent| {
        // The browser's own End key would lead to the end of the loaded turns.
        if event.key() == "End" && !focus::is_in_text_field() && untrack(move || state.has_more(PathDirection::Newer)) {
            event.prevent_default();
            load_more::go_to_latest(state);
        }
        // With the focus among the turns, Esc stops a reply at the first press (docs/reference/ux.md 8); without a
        // running reply it leads to the message box.
        if event.key() == "Escape"
            && !event.default_prevented()
            && !event.is_composing()
            && !focus::is_in_text_field()
            && !dialog::is_any_open()
        {
            let running = untrack(move || state.running_reply());
            if running.is_some() || focus::focus_first("#message") {
                event.prevent_default();
            }
            if let Some(running) = running {
                on_stop.run(running);
            }
            return;
        }
        turn_keys::on_keydown(&event);
    };
    // Rendered Markdown has no listeners of its own, so clicks are delegated.
    let on_click = move |event: MouseEvent| {
        scroll::anchor_clicked_header(&event);
        clipboard::copy_as_clicked(&event, crate::ui::messages::copied_mark(), move |copied| {
            state.announce(if copied { crate::ui::messages::copied() } else { words::copy_failed() });
        });
    };
    view! {
        <section class="transcript" on:keydown=on_keydown on:click=on_click>
            <h2 class="quiet">{words::transcript()}</h2>
            <LoadMore state side=PathDirection::Older/>
            <ol id=LIST_ID class="turns" aria-label=words::transcript()>
                {keyed_rows(
                    move || state.batches(),
                    |batch| u128::from(*batch),
                    move |batch| keyed_rows(
                        move || state.turns_of_batch(batch),
                        |turn| turn.id().as_u128(),
                        move |turn| view! { <TurnRow state turn on_retry/> },
                    ),
                )}
            </ol>
            <LoadMore state side=PathDirection::Newer/>
            <JumpToLatest state place/>
            <QuoteButton state/>
        </section>
    }
}

/// Scrolls a message that was just sent or retried to below the header, with space below it for the reply
/// (docs/reference/ux.md S6).
pub fn show_sent(user_turn: TurnId) {
    scroll::scroll_to_sent(&article_id(user_turn));
}

/// Does the same with the first message of a chat, whose page is about to open.
pub fn expect_sent(user_turn: TurnId) {
    scroll::expect_sent(&article_id(user_turn));
}

/// Opens the page at the position of the address, at the reader's last position, or at its end.
fn open_at(state: ChatState, at: Option<TurnId>, is_new_visit: bool) {
    let Some((chat, _, leaf)) = state.edge(PathDirection::Newer) else { return };
    let at = at.filter(|at| state.is_on_screen(*at));
    if let Some(at) = at.filter(|at| *at != leaf) {
        return scroll::scroll_to_element(&article_id(at), Some(&heading_id(at)));
    }
    // A link to the newest turn leads there; later its address is only that of the path.
    let as_left = at.is_none() || !is_new_visit;
    // The last position may be far from the turns that the page came with.
    scroll::restore_position(LIST_ID, &format!("place:{chat}"), as_left, move |id, opening| {
        match turn_of_article(&id) {
            Some(turn) => load_more::bring_turn(state, turn, move |_| scroll::resume_restoration(opening)),
            None => scroll::resume_restoration(opening),
        }
    });
    if !as_left {
        request_animation_frame(move || focus_on_turn(leaf));
    }
}

/// Scrolls to the turn that the address names, unless the page already restores a position: to below the header, or
/// to the end for the newest. A reader who chose it in the tree panel keeps the focus there, and one who has begun to
/// write stays in the box.
pub fn reveal_turn(state: ChatState, at: TurnId, writes: bool) {
    request_animation_frame(move || {
        if scroll::is_anchoring() {
            return;
        }
        let is_leaf = state.leaf_id() == Some(at);
        load_more::bring_turn(state, at, move |is_there| {
            let heading = (!writes && !focus::is_within("#panel")).then(|| heading_id(at));
            match (is_there, is_leaf) {
                (false, _) => {}
                (true, false) => scroll::scroll_to_element(&article_id(at), heading.as_deref()),
                (true, true) => {
                    scroll::scroll_to_latest();
                    if heading.is_some() {
                        focus_on_turn(at);
                    }
                }
            }
        });
    });
}

/// A turn in its row of the list.
#[component]
fn TurnRow(state: ChatState, turn: TurnState, on_retry: Callback<TurnId>) -> impl IntoView {
    let id = turn.id();
    let is_leaf = Memo::new(move |_| state.leaf().is_some_and(|leaf| leaf.id() == id));
    // Before the first reply of a path there is only the message that it answers.
    let switched_to = turn
        .with_untracked(|view| view.switched_to.as_ref().map(|model| words::switched_to(model, view.turn.depth > 1)));
    let is_users = turn.role() != Role::Assistant;
    let article = match turn.role() {
        Role::Assistant => view! { <AssistantTurn state turn on_retry/> }.into_any(),
        Role::User | Role::System => view! { <UserTurn state turn is_leaf on_retry/> }.into_any(),
    };
    view! {
        <li
            id=move || is_leaf.get().then_some(LATEST_ID)
            class="turn-row"
            class:leaf=is_leaf
            class:of-user=is_users
        >
            {switched_to.map(|text| view! { <p class="lineage">{text}</p> })}
            {article}
        </li>
    }
}

/// Follows the running replies, ticks while there are any, and retries when the reader or the network asks for it.
fn follow_replies(state: ChatState) {
    effect(move || state.follow_running());
    let is_running = Memo::new(move |_| state.running_reply().is_some());
    effect(move || {
        if !is_running.get() {
            return;
        }
        state.tick();
        if let Ok(ticking) = set_interval_with_handle(move || state.tick(), Duration::from_secs(1)) {
            on_cleanup(move || ticking.clear());
        }
    });
    if let Some(connection) = use_context::<PageConnection>() {
        let wanted = connection.retry_signal();
        on_change(move || wanted.get(), move |_, _| state.reopen_streams_now());
    }
}
