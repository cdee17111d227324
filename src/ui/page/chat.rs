//! The chat page: header, transcript and composer. Loads the page, and keeps its parts in sync with each other and
//! with the address.

mod address;
pub mod deletion;
pub mod find;
pub mod header;
mod list_sync;
pub mod path_notices;
mod remote_changes;
pub mod share_menu;
mod signals;
mod started_reply;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_params_map};

use crate::api::chats::load_chat;
use crate::api::error::ApiError;
use crate::api::json::JsonEncoding;
use crate::api::turns::load_turn;
use crate::api::view::{ChatPage, PathDirection, StartedReply, TurnView};
use crate::browser::{document, scroll};
use crate::domain::turns::user_input_wait::pending_user_input;
use crate::domain::{ChatId, Role, TurnId};
use crate::ui::announce::announce_arrival;
use crate::ui::chats::{Chats, chat_path};
use crate::ui::composer::Composer;
use crate::ui::composer::queue_list::QueueList;
use crate::ui::composer::state::{ComposerListeners, FollowedPath};
use crate::ui::erased::{keyed_rows, view};
use crate::ui::escape::{FollowWithoutScript, safe_title};
use crate::ui::kit::Loading;
use crate::ui::lazy_parts::{NotFetched, lazy_part};
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::page::chat::address::{
    AddressTarget, address_target, follow_address, is_held, last_shown_leaf, latest_turn_link, side_in_address,
};
use crate::ui::page::chat::deletion::{DeletedNotice, provide_deletion};
use crate::ui::page::chat::find::FindBar;
use crate::ui::page::chat::header::ChatHeader;
use crate::ui::page::chat::list_sync::{chat_title, refresh_list};
use crate::ui::page::chat::path_notices::{CopiedFromLine, PathNoticeBars, PathNotices};
use crate::ui::page::chat::signals::PageSignals;
use crate::ui::page::chat::started_reply::{PendingMessage, message_sent_here, restore_failed, show_started};
use crate::ui::page::not_found::{LoadFailedView, MissingView};
use crate::ui::page::sending_turn::{SENDING_ID, SendingTurn};
use crate::ui::panel::{ChatPanel, ShownChat, attach_panel, show_turn_action};
use crate::ui::state::{ChatState, PathNavigation, ReaderPosition};
use crate::ui::transcript::Transcript;
use crate::ui::transcript::model_choice::ModelChoiceDialog;
use crate::ui::transcript::refusals::TurnRefusals;
use crate::ui::transcript::turn_commands::TurnCommands;

/// The page at `/c/{chat}`.
#[component]
pub fn ChatPageView() -> impl IntoView {
    lazy_part(fetch_chat, None, |draw: &fn() -> AnyView| draw())
}

/// Loads the code part of the chat page, with the transcript and everything in it.
#[leptos::wasm_split::wasm_split(chat, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_chat() -> Result<fn() -> AnyView, NotFetched> {
    Ok(draw_page)
}

fn draw_page() -> AnyView {
    let params = use_params_map();
    let target = address_target();
    let chat_id = Memo::new(move |_| params.with(|params| params.get("chat")?.parse::<ChatId>().ok()));
    let (pending_chat, shown) = (use_context::<Chats>().map(|chats| chats.loading), StoredValue::new(None::<ChatId>));
    // Another version of a turn on the same page is not a new page: `follow_address` shows it.
    let page_resource = Resource::<_, JsonEncoding>::new_with_options(
        move || chat_id.get(),
        move |id| {
            let (target, side) = (target.get_untracked(), side_in_address());
            let loading = pending_chat.filter(|_| document::is_in_browser());
            async move {
                // Set here, because a page that the server has rendered is not requested, so nothing is pending then.
                if let Some(loading) = loading {
                    let awaited = id.filter(|id| shown.try_get_value().flatten() != Some(*id));
                    // A repeated request belongs to the same pending navigation.
                    if loading.try_get_untracked().flatten() != awaited {
                        let _ = loading.try_set(awaited);
                    }
                }
                let page = load_address_target(id, target, side).await;
                // Another chat may have been requested meanwhile.
                if let Some(loading) = loading
                    && loading.try_get_untracked().flatten() == id
                {
                    let _ = loading.try_set(None);
                }
                page
            }
        },
        false,
    );
    on_cleanup(move || {
        let _ = pending_chat.map(|loading| loading.try_set(None));
    });
    let navigate = use_navigate();
    let cancel = Callback::new(move |()| {
        let back = shown.get_value().map_or_else(|| "/".to_owned(), chat_path);
        navigate(&back, NavigateOptions { replace: true, ..Default::default() });
    });
    let outline = move || {
        pending_chat.and_then(|loading| loading.get()).map(|_| {
            let retry = Callback::new(move |()| page_resource.refetch());
            view! { <Loading label=messages::loading_chat() retry cancel=Some(cancel)/> }
        })
    };
    view! {
        // The skeleton covers the previous chat, which stays until the next one has arrived.
        <div class="on-its-way">{outline}</div>
        <Transition>
            {move || Suspend::new(async move {
                match page_resource.await {
                    Ok(page) => {
                        let id = page.chat.as_ref().map(|chat| chat.id);
                        // The chat's id is the key: another chat is another screen, and nothing of the previous one
                        // may stay in its fields.
                        keyed_rows(
                            move || vec![page.clone()],
                            move |_| id.map_or(0, ChatId::as_u128),
                            move |page| {
                                shown.set_value(id);
                                view! { <ChatScreen page/> }
                            },
                        )
                    }
                    Err(ApiError::NotFound) => view! { <MissingView message=messages::not_found_chat()/> }.into_any(),
                    Err(error) => {
                        let on_retry = Callback::new(move |()| page_resource.refetch());
                        view! { <LoadFailedView message=problem(&error) on_retry/> }.into_any()
                    }
                }
            })}
        </Transition>
    }
}

