//! Opening and closing of what the browser shows above the page: modal dialogs and popovers.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::web_sys::HtmlDialogElement;

    /// Opens the dialog modally, or closes it; nothing when it is already so.
    pub fn show(dialog: &HtmlDialogElement, wanted: bool) {
        match (wanted, dialog.open()) {
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    }

    /// Whether a modal dialog or a popover is open, so that Esc belongs to it.
    pub fn is_any_open() -> bool {
        find("dialog[open], :popover-open").is_some()
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

    fn find(selector: &str) -> Option<web_sys::Element> {
        web_sys::window()?.document()?.query_selector(selector).ok().flatten()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::web_sys::HtmlDialogElement;

    pub fn show(_dialog: &HtmlDialogElement, _wanted: bool) {}

    pub fn is_any_open() -> bool {
        false
    }

    pub fn close_popovers() {}
}

pub use real::{close_popovers, is_any_open, show};
