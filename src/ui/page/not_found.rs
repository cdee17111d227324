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
    view! { <Missing what=words::not_found_page()/> }
}

/// The same page in the words of what is missing.
#[component]
pub fn Missing(what: &'static str) -> impl IntoView {
    set_status(404);
    view! {
        <Title text=words::document_title(words::not_found_title(), false, false)/>
        <header class="chat-head"><SidebarButton/></header>
        <main class="page">{missing(what)}</main>
    }
}

/// What that page says.
pub fn missing(what: &'static str) -> AnyView {
    view! {
        <div class="centre">
            <h1>{words::not_found_title()}</h1>
            <p class="lead">{what}</p>
            <p><A href="/" attr:class="button primary">{words::new_chat()}</A></p>
        </div>
    }
}

/// The page did not load: what happened, and the way to try again.
#[component]
pub fn Failed(what: String, on_retry: Callback<()>) -> impl IntoView {
    set_status(500);
    view! {
        <header class="chat-head"><SidebarButton/></header>
        <main class="page">{failed(what, on_retry)}</main>
    }
}

/// What that page says.
pub fn failed(what: String, on_retry: Callback<()>) -> AnyView {
    view! {
        <div class="centre" role="group" aria-label=words::page_failed()>
            <h1>{words::page_failed()}</h1>
            <p class="lead">{what}</p>
            <p>
                <button type="button" class="button primary needs-script" on:click=move |_| on_retry.run(())>
                    {words::retry()}
                </button>
            </p>
        </div>
    }
}
