//! The browser's top layer: modal dialogs and popovers.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::Cell;

    use js_sys::Reflect;
    use leptos::ev::Event;
    use leptos::web_sys::{HtmlDialogElement, HtmlElement};
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;

    use crate::browser::document;

    /// The close button of a panel that Back closes.
    const PANEL_CLOSE: &str = "#panel[data-back] .panel-close";

    thread_local! {
        /// True if a dialog or popover may be open; `None` until the listeners for openings are installed.
        static MAY_BE_OPEN: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// Opens the dialog modally, or closes it. Does nothing if it is already in the wanted state.
    pub fn set_open(dialog: &HtmlDialogElement, wanted: bool) {
        note_opening();
        match (wanted, dialog.open()) {
            (true, false) => {
                // The page behind the dialog is inert until it closes, and a screen reader would then announce the
                // live regions again.
                for region in ["say", "alert"] {
                    document::set_live_region_text(region, "");
                }
                drop(dialog.show_modal());
            }
            (false, true) => dialog.close(),
            _ => {}
        }
    }

    /// Returns whether the dialog is open now. Its `close` event comes in a later task, when it may be open again.
    pub fn is_open(dialog: &HtmlDialogElement) -> bool {
        dialog.open()
    }

    /// Returns whether the event's target is the element that listens, not one within it.
    pub fn is_own_event(event: &Event) -> bool {
        event.target() == event.current_target()
    }

    /// Returns whether a modal dialog or a popover is open, so that Esc belongs to it. The scroll follower asks in
    /// every frame, and the query is slow on a long page, so it runs only after something was opened.
    pub fn is_any_open() -> bool {
        if MAY_BE_OPEN.get().is_none() {
            listen();
        }
        let is_open = MAY_BE_OPEN.get() != Some(false) && find("dialog[open], :popover-open").is_some();
        MAY_BE_OPEN.set(Some(is_open));
        is_open
    }

    fn note_opening() {
        MAY_BE_OPEN.set(MAY_BE_OPEN.get().map(|_| true));
    }

    /// Listens for openings: popovers fire events before and after, dialogs not in every browser.
    fn listen() {
        let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
        let opens = Closure::<dyn Fn(Event)>::new(|_| note_opening()).into_js_value();
        for name in ["beforetoggle", "toggle"] {
            let _ = document.add_event_listener_with_callback_and_bool(name, opens.unchecked_ref(), true);
        }
    }

    /// Closes the open popovers, after one of their entries was chosen.
    pub fn close_popovers() {
        while let Some(popover) = find(":popover-open") {
            let hide = Reflect::get(&popover, &"hidePopover".into());
            match hide.map(JsCast::dyn_into::<js_sys::Function>) {
                Ok(Ok(hide)) if hide.call0(&popover).is_ok() => {}
                _ => return,
            }
        }
    }

    /// Lets Back close the open dialog or popover before it leaves the page. The history gets no entries for that, so
    /// it never needs one press more than there were pages. Where the browser asks a page before it goes back (the
    /// Navigation API), this answers; the Back of Android closes dialogs and popovers by itself.
    pub fn close_on_back() {
        let navigation = web_sys::window().and_then(|window| Reflect::get(&window, &"navigation".into()).ok());
        let Some(Ok(navigation)) = navigation.map(JsCast::dyn_into::<web_sys::EventTarget>) else { return };
        let stay = Closure::<dyn Fn(Event)>::new(|event: Event| {
            let is_traversal = Reflect::get(&event, &"navigationType".into()).is_ok_and(|kind| kind == "traverse");
            if is_traversal && event.cancelable() && (is_any_open() || find(PANEL_CLOSE).is_some()) {
                event.prevent_default();
                close_innermost();
            }
        });
        let _ = navigation.add_event_listener_with_callback("navigate", stay.into_js_value().unchecked_ref());
    }

    /// Closes the open popovers, or the dialog that was opened last where there are none, or the panel.
    fn close_innermost() {
        if find(":popover-open").is_some() {
            return close_popovers();
        }
        let dialogs = web_sys::window()
            .and_then(|window| window.document())
            .and_then(|document| document.query_selector_all("dialog[open]").ok());
        let last = dialogs.and_then(|dialogs| dialogs.item(dialogs.length().saturating_sub(1)));
        if let Some(Ok(dialog)) = last.map(JsCast::dyn_into::<HtmlDialogElement>) {
            dialog.close();
        } else if let Some(Ok(close)) = find(PANEL_CLOSE).map(JsCast::dyn_into::<HtmlElement>) {
            close.click();
        }
    }

    /// Opens the popover with this id, or closes it.
    pub fn toggle_popover(id: &str) {
        let Some(popover) = find(&format!("#{id}")) else { return };
        let toggle = Reflect::get(&popover, &"togglePopover".into());
        if let Ok(Ok(toggle)) = toggle.map(JsCast::dyn_into::<js_sys::Function>) {
            let _ = toggle.call0(&popover);
        }
    }

    fn find(selector: &str) -> Option<web_sys::Element> {
        web_sys::window()?.document()?.query_selector(selector).ok().flatten()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::ev::Event;
    use leptos::web_sys::HtmlDialogElement;

    pub fn set_open(_dialog: &HtmlDialogElement, _wanted: bool) {}

    pub fn is_open(_dialog: &HtmlDialogElement) -> bool {
        false
    }

    pub fn is_own_event(_event: &Event) -> bool {
        true
    }

    pub fn is_any_open() -> bool {
        false
    }

    pub fn close_popovers() {}

    pub fn close_on_back() {}

    pub fn toggle_popover(_id: &str) {}
}

pub use real::{close_on_back, close_popovers, is_any_open, is_open, is_own_event, set_open, toggle_popover};
