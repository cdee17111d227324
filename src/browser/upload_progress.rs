//! Uploads of server pages with progress (`form[data-upload]`): a bar shows the progress and can cancel the request.
//! Afterwards the browser navigates to the response page, or its status message is shown if the file was refused.
//! Without script the browser submits the form.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::prelude::window_event_listener;
    use leptos::{ev, web_sys};
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Element, FormData, HtmlFormElement, ProgressEvent, XmlHttpRequest};

    use crate::browser::autosave;

    const FORM: &str = "form[data-upload]";
    /// The progress bar with its button, hidden until an upload starts.
    const BAR: &str = ".upload-bar";
    const BUSY: &str = "aria-busy";

    /// Starts this on pages with an upload form.
    pub fn start() {
        let document = web_sys::window().and_then(|window| window.document());
        if document.is_some_and(|document| matches!(document.query_selector(FORM), Ok(Some(_)))) {
            drop(window_event_listener(ev::submit, on_submit));
        }
    }

    fn on_submit(event: ev::SubmitEvent) {
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let Some(form) = form.filter(|form| form.has_attribute("data-upload")) else { return };
        if form.has_attribute(BUSY) {
            return event.prevent_default();
        }
        // If the request cannot be started, the browser submits the form.
        if let Some(request) = send(&form) {
            event.prevent_default();
            show_bar(&form, Some(&request));
        }
    }

    fn send(form: &HtmlFormElement) -> Option<XmlHttpRequest> {
        let fields = FormData::new_with_form(form).ok()?;
        let request = XmlHttpRequest::new().ok()?;
        request.open("POST", &form.get_attribute("action")?).ok()?;
        let of_progress = form.clone();
        let on_progress = Closure::<dyn FnMut(ProgressEvent)>::new(move |event: ProgressEvent| {
            show_progress(&of_progress, event.loaded(), event.total());
        });
        request.upload().ok()?.set_onprogress(Some(on_progress.into_js_value().unchecked_ref()));
        let (of_load, completed) = (form.clone(), request.clone());
        let on_load = Closure::once_into_js(move || {
            let at = completed.response_url();
            let is_page = completed.status().is_ok_and(|status| status == 200);
            // A response at the address of the form itself is the form with an error.
            if is_page && !at.ends_with(&of_load.get_attribute("action").unwrap_or_default()) {
                let _ = web_sys::window().map(|window| window.location().assign(&at));
                return;
            }
            show_bar(&of_load, None);
            autosave::show_result(completed.response_text().ok().flatten().as_deref());
        });
        request.set_onload(Some(on_load.unchecked_ref()));
        let of_error = form.clone();
        let on_error = Closure::once_into_js(move || {
            show_bar(&of_error, None);
            autosave::show_result(None);
        });
        request.set_onerror(Some(on_error.unchecked_ref()));
        request.send_with_opt_form_data(Some(&fields)).ok()?;
        Some(request)
    }

    /// Shows the bar while a request is in flight, with the button that cancels it; hides it without a request.
    fn show_bar(form: &HtmlFormElement, request: Option<&XmlHttpRequest>) {
        let Ok(Some(bar)) = form.query_selector(BAR) else { return };
        let submit = form.query_selector("button[type=submit]").ok().flatten();
        match request.cloned() {
            Some(request) => {
                let _ = (form.set_attribute(BUSY, "true"), bar.remove_attribute("hidden"));
                show_progress(form, 0.0, 0.0);
                let of_cancel = form.clone();
                let cancel = Closure::once_into_js(move || {
                    let _ = request.abort();
                    show_bar(&of_cancel, None);
                });
                if let Some(button) = cancel_button(&bar) {
                    button.set_onclick(Some(cancel.unchecked_ref()));
                    let _ = button.focus();
                }
            }
            None => {
                let had_focus = bar.contains(active().as_ref());
                let _ = (form.remove_attribute(BUSY), bar.set_attribute("hidden", ""));
                if let Some(submit) = submit.filter(|_| had_focus).and_then(|submit| submit.dyn_into().ok()) {
                    let submit: web_sys::HtmlElement = submit;
                    let _ = submit.focus();
                }
            }
        }
    }

    fn cancel_button(bar: &Element) -> Option<web_sys::HtmlElement> {
        bar.query_selector("button").ok()??.dyn_into().ok()
    }

    fn active() -> Option<web_sys::Node> {
        web_sys::window()?.document()?.active_element().map(Into::into)
    }

    /// Updates the progress bar; it is indeterminate while the total is unknown.
    fn show_progress(form: &HtmlFormElement, sent: f64, of: f64) {
        let Ok(Some(bar)) = form.query_selector(BAR) else { return };
        let (Ok(Some(progress)), Ok(Some(text))) = (bar.query_selector("progress"), bar.query_selector("span")) else {
            return;
        };
        if of > 0.0 {
            // Whole numbers: bytes.
            let (sent, of) = (sent as u64, of as u64);
            let _ =
                (progress.set_attribute("max", &of.to_string()), progress.set_attribute("value", &sent.to_string()));
            text.set_text_content(Some(&format!("{} %", sent.saturating_mul(100) / of.max(1))));
        } else {
            let _ = progress.remove_attribute("value");
            text.set_text_content(None);
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn start() {}
}

pub use real::start;
