//! The chat list with its marks, and the menu of one chat.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use crate::api::view::{ChatListItem, ProjectLink};
use crate::browser::dialog;
use crate::domain::ChatId;
use crate::domain::chats::chat::ChatListHeading;
use crate::ui::chats::{ChatPlacement, Chats, chat_path, leave_deleted_chat, project_setting_path};
use crate::ui::erased::{effect, view};
use crate::ui::kit::{FailurePanel, Icon};
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;

/// One menu serves the whole list: a panel for each of hundreds of chats would be most of the page.
const MENU: &str = "chat-menu";

/// The chat whose menu is open, its title, and whether it is pinned.
#[derive(Clone, Copy)]
struct MenuChat(RwSignal<Option<(ChatId, String, bool)>>);

/// Provides the state of the chat menu as context.
pub fn provide_menu_chat() {
    provide_context(MenuChat(RwSignal::new(None)));
}

/// The person's chats: pinned ones first, then by the day of their last change.
#[component]
pub fn ChatList() -> impl IntoView {
    let chats = expect_context::<Chats>();
    provide_menu_chat();
    let navigate = use_navigate();
    // A system notification was clicked.
    effect(move || {
        if let Some(id) = chats.requested.get() {
            chats.requested.set(None);
            navigate(&chat_path(id), NavigateOptions { scroll: false, ..Default::default() });
        }
    });
    view! {
        <FailurePanel failing=chats.last_failure/>
        <div class="chats">
            <Transition fallback=|| view! { <p class="hint late">{messages::loading_chats()}</p> }>
                {move || Suspend::new(async move {
                    match chats.visible_chats().await {
                        Ok(items) => {
                            let has_older = chats.has_older.get();
                            let projects = chats.projects();
                            view! { <ChatListRows items projects/>{has_older.then(|| view! { <OlderChatsButton/> })} }.into_any()
                        }
                        Err(_) => view! { <ChatsLoadFailed/> }.into_any(),
                    }
                })}
            </Transition>
            <a class="menu-row" rel="external" href="/chats">{messages::chats::all_chats()}</a>
        </div>
        <ChatMenu/>
    }
}

/// The list, rendered from its items, below the projects.
#[component]
pub fn ChatListRows(items: Vec<ChatListItem>, #[prop(optional)] projects: Vec<ProjectLink>) -> impl IntoView {
    let projects = (!projects.is_empty()).then(|| project_rows(projects));
    if items.is_empty() {
        return view! { {projects}<p class="hint">{messages::no_chats()}</p> }.into_any();
    }
    let part = |items: &[ChatListItem]| {
        let heading = messages::chats::heading(items[0].heading);
        let name = heading.clone();
        let items = items.iter().cloned().map(|item| view! { <ChatListRow item/> }).collect_view();
        view! {
            <h2 class="chats-of">{heading}</h2>
            <ul aria-label=name>{items}</ul>
        }
    };
    let parts = items.chunk_by(|one, next| one.heading == next.heading).map(part).collect_view();
    view! { {projects}{parts} }.into_any()
}

/// The projects as links to their pages.
fn project_rows(projects: Vec<ProjectLink>) -> AnyView {
    let name = messages::chats::projects();
    let row = |project: ProjectLink| {
        view! {
            <li class="chat-item">
                <a class="chat-link" rel="external" href=format!("/projects/{}", project.id)>
                    <span class="project-dot" data-color=project.color aria-hidden="true"></span>
                    <span class="chat-name" dir="auto">{project.name}</span>
                </a>
            </li>
        }
    };
    let rows = projects.into_iter().map(row).collect_view();
    view! {
        <h2 class="chats-of">{name}</h2>
        <ul aria-label=name>{rows}</ul>
    }
    .into_any()
}

