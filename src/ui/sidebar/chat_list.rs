//! The list of chats with its marks, and the menu of one chat.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::api::view::ChatItem;
use crate::browser::dialog;
use crate::domain::ChatId;
use crate::ui::chats::{Chats, chat_path, leave_deleted};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words;

/// One menu serves the whole list: a panel for each of hundreds of chats would be most of the page.
const MENU: &str = "chat-menu";

/// The chat whose menu is open.
#[derive(Clone, Copy)]
struct Chosen(RwSignal<Option<(ChatId, String)>>);

/// The person's chats, newest first.
#[component]
pub fn ChatList() -> impl IntoView {
    let chats = expect_context::<Chats>();
    provide_context(Chosen(RwSignal::new(None)));
    view! {
        <Transition fallback=|| view! { <p class="hint">{words::loading_chats()}</p> }>
            {move || Suspend::new(async move {
                match chats.visible().await {
                    Ok(items) => view! { <Items items/> }.into_any(),
                    Err(_) => view! { <LoadFailed/> }.into_any(),
                }
            })}
        </Transition>
        <ChatMenu/>
    }
}

/// The list as it is drawn from its items.
#[component]
pub fn Items(items: Vec<ChatItem>) -> impl IntoView {
    if items.is_empty() {
        return view! { <p class="hint">{words::no_chats()}</p> }.into_any();
    }
    let items = items.into_iter().map(|item| view! { <Item item/> }).collect_view();
    view! { <ul class="chats">{items}</ul> }.into_any()
}

#[component]
fn Item(item: ChatItem) -> impl IntoView {
    let chosen = use_context::<Chosen>();
    let title = if item.title.is_empty() { words::untitled().to_owned() } else { item.title };
    let choose = {
        let title = title.clone();
        move |_| {
            if let Some(Chosen(chosen)) = chosen {
                chosen.set(Some((item.id, title.clone())));
            }
        }
    };
    let more = words::chat_menu(&title);
    view! {
        <li class="chat-item">
            <A href=chat_path(item.id) attr:class="chat-link" on:click=move |_| dialog::close_popovers()>
                {item.running.then(|| {
                    let (class, word) =
                        if item.needs_you { ("dot needs-you", words::needs_you()) } else { ("dot", words::answering()) };
                    view! {
                        <span class=class aria-hidden="true"></span>
                        <span class="quiet">{word}" "</span>
                    }
                })}
                <span class="chat-name" dir="auto">{title}</span>
                {item.needs_you.then(|| view! { <span class="mark" aria-hidden="true">{words::needs_you()}</span> })}
                {item.has_draft.then(|| view! { <span class="mark">{words::draft()}</span> })}
            </A>
            <button type="button" class="button bare chat-more needs-script" popovertarget=MENU on:click=choose>
                <Icon name="more"/>
                <span class="quiet">{more}</span>
            </button>
        </li>
    }
}

#[component]
fn ChatMenu() -> impl IntoView {
    let chats = expect_context::<Chats>();
    let Chosen(chosen) = expect_context::<Chosen>();
    let leave = leave_deleted();
    let rename = move |_| {
        dialog::close_popovers();
        chats.renaming.set(chosen.get_untracked());
    };
    let delete = move |_| {
        dialog::close_popovers();
        if let Some((id, title)) = chosen.get_untracked() {
            chats.delete(id, &title);
            leave(id);
        }
    };
    view! {
        <div id=MENU class="menu" popover="auto">
            <button type="button" class="menu-row" on:click=rename><Icon name="edit"/>{words::rename()}</button>
            <button type="button" class="menu-row danger" on:click=delete><Icon name="trash"/>{words::delete()}</button>
        </div>
    }
}

#[component]
fn LoadFailed() -> impl IntoView {
    let chats = expect_context::<Chats>();
    view! {
        <div class="hint">
            <p>{words::chats_failed()}</p>
            <button type="button" class="button needs-script" on:click=move |_| chats.refresh()>{words::retry()}</button>
        </div>
    }
}
