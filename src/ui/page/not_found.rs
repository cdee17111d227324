//! Nothing here: one page for what is missing and for what is somebody else's (ux.md 4.10).

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;

use crate::ui::erased::view;
use crate::ui::page::set_status;
use crate::ui::sidebar::SidebarButton;
use crate::ui::words;

/// The page for addresses that lead nowhere.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    view! { <Missing what=words::NOT_FOUND_PAGE/> }
}

/// The same page in the words of what is missing.
#[component]
pub fn Missing(what: &'static str) -> impl IntoView {
    set_status(404);
    view! {
        <Title text=words::document_title(words::NOT_FOUND_TITLE, false, false)/>
        <header class="chat-head"><SidebarButton/></header>
        <div class="centre">
            <h1>{words::NOT_FOUND_TITLE}</h1>
            <p class="lead">{what}</p>
            <p><A href="/" attr:class="button primary">{words::NEW_CHAT}</A></p>
        </div>
    }
}

/// The page did not load: what happened, and the way to try again.
#[component]
pub fn Failed(what: String, on_retry: Callback<()>) -> impl IntoView {
    set_status(500);
    view! {
        <header class="chat-head"><SidebarButton/></header>
        <div class="centre" role="group" aria-label=words::PAGE_FAILED>
            <h1>{words::PAGE_FAILED}</h1>
            <p class="lead">{what}</p>
            <p>
                <button type="button" class="button primary needs-script" on:click=move |_| on_retry.run(())>
                    {words::RETRY}
                </button>
            </p>
        </div>
    }
}
