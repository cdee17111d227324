//! The clipboard: copies text, responses and page addresses, and extracts the text that is copied from the page.

#[cfg(feature = "hydrate")]
mod real {
    use std::time::Duration;

    use js_sys::{Array, Function, JsString, Promise, Reflect, RegExp};
    use leptos::ev::MouseEvent;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};
    use web_sys::{Element, HtmlElement, Node};

    use crate::browser::api_request;

    /// The time for which a button shows that it has copied.
    const SHOWN: Duration = Duration::from_millis(1_500);

    /// Copies a text and reports whether that worked.
    pub fn copy(text: String, on_done: impl FnOnce(bool) + 'static) {
        copy_with_html(text, None, on_done);
    }

    /// Copies a text, and the same as HTML for programs that can paste it.
    pub fn copy_with_html(text: String, html: Option<String>, on_done: impl FnOnce(bool) + 'static) {
        copy_forms(ClipboardSource::Text(text), html, Box::new(on_done));
    }

    /// Copies the text at a path of this site, and HTML beside it.
    pub fn copy_response(path: String, html: Option<String>, on_done: impl FnOnce(bool) + 'static) {
        copy_forms(ClipboardSource::Path(path), html, Box::new(on_done));
    }

    /// The text to copy, or its path on this site.
    enum ClipboardSource {
        Text(String),
        Path(String),
    }

    /// Not generic: every caller would bring a state machine of its own into the program.
    fn copy_forms(source: ClipboardSource, html: Option<String>, on_done: Box<dyn FnOnce(bool)>) {
        let writing = start_writing(&source, html).map(JsFuture::from);
        spawn_local(async move {
            let is_written = match writing {
                Some(writing) => writing.await.is_ok(),
                None => false,
            };
            let text = match source {
                _ if is_written => None,
                ClipboardSource::Text(text) => Some(text),
                ClipboardSource::Path(path) => api_request::get_text(&path).await.ok(),
            };
            let is_copied = match text {
                Some(text) => copy_with_clipboard_api(&text).await || copy_with_exec_command(&text),
                None => is_written,
            };
            on_done(is_copied);
        });
    }

    /// Starts a write of more than a text, or of a response. That is written at once as a promise, because browsers allow
    /// it only for a short time after the click, and the response may take longer. `None` for a mere text, and if the
    /// browser does not support it.
    fn start_writing(source: &ClipboardSource, html: Option<String>) -> Option<Promise> {
        class("ClipboardItem").ok()?;
        let text = match source {
            ClipboardSource::Text(text) => blob("text/plain", &JsValue::from_str(html.as_ref().map(|_| text)?)).ok()?,
            ClipboardSource::Path(path) => {
                let path = path.clone();
                let text = future_to_promise(async move {
                    let text = api_request::get_text(&path).await.map_err(|_| JsValue::NULL)?;
                    blob("text/plain", &text.into())
                });
                text.into()
            }
        };
        let mut forms = vec![("text/plain", text)];
        forms.extend(html.and_then(|html| Some(("text/html", blob("text/html", &html.into()).ok()?))));
        write_item(&forms)
    }

    /// Starts a clipboard write of one item in several forms: blobs, or promises of blobs. `None` if the browser does not
    /// support that.
    fn write_item(forms: &[(&str, JsValue)]) -> Option<Promise> {
        let window = web_sys::window()?;
        let clipboard = Reflect::get(&window.navigator(), &"clipboard".into()).ok()?;
        let write: Function = Reflect::get(&clipboard, &"write".into()).ok()?.dyn_into().ok()?;
        let data = JsValue::from(js_sys::Object::new());
        for (kind, form) in forms {
            Reflect::set(&data, &(*kind).into(), form).ok()?;
        }
        let item = Reflect::construct(&class("ClipboardItem").ok()?, &Array::of1(&data)).ok()?;
        write.call1(&clipboard, &Array::of1(&item)).ok()?.dyn_into().ok()
    }

    fn blob(kind: &str, text: &JsValue) -> Result<JsValue, JsValue> {
        Reflect::construct(&class("Blob")?, &Array::of2(&Array::of1(text), &object("type", &kind.into())))
    }

    fn class(name: &str) -> Result<Function, JsValue> {
        Reflect::get(&js_sys::global(), &name.into())?.dyn_into()
    }

    fn object(key: &str, value: &JsValue) -> JsValue {
        let object = js_sys::Object::new();
        let _ = Reflect::set(&object, &key.into(), value);
        object.into()
    }

    /// Copies the absolute address of a page of this site.
    pub fn copy_page_address(path: &str, on_done: impl FnOnce(bool) + 'static) {
        let origin = web_sys::window().and_then(|window| window.location().origin().ok()).unwrap_or_default();
        copy(format!("{origin}{path}"), on_done);
    }

    /// Copies the content that a clicked copy button in rendered Markdown names (`data-copy`), and shows the word
    /// `done` on the button for a moment. Other clicks do nothing.
    pub fn copy_as_clicked(click: &MouseEvent, done: &'static str, on_done: impl FnOnce(bool) + 'static) {
        let Some((button, text, html)) = clicked_content(click) else { return };
        copy_with_html(text, html, move |copied| {
            let label = button.text_content().filter(|label| copied && label != done);
            if let Some(label) = label {
                button.set_text_content(Some(done));
                leptos::prelude::set_timeout(move || button.set_text_content(Some(&label)), SHOWN);
            }
            on_done(copied);
        });
    }

    /// Returns the button, the text, and the HTML of a table.
    fn clicked_content(click: &MouseEvent) -> Option<(Element, String, Option<String>)> {
        let target = click.target()?.dyn_into::<Element>().ok()?;
        let button = target.closest("[data-copy]").ok()??;
        let kind = button.get_attribute("data-copy")?;
        if kind == "code" {
            let code = button.closest(".md-code").ok()??.query_selector("pre code").ok()??.text_content()?;
            return Some((button, code, None));
        }
        let table = button.closest(".md-tabled").ok()??.query_selector("table").ok()??;
        let html = (kind == "table").then(|| portable_html(&table)).flatten();
        Some((button, table_text(&table, kind == "csv")?, html))
    }

    /// Returns a table as Markdown, or as comma-separated values (RFC 4180).
    fn table_text(table: &Element, as_csv: bool) -> Option<String> {
        let rows = table.query_selector_all("tr").ok()?;
        let mut text = String::new();
        for row in 0..rows.length() {
            let cells = rows.item(row)?.child_nodes();
            let mut rule = String::new();
            for column in 0..cells.length() {
                // A row has nothing but cells.
                let cell: HtmlElement = cells.item(column)?.unchecked_into();
                let word = cell.inner_text();
                let word = word.trim();
                if !as_csv {
                    let word = word.replace('|', "\\|").replace('\n', "<br>");
                    text += &["| ", &word, " "].concat();
                    rule += match &*cell.class_name() {
                        "md-left" => "| :-- ",
                        "md-center" => "| :-: ",
                        "md-right" => "| --: ",
                        _ => "| --- ",
                    };
                    continue;
                }
                if column > 0 {
                    text += ",";
                }
                if word.contains(['"', ',', '\n']) {
                    text += &["\"", &word.replace('"', "\"\""), "\""].concat();
                } else {
                    text += word;
                }
            }
            text += if as_csv { "\r\n" } else { "|\n" };
            if row == 0 && !as_csv {
                text += &[&*rule, "|\n"].concat();
            }
        }
        Some(text)
    }

    /// Returns the rendered text of the elements that match as HTML for other programs.
    pub fn rendered_html(selector: &str) -> Option<String> {
        let found = web_sys::window()?.document()?.query_selector_all(selector).ok()?;
        let html: String = (0..found.length()).filter_map(|at| portable_html(&found.item(at)?)).collect();
        (!html.is_empty()).then_some(html)
    }

    /// Returns the HTML of rendered text without the parts that belong to this page: buttons, marks of sources, and
    /// confirmations before links. Its headings are at the levels that the text gave them.
    fn portable_html(rendered: &Node) -> Option<String> {
        // Both casts hold: rendered text is an element, and selectors match only elements.
        let copy: Element = rendered.clone_node_with_deep(true).ok()?.unchecked_into();
        let found = copy.query_selector_all(".md-code-head, .md-table-tools, .md-cite, a[href^='/']").ok()?;
        for at in 0..found.length() {
            let element: Element = found.item(at)?.unchecked_into();
            if !element.has_attribute("href") {
                element.remove();
                continue;
            }
            // The title ends with the address; a bare link is its address. An address has no space.
            let address = element.get_attribute("title").or_else(|| element.text_content()).unwrap_or_default();
            let address = address.rsplit(' ').next().unwrap_or_default();
            let scheme = if address.contains("://") { "" } else { "https://" };
            let _ = element.set_attribute("href", &[scheme, address].concat());
        }
        let headings = RegExp::new("<h\\d( class=\"md-h(\\d)\".*?</h)\\d", "gs");
        Some(JsString::from(copy.outer_html()).replace_by_pattern(&headings, "<h$2$1$2").into())
    }

    /// Returns the text of the lowest code block on the page.
    pub fn last_code_block() -> Option<String> {
        let all = web_sys::window()?.document()?.query_selector_all(".md-code pre code").ok()?;
        all.item(all.length().checked_sub(1)?)?.text_content()
    }

    /// Returns the text of the elements that match as it is rendered, with a blank line between them; `None` if there
    /// is none.
    pub fn visible_text(selector: &str) -> Option<String> {
        let found = web_sys::window()?.document()?.query_selector_all(selector).ok()?;
        let parts = (0..found.length()).filter_map(|at| {
            let element = found.item(at)?.dyn_into::<HtmlElement>().ok()?;
            // Parts far outside the viewport are not laid out (`content-visibility`), and `innerText` would omit them.
            let _ = element.set_attribute("data-whole", "");
            let text = element.inner_text().trim().to_owned();
            let _ = element.remove_attribute("data-whole");
            Some(text)
        });
        let text = parts.collect::<Vec<_>>().join("\n\n");
        (!text.is_empty()).then_some(text)
    }

    async fn copy_with_clipboard_api(text: &str) -> bool {
        let Some(navigator) = web_sys::window().map(|window| window.navigator()) else { return false };
        // The clipboard API exists only on https and on localhost.
        let clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).unwrap_or(JsValue::UNDEFINED);
        let Ok(clipboard) = clipboard.dyn_into::<web_sys::Clipboard>() else { return false };
        JsFuture::from(clipboard.write_text(text)).await.is_ok()
    }

    /// Fallback for plain http: selects the text in a temporary field and runs the browser's `copy` command.
    fn copy_with_exec_command(text: &str) -> bool {
        let copy = || {
            let document = web_sys::window()?.document()?;
            let focused = document.active_element();
            let field = document.create_element("textarea").ok()?.dyn_into::<web_sys::HtmlTextAreaElement>().ok()?;
            field.set_value(text);
            field.set_class_name("quiet");
            field.set_read_only(true);
            document.body()?.append_child(&field).ok()?;
            field.select();
            let document = document.dyn_into::<web_sys::HtmlDocument>().ok()?;
            let copied = document.exec_command("copy").unwrap_or(false);
            field.remove();
            if let Some(focused) = focused.and_then(|focused| focused.dyn_into::<HtmlElement>().ok()) {
                let _ = focused.focus();
            }
            Some(copied)
        };
        copy().unwrap_or(false)
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::ev::MouseEvent;

    pub fn copy(_text: String, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn copy_page_address(_path: &str, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn copy_with_html(_text: String, _html: Option<String>, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn copy_response(_path: String, _html: Option<String>, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn copy_as_clicked(_click: &MouseEvent, _done: &'static str, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn rendered_html(_selector: &str) -> Option<String> {
        None
    }

    pub fn last_code_block() -> Option<String> {
        None
    }

    pub fn visible_text(_selector: &str) -> Option<String> {
        None
    }
}

pub use real::{
    copy, copy_as_clicked, copy_page_address, copy_response, copy_with_html, last_code_block, rendered_html,
    visible_text,
};
