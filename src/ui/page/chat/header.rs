//! The header of a chat: its title, the lock of its branch, and its actions.

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;

use crate::browser::{dialog, document};
use crate::domain::provider::Model;
use crate::domain::{Branch, Chat, ChatId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::chats::{Chats, leave_deleted_chat};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::{Icon, Menu, Toasts};
use crate::ui::messages;
use crate::ui::messages::tree as texts;
use crate::ui::sidebar::SidebarButton;
use crate::ui::transcript::turn_menu::CopyToChat;
use crate::ui::tree::panel::{TREE_BUTTON_ID, TreePanel};

/// The form that renames the chat; the title is a button of it.
const RENAME: &str = "rename-chat";

/// The branch that the header shows.
#[derive(Clone, Copy)]
pub struct ShownBranch {
    pub branch: Signal<Option<Branch>>,
    /// The name of the branch that it was forked from.
    pub from: Signal<Option<String>>,
    pub models: RwSignal<Vec<Model>>,
}

/// The header.
#[component]
pub fn ChatHeader(
    chat: Chat,
    title: Signal<String>,
    branch: ShownBranch,
    /// The number of leaves of the chat's tree.
    #[prop(into)]
    leaves: Signal<u64>,
    /// Whether the find bar is open.
    finding: RwSignal<bool>,
    /// The last reply of a copy; none while a reply runs.
    #[prop(into, default = Signal::stored(None))]
    last_reply: Signal<Option<TurnId>>,
    /// The last turn of the path.
    #[prop(into, default = Signal::stored(None))]
    leaf: Signal<Option<TurnId>>,
) -> impl IntoView {
    let id = chat.id;
    let shown = Signal::derive(move || {
        let title = title.get();
        if title.is_empty() { messages::untitled().to_owned() } else { title }
    });
    let locked_to = Memo::new(move |_| {
        let ShownBranch { branch, from, models } = branch;
        let branch = branch.get()?;
        Some((models.with(|models| chip_text(&branch, from.get(), models)), branch.id.to_string()))
    });
    let chip = move || locked_to.get().map(|(text, branch)| view! { <BranchChip chat=id text id=branch/> });
    // On a phone the chip has no room in the header.
    let chip_row = move || {
        locked_to.get().map(|(text, _)| {
            view! {
                <a class="menu-row only-phone" href=format!("/c/{id}/branches") rel="external">
                    <Icon name="lock"/>
                    <bdi class="chip-text">{text}</bdi>
                </a>
            }
        })
    };
    let copy = move || last_reply.get().map(|reply| view! { <CopyToChat id=reply chat=id/> });
    view! {
        <header class="chat-head">
            <SidebarButton/>
            <h1 class="chat-title" dir="auto" tabindex="-1">
                <button type="submit" form=RENAME title=messages::rename_hint()>{move || shown.get()}</button>
            </h1>
            {move || chip()}
            <TreeButton chat=id leaves/>
            <Menu id="chat-head-menu" label=messages::more_for_chat() icon="more" class="bare">
                <FindRow id finding/>
                <a class="menu-row" href=format!("/c/{id}/compare") rel="external">
                    <Icon name="branch"/>
                    {messages::compare()}
                </a>
                <a class="menu-row" href=format!("/c/{id}/settings") rel="external">
                    <Icon name="tool"/>
                    {messages::chat_settings()}
                </a>
                {live_view(chip_row)}
                <a class="menu-row" href=format!("/c/{id}/export") rel="external">
                    <Icon name="external"/>
                    {messages::export()}
                </a>
                {live_view(copy)}
                <PrintRow id leaf/>
                <ChatActionRows id title shown/>
            </Menu>
        </header>
    }
}

/// The menu item "Find in chat": opens the bar, or a page without script.
#[component]
fn FindRow(id: ChatId, finding: RwSignal<bool>) -> impl IntoView {
    let find = move |event: MouseEvent| {
        event.prevent_default();
        dialog::close_popovers();
        finding.set(true);
    };
    view! {
        <a class="menu-row" href=format!("/c/{id}/find") rel="external" on:click=find>
            <Icon name="search"/>
            {messages::find_in_chat()}
        </a>
    }
}

/// The menu item "Print": the page has only some of the messages, so it prints another one that has all of the path.
#[component]
fn PrintRow(id: ChatId, leaf: Signal<Option<TurnId>>) -> impl IntoView {
    let toasts = use_context::<Toasts>();
    let announcer = use_context::<Announcer>();
    let path = move || match leaf.get() {
        Some(leaf) => format!("/c/{id}/print?leaf={leaf}"),
        None => format!("/c/{id}/print"),
    };
    let tell = move |text: &'static str| {
        if let Some(announcer) = announcer {
            announcer.announce(text);
        }
        if let Some(toasts) = toasts {
            toasts.show(text);
        }
    };
    let print = move |event: MouseEvent| {
        event.prevent_default();
        dialog::close_popovers();
        tell(messages::preparing_print());
        document::print_page(&untrack(path), ".standalone", move |is_ready| {
            if !is_ready {
                tell(messages::print_failed());
            }
        });
    };
    view! {
        <a class="menu-row" href=move || path() rel="external" on:click=print>
            <Icon name="file"/>
            {messages::print()}
        </a>
    }
}