#[component]
fn ChatListRow(item: ChatListItem) -> impl IntoView {
    let chosen = use_context::<MenuChat>();
    let title = if item.title.is_empty() { messages::untitled().to_owned() } else { item.title };
    let choose = {
        let title = title.clone();
        move |_| {
            if let Some(MenuChat(chosen)) = chosen {
                chosen.set(Some((item.id, title.clone(), item.heading == ChatListHeading::Pinned)));
            }
        }
    };
    let more = messages::chat_menu(&title);
    let chats = use_context::<Chats>();
    let is_loading = move || chats.is_some_and(|chats| chats.loading.get() == Some(item.id)).then_some("true");
    let unread = (item.unread && !item.running).then(|| {
        view! {
            <span class="dot unread" aria-hidden="true"></span>
            <span class="quiet unread">{messages::unread()}" "</span>
        }
    });
    view! {
        <li class="chat-item" aria-busy=is_loading>
            // The current chat keeps its scroll position until the next one has arrived, which restores its own.
            <A href=chat_path(item.id) scroll=false attr:class="chat-link" on:click=move |_| dialog::close_popovers()>
                {item.running.then(|| {
                    let (class, word) =
                        if item.needs_you { ("dot needs-you", messages::needs_you()) } else { ("dot", messages::answering()) };
                    view! {
                        <span class=class aria-hidden="true"></span>
                        <span class="quiet">{word}" "</span>
                    }
                })}
                {unread}
                <span class="chat-name" dir="auto">{title}</span>
                {item.needs_you.then(|| view! { <span class="mark" aria-hidden="true">{messages::needs_you()}</span> })}
                {item.has_draft.then(|| view! { <span class="mark">{messages::draft()}</span> })}
            </A>
            <button type="button" class="button bare chat-more needs-script" popovertarget=MENU on:click=choose>
                <Icon name="more"/>
                <span class="quiet">{more}</span>
            </button>
        </li>
    }
}

/// The menu of the chosen chat.
#[component]
pub fn ChatMenu() -> impl IntoView {
    let chats = expect_context::<Chats>();
    let MenuChat(chosen) = expect_context::<MenuChat>();
    let leave = leave_deleted_chat();
    let leave_unread = leave.clone();
    let rename = move |_| {
        dialog::close_popovers();
        chats.renaming.set(chosen.get_untracked().map(|(id, title, _)| (id, title)));
    };
    let delete = move |_| {
        dialog::close_popovers();
        if let Some((id, title, _)) = chosen.get_untracked() {
            chats.delete_from_list(id, &title);
            leave(id);
        }
    };
    let place = move |to: ChatPlacement| {
        dialog::close_popovers();
        if let Some((id, title, _)) = chosen.get_untracked() {
            chats.set_placement(id, title, to);
        }
    };
    // A chat on screen would be read at once.
    let mark_unread = move |_| {
        place(ChatPlacement::Unread);
        if let Some((id, ..)) = chosen.get_untracked() {
            leave_unread(id);
        }
    };
    let is_pinned = move || chosen.with(|chosen| chosen.as_ref().is_some_and(|(.., is_pinned)| *is_pinned));
    let project_path = move || chosen.with(|chosen| chosen.as_ref().map(|(id, ..)| project_setting_path(*id)));
    view! {
        <div id=MENU class="menu" popover="auto">
            <button type="button" class="menu-row" on:click=move |_| place(ChatPlacement::Pinned(!is_pinned()))>
                <Icon name="pin"/>
                {move || if is_pinned() { messages::chats::unpin() } else { messages::chats::pin() }}
            </button>
            <button type="button" class="menu-row" on:click=move |_| place(ChatPlacement::Archived(true))>
                <Icon name="file"/>
                {messages::chats::archive()}
            </button>
            <a class="menu-row" rel="external" href=move || project_path()>
                <Icon name="folder"/>
                {messages::chats::move_to_project()}
            </a>
            <button type="button" class="menu-row" on:click=mark_unread>
                <Icon name="bell"/>
                {messages::chats::mark_unread()}
            </button>
            <button type="button" class="menu-row" on:click=rename><Icon name="edit"/>{messages::rename()}</button>
            <button type="button" class="menu-row danger" on:click=delete><Icon name="trash"/>{messages::delete()}</button>
        </div>
    }
}

/// The button that loads older chats.
#[component]
pub fn OlderChatsButton() -> impl IntoView {
    let chats = expect_context::<Chats>();
    let (is_requested, failed) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let load = move |_| {
        if !is_requested.get_untracked() {
            is_requested.set(true);
            spawn_local(async move {
                let result = chats.load_older().await;
                let _ = failed.try_set(result.err().map(|error| problem(&error)));
                let _ = is_requested.try_set(false);
            });
        }
    };
    view! {
        <div class="older-chats">
            <button type="button" class="button bare needs-script" aria-disabled=move || is_requested.get().to_string() on:click=load>
                {move || if is_requested.get() { messages::loading_chats() } else { messages::older_chats() }}
            </button>
            <p class="problem" role="alert">{move || failed.get()}</p>
        </div>
    }
}

/// The notice that the list could not be loaded, with a retry button.
#[component]
pub fn ChatsLoadFailed() -> impl IntoView {
    let chats = expect_context::<Chats>();
    view! {
        <div class="hint">
            <p>{messages::chats_failed()}</p>
            <button type="button" class="button needs-script" on:click=move |_| chats.refresh()>{messages::retry()}</button>
        </div>
    }
}
