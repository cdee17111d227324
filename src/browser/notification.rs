//! System notifications. The API is looked up by name instead of through `web_sys`, because some browsers do not have
//! it. The service worker shows them if there is one, because mobile browsers refuse those of a page.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::{Array, Function, Object, Promise, Reflect};
    use wasm_bindgen::closure::Closure;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::{JsFuture, spawn_local};
    use web_sys::{MessageEvent, MessagePort};

    use crate::browser::service_worker;

    fn class() -> Option<Function> {
        Reflect::get(&js_sys::global(), &"Notification".into()).ok()?.dyn_into().ok()
    }

    /// Returns whether this site may show notifications.
    pub fn is_allowed() -> bool {
        let permission = class().and_then(|class| Reflect::get(&class, &"permission".into()).ok());
        permission.and_then(|word| word.as_string()).as_deref() == Some("granted")
    }

    /// Asks the user for permission, which browsers allow only after a click or key, and reports the result.
    pub fn request_permission(on_answer: impl FnOnce(bool) + 'static) {
        let asking = || -> Option<Promise> {
            let class = class()?;
            let ask: Function = Reflect::get(&class, &"requestPermission".into()).ok()?.dyn_into().ok()?;
            ask.call0(&class).ok()?.dyn_into().ok()
        };
        let asking = asking().map(JsFuture::from);
        spawn_local(async move {
            if let Some(asking) = asking {
                let _ = asking.await;
            }
            on_answer(is_allowed());
        });
    }

    fn method(of: &JsValue, name: &str) -> Option<Function> {
        Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
    }

    /// Shows a notification, which replaces one with the same tag. A click on it brings a page to the front and passes
    /// it the tag: a page that listens ([`listen_for_clicks`]), or this one if no worker shows it.
    pub async fn show(title: &str, body: &str, tag: &str, on_press: impl Fn() + 'static) {
        let options = Object::new();
        for (key, value) in [("body", body), ("tag", tag), ("data", tag), ("icon", "/icon-192.png")] {
            let _ = Reflect::set(&options, &key.into(), &value.into());
        }
        if !show_by_worker(title, &options).await {
            show_by_page(title, &options, on_press);
        }
    }

    /// Returns false if no worker is active yet or the browser refuses.
    async fn show_by_worker(title: &str, options: &Object) -> bool {
        let Some(container) = service_worker::worker_container() else { return false };
        let Ok(registration) = JsFuture::from(container.get_registration()).await else { return false };
        let promise = method(&registration, "showNotification")
            .and_then(|show| show.call2(&registration, &title.into(), options).ok())
            .and_then(|promise| promise.dyn_into::<Promise>().ok());
        match promise {
            Some(promise) => JsFuture::from(promise).await.is_ok(),
            None => false,
        }
    }

    fn show_by_page(title: &str, options: &Object, on_press: impl Fn() + 'static) {
        // Some browsers have the class but refuse to construct an instance.
        let made = class().and_then(|class| Reflect::construct(&class, &Array::of2(&title.into(), options)).ok());
        let Some(note) = made else { return };
        let of_press = note.clone();
        let press = Closure::<dyn Fn()>::new(move || {
            if let Some(window) = web_sys::window() {
                let _ = window.focus();
            }
            if let Some(close) = method(&of_press, "close") {
                let _ = close.call0(&of_press);
            }
            on_press();
        });
        let _ = Reflect::set(&note, &"onclick".into(), press.as_ref());
        // The callback lives as long as the page, because a notification may be clicked hours later.
        let _: JsValue = press.into_js_value();
    }

    /// Receives the tag of a clicked notification from the worker, and acknowledges it, which means that this page
    /// handles the click.
    pub fn listen_for_clicks(on_press: impl Fn(String) + 'static) {
        thread_local! {
            static HEARS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
        }
        let Some(container) = service_worker::worker_container().filter(|_| !HEARS.replace(true)) else { return };
        let hear = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let (Some(tag), Ok(port)) = (event.data().as_string(), event.ports().get(0).dyn_into::<MessagePort>())
            else {
                return;
            };
            let _ = port.post_message(&JsValue::TRUE);
            on_press(tag);
        });
        container.set_onmessage(Some(hear.as_ref().unchecked_ref()));
        let _: JsValue = hear.into_js_value();
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_allowed() -> bool {
        false
    }

    pub fn request_permission(_on_answer: impl FnOnce(bool) + 'static) {}

    pub async fn show(_title: &str, _body: &str, _tag: &str, _on_press: impl Fn() + 'static) {}

    pub fn listen_for_clicks(_on_press: impl Fn(String) + 'static) {}
}

pub use real::{is_allowed, listen_for_clicks, request_permission, show};
