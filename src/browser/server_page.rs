//! Enhancements of server pages, which work without script, too: the link back to the chat, local times, lists that
//! follow their filter, dropped and pasted files, visible API keys, copied texts, busy buttons, and permission for
//! notifications.

#[cfg(feature = "hydrate")]
mod real {
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use leptos::prelude::{set_timeout, window_event_listener};
    use leptos::{ev, web_sys};
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{ClipboardEvent, DataTransfer, Document, Element, HtmlElement, HtmlInputElement, NodeList};

    use crate::browser::local_store::{self, LAST_CHAT_KEY};
    use crate::browser::{autosave, clipboard, clock, files, live_filter, notification, upload_progress};

    /// The time for which a button says that it has copied.
    const COPIED_SHOWN: Duration = Duration::from_millis(1_500);

    /// The times of a page.
    pub const TIMES: &str = "time[datetime]";

    /// Starts all enhancements for which the page has an element.
    pub fn enhance() {
        let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
        localize_document_times();
        set_back_link(&document);
        warn_if_notifications_blocked(&document);
        autosave::start();
        live_filter::start(localize_document_times);
        upload_progress::start();
        if upload_field().is_some() {
            listen_for_files();
        }
        drop(window_event_listener(ev::click, on_click));
        drop(window_event_listener(ev::submit, on_submit));
        drop(window_event_listener(ev::pageshow, |_| reset_busy_forms()));
        // A submission can be cancelled: some browsers report that, and in all of them Esc cancels it.
        drop(window_event_listener(ev::keydown, |event| {
            if event.key() == "Escape" {
                reset_busy_forms();
            }
        }));
        watch_cancelled_navigation();
    }

    /// Marks a slow form as busy, so that it is submitted only once.
    fn on_submit(event: ev::SubmitEvent) {
        let form = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some((form, button)) =
            form.and_then(|form| Some((form.clone(), form.query_selector("[data-busy]").ok()??)))
        else {
            return;
        };
        // The submission was prevented.
        if event.default_prevented() {
            return;
        }
        if form.has_attribute("aria-busy") {
            return event.prevent_default();
        }
        let idle = button.text_content().unwrap_or_default();
        let _ = (form.set_attribute("aria-busy", "true"), button.set_attribute("data-idle", &idle));
        button.set_text_content(button.get_attribute("data-busy").as_deref());
    }

    /// Listens for cancelled navigations. Browsers without `navigation` do not report them.
    fn watch_cancelled_navigation() {
        let navigation = js_sys::Reflect::get(&js_sys::global(), &"navigation".into());
        let navigation = navigation.ok().and_then(|navigation| navigation.dyn_into::<web_sys::EventTarget>().ok());
        let Some(navigation) = navigation else { return };
        let stopped = Closure::<dyn Fn()>::new(reset_busy_forms).into_js_value();
        let _ = navigation.add_event_listener_with_callback("navigateerror", stopped.unchecked_ref());
    }

    /// Resets busy forms: a page that is restored from the back/forward cache, or whose navigation was cancelled, is
    /// not submitting anything.
    fn reset_busy_forms() {
        let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
        while let Ok(Some(form)) = document.query_selector("form[aria-busy]:not([data-upload])") {
            let _ = form.remove_attribute("aria-busy");
            if let Ok(Some(button)) = form.query_selector("[data-idle]") {
                button.set_text_content(button.get_attribute("data-idle").as_deref());
                let _ = button.remove_attribute("data-idle");
            }
        }
    }

    /// Formats all times of the page.
    fn localize_document_times() {
        let document = web_sys::window().and_then(|window| window.document());
        if let Some(Ok(times)) = document.map(|document| document.query_selector_all(TIMES)) {
            localize_times(&times);
        }
    }

    /// Formats times in the reader's time zone and language. Where the text is relative (how long ago), only the exact
    /// time in the title changes.
    pub fn localize_times(all: &NodeList) {
        for time in (0..all.length()).filter_map(|at| all.item(at)?.dyn_into::<Element>().ok()) {
            let moment = time.get_attribute("datetime").and_then(|text| text.parse::<DateTime<Utc>>().ok());
            let Some(local) = moment.and_then(clock::format_local_time) else { continue };
            if time.has_attribute("title") {
                let _ = time.set_attribute("title", &local);
            } else {
                time.set_text_content(Some(&local));
            }
        }
    }

    /// Points the link back at the chat that this tab showed last.
    fn set_back_link(document: &Document) {
        if let (Some(chat), Some(back)) =
            (local_store::get_in_tab(LAST_CHAT_KEY), document.get_element_by_id("way-back"))
        {
            let _ = back.set_attribute("href", &format!("/c/{chat}"));
        }
    }

