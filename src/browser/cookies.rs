//! Cookies that keep how the page looks, for the server to read at the next request.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsValue;

    /// Keeps one value for so many seconds. Both words are the program's own, so nothing in them needs escaping.
    pub fn set(name: &str, value: &str, seconds: u32) {
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax");
        let _ = js_sys::Reflect::set(&document, &JsValue::from_str("cookie"), &JsValue::from_str(&cookie));
    }

    /// What is kept under this name.
    pub fn get(name: &str) -> Option<String> {
        let document = web_sys::window()?.document()?;
        let all = js_sys::Reflect::get(&document, &JsValue::from_str("cookie")).ok()?.as_string()?;
        all.split("; ").find_map(|cookie| Some(cookie.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn set(_name: &str, _value: &str, _seconds: u32) {}

    pub fn get(_name: &str) -> Option<String> {
        None
    }
}

pub use real::{get, set};
