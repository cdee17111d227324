//! Disclosures (`<details>`): whether they are open or in use.

#[cfg(feature = "hydrate")]
mod real {
    fn find(id: &str) -> Option<web_sys::Element> {
        web_sys::window()?.document()?.get_element_by_id(id)
    }

    /// Returns whether the disclosure with this id is open now. The document is asked, because a click, a key or the
    /// browser's search can open it.
    pub fn is_open(id: &str) -> bool {
        find(id).is_some_and(|element| element.has_attribute("open"))
    }

    /// Returns whether the disclosure contains the focus or selected text, so that it must not close by itself.
    pub fn is_in_use(id: &str) -> bool {
        let Some(element) = find(id) else { return false };
        let Some(window) = web_sys::window() else { return false };
        let focused = window.document().and_then(|document| document.active_element());
        if focused.is_some_and(|focused| element.contains(Some(&focused))) {
            return true;
        }
        let selection = window.get_selection().ok().flatten().filter(|selection| !selection.is_collapsed());
        selection.is_some_and(|selection| {
            [selection.anchor_node(), selection.focus_node()].iter().flatten().any(|node| element.contains(Some(node)))
        })
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_open(_id: &str) -> bool {
        false
    }

    pub fn is_in_use(_id: &str) -> bool {
        false
    }
}

pub use real::{is_in_use, is_open};
