//! What goes with one entry of the browser's history: it is there again after Back and after a reload, and a new
//! visit to the same address does not have it.

#[cfg(feature = "hydrate")]
mod real {
    fn entry(path: &str) -> Option<web_sys::History> {
        let window = web_sys::window()?;
        // On the way to another page the entry is still the old one's.
        let is_here = window.location().pathname().is_ok_and(|here| here == path);
        window.history().ok().filter(|_| is_here)
    }

    /// The path of the page.
    pub fn path() -> String {
        web_sys::window().and_then(|window| window.location().pathname().ok()).unwrap_or_default()
    }

    /// The host of the page, with its port unless it is the scheme's own.
    pub fn host() -> Option<String> {
        web_sys::window()?.location().host().ok()
    }

    /// Keeps a word with the entry, if it is one of this path.
    pub fn set_entry_state(path: &str, word: &str) {
        if let Some(history) = entry(path) {
            let _ = history.replace_state(&word.into(), "");
        }
    }

    /// The word that was kept with the entry, if it is one of this path.
    pub fn entry_state(path: &str) -> Option<String> {
        entry(path)?.state().ok()?.as_string()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn path() -> String {
        String::new()
    }

    pub fn host() -> Option<String> {
        None
    }

    pub fn set_entry_state(_path: &str, _word: &str) {}

    pub fn entry_state(_path: &str) -> Option<String> {
        None
    }
}

pub use real::{entry_state, host, path, set_entry_state};
