//! The service worker: told to the browser once the page works. There is none over plain HTTP from another machine.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::Reflect;
    use wasm_bindgen::JsValue;

    const SCRIPT: &str = "/worker.js";

    /// Lets the browser keep the page for when there is no network.
    pub fn register() {
        let Some(window) = web_sys::window() else { return };
        let navigator = window.navigator();
        let is_known =
            Reflect::get(&navigator, &JsValue::from_str("serviceWorker")).is_ok_and(|known| !known.is_undefined());
        if is_known {
            // Without it everything works but the page for when there is no network.
            drop(navigator.service_worker().register(SCRIPT));
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn register() {}
}

pub use real::register;
