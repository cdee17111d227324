//! The status line of a reply that shows no progress: a spinner alone is never a status (docs/reference/ux.md 14).

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::async_form::AsyncForm;
use crate::domain::turns::turn::RetryAttempt;
use crate::domain::turns::user_input_wait::pending_user_input;
use crate::domain::{Block, BlockState, Content, Turn, TurnId, TurnStatus};
use crate::ui::erased::{live_view, view};
use crate::ui::messages;
use crate::ui::messages::amounts;
use crate::ui::messages::stored_codes::failure_sentence;
use crate::ui::messages::transcript as texts;
use crate::ui::state::{ChatState, GrowingItem, TurnState};

/// The seconds after which the line adds details.
const NAMES_MODEL: u64 = 1;
const DETAILS_AFTER: u64 = 10;
const MAY_LEAVE: u64 = 30;

/// The activity of the reply, where no block shows it.
#[derive(Debug, Clone, PartialEq)]
enum WaitingFor {
    /// Waits for the model: its name, the number of preceding blocks, and whether any of those is visible.
    Model {
        model: Option<String>,
        behind: usize,
        is_first: bool,
    },
    Person,
    Retry(RetryAttempt),
}

/// The line; nothing while blocks grow or tools run, and nothing when the reply has ended.
#[component]
pub fn StatusLine(
    state: ChatState,
    turn: TurnState,
    /// The growing item while the reply is running.
    growing: Memo<Option<GrowingItem>>,
) -> impl IntoView {
    let waiting = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| waiting(&view.turn))
    });
    let (id, posting) = (turn.id(), AsyncForm::from_context());
    let may_think = turn.with_untracked(|view| view.is_thinking_mode);
    // The label of reasoning that may continue already says that the model thinks.
    let has_reasoning_above = Memo::new(move |_| growing.get().is_some_and(|item| item.is_reasoning));
    // The time of the last activity; where that is unknown, the time when this page noticed the silence.
    let quiet = Memo::new(move |before: Option<&(Option<WaitingFor>, Option<DateTime<Utc>>)>| {
        let waiting = waiting.get();
        match before {
            Some((was, Some(since))) if *was == waiting => (waiting, Some(*since)),
            _ => {
                let since = turn.with_untracked(|view| last_activity(&view.turn));
                (waiting, since.or_else(|| state.server_time()))
            }
        }
    });
    // Seconds are only shown: the announcer tells a screen reader at its own pace.
    let seconds = move || {
        let since = quiet.with(|(_, since)| *since)?;
        state.server_time().map(|now| u64::try_from((now - since).num_seconds()).unwrap_or(0))
    };
    let at_least = move |bound: u64| seconds().is_some_and(|seconds| seconds >= bound);
    let is_long = Memo::new(move |_| at_least(DETAILS_AFTER));
    live_view(move || {
        let line = match waiting.get()? {
            WaitingFor::Model { .. } if has_reasoning_above.get() && !is_long.get() => return None,
            WaitingFor::Model { model, is_first, .. } => {
                let (label, is_quiet) = match is_first {
                    true if may_think => (texts::thinking_status(), false),
                    // Of a model that does not think, the dots and its name say enough.
                    is_first => (texts::waiting_for_model(), is_first),
                };
                let before = if is_quiet { "" } else { " · " };
                let name =
                    move || model.clone().filter(|_| at_least(NAMES_MODEL)).map(|model| format!("{before}{model}"));
                let known = move || is_long.get().then(|| view! { <span>{texts::waiting_for_first()}</span> });
                view! {
                    <span>
                        <span class=if is_quiet { "quiet" } else { "" }>{label}</span>
                        <bdi>{move || name()}</bdi>
                    </span>
                    <span class="timer" aria-hidden="true">{move || seconds().map(amounts::seconds)}</span>
                    {is_first.then_some(known)}
                    {move || at_least(MAY_LEAVE).then(|| view! { <span>{texts::can_leave()}</span> })}
                }
                .into_any()
            }
            WaitingFor::Person => {
                return Some(view! { <div class="status-line"><span>{texts::waits_for_answer()}</span></div> });
            }
            WaitingFor::Retry(attempt) => retry_line(state, id, attempt, posting),
        };
        Some(view! {
            <div class="status-line">
                <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
                {line}
            </div>
        })
    })
}

