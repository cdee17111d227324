//! Settings that save themselves: a form within an element with `data-saves` is sent as soon as something in it was
//! changed, and the page that the server answers with says what came of it. Of that page the element is taken over, with
//! the errors beside its fields, and the sentence about the deed. Without script it is a form with a button.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::time::Duration;

    use leptos::prelude::{set_timeout, window_event_listener};
    use leptos::{ev, web_sys};
    use wasm_bindgen::JsCast;
    // Nothing is mounted on a plain page, so Leptos has no tasks there.
    use wasm_bindgen_futures::spawn_local;
    use web_sys::{Document, DomParser, Element, HtmlElement, HtmlFormElement, HtmlTextAreaElement, SupportedType};

    use crate::browser::alike::{attributes, become_like, children, nodes};
    use crate::browser::form::{self, Button, TYPED};

    const REGION: &str = "[data-saves]";
    /// What the page says about a deed.
    const SAID: &str = ".plain-main > [role=status]";
    const UNSENT: &str = "[data-saves] [data-typed]";
    /// A long text is saved once nobody has typed on for this long: it may be left in many ways.
    const WRITTEN: Duration = Duration::from_millis(1_500);
    /// What in a region can have the focus when what had it is gone.
    const CONTROLS: &str = "input:not([type=hidden]), select, textarea, button:not(.without-script)";
    /// Marks of the page's root that are not a setting.
    const NO_SETTINGS: [&str; 2] = ["data-hydrated", "data-basic"];
    /// How long it is said that something was saved.
    const SAID_FOR: Duration = Duration::from_secs(6);

    /// A form that is to be sent, and the button that was pressed.
    struct Asked {
        form: HtmlFormElement,
        button: Option<Button>,
    }

    thread_local! {
        /// What waits until the answer to another form is here: cookies are made of what they were before.
        static WAITING: RefCell<VecDeque<Asked>> = const { RefCell::new(VecDeque::new()) };
        static IS_BUSY: Cell<bool> = const { Cell::new(false) };
        /// How often something was said.
        static SAID_TIMES: Cell<u32> = const { Cell::new(0) };
        /// How often something was typed.
        static TYPED_TIMES: Cell<u32> = const { Cell::new(0) };
    }

    /// Begins it, on pages that have such an element.
    pub fn begin() {
        if document().is_some_and(|document| matches!(document.query_selector(REGION), Ok(Some(_)))) {
            drop(window_event_listener(ev::input, typed));
            drop(window_event_listener(ev::change, changed));
            drop(window_event_listener(ev::submit, submitted));
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

    /// The form that the target of an event belongs to, where its page saves it.
    fn form_of(event: &web_sys::Event) -> Option<(Element, HtmlFormElement)> {
        let form = event.target()?.dyn_into::<Element>().ok()?.closest("form").ok()??;
        let form = form.dyn_into::<HtmlFormElement>().ok().filter(|form| form.method() == "post")?;
        Some((form.closest(REGION).ok()??, form))
    }

    fn typed(event: ev::Event) {
        let Some((_, form)) = form_of(&event) else { return };
        let _ = form.set_attribute(TYPED, "");
        let times = TYPED_TIMES.get().wrapping_add(1);
        TYPED_TIMES.set(times);
        if event.target().is_some_and(|target| target.has_type::<HtmlTextAreaElement>()) {
            let written = move || {
                if TYPED_TIMES.get() == times && form.has_attribute(TYPED) {
                    ask(Asked { form, button: None });
                }
            };
            set_timeout(written, WRITTEN);
        }
    }

    fn changed(event: ev::Event) {
        if let Some((_, form)) = form_of(&event) {
            ask(Asked { form, button: None });
        }
    }

    /// A button of the form, or Enter in a field: whose change is being saved already.
    fn submitted(event: ev::SubmitEvent) {
        let Some((_, form)) = form_of(&event).filter(|_| !event.default_prevented()) else { return };
        event.prevent_default();
        let button = form::button_of(&event);
        if button.is_some() || !IS_BUSY.get() {
            ask(Asked { form, button });
        }
    }

    fn ask(asked: Asked) {
        WAITING.with_borrow_mut(|waiting| waiting.push_back(asked));
        if !IS_BUSY.replace(true) {
            spawn_local(async {
                while let Some(asked) = WAITING.with_borrow_mut(VecDeque::pop_front) {
                    save(asked).await;
                }
                IS_BUSY.set(false);
            });
        }
    }

    async fn save(Asked { form, button }: Asked) {
        let (Some(document), Ok(Some(region))) = (document(), form.closest(REGION)) else { return };
        let _ = form.remove_attribute(TYPED);
        let Ok(Some(said)) = document.query_selector(SAID) else { return };
        // What was said before is said again where it is true again.
        said.set_text_content(None);
        let _ = said.remove_attribute("data-floats");
        let answer = match form::fields(&form, button) {
            Some(fields) => form::answer(&form, &fields).await,
            None => None,
        };
        let fresh = answer.as_deref().and_then(parsed);
        let new = fresh.as_ref().and_then(|fresh| fresh.get_element_by_id(&region.id()));
        let (Some(fresh), Some(new)) = (fresh, new) else {
            // What did not arrive is not left without a word.
            let _ = form.set_attribute(TYPED, "");
            return not_reached(&said);
        };
        if !take_settings(&document, &fresh) || !say(&said, &fresh) {
            return;
        }
        // Who types on there sees what the server made of it after the next change.
        if matches!(document.query_selector(UNSENT), Ok(None)) {
            take_over(&document, &region, &new);
        }
    }

    fn parsed(html: &str) -> Option<Document> {
        DomParser::new().ok()?.parse_from_string(html, SupportedType::TextHtml).ok()
    }

    /// Says what the page says that a form was answered with; without one, that it was not taken.
    pub fn tell(html: Option<&str>) {
        let Some(Ok(Some(said))) = document().map(|document| document.query_selector(SAID)) else { return };
        match html.and_then(parsed) {
            Some(fresh) => drop(say(&said, &fresh)),
            None => not_reached(&said),
        }
    }

    fn not_reached(said: &Element) {
        SAID_TIMES.set(SAID_TIMES.get().wrapping_add(1));
        said.set_text_content(said.get_attribute("data-not-saved").as_deref());
        let _ = said.set_attribute("data-floats", "danger");
    }

    /// False where the other page says nothing, because it is none of ours.
    fn say(said: &Element, fresh: &Document) -> bool {
        let Ok(Some(sentence)) = fresh.query_selector(SAID) else {
            not_reached(said);
            return false;
        };
        let is_done = sentence.query_selector(".ok").is_ok_and(|ok| ok.is_some());
        let _ = said.set_attribute("data-floats", if is_done { "ok" } else { "" });
        children(said, &sentence);
        let times = SAID_TIMES.get().wrapping_add(1);
        SAID_TIMES.set(times);
        if is_done {
            let said = said.clone();
            let quiet = move || {
                if SAID_TIMES.get() == times {
                    said.set_text_content(None);
                }
            };
            set_timeout(quiet, SAID_FOR);
        }
        true
    }

    /// The marks of the page's root are what was chosen. Another language is another page: false.
    fn take_settings(document: &Document, fresh: &Document) -> bool {
        let (Some(root), Some(new)) = (document.document_element(), fresh.document_element()) else { return true };
        if root.get_attribute("lang") != new.get_attribute("lang") {
            let _ = web_sys::window().map(|window| window.location().reload());
            return false;
        }
        let is_setting = |name: &String| name.starts_with("data-") && !NO_SETTINGS.contains(&name.as_str());
        attributes(&root, &new, is_setting);
        if let (Ok(Some(foot)), Ok(Some(new))) =
            (document.query_selector(".plain-foot"), fresh.query_selector(".plain-foot"))
        {
            // Its form leads back to this page, not to the one that was answered with.
            for (button, new) in nodes(&buttons(&foot)).iter().zip(nodes(&buttons(&new))) {
                become_like(button, &new);
            }
        }
        true
    }

    fn buttons(of: &Element) -> web_sys::NodeList {
        of.query_selector_all("button").unwrap_or_else(|_| of.child_nodes())
    }

    /// Makes the region what it is on the new page; the focus stays where it is, or near.
    fn take_over(document: &Document, region: &Element, new: &Element) {
        let had_focus = document.active_element().is_some_and(|active| region.contains(Some(&active)));
        become_like(region, new);
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
    pub fn begin() {}

    pub fn tell(_html: Option<&str>) {}
}

pub use real::{begin, tell};
