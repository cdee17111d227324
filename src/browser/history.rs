//! The state of a history entry: it survives Back and a reload, and a new visit to the same address starts without it.

#[cfg(feature = "hydrate")]
mod real {
    fn entry(path: &str) -> Option<web_sys::History> {
        let window = web_sys::window()?;
        // During a navigation the current entry still belongs to the previous page.
        let is_here = window.location().pathname().is_ok_and(|current| current == path);
        window.history().ok().filter(|_| is_here)
    }

    /// Returns the path of the page.
    pub fn path() -> String {
        web_sys::window().and_then(|window| window.location().pathname().ok()).unwrap_or_default()
    }

    /// Returns the host of the page, with its port unless it is the scheme's default.
    pub fn host() -> Option<String> {
        web_sys::window()?.location().host().ok()
    }

    /// Stores a text in the history entry, if the entry belongs to this path.
    pub fn set_entry_state(path: &str, word: &str) {
        if let Some(history) = entry(path) {
            let _ = history.replace_state(&word.into(), "");
        }
    }

    /// Returns the text that is stored in the history entry, if the entry belongs to this path.
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
