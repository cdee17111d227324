//! Loading the page again: when a person asks for it and, for work on the code, when the server was away and is back.
//! The latter in debug builds only; a release has none of it.

/// Loads the page again, because somebody asked for it.
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

    /// `cargo xtask serve --dev` leaves the server away for longer than this.
    const EVERY: Duration = Duration::from_millis(300);

    /// Watches for as long as the page lives.
    pub fn reload_after_restart() {
        let was_away = Rc::new(Cell::new(false));
        let away = {
            let was_away = Rc::clone(&was_away);
            Closure::<dyn FnMut(JsValue)>::new(move |_| was_away.set(true))
        };
        let here = Closure::<dyn FnMut(JsValue)>::new(move |_| {
            if was_away.get()
                && let Some(window) = web_sys::window()
            {
                let _ = window.location().reload();
            }
        });
        let ask = move || {
            if let Some(window) = web_sys::window() {
                let _ = window.fetch_with_str("/version").then2(&here, &away);
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
