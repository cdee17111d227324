//! The actions of a turn. They are always in the page; the style only makes them less prominent.

use chrono::{DateTime, Utc};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::copy_button::CopyButton;
use super::edit_link::EditLink;
use super::other_models::RetryModelMenu;
use super::turn_heading::{TurnTime, article_id};
use super::turn_menu::{MessageMenu, ReplyMenu, held_while_open};
use super::versions::VersionSwitcher;
use crate::browser::{clipboard, scroll};
use crate::domain::documents::attachment::is_reference;
use crate::domain::{ChatId, Content, Role, TurnId, TurnStatus};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::messages;
use crate::ui::messages::amounts;
use crate::ui::messages::transcript as texts;
use crate::ui::messages::usage;
use crate::ui::standalone::{standalone_context, version_label};
use crate::ui::state::{ChatState, TurnState};

/// A reply that took less took no time that anybody measured.
const SHORTEST_MS: u64 = 50;

/// The actions of a user's turn. At the path's end, where its replies were deleted, it can be retried.
#[component]
pub fn UserActions(
    state: ChatState,
    turn: TurnState,
    at: DateTime<Utc>,
    is_leaf: Memo<bool>,
    on_retry: Callback<TurnId>,
) -> impl IntoView {
    if standalone_context().is_some() {
        return static_actions(&turn, view! { <span class="meta"><TurnTime at/></span> });
    }
    let of_text = turn.clone();
    let text = Callback::new(move |()| of_text.with_untracked(|view| view.turn.content_text()));
    let edit = turn.with_untracked(|view| view.turn.role == Role::User);
    let id = turn.id();
    let of_copy = turn.clone();
    let source = Callback::new(move |()| markdown_with_sources_link(id, &of_copy));
    let of_retry = turn.clone();
    let retry = move || {
        (edit && is_leaf.get()).then(|| {
            view! {
                <RetryForm turn=of_retry.clone() on_retry is_wordy=true/>
                <RetryModelMenu turn=of_retry.clone()/>
            }
        })
    };
    view! {
        <div class="actions">
            {live_view(retry)}
            {edit.then(|| view! { <EditLink id class="button bare" is_wordy=false/> })}
            <CopyButton name=texts::copy_message() text source/>
            <MessageMenu turn=turn.clone()/>
            <span class="meta"><TurnTime at/></span>
            <VersionSwitcher state turn/>
        </div>
    }
}

/// The actions of a reply, with its usage. A failed reply offers "Retry" in its error panel instead.
#[component]
pub fn ReplyActions(state: ChatState, turn: TurnState, on_retry: Callback<TurnId>) -> impl IntoView {
    if standalone_context().is_some() {
        return static_actions(&turn, view! { <ReplyMeta turn=turn.clone()/> });
    }
    let is_open = RwSignal::new(false);
    let has_text = held_while_open(&turn, is_open, |view| !view.turn.content_text().trim().is_empty());
    let is_over = held_while_open(&turn, is_open, |view| view.turn.status.is_terminal());
    // A reply without a message cannot be retried.
    let can_retry = held_while_open(&turn, is_open, |view| {
        view.turn.prev_turn_id.is_some() && matches!(view.turn.status, TurnStatus::Complete | TurnStatus::Cancelled)
    });
    let of_text = turn.clone();
    let of_copied = turn.id();
    let of_copy = move || {
        let turn = of_text.clone();
        let of_sources = turn.clone();
        let text = Callback::new(move |()| turn.with_untracked(|view| view.turn.content_text()));
        let source = Callback::new(move |()| {
            let message = of_sources.with_untracked(|view| view.turn.prev_turn_id)?;
            markdown_with_sources_link(of_sources.id(), &state.find(message)?)
        });
        let id = of_copied;
        let html =
            Callback::new(move |()| clipboard::rendered_html(&format!("#turn-{id} .reply [data-block-type=text] .md")));
        has_text.get().then(|| view! { <CopyButton name=texts::copy_reply() text source html/> })
    };
    let of_retry = turn.clone();
    let retry = move || {
        can_retry.get().then(|| {
            view! {
                <RetryForm turn=of_retry.clone() on_retry is_wordy=false/>
                <RetryModelMenu turn=of_retry.clone()/>
            }
        })
    };
    let (id, chat) = (turn.id(), turn.with_untracked(|view| view.turn.chat_id));
    let branch = move || is_over.get().then(|| view! { <BranchLink id chat/> });
    view! {
        <div class="actions">
            <VersionSwitcher state turn=turn.clone()/>
            {move || of_copy()}
            {move || retry()}
            {move || branch()}
            <ReplyMenu turn=turn.clone() is_open is_over/>
            <ReplyMeta turn/>
        </div>
    }
}