/// A chat, rendered from its page.
#[component]
pub fn ChatScreen(page: ChatPage) -> impl IntoView {
    let Some(chat) = page.chat.clone() else {
        return view! { <MissingView message=messages::not_found_chat()/> }.into_any();
    };
    let chat_id = chat.id;
    // A refresh without script would discard what a person types into a question, so replies with one do not refresh.
    let is_written = |view: &&TurnView| !view.turn.status.is_terminal() && pending_user_input(&view.turn).is_none();
    let running_at_first = page.turns.iter().find(is_written).map(|view| view.turn.id).filter(|_| !is_held());
    let state = state_of(&page);
    // For the menu behind `@`, which offers turns of the path.
    provide_context(state);
    let leaf = Signal::derive(move || state.leaf().map(|turn| turn.id()));
    let navigation = PathNavigation::new(state);
    provide_context(navigation);
    let changes = RwSignal::new(0);
    let refusals = TurnRefusals::from_context();
    provide_context(refusals);
    let deleting = provide_deletion((state, navigation), chat_id, changes);
    let signals = PageSignals::new(&page);
    let PageSignals { notices, branch, leaves, models, gone, queue, .. } = signals;
    let (at, is_new_visit) = (address_target().get_untracked().at, last_shown_leaf(chat_id).is_none());
    let put_address = follow_address((state, navigation), signals, chat_id, refusals);
    let draft_elsewhere = RwSignal::new(page.draft.clone());
    let poll = remote_changes::watch_remote_changes(state, signals, &chat, draft_elsewhere, changes);
    let finding = RwSignal::new(false);

    let running = Signal::derive(move || state.running_reply());
    if let Some(panel) = use_context::<ChatPanel>() {
        let (show, on_branch) = (show_turn_action(panel, chat_id), signals.branch_callback());
        let on_screen = ShownChat { chat: chat_id, leaf, changes, deleting, on_branch, show, poll };
        attach_panel(panel, on_screen, running, leaves);
    }
    // A memo, because the branch has another end after each message, and the views of its model need not be rendered
    // again for that.
    let lock = Memo::new(move |_| branch.with(|branch| branch.as_ref().map(|branch| branch.lock.clone())));
    let title = chat_title(&chat);
    let on_started =
        Callback::new(move |(started, stand, is_new_path): (StartedReply, Option<ReaderPosition>, bool)| {
            let (on, from, leaf) =
                (started.branch.clone(), started.branch_from.clone(), started.assistant_turn.turn.id);
            if show_started((state, navigation), started, stand) {
                signals.reply_started(on, from);
                if is_new_path {
                    put_address.run(leaf);
                }
            }
        });
    let on_version = Callback::new(move |(started, stand): (StartedReply, Option<ReaderPosition>)| {
        on_started.run((started, stand, true))
    });
    let verbs = TurnCommands::new(page.form_request_id.clone(), models, on_version);
    provide_context(verbs);
    let on_retry = Callback::new(move |turn: TurnId| {
        verbs.retry(turn, None);
    });
    let sending = RwSignal::new(PendingMessage::None);
    let stop_requested = RwSignal::new(false);
    let on_stop = Callback::new(move |_: TurnId| stop_requested.set(true));
    let listeners = composer_listeners((state, navigation), notices, sending, on_started);
    announce_arrival(move || messages::document_title(&title.get(), false, false));
    let needs_you = Memo::new(move |_| state.needs_you());
    refresh_list(chat_id, running, needs_you);
    // The last reply of a copy of the chat.
    let last_reply = Signal::derive(move || {
        let is_reply = |view: &TurnView| view.turn.role == Role::Assistant && view.turn.status.is_terminal();
        state.leaf().filter(|turn| turn.try_with(is_reply) == Some(true)).map(|turn| turn.id())
    });

    let document_title =
        move || safe_title(&messages::document_title(&title.get(), running.get().is_some(), needs_you.get()));
    let path = FollowedPath {
        lock: lock.into(),
        leaf,
        running,
        context_used: Memo::new(move |_| state.context_used()).into(),
        gone_model: gone.into(),
        queue,
        poll: Some(poll),
        navigation: Some(Callback::new(move |query| navigation.answer_query(query))),
        navigation_ended: navigation.ended,
    };
    let (draft, form_request_id) = (page.draft, page.form_request_id);
    view! {
        <Title text=document_title/>
        {move || latest_turn_link(state, chat_id).map(|href| view! { <a class="skip" href=href>{messages::skip_to_latest()}</a> })}
        <ChatHeader chat title branch=signals.shown_branch() leaves finding last_reply leaf/>
        <main class="page">
        <FindBar state chat_id open=finding/>
        {page.copied_from.map(|from| view! { <CopiedFromLine from/> })}
        <Transcript state on_stop on_retry at is_new_visit/>
        <SendingTurn text=message_sent_here((state, navigation), sending)/>
        {page.deleted.map(|(id, turns)| view! { <DeletedNotice id turns/> })}
        {running_at_first.map(|at| view! { <FollowWithoutScript at/> })}
        <Composer
            chat_id=Some(chat_id)
            draft
            draft_elsewhere
            models
            form_request_id
            path
            stop_requested
            listeners
            tools_on=page.tools_on
            budget_notes=page.budget_notes
            // The queue is drawn here and not by the composer, whose code every page loads first.
            above=Some(view! { <PathNoticeBars notices chat=chat_id leaf/> <QueueList queue=path.queue poll=path.poll/> })
        />
        <ModelChoiceDialog verbs models/>
        </main>
    }
    .into_any()
}

