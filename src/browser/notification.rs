//! Notes that the system shows beside the page. By name and not by `web_sys`, because some browsers have none.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::{Array, Function, Object, Promise, Reflect};
    use wasm_bindgen::closure::Closure;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::{JsFuture, spawn_local};

    fn class() -> Option<Function> {
        Reflect::get(&js_sys::global(), &"Notification".into()).ok()?.dyn_into().ok()
    }

    /// Whether this site may show them.
    pub fn is_allowed() -> bool {
        let permission = class().and_then(|class| Reflect::get(&class, &"permission".into()).ok());
        permission.and_then(|word| word.as_string()).as_deref() == Some("granted")
    }

    /// Asks the person, who has just pressed something; says whether they may be shown.
    pub fn ask(on_answer: impl FnOnce(bool) + 'static) {
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

    /// Shows one, in the place of another with the same tag. A press of it brings the page to the front first.
    pub fn show(title: &str, body: &str, tag: &str, on_press: impl Fn() + 'static) {
        let options = Object::new();
        for (key, value) in [("body", body), ("tag", tag), ("icon", "/icon-192.png")] {
            let _ = Reflect::set(&options, &key.into(), &value.into());
        }
        // Some browsers have the class and refuse to make one.
        let made = class().and_then(|class| Reflect::construct(&class, &Array::of2(&title.into(), &options)).ok());
        let Some(note) = made else { return };
        let of_press = note.clone();
        let press = Closure::<dyn Fn()>::new(move || {
            if let Some(window) = web_sys::window() {
                let _ = window.focus();
            }
            let close = Reflect::get(&of_press, &"close".into()).ok().and_then(|it| it.dyn_into::<Function>().ok());
            if let Some(close) = close {
                let _ = close.call0(&of_press);
            }
            on_press();
        });
        let _ = Reflect::set(&note, &"onclick".into(), press.as_ref());
        // As long as the page: a note may be pressed hours later.
        let _: JsValue = press.into_js_value();
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn is_allowed() -> bool {
        false
    }

    pub fn ask(_on_answer: impl FnOnce(bool) + 'static) {}

    pub fn show(_title: &str, _body: &str, _tag: &str, _on_press: impl Fn() + 'static) {}
}

pub use real::{ask, is_allowed, show};
