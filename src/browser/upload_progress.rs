//! A large file that a plain page's form sends (`data-upload`): a bar says how far it is, and it can be broken off. The
//! page that the server answers with is gone to, or says what is wrong with the file. Without script the browser sends
//! the form by itself.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::prelude::window_event_listener;
    use leptos::{ev, web_sys};
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Element, FormData, HtmlFormElement, ProgressEvent, XmlHttpRequest};

    use crate::browser::autosave;

    const FORM: &str = "form[data-upload]";
    /// The bar with its button, hidden until something is on its way.
    const BAR: &str = ".upload-bar";
    const BUSY: &str = "aria-busy";

    /// Begins it, on pages that have such a form.
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
        // What the browser does not let us send, it sends itself.
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
        let (of_load, asked) = (form.clone(), request.clone());
        let on_load = Closure::once_into_js(move || {
            let at = asked.response_url();
            let is_page = asked.status().is_ok_and(|status| status == 200);
            // The form came back where it led nowhere.
            if is_page && !at.ends_with(&of_load.get_attribute("action").unwrap_or_default()) {
                let _ = web_sys::window().map(|window| window.location().assign(&at));
                return;
            }
            show_bar(&of_load, None);
            autosave::show_result(asked.response_text().ok().flatten().as_deref());
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

    /// Shows the bar while a request is on its way, with the button that breaks it off.
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

    /// How far it is: a bar that says so where the whole is known.
    fn show_progress(form: &HtmlFormElement, sent: f64, of: f64) {
        let Ok(Some(bar)) = form.query_selector(BAR) else { return };
        let (Ok(Some(progress)), Ok(Some(text))) = (bar.query_selector("progress"), bar.query_selector("span")) else {
            return;
        };
        if of > 0.0 {
            let _ =
                (progress.set_attribute("max", &of.to_string()), progress.set_attribute("value", &sent.to_string()));
            text.set_text_content(Some(&format!("{:.0} %", sent / of * 100.0)));
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