    /// Shows a warning if notifications are switched on but the browser does not show them: they were switched on in
    /// another browser, or permission was withdrawn.
    fn warn_if_notifications_blocked(document: &Document) {
        let is_on =
            document.query_selector("button[name=notify][value=on][aria-pressed=true]").is_ok_and(|on| on.is_some());
        if is_on && !notification::is_allowed() {
            show_notifications_blocked();
        }
    }

    fn show_notifications_blocked() {
        let refused = web_sys::window().and_then(|w| w.document()?.get_element_by_id("notify-refused"));
        if let Some(refused) = refused {
            let _ = refused.remove_attribute("hidden");
        }
    }

    fn upload_field() -> Option<HtmlInputElement> {
        web_sys::window()?.document()?.get_element_by_id("upload-files")?.dyn_into().ok()
    }

    /// Uploads files that are dropped anywhere on the page, or pasted outside of a text field, through the upload
    /// form.
    fn listen_for_files() {
        let over = |event: ev::DragEvent| {
            if files::has_dragged_files(&event) {
                event.prevent_default();
            }
        };
        drop(window_event_listener(ev::dragenter, over));
        drop(window_event_listener(ev::dragover, over));
        drop(window_event_listener(ev::drop, |event| {
            if files::has_dragged_files(&event) {
                event.prevent_default();
                upload(event.data_transfer());
            }
        }));
        drop(window_event_listener(ev::paste, |event| {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            let field = target.and_then(|target| target.closest("input, textarea, select").ok().flatten());
            let clipboard = event.dyn_ref::<ClipboardEvent>().and_then(ClipboardEvent::clipboard_data);
            // Some programs add a picture of copied text.
            let has_words = |data: &DataTransfer| data.get_data("text/plain").is_ok_and(|text| !text.is_empty());
            upload(clipboard.filter(|data| field.is_none() && !has_words(data)));
        }));
    }

    fn upload(data: Option<DataTransfer>) {
        let files = data.and_then(|data| data.files()).filter(|files| files.length() > 0);
        let (Some(files), Some(field)) = (files, upload_field()) else { return };
        // The form takes a single file: the new version of a document.
        if files.length() > 1 && !field.multiple() {
            return;
        }
        field.set_files(Some(&files));
        if let Some(form) = field.form() {
            let _ = form.request_submit();
        }
    }

    fn on_click(event: ev::MouseEvent) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let near = |selector: &str| target.as_ref()?.closest(selector).ok()?;
        if let Some(button) = near("[data-shows]") {
            toggle_key_visibility(&button);
        } else if let Some(button) = near("[data-copied]") {
            copy_field(button);
        } else if let Some(button) = near("button[name=notify][value=on]") {
            request_notification_permission(&event, button);
        }
    }

    /// Shows or hides the text in a field for API keys.
    fn toggle_key_visibility(button: &Element) {
        let field = button
            .get_attribute("data-shows")
            .and_then(|id| web_sys::window()?.document()?.get_element_by_id(&id)?.dyn_into::<HtmlInputElement>().ok());
        let Some(field) = field else { return };
        let is_hidden = field.type_() == "password";
        field.set_type(if is_hidden { "text" } else { "password" });
        let _ = button.set_attribute("aria-pressed", if is_hidden { "true" } else { "false" });
    }

    /// Copies the text of the field before the button, which then shows its `data-copied` for a moment.
    fn copy_field(button: Element) {
        let field = button.previous_element_sibling().and_then(|field| field.dyn_into::<HtmlInputElement>().ok());
        let (Some(field), Some(done)) = (field, button.get_attribute("data-copied")) else { return };
        clipboard::copy(field.value(), move |is_copied| {
            let label = button.text_content().filter(|label| is_copied && *label != done);
            if let Some(label) = label {
                button.set_text_content(Some(&done));
                set_timeout(move || button.set_text_content(Some(&label)), COPIED_SHOWN);
            }
        });
    }

    /// Asks the browser for permission before the setting is saved. If it is refused, a message says so and the
    /// setting stays.
    fn request_notification_permission(event: &ev::MouseEvent, button: Element) {
        if notification::is_allowed() {
            return;
        }
        event.prevent_default();
        notification::request_permission(move |is_allowed| {
            if is_allowed {
                if let Ok(button) = button.dyn_into::<HtmlElement>() {
                    button.click();
                }
                return;
            }
            show_notifications_blocked();
        });
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn enhance() {}
}

pub use real::enhance;
#[cfg(feature = "hydrate")]
pub use real::{TIMES, localize_times};
