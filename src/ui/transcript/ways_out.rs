//! What else can be done about a failure than to try again (ux.md 8): by its kind, each a link that leads somewhere
//! without script too.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::going_on::go_on;
use super::other_models::RetryWith;
use super::turn_heading::article_id;
use super::verbs::Verbs;
use crate::browser::document;
use crate::domain::FailureKind;
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::words::transcript as words;
use crate::ui::words::verbs as said;

/// One way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the provider's card in the settings, under the name of what is to be done there.
    Settings,
    ReplaceKey,
    Test,
    /// Another try of another model.
    OtherModel,
    /// The message in other words.
    Edit,
    /// What the model was shown.
    Sent,
    /// The same, at how much each kind of it is.
    Big,
    /// On from the reply before, without what followed it.
    BranchEarlier,
    /// The rest, asked for in a message of its own.
    GoOn,
}

/// The ways out of a failure, the likeliest first. None where nothing but another try, or waiting, helps.
pub fn ways(kind: FailureKind) -> &'static [Way] {
    use FailureKind as Kind;
    match kind {
        Kind::ProviderAuth => &[Way::ReplaceKey, Way::OtherModel],
        Kind::ProviderQuota => &[Way::Settings, Way::OtherModel],
        Kind::ProviderUnreachable => &[Way::Test, Way::OtherModel],
        Kind::ProviderProtocol => &[Way::Settings, Way::OtherModel],
        Kind::ModelNotFound => &[Way::OtherModel, Way::Settings],
        Kind::ContextTooLong => &[Way::Big, Way::BranchEarlier, Way::Edit, Way::OtherModel],
        Kind::ProviderRefusedRequest => &[Way::Sent, Way::Edit, Way::OtherModel],
        Kind::ContentFiltered => &[Way::Edit, Way::OtherModel],
        Kind::ProviderRateLimited
        | Kind::ProviderOverloaded
        | Kind::ProviderError
        | Kind::ProviderStalled
        | Kind::LimitEvent
        | Kind::LimitToolArgs => &[Way::OtherModel],
        Kind::LimitOutput | Kind::LimitTime => &[Way::GoOn],
        Kind::ProviderTruncated
        | Kind::LimitRounds
        | Kind::ServerRestarted
        | Kind::StorageFull
        | Kind::Internal
        | Kind::Unknown => &[],
    }
}

/// The link of a way out of the failure of this reply; nothing where the reply has none.
pub fn way_out(way: Way, state: ChatState, turn: &TurnState) -> Option<AnyView> {
    let id = turn.id();
    if way == Way::OtherModel {
        // A reply that answers no message cannot be given again.
        turn.with_untracked(|view| view.turn.prev_turn_id)?;
        return Some(view! { <RetryWith id class="button"/> }.into_any());
    }
    if way == Way::GoOn {
        let chat = turn.with_untracked(|view| view.turn.chat_id);
        let is_end = move || state.leaf().is_some_and(|leaf| leaf.id() == id);
        return Some(live(move || is_end().then(|| go_on(chat, id)).flatten()).into_any());
    }
    let (message, provider) = turn.with_untracked(|view| (view.turn.prev_turn_id, view.turn.provider_used.clone()));
    if let (Way::Test, Some(provider)) = (way, &provider) {
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
        Way::Settings => (words::provider_settings(), "key", card),
        Way::ReplaceKey => (words::replace_key(), "key", card),
        Way::Test => (words::test_provider(), "key", card),
        Way::Edit => (words::edit_message(), "edit", format!("/turns/{}/edit", message?)),
        Way::Big => (said::what_is_big(), "file", format!("/turns/{id}/sent#big")),
        Way::OtherModel | Way::BranchEarlier | Way::GoOn | Way::Sent => {
            (words::what_was_sent(), "file", format!("/turns/{id}/sent"))
        }
    };
    if way == Way::BranchEarlier {
        let before = untrack(|| state.find(message?))?.with_untracked(|view| view.turn.prev_turn_id)?;
        let chat = turn.with_untracked(|view| view.turn.chat_id);
        let href = format!("/c/{chat}?from={before}");
        return Some(
            view! { <a class="button" href=href><Icon name="branch"/>{words::branch_earlier()}</a> }.into_any(),
        );
    }
    let verbs = use_context::<Verbs>();
    // In its own place, where that is on screen.
    let edit = move |event: MouseEvent| {
        if let (Some(verbs), Some(message)) = (verbs, message.filter(|message| document::has(&article_id(*message)))) {
            event.prevent_default();
            verbs.editing.set(Some(message));
        }
    };
    Some(match way {
        Way::Edit => view! {
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
    use crate::ui::words::transcript::next_step;

    #[test]
    fn what_another_try_alone_cannot_mend_has_another_way_out() {
        for kind in FailureKind::ALL {
            assert!(kind.is_retryable() || !ways(kind).is_empty(), "{kind:?}");
            // A sentence that says what to do beside trying again has the link to it.
            let says = |what: &str| next_step(kind).is_some_and(|step| step.contains(what));
            assert!(
                !says("model") || ways(kind).iter().any(|way| matches!(way, Way::OtherModel | Way::Sent | Way::Big)),
                "{kind:?}"
            );
            assert!(!says("shown") || ways(kind).iter().any(|way| matches!(way, Way::Sent | Way::Big)), "{kind:?}");
            assert!(!says("key") || ways(kind).contains(&Way::ReplaceKey), "{kind:?}");
        }
    }
}
