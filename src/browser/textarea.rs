//! Text areas: text, caret, undoable edits and height.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::web_sys::HtmlTextAreaElement;
    use wasm_bindgen::JsCast;

    /// Returns the text area that matches.
    pub fn find(selector: &str) -> Option<HtmlTextAreaElement> {
        document()?.query_selector(selector).ok().flatten()?.dyn_into().ok()
    }

    pub fn value(area: &HtmlTextAreaElement) -> String {
        area.value()
    }

    /// Replaces the text, which moves the caret to its end.
    pub fn set_value(area: &HtmlTextAreaElement, text: &str) {
        area.set_value(text);
        fit_height(area);
    }

    /// Moves the caret to the end of the text.
    pub fn move_caret_to_end(area: &HtmlTextAreaElement) {
        let end = u32::try_from(area.value().encode_utf16().count()).unwrap_or(u32::MAX);
        let _ = area.set_selection_range(end, end);
    }

    /// Returns whether an input method is composing in the text area.
    pub fn is_composing(event: &leptos::ev::Event) -> bool {
        js_sys::Reflect::get(event, &"isComposing".into()).is_ok_and(|is_composing| is_composing.is_truthy())
    }

    /// Returns whether the caret is at the start of the text, with nothing selected.
    pub fn is_caret_at_start(area: &HtmlTextAreaElement) -> bool {
        area.selection_start() == Ok(Some(0)) && area.selection_end() == Ok(Some(0))
    }

    /// Returns the text before the caret; `None` while a part of the text is selected.
    pub fn text_before_caret(area: &HtmlTextAreaElement) -> Option<String> {
        let (start, end) = (area.selection_start().ok()??, area.selection_end().ok()??);
        // Offsets are UTF-16 code units.
        let units: Vec<u16> = area.value().encode_utf16().take(start as usize).collect();
        (start == end).then(|| String::from_utf16_lossy(&units))
    }

    /// Returns the text before the caret or the selection.
    pub fn text_before_selection(area: &HtmlTextAreaElement) -> String {
        let start = area.selection_start().ok().flatten().unwrap_or(0);
        let units: Vec<u16> = area.value().encode_utf16().take(start as usize).collect();
        String::from_utf16_lossy(&units)
    }

    /// Replaces `old`, which follows `before`, with `new` and keeps the caret at its place in the text. Returns false
    /// if the text there has changed.
    pub fn replace_text(area: &HtmlTextAreaElement, before: &str, old: &str, new: &str) -> bool {
        if !area.value().strip_prefix(before).is_some_and(|rest| rest.starts_with(old)) {
            return false;
        }
        let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
        let (start, length, grown) = (units(before), units(old), units(new));
        let end = start + length;
        let places = [area.selection_start(), area.selection_end()].map(|place| place.ok().flatten().unwrap_or(end));
        let has_focus =
            document().and_then(|document| document.active_element()).is_some_and(|active| active == ***area);
        let typed = has_focus
            && area.set_selection_range(start, end).is_ok()
            && document().and_then(|d| d.exec_command_with_show_ui_and_value("insertText", false, new).ok())
                == Some(true);
        if !typed && area.set_range_text_with_start_and_end(new, start, end).is_ok() {
            let _ = web_sys::Event::new("input").map(|event| area.dispatch_event(&event));
        }
        let [from, to] = places.map(|place| if place >= end { place - length + grown } else { place });
        let _ = area.set_selection_range(from, to);
        true
    }

    /// Removes the last occurrence of `piece` within the first `behind` bytes with the browser's `delete` command, so
    /// that undo restores it.
    pub fn remove_text(area: &HtmlTextAreaElement, piece: &str, behind: usize) {
        let text = area.value();
        let Some(at) = text.get(..behind.min(text.len())).and_then(|text| text.rfind(piece)) else { return };
        let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
        let start = units(&text[..at]);
        let _ = area.focus();
        let _ = area.set_selection_range(start, start + units(piece));
        let _ = document().map(|document| document.exec_command("delete"));
    }

    fn document() -> Option<web_sys::HtmlDocument> {
        web_sys::window()?.document()?.dyn_into().ok()
    }

    /// Inserts a text at the caret in place of the selection, as if it was typed, so that undo removes it.
    pub fn insert(area: &HtmlTextAreaElement, text: &str) {
        let _ = area.focus();
        // Moving the caret ends the current undo step, so that earlier typing is undone separately.
        if let (Ok(Some(start)), Ok(Some(end))) = (area.selection_start(), area.selection_end()) {
            let _ = area.set_selection_range(0, 0);
            let _ = area.set_selection_range(start, end);
        }
        let typed = document()
            .and_then(|document| document.exec_command_with_show_ui_and_value("insertText", false, text).ok());
        // Fallback without undo, for browsers that do not support the command.
        if typed != Some(true) && area.set_range_text(text).is_ok() {
            let _ = web_sys::Event::new("input").map(|event| area.dispatch_event(&event));
        }
    }

    /// Makes the text area as high as its text, for browsers without `field-sizing`. The style sheet limits the
    /// height. The style is set through the CSSOM, which the content security policy allows.
    pub fn fit_height(area: &HtmlTextAreaElement) {
        if has_field_sizing(area) {
            return;
        }
        let style = area.unchecked_ref::<web_sys::HtmlElement>().style();
        let _ = style.set_property("block-size", "auto");
        let _ = style.set_property("block-size", &format!("{}px", area.scroll_height()));
    }

    /// Browsers expose a style property only if they support it.
    fn has_field_sizing(area: &HtmlTextAreaElement) -> bool {
        let style = area.unchecked_ref::<web_sys::HtmlElement>().style();
        js_sys::Reflect::has(&style, &"fieldSizing".into()).unwrap_or(false)
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::web_sys::HtmlTextAreaElement;

    pub fn find(_selector: &str) -> Option<HtmlTextAreaElement> {
        None
    }

    pub fn value(_area: &HtmlTextAreaElement) -> String {
        String::new()
    }

    pub fn set_value(_area: &HtmlTextAreaElement, _text: &str) {}

    pub fn move_caret_to_end(_area: &HtmlTextAreaElement) {}

    pub fn is_composing(_event: &leptos::ev::Event) -> bool {
        false
    }

    pub fn is_caret_at_start(_area: &HtmlTextAreaElement) -> bool {
        false
    }

    pub fn text_before_caret(_area: &HtmlTextAreaElement) -> Option<String> {
        None
    }

    pub fn text_before_selection(_area: &HtmlTextAreaElement) -> String {
        String::new()
    }

    pub fn replace_text(_area: &HtmlTextAreaElement, _before: &str, _old: &str, _new: &str) -> bool {
        false
    }

    pub fn remove_text(_area: &HtmlTextAreaElement, _piece: &str, _behind: usize) {}

    pub fn insert(_area: &HtmlTextAreaElement, _text: &str) {}

    pub fn fit_height(_area: &HtmlTextAreaElement) {}
}

pub use real::{
    find, fit_height, insert, is_caret_at_start, is_composing, move_caret_to_end, remove_text, replace_text, set_value,
    text_before_caret, text_before_selection, value,
};
