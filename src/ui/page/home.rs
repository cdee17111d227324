//! The new chat: a greeting, the composer and recent chats; on a new server, the connection of a model.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::components::A;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::api::chats::load_chat;
use crate::api::json::JsonEncoding;
use crate::api::view::{ChatListItem, ChatPage, DraftView, StartedReply};
use crate::browser::local_store::{self, LAST_CHAT_KEY};
use crate::browser::{css_heights, textarea};
use crate::domain::chats::chat::ChatListHeading;
use crate::ui::announce::{Announcer, announce_arrival};
use crate::ui::chats::{Chats, chat_path};
use crate::ui::composer::Composer;
use crate::ui::composer::state::{COMPOSER_FORM_ID, ComposerListeners, FollowedPath};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::page::first_run::{ConnectedLine, FirstRunPanel, found_server_lines};
use crate::ui::page::not_found::LoadFailedView;
use crate::ui::page::provider_connect::{ProviderConnect, connection_options, is_first_run};
use crate::ui::page::sending_turn::SendingTurn;
use crate::ui::sidebar::SidebarButton;
use crate::ui::transcript::expect_sent;

/// The number of recent chats.
const RECENT: usize = 3;

/// The query parameter with the number of a starter, for pages without script.
const STARTER_QUERY: &str = "start";

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
    let connecting = ProviderConnect::new(models, is_first_run);
    follow_models(page.models_rev, connecting);
    let (found, request_id) = (found_server_lines(&page.notices), page.form_request_id.clone());
    let options = connection_options(&page.notices).unwrap_or_default();
    // An open form stays with its error: the provider is already stored, so the server no longer counts as new.
    let is_first_run = Memo::new(move |_| is_first_run.get() || connecting.option.with(Option::is_some));
    let panel = live_view(move || {
        is_first_run.get().then(|| {
            let models = models.get_untracked();
            view! { <FirstRunPanel models options=options.clone() form_request_id=request_id.clone() connecting/> }
        })
    });
    let can_write = Memo::new(move |_| models.with(|models| !models.is_empty()));
    let (tools_on, budget_notes) = (page.tools_on, page.budget_notes);
    let (draft, form_request_id) = (draft_with_starter(page.draft, starter_in_address()), page.form_request_id);
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
                budget_notes=budget_notes.clone()
            />
        })
    });
    // Before a model is connected, a new chat has nothing to set.
    let settings = live_view(move || {
        (!is_first_run.get()).then(|| {
            view! { <a class="button bare" href="/new/settings" rel="external">{messages::chat_settings()}</a> }
        })
    });
    let starters = live_view(move || (can_write.get() && !is_first_run.get()).then(|| view! { <StarterLinks/> }));
    view! {
        <header class="chat-head"><SidebarButton/>{settings}</header>
        <main class="page"><div class="home" class:is-sending=move || sending.get().is_some()>
            <h1 class="greeting">{messages::greeting()}</h1>
            {found}
            {panel}
            <ConnectedLine connecting/>
            <SendingTurn text=sending/>
            {composer}
            {starters}
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

/// Reloads the available models when a provider was connected or removed in another tab.
fn follow_models(known: u64, connecting: ProviderConnect) {
    let Some(chats) = use_context::<Chats>() else { return };
    let known = StoredValue::new(known);
    effect(move || {
        let Some(rev) = chats.models_rev.get().filter(|rev| *rev != known.get_value()) else { return };
        known.set_value(rev);
        spawn_local(connecting.reload_models());
    });
}

/// Returns the labels of the starters.
fn starters() -> [&'static str; 3] {
    [messages::starter_explain(), messages::starter_write(), messages::starter_compare()]
}

/// Returns the text with which a starter fills the message box.
fn starter_text(label: &str) -> String {
    let text = label.trim_end_matches('…');
    if text.is_ascii() { format!("{text} ") } else { text.to_owned() }
}

/// Returns the number of the starter in the address.
fn starter_in_address() -> Option<usize> {
    use_query_map().with_untracked(|query| query.get(STARTER_QUERY))?.parse().ok()
}

/// Returns the draft, or the starter with this number where there is no text yet.
fn draft_with_starter(draft: DraftView, number: Option<usize>) -> DraftView {
    let label = number.and_then(|number| starters().get(number).copied());
    match label.filter(|_| draft.text.is_empty()) {
        Some(label) => DraftView { text: starter_text(label), ..draft },
        None => draft,
    }
}

/// Prompts that fill the message box. They are links, so that they work without script.
#[component]
pub fn StarterLinks() -> impl IntoView {
    let link = |(at, label): (usize, &'static str)| {
        let fill = move |event: MouseEvent| {
            let area = textarea::find("#message").filter(|_| is_same_tab_click(&event));
            if let Some(area) = area {
                event.prevent_default();
                textarea::insert(&area, &starter_text(label));
            }
        };
        view! {
            <li><a class="chip" rel="external" href=format!("/?{STARTER_QUERY}={at}") on:click=fill>{label}</a></li>
        }
    };
    view! {
        <ul class="starters" aria-label=messages::starters()>{starters().into_iter().enumerate().map(link).collect_view()}</ul>
    }
}

/// The newest chats, each with its day. Pinned chats are at the top of the sidebar.
#[component]
fn RecentChats() -> impl IntoView {
    let chats = use_context::<Chats>();
    chats.map(|chats| {
        view! {
            <Transition>
                {move || Suspend::new(async move {
                    let is_newest = |chat: &ChatListItem| chat.heading != ChatListHeading::Pinned;
                    let listed = chats.visible_chats().await.ok()?;
                    let recent: Vec<_> = listed.into_iter().filter(is_newest).take(RECENT).collect();
                    (!recent.is_empty()).then(|| view! {
                        <section class="recent" aria-labelledby="recent-chats">
                            <h2 id="recent-chats" class="chats-of">{messages::recent()}</h2>
                            <ul>
                                {recent.into_iter().map(|chat| {
                                    let title = if chat.title.is_empty() { messages::untitled().into() } else { chat.title };
                                    let day = messages::chats::heading(chat.heading);
                                    view! {
                                        <li>
                                            <A href=chat_path(chat.id) attr:class="menu-row">
                                                <bdi class="chat-name">{title}</bdi>
                                                " "<span class="hint">{day}</span>
                                            </A>
                                        </li>
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    #[test]
    fn starter_in_address_fills_empty_box_only() {
        let filled = |text: &str, number| {
            draft_with_starter(DraftView { text: text.into(), rev: 7, ..DraftView::default() }, number)
        };
        for (text, number, shown) in
            [("", Some(1), "Help me write "), ("my own", Some(1), "my own"), ("", Some(99), ""), ("", None, "")]
        {
            let draft = filled(text, number);
            assert_eq!((draft.text.as_str(), draft.rev), (shown, 7), "{text} {number:?}");
        }
        with_locale(Locale::Chinese, || assert_eq!(filled("", Some(1)).text, "帮我写"));
    }
}