/// Returns the page's callbacks for messages that the composer sends.
fn composer_listeners(
    (state, navigation): (ChatState, PathNavigation),
    path_notices: PathNotices,
    sending: RwSignal<PendingMessage>,
    on_started: Callback<(StartedReply, Option<ReaderPosition>, bool)>,
) -> ComposerListeners {
    ComposerListeners {
        // The optimistic turn is scrolled into view at once (docs/reference/ux.md S6): below a long chat it would be
        // behind the composer.
        on_sending: Callback::new(move |text| {
            state.count_start(true);
            sending.set(Some((text, navigation.reader_position())));
            scroll::scroll_to_sent(SENDING_ID);
        }),
        on_failed: Callback::new(move |()| {
            state.count_start(false);
            restore_failed(navigation, sending);
        }),
        on_started: Callback::new(move |started: StartedReply| {
            state.count_start(false);
            // Otherwise the address may name a turn that is no longer on the path.
            let is_new_path = path_notices.is_cut();
            let stand = sending.get_untracked().map(|(_, stand)| stand);
            sending.set(None);
            on_started.run((started, stand, is_new_path));
        }),
        on_stopped: Callback::new(move |view: TurnView| state.refresh_turn(view)),
    }
}

/// Creates the chat's state from its page; a turn whose stream has a gap is reloaded automatically.
fn state_of(page: &ChatPage) -> ChatState {
    let slot = StoredValue::new(None::<ChatState>);
    let reload = Callback::new(move |turn: TurnId| {
        spawn_local(async move {
            if let (Ok(view), Some(state)) = (load_turn(turn).await, slot.try_get_value().flatten()) {
                state.refresh_turn(view);
            }
        });
    });
    let state = ChatState::new(page.turns.clone(), reload).with_edges_of(page);
    slot.set_value(Some(state));
    state
}

/// Loads a chat at the position in the address, else at the reader's last position.
async fn load_address_target(
    id: Option<ChatId>,
    target: AddressTarget,
    side: Option<PathDirection>,
) -> Result<ChatPage, ApiError> {
    let Some(id) = id else { return Err(ApiError::NotFound) };
    let left = last_shown_leaf(id).filter(|_| target.at.is_none());
    match load_chat(Some(id), target.at.or(left), target.from, side).await {
        // The reader's last position was deleted permanently; the chat itself may still exist.
        Err(ApiError::NotFound) if left.is_some() => load_chat(Some(id), None, None, None).await,
        answer => answer,
    }
}
