//! The state of the device's network, as far as the browser knows it.

#[cfg(feature = "hydrate")]
mod real {
    /// Returns false only if the browser is certain that there is no network.
    pub fn is_online() -> bool {
        web_sys::window().is_none_or(|w| w.navigator().on_line())
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_online() -> bool {
        true
    }
}

pub use real::is_online;
