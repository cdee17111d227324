//! Lazy loading of the tree: the page at its address, and the panel beside a chat.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;

use super::panel::{PANEL_ID, PanelHead, ShownChat, TreePanel, draw_map};
use crate::browser::{document, focus, media};
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::input_method::InputMethod;
use crate::ui::lazy_parts::{NotFetched, lazy_part};
use crate::ui::messages::tree as texts;
use crate::ui::page::tree::draw_page;

/// The content behind the panel where it overlays the page.
const BEHIND: &str = "#sidebar, #main, .skip";

/// The code part of the tree: the page, and the panel beside a chat.
pub struct TreeCode {
    pub page: fn() -> AnyView,
    pub panel: fn(TreePanel, ShownChat) -> AnyView,
}

/// Loads the code part.
#[leptos::wasm_split::wasm_split(tree, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_tree() -> Result<TreeCode, NotFetched> {
    Ok(TreeCode { page: draw_page, panel: draw_map })
}

/// The page at `/c/{chat}/tree`.
#[component]
pub fn TreePageView() -> impl IntoView {
    lazy_part(fetch_tree, None, |code: &TreeCode| (code.page)())
}

/// The panel; shown when it is open.
#[component]
pub fn SidePanel() -> impl IntoView {
    let panel = expect_context::<TreePanel>();
    let chat = Memo::new(move |_| panel.is_open.get().then(|| panel.shown.with(|shown| shown.map(|on| on.chat)))?);
    on_change(
        move || chat.get().is_some(),
        |_, is_open| {
            document::set_root_attribute("data-panel", if is_open { "open" } else { "closed" });
            focus::set_inert(BEHIND, is_open && !media::is_wide());
        },
    );
    effect(move || {
        let resized = window_event_listener(ev::resize, move |_| {
            if let Some(is_open) = chat.try_get_untracked().map(|chat| chat.is_some()) {
                focus::set_inert(BEHIND, is_open && !media::is_wide());
            }
        });
        on_cleanup(move || resized.remove());
    });
    live_view(move || {
        let shown = chat.get().and_then(|_| panel.shown.get_untracked())?;
        let input = InputMethod::default();
        let on_key = move |event: KeyboardEvent| {
            if !input.consumes_key(&event) && event.key() == "Escape" {
                event.prevent_default();
                event.stop_propagation();
                panel.close();
            }
        };
        Some(view! {
            <div class="panel-scrim" on:click=move |_| panel.close()></div>
            <aside id=PANEL_ID class="side-panel no-print" aria-label=texts::tree_short() on:keydown=on_key on:compositionend=move |event| input.on_composition_end(&event)>
                <PanelHead chat=shown.chat on_close=Callback::new(move |()| panel.close())/>
                {lazy_part(fetch_tree, None, move |code: &TreeCode| (code.panel)(panel, shown))}
            </aside>
        })
    })
}
