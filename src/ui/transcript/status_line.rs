//! What a reply waits for while it shows nothing new: a spinner alone is never a status (ux.md 14).

use leptos::prelude::*;

use crate::domain::turn::Attempt;
use crate::domain::waiting::waits_for;
use crate::domain::{BlockState, Content, Turn, TurnStatus};
use crate::ui::erased::{live, view};
use crate::ui::state::{ChatState, TurnState};
use crate::ui::words;
use crate::ui::words::told::told;
use crate::ui::words::transcript as said;

/// After this many seconds, the line says more.
const NAMES_MODEL: u64 = 1;
const SAYS_WHAT_IS_KNOWN: u64 = 10;
const MAY_LEAVE: u64 = 30;

/// What the reply is doing, when no block of it says so by itself.
#[derive(Debug, Clone, PartialEq)]
enum Waiting {
    For(Option<String>),
    ForPerson,
    Retry(Attempt),
}

/// The line; nothing while blocks grow or tools run, and nothing when the reply is over.
#[component]
pub fn StatusLine(state: ChatState, turn: TurnState) -> impl IntoView {
    let waiting = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| waiting(&view.turn))
    });
    live(move || {
        let turn = turn.clone();
        // Seconds are on screen only: a screen reader is told by the announcer, at its own pace.
        let seconds = move || {
            let since = turn.with_untracked(|view| since(&view.turn));
            state.now().map(|now| u64::try_from((now - since).num_seconds()).unwrap_or(0))
        };
        let line = match waiting.get()? {
            Waiting::For(model) => {
                let at_least = {
                    let seconds = seconds.clone();
                    move |bound: u64| seconds().is_some_and(|seconds| seconds >= bound)
                };
                let (known, may_leave) = (at_least.clone(), at_least.clone());
                let name = move || model.clone().filter(|_| at_least(NAMES_MODEL)).map(|model| format!(" · {model}"));
                view! {
                    <span>{said::thinking_status()}</span>
                    <bdi>{move || name()}</bdi>
                    <span class="timer" aria-hidden="true">{move || seconds().map(said::seconds)}</span>
                    {move || known(SAYS_WHAT_IS_KNOWN).then(|| view! { <span>{said::waiting_for_first()}</span> })}
                    {move || may_leave(MAY_LEAVE).then(|| view! { <span>{said::can_leave()}</span> })}
                }
                .into_any()
            }
            Waiting::ForPerson => {
                return Some(view! { <p class="status-line"><span>{said::waits_for_answer()}</span></p> });
            }
            Waiting::Retry(attempt) => {
                let wait = attempt.wait_ms.div_ceil(1000);
                let began = StoredValue::new(None);
                let left = move || {
                    let now = state.now()?;
                    began.update_value(|began| *began = began.or(Some(now)));
                    let passed = began.get_value().map_or(0, |began| (now - began).num_seconds());
                    Some(wait.saturating_sub(u64::try_from(passed).unwrap_or(0)))
                };
                let said_of = |left| if left == 0 { said::trying_now().to_owned() } else { said::next_try(left) };
                // Counted down on screen; to a screen reader it stays what it was said to be.
                let countdown = move || {
                    view! {
                        <span class="quiet">{said::next_try(wait)}</span>
                        <span class="countdown" aria-hidden="true">{move || said_of(left().unwrap_or(wait))}</span>
                    }
                };
                view! {
                    <span class="attempt">{said::attempt(attempt.number, attempt.of)}</span>
                    <span dir="auto">{told(&attempt.reason.message).into_owned()}</span>
                    {(wait > 0).then(countdown)}
                }
                .into_any()
            }
        };
        Some(view! {
            <p class="status-line">
                <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
                {line}
            </p>
        })
    })
}

/// How a reply ended when it was stopped; nothing otherwise.
#[component]
pub fn StoppedLine(turn: TurnState) -> impl IntoView {
    let is_stopped = Memo::new(move |_| turn.with(|view| view.turn.status == TurnStatus::Cancelled));
    live(move || is_stopped.get().then(|| view! { <p class="stopped-line">{said::stopped_by_you()}</p> }))
}

/// A page without script does not grow by itself. Hidden by the style once it is hydrated.
#[component]
pub fn RefreshLink(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let chat = turn.with_untracked(|view| view.turn.chat_id);
    let is_running = Memo::new(move |_| turn.is_running());
    live(move || {
        is_running.get().then(|| {
            view! { <a class="turn-refresh" href=format!("/c/{chat}?at={id}#latest")>{words::refresh()}</a> }
        })
    })
}

fn waiting(turn: &Turn) -> Option<Waiting> {
    if turn.status.is_terminal() {
        return None;
    }
    if waits_for(turn).is_some() {
        return Some(Waiting::ForPerson);
    }
    if let Some(attempt) = &turn.attempt {
        return Some(Waiting::Retry(attempt.clone()));
    }
    let is_busy = turn.blocks.iter().any(|block| match &block.content {
        Content::ToolUse { status, .. } => block.state == BlockState::Open || status.is_open(),
        // Reasoning that is not shown yet, or not at all, is waited for like silence.
        Content::Text { text, .. } => block.state == BlockState::Open && !text.trim().is_empty(),
        Content::Thinking { .. } => block.state == BlockState::Open,
        _ => false,
    });
    (!is_busy).then(|| Waiting::For(turn.model_used.clone()))
}

/// Since when there was nothing new.
fn since(turn: &Turn) -> chrono::DateTime<chrono::Utc> {
    turn.blocks.last().map_or(turn.created_at, |block| block.created_at)
}
