//! Time-sliced hydration: hydrates the views, then starts the deferred effects in slices of 8 ms. Most of the time is
//! spent on compiling functions, which browsers do at their first call on the main thread, so the slices let input be
//! handled in between.

#[cfg(feature = "hydrate")]
mod real {
    use std::cell::RefCell;
    use std::future::{pending, poll_fn};
    use std::sync::Arc;
    use std::task::Poll;
    use std::time::Duration;

    use any_spawner::{CustomExecutor, Executor, PinnedFuture, PinnedLocalFuture};
    use hydration_context::{HydrateSharedContext, SharedContext};
    use leptos::prelude::*;
    use wasm_bindgen_futures::spawn_local;

    use crate::browser::{clock, document};

    /// Length of a slice in ms. A task of 50 ms is noticeable, and devices can be four times as slow.
    const SLICE_MS: i64 = 8;

    thread_local! {
        /// Tasks that were spawned during hydration, above all effects; `None` once it is over. They start after all
        /// views are hydrated, because an earlier change to the server's markup would break hydration. Later tasks
        /// start at once.
        static HELD: RefCell<Option<Vec<PinnedLocalFuture<()>>>> = const { RefCell::new(Some(Vec::new())) };
        /// Callbacks that run before any input event is handled.
        static FIRST: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
    }

    /// Executor for Leptos that defers tasks during hydration.
    struct SlicedExecutor;

    impl CustomExecutor for SlicedExecutor {
        fn spawn(&self, task: PinnedFuture<()>) {
            self.spawn_local(task);
        }

        fn spawn_local(&self, task: PinnedLocalFuture<()>) {
            let free = HELD.with_borrow_mut(|held| match held {
                Some(held) => {
                    held.push(task);
                    None
                }
                None => Some(task),
            });
            if let Some(task) = free {
                spawn_local(task);
            }
        }

        fn poll_local(&self) {}
    }

    /// Takes the deferred tasks. If there are none, deferring ends.
    fn take_held() -> Vec<PinnedLocalFuture<()>> {
        HELD.with_borrow_mut(|held| {
            let tasks = held.take().unwrap_or_default();
            if !tasks.is_empty() {
                *held = Some(Vec::new());
            }
            tasks
        })
    }

    /// Runs `act` at the end of hydration, in the same task and therefore before any key or click is handled: it
    /// carries what the user did to the static page into the state of the application. Returns false, without running
    /// it, on any other page.
    pub fn run_before_input(act: impl FnOnce() + 'static) -> bool {
        let is_waking = HELD.with_borrow(Option::is_some);
        if is_waking {
            FIRST.with_borrow_mut(|first| first.push(Box::new(act)));
        }
        is_waking
    }

    /// Yields to the browser. A hidden page does not yield: there is no user, and its timers may be throttled to a
    /// second.
    async fn yield_to_browser() {
        if !document::is_hidden() {
            clock::with_timeout(Duration::ZERO, pending::<()>()).await;
        }
    }

    /// Yields to the tasks that are in the queue already.
    async fn yield_to_queue() {
        let mut is_behind = false;
        poll_fn(|context| match std::mem::replace(&mut is_behind, true) {
            true => Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
    }

    /// Hydrates `<body>` with the application and returns when all effects have started.
    ///
    /// The views are created and hydrated in one slice: a router is active as soon as it exists, and would navigate
    /// while the page is still the server's.
    pub async fn hydrate_sliced<V: IntoView>(app: fn() -> V) {
        // Ends the task in which the module was started.
        yield_to_browser().await;
        let _ = Executor::init_custom_executor(SlicedExecutor);
        let context = Arc::new(HydrateSharedContext::new());
        let owner = Owner::new_root(Some(context.clone()));
        let state =
            leptos::prelude::document().body().map(|body| owner.with(|| app().into_view().hydrate_from::<true>(&body)));
        context.hydration_complete();
        // The application lives as long as the document.
        std::mem::forget((owner, state));
        FIRST.take().into_iter().for_each(|act| act());
        yield_to_browser().await;
        let mut began = clock::now_ms();
        loop {
            let tasks = take_held();
            if tasks.is_empty() {
                return;
            }
            for task in tasks {
                if clock::now_ms() - began >= SLICE_MS {
                    yield_to_browser().await;
                    began = clock::now_ms();
                }
                spawn_local(task);
                yield_to_queue().await;
            }
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn run_before_input(_act: impl FnOnce() + 'static) -> bool {
        false
    }

    pub async fn hydrate_sliced<V>(_app: fn() -> V) {}
}

pub use real::{hydrate_sliced, run_before_input};
