//! The document as a whole.

#[cfg(feature = "hydrate")]
mod real {
    /// Says that clicks work now (contract.md 4: `html[data-hydrated]`).
    pub fn mark_hydrated() {
        if let Some(root) = web_sys::window().and_then(|w| w.document()).and_then(|d| d.document_element()) {
            let _ = root.set_attribute("data-hydrated", "");
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn mark_hydrated() {}
}

pub use real::mark_hydrated;
