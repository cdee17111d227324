//! What else can be done about a failure than to try again (ux.md 8): by its kind, each a link that leads somewhere
//! without script too.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::continue_reply::continue_button;
use super::other_models::RetryWithLink;
use super::turn_commands::TurnCommands;
use super::turn_heading::article_id;
use crate::browser::document;
use crate::domain::FailureKind;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::messages::transcript as words;
use crate::ui::messages::turn_actions as said;
use crate::ui::state::{ChatState, TurnState};

/// One way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryAction {
    /// To the provider's card in the settings, under the name of what is to be done there.
    OpenProvider,
    ReplaceKey,
    TestProvider,
    /// Another try of another model.
    RetryWithModel,
    /// The message in other words.
    EditMessage,
    /// What the model was shown.
    ShowRequest,
    /// The same, at how much each kind of it is.
    ShowRequestSizes,
    /// On from the reply before, without what followed it.
    BranchEarlier,
    /// The rest, asked for in a message of its own.
    Continue,
}

/// The ways out of a failure, the likeliest first. None where nothing but another try, or waiting, helps.
pub fn recovery_actions(kind: FailureKind) -> &'static [RecoveryAction] {
    use FailureKind as Kind;
    match kind {
        Kind::ProviderAuth => &[RecoveryAction::ReplaceKey, RecoveryAction::RetryWithModel],
        Kind::ProviderQuota => &[RecoveryAction::OpenProvider, RecoveryAction::RetryWithModel],
        Kind::ProviderUnreachable => &[RecoveryAction::TestProvider, RecoveryAction::RetryWithModel],
        Kind::ProviderProtocol => &[RecoveryAction::OpenProvider, RecoveryAction::RetryWithModel],
        Kind::ModelNotFound => &[RecoveryAction::RetryWithModel, RecoveryAction::OpenProvider],
        Kind::ContextTooLong => &[
            RecoveryAction::ShowRequestSizes,
            RecoveryAction::BranchEarlier,
            RecoveryAction::EditMessage,
            RecoveryAction::RetryWithModel,
        ],
        Kind::ProviderRefusedRequest => {
            &[RecoveryAction::ShowRequest, RecoveryAction::EditMessage, RecoveryAction::RetryWithModel]
        }
        Kind::ContentFiltered => &[RecoveryAction::EditMessage, RecoveryAction::RetryWithModel],
        Kind::ProviderRateLimited
        | Kind::ProviderOverloaded
        | Kind::ProviderError
        | Kind::ProviderStalled
        | Kind::LimitEvent
        | Kind::LimitToolArgs => &[RecoveryAction::RetryWithModel],
        Kind::LimitOutput | Kind::LimitTime => &[RecoveryAction::Continue],
        Kind::ProviderTruncated
        | Kind::LimitRounds
        | Kind::ServerRestarted
        | Kind::StorageFull
        | Kind::Internal
        | Kind::Unknown => &[],
    }
}

/// The link of a way out of the failure of this reply; nothing where the reply has none.
pub fn recovery_link(way: RecoveryAction, state: ChatState, turn: &TurnState) -> Option<AnyView> {
    let id = turn.id();
    if way == RecoveryAction::RetryWithModel {
        // A reply that answers no message cannot be given again.
        turn.with_untracked(|view| view.turn.prev_turn_id)?;
        return Some(view! { <RetryWithLink id class="button"/> }.into_any());
    }
    if way == RecoveryAction::Continue {
        let chat = turn.with_untracked(|view| view.turn.chat_id);
        let is_end = move || state.leaf().is_some_and(|leaf| leaf.id() == id);
        return Some(live_view(move || is_end().then(|| continue_button(chat, id)).flatten()).into_any());
    }
    let (message, provider) = turn.with_untracked(|view| (view.turn.prev_turn_id, view.turn.provider_used.clone()));
    if let (RecoveryAction::TestProvider, Some(provider)) = (way, &provider) {
        // Tested at once; what came of it is said at the provider's card.
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
    let (name, icon, href) = match way {
        RecoveryAction::OpenProvider => (words::provider_settings(), "key", card),
        RecoveryAction::ReplaceKey => (words::replace_key(), "key", card),
        RecoveryAction::TestProvider => (words::test_provider(), "key", card),
        RecoveryAction::EditMessage => (words::edit_message(), "edit", format!("/turns/{}/edit", message?)),
        RecoveryAction::ShowRequestSizes => (said::what_is_big(), "file", format!("/turns/{id}/sent#big")),
        RecoveryAction::RetryWithModel
        | RecoveryAction::BranchEarlier
        | RecoveryAction::Continue
        | RecoveryAction::ShowRequest => (words::what_was_sent(), "file", format!("/turns/{id}/sent")),
    };
    if way == RecoveryAction::BranchEarlier {
        let before = untrack(|| state.find(message?))?.with_untracked(|view| view.turn.prev_turn_id)?;
        let chat = turn.with_untracked(|view| view.turn.chat_id);
        let href = format!("/c/{chat}?from={before}");
        return Some(
            view! { <a class="button" href=href><Icon name="branch"/>{words::branch_earlier()}</a> }.into_any(),
        );
    }
    let verbs = use_context::<TurnCommands>();
    // In its own place, where that is on screen.
    let edit = move |event: MouseEvent| {
        if let (Some(verbs), Some(message)) =
            (verbs, message.filter(|message| document::has_element(&article_id(*message))))
        {
            event.prevent_default();
            verbs.editing.set(Some(message));
        }
    };
    Some(match way {
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
            // A sentence that says what to do beside trying again has the link to it.
            let says = |what: &str| next_step(kind).is_some_and(|step| step.contains(what));
            assert!(
                !says("model")
                    || recovery_actions(kind).iter().any(|way| matches!(
                        way,
                        RecoveryAction::RetryWithModel | RecoveryAction::ShowRequest | RecoveryAction::ShowRequestSizes
                    )),
                "{kind:?}"
            );
            assert!(
                !says("shown")
                    || recovery_actions(kind)
                        .iter()
                        .any(|way| matches!(way, RecoveryAction::ShowRequest | RecoveryAction::ShowRequestSizes)),
                "{kind:?}"
            );
            assert!(!says("key") || recovery_actions(kind).contains(&RecoveryAction::ReplaceKey), "{kind:?}");
        }
    }
}
