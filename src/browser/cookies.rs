//! Cookies for the page's appearance, which the server reads with the next request.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsValue;

    /// Sets a cookie for `seconds`. Name and value are constants of the program, so they need no escaping.
    pub fn set(name: &str, value: &str, seconds: u32) {
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax");
        let _ = js_sys::Reflect::set(&document, &JsValue::from_str("cookie"), &JsValue::from_str(&cookie));
    }

    /// Returns the value of the cookie with this name.
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
