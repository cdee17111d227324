//! A reply that ended early: the reason, and the button that requests the rest (docs/reference/ux.md 8).

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::browser::request_id;
use crate::domain::blocks::notice::{self, Notice};
use crate::domain::{Block, Content, TurnId, TurnStatus};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages::stored_codes::notice_block_sentence;
use crate::ui::messages::transcript as words;
use crate::ui::state::{ChatState, TurnState};

/// The line below such a reply; nothing below a complete one. At the path's end it offers to continue.
#[component]
pub fn EndedEarlyLine(state: ChatState, turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let ending = Memo::new(move |_| {
        if !turn.with(|view| view.turn.status.is_terminal()) {
            return None;
        }
        let ending = |block: &Block| {
            let sentence = notice_block_sentence(block).unwrap_or_default();
            Some((block.id, notice::ending_notice(block)?, sentence))
        };
        turn.with(|view| view.turn.blocks.iter().rev().find_map(ending))
    });
    let goes_on = Memo::new(move |_| {
        ending.get().is_some_and(|(_, notice, _)| notice == Notice::LengthReached) && is_end(state, id)
    });
    live_view(move || {
        let (block, _, sentence) = ending.get()?;
        let form = move || goes_on.get().then(|| continue_button(id)).flatten();
        Some(view! {
            <div class="ended-early">
                <p class="ended-why" data-block-id=block.to_string() data-block-type="x:notice">
                    {sentence}
                </p>
                {live_view(form)}
            </div>
        })
    })
}

/// The line below a reply that was stopped. At the path's end it offers to continue what there is.
#[component]
pub fn StoppedLine(state: ChatState, turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let of_form = turn.clone();
    let is_stopped = Memo::new(move |_| turn.with(|view| view.turn.status == TurnStatus::Cancelled));
    let goes_on = Memo::new(move |_| is_stopped.get() && is_end(state, id) && has_something_to_continue(&of_form));
    live_view(move || {
        let form = move || goes_on.get().then(|| continue_button(id)).flatten();
        is_stopped.get().then(|| {
            view! {
                <div class="ended-early">
                    <p class="stopped-line">{words::stopped_by_you()}</p>
                    {live_view(form)}
                </div>
            }
        })
    })
}

/// Returns whether a reply is at the end of the path.
pub fn is_end(state: ChatState, reply: TurnId) -> bool {
    state.leaf().is_some_and(|leaf| leaf.id() == reply)
}

/// Returns whether a reply has text or tool calls: of less, there is nothing to continue.
pub fn has_something_to_continue(turn: &TurnState) -> bool {
    let is_something = |block: &Block| match &block.content {
        Content::Text { text, is_error } => !*is_error && !text.trim().is_empty(),
        Content::ToolUse { .. } => true,
        _ => false,
    };
    turn.with(|view| view.turn.blocks.iter().any(is_something))
}

/// The button "Continue": requests the rest of this reply, within its text where the model can continue that, else with
/// a message of its own; the text in the message box stays. None on a page without commands.
pub fn continue_button(reply: TurnId) -> Option<AnyView> {
    let verbs = use_context::<TurnCommands>()?;
    // The idempotency key of the button: repeated clicks request the rest once.
    let request = format!("continue-{reply}-{}", verbs.form_request_id.get_value());
    let own_request = StoredValue::new(request_id::mint());
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        verbs.request_rest(reply, words::rest_message(), own_request.get_value());
    };
    Some(
        view! {
            <form method="post" action="/forms/continue-reply" class="inline-form no-print" on:submit=on_submit>
                <input type="hidden" name="turn_id" value=reply.to_string()/>
                <input type="hidden" name="client_request_id" value=request/>
                <input type="hidden" name="text" value=words::rest_message()/>
                <button type="submit" class="button" data-verb="continue">
                    <Icon name="chevron-right"/>
                    {words::ask_for_rest()}
                </button>
            </form>
        }
        .into_any(),
    )
}
