//! Autosave of settings: a form within an element with `data-saves` is submitted as soon as one of its controls
//! changes, one form at a time, and the response page is merged into this one: the region with the errors beside its
//! fields, the settings on the root, and the status message. Without script these are forms with a button.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::time::Duration;

    use leptos::prelude::{set_timeout, window_event_listener};
    use leptos::{ev, web_sys};
    use wasm_bindgen::JsCast;
    // Leptos mounts nothing on a server page, so its executor is not running there.
    use wasm_bindgen_futures::spawn_local;
    use web_sys::{Document, DomParser, Element, HtmlElement, HtmlFormElement, HtmlTextAreaElement, SupportedType};

    use crate::browser::dom_morph::{morph, morph_attributes, morph_children};
    use crate::browser::form::{self, SubmitterField, TYPED_ATTRIBUTE};

    const REGION: &str = "[data-saves]";
    /// The status message of a page, which reports the result of a form.
    const STATUS_MESSAGE: &str = ".plain-main > [role=status]";
    const UNSENT: &str = "[data-saves] [data-typed]";
    /// Debounce of text areas: they are saved after this pause, because the `change` event comes only when they lose
    /// the focus, and a page can be left without it.
    const TYPING_PAUSE: Duration = Duration::from_millis(1_500);
    /// Controls that can take the focus if the element that had it is gone.
    const CONTROLS: &str = "input:not([type=hidden]), select, textarea, button:not(.without-script)";
    /// Attributes of the page's root that are no settings.
    const NO_SETTINGS: [&str; 2] = ["data-hydrated", "data-basic"];
    /// Success messages are removed after this time.
    const STATUS_SHOWN_FOR: Duration = Duration::from_secs(6);

    /// A form that waits to be submitted, and the button that was pressed.
    struct PendingSubmission {
        form: HtmlFormElement,
        button: Option<SubmitterField>,
    }

    thread_local! {
        /// Submissions that wait for the response to another one: the server derives the cookie of the shortcuts from
        /// the one that the request carries, so parallel submissions would overwrite each other.
        static WAITING: RefCell<VecDeque<PendingSubmission>> = const { RefCell::new(VecDeque::new()) };
        static IS_BUSY: Cell<bool> = const { Cell::new(false) };
        /// Counts the status messages, so that a timer removes only its own one.
        static STATUS_COUNT: Cell<u32> = const { Cell::new(0) };
        /// Counts the input events, so that only the last one of a series saves.
        static TYPED_TIMES: Cell<u32> = const { Cell::new(0) };
    }

    /// Starts autosave on pages that have a region with `data-saves`.
    pub fn start() {
        if document().is_some_and(|document| matches!(document.query_selector(REGION), Ok(Some(_)))) {
            drop(window_event_listener(ev::input, on_input));
            drop(window_event_listener(ev::change, on_change));
            drop(window_event_listener(ev::submit, on_submit));
            drop(window_event_listener(ev::beforeunload, |event| {
                if document().is_some_and(|document| matches!(document.query_selector(UNSENT), Ok(Some(_)))) {
                    event.prevent_default();
                }
            }));
        }
    }

    fn document() -> Option<Document> {
        web_sys::window()?.document()
    }

    /// Returns the region and the form of an event's target, if the page saves it.
    fn form_of(event: &web_sys::Event) -> Option<(Element, HtmlFormElement)> {
        let form = event.target()?.dyn_into::<Element>().ok()?.closest("form").ok()??;
        let form = form.dyn_into::<HtmlFormElement>().ok().filter(|form| form.method() == "post")?;
        Some((form.closest(REGION).ok()??, form))
    }

    fn on_input(event: ev::Event) {
        let Some((_, form)) = form_of(&event) else { return };
        let _ = form.set_attribute(TYPED_ATTRIBUTE, "");
        let times = TYPED_TIMES.get().wrapping_add(1);
        TYPED_TIMES.set(times);
        if event.target().is_some_and(|target| target.has_type::<HtmlTextAreaElement>()) {
            let written = move || {
                if TYPED_TIMES.get() == times && form.has_attribute(TYPED_ATTRIBUTE) {
                    enqueue(PendingSubmission { form, button: None });
                }
            };
            set_timeout(written, TYPING_PAUSE);
        }
    }

    fn on_change(event: ev::Event) {
        if let Some((_, form)) = form_of(&event) {
            enqueue(PendingSubmission { form, button: None });
        }
    }

    /// Submits a form by its button. Enter in a field fires `change` first, so the form is being saved already.
    fn on_submit(event: ev::SubmitEvent) {
        let Some((_, form)) = form_of(&event).filter(|_| !event.default_prevented()) else { return };
        event.prevent_default();
        let button = form::submitter_field(&event);
        if button.is_some() || !IS_BUSY.get() {
            enqueue(PendingSubmission { form, button });
        }
    }

    fn enqueue(submission: PendingSubmission) {
        WAITING.with_borrow_mut(|waiting| waiting.push_back(submission));
        if !IS_BUSY.replace(true) {
            spawn_local(async {
                while let Some(submission) = WAITING.with_borrow_mut(VecDeque::pop_front) {
                    save(submission).await;
                }
                IS_BUSY.set(false);
            });
        }
    }

    async fn save(PendingSubmission { form, button }: PendingSubmission) {
        let (Some(document), Ok(Some(region))) = (document(), form.closest(REGION)) else { return };
        let _ = form.remove_attribute(TYPED_ATTRIBUTE);
        let Ok(Some(status)) = document.query_selector(STATUS_MESSAGE) else { return };
        // The live region is emptied first, so that a screen reader announces the same message again.
        status.set_text_content(None);
        let _ = status.remove_attribute("data-floats");
        let answer = match form::form_fields(&form, button) {
            Some(fields) => form::submit_for_page(&form, &fields).await,
            None => None,
        };
        let fresh = answer.as_deref().and_then(parse_page);
        let new = fresh.as_ref().and_then(|fresh| fresh.get_element_by_id(&region.id()));
        let (Some(fresh), Some(new)) = (fresh, new) else {
            // The form counts as unsent again, and the failure is reported.
            let _ = form.set_attribute(TYPED_ATTRIBUTE, "");
            return show_unreachable(&status);
        };
        if !apply_settings(&document, &fresh) || !show_status(&status, &fresh) {
            return;
        }
        // If the user has typed meanwhile, the region is left alone until the response to the next save.
        if matches!(document.query_selector(UNSENT), Ok(None)) {
            morph_region(&document, &region, &new);
        }
    }

    fn parse_page(html: &str) -> Option<Document> {
        DomParser::new().ok()?.parse_from_string(html, SupportedType::TextHtml).ok()
    }

    /// Shows the status message of a response page; without a page, that nothing was saved.
    pub fn show_result(html: Option<&str>) {
        let Some(Ok(Some(status))) = document().map(|document| document.query_selector(STATUS_MESSAGE)) else { return };
        match html.and_then(parse_page) {
            Some(fresh) => drop(show_status(&status, &fresh)),
            None => show_unreachable(&status),
        }
    }

    fn show_unreachable(status: &Element) {
        STATUS_COUNT.set(STATUS_COUNT.get().wrapping_add(1));
        status.set_text_content(status.get_attribute("data-not-saved").as_deref());
        let _ = status.set_attribute("data-floats", "danger");
    }

    /// Returns false, after reporting a failure, if the response page has no status message: it is not a page of this
    /// application.
    fn show_status(status: &Element, fresh: &Document) -> bool {
        let Ok(Some(sentence)) = fresh.query_selector(STATUS_MESSAGE) else {
            show_unreachable(status);
            return false;
        };
        let is_done = sentence.query_selector(".ok").is_ok_and(|ok| ok.is_some());
        let _ = status.set_attribute("data-floats", if is_done { "ok" } else { "" });
        morph_children(status, &sentence);
        let times = STATUS_COUNT.get().wrapping_add(1);
        STATUS_COUNT.set(times);
        if is_done {
            let status = status.clone();
            let quiet = move || {
                if STATUS_COUNT.get() == times {
                    status.set_text_content(None);
                }
            };
            set_timeout(quiet, STATUS_SHOWN_FOR);
        }
        true
    }

    /// Copies the settings from the root of the response page. Reloads the page and returns false if the language has
    /// changed, because all of the page's text depends on it.
    fn apply_settings(document: &Document, fresh: &Document) -> bool {
        let (Some(root), Some(new)) = (document.document_element(), fresh.document_element()) else { return true };
        if root.get_attribute("lang") != new.get_attribute("lang") {
            let _ = web_sys::window().map(|window| window.location().reload());
            return false;
        }
        let is_setting = |name: &String| name.starts_with("data-") && !NO_SETTINGS.contains(&name.as_str());
        morph_attributes(&root, &new, is_setting);
        true
    }

    /// Morphs the region into the new one; the focus stays where it is, or moves to the region's first control if its
    /// element is gone.
    fn morph_region(document: &Document, region: &Element, new: &Element) {
        let had_focus = document.active_element().is_some_and(|active| region.contains(Some(&active)));
        morph(region, new);
        let has_focus = document.active_element().is_some_and(|active| region.contains(Some(&active)));
        if had_focus
            && !has_focus
            && let Ok(Some(control)) = region.query_selector(CONTROLS)
            && let Ok(control) = control.dyn_into::<HtmlElement>()
        {
            let _ = control.focus();
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn start() {}

    pub fn show_result(_html: Option<&str>) {}
}

pub use real::{show_result, start};
