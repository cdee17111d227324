//! The text selection of the page, by mouse, touch or keys: its content, and a debounced watcher.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::Cell;
    use std::rc::Rc;

    use leptos::prelude::set_timeout;
    use send_wrapper::SendWrapper;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Document, Element, Event, Node, Range, Selection};

    /// Debounce: a selection is reported when it has not changed for this long.
    const SETTLED: std::time::Duration = std::time::Duration::from_millis(150);
    /// Events that change a selection, or that show that the user is still selecting or has finished.
    const EVENTS: [&str; 4] = ["selectionchange", "pointerdown", "pointerup", "pointercancel"];

    /// Elements whose text does not belong to the message.
    const IGNORED_PARTS: &str = "button, svg, annotation, .quiet, [aria-hidden=true]";

    fn document() -> Option<Document> {
        web_sys::window()?.document()
    }

    fn element_of(node: Node) -> Option<Element> {
        match node.dyn_into::<Element>() {
            Ok(element) => Some(element),
            Err(node) => node.parent_element(),
        }
    }

    /// Block elements, after which the text continues on a new line.
    const BLOCKS: &str = "p, li, pre, tr, h1, h2, h3, h4, h5, h6, blockquote";

    /// Returns the selected range, clipped to the element that matches in which it begins, and whether it was clipped.
    fn range_in(selector: &str, selection: &Selection) -> Option<(Range, bool)> {
        if selection.is_collapsed() {
            return None;
        }
        let range = selection.get_range_at(0).ok()?.clone_range();
        let within = element_of(range.start_container().ok()?)?.closest(selector).ok()??;
        let is_cut = !within.contains(Some(&range.end_container().ok()?));
        if is_cut {
            range.set_end(&within, within.child_nodes().length()).ok()?;
        }
        Some((range, is_cut))
    }

    /// Returns the selection in an element that matches, as the text that is read and as HTML; `None` if nothing is
    /// selected there.
    pub fn selected_content(selector: &str) -> Option<(String, String)> {
        let selection = web_sys::window()?.get_selection().ok()??;
        let (range, is_cut) = range_in(selector, &selection)?;
        let holder = document()?.create_element("div").ok()?;
        let contents = range.clone_contents().ok()?;
        holder.append_child(&contents).ok()?;
        while let Ok(Some(part)) = holder.query_selector(IGNORED_PARTS) {
            part.remove();
        }
        let text = if is_cut { lines_of(&holder) } else { String::from(selection.to_string()) };
        (!text.trim().is_empty()).then(|| (text, holder.inner_html()))
    }

    /// Returns the text of an element with blank lines after its blocks.
    fn lines_of(holder: &Element) -> String {
        let read = holder.clone_node_with_deep(true).ok().and_then(|copy| copy.dyn_into::<Element>().ok());
        let Some(copy) = read else { return String::new() };
        if let Ok(blocks) = copy.query_selector_all(BLOCKS) {
            for at in 0..blocks.length() {
                let block = blocks.item(at).and_then(|block| block.dyn_into::<Element>().ok());
                let _ = block.map(|block| block.append_with_str_1("\n\n"));
            }
        }
        copy.text_content().unwrap_or_default()
    }

    /// Watches the selection of the page until it is stopped.
    pub struct SelectionWatcher(SendWrapper<Closure<dyn FnMut(Event)>>);

    impl SelectionWatcher {
        /// Stops watching.
        pub fn stop(self) {
            let Some(document) = document() else { return };
            for name in EVENTS {
                let _ = document.remove_event_listener_with_callback(name, self.0.as_ref().unchecked_ref());
            }
        }
    }

    /// Calls `settled` whenever the selection has changed or was cleared, after the debounce and once no pointer is
    /// down.
    pub fn watch_selection(settled: impl Fn() + 'static) -> Option<SelectionWatcher> {
        let (settled, changes, is_held) = (Rc::new(settled), Rc::new(Cell::new(0_u32)), Rc::new(Cell::new(false)));
        let listener = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            match event.type_().as_str() {
                "pointerdown" => is_held.set(true),
                "selectionchange" => {}
                _ => is_held.set(false),
            }
            changes.set(changes.get().wrapping_add(1));
            let change = changes.get();
            let (settled, changes, is_held) = (settled.clone(), changes.clone(), is_held.clone());
            let look = move || {
                if changes.get() == change && !is_held.get() {
                    settled();
                }
            };
            set_timeout(look, SETTLED);
        });
        let document = document()?;
        for name in EVENTS {
            document.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()).ok()?;
        }
        Some(SelectionWatcher(SendWrapper::new(listener)))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub struct SelectionWatcher;

    impl SelectionWatcher {
        pub fn stop(self) {}
    }

    pub fn selected_content(_selector: &str) -> Option<(String, String)> {
        None
    }

    pub fn watch_selection(_settled: impl Fn() + 'static) -> Option<SelectionWatcher> {
        None
    }
}

pub use real::{SelectionWatcher, selected_content, watch_selection};
