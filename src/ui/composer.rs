//! The composer: the form "Message". Without script it is a plain form; hydrated, it sends in place, keeps drafts and
//! stops replies.

pub mod attach_button;
pub mod attached_list;
pub mod attachment_queue;
pub mod attachments;
pub mod context_meter;
pub mod draft;
mod draft_sync;
pub mod keys;
pub mod mention;
pub mod message_box;
pub mod model_menu;
mod page_changes;
pub mod paste;
pub mod queue_list;
pub mod quote;
pub mod send_button;
mod sending;
pub mod state;
mod stopping;

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::css_heights::{self, HeightObserver};
use crate::domain::ChatId;
use crate::domain::providers::provider::Model;
use crate::ui::composer::attach_button::{AttachButton, DropTarget};
use crate::ui::composer::attached_list::{AttachedList, AttachedNotes};
use crate::ui::composer::context_meter::ContextMeter;
use crate::ui::composer::mention::menus::MentionMenu;
use crate::ui::composer::message_box::{MessageBox, listen_on_page};
use crate::ui::composer::model_menu::{ModelGoneBanner, ModelMenu, ModelPickDialog, ThinkingMenu};
use crate::ui::composer::queue_list::QueueButton;
use crate::ui::composer::send_button::{STOP_FORM, SendButton};
use crate::ui::composer::state::{COMPOSER_FORM_ID, ComposerListeners, ComposerState, FollowedPath};
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::picture::PictureDialog;

/// The form that sends the next message of a chat, or the first of a new one.
#[component]
pub fn Composer(
    /// Absent for the first message of a new chat.
    chat_id: Option<ChatId>,
    draft: DraftView,
    /// Set when another tab stored a newer draft; for the new chat's draft the composer polls by itself.
    #[prop(optional)]
    draft_elsewhere: RwSignal<DraftView>,
    models: RwSignal<Vec<Model>>,
    /// The idempotency key of the form when it is submitted without script.
    form_request_id: String,
    path: FollowedPath,
    /// Set by other parts of the page to stop the path's reply, as the button does.
    stop_requested: RwSignal<bool>,
    listeners: ComposerListeners,
    /// The number of tools that the model is offered, where that is known.
    #[prop(optional_no_strip)]
    tools_on: Option<usize>,
    /// A sentence for each budget of which little is left.
    #[prop(optional)]
    budget_notes: Vec<String>,
    /// Rendered above the box.
    #[prop(optional_no_strip)]
    above: Option<AnyView>,
) -> impl IntoView {
    let state = ComposerState::new(chat_id, draft, models, form_request_id.clone(), path, listeners);
    provide_context(state);
    listen_on_page(state);
    state.follow_page(path.navigation_ended, stop_requested, draft_elsewhere);
    let is_offline = offline_signal();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.send();
    };
    let stop = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.stop();
    };
    // The focused element must not be covered by the composer, however high it grows.
    let place = NodeRef::<leptos::html::Div>::new();
    let height_observer = StoredValue::new(None::<HeightObserver>);
    effect(move || {
        height_observer.set_value(place.get().and_then(|place| css_heights::observe_height(&place, "--composer")))
    });
    view! {
        <div class="composer-place no-print" node_ref=place>
            {above}
            {live_view(move || path.gone_model.get().map(|gone| view! { <ModelGoneBanner gone/> }))}
            <form
                id=COMPOSER_FORM_ID
                class="composer"
                aria-label=messages::message()
                method="post"
                action="/forms/send"
                on:submit=submit
            >
                {chat_id.map(|id| view! { <input type="hidden" name="chat_id" value=id.to_string()/> })}
                {move || path.leaf.get().map(|id| view! { <input type="hidden" name="prev_turn_id" value=id.to_string()/> })}
                <input type="hidden" name="client_request_id" value=form_request_id/>
                <MentionMenu/>
                <AttachedList attaching=state.attaching/>
                <MessageBox/>
                <div class="composer-row">
                    <AttachButton/>
                    <ModelMenu/>
                    <ThinkingMenu/>
                    <ToolsLink tools_on/>
                    <InsertLink/>
                    <QueueButton/>
                    <SendButton/>
                </div>
            </form>
            <ContextMeter used=path.context_used/>
            {budget_notes.into_iter().map(budget_line).collect_view()}
            <form id=STOP_FORM method="post" action="/forms/stop" on:submit=stop>
                {move || path.running.get().map(|id| view! { <input type="hidden" name="turn_id" value=id.to_string()/> })}
            </form>
            <AttachedNotes/>
            // While the page is offline its banner says so, and that what was written is kept: that is enough.
            <p id="message-problem" class="problem">
                {move || state.problem.get().filter(|text| !is_offline() || *text != problem(&ApiError::Unreachable))}
            </p>
            <DraftNotes/>
            <DropTarget/>
            <PictureDialog/>
            <ModelPickDialog/>
        </div>
    }
}

/// Renders the line of a budget of which little is left.
fn budget_line(note: String) -> AnyView {
    view! { <p class="hint context-meter"><span class="warning">{note}</span></p> }.into_any()
}

/// Returns whether the page is known to be offline.
fn offline_signal() -> impl Fn() -> bool + Copy + Send + Sync + 'static {
    let connection = use_context::<PageConnection>();
    move || connection.is_some_and(PageConnection::is_offline)
}

/// The link to the page that inserts resources and prompts of tool servers. With script, the menus of the message box
/// lead there.
#[component]
fn InsertLink() -> impl IntoView {
    let chat_id = expect_context::<ComposerState>().chat_id;
    let page = chat_id.map_or_else(|| "/insert".to_owned(), |id| format!("/insert?chat={id}"));
    view! {
        <a class="button bare insert-link without-script" href=page rel="external">{messages::commands::insert().1}</a>
    }
}

/// The link to the tools of the chat, with the number of tools that the model is offered where that is known.
#[component]
fn ToolsLink(tools_on: Option<usize>) -> impl IntoView {
    let chat_id = expect_context::<ComposerState>().chat_id;
    let page = chat_id.map_or_else(|| "/new/tools".to_owned(), |id| format!("/c/{id}/tools"));
    let name = tools_on.map_or_else(|| messages::tools().to_owned(), messages::tools_on);
    view! {
        <a class="button bare tools-link" href=page rel="external" aria-label=name.clone() title=name>
            <Icon name="tool"/>
            <span aria-hidden="true">{tools_on}</span>
        </a>
    }
}

/// The notes on the draft: the server has not stored it, or there is another one.
#[component]
fn DraftNotes() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let is_offline = offline_signal();
    view! {
        <p id="message-note" class="hint">
            // The draft is saved on leaving the page, and may report a failure after this view is gone.
            {move || {
                let is_unsaved = state.draft.is_unsaved.try_get().unwrap_or_default();
                (is_unsaved && !is_offline()).then_some(messages::draft_unsaved())
            }}
        </p>
        {move || state.draft.conflicting.get().map(|newer| view! {
            <p class="hint">
                {messages::draft_elsewhere()}
                " · "
                <button type="button" class="button bare strong" on:click=move |_| state.use_draft(newer.clone())>
                    {messages::use_newer_draft()}
                </button>
            </p>
        })}
    }
}
