//! Recovery actions for a failed reply beyond a retry (docs/reference/ux.md 8): chosen by the kind of failure, each a
//! link that also works without script.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::continue_reply::{continue_button, has_something_to_continue, is_end};
use super::other_models::RetryWithLink;
use super::turn_commands::TurnCommands;
use super::turn_heading::article_id;
use crate::browser::document;
use crate::domain::FailureKind;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::messages::transcript as words;
use crate::ui::messages::turn_actions as texts;
use crate::ui::state::{ChatState, TurnState};

/// One recovery action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryAction {
    /// Opens the provider's card in the settings, labelled with what to do there.
    OpenProvider,
    ReplaceKey,
    TestProvider,
    /// Retries with another model.
    RetryWithModel,
    /// Edits the message.
    EditMessage,
    /// Shows the request that was sent to the model.
    ShowRequest,
    /// Shows that request at its sizes by kind.
    ShowRequestSizes,
    /// Continues from the previous reply, without what followed it.
    BranchEarlier,
    /// Requests the rest of a reply that broke off.
    Continue,
}

/// Returns the recovery actions of a failure, the likeliest first. Empty where only a retry, or waiting, helps.
pub fn recovery_actions(kind: FailureKind) -> &'static [RecoveryAction] {
    use FailureKind as Kind;
    match kind {
        Kind::ProviderAuth => &[RecoveryAction::ReplaceKey, RecoveryAction::RetryWithModel],
        Kind::ProviderQuota => &[RecoveryAction::OpenProvider, RecoveryAction::RetryWithModel],
        Kind::ProviderUnreachable => {
            &[RecoveryAction::Continue, RecoveryAction::TestProvider, RecoveryAction::RetryWithModel]
        }
        Kind::ProviderProtocol => &[RecoveryAction::OpenProvider, RecoveryAction::RetryWithModel],
        Kind::ModelNotFound => &[RecoveryAction::RetryWithModel, RecoveryAction::OpenProvider],
        Kind::ContextTooLong => &[
            RecoveryAction::ShowRequestSizes,
            RecoveryAction::BranchEarlier,
            RecoveryAction::EditMessage,
            RecoveryAction::RetryWithModel,
        ],
        // A refused reply has text only if it continues another version, or if a later step was refused.
        Kind::ProviderRefusedRequest => &[
            RecoveryAction::Continue,
            RecoveryAction::ShowRequest,
            RecoveryAction::EditMessage,
            RecoveryAction::RetryWithModel,
        ],
        Kind::ContentFiltered => &[RecoveryAction::EditMessage, RecoveryAction::RetryWithModel],
        Kind::ProviderRateLimited
        | Kind::ProviderOverloaded
        | Kind::ProviderError
        | Kind::ProviderStalled
        | Kind::LimitEvent
        | Kind::LimitToolArgs => &[RecoveryAction::Continue, RecoveryAction::RetryWithModel],
        Kind::ProviderTruncated
        | Kind::LimitOutput
        | Kind::LimitTime
        | Kind::LimitRounds
        | Kind::ServerRestarted
        | Kind::StorageFull => &[RecoveryAction::Continue],
        // Until a budget resets or can be read again, no request is sent.
        Kind::BudgetDayCost
        | Kind::BudgetDayTokens
        | Kind::BudgetDayRequests
        | Kind::BudgetMonthCost
        | Kind::BudgetMonthTokens
        | Kind::BudgetMonthRequests
        | Kind::BudgetUnreadable
        | Kind::NoTitle
        | Kind::Internal
        | Kind::Unknown => &[],
    }
}

