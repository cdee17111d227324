//! The document as a whole: attributes of its root, live regions, visibility, printing, and whether there is a
//! document at all.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::Cell;

    use js_sys::Reflect;
    use wasm_bindgen::closure::Closure;
    use wasm_bindgen::{JsCast, JsValue};

    thread_local! {
        static IS_SETTLED: Cell<bool> = const { Cell::new(false) };
    }

    fn root() -> Option<web_sys::Element> {
        web_sys::window().and_then(|w| w.document()).and_then(|d| d.document_element())
    }

    /// Returns whether this code runs in a browser. Only for behavior that must differ; both sides render the same.
    pub fn is_in_browser() -> bool {
        true
    }

    /// Marks the page as interactive (docs/reference/api.md 4: `html[data-hydrated]`).
    pub fn mark_hydrated() {
        set_root_attribute("data-hydrated", "");
        // The components of the loaded page have been created by the next frame.
        leptos::prelude::request_animation_frame(|| IS_SETTLED.set(true));
    }

    /// Returns whether hydration is complete: components that are created from now on belong to another page or to new
    /// content.
    pub fn is_hydrated() -> bool {
        IS_SETTLED.get()
    }

    /// Returns an attribute of `<html>`.
    pub fn root_attribute(name: &str) -> Option<String> {
        root().and_then(|root| root.get_attribute(name))
    }

    /// Sets an attribute of `<html>`.
    pub fn set_root_attribute(name: &str, value: &str) {
        if let Some(root) = root() {
            let _ = root.set_attribute(name, value);
        }
    }

    /// Returns the build id of the page, from the address of its style sheet.
    pub fn build_id() -> Option<String> {
        let document = web_sys::window()?.document()?;
        let style = document.query_selector("link[rel=stylesheet][href^='/pkg/']").ok()??.get_attribute("href")?;
        Some(style.split('/').nth(2)?.to_owned())
    }

    /// Sets the colours of the browser's own interface: one for each `theme-color` of the page, in order.
    pub fn set_theme_colours(colours: &[&str]) {
        let document = web_sys::window().and_then(|w| w.document());
        let all = document.and_then(|d| d.query_selector_all("meta[name=theme-color]").ok());
        let Some(all) = all else { return };
        for (at, colour) in (0..all.length()).zip(colours) {
            use wasm_bindgen::JsCast;
            if let Some(meta) = all.item(at).and_then(|meta| meta.dyn_into::<web_sys::Element>().ok()) {
                let _ = meta.set_attribute("content", colour);
            }
        }
    }

    /// Replaces the text of a live region. It bypasses the reactive tree, so that the same message is announced twice
    /// if it is set twice. While a dialog is open, the rest of the page is inert and is not announced, so the region
    /// of the dialog is used.
    pub fn set_live_region_text(region: &str, text: &str) {
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        let of_dialog = document.query_selector(&format!("dialog[open] [data-live={region}]")).ok().flatten();
        if let Some(element) = of_dialog.or_else(|| document.get_element_by_id(region)) {
            element.set_text_content(Some(text));
        }
    }

    /// Returns whether the page has an element with this id.
    pub fn has_element(id: &str) -> bool {
        web_sys::window().and_then(|w| w.document()).is_some_and(|d| d.get_element_by_id(id).is_some())
    }

    /// Returns whether the first element that matches takes space on the screen.
    pub fn is_visible(selector: &str) -> bool {
        let document = web_sys::window().and_then(|w| w.document());
        let found = document.and_then(|d| d.query_selector(selector).ok().flatten());
        found.is_some_and(|element| element.get_client_rects().length() > 0)
    }

    /// Returns the address and the alternative text of a clicked picture; the address is that of its full size.
    pub fn clicked_picture(click: &leptos::ev::MouseEvent) -> Option<(String, String)> {
        let target = click.target()?.dyn_into::<web_sys::Element>().ok()?;
        let link = target.closest("a.picture").ok()??;
        let alt = link.query_selector("img").ok()??.get_attribute("alt").unwrap_or_default();
        Some((link.get_attribute("href")?, alt))
    }

    /// Returns the address of the clicked link, if it opens a page in this tab.
    pub fn clicked_link(click: &leptos::ev::MouseEvent) -> Option<String> {
        let target = click.target()?.dyn_into::<web_sys::Element>().ok()?;
        target.closest("a[href]:not([download], [target])").ok()??.get_attribute("href")
    }

    /// Highlights the element with this id for two seconds: the style sheet animates `data-flash`. Returns false if
    /// there is none.
    pub fn flash(id: &str) -> bool {
        let element = web_sys::window().and_then(|w| w.document()).and_then(|d| d.get_element_by_id(id));
        let Some(element) = element else { return false };
        let _ = element.set_attribute("data-flash", "");
        let over = move || drop(element.remove_attribute("data-flash"));
        leptos::prelude::set_timeout(over, std::time::Duration::from_secs(2));
        true
    }

    /// Opens a page of this site in a new tab.
    pub fn open_in_new_tab(address: &str) {
        if let Some(window) = web_sys::window() {
            let _ = window.open_with_url_and_target(address, "_blank");
        }
    }

    /// Opens the browser's print dialog for another page of this site, without leaving this one. `on_ready` gets whether
    /// that page is one that matches `selector`; it is called before the dialog opens.
    pub fn print_page(path: &str, selector: &'static str, on_ready: impl FnOnce(bool) + 'static) {
        match append_frame(path) {
            Some(frame) => {
                let held = frame.clone();
                let on_load = Closure::once_into_js(move || print_frame(&held, selector, on_ready));
                let _ = frame.add_event_listener_with_callback("load", on_load.unchecked_ref());
            }
            None => on_ready(false),
        }
    }

    /// Adds a frame that nobody sees. Its page is not loaded before the current task ends.
    fn append_frame(path: &str) -> Option<web_sys::Element> {
        let document = web_sys::window()?.document()?;
        let frame = document.create_element("iframe").ok()?;
        for (name, value) in [("class", "quiet"), ("aria-hidden", "true"), ("tabindex", "-1"), ("src", path)] {
            frame.set_attribute(name, value).ok()?;
        }
        document.body()?.append_child(&frame).ok()?;
        Some(frame)
    }

    fn print_frame(frame: &web_sys::Element, selector: &str, on_ready: impl FnOnce(bool)) {
        // No cast that checks: the frame has classes of its own. Where another page came instead, which may not be framed,
        // there is no document, and to ask the frame's window for it would throw.
        let page = Reflect::get(frame, &"contentDocument".into()).ok().filter(JsValue::is_object);
        let page = page.map(JsCast::unchecked_into::<web_sys::Document>);
        let page = page.filter(|page| page.query_selector(selector).is_ok_and(|found| found.is_some()));
        match page.and_then(|page| page.default_view()) {
            Some(window) => {
                on_ready(true);
                let held = frame.clone();
                let on_printed = Closure::once_into_js(move || held.remove());
                window.set_onafterprint(Some(on_printed.unchecked_ref()));
                let _ = window.print();
            }
            None => {
                frame.remove();
                on_ready(false);
            }
        }
    }

    /// Returns whether the page is hidden at the moment.
    pub fn is_hidden() -> bool {
        web_sys::window()
            .and_then(|w| w.document())
            .is_some_and(|d| d.visibility_state() == web_sys::VisibilityState::Hidden)
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_in_browser() -> bool {
        false
    }

    pub fn mark_hydrated() {}

    pub fn is_hydrated() -> bool {
        false
    }

    pub fn root_attribute(_name: &str) -> Option<String> {
        None
    }

    pub fn set_root_attribute(_name: &str, _value: &str) {}

    pub fn build_id() -> Option<String> {
        None
    }

    pub fn set_theme_colours(_colours: &[&str]) {}

    pub fn set_live_region_text(_region: &str, _text: &str) {}

    pub fn has_element(_id: &str) -> bool {
        false
    }

    pub fn is_visible(_selector: &str) -> bool {
        false
    }

    pub fn clicked_picture(_click: &leptos::ev::MouseEvent) -> Option<(String, String)> {
        None
    }

    pub fn clicked_link(_click: &leptos::ev::MouseEvent) -> Option<String> {
        None
    }

    pub fn flash(_id: &str) -> bool {
        false
    }

    pub fn open_in_new_tab(_address: &str) {}

    pub fn print_page(_path: &str, _selector: &'static str, _on_ready: impl FnOnce(bool) + 'static) {}

    pub fn is_hidden() -> bool {
        false
    }
}

pub use real::{
    build_id, clicked_link, clicked_picture, flash, has_element, is_hidden, is_hydrated, is_in_browser, is_visible,
    mark_hydrated, open_in_new_tab, print_page, root_attribute, set_live_region_text, set_root_attribute,
    set_theme_colours,
};
