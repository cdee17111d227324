//! Whether the device has a network at all, as far as the browser knows.

#[cfg(feature = "hydrate")]
mod real {
    /// False only when the browser is sure that there is none.
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