/// Renders the link of a recovery action for this reply; none where it does not apply.
pub fn recovery_link(action: RecoveryAction, state: ChatState, turn: &TurnState) -> Option<AnyView> {
    let id = turn.id();
    if action == RecoveryAction::RetryWithModel {
        // A reply without a message cannot be retried.
        turn.with_untracked(|view| view.turn.prev_turn_id)?;
        return Some(view! { <RetryWithLink id class="button"/> }.into_any());
    }
    if action == RecoveryAction::Continue {
        let turn = turn.clone();
        let goes_on = move || is_end(state, id) && has_something_to_continue(&turn);
        return Some(live_view(move || goes_on().then(|| continue_button(id)).flatten()).into_any());
    }
    let (message, provider) = turn.with_untracked(|view| (view.turn.prev_turn_id, view.turn.provider_used.clone()));
    if let (RecoveryAction::TestProvider, Some(provider)) = (action, &provider) {
        // Tests at once; the result is shown at the provider's card.
        return Some(
            view! {
                <form method="post" action="/forms/providers/test" class="inline-form">
                    <input type="hidden" name="id" value=provider.clone()/>
                    <button type="submit" class="button"><Icon name="key"/>{words::test_provider()}</button>
                </form>
            }
            .into_any(),
        );
    }
    let card = match provider {
        Some(provider) => format!("/settings/providers#provider-{provider}"),
        None => "/settings/providers".to_owned(),
    };
    let (name, icon, href) = match action {
        RecoveryAction::OpenProvider => (words::provider_settings(), "key", card),
        RecoveryAction::ReplaceKey => (words::replace_key(), "key", card),
        RecoveryAction::TestProvider => (words::test_provider(), "key", card),
        RecoveryAction::EditMessage => (words::edit_message(), "edit", format!("/turns/{}/edit", message?)),
        RecoveryAction::ShowRequestSizes => (texts::context_usage(), "file", format!("/turns/{id}/sent#big")),
        RecoveryAction::RetryWithModel
        | RecoveryAction::BranchEarlier
        | RecoveryAction::Continue
        | RecoveryAction::ShowRequest => (words::what_was_sent(), "file", format!("/turns/{id}/sent")),
    };
    if action == RecoveryAction::BranchEarlier {
        let before = untrack(|| state.find(message?))?.with_untracked(|view| view.turn.prev_turn_id)?;
        let chat = turn.with_untracked(|view| view.turn.chat_id);
        let href = format!("/c/{chat}?from={before}");
        return Some(
            view! { <a class="button" href=href><Icon name="branch"/>{words::branch_earlier()}</a> }.into_any(),
        );
    }
    let verbs = use_context::<TurnCommands>();
    // Opens the inline editor where the message is on screen.
    let edit = move |event: MouseEvent| {
        if let (Some(verbs), Some(message)) =
            (verbs, message.filter(|message| document::has_element(&article_id(*message))))
        {
            event.prevent_default();
            verbs.editing.set(Some(message));
        }
    };
    Some(match action {
        RecoveryAction::EditMessage => view! {
            <a class="button" role="button" href=href rel="external" on:click=edit on:keydown=click_by_space>
                <Icon name=icon/>
                {name}
            </a>
        }
        .into_any(),
        _ => view! { <a class="button" href=href rel="external"><Icon name=icon/>{name}</a> }.into_any(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::messages::transcript::next_step;

    #[test]
    fn failure_that_retry_cannot_fix_has_recovery_action() {
        for kind in FailureKind::ALL {
            assert!(kind.is_retryable() || !recovery_actions(kind).is_empty(), "{kind:?}");
            // A sentence that suggests something beyond a retry has the link for it.
            let mentions = |part: &str| next_step(kind).is_some_and(|step| step.contains(part));
            assert!(
                !mentions("model")
                    || recovery_actions(kind).iter().any(|action| matches!(
                        action,
                        RecoveryAction::RetryWithModel | RecoveryAction::ShowRequest | RecoveryAction::ShowRequestSizes
                    )),
                "{kind:?}"
            );
            assert!(
                !mentions("shown")
                    || recovery_actions(kind)
                        .iter()
                        .any(|action| matches!(action, RecoveryAction::ShowRequest | RecoveryAction::ShowRequestSizes)),
                "{kind:?}"
            );
            assert!(!mentions("key") || recovery_actions(kind).contains(&RecoveryAction::ReplaceKey), "{kind:?}");
        }
    }
}
