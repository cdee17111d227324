//! Cookies that keep how the page looks, for the server to read at the next request.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsValue;

    /// A year, in seconds.
    const YEAR: u32 = 365 * 24 * 60 * 60;

    /// Keeps one value for a year. Both words are the program's own, so nothing in them needs escaping.
    pub fn keep(name: &str, value: &str) {
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        let cookie = format!("{name}={value}; Path=/; Max-Age={YEAR}; SameSite=Lax");
        let _ = js_sys::Reflect::set(&document, &JsValue::from_str("cookie"), &JsValue::from_str(&cookie));
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn keep(_name: &str, _value: &str) {}
}

pub use real::keep;
