//! What the device is like.

#[cfg(feature = "hydrate")]
mod real {
    fn matches(query: &str) -> bool {
        web_sys::window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|list| list.matches())
    }

    /// Whether the layout has room for the list of chats beside the chat.
    pub fn is_wide() -> bool {
        matches("(min-width: 1200px)")
    }

    /// Whether there is no room for anything beside a page.
    pub fn is_phone() -> bool {
        matches("(max-width: 639.98px)")
    }

    /// Whether fingers do the typing: then Enter is a new line and a button sends.
    pub fn is_touch() -> bool {
        matches("(hover: none) and (pointer: coarse)")
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_wide() -> bool {
        false
    }

    pub fn is_phone() -> bool {
        false
    }

    pub fn is_touch() -> bool {
        false
    }
}

pub use real::{is_phone, is_touch, is_wide};
