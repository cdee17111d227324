//! The sidebar "Chats": a column where there is room, a rail with a drawer where there is less, a drawer on a phone.
//! The drawer is a popover, so it also opens without script.

pub mod chat_list;
pub mod rename_dialog;

use leptos::prelude::*;
use leptos_router::components::A;

use crate::browser::{dialog, document, media};
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, view};
use crate::ui::keymap::{self, KeyCommand};
use crate::ui::kit::Icon;
use crate::ui::kit::toast::RecentToasts;
use crate::ui::messages;
use crate::ui::palette::SearchLink;
use crate::ui::preferences::{PreferenceSetting, Preferences, choose};
use crate::ui::sidebar::chat_list::ChatList;
use crate::ui::sidebar::rename_dialog::RenameDialog;

/// The attribute of `<html>` on pages of a session (`ui::shell`).
const SESSION_ATTRIBUTE: &str = "data-session";

/// True for a page of a session, which its person can end. The server provides it as context; the browser reads it from the
/// page, so that both draw the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct HasSession(pub bool);

impl HasSession {
    fn of_page() -> Self {
        use_context::<Self>().unwrap_or_else(|| Self(document::root_attribute(SESSION_ATTRIBUTE).is_some()))
    }
}

/// The id of the drawer; buttons name it in `popovertarget`.
pub const DRAWER: &str = "chats";

/// Toggles the column (Ctrl+B) and stores the choice; where there is no room for a column, toggles the drawer.
pub fn toggle_sidebar(preferences: RwSignal<Preferences>) {
    if !media::is_wide() {
        return dialog::toggle_popover(DRAWER);
    }
    let other =
        if preferences.get_untracked().is_chosen(PreferenceSetting::Sidebar, "closed") { "open" } else { "closed" };
    choose(preferences, PreferenceSetting::Sidebar, other);
}

/// The sidebar and its dialogs.
#[component]
pub fn Sidebar() -> impl IntoView {
    effect(dialog::close_on_back);
    view! {
        <nav id="sidebar" class="sidebar no-print" aria-label=messages::chats()>
            <div class="rail">
                <button type="button" class="button bare only-rail" popovertarget=DRAWER>
                    <Icon name="menu"/>
                    <span class="quiet">{messages::show_chats()}</span>
                </button>
                <span class="brand only-wide"><Icon name="leaf"/>{messages::PRODUCT}</span>
                <NotificationsLink/>
                <HideSidebarButton/>
                <NewChatLink/>
                <SearchLink/>
            </div>
            <div id=DRAWER class="drawer" popover="auto">
                <div class="drawer-head only-phone">
                    <NewChatLink/>
                    <SearchLink/>
                    <NotificationsLink/>
                    <button type="button" class="button bare" popovertarget=DRAWER popovertargetaction="hide">
                        <Icon name="close"/>
                        <span class="quiet">{messages::hide_chats()}</span>
                    </button>
                </div>
                <ChatList/>
                <DrawerFoot/>
            </div>
        </nav>
        <RenameDialog/>
    }
}

/// The footer of the sidebar: the recent toasts, links to the pages outside of chats, and the way to sign out.
#[component]
pub fn DrawerFoot() -> impl IntoView {
    let link = |(path, icon, name): (&'static str, &'static str, &'static str)| {
        view! { <a class="menu-row" rel="external" href=path><Icon name=icon/>{name}</a> }
    };
    let links = [
        ("/projects", "folder", messages::chats::projects()),
        ("/documents", "file", messages::documents()),
        ("/usage", "chart", messages::usage()),
        ("/trash", "trash", messages::trash()),
        ("/settings", "sliders", messages::settings()),
    ];
    let sign_out = HasSession::of_page().0.then(|| {
        view! {
            <form id="sign-out" method="post" action="/forms/sign-out"></form>
            <button type="submit" form="sign-out" class="menu-row"><Icon name="user"/>{messages::sign_out()}</button>
        }
    });
    view! {
        <div class="drawer-foot">
            <RecentToasts/>
            {links.into_iter().map(link).collect_view()}
            {sign_out}
        </div>
    }
}

/// The button in a page's header that opens the drawer, or shows the hidden column.
#[component]
pub fn SidebarButton() -> impl IntoView {
    let preferences = expect_context::<RwSignal<Preferences>>();
    let open = move |event: leptos::ev::MouseEvent| {
        if media::is_wide() {
            event.prevent_default();
            if preferences.get_untracked().is_chosen(PreferenceSetting::Sidebar, "closed") {
                toggle_sidebar(preferences);
            }
        }
    };
    view! {
        <button type="button" class="button bare sidebar-button" popovertarget=DRAWER on:click=open>
            <Icon name="menu"/>
            <span class="quiet">{messages::show_chats()}</span>
        </button>
    }
}

/// The button that hides the column.
#[component]
pub fn HideSidebarButton() -> impl IntoView {
    let preferences = expect_context::<RwSignal<Preferences>>();
    let hide = move |_| {
        if preferences.get_untracked().is_chosen(PreferenceSetting::Sidebar, "open") {
            toggle_sidebar(preferences);
        }
    };
    // The shortcut is the reader's own, which the server does not render.
    let keys = RwSignal::new(None::<String>);
    effect(move || keys.set(Some(keymap::key_hint(KeyCommand::Sidebar)).filter(|keys| !keys.is_empty())));
    view! {
        <button type="button" class="button bare only-wide needs-script" on:click=hide title=move || keys.get()>
            <Icon name="sidebar"/>
            <span class="quiet">{messages::hide_chats()}</span>
        </button>
    }
}

/// The bell: a link to the notifications, with the number of new ones. The number arrives with the first poll.
#[component]
pub fn NotificationsLink() -> impl IntoView {
    let count = use_context::<Chats>().map(|chats| chats.notifications);
    let mark = move || {
        let count = count.map(|count| count.get()).filter(|count| *count > 0)?;
        Some(view! { <span class="mark">{count}</span> })
    };
    view! {
        <a class="button bare bell" rel="external" href="/notifications">
            <Icon name="bell"/>
            <span class="quiet">{messages::notifications()}" "</span>
            {mark}
        </a>
    }
}

/// The link to the new chat.
#[component]
pub fn NewChatLink() -> impl IntoView {
    view! {
        <A href="/" attr:class="button new-chat" on:click=move |_| dialog::close_popovers()>
            <Icon name="plus"/>
            <span class="rail-word">{messages::new_chat()}</span>
        </A>
    }
}
