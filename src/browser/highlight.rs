//! Highlights search results with the CSS Custom Highlight API, which leaves the elements untouched. Browsers without
//! it show no marks.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::{Array, Function, JsString, Reflect};
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::{Element, Node, Range};

    use crate::browser::case_mapping::to_lowercase;

    /// The name of the highlight in the style sheets.
    const NAME: &str = "found";
    /// Upper bound on the marks, because a single letter can occur thousands of times.
    const MARKS: u32 = 500;

    /// Highlights the words, in any case, in the text below the elements that match. Returns the vertical position of
    /// the first match on screen; `None` if there is no match.
    pub fn highlight_words(selector: &str, words: &str) -> Option<f64> {
        clear_highlights();
        let texts = texts(selector)?;
        let ranges = ranges(&texts, words);
        let first: Range = ranges.get(0).dyn_into().ok()?;
        reveal(&first.start_container().ok()?);
        let y = first.get_bounding_client_rect().top();
        let window = web_sys::window()?;
        let make: Function = Reflect::get(&window, &"Highlight".into()).ok()?.dyn_into().ok()?;
        if let (Some(marks), Ok(mark)) = (marks(), Reflect::construct(&make, &ranges)) {
            call(&marks, "set", &[NAME.into(), mark]);
        }
        Some(y)
    }

    /// Opens what hides a text: the disclosures around it, and a long message that shows its beginning.
    fn reveal(text: &Node) {
        let mut around = text.parent_element();
        while let Some(element) = around {
            if element.tag_name() == "DETAILS" {
                let _ = element.set_attribute("open", "");
            }
            let more = element.next_element_sibling().filter(|next| next.class_list().contains("said-more"));
            if let Some(tick) = more.and_then(|more| more.first_element_child()) {
                let _ = Reflect::set(&tick, &"checked".into(), &true.into());
            }
            around = element.parent_element();
        }
    }

    /// Removes the highlights.
    pub fn clear_highlights() {
        if let Some(marks) = marks() {
            call(&marks, "delete", &[NAME.into()]);
        }
    }

    fn marks() -> Option<JsValue> {
        let window = web_sys::window()?;
        let css = Reflect::get(&window, &"CSS".into()).ok()?;
        Reflect::get(&css, &"highlights".into()).ok().filter(JsValue::is_object)
    }

    fn call(of: &JsValue, name: &str, with: &[JsValue]) {
        if let Ok(Ok(call)) = Reflect::get(of, &name.into()).map(JsCast::dyn_into::<Function>) {
            let _ = call.apply(of, &with.iter().collect::<Array>());
        }
    }

    /// Returns the text nodes below the elements that match, in document order.
    fn texts(selector: &str) -> Option<Vec<Node>> {
        let roots = web_sys::window()?.document()?.query_selector_all(selector).ok()?;
        let mut texts = Vec::new();
        for at in 0..roots.length() {
            gather(&roots.item(at)?, &mut texts);
        }
        Some(texts)
    }

    fn gather(node: &Node, texts: &mut Vec<Node>) {
        if node.node_type() == Node::TEXT_NODE {
            texts.push(node.clone());
        } else if node.dyn_ref::<Element>().is_none_or(|element| !element.has_attribute("hidden")) {
            let mut child = node.first_child();
            while let Some(next) = child {
                gather(&next, texts);
                child = next.next_sibling();
            }
        }
    }

    /// Returns the ranges of the words. The nodes count as one text, because a match can span elements. Offsets are
    /// UTF-16 code units, as in the DOM.
    fn ranges(texts: &[Node], words: &str) -> Array {
        let mut all = JsString::from("");
        let mut ends = Vec::with_capacity(texts.len());
        for text in texts {
            all = all.concat(&JsString::from(text.node_value().unwrap_or_default()));
            ends.push(all.length());
        }
        let all = all.to_lower_case();
        let words = to_lowercase(words);
        let length = u32::try_from(words.encode_utf16().count()).unwrap_or(u32::MAX).max(1);
        let found = Array::new();
        let mut from = 0;
        while let Ok(start) = u32::try_from(all.index_of(&words, from)) {
            let end = start.saturating_add(length);
            from = i32::try_from(end).unwrap_or(i32::MAX);
            let spot = |offset: u32, is_end: bool| {
                let at = ends.iter().position(|last| if is_end { *last >= offset } else { *last > offset })?;
                let before = at.checked_sub(1).map_or(0, |before| ends[before]);
                Some((&texts[at], offset - before))
            };
            let range = || {
                let ((first, from), (last, to)) = (spot(start, false)?, spot(end, true)?);
                let range = Range::new().ok()?;
                range.set_start(first, from).ok()?;
                range.set_end(last, to).ok()?;
                Some(range)
            };
            if let Some(range) = range() {
                found.push(&range);
            }
            if found.length() >= MARKS {
                break;
            }
        }
        found
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn highlight_words(_selector: &str, _words: &str) -> Option<f64> {
        None
    }

    pub fn clear_highlights() {}
}

pub use real::{clear_highlights, highlight_words};
