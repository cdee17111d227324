//! The application takes over the page in pieces, and between two of them the browser answers whoever is there
//! already: a browser compiles each function when it is first called, on the thread that answers, and that is most of
//! the time.

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

    /// How long a piece may be, ms. A task of 50 is one that people notice, on a device that is four times as slow.
    const SLICE_MS: i64 = 8;

    thread_local! {
        /// What was begun while the page is taken over: effects, above all. Each begins when the whole page has been
        /// taken over, because before that it would change what the server drew. Afterwards everything begins at
        /// once.
        static HELD: RefCell<Option<Vec<PinnedLocalFuture<()>>>> = const { RefCell::new(Some(Vec::new())) };
        /// What must have been done before anybody can do anything.
        static FIRST: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
    }

    /// What runs Leptos's tasks.
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

    /// What is held by now; when that is nothing, the time of holding is over.
    fn take_held() -> Vec<PinnedLocalFuture<()>> {
        HELD.with_borrow_mut(|held| {
            let tasks = held.take().unwrap_or_default();
            if !tasks.is_empty() {
                *held = Some(Vec::new());
            }
            tasks
        })
    }

    /// Does this on a page that is being taken over, in the same task and so before any key or click is heard: what
    /// somebody did to the page before goes into the state of the application. False, and nothing, on any other page.
    pub fn run_before_input(act: impl FnOnce() + 'static) -> bool {
        let is_waking = HELD.with_borrow(Option::is_some);
        if is_waking {
            FIRST.with_borrow_mut(|first| first.push(Box::new(act)));
        }
        is_waking
    }

    /// Lets the browser do what waits. Nobody waits for a page that is not seen, and its timers may take a second.
    async fn yield_to_browser() {
        if !document::is_hidden() {
            clock::with_timeout(Duration::ZERO, pending::<()>()).await;
        }
    }

    /// Lets what is in the queue before this go first.
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

    /// Hydrates `<body>` with the application, and gives back when it is all alive.
    ///
    /// The views are made and hydrated in one piece: a router is alive as soon as it is made, and would lead to another
    /// page while this one is still the server's.
    pub async fn hydrate_sliced<V: IntoView>(app: fn() -> V) {
        // Of the module's start, which is in the same task.
        yield_to_browser().await;
        let _ = Executor::init_custom_executor(SlicedExecutor);
        let context = Arc::new(HydrateSharedContext::new());
        let owner = Owner::new_root(Some(context.clone()));
        let state =
            leptos::prelude::document().body().map(|body| owner.with(|| app().into_view().hydrate_from::<true>(&body)));
        context.hydration_complete();
        // The page is there as long as its document.
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
