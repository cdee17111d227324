//! Opening and closing of what the browser shows above the page: modal dialogs and popovers.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::Cell;

    use leptos::ev::Event;
    use leptos::web_sys::HtmlDialogElement;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;

    use crate::browser::document;

    thread_local! {
        /// Whether something may be open; none while nobody listens for what opens.
        static MAY_BE_OPEN: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// Opens the dialog modally, or closes it; nothing when it is already so.
    pub fn set_open(dialog: &HtmlDialogElement, wanted: bool) {
        note_opening();
        match (wanted, dialog.open()) {
            (true, false) => {
                // What was said on the page is inert now and comes back with it: a screen reader would say it again.
                for region in ["say", "alert"] {
                    document::set_live_region_text(region, "");
                }
                drop(dialog.show_modal());
            }
            (false, true) => dialog.close(),
            _ => {}
        }
    }

    /// Whether it is open now. That it was closed is told a task later, and it may be open again by then.
    pub fn is_open(dialog: &HtmlDialogElement) -> bool {
        dialog.open()
    }

    /// Whether the event is of the element that listens, and not of one within it.
    pub fn is_own_event(event: &Event) -> bool {
        event.target() == event.current_target()
    }

    /// Whether a modal dialog or a popover is open, so that Esc belongs to it. The page that follows a reply asks with
    /// every frame, and to look through all elements takes long: they are looked through only after something opened.
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

    /// Popovers tell before they open and again when they are open; dialogs do not everywhere.
    fn listen() {
        let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
        let opens = Closure::<dyn Fn(Event)>::new(|_| note_opening()).into_js_value();
        for name in ["beforetoggle", "toggle"] {
            let _ = document.add_event_listener_with_callback_and_bool(name, opens.unchecked_ref(), true);
        }
    }

    /// Closes the popovers that are open, after one of their entries did its work.
    pub fn close_popovers() {
        while let Some(popover) = find(":popover-open") {
            let hide = js_sys::Reflect::get(&popover, &"hidePopover".into());
            match hide.map(wasm_bindgen::JsCast::dyn_into::<js_sys::Function>) {
                Ok(Ok(hide)) if hide.call0(&popover).is_ok() => {}
                _ => return,
            }
        }
    }

    /// Opens the popover with this id, or closes it.
    pub fn toggle_popover(id: &str) {
        let Some(popover) = find(&format!("#{id}")) else { return };
        let toggle = js_sys::Reflect::get(&popover, &"togglePopover".into());
        if let Ok(Ok(toggle)) = toggle.map(wasm_bindgen::JsCast::dyn_into::<js_sys::Function>) {
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

    pub fn toggle_popover(_id: &str) {}
}

pub use real::{close_popovers, is_any_open, is_open, is_own_event, set_open, toggle_popover};
