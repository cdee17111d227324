//! Text areas: their value as the person sees it, and their height.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::web_sys::HtmlTextAreaElement;
    use wasm_bindgen::JsCast;

    pub fn value(area: &HtmlTextAreaElement) -> String {
        area.value()
    }

    /// Replaces the text and puts the caret behind it.
    pub fn set_value(area: &HtmlTextAreaElement, text: &str) {
        area.set_value(text);
        fit(area);
    }

    /// Makes the box as high as its text, where the browser cannot do that by itself (`field-sizing`). The style sheet
    /// bounds it. Set through the object model, which the content security policy allows.
    pub fn fit(area: &HtmlTextAreaElement) {
        if sizes_itself(area) {
            return;
        }
        let style = area.unchecked_ref::<web_sys::HtmlElement>().style();
        let _ = style.set_property("block-size", "auto");
        let _ = style.set_property("block-size", &format!("{}px", area.scroll_height()));
    }

    /// A browser that does not know a property answers with no value for it.
    fn sizes_itself(area: &HtmlTextAreaElement) -> bool {
        let style = area.unchecked_ref::<web_sys::HtmlElement>().style();
        js_sys::Reflect::has(&style, &"fieldSizing".into()).unwrap_or(false)
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::web_sys::HtmlTextAreaElement;

    pub fn value(_area: &HtmlTextAreaElement) -> String {
        String::new()
    }

    pub fn set_value(_area: &HtmlTextAreaElement, _text: &str) {}

    pub fn fit(_area: &HtmlTextAreaElement) {}
}

pub use real::{fit, set_value, value};
