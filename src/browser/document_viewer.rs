//! The document viewer in the browser: selection and focus of its lines, and the position of the quote bar. The server
//! renders the page, and Leptos does not run on it; this module finds its elements by selectors.

pub use leptos::web_sys::Event;

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Document, Element, HtmlElement, Node, Range, Selection};

    use super::Event;
    use crate::domain::documents::selection::LinePosition;

    /// Distance between the selection and the bar, and between the bar and the window's edges, in pixels.
    const GAP: f64 = 8.0;

    fn document() -> Option<Document> {
        web_sys::window()?.document()
    }

    fn find(selector: &str) -> Option<HtmlElement> {
        document()?.query_selector(selector).ok().flatten()?.dyn_into().ok()
    }

    fn current_selection() -> Option<Selection> {
        web_sys::window()?.get_selection().ok().flatten()
    }

    /// Returns the elements of the visible lines; each has its text in a `code`.
    fn line_elements() -> Vec<Element> {
        let all = document().and_then(|document| document.query_selector_all("[data-document] li").ok());
        let all = all.into_iter().flat_map(|all| (0..all.length()).filter_map(move |at| all.item(at)));
        all.filter_map(|line| line.dyn_into().ok()).collect()
    }

    /// Returns the texts of the visible lines.
    pub fn lines() -> Vec<String> {
        line_elements().iter().map(|line| line.text_content().unwrap_or_default()).collect()
    }

    /// Returns an attribute of the first element that matches.
    pub fn attribute(selector: &str, name: &str) -> Option<String> {
        find(selector)?.get_attribute(name)
    }

    /// Returns the value of a control.
    pub fn value(selector: &str) -> Option<String> {
        js_sys::Reflect::get(find(selector)?.as_ref(), &"value".into()).ok()?.as_string()
    }

    pub fn set_value(selector: &str, value: &str) {
        if let Some(control) = find(selector) {
            let _ = js_sys::Reflect::set(&control, &"value".into(), &value.into());
        }
    }

    /// Returns the label of the selected option of a `select`.
    pub fn selected_option_text(selector: &str) -> String {
        let chosen = find(&format!("{selector} option:checked"));
        chosen.and_then(|option| option.text_content()).unwrap_or_default()
    }

    /// Returns the selection, clipped to the lines; `None` if it contains no part of a line.
    pub fn selection() -> Option<(LinePosition, LinePosition)> {
        let selection = current_selection().filter(|selection| !selection.is_collapsed())?;
        let range = selection.get_range_at(0).ok()?;
        let lines = line_elements();
        let touched = |line: &&Element| range.intersects_node(line).unwrap_or(false);
        let first = lines.iter().position(|line| touched(&line))?;
        let last = lines.iter().rposition(|line| touched(&line))?;
        let start = utf16_offset_in(&lines[first], &range.start_container().ok()?, range.start_offset().ok()?);
        let end = utf16_offset_in(&lines[last], &range.end_container().ok()?, range.end_offset().ok()?);
        Some((
            LinePosition { line: first, unit: start.unwrap_or(0) },
            // A selection that ends outside the last line includes all of it.
            LinePosition { line: last, unit: end.unwrap_or(usize::MAX) },
        ))
    }

    /// Returns the offset of a position in a line, in UTF-16 code units; `None` if the position is outside the line.
    fn utf16_offset_in(line: &Element, node: &Node, offset: u32) -> Option<usize> {
        if !line.contains(Some(node)) {
            return None;
        }
        let before = Range::new().ok()?;
        before.set_start(line, 0).ok()?;
        before.set_end(node, offset).ok()?;
        let text: js_sys::JsString = before.to_string();
        Some(text.length() as usize)
    }

    /// Selects the lines `from` to `to`, counted from 0. `from` is the anchor of the selection and may be below `to`.
    pub fn select_lines(from: usize, to: usize) {
        let lines = line_elements();
        let Some((selection, (from, to))) = current_selection().zip(lines.get(from).zip(lines.get(to))) else { return };
        let is_down = from.compare_document_position(to) & Node::DOCUMENT_POSITION_PRECEDING == 0;
        let length = |line: &Element| line.child_nodes().length();
        let (start, end) = if is_down { (0, length(to)) } else { (length(from), 0) };
        let _ = selection.set_base_and_extent(from, start, to, end);
    }

    /// Clears the selection.
    pub fn clear_selection() {
        if let Some(selection) = current_selection() {
            let _ = selection.remove_all_ranges();
        }
    }

    /// Returns the line that has the focus, counted from 0.
    pub fn focused_line() -> Option<usize> {
        let active = document()?.active_element()?;
        line_elements().iter().position(|line| line.is_same_node(Some(&active)))
    }

    /// Returns the line that is being read: the one that the address names, otherwise the first visible one.
    pub fn reading_line() -> usize {
        let lines = line_elements();
        let top = find("[data-document]").map_or(0.0, |shown| shown.get_bounding_client_rect().top()).max(0.0);
        let is_named = |line: &Element| line.matches(":target, :has(:target), .marked").unwrap_or(false);
        let is_seen = |line: &Element| line.get_bounding_client_rect().bottom() > top + 1.0;
        lines.iter().position(is_named).or_else(|| lines.iter().position(is_seen)).unwrap_or(0)
    }

    /// Moves the focus to a line.
    pub fn focus_line(at: usize) {
        if let Some(line) = line_elements().into_iter().nth(at).and_then(|line| line.dyn_into::<HtmlElement>().ok()) {
            // Lines can have the focus, but are no tab stops.
            let _ = line.set_attribute("tabindex", "-1");
            let _ = line.focus();
        }
    }

    /// Shows or hides an element.
    pub fn set_shown(selector: &str, is_shown: bool) {
        if let Some(element) = find(selector) {
            let _ = element.toggle_attribute_with_force("hidden", !is_shown);
        }
    }

    pub fn is_shown(selector: &str) -> bool {
        find(selector).is_some_and(|element| !element.has_attribute("hidden"))
    }

    /// Places the bar below the selection, or above it if there is no room, and always within the window.
    pub fn position_bar(bar: &str) {
        let place = || {
            let window = web_sys::window()?;
            let bar = find(bar)?;
            let around = current_selection()?.get_range_at(0).ok()?.get_bounding_client_rect();
            let (wide, high) = (window.inner_width().ok()?.as_f64()?, window.inner_height().ok()?.as_f64()?);
            let size = bar.get_bounding_client_rect();
            let below = around.bottom() + GAP;
            let top = if below + size.height() + GAP <= high { below } else { around.top() - size.height() - GAP };
            let top = top.min(high - size.height() - GAP).max(GAP);
            let left = around.left().min(wide - size.width() - GAP).max(GAP);
            let style = bar.style();
            // Whole pixels, because formatting floats would add code to the bundle.
            style.set_property("--quote-top", &format!("{}px", top as i32)).ok()?;
            style.set_property("--quote-left", &format!("{}px", left as i32)).ok()
        };
        let _ = place();
    }

    /// Calls `act` for the events with this name while the page exists, on the element that matches or on the
    /// document. The listener runs in the capture phase, so that it also receives events that do not bubble.
    pub fn listen(selector: Option<&str>, name: &str, act: impl FnMut(Event) + 'static) {
        let target: Option<web_sys::EventTarget> = match selector {
            Some(selector) => find(selector).map(Into::into),
            None => document().map(Into::into),
        };
        let act = Closure::<dyn FnMut(Event)>::new(act).into_js_value();
        if let Some(target) = target {
            let _ = target.add_event_listener_with_callback_and_bool(name, act.unchecked_ref(), true);
        }
    }

    /// Spawns a task with `wasm_bindgen_futures`: the executor of Leptos is not running on this page.
    pub fn spawn(work: impl Future<Output = ()> + 'static) {
        wasm_bindgen_futures::spawn_local(work);
    }

    /// Navigates to another page of this site.
    pub fn navigate_to(address: &str) {
        if let Some(window) = web_sys::window() {
            let _ = window.location().assign(address);
        }
    }

    /// Returns the key and whether Ctrl or Command, Shift, and Alt are pressed.
    pub fn key_press(event: &Event) -> (String, bool, bool, bool) {
        match event.dyn_ref::<web_sys::KeyboardEvent>() {
            // Keys of a composition belong to the input method.
            Some(key) if !key.is_composing() => {
                (key.key(), key.ctrl_key() || key.meta_key(), key.shift_key(), key.alt_key())
            }
            _ => (String::new(), false, false, false),
        }
    }

    /// Returns whether the event happened inside an element that matches.
    pub fn is_within(event: &Event, selector: &str) -> bool {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        target.and_then(|target| target.closest(selector).ok().flatten()).is_some()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::Event;
    use crate::domain::documents::selection::LinePosition;

    pub fn lines() -> Vec<String> {
        Vec::new()
    }

    pub fn attribute(_selector: &str, _name: &str) -> Option<String> {
        None
    }

    pub fn value(_selector: &str) -> Option<String> {
        None
    }

    pub fn set_value(_selector: &str, _value: &str) {}

    pub fn selected_option_text(_selector: &str) -> String {
        String::new()
    }

    pub fn selection() -> Option<(LinePosition, LinePosition)> {
        None
    }

    pub fn select_lines(_from: usize, _to: usize) {}

    pub fn clear_selection() {}

    pub fn focused_line() -> Option<usize> {
        None
    }

    pub fn reading_line() -> usize {
        0
    }

    pub fn focus_line(_at: usize) {}

    pub fn set_shown(_selector: &str, _is_shown: bool) {}

    pub fn is_shown(_selector: &str) -> bool {
        false
    }

    pub fn position_bar(_bar: &str) {}

    pub fn listen(_selector: Option<&str>, _name: &str, _act: impl FnMut(Event) + 'static) {}

    pub fn spawn(_work: impl Future<Output = ()> + 'static) {}

    pub fn navigate_to(_address: &str) {}

    pub fn key_press(_event: &Event) -> (String, bool, bool, bool) {
        (String::new(), false, false, false)
    }

    pub fn is_within(_event: &Event, _selector: &str) -> bool {
        false
    }
}

pub use real::{
    attribute, clear_selection, focus_line, focused_line, is_shown, is_within, key_press, lines, listen, navigate_to,
    position_bar, reading_line, select_lines, selected_option_text, selection, set_shown, set_value, spawn, value,
};
