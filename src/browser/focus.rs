//! Focus management (docs/reference/ux.md 12): moves, queries and confines the focus, and activates elements around
//! it.

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsCast;

    fn document() -> Option<web_sys::Document> {
        web_sys::window()?.document()
    }

    fn focus(element: web_sys::Element) -> bool {
        element.dyn_into::<web_sys::HtmlElement>().is_ok_and(|element| element.focus().is_ok())
    }

    /// Focuses the first element that matches. Returns false if there is none.
    pub fn focus_first(selector: &str) -> bool {
        document().and_then(|d| d.query_selector(selector).ok().flatten()).is_some_and(focus)
    }

    /// Focuses the first element that matches without scrolling, so that the reader's view stays.
    pub fn focus_first_without_scroll(selector: &str) {
        let element = document().and_then(|d| d.query_selector(selector).ok().flatten());
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            focus_without_scroll(element);
        }
    }

    fn find_last(selector: &str) -> Option<web_sys::Element> {
        let all = document()?.query_selector_all(selector).ok()?;
        all.item(all.length().checked_sub(1)?)?.dyn_into().ok()
    }

    /// Focuses the last element that matches. Returns false if there is none.
    pub fn focus_last(selector: &str) -> bool {
        find_last(selector).is_some_and(focus)
    }

    /// Focuses the last element that matches without scrolling. Returns false if there is none.
    pub fn focus_last_without_scroll(selector: &str) -> bool {
        let Some(element) = find_last(selector) else { return false };
        element.dyn_into::<web_sys::HtmlElement>().is_ok_and(focus_without_scroll)
    }

    fn focus_without_scroll(element: web_sys::HtmlElement) -> bool {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        element.focus_with_options(&options).is_ok()
    }

    /// Returns whether the focus is inside an element that matches.
    pub fn is_within(selector: &str) -> bool {
        document().and_then(|d| d.active_element()).and_then(|active| active.closest(selector).ok().flatten()).is_some()
    }

    /// Returns the id of the focused element.
    pub fn focused_id() -> Option<String> {
        Some(document()?.active_element()?.id()).filter(|id| !id.is_empty())
    }

    /// Returns whether the page has an element that matches.
    pub fn has_match(selector: &str) -> bool {
        document().is_some_and(|d| d.query_selector(selector).is_ok_and(|found| found.is_some()))
    }

    /// Clicks the focused element, for a key that its role supports and its element does not.
    pub fn click_focused() {
        let active = document().and_then(|d| d.active_element());
        if let Some(active) = active.and_then(|active| active.dyn_into::<web_sys::HtmlElement>().ok()) {
            active.click();
        }
    }

    /// Clicks the first element that matches `selector` inside the nearest element around the focus that matches `around`.
    /// Returns false if there is none; a disabled one counts.
    pub fn press_within(around: &str, selector: &str) -> bool {
        let find = || {
            let around = document()?.active_element()?.closest(around).ok()??;
            around.query_selector(selector).ok()??.dyn_into::<web_sys::HtmlElement>().ok()
        };
        find().map(|element| element.click()).is_some()
    }

    /// Clicks all elements that match `selector` inside the nearest element around the focus that matches `around`.
    /// Returns false if there is none.
    pub fn press_all_within(around: &str, selector: &str) -> bool {
        let find = || document()?.active_element()?.closest(around).ok()??.query_selector_all(selector).ok();
        let Some(all) = find().filter(|all| all.length() > 0) else { return false };
        for element in (0..all.length()).filter_map(|at| all.item(at)?.dyn_into::<web_sys::HtmlElement>().ok()) {
            element.click();
        }
        true
    }

    /// Clicks the last element that matches. Returns false if there is none.
    pub fn press_last(selector: &str) -> bool {
        let element = find_last(selector).and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
        element.map(|element| element.click()).is_some()
    }

    /// Focuses the `part` of an element that matches `of`, `places` behind the one that has the focus. Returns false
    /// if there is none.
    pub fn focus_neighbour(of: &str, part: &str, places: i32) -> bool {
        let find = || {
            let document = document()?;
            let current = document.active_element()?.closest(of).ok()??;
            let all = document.query_selector_all(of).ok()?;
            let at = (0..all.length()).find(|at| all.item(*at).is_some_and(|one| current.is_same_node(Some(&one))))?;
            let next = all.item(at.checked_add_signed(places)?)?.dyn_into::<web_sys::Element>().ok()?;
            next.query_selector(part).ok()?
        };
        find().is_some_and(focus)
    }

    /// Makes the elements that match inert, so that they cannot be clicked, focused or read, or reverts that.
    pub fn set_inert(selector: &str, is_out: bool) {
        let Some(all) = document().and_then(|d| d.query_selector_all(selector).ok()) else { return };
        for element in (0..all.length()).filter_map(|at| all.item(at)?.dyn_into::<web_sys::Element>().ok()) {
            let _ = element.toggle_attribute_with_force("inert", is_out);
        }
    }

    /// Returns whether no element has the focus, so that moving it does not disturb the user.
    pub fn is_unfocused() -> bool {
        document().and_then(|d| d.active_element()).is_none_or(|active| active.tag_name() == "BODY")
    }

    /// Returns whether keys type text, so that letters must not be shortcuts.
    pub fn is_in_text_field() -> bool {
        is_within("input:not([type=file], [type=checkbox], [type=radio]), textarea, select, [contenteditable]")
    }

    /// Returns whether the message box has the focus and is empty.
    pub fn is_in_empty_message_box() -> bool {
        let active = document().and_then(|d| d.active_element()).filter(|active| active.id() == "message");
        let field = active.and_then(|active| active.dyn_into::<web_sys::HtmlTextAreaElement>().ok());
        field.is_some_and(|field| field.value().is_empty())
    }

    /// Returns whether the caret is at the start of the focused text area, with nothing selected.
    pub fn is_at_start_of_text() -> bool {
        let active = document().and_then(|d| d.active_element());
        let area = active.and_then(|active| active.dyn_into::<web_sys::HtmlTextAreaElement>().ok());
        area.is_some_and(|area| area.selection_start() == Ok(Some(0)) && area.selection_end() == Ok(Some(0)))
    }

    /// Moves the focus to the next visible region (F6), or to the previous one. A region that cannot have the focus
    /// itself passes it to its first control, unless `enter` handles the region.
    pub fn cycle_regions(regions: &[&str], back: bool, enter: impl Fn(&str) -> bool) {
        let Some(document) = document() else { return };
        let visible: Vec<(usize, web_sys::Element)> = regions
            .iter()
            .enumerate()
            .filter_map(|(at, selector)| Some((at, document.query_selector(selector).ok().flatten()?)))
            // On a phone the chat list is a box without a width.
            .filter(|(_, element)| element.get_bounding_client_rect().width() > 0.0)
            .collect();
        // Regions can be nested; the outer one comes first in the list.
        let current = regions.iter().rposition(|selector| is_within(selector));
        let next = match (current, back) {
            (None, false) => visible.first(),
            (None, true) => visible.last(),
            (Some(at), false) => visible.iter().find(|(index, _)| *index > at).or(visible.first()),
            (Some(at), true) => visible.iter().rev().find(|(index, _)| *index < at).or(visible.last()),
        };
        let Some((at, region)) = next else { return };
        if enter(regions[*at]) {
            return;
        }
        const CONTROLS: &str =
            "textarea, [aria-current], a[href], button:not([disabled]), select, input, [tabindex='0']";
        if region.has_attribute("tabindex") {
            focus(region.clone());
        } else if let Ok(controls) = region.query_selector_all(CONTROLS) {
            // Controls that are not rendered cannot have the focus; the first one that accepts it keeps it.
            let _ = (0..controls.length())
                .filter_map(|at| controls.item(at)?.dyn_into::<web_sys::Element>().ok())
                .filter(|control| control.get_client_rects().length() > 0)
                .any(focus);
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn focus_first(_selector: &str) -> bool {
        false
    }

    pub fn focus_first_without_scroll(_selector: &str) {}

    pub fn focus_last(_selector: &str) -> bool {
        false
    }

    pub fn focus_last_without_scroll(_selector: &str) -> bool {
        false
    }

    pub fn is_within(_selector: &str) -> bool {
        false
    }

    pub fn focused_id() -> Option<String> {
        None
    }

    pub fn set_inert(_selector: &str, _is_out: bool) {}

    pub fn is_unfocused() -> bool {
        false
    }

    pub fn has_match(_selector: &str) -> bool {
        false
    }

    pub fn click_focused() {}

    pub fn press_within(_around: &str, _what: &str) -> bool {
        false
    }

    pub fn press_all_within(_around: &str, _what: &str) -> bool {
        false
    }

    pub fn press_last(_selector: &str) -> bool {
        false
    }

    pub fn focus_neighbour(_of: &str, _part: &str, _places: i32) -> bool {
        false
    }

    pub fn is_in_text_field() -> bool {
        false
    }

    pub fn is_in_empty_message_box() -> bool {
        false
    }

    pub fn is_at_start_of_text() -> bool {
        false
    }

    pub fn cycle_regions(_regions: &[&str], _back: bool, _enter: impl Fn(&str) -> bool) {}
}

pub use real::{
    click_focused, cycle_regions, focus_first, focus_first_without_scroll, focus_last, focus_last_without_scroll,
    focus_neighbour, focused_id, has_match, is_at_start_of_text, is_in_empty_message_box, is_in_text_field,
    is_unfocused, is_within, press_all_within, press_last, press_within, set_inert,
};
