//! The service worker: told to the browser once the page works. There is none over plain HTTP from another machine.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::Reflect;
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::ServiceWorkerContainer;

    const SCRIPT: &str = "/worker.js";

    /// Where the browser's workers are asked for; nothing where it has none.
    pub fn worker_container() -> Option<ServiceWorkerContainer> {
        let navigator = web_sys::window()?.navigator();
        Reflect::get(&navigator, &JsValue::from_str("serviceWorker")).ok()?.dyn_into().ok()
    }

    /// Lets the browser keep the page for when there is no network, and show notes that are pressed later.
    pub fn register() {
        if let Some(container) = worker_container() {
            // Without it everything works but these.
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
