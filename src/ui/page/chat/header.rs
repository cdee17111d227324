//! The header of a chat: its title, the model of its branch, and its actions.

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;

use crate::browser::{dialog, focus};
use crate::domain::providers::provider::Model;
use crate::domain::{Branch, Chat, ChatId, TurnId};
use crate::ui::chats::{Chats, leave_deleted_chat, project_setting_path};
use crate::ui::composer::model_menu::{BRANCH_MODEL_MENU, PICK_MODEL};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::kit::{Icon, Menu};
use crate::ui::locale::colon;
use crate::ui::messages;
use crate::ui::messages::tree as texts;
use crate::ui::page::chat::share_menu::ShareMenu;
use crate::ui::panel::{ChatPanel, TREE_BUTTON_ID};
use crate::ui::sidebar::SidebarButton;
use crate::ui::transcript::turn_menu::CopyToChat;

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

/// The names of a branch in the header, as in their menus.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BranchNames {
    id: String,
    path: String,
    provider: String,
    model: String,
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
    /// True while the find bar is open.
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
    let names = Memo::new(move |_| {
        let ShownBranch { branch, from, models } = branch;
        let branch = branch.get()?;
        Some(models.with(|models| branch_names(&branch, from.get(), models)))
    });
    // The header of a chat with one branch does not mention branches.
    let branch_link = move || {
        let path = names.get().filter(|_| leaves.get() > 1)?.path;
        Some(view! { <BranchChip chat=id path/> })
    };
    let model_chip = move || names.get().map(|names| view! { <ModelChip names/> });
    // On a phone the chips have no room in the header.
    let branch_row = move || {
        names.get().map(|BranchNames { path, provider, model, .. }| {
            view! {
                <a class="menu-row only-phone" href=format!("/c/{id}/branches") rel="external">
                    <Icon name="branch"/>
                    <bdi class="chip-text">{format!("{path} · {provider} · {model}")}</bdi>
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
            {move || branch_link()}
            {move || model_chip()}
            <TreeButton chat=id leaves/>
            <ShareMenu id leaf/>
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
                {live_view(branch_row)}
                <a class="menu-row" href=project_setting_path(id) rel="external">
                    <Icon name="folder"/>
                    {messages::chats::move_to_project()}
                </a>
                {live_view(copy)}
                <ChatActionRows id title shown/>
            </Menu>
        </header>
    }
}

/// The menu item "Find in chat": opens the bar, or a page without script.
#[component]
fn FindRow(id: ChatId, finding: RwSignal<bool>) -> impl IntoView {
    let find = move |event: MouseEvent| {
        if is_same_tab_click(&event) {
            event.prevent_default();
            dialog::close_popovers();
            finding.set(true);
        }
    };
    view! {
        <a class="menu-row" href=format!("/c/{id}/find") rel="external" on:click=find>
            <Icon name="search"/>
            {messages::find_in_chat()}
        </a>
    }
}

/// The menu items that rename the chat, suggest a title or stop that, and delete the chat; `shown` is its name where it has
/// no title.
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
            chats.toggle_title_suggestion(id, title.get_untracked());
        }
    };
    let suggestion = move || match chats.is_some_and(|chats| chats.is_suggesting_title(id)) {
        true => messages::chats::stop_suggesting(),
        false => messages::chats::suggest_title(),
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
            <button type="submit" class="menu-row"><Icon name="thought"/>{move || suggestion()}</button>
        </form>
        <form class="menu-form" method="post" action="/forms/delete-chat" on:submit=delete>
            <input type="hidden" name="chat_id" value=id.to_string()/>
            <button type="submit" class="menu-row danger"><Icon name="trash"/>{messages::delete()}</button>
        </form>
    }
}

/// Returns the names of branch, provider and model as in their menus, as far as they are still configured.
fn branch_names(branch: &Branch, from: Option<String>, models: &[Model]) -> BranchNames {
    let (provider, model) = match models.iter().find(|model| model.lock == branch.lock) {
        Some(model) => (model.provider_name.clone(), messages::model_name(model)),
        None => (branch.lock.provider.clone(), messages::model_name_or_unknown(&branch.lock.model).to_owned()),
    };
    let path = messages::branch_path(branch, from.as_deref());
    BranchNames { id: branch.id.to_string(), path, provider, model }
}

/// The link from the branch on screen to the list of branches.
#[component]
fn BranchChip(chat: ChatId, path: String) -> impl IntoView {
    let title = path.clone();
    view! {
        <a class="chip branch-chip" href=format!("/c/{chat}/branches") rel="external" title=title>
            <bdi class="chip-text">{path}</bdi>
        </a>
    }
}

/// The model of the branch. It opens what the chip in the message box opens.
#[component]
fn ModelChip(names: BranchNames) -> impl IntoView {
    let BranchNames { id, provider, model, .. } = names;
    let title = format!("{provider} · {model}\n{}", messages::switching_starts_branch());
    let pick = |event: MouseEvent| {
        if focus::press_last(PICK_MODEL) {
            event.prevent_default();
        }
    };
    view! {
        <button
            type="button"
            class="chip model-chip"
            popovertarget=BRANCH_MODEL_MENU
            aria-haspopup="dialog"
            data-branch-id=id
            title=title
            on:click=pick
        >
            <span class="quiet">{messages::model()}{colon()}</span>
            <bdi class="chip-text">{model}</bdi>
            <Icon name="chevron-down"/>
        </button>
    }
}

/// Opens the tree: beside the chat where there is room, else as a page.
#[component]
fn TreeButton(chat: ChatId, #[prop(into)] leaves: Signal<u64>) -> impl IntoView {
    let panel = use_context::<ChatPanel>();
    // A chat without messages has its first branch, and its first message does not move the header.
    let count = move || leaves.get().max(1);
    let on_click = move |event: MouseEvent| {
        if is_same_tab_click(&event) && panel.is_some_and(ChatPanel::toggle_tree) {
            event.prevent_default();
        }
    };
    view! {
        <a
            id=TREE_BUTTON_ID
            class="button bare tree-button"
            href=format!("/c/{chat}/tree")
            aria-label=move || texts::ends(count())
            aria-expanded=move || panel.map(|panel| panel.is_tree_open().to_string())
            title=move || texts::ends(count())
            on:click=on_click
        >
            <Icon name="branch"/>
            <span class="only-phone" aria-hidden="true">{move || count()}</span>
            <span class="chip-text" aria-hidden="true">{move || texts::branch_count(count() as usize)}</span>
        </a>
    }
}
