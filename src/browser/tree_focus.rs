//! Roving tab index of the tree: the tree is a single tab stop (docs/reference/ux.md 18). Without script every link of
//! a row is a tab stop.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsCast;

    const ROWS: &str = "#tree > [role=treeitem]";

    fn all(selector: &str, act: impl Fn(web_sys::Element)) {
        let found = web_sys::window().and_then(|w| w.document()).and_then(|d| d.query_selector_all(selector).ok());
        let Some(found) = found else { return };
        for at in 0..found.length() {
            if let Some(element) = found.item(at).and_then(|node| node.dyn_into().ok()) {
                act(element);
            }
        }
    }

    fn set(row: &web_sys::Element, is_current: bool) {
        let _ = row.set_attribute("tabindex", if is_current { "0" } else { "-1" });
        let _ = row.set_attribute("aria-selected", if is_current { "true" } else { "false" });
    }

    /// Makes the row with this id the only tab stop, after rows were rendered.
    pub fn reset_tab_stop(id: &str) {
        all(ROWS, |row| set(&row, row.id() == id));
        all("#tree > [role=treeitem] :is(a, button)", |inner| drop(inner.set_attribute("tabindex", "-1")));
    }

    /// Moves the tab stop to the row with this id, while the rows stay the same.
    pub fn move_tab_stop(id: &str) {
        all("#tree > [tabindex='0']", |row| set(&row, false));
        all(&format!("#tree > #{id}"), |row| set(&row, true));
    }

    /// Returns the id of the row that contains the focus.
    pub fn focused_row() -> Option<String> {
        let active = web_sys::window()?.document()?.active_element()?;
        Some(active.closest(ROWS).ok()??.id())
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn reset_tab_stop(_id: &str) {}

    pub fn move_tab_stop(_id: &str) {}

    pub fn focused_row() -> Option<String> {
        None
    }
}

pub use real::{focused_row, move_tab_stop, reset_tab_stop};
