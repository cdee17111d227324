//! The frame of the panel: its heading, its close button, and what it does to the rest of the page. The code of the
//! content is loaded when it is first shown.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;

use super::{ChatPanel, PANEL_ID, PanelContent, ShownChat};
use crate::browser::{dialog, document, focus, media};
use crate::domain::ChatId;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::input_method::InputMethod;
use crate::ui::kit::Icon;
use crate::ui::lazy_parts::lazy_part;
use crate::ui::messages;
use crate::ui::messages::tree as texts;
use crate::ui::server_page::{ServerPageCode, fetch_enhancer};
use crate::ui::tree::lazy_tree::{TreeCode, fetch_tree};

/// The content behind the panel where it overlays the page.
const BEHIND: &str = "#sidebar, #main, .skip";
const TITLE_ID: &str = "panel-title";

/// The panel; shown when it is open.
#[component]
pub fn SidePanel() -> impl IntoView {
    let panel = expect_context::<ChatPanel>();
    let chat = Memo::new(move |_| {
        panel.content.with(Option::is_some).then(|| panel.shown.with(|shown| shown.map(|on| on.chat)))?
    });
    let is_page = Memo::new(move |_| panel.content.with(|content| matches!(content, Some(PanelContent::Page { .. }))));
    let is_over = panel.is_over;
    let arrange = move || {
        let Some(is_open) = chat.try_get_untracked().map(|chat| chat.is_some()) else { return };
        is_over.set(!media::has_room_beside());
        focus::set_inert(BEHIND, is_open && is_over.get_untracked());
    };
    on_change(
        move || chat.get().map(|_| is_page.get()),
        move |_, shows_page| {
            let state = match shows_page {
                None => "closed",
                Some(false) => "open",
                Some(true) => "page",
            };
            document::set_root_attribute("data-panel", state);
            arrange();
        },
    );
    effect(move || {
        let resized = window_event_listener(ev::resize, move |_| arrange());
        on_cleanup(move || resized.remove());
    });
    live_view(move || {
        let shown = chat.get().and_then(|_| panel.shown.get_untracked())?;
        let input = InputMethod::default();
        let on_key = move |event: KeyboardEvent| {
            // Esc closes a menu of the panel first.
            if !input.consumes_key(&event) && event.key() == "Escape" && !dialog::is_any_open() {
                event.prevent_default();
                event.stop_propagation();
                panel.close();
            }
        };
        Some(view! {
            <div class="panel-scrim" on:click=move |_| panel.close()></div>
            // Back closes a page, and everything that overlays the chat. The tree beside the chat stays: its rows are
            // steps of the chat's own history.
            <div
                id=PANEL_ID
                class="side-panel no-print"
                role=move || if is_over.get() { "dialog" } else { "complementary" }
                aria-modal=move || is_over.get().then_some("true")
                aria-labelledby=TITLE_ID
                data-back=move || (is_over.get() || is_page.get()).then_some("")
                on:keydown=on_key
                on:compositionend=move |event| input.on_composition_end(&event)
            >
                {live_view(move || if is_page.get() { page_content(panel, shown) } else { tree_content(panel, shown) })}
            </div>
        })
    })
}

fn tree_content(panel: ChatPanel, shown: ShownChat) -> AnyView {
    let on_close = Callback::new(move |()| panel.close());
    view! {
        <PanelHead title=Signal::stored(texts::tree_short().to_owned()) close=texts::close_tree() on_close>
            {tree_links(shown.chat)}
        </PanelHead>
        {lazy_part(fetch_tree, None, move |code: &TreeCode| (code.panel)(shown))}
    }
}

/// Returns the links to the other views of the tree.
pub fn tree_links(chat: ChatId) -> AnyView {
    view! {
        <a class="button bare" rel="external" href=format!("/c/{chat}/branches")>{texts::branches()}</a>
        <a class="button bare" rel="external" href=format!("/c/{chat}/drawing")>{texts::drawing()}</a>
    }
}

fn page_content(panel: ChatPanel, shown: ShownChat) -> AnyView {
    let on_close = Callback::new(move |()| panel.close());
    let title = Signal::derive(move || {
        let title = panel.title.get();
        if title.is_empty() { messages::loading_part().to_owned() } else { title }
    });
    // A form may lead to another page, which is shown with its title.
    let address = move || {
        panel.title.track();
        match panel.content.get_untracked() {
            Some(PanelContent::Page { address, .. }) => address,
            _ => String::new(),
        }
    };
    view! {
        <PanelHead title close=messages::close() on_close>
            // With a target, because other links to the page open it here.
            <a class="button bare" rel="external" target="_top" href=address title=messages::open_as_page()>
                <Icon name="external"/>
                <span class="quiet">{messages::open_as_page()}</span>
            </a>
        </PanelHead>
        {lazy_part(fetch_enhancer, None, move |code: &ServerPageCode| (code.panel)(panel, shown))}
    }
}

/// The heading of the panel, with its links and the close button.
#[component]
pub fn PanelHead(
    title: Signal<String>,
    /// The name of the close button.
    close: &'static str,
    on_close: Callback<()>,
    children: Children,
) -> impl IntoView {
    view! {
        <div class="panel-head">
            <h2 id=TITLE_ID tabindex="-1" dir="auto">{move || title.get()}</h2>
            {children()}
            <button type="button" class="button bare panel-close" on:click=move |_| on_close.run(())>
                <Icon name="close"/>
                <span class="quiet">{close}</span>
            </button>
        </div>
    }
}
