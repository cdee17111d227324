//! Media queries: the width of the window and the kind of input.

#[cfg(feature = "hydrate")]
mod real {
    fn matches(query: &str) -> bool {
        web_sys::window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|list| list.matches())
    }

    /// Returns whether the layout has room for the chat list beside the chat.
    pub fn is_wide() -> bool {
        matches("(min-width: 1200px)")
    }

    /// Returns whether a panel has room beside the chat.
    pub fn has_room_beside() -> bool {
        matches("(min-width: 1024px)")
    }

    /// Returns whether the window is as narrow as a phone, with no room beside the page.
    pub fn is_phone() -> bool {
        matches("(max-width: 639.98px)")
    }

    /// Returns whether the device is operated by touch: Enter then inserts a line break, and a button sends.
    pub fn is_touch() -> bool {
        matches("(hover: none) and (pointer: coarse)")
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_wide() -> bool {
        false
    }

    pub fn has_room_beside() -> bool {
        false
    }

    pub fn is_phone() -> bool {
        false
    }

    pub fn is_touch() -> bool {
        false
    }
}

pub use real::{has_room_beside, is_phone, is_touch, is_wide};
