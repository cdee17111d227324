//! A server page in the panel beside the chat: fetches it, shows its main content, and submits its forms. It is the page
//! that its address shows, so nothing of it is written twice; its markup comes from this server alone.

/// The heading of a shown page, and its notice about the previous action.
pub struct PageHeading {
    pub title: String,
    pub notice: Option<String>,
}

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::Promise;
    use leptos::ev::SubmitEvent;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{Document, DomParser, Element, HtmlFormElement, NodeList, Response, SupportedType};

    use super::PageHeading;
    use crate::browser::dom_morph::{collect_nodes, morph_children};
    use crate::browser::form::{form_fields, submit_for_response, submitter_field};
    use crate::browser::server_page::{TIMES, localize_times};

    /// The style sheet that server pages have beside that of the application.
    const SHEET: &str = "link[rel=stylesheet][href$='/plain.css']";
    const MAIN: &str = "#main.plain-main";
    /// A page of the settings; those of a chat are not in the navigation.
    const OTHER_SECTION: &str = ".plain-nav [aria-current=page]";

    /// The response to a request of the panel.
    pub struct PanelResponse {
        document: Document,
        /// The path and query from which it came, after redirects.
        pub address: String,
        /// The time after which the page asks to be fetched again.
        pub refresh_seconds: Option<u32>,
    }

    impl PanelResponse {
        fn find(&self, selector: &str) -> Option<Element> {
            self.document.query_selector(selector).ok()?
        }

        /// Adds the sheet of server pages to the document; returns the end of its loading.
        fn add_sheet(&self, shown: &Document) -> Option<Promise> {
            if shown.query_selector(SHEET).ok()?.is_some() {
                return None;
            }
            let link = shown.create_element("link").ok()?;
            link.set_attribute("rel", "stylesheet").ok()?;
            link.set_attribute("href", &self.find(SHEET)?.get_attribute("href")?).ok()?;
            let loading = Promise::new(&mut |done, _| {
                for event in ["load", "error"] {
                    let _ = link.add_event_listener_with_callback(event, &done);
                }
            });
            shown.query_selector("head").ok()??.append_child(&link).ok()?;
            Some(loading)
        }

        /// Takes the heading, which the panel has itself, and the notice: the announcer reads it, and a second live
        /// region would repeat it.
        fn take_heading(&self) -> PageHeading {
            let heading = self.find("#main > h1");
            let title = heading.as_ref().and_then(|heading| heading.text_content()).unwrap_or_default();
            if let Some(heading) = heading {
                heading.remove();
            }
            let notice = self.find("#main > [role=status]").and_then(|status| {
                let _ = status.remove_attribute("role");
                status.text_content().filter(|text| !text.is_empty())
            });
            PageHeading { title, notice }
        }
    }

    /// Returns whether it is a page that belongs beside the chat.
    pub fn is_of_chat(page: &PanelResponse) -> bool {
        page.find(MAIN).is_some() && page.find(OTHER_SECTION).is_none()
    }

    /// Shows the page in the element with this id, at the place that the fragment of `asked` names. An update is merged
    /// into what is shown, so that the focus and open disclosures stay.
    pub async fn show_page(page: &PanelResponse, id: &str, asked: &str, is_update: bool) -> Option<PageHeading> {
        let shown = web_sys::window()?.document()?;
        if let Some(loading) = page.add_sheet(&shown) {
            let _ = JsFuture::from(loading).await;
        }
        let (target, main) = (shown.get_element_by_id(id)?, page.find(MAIN)?);
        let heading = page.take_heading();
        // Other pages replace the chat's; the router would not know them.
        if let Ok(links) = main.query_selector_all("a[href]:not([target])") {
            set_attribute(&links, "rel", "external");
        }
        if is_update {
            morph_children(&target, &main);
        } else {
            target.set_text_content(None);
            for node in collect_nodes(&main.child_nodes()) {
                let _ = target.append_child(&node);
            }
        }
        if let Ok(times) = target.query_selector_all(TIMES) {
            localize_times(&times);
        }
        let place = asked.split_once('#').and_then(|(_, place)| shown.get_element_by_id(place));
        match place.filter(|place| target.contains(Some(place))) {
            Some(place) => place.scroll_into_view(),
            None if is_update => {}
            None => target.scroll_into_view(),
        }
        Some(heading)
    }

    fn set_attribute(elements: &NodeList, name: &str, value: &str) {
        for node in collect_nodes(elements) {
            if let Some(element) = node.dyn_ref::<Element>() {
                let _ = element.set_attribute(name, value);
            }
        }
    }

    /// Fetches the page at an address of this server.
    pub async fn fetch(address: &str) -> Option<PanelResponse> {
        let answer: JsValue = JsFuture::from(web_sys::window()?.fetch_with_str(address)).await.ok()?;
        read(answer.dyn_into().ok()?).await
    }

    async fn read(answer: Response) -> Option<PanelResponse> {
        let origin = web_sys::window()?.location().origin().ok()?;
        let address = answer.url().strip_prefix(&origin)?.to_owned();
        let refresh_seconds = answer.headers().get("refresh").ok().flatten().and_then(|text| text.parse().ok());
        let html = JsFuture::from(answer.text().ok()?).await.ok()?.as_string()?;
        // Scripts of a parsed document never run.
        let document = DomParser::new().ok()?.parse_from_string(&html, SupportedType::TextHtml).ok()?;
        Some(PanelResponse { document, address, refresh_seconds })
    }

    fn form_of(event: &SubmitEvent) -> Option<HtmlFormElement> {
        event.target()?.dyn_into().ok()
    }

    /// Returns the address to which a form leads that only asks (`GET`).
    pub fn asked_address(event: &SubmitEvent) -> Option<String> {
        let form = form_of(event).filter(|form| form.method() == "get")?;
        let fields = form_fields(&form, submitter_field(event))?;
        Some([form.get_attribute("action")?, "?".to_owned(), fields.to_string().into()].concat())
    }

    /// Submits a form, and returns the page to which that leads.
    pub fn submit(event: &SubmitEvent) -> impl Future<Output = Option<PanelResponse>> + use<> {
        let form = form_of(event);
        let fields = form.as_ref().and_then(|form| form_fields(form, submitter_field(event)));
        async move { read(submit_for_response(&form?, &fields?).await?).await }
    }

    /// Scrolls to the element with this id.
    pub fn scroll_to(id: &str) {
        let element = web_sys::window().and_then(|window| window.document()?.get_element_by_id(id));
        if let Some(element) = element {
            element.scroll_into_view();
        }
    }

    /// Leaves the chat for another page of this server.
    pub fn leave_for(address: &str) {
        let _ = web_sys::window().map(|window| window.location().assign(address));
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::ev::SubmitEvent;

    use super::PageHeading;

    /// The response to a request of the panel.
    pub struct PanelResponse {
        pub address: String,
        pub refresh_seconds: Option<u32>,
    }

    pub fn is_of_chat(_page: &PanelResponse) -> bool {
        false
    }

    pub async fn show_page(_page: &PanelResponse, _id: &str, _asked: &str, _is_update: bool) -> Option<PageHeading> {
        None
    }

    pub async fn fetch(_address: &str) -> Option<PanelResponse> {
        None
    }

    pub fn asked_address(_event: &SubmitEvent) -> Option<String> {
        None
    }

    pub fn submit(_event: &SubmitEvent) -> impl Future<Output = Option<PanelResponse>> + use<> {
        std::future::ready(None)
    }

    pub fn scroll_to(_id: &str) {}

    pub fn leave_for(_address: &str) {}
}

pub use real::{PanelResponse, asked_address, fetch, is_of_chat, leave_for, scroll_to, show_page, submit};