/// The menu items that rename the chat, suggest a title, and delete the chat; `shown` is its name where it has no title.
#[component]
fn ChatActionRows(id: ChatId, title: Signal<String>, shown: Signal<String>) -> impl IntoView {
    let chats = use_context::<Chats>();
    let leave = leave_deleted_chat();
    let rename = move |event: SubmitEvent| {
        event.prevent_default();
        dialog::close_popovers();
        if let Some(chats) = chats {
            chats.renaming.set(Some((id, title.get_untracked())));
        }
    };
    let suggest = move |event: SubmitEvent| {
        event.prevent_default();
        dialog::close_popovers();
        if let Some(chats) = chats {
            chats.suggest_title(id, title.get_untracked());
        }
    };
    let delete = move |event: SubmitEvent| {
        event.prevent_default();
        dialog::close_popovers();
        if let Some(chats) = chats {
            chats.delete(id, &shown.get_untracked());
            leave(id);
        }
    };
    view! {
        <form id=RENAME class="menu-form" method="get" action=format!("/c/{id}/settings") on:submit=rename>
            <button type="submit" class="menu-row"><Icon name="edit"/>{messages::rename()}</button>
        </form>
        <form class="menu-form" method="post" action="/forms/suggest-title" on:submit=suggest>
            <input type="hidden" name="chat_id" value=id.to_string()/>
            <button type="submit" class="menu-row"><Icon name="thought"/>{messages::chats::suggest_title()}</button>
        </form>
        <form class="menu-form" method="post" action="/forms/delete-chat" on:submit=delete>
            <input type="hidden" name="chat_id" value=id.to_string()/>
            <button type="submit" class="menu-row danger"><Icon name="trash"/>{messages::delete()}</button>
        </form>
    }
}

/// Returns the names of branch, provider and model as in their menus, as far as they are still configured.
fn chip_text(branch: &Branch, from: Option<String>, models: &[Model]) -> String {
    let (provider, model) = match models.iter().find(|model| model.lock == branch.lock) {
        Some(model) => (model.provider_name.as_str(), model.name.as_str()),
        None => (branch.lock.provider.as_str(), messages::model_name_or_unknown(&branch.lock.model)),
    };
    messages::branch_chip(branch, from.as_deref(), provider, model)
}

#[component]
fn BranchChip(chat: ChatId, text: String, id: String) -> impl IntoView {
    let title = format!("{text}\n{}", messages::why_locked());
    view! {
        <a
            class="chip branch-chip"
            href=format!("/c/{chat}/branches")
            rel="external"
            data-branch-id=id
            title=title
        >
            <Icon name="lock"/>
            <bdi class="chip-text">{text}</bdi>
        </a>
    }
}

/// Opens the tree: beside the chat where there is room, else as a page.
#[component]
fn TreeButton(chat: ChatId, #[prop(into)] leaves: Signal<u64>) -> impl IntoView {
    let panel = use_context::<TreePanel>();
    let on_click = move |event: leptos::ev::MouseEvent| {
        if panel.is_some_and(TreePanel::toggle) {
            event.prevent_default();
        }
    };
    view! {
        <a
            id=TREE_BUTTON_ID
            class="button bare tree-button"
            href=format!("/c/{chat}/tree")
            aria-label=move || texts::ends(leaves.get())
            aria-expanded=move || panel.map(|panel| panel.is_open().to_string())
            title=move || texts::ends(leaves.get())
            on:click=on_click
        >
            <Icon name="branch"/>
            <span aria-hidden="true">{move || leaves.get()}</span>
        </a>
    }
}
