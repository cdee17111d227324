//! The new chat: a greeting, the composer and recent chats; on a new server, the connection of a model.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::api::chats::load_chat;
use crate::api::json::JsonEncoding;
use crate::api::view::{ChatPage, ComposerNotice, ConnectionOption, StartedReply};
use crate::browser::css_heights;
use crate::browser::local_store::{self, LAST_CHAT_KEY};
use crate::domain::provider::Model;
use crate::ui::announce::{Announcer, announce_arrival};
use crate::ui::chats::{Chats, chat_path};
use crate::ui::composer::Composer;
use crate::ui::composer::state::{COMPOSER_FORM_ID, ComposerListeners, FollowedPath};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::page::first_run::{ConnectedLine, FirstRunPanel, found_server_lines};
use crate::ui::page::not_found::LoadFailedView;
use crate::ui::page::provider_connect::ProviderConnect;
use crate::ui::page::sending_turn::SendingTurn;
use crate::ui::sidebar::SidebarButton;
use crate::ui::transcript::expect_sent;

/// The number of recent chats.
const RECENT: usize = 4;

/// The page at `/`.
#[component]
pub fn HomePage() -> impl IntoView {
    let page_resource =
        Resource::<_, JsonEncoding>::new_with_options(|| (), |()| load_chat(None, None, None, None), false);
    view! {
        <Title text=messages::PRODUCT/>
        <Transition fallback=|| view! { <p class="hint late">{messages::loading_part()}</p> }>
            {move || Suspend::new(async move {
                match page_resource.await {
                    Ok(page) => view! { <HomeScreen page/> }.into_any(),
                    Err(error) => {
                        let on_retry = Callback::new(move |()| page_resource.refetch());
                        view! { <LoadFailedView message=problem(&error) on_retry/> }.into_any()
                    }
                }
            })}
        </Transition>
    }
}

/// The new chat, rendered from its page.
#[component]
pub fn HomeScreen(page: ChatPage) -> impl IntoView {
    let sending = RwSignal::new(None::<String>);
    let listeners = composer_listeners(sending);
    announce_arrival(|| messages::document_title("", false, false));
    effect(|| local_store::remove_in_tab(LAST_CHAT_KEY));
    let models = RwSignal::new(page.models.clone());
    let is_first_run = RwSignal::new(is_first_run(&page));
    follow_models(page.models_rev, models, is_first_run);
    let (found, request_id) = (found_server_lines(&page.notices), page.form_request_id.clone());
    let (options, connecting) = (connection_options(&page.notices).unwrap_or_default(), ProviderConnect::new());
    // An open form stays with its error: the provider is already stored, so the server no longer counts as new.
    let is_first_run = Memo::new(move |_| is_first_run.get() || connecting.option.with(Option::is_some));
    let panel = live_view(move || {
        is_first_run.get().then(|| {
            let models = models.get_untracked();
            view! { <FirstRunPanel models options=options.clone() form_request_id=request_id.clone() connecting/> }
        })
    });
    let can_write = Memo::new(move |_| models.with(|models| !models.is_empty()));
    let tools_on = page.tools_on;
    let (draft, form_request_id) = (page.draft, page.form_request_id);
    let composer = live_view(move || {
        if !can_write.get() {
            return None;
        }
        Some(view! {
            <Composer
                chat_id=None
                draft=draft.clone()
                models
                form_request_id=form_request_id.clone()
                path=FollowedPath::default()
                stop_requested=RwSignal::new(false)
                listeners
                tools_on
            />
        })
    });
    view! {
        <header class="chat-head">
            <SidebarButton/>
            <a class="button bare" href="/new/settings" rel="external">{messages::chat_settings()}</a>
        </header>
        <main class="page"><div class="home" class:is-sending=move || sending.get().is_some()>
            <h1 class="greeting">{move || if is_first_run.get() { messages::PRODUCT } else { messages::greeting() }}</h1>
            {found}
            {panel}
            <ConnectedLine connecting/>
            <SendingTurn text=sending/>
            {composer}
            <RecentChats/>
        </div></main>
    }
}

/// Returns the page's callbacks for the first message of a chat: they navigate to the chat.
fn composer_listeners(sending: RwSignal<Option<String>>) -> ComposerListeners {
    let navigate = use_navigate();
    let announcer = expect_context::<Announcer>();
    ComposerListeners {
        on_sending: Callback::new(move |text| {
            css_heights::set_move_distance(COMPOSER_FORM_ID, "--way");
            sending.set(Some(text));
        }),
        on_failed: Callback::new(move |()| sending.set(None)),
        on_started: Callback::new(move |started: StartedReply| {
            announcer.expect_reply(started.assistant_turn.turn.id);
            expect_sent(started.user_turn.turn.id);
            navigate(&chat_path(started.chat_id), Default::default());
        }),
        on_stopped: Callback::new(|_| ()),
    }
}

/// Returns whether only the demo can reply.
fn is_first_run(page: &ChatPage) -> bool {
    connection_options(&page.notices).is_some()
}

/// Returns the options to connect a provider, where there is none.
fn connection_options(notices: &[ComposerNotice]) -> Option<Vec<ConnectionOption>> {
    notices.iter().find_map(|notice| match notice {
        ComposerNotice::NothingConfigured { ways } => Some(ways.clone()),
        ComposerNotice::FoundLocally { .. } | ComposerNotice::ModelUnavailable { .. } => None,
    })
}

/// Reloads the available models when a provider was connected or removed in another tab.
fn follow_models(known: u64, models: RwSignal<Vec<Model>>, is_first: RwSignal<bool>) {
    let Some(chats) = use_context::<Chats>() else { return };
    let known = StoredValue::new(known);
    effect(move || {
        let Some(rev) = chats.models_rev.get().filter(|rev| *rev != known.get_value()) else { return };
        known.set_value(rev);
        spawn_local(async move {
            // A failed load is repeated with the next change, or by reloading the page.
            let Ok(page) = load_chat(None, None, None, None).await else { return };
            let _ = is_first.try_set(is_first_run(&page));
            let _ = models.try_set(page.models);
        });
    });
}

#[component]
fn RecentChats() -> impl IntoView {
    let chats = use_context::<Chats>();
    chats.map(|chats| {
        view! {
            <Transition>
                {move || Suspend::new(async move {
                    let recent: Vec<_> = chats.visible_chats().await.ok()?.into_iter().take(RECENT).collect();
                    (!recent.is_empty()).then(|| view! {
                        <section class="recent" aria-label=messages::recent()>
                            <ul>
                                {recent.into_iter().map(|chat| {
                                    let title = if chat.title.is_empty() { messages::untitled().into() } else { chat.title };
                                    view! {
                                        <li><A href=chat_path(chat.id) attr:class="recent-link"><bdi>{title}</bdi></A></li>
                                    }
                                }).collect_view()}
                            </ul>
                        </section>
                    })
                })}
            </Transition>
        }
    })
}
