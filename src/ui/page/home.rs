//! The new chat: a greeting, the composer, and the way back to recent chats; on a new server, how to connect a model.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::api::chats::load_chat;
use crate::api::json::Json;
use crate::api::view::{ChatPage, Notice, Started};
use crate::domain::{Lock, TurnId};
use crate::ui::chats::{Chats, chat_path};
use crate::ui::composer::Composer;
use crate::ui::composer::state::Listeners;
use crate::ui::erased::view;
use crate::ui::page::first_run::FirstRunPanel;
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
        <Transition fallback=|| view! { <p class="hint">{words::loading_chat()}</p> }>
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
    let navigate = use_navigate();
    let listeners = Listeners {
        on_sending: Callback::new(move |text| sending.set(Some(text))),
        on_failed: Callback::new(move |()| sending.set(None)),
        on_started: Callback::new(move |started: Started| navigate(&chat_path(started.chat_id), Default::default())),
        on_stopped: Callback::new(|_| ()),
    };
    let is_first_run = page.notices.contains(&Notice::NothingConfigured);
    let form_request_id = page.form_request_id.clone();
    let panel = is_first_run.then(|| {
        view! {
            <FirstRunPanel models=page.models.clone() notices=page.notices.clone() form_request_id=form_request_id/>
        }
    });
    let can_write = !page.models.is_empty();
    let tools_on = page.tools_on;
    let (draft, models, form_request_id) = (page.draft, RwSignal::new(page.models), page.form_request_id);
    let draft_elsewhere = RwSignal::new(draft.clone());
    let (nothing, no_turn) = (None::<Lock>, None::<TurnId>);
    let composer = can_write.then(|| {
        view! {
            <Composer
                chat_id=None
                draft
                draft_elsewhere
                models
                form_request_id
                lock=nothing
                leaf=no_turn
                running=no_turn
                stop_asked=RwSignal::new(false)
                listeners
                tools_on
            />
        }
    });
    view! {
        <header class="chat-head"><SidebarButton/></header>
        <div class="home" class:is-sending=move || sending.get().is_some()>
            <h1 class="greeting">{if is_first_run { words::PRODUCT } else { words::greeting() }}</h1>
            {panel}
            <SendingTurn text=sending/>
            {composer}
            <RecentChats/>
        </div>
    }
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
