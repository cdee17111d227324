//! What the browser keeps of this site for itself: the copy of a draft that the server has not taken yet.

#[cfg(feature = "hydrate")]
mod real {
    fn storage() -> Option<web_sys::Storage> {
        // Refused with an error where the person has switched it off.
        web_sys::window()?.local_storage().ok().flatten()
    }

    pub fn get(key: &str) -> Option<String> {
        storage()?.get_item(key).ok().flatten()
    }

    /// Keeps a value; a full or forbidden store keeps nothing, and nobody depends on it.
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
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn get(_key: &str) -> Option<String> {
        None
    }

    pub fn put(_key: &str, _value: &str) {}

    pub fn remove(_key: &str) {}
}

pub use real::{get, put, remove};
