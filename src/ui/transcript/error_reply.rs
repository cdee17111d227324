//! The error panel of a failed reply: the reason and the recovery actions (docs/reference/ux.md 8). They depend on
//! the turn's error code, never on its text.

use leptos::prelude::*;

use super::copy_button::CopyButton;
use super::other_models::RetryModelMenu;
use super::recovery_actions::{RecoveryAction, recovery_actions, recovery_link};
use super::turn_actions::RetryForm;
use crate::domain::{Failure, TurnId, TurnStatus};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages::transcript as words;
use crate::ui::messages::turn_actions as texts;
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};

/// The panel below the partial text; nothing for a reply that did not fail.
#[component]
pub fn ErrorReply(state: ChatState, turn: TurnState, on_retry: Callback<TurnId>) -> impl IntoView {
    let id = turn.id();
    let failure = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| view.turn.error.clone().filter(|_| view.turn.status == TurnStatus::Error))
    });
    let model = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| view.turn.model_used.clone())
    });
    live_view(move || {
        let failure = failure.get()?;
        let title_id = format!("turn-{id}-error");
        let labelled_by = title_id.clone();
        let facts = facts(&failure, id, model.get());
        let kind = failure.kind;
        let others =
            recovery_actions(kind).iter().filter_map(|action| recovery_link(*action, state, &turn)).collect_view();
        // Actions that can succeed without a change come first.
        let answers = turn.with_untracked(|view| view.turn.prev_turn_id.is_some());
        let names_models = recovery_actions(kind).contains(&RecoveryAction::RetryWithModel);
        let retry = answers.then(|| {
            view! {
                <RetryForm turn=turn.clone() on_retry is_wordy=true/>
                {(!names_models).then(|| view! { <RetryModelMenu turn=turn.clone()/> })}
            }
        });
        let (first, last) = if kind.is_retryable() { (retry, None) } else { (None, retry) };
        let actions = standalone_context().is_none().then(|| {
            view! {
                <div class="error-actions">
                    {first}
                    {others}
                    {last}
                </div>
            }
        });
        Some(view! {
            <div class="error-reply" role="group" data-error=failure.kind.as_str() aria-labelledby=labelled_by>
                <p id=title_id class="error-title">
                    <Icon name="alert"/>
                    <span dir="auto">{texts::failure(&failure)}</span>
                </p>
                {failure.retry_after_ms.filter(|ms| *ms > 0).map(|ms| view! {
                    <p class="error-step">{words::wait_requested(ms.div_ceil(1000))}</p>
                })}
                {words::next_step(kind).map(|step| view! { <p class="error-step">{step}</p> })}
                {actions}
                {error_details(id, facts)}
            </div>
        })
    })
}

/// The details in a disclosure, with a copy button.
fn error_details(id: TurnId, facts: Vec<(&'static str, String)>) -> impl IntoView {
    let summary_id = format!("turn-{id}-error-details");
    let copied = facts.iter().map(|(label, value)| format!("{label}: {value}")).collect::<Vec<_>>().join("\n");
    let copied = Callback::new(move |()| copied.clone());
    view! {
        <div class="error-more">
            <details class="error-details">
                <summary id=summary_id role="button">
                    {words::details()}
                    <Icon name="chevron-right"/>
                </summary>
                <dl>
                    {facts.into_iter().map(|(label, value)| view! {
                        <div>
                            <dt>{label}</dt>
                            <dd dir="auto">{value}</dd>
                        </div>
                    }).collect_view()}
                </dl>
            </details>
            <CopyButton name=words::copy_details() text=copied is_wordy=true/>
        </div>
    }
}

/// Returns the facts that support would ask for.
fn facts(failure: &Failure, turn: TurnId, model: Option<String>) -> Vec<(&'static str, String)> {
    let mut facts = vec![(words::code(), failure.kind.as_str().to_owned())];
    facts.extend(model.map(|model| (words::requested_model(), model)));
    let detail = failure.detail.clone().filter(|detail| *detail != failure.message);
    facts.extend(detail.map(|detail| (words::provider_response(), detail)));
    facts.push((words::turn(), turn.to_string()));
    facts
}