/// The static form: the version and the usage.
fn static_actions(turn: &TurnState, meta: AnyView) -> AnyView {
    let version = turn.with_untracked(|view| version_label(&view.siblings, view.turn.id));
    view! {
        <div class="actions">
            {version.map(|version| view! { <span class="version-number">{version}</span> })}
            {meta}
        </div>
    }
}

/// Returns the address of a turn as Markdown including the documents that its message quotes, which are not in the
/// page; none where it quotes none.
fn markdown_with_sources_link(id: TurnId, message: &TurnState) -> Option<String> {
    let names_any = message.with_untracked(|view| view.turn.blocks.iter().any(|block| is_attached(&block.content)));
    names_any.then(|| format!("/api/turns/{id}/markdown"))
}

fn is_attached(content: &Content) -> bool {
    is_reference(content) || matches!(content, Content::Image { .. })
}

/// "Branch": links to the page with the path up to this reply, to continue from there. Nothing is stored until a
/// message is sent.
#[component]
fn BranchLink(id: TurnId, chat: ChatId) -> impl IntoView {
    view! {
        <a
            class="button bare"
            role="button"
            data-verb="branch"
            href=format!("/c/{chat}?from={id}")
            aria-label=texts::branch()
            title=texts::branch()
            data-noscroll=""
            on:click=move |_| scroll::anchor_element(&article_id(id))
            on:keydown=click_by_space
        >
            <Icon name="branch"/>
        </a>
    }
}

/// "Retry": a form, so that it works without script; with script, a callback.
#[component]
pub fn RetryForm(
    turn: TurnState,
    on_retry: Callback<TurnId>,
    /// True if the label is visible, and the button primary.
    is_wordy: bool,
) -> impl IntoView {
    let id = turn.id();
    let is_sent = RwSignal::new(false);
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        // The second click of a double click must not create another version.
        if !is_sent.get_untracked() {
            is_sent.set(true);
            set_timeout(
                move || {
                    let _ = is_sent.try_set(false);
                },
                std::time::Duration::from_secs(1),
            );
            on_retry.run(id);
        }
    };
    // The idempotency key: the same click creates one version, however often it arrives.
    let request_id = move || turn.with(|view| view.retry_id.clone());
    let label = (!is_wordy).then_some(messages::retry());
    view! {
        <form method="post" action="/forms/retry" class="inline-form" on:submit=on_submit>
            <input type="hidden" name="turn_id" value=id.to_string()/>
            <input type="hidden" name="client_request_id" value=move || request_id()/>
            <button type="submit" data-verb="retry" class=if is_wordy { "button" } else { "button bare" } aria-label=label title=label>
                <Icon name="retry"/>
                {is_wordy.then_some(messages::retry())}
            </button>
        </form>
    }
}

/// The model, tokens, cost and time of a finished reply, where they are known.
#[component]
fn ReplyMeta(turn: TurnState) -> impl IntoView {
    let meta = Memo::new(move |_| {
        turn.with(|view| {
            let turn = &view.turn;
            if !turn.status.is_terminal() {
                return None;
            }
            // An imported reply without a start took an unknown time.
            let took = match (turn.started_at.or(Some(turn.created_at)), turn.completed_at) {
                (Some(start), Some(end)) if end > start && !turn.is_edited() => {
                    // Sources of imports often give one moment for both.
                    u64::try_from((end - start).num_milliseconds()).ok().filter(|ms| *ms >= SHORTEST_MS)
                }
                _ => None,
            };
            Some((turn.model_used.clone(), (turn.usage, turn.cost), took, turn.created_at))
        })
    });
    live_view(move || {
        let (model, (usage, cost), took, at) = meta.get()?;
        let tokens = usage::in_and_out(&usage);
        let cost = cost.map(|cost| view! { <span class="meta-part">{usage::cost(cost)}</span> });
        // Shown over the numbers under a pointer, and while an action has the focus.
        let words = view! { <span class="in-words quiet">{texts::usage(&usage)}</span> };
        Some(view! {
            <span class="meta">
                {model.map(|model| view! { <bdi class="meta-model">{messages::model_name_or_unknown(&model).to_owned()}</bdi> })}
                {tokens.map(|tokens| view! {
                    <span class="meta-part"><span aria-hidden="true">{tokens}</span>{words}</span>
                    {cost}
                })}
                {took.map(|ms| view! { <span class="meta-part">{amounts::measured_time(ms)}</span> })}
                <span class="meta-part"><TurnTime at/></span>
            </span>
        })
    })
}
