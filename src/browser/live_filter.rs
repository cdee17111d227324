//! Live filters of lists on server pages: while something is typed into a form with `data-filters`, the page of the form's
//! address is fetched and its list merged into this one. The address is kept up to date, and the list's status says
//! what was found. Without script, and by Enter, the form is submitted.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::Cell;
    use std::time::Duration;

    use leptos::prelude::{set_timeout, window_event_listener};
    use leptos::{ev, web_sys};
    use wasm_bindgen::{JsCast, JsValue};
    // Leptos mounts nothing on a server page, so its executor is not running there.
    use wasm_bindgen_futures::{JsFuture, spawn_local};
    use web_sys::{DomParser, Element, HtmlFormElement, Response, SupportedType};

    use crate::browser::dom_morph::morph_children;
    use crate::browser::form;

    const FORM: &str = "form[data-filters]";
    const PAUSE: Duration = Duration::from_millis(250);

    thread_local! {
        /// Counts the input events, so that only the last one of a series is answered.
        static TYPED_TIMES: Cell<u32> = const { Cell::new(0) };
    }

    /// Starts live filters on pages that have one. `on_changed` runs after each change of the list.
    pub fn start(on_changed: fn()) {
        let document = web_sys::window().and_then(|window| window.document());
        if document.is_some_and(|document| matches!(document.query_selector(FORM), Ok(Some(_)))) {
            drop(window_event_listener(ev::input, move |event| {
                // The text of an input method is complete when it says so.
                let is_composing = js_sys::Reflect::get(&event, &"isComposing".into());
                if !is_composing.is_ok_and(|is_composing| is_composing.is_truthy()) {
                    on_typed(&event, on_changed);
                }
            }));
            drop(window_event_listener(ev::compositionend, move |event| on_typed(&event, on_changed)));
        }
    }

    fn on_typed(event: &web_sys::Event, on_changed: fn()) {
        let Some(form) = form_of(event) else { return };
        let times = TYPED_TIMES.get().wrapping_add(1);
        TYPED_TIMES.set(times);
        let ask = move || {
            if TYPED_TIMES.get() == times {
                spawn_local(async move {
                    _ = filter(&form, times, on_changed).await;
                });
            }
        };
        set_timeout(ask, PAUSE);
    }

    fn form_of(event: &web_sys::Event) -> Option<HtmlFormElement> {
        let target = event.target()?.dyn_into::<Element>().ok()?;
        target.closest(FORM).ok()??.dyn_into().ok()
    }

    /// Shows the list of the form's address; nothing changes if it cannot be fetched, or something was typed meanwhile.
    async fn filter(form: &HtmlFormElement, times: u32, on_changed: fn()) -> Option<()> {
        let address = address(form)?;
        let window = web_sys::window()?;
        let answer: Response = JsFuture::from(window.fetch_with_str(&address)).await.ok()?.dyn_into().ok()?;
        let html = JsFuture::from(answer.text().ok()?).await.ok()?.as_string()?;
        if TYPED_TIMES.get() != times {
            return None;
        }
        let fresh = DomParser::new().ok()?.parse_from_string(&html, SupportedType::TextHtml).ok()?;
        let id = form.get_attribute("data-filters")?;
        let (list, new) = (window.document()?.get_element_by_id(&id)?, fresh.get_element_by_id(&id)?);
        morph_children(&list, &new);
        window.history().ok()?.replace_state_with_url(&JsValue::NULL, "", Some(&address)).ok()?;
        on_changed();
        Some(())
    }

    /// Returns the address of the filled form, without its empty fields.
    fn address(form: &HtmlFormElement) -> Option<String> {
        let action = form.get_attribute("action")?;
        let path = action.split('#').next()?;
        let query = String::from(form::form_fields(form, None)?.to_string());
        let filled: Vec<&str> = query.split('&').filter(|field| !field.ends_with('=')).collect();
        Some(if filled.is_empty() { path.to_owned() } else { [path, &filled.join("&")].join("?") })
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn start(_on_changed: fn()) {}
}

pub use real::start;
