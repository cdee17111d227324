//! The "Share" menu of a chat: copying, sharing, downloading and printing the path on screen.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::{clipboard, dialog, document};
use crate::domain::{ChatId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::erased::view;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::kit::{Icon, Menu, Toasts};
use crate::ui::messages::{self, share as words, transcript};
use crate::ui::transcript::copy_button::CopyButton;

/// The button with its menu.
#[component]
pub fn ShareMenu(
    id: ChatId,
    /// The last turn of the path.
    leaf: Signal<Option<TurnId>>,
) -> impl IntoView {
    let file = move |format: &'static str| {
        let leaf = leaf.get().map(|leaf| format!("&leaf={leaf}")).unwrap_or_default();
        format!("/api/chats/{id}/export?format={format}{leaf}")
    };
    let share = move || {
        let leaf = leaf.get().map(|leaf| format!("?leaf={leaf}")).unwrap_or_default();
        format!("/c/{id}/share{leaf}")
    };
    // The page has only some of the messages, so all of them come from the server.
    let source = Callback::new(move |()| Some(untrack(|| file("markdown"))));
    let download = move |format: &'static str, name: &'static str| {
        let close = |_: MouseEvent| dialog::close_popovers();
        view! {
            <a class="menu-row" href=move || file(format) rel="external" download="" on:click=close>
                <Icon name="file"/>
                {name}
            </a>
        }
    };
    view! {
        <Menu id="chat-share-menu" label=words::share() icon="external" class="bare">
            <CopyButton name=words::copy_markdown() text=Callback::new(|()| String::new()) source in_menu=true/>
            <CopyLinkRow id leaf/>
            <a class="menu-row" href=share rel="external">
                <Icon name="external"/>
                {words::share_path()}
            </a>
            {download("html", words::download_page())}
            {download("markdown", words::download_markdown())}
            {download("markdown_zip", words::download_images())}
            {download("json", words::download_archive())}
            {download("git", words::download_git())}
            <a class="menu-row" href=format!("/c/{id}/export") rel="external">
                <Icon name="tool"/>
                {words::options()}
            </a>
            <PrintRow id leaf/>
        </Menu>
    }
}

/// Returns what shows and announces a result.
fn teller() -> impl Fn(&'static str) + Copy + 'static {
    let (announcer, toasts) = (use_context::<Announcer>(), use_context::<Toasts>());
    move |text: &'static str| {
        if let Some(announcer) = announcer {
            announcer.announce(text);
        }
        if let Some(toasts) = toasts {
            toasts.show(text);
        }
    }
}

/// The menu item that copies the address of the path. Hidden without script, because a click could do nothing.
#[component]
fn CopyLinkRow(id: ChatId, leaf: Signal<Option<TurnId>>) -> impl IntoView {
    let tell = teller();
    let copy = move |_| {
        dialog::close_popovers();
        let at = leaf.get_untracked().map(|leaf| format!("?at={leaf}")).unwrap_or_default();
        clipboard::copy_page_address(&format!("/c/{id}{at}"), move |is_copied| {
            tell(if is_copied { messages::copied() } else { transcript::copy_failed() });
        });
    };
    view! {
        <button type="button" class="menu-row needs-script" on:click=copy>
            <Icon name="copy"/>
            {words::copy_link()}
        </button>
    }
}

/// The menu item "Print": the page has only some of the messages, so it prints another one that has all of the path.
#[component]
fn PrintRow(id: ChatId, leaf: Signal<Option<TurnId>>) -> impl IntoView {
    let tell = teller();
    let path = move || match leaf.get() {
        Some(leaf) => format!("/c/{id}/print?leaf={leaf}"),
        None => format!("/c/{id}/print"),
    };
    let print = move |event: MouseEvent| {
        if !is_same_tab_click(&event) {
            return;
        }
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
