//! The clipboard: copies text, responses and page addresses, and extracts the text that is copied from the page.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::{Array, Function, Promise, Reflect};
    use leptos::ev::MouseEvent;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};

    use crate::browser::api_request;

    /// Copies a text and reports whether that worked.
    pub fn copy(text: String, on_done: impl FnOnce(bool) + 'static) {
        spawn_local(async move {
            let copied = copy_with_clipboard_api(&text).await || copy_with_exec_command(&text);
            on_done(copied);
        });
    }

    /// Copies the text at a path of this site. The write starts at once with a promise of the text, because browsers
    /// allow it only for a short time after the click, and the response may take longer.
    pub fn copy_response(path: String, on_done: impl FnOnce(bool) + 'static) {
        let writing = write_promise(&path).map(JsFuture::from);
        spawn_local(async move {
            let is_written = match writing {
                Some(writing) => writing.await.is_ok(),
                None => false,
            };
            let copied = is_written
                || match api_request::get_text(&path).await {
                    Ok(text) => copy_with_clipboard_api(&text).await || copy_with_exec_command(&text),
                    Err(_) => false,
                };
            on_done(copied);
        });
    }

    /// Starts a clipboard write with a promise of the text; `None` if the browser does not support that.
    fn write_promise(path: &str) -> Option<Promise> {
        let window = web_sys::window()?;
        let clipboard = Reflect::get(&window.navigator(), &"clipboard".into()).ok()?;
        let write: Function = Reflect::get(&clipboard, &"write".into()).ok()?.dyn_into().ok()?;
        let class = |name: &str| Reflect::get(&js_sys::global(), &name.into()).ok()?.dyn_into::<Function>().ok();
        let (item, blob) = (class("ClipboardItem")?, class("Blob")?);
        let path = path.to_owned();
        let text = future_to_promise(async move {
            let text = api_request::get_text(&path).await.map_err(|_| JsValue::NULL)?;
            let kind = object("type", &"text/plain".into());
            Reflect::construct(&blob, &Array::of2(&Array::of1(&text.into()), &kind))
        });
        let item = Reflect::construct(&item, &Array::of1(&object("text/plain", &text))).ok()?;
        write.call1(&clipboard, &Array::of1(&item)).ok()?.dyn_into().ok()
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

    /// Returns the code that a click on a block's copy button asks for (`data-copy` in rendered Markdown).
    pub fn code_of_copy_click(click: &MouseEvent) -> Option<String> {
        let target = click.target()?.dyn_into::<web_sys::Element>().ok()?;
        let button = target.closest("[data-copy='code']").ok()??;
        button.closest(".md-code").ok()??.query_selector("pre code").ok()??.text_content()
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
            let element = found.item(at)?.dyn_into::<web_sys::HtmlElement>().ok()?;
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
            if let Some(focused) = focused.and_then(|focused| focused.dyn_into::<web_sys::HtmlElement>().ok()) {
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

    pub fn copy_response(_path: String, _on_done: impl FnOnce(bool) + 'static) {}

    pub fn code_of_copy_click(_click: &MouseEvent) -> Option<String> {
        None
    }

    pub fn last_code_block() -> Option<String> {
        None
    }

    pub fn visible_text(_selector: &str) -> Option<String> {
        None
    }
}

pub use real::{code_of_copy_click, copy, copy_page_address, copy_response, last_code_block, visible_text};
