//! The application takes over the page in pieces, and between two of them the browser answers whoever is there already: a
//! browser compiles each function when it is first called, on the thread that answers, and that is most of the time.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::sync::Arc;

    use any_spawner::{CustomExecutor, Executor, PinnedFuture, PinnedLocalFuture};
    use hydration_context::{HydrateSharedContext, SharedContext};
    use leptos::prelude::*;
    use wasm_bindgen_futures::{JsFuture, spawn_local};

    /// How long a piece may be, ms. A task of 50 is one that people notice, on a device that is four times as slow.
    const PIECE_MS: f64 = 8.0;

    thread_local! {
        /// What was begun while the page is taken over: effects, above all. Each begins when the whole page has been taken
        /// over, because before that it would change what the server drew. Afterwards everything begins at once.
        static HELD: RefCell<Option<VecDeque<PinnedLocalFuture<()>>>> = RefCell::new(Some(VecDeque::new()));
    }

    /// What runs Leptos's tasks.
    struct Tasks;

    impl CustomExecutor for Tasks {
        fn spawn(&self, task: PinnedFuture<()>) {
            self.spawn_local(task);
        }

        fn spawn_local(&self, task: PinnedLocalFuture<()>) {
            let free = HELD.with_borrow_mut(|held| match held {
                Some(held) => {
                    held.push_back(task);
                    None
                }
                None => Some(task),
            });
            free.map(spawn_local);
        }

        fn poll_local(&self) {}
    }

    /// The next one; when there is none, the time of holding is over.
    fn next() -> Option<PinnedLocalFuture<()>> {
        HELD.with_borrow_mut(|held| {
            let next = held.as_mut()?.pop_front();
            if next.is_none() {
                *held = None;
            }
            next
        })
    }

    /// Lets the browser do what waits. Nobody waits for a page that is not seen, and its timers may take a second.
    async fn breathe() {
        let Some(window) = web_sys::window() else { return };
        if window.document().is_some_and(|document| document.hidden()) {
            return;
        }
        let _ = JsFuture::from(js_sys::Promise::new(&mut |over, _| {
            let _ = window.set_timeout_with_callback(&over);
        }))
        .await;
    }

    /// Hydrates `<body>` with the application, and gives back when it is all alive.
    pub async fn wake<V: IntoView>(app: fn() -> V) {
        // Of the module's start, which is in the same task.
        breathe().await;
        let _ = Executor::init_custom_executor(Tasks);
        let context = Arc::new(HydrateSharedContext::new());
        let owner = Owner::new_root(Some(context.clone()));
        let view = owner.with(|| app().into_view());
        breathe().await;
        let body = leptos::prelude::document().body();
        let state = body.map(|body| owner.with(|| view.hydrate_from::<true>(&body)));
        context.hydration_complete();
        // The page is there as long as its document.
        std::mem::forget((owner, state));
        let mut began = js_sys::Date::now();
        while let Some(task) = next() {
            spawn_local(task);
            // It is behind us in the queue, and we behind it.
            let _ = JsFuture::from(js_sys::Promise::resolve(&wasm_bindgen::JsValue::NULL)).await;
            if js_sys::Date::now() - began >= PIECE_MS {
                breathe().await;
                began = js_sys::Date::now();
            }
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub async fn wake<V>(_app: fn() -> V) {}
}

pub use real::wake;
