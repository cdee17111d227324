//! Reloads the page: on request and, in debug builds only, when the development server has restarted.

/// Reloads the page on request of the user.
pub fn reload_page() {
    #[cfg(feature = "hydrate")]
    if let Some(window) = web_sys::window() {
        let _ = window.location().reload();
    }
}

#[cfg(all(feature = "hydrate", debug_assertions))]
mod real {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    use leptos::prelude::set_interval;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::closure::Closure;

    /// Interval of the polls; a restart by `cargo xtask serve --dev` takes longer than this.
    const EVERY: Duration = Duration::from_millis(300);

    /// Polls the server as long as the page exists, and reloads the page at the first response after a failure.
    pub fn reload_after_restart() {
        let was_away = Rc::new(Cell::new(false));
        let on_failure = {
            let was_away = Rc::clone(&was_away);
            Closure::<dyn FnMut(JsValue)>::new(move |_| was_away.set(true))
        };
        let on_response = Closure::<dyn FnMut(JsValue)>::new(move |_| {
            if was_away.get()
                && let Some(window) = web_sys::window()
            {
                let _ = window.location().reload();
            }
        });
        let ask = move || {
            if let Some(window) = web_sys::window() {
                let _ = window.fetch_with_str("/version").then2(&on_response, &on_failure);
            }
        };
        set_interval(ask, EVERY);
    }
}

#[cfg(not(all(feature = "hydrate", debug_assertions)))]
mod real {
    pub fn reload_after_restart() {}
}

pub use real::reload_after_restart;
