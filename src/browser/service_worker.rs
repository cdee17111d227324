//! Registration of the service worker. Browsers have none on plain http, except on localhost.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::Reflect;
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::ServiceWorkerContainer;

    const SCRIPT: &str = "/worker.js";

    /// Returns the browser's service worker container; `None` if it has none.
    pub fn worker_container() -> Option<ServiceWorkerContainer> {
        let navigator = web_sys::window()?.navigator();
        Reflect::get(&navigator, &JsValue::from_str("serviceWorker")).ok()?.dyn_into().ok()
    }

    /// Registers the worker, which serves the page while there is no network and shows notifications that may be
    /// clicked later.
    pub fn register() {
        if let Some(container) = worker_container() {
            // Errors are ignored: without the worker only these two features are missing.
            drop(container.register(SCRIPT));
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn register() {}
}

pub use real::register;
#[cfg(feature = "hydrate")]
pub(in crate::browser) use real::worker_container;
