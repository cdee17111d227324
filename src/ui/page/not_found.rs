//! The not-found page: the same for missing resources and for those of other users (docs/reference/ux.md 4.10).

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;

use crate::ui::erased::view;
use crate::ui::messages;
use crate::ui::page::set_status;
use crate::ui::sidebar::SidebarButton;

/// The page for unknown addresses.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    view! { <MissingView message=messages::not_found_page()/> }
}

/// A page for a missing resource, with a message that names its kind.
#[component]
pub fn MissingView(message: &'static str) -> impl IntoView {
    set_status(404);
    view! {
        <Title text=messages::document_title(messages::not_found_title(), false, false)/>
        <header class="chat-head"><SidebarButton/></header>
        <main class="page">{draw_missing(message)}</main>
    }
}

/// Renders the content of the not-found page.
pub fn draw_missing(message: &'static str) -> AnyView {
    view! {
        <div class="centre">
            <h1>{messages::not_found_title()}</h1>
            <p class="lead">{message}</p>
            <p><A href="/" attr:class="button primary">{messages::new_chat()}</A></p>
        </div>
    }
}

/// The page for a failed load: what happened, and a retry button.
#[component]
pub fn LoadFailedView(message: String, on_retry: Callback<()>) -> impl IntoView {
    set_status(500);
    view! {
        <header class="chat-head"><SidebarButton/></header>
        <main class="page">{draw_load_failed(message, on_retry)}</main>
    }
}

/// Renders the content of the failure page.
pub fn draw_load_failed(message: String, on_retry: Callback<()>) -> AnyView {
    view! {
        <div class="centre" role="group" aria-label=messages::page_failed()>
            <h1>{messages::page_failed()}</h1>
            <p class="lead">{message}</p>
            <p>
                <button type="button" class="button primary needs-script" on:click=move |_| on_retry.run(())>
                    {messages::retry()}
                </button>
            </p>
        </div>
    }
}
