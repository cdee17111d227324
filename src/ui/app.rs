//! The root component: provides the contexts, the routes and the frame around every screen.

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::ui::announce::{LiveRegions, provide_announcer};
use crate::ui::chats::provide_chats;
use crate::ui::chats::running_poll::poll_running_chats;
use crate::ui::connection::{ConnectionBanner, provide_connection};
use crate::ui::erased::{effect, view};
use crate::ui::kit::provide_toasts;
use crate::ui::kit::toast::ToastShelf;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages;
use crate::ui::page::chat::fetch_chat;
use crate::ui::page::{ChatPageView, HomePage, NotFoundPage};
use crate::ui::palette::body::PaletteDialog;
use crate::ui::palette::{provide_palette, results};
use crate::ui::panel::provide_panel;
use crate::ui::panel::side_panel::SidePanel;
use crate::ui::polling::provide_live_channel;
use crate::ui::preferences::Preferences;
use crate::ui::shortcuts::Shortcuts;
use crate::ui::sidebar::Sidebar;
use crate::ui::transcript::focus_entry::provide_path_end_loader;
use crate::ui::tree::lazy_tree::{TreePageView, fetch_tree};

/// The whole page below `<body>`.
///
/// The content below a page's header is in a `main` of its own, because a header within `main` is no landmark.
///
/// Pages are rendered in one piece (`SsrMode::Async`): readers without script get the text instead of a placeholder,
/// and the document's title and status are known before the first byte.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let preferences = use_context::<Preferences>().unwrap_or_else(Preferences::from_page);
    provide_context(RwSignal::new(preferences));
    provide_announcer();
    provide_connection();
    provide_live_channel();
    provide_toasts();
    poll_running_chats(provide_chats());
    provide_panel();
    provide_palette();
    provide_path_end_loader();
    prefetch_chat_code();
    view! {
        <Title text=messages::PRODUCT/>
        <a class="skip" href="#message">{messages::skip_to_message()}</a>
        <a class="skip" href="#latest">{messages::skip_to_latest()}</a>
        <LiveRegions/>
        <Router>
            <Shortcuts/>
            <div class="app">
                <Sidebar/>
                <div id="main" class="main">
                    <p class="basic-mode no-print" role="region" aria-label=messages::basic_mode()>{messages::basic_mode()}</p>
                    <Routes fallback=NotFoundPage>
                        <Route path=path!("/") view=HomePage ssr=SsrMode::Async/>
                        <Route path=path!("/c/:chat") view=ChatPageView ssr=SsrMode::Async/>
                        <Route path=path!("/c/:chat/tree") view=TreePageView ssr=SsrMode::Async/>
                    </Routes>
                    <ConnectionBanner/>
                </div>
                <SidePanel/>
            </div>
            <PaletteDialog/>
        </Router>
        <ToastShelf/>
    }
}

/// Returns the name of the code part that only the page at this address needs.
pub fn code_part_for(address: &str) -> Option<&'static str> {
    let chat = address.split('?').next()?.strip_prefix("/c/")?;
    Some(if chat.ends_with("/tree") { "tree" } else { "chat" })
}

/// Fetches the code part of the page at this address.
///
/// # Errors
/// The code could not be fetched.
pub async fn fetch_code_for(address: &str) -> Result<(), NotFetched> {
    match code_part_for(address) {
        Some("tree") => fetch_tree().await.map(drop),
        Some(_) => fetch_chat().await.map(drop),
        None => Ok(()),
    }
}

/// Prefetches the code of the chat page and of the palette's results at the first user action, because most actions
/// lead to a chat, and words are typed as soon as the palette is open.
fn prefetch_chat_code() {
    let is_requested = StoredValue::new(false);
    let fetch = move || {
        if !is_requested.get_value() {
            is_requested.set_value(true);
            // A failed prefetch is repeated where the code is needed.
            spawn_local(async {
                drop(fetch_chat().await);
                drop(results::fetch().await);
            });
        }
    };
    effect(move || {
        let of_keys = window_event_listener(ev::keydown, move |_| fetch());
        let of_pointers = window_event_listener(ev::pointerdown, move |_| fetch());
        on_cleanup(move || {
            of_keys.remove();
            of_pointers.remove();
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_determines_code_part_of_page() {
        for (address, part) in [
            ("/", None),
            ("/?chat=/c/1", None),
            ("/c/0193", Some("chat")),
            ("/c/0193?at=4/tree", Some("chat")),
            ("/c/0193/tree", Some("tree")),
            ("/c/0193/tree?at=4", Some("tree")),
        ] {
            assert_eq!(code_part_for(address), part, "{address}");
        }
    }
}
