//! Form controls as the person left them before the page was hydrated.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsCast;

    /// The value of the first `<select>` with this name.
    pub fn chosen(name: &str) -> Option<String> {
        let select = web_sys::window()?.document()?.query_selector(&format!("select[name={name}]")).ok().flatten()?;
        js_sys::Reflect::get(select.unchecked_ref(), &"value".into()).ok()?.as_string()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn chosen(_name: &str) -> Option<String> {
        None
    }
}

pub use real::chosen;