/// The line of a waiting retry: the reason, the remaining seconds, and a stop button.
fn retry_line(state: ChatState, id: TurnId, attempt: RetryAttempt, posting: AsyncForm) -> AnyView {
    let wait = attempt.wait_ms.div_ceil(1000);
    let began = StoredValue::new(None);
    let left = move || {
        let now = state.server_time()?;
        began.update_value(|began| *began = began.or(Some(now)));
        let passed = began.get_value().map_or(0, |began| (now - began).num_seconds());
        Some(wait.saturating_sub(u64::try_from(passed).unwrap_or(0)))
    };
    let countdown_text = |left| if left == 0 { texts::trying_now().to_owned() } else { amounts::next_try(left) };
    // The countdown is only shown; the text for screen readers stays the first one.
    let countdown = move || {
        view! {
            <span class="quiet">{amounts::next_try(wait)}</span>
            <span class="countdown" aria-hidden="true">{move || countdown_text(left().unwrap_or(wait))}</span>
        }
    };
    view! {
        <span class="attempt">{texts::attempt(attempt.number, attempt.of)}</span>
        <span dir="auto">{failure_sentence(&attempt.reason)}</span>
        {(wait > 0).then(countdown)}
        <form method="post" action="/forms/stop" class="inline-form no-print" on:submit=move |event| posting.submit(event, || ())>
            <input type="hidden" name="turn_id" value=id.to_string()/>
            <button type="submit" class="button" aria-disabled=move || posting.aria_disabled()>{texts::stop_waiting()}</button>
        </form>
        {posting.problem_view()}
    }
    .into_any()
}

/// The refresh link, because a page without script does not update by itself. Hidden by the style after hydration.
#[component]
pub fn RefreshLink(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let chat = turn.with_untracked(|view| view.turn.chat_id);
    let is_running = Memo::new(move |_| turn.is_running());
    live_view(move || {
        is_running.get().then(|| {
            view! { <a class="turn-refresh" href=format!("/c/{chat}?at={id}#latest")>{messages::refresh()}</a> }
        })
    })
}

fn waiting(turn: &Turn) -> Option<WaitingFor> {
    if turn.status.is_terminal() {
        return None;
    }
    if pending_user_input(turn).is_some() {
        return Some(WaitingFor::Person);
    }
    if let Some(attempt) = &turn.attempt {
        return Some(WaitingFor::Retry(attempt.clone()));
    }
    let is_busy = turn.blocks.iter().any(|block| match &block.content {
        Content::ToolUse { status, .. } => block.state == BlockState::Open || status.is_open(),
        // Reasoning without visible text counts as silence.
        // The text of a pending reply is that of the version that it continues.
        Content::Text { text, .. } => {
            block.state == BlockState::Open && turn.status != TurnStatus::Pending && !text.trim().is_empty()
        }
        Content::Thinking { .. } => block.state == BlockState::Open,
        _ => false,
    });
    let showed = |block: &Block| match &block.content {
        Content::Text { text, .. } => !text.trim().is_empty(),
        Content::ThinkingSignature { .. } => false,
        _ => true,
    };
    (!is_busy).then(|| WaitingFor::Model {
        model: turn.model_used.clone(),
        behind: turn.blocks.len(),
        is_first: !turn.blocks.iter().any(showed),
    })
}

/// Returns the time of the last activity of the model or its tools, where that is known.
fn last_activity(turn: &Turn) -> Option<DateTime<Utc>> {
    turn.blocks.last().map_or(Some(turn.created_at), Block::ended_at)
}
