//! The composer: the form "Message". Without script it is a plain form; hydrated, it sends in place, keeps drafts and
//! stops replies.

pub mod attach_button;
pub mod attached_list;
pub mod attaching;
pub mod context_meter;
pub mod draft;
mod drafting;
pub mod keys;
pub mod mention;
pub mod message_box;
pub mod model_menu;
pub mod pasting;
pub mod queue;
pub mod quote;
pub mod send_button;
mod sending;
pub mod state;
mod stopping;

use std::time::Duration;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::clock;
use crate::browser::heights::{self, Told};
use crate::domain::provider::Model;
use crate::domain::{ChatId, Lock, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::composer::attach_button::{AttachButton, DropTarget};
use crate::ui::composer::attached_list::{AttachedList, AttachedNotes};
use crate::ui::composer::attaching::Attaching;
use crate::ui::composer::context_meter::ContextMeter;
use crate::ui::composer::draft::DraftKeeper;
use crate::ui::composer::mention::Mention;
use crate::ui::composer::mention::menus::MentionMenu;
use crate::ui::composer::message_box::{MessageBox, listen_on_page};
use crate::ui::composer::model_menu::{ModelGone, ModelMenu, ModelPicks, ThinkingMenu};
use crate::ui::composer::pasting::Pasting;
use crate::ui::composer::queue::Queue;
use crate::ui::composer::send_button::{STOP_FORM, SendButton};
use crate::ui::composer::state::{COMPOSER, ComposerState, Listeners, Phase, is_long};
use crate::ui::connection::Connection;
use crate::ui::erased::{effect, live, on_change, view};
use crate::ui::input_method::Memory;
use crate::ui::kit::Icon;
use crate::ui::picture::PictureDialog;
use crate::ui::state::Asks;
use crate::ui::words;
use crate::ui::words::keys::stop_first;
use crate::ui::words::told::problem;

/// How long a page may be offline before what waits to be sent is not sent by itself any more.
const TOO_LATE_MS: i64 = 60_000;

/// The model that answers a new chat, as long as nobody chooses another.
fn default_of(models: &[Model]) -> Option<Lock> {
    models.iter().find(|model| model.is_default).or(models.first()).map(|model| model.lock.clone())
}

/// A message that waits does not go out by itself after it was offline for long: nobody thinks of it any more by then.
fn give_up_waiting(state: ComposerState) {
    let Some(connection) = use_context::<Connection>() else { return };
    let since = StoredValue::new(None::<i64>);
    let look = move || {
        let is_late = since.try_get_value().flatten().is_some_and(|since| clock::now_ms() - since >= TOO_LATE_MS);
        if is_late {
            state.stop_waiting();
        }
    };
    on_change(
        move || connection.is_offline(),
        move |_, is_offline| match is_offline {
            true => {
                since.set_value(Some(clock::now_ms()));
                set_timeout(look, Duration::from_millis(TOO_LATE_MS.unsigned_abs()));
            }
            // Timers stand still while a device sleeps.
            false => {
                look();
                since.set_value(None);
                state.problem.update(|said| drop(said.take_if(|said| *said == problem(&ApiError::unreached()))));
            }
        },
    );
}

/// What the server said of a form that was sent without script.
fn problem_in_address() -> Option<String> {
    let code = use_query_map().with_untracked(|query| query.get("error"))?;
    words::form_problem(&code).map(str::to_owned)
}

/// The form that sends the next message of a chat, or the first of a new one.
#[component]
pub fn Composer(
    /// None sends the first message of a new chat.
    chat_id: Option<ChatId>,
    draft: DraftView,
    /// Set when another tab stored a newer draft; of the new chat's draft the composer hears by itself.
    #[prop(optional)]
    draft_elsewhere: RwSignal<DraftView>,
    models: RwSignal<Vec<Model>>,
    /// The name of the request that the form sends if it is sent without script.
    form_request_id: String,
    /// The branch's lock; none before the first message.
    #[prop(into)]
    lock: Signal<Option<Lock>>,
    /// The turn the message follows.
    #[prop(into)]
    leaf: Signal<Option<TurnId>>,
    /// The reply that runs on this path.
    #[prop(into)]
    running: Signal<Option<TurnId>>,
    /// Set by other parts of the page to stop that reply, as the button does.
    stop_asked: RwSignal<bool>,
    listeners: Listeners,
    /// How many tokens of context the newest reply on this path filled.
    #[prop(optional, into)]
    context_used: Signal<Option<u64>>,
    /// The branch's model, where it cannot be used any more.
    #[prop(optional, into)]
    gone: Signal<Option<Lock>>,
    /// How many tools the model is offered, where that is known.
    #[prop(optional_no_strip)]
    tools_on: Option<usize>,
    /// What the way to other paths is asked by, and what changes when one has ended.
    #[prop(optional)]
    way: Option<Callback<Asks, bool>>,
    #[prop(optional)] way_ends: RwSignal<bool>,
    /// Stands over the box.
    #[prop(optional_no_strip)]
    above: Option<AnyView>,
) -> impl IntoView {
    let locked = lock.get_untracked();
    let known = models.get_untracked();
    let default = default_of(&known);
    let chosen = draft.lock.clone().filter(|lock| known.iter().any(|model| model.lock == *lock));
    let chosen =
        if locked.is_some() { chosen.filter(|chosen| locked.as_ref() != Some(chosen)) } else { chosen.or(default) };
    let (text, thinking, named) = (draft.text.clone(), draft.thinking, draft.named.clone());
    let draft = DraftKeeper::new(chat_id, draft);
    let state = ComposerState {
        chat_id,
        area: NodeRef::new(),
        phase: RwSignal::new(Phase::Idle),
        has_text: RwSignal::new(!text.trim().is_empty()),
        problem: RwSignal::new(problem_in_address()),
        lock,
        choice: RwSignal::new(chosen),
        thinking: RwSignal::new(thinking.unwrap_or_default()),
        models,
        picks: RwSignal::new(false),
        leaf,
        running,
        memory: StoredValue::new(Memory::default()),
        request_id: StoredValue::new(form_request_id.clone()),
        failed: StoredValue::new(None),
        listeners,
        announcer: expect_context::<Announcer>(),
        chats: use_context(),
        attaching: Attaching::of_draft(draft, &named),
        pasting: Pasting::nothing(),
        mention: Mention::closed(),
        waits: RwSignal::new(false),
        way,
        withdrawn: StoredValue::default(),
        context_used,
        is_long: RwSignal::new(is_long(&text)),
        is_tall: RwSignal::new(false),
        draft,
    };
    provide_context(state);
    listen_on_page(state);
    effect(move || {
        if stop_asked.get() {
            stop_asked.set(false);
            state.stop();
        }
    });
    // Other models can be chosen: where nobody has chosen one that is still there, the default answers.
    on_change(
        move || models.get(),
        move |_, models| {
            let is_there = models.iter().any(|model| Some(&model.lock) == state.choice.get_untracked().as_ref());
            if lock.get_untracked().is_none() && !(is_there && state.draft.has_choice()) {
                state.choice.set(default_of(&models));
            }
        },
    );
    // Another branch is shown, or the message that was to begin one has begun it. What waits for its branch goes to the
    // model that was chosen for it.
    on_change(
        move || lock.get(),
        move |_, _| {
            if !state.waits.get_untracked() {
                state.choice.set(None);
            }
        },
    );
    give_up_waiting(state);
    on_change(move || (way_ends.get(), state.attaching.queue.with(Queue::is_pending)), move |_, _| state.go_on());
    // What was said of a running reply is over with it.
    on_change(
        move || running.get(),
        move |_, now| {
            if now.is_none() && state.problem.with_untracked(|said| said.as_deref() == Some(&stop_first())) {
                state.problem.set(None);
            }
        },
    );
    on_change(move || draft_elsewhere.get(), move |_, newer| state.draft_changed_elsewhere(newer));
    state.follow_new_chat();
    on_change(move || state.draft.again.get(), move |_, _| state.save_again());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.send();
    };
    let stop = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.stop();
    };
    let tools_page = chat_id.map_or_else(|| "/new/tools".to_owned(), |id| format!("/c/{id}/tools"));
    let tools_name = tools_on.map_or_else(|| words::tools().to_owned(), words::tools_on);
    let tools = view! {
        <a class="button bare tools-link" href=tools_page rel="external" aria-label=tools_name.clone() title=tools_name>
            <Icon name="tool"/>
            <span aria-hidden="true">{tools_on}</span>
        </a>
    };
    // What has the focus must not lie behind it, however high it grows.
    let place = NodeRef::<leptos::html::Div>::new();
    let told = StoredValue::new(None::<Told>);
    effect(move || told.set_value(place.get().and_then(|place| heights::tell(&place, "--composer"))));
    view! {
        <div class="composer-place no-print" node_ref=place>
            {above}
            {live(move || gone.get().map(|gone| view! { <ModelGone gone/> }))}
            <form
                id=COMPOSER
                class="composer"
                aria-label=words::message()
                method="post"
                action="/forms/send"
                on:submit=submit
            >
                {chat_id.map(|id| view! { <input type="hidden" name="chat_id" value=id.to_string()/> })}
                {move || leaf.get().map(|id| view! { <input type="hidden" name="prev_turn_id" value=id.to_string()/> })}
                <input type="hidden" name="client_request_id" value=form_request_id/>
                <MentionMenu/>
                <AttachedList attaching=state.attaching/>
                <MessageBox/>
                <div class="composer-row">
                    <AttachButton/>
                    <ModelMenu/>
                    <ThinkingMenu/>
                    {tools}
                    <SendButton/>
                </div>
            </form>
            <ContextMeter used=context_used/>
            <form id=STOP_FORM method="post" action="/forms/stop" on:submit=stop>
                {move || running.get().map(|id| view! { <input type="hidden" name="turn_id" value=id.to_string()/> })}
            </form>
            <AttachedNotes/>
            <p id="message-problem" class="problem">{move || state.problem.get()}</p>
            <p id="message-note" class="hint">
                // A draft that is saved on leaving the page may say so when this is gone.
                {move || state.draft.is_unsaved.try_get().unwrap_or_default().then_some(words::draft_unsaved())}
            </p>
            {move || state.draft.elsewhere.get().map(|newer| view! {
                <p class="hint">
                    {words::draft_elsewhere()}
                    " · "
                    <button type="button" class="button bare strong" on:click=move |_| state.use_draft(newer.clone())>
                        {words::use_it()}
                    </button>
                </p>
            })}
            <DropTarget/>
            <PictureDialog/>
            <ModelPicks/>
        </div>
    }
}
