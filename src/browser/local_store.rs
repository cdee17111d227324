//! Storage of the browser. `localStorage` holds the drafts that the server has not saved yet; `sessionStorage`, which
//! belongs to one tab, holds the texts of abandoned edits with the time at which they were stored.

/// The key under which a tab stores the chat that it showed last; absent after the page of a new chat.
pub const LAST_CHAT_KEY: &str = "came-from";

#[cfg(feature = "hydrate")]
mod real {
    use std::time::Duration;

    use crate::browser::clock;

    fn storage() -> Option<web_sys::Storage> {
        // Throws where the user has disabled storage.
        web_sys::window()?.local_storage().ok().flatten()
    }

    pub fn get(key: &str) -> Option<String> {
        storage()?.get_item(key).ok().flatten()
    }

    /// Stores a value. A full or disabled store loses it, which callers must tolerate.
    pub fn put(key: &str, value: &str) {
        if let Some(storage) = storage() {
            let _ = storage.set_item(key, value);
        }
    }

    pub fn remove(key: &str) {
        if let Some(storage) = storage() {
            let _ = storage.remove_item(key);
        }
    }

    /// Returns the storage of this tab, which ends with the tab.
    pub fn session_storage() -> Option<web_sys::Storage> {
        web_sys::window()?.session_storage().ok().flatten()
    }

    pub fn get_in_tab(key: &str) -> Option<String> {
        let kept = session_storage()?.get_item(key).ok().flatten()?;
        kept.split_once(' ').map(|(_, text)| text.to_owned())
    }

    pub fn put_in_tab(key: &str, text: &str) {
        if let Some(storage) = session_storage() {
            let _ = storage.set_item(key, &format!("{} {text}", clock::now_ms()));
        }
    }

    pub fn remove_in_tab(key: &str) {
        if let Some(storage) = session_storage() {
            let _ = storage.remove_item(key);
        }
    }

    /// Removes the tab's entries whose key begins with `names` and that are older than `kept`.
    pub fn purge_in_tab(names: &str, kept: Duration) {
        let Some(storage) = session_storage() else { return };
        let oldest = clock::now_ms() - kept.as_millis() as i64;
        let is_old = |name: &String| {
            let since = storage.get_item(name).ok().flatten();
            let since = since.as_ref().and_then(|kept| kept.split_once(' ')).and_then(|(ms, _)| ms.parse::<i64>().ok());
            name.starts_with(names) && since.is_none_or(|since| since < oldest)
        };
        // The keys are collected first, because a removal shifts the indexes of the others.
        let all = (0..storage.length().unwrap_or(0)).filter_map(|at| storage.key(at).ok().flatten());
        for name in all.filter(is_old).collect::<Vec<_>>() {
            remove_in_tab(&name);
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn get(_key: &str) -> Option<String> {
        None
    }

    pub fn put(_key: &str, _value: &str) {}

    pub fn remove(_key: &str) {}

    pub fn get_in_tab(_key: &str) -> Option<String> {
        None
    }

    pub fn put_in_tab(_key: &str, _text: &str) {}

    pub fn remove_in_tab(_key: &str) {}

    pub fn purge_in_tab(_names: &str, _kept: std::time::Duration) {}
}

#[cfg(feature = "hydrate")]
pub use real::session_storage;
pub use real::{get, get_in_tab, purge_in_tab, put, put_in_tab, remove, remove_in_tab};
