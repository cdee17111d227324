//! The application: contexts, routes, and the frame around every screen.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::ui::announce::{LiveRegions, provide_announcer};
use crate::ui::chats::provide_chats;
use crate::ui::connection::{ConnectionBanner, provide_connection};
use crate::ui::erased::view;
use crate::ui::kit::provide_toasts;
use crate::ui::kit::toast::ToastShelf;
use crate::ui::page::{ChatPageView, HomePage, NotFoundPage, TreePageView};
use crate::ui::palette::{PaletteDialog, provide_palette};
use crate::ui::preferences::Preferences;
use crate::ui::shortcuts::Shortcuts;
use crate::ui::sidebar::Sidebar;
use crate::ui::tree::panel::{Panel, provide_panel};
use crate::ui::words;

/// The whole page below `<body>`.
///
/// Pages are rendered in one piece (`SsrMode::Async`): whoever reads without script gets the text and not a promise of
/// it, and the document's title and status are known before the first byte.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let preferences = use_context::<Preferences>().unwrap_or_else(Preferences::of_page);
    provide_context(RwSignal::new(preferences));
    provide_announcer();
    provide_connection();
    provide_toasts();
    provide_chats();
    provide_panel();
    provide_palette();
    view! {
        <Title text=words::PRODUCT/>
        <a class="skip" href="#message">{words::SKIP_TO_MESSAGE}</a>
        <LiveRegions/>
        <Router>
            <Shortcuts/>
            <div class="app">
                <Sidebar/>
                <main id="main" class="main">
                    <ConnectionBanner/>
                    <Routes fallback=NotFoundPage>
                        <Route path=path!("/") view=HomePage ssr=SsrMode::Async/>
                        <Route path=path!("/c/:chat") view=ChatPageView ssr=SsrMode::Async/>
                        <Route path=path!("/c/:chat/tree") view=TreePageView ssr=SsrMode::Async/>
                    </Routes>
                </main>
                <Panel/>
            </div>
            <PaletteDialog/>
        </Router>
        <ToastShelf/>
        <p class="basic-mode">{words::BASIC_MODE}</p>
    }
}
