//! The new chat: a greeting, the composer, and the way back to recent chats; on a new server, how to connect a model.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::api::chats::load_chat;
use crate::api::json::Json;
use crate::api::view::{ChatPage, Notice, Started, Way};
use crate::browser::heights;
use crate::browser::local_store::{self, CAME_FROM};
use crate::domain::provider::Model;
use crate::ui::announce::{Announcer, say_arrival};
use crate::ui::chats::{Chats, chat_path};
use crate::ui::composer::Composer;
use crate::ui::composer::state::{COMPOSER, FollowedPath, Listeners};
use crate::ui::erased::{effect, live, view};
use crate::ui::page::connecting::Connecting;
use crate::ui::page::first_run::{ConnectedLine, FirstRunPanel, found};
use crate::ui::page::not_found::Failed;
use crate::ui::page::sending::SendingTurn;
use crate::ui::sidebar::SidebarButton;
use crate::ui::words;
use crate::ui::words::told::problem;

/// How many recent chats are offered.
const RECENT: usize = 4;

/// The page at `/`.
#[component]
pub fn HomePage() -> impl IntoView {
    let page_resource = Resource::<_, Json>::new_with_options(|| (), |()| load_chat(None, None, None, None), false);
    view! {
        <Title text=words::PRODUCT/>
        <Transition fallback=|| view! { <p class="hint late">{words::loading_part()}</p> }>
            {move || Suspend::new(async move {
                match page_resource.await {
                    Ok(page) => view! { <Home page/> }.into_any(),
                    Err(error) => {
                        let on_retry = Callback::new(move |()| page_resource.refetch());
                        view! { <Failed what=problem(&error) on_retry/> }.into_any()
                    }
                }
            })}
        </Transition>
    }
}

/// The new chat as it is drawn from its page.
#[component]
pub fn Home(page: ChatPage) -> impl IntoView {
    let sending = RwSignal::new(None::<String>);
    let listeners = listeners(sending);
    say_arrival(|| words::document_title("", false, false));
    effect(|| local_store::remove_in_tab(CAME_FROM));
    let models = RwSignal::new(page.models.clone());
    let is_first_run = RwSignal::new(is_first_run(&page));
    follow_models(page.models_rev, models, is_first_run);
    let (found, request_id) = (found(&page.notices), page.form_request_id.clone());
    let (ways, connecting) = (ways(&page.notices).unwrap_or_default(), Connecting::closed());
    // Who is in the form stays there, with what is wrong with its key: that is stored already and counts as a provider.
    let is_first_run = Memo::new(move |_| is_first_run.get() || connecting.way.with(Option::is_some));
    let panel = live(move || {
        is_first_run.get().then(|| {
            let models = models.get_untracked();
            view! { <FirstRunPanel models ways=ways.clone() form_request_id=request_id.clone() connecting/> }
        })
    });
    let can_write = Memo::new(move |_| models.with(|models| !models.is_empty()));
    let tools_on = page.tools_on;
    let (draft, form_request_id) = (page.draft, page.form_request_id);
    let composer = live(move || {
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
                stop_asked=RwSignal::new(false)
                listeners
                tools_on
            />
        })
    });
    view! {
        <header class="chat-head">
            <SidebarButton/>
            <a class="button bare" href="/new/settings" rel="external">{words::chat_settings()}</a>
        </header>
        <main class="page"><div class="home" class:is-sending=move || sending.get().is_some()>
            <h1 class="greeting">{move || if is_first_run.get() { words::PRODUCT } else { words::greeting() }}</h1>
            {found}
            {panel}
            <ConnectedLine connecting/>
            <SendingTurn text=sending/>
            {composer}
            <RecentChats/>
        </div></main>
    }
}

/// What the page does with the first message of a chat: it goes to the chat.
fn listeners(sending: RwSignal<Option<String>>) -> Listeners {
    let navigate = use_navigate();
    let announcer = expect_context::<Announcer>();
    Listeners {
        on_sending: Callback::new(move |text| {
            heights::tell_way(COMPOSER, "--way");
            sending.set(Some(text));
        }),
        on_failed: Callback::new(move |()| sending.set(None)),
        on_started: Callback::new(move |started: Started| {
            announcer.awaits(started.assistant_turn.turn.id);
            navigate(&chat_path(started.chat_id), Default::default());
        }),
        on_stopped: Callback::new(|_| ()),
    }
}

/// Whether nothing but the demo answers.
fn is_first_run(page: &ChatPage) -> bool {
    ways(&page.notices).is_some()
}

/// The ways to connect a provider, where none is.
fn ways(notices: &[Notice]) -> Option<Vec<Way>> {
    notices.iter().find_map(|notice| match notice {
        Notice::NothingConfigured { ways } => Some(ways.clone()),
        Notice::FoundLocally { .. } | Notice::ModelUnavailable { .. } => None,
    })
}

/// Takes over which models can be chosen when somebody connected one in another tab, or took one away.
fn follow_models(known: u64, models: RwSignal<Vec<Model>>, is_first: RwSignal<bool>) {
    let Some(chats) = use_context::<Chats>() else { return };
    let known = StoredValue::new(known);
    effect(move || {
        let Some(rev) = chats.models_rev.get().filter(|rev| *rev != known.get_value()) else { return };
        known.set_value(rev);
        spawn_local(async move {
            // What does not come now is asked for with the next change, or by whoever loads the page again.
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
                    let recent: Vec<_> = chats.visible().await.ok()?.into_iter().take(RECENT).collect();
                    (!recent.is_empty()).then(|| view! {
                        <section class="recent" aria-label=words::recent()>
                            <ul>
                                {recent.into_iter().map(|chat| {
                                    let title = if chat.title.is_empty() { words::untitled().into() } else { chat.title };
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
