//! Code splitting: parts of the page whose code the browser loads at the first use. They are functions marked with
//! `wasm_split`, which the build moves into files of their own together with all code that nothing else needs. The
//! server has them linked.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
pub use leptos::wasm_split::SplitLoaderError as NotFetched;

use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::messages;

/// Code that loads faster than this shows and announces no loading state (`.late`).
const SOON: Duration = Duration::from_millis(200);

/// The loading state of a part's code.
#[derive(Clone, Copy, PartialEq)]
enum CodeState {
    Unwanted,
    Loading,
    Loaded,
    Missing,
}

/// A part of the page and the code that renders it.
#[derive(Clone)]
struct LazyPart {
    /// Loads the code; returns whether it arrived.
    fetch: Arc<dyn Fn() -> Pin<Box<dyn Future<Output = bool>>> + Send + Sync>,
    /// Renders the part; none before the code is loaded.
    draw: Arc<dyn Fn() -> Option<AnyView> + Send + Sync>,
    leave: Option<Callback<()>>,
    announcer: Option<Announcer>,
}

/// Renders a part of the page with code that is loaded first if necessary. A failed load shows a retry button, and
/// one for `leave`, which closes the part.
pub fn lazy_part<T, F>(
    fetch: fn() -> F,
    leave: Option<Callback<()>>,
    draw: impl Fn(&T) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<T, NotFetched>> + 'static,
{
    LazyPart::new(fetch, leave, draw).draw_now()
}

/// Like [`lazy_part`] for a part that is not rendered at first: it stays from the moment it is wanted.
pub fn lazy_part_when<T, F>(
    is_wanted: impl Fn() -> bool + 'static,
    fetch: fn() -> F,
    leave: Callback<()>,
    draw: impl Fn(&T) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<T, NotFetched>> + 'static,
{
    let code = RwSignal::new(CodeState::Unwanted);
    let leave = Callback::new(move |()| {
        code.set(CodeState::Unwanted);
        leave.run(());
    });
    let part = LazyPart::new(fetch, Some(leave), draw);
    let of_effect = part.clone();
    effect(move || {
        match (is_wanted(), code.get_untracked()) {
            (true, CodeState::Unwanted | CodeState::Missing) => of_effect.load(code),
            // Nobody waits for the part, so its failure is not shown.
            (false, CodeState::Missing) => code.set(CodeState::Unwanted),
            _ => {}
        }
    });
    part.draw_when_loaded(code)
}

impl LazyPart {
    fn new<T, F>(
        fetch: fn() -> F,
        leave: Option<Callback<()>>,
        draw: impl Fn(&T) -> AnyView + Send + Sync + 'static,
    ) -> Self
    where
        T: Send + Sync + 'static,
        F: Future<Output = Result<T, NotFetched>> + 'static,
    {
        let code = Arc::new(OnceLock::new());
        let of_draw = code.clone();
        Self {
            fetch: Arc::new(move || {
                let (fetching, code) = (fetch(), code.clone());
                Box::pin(async move { fetching.await.map(|fetched| code.set(fetched)).is_ok() })
            }),
            draw: Arc::new(move || of_draw.get().map(&draw)),
            leave,
            announcer: use_context(),
        }
    }

    fn draw_now(self) -> AnyView {
        let code = RwSignal::new(CodeState::Unwanted);
        self.load(code);
        // The server always renders the part, and the browser's first view must be the same: `lib.rs` loads the code
        // that a page needs before hydration.
        match code.get_untracked() {
            CodeState::Loaded => (self.draw)().into_any(),
            _ => self.draw_when_loaded(code),
        }
    }

    fn draw_when_loaded(self, code: RwSignal<CodeState>) -> AnyView {
        live_view(move || match code.get() {
            CodeState::Unwanted => None,
            CodeState::Loaded => untrack(|| (self.draw)()),
            CodeState::Loading => Some(view! { <p class="hint late">{messages::loading_part()}</p> }),
            CodeState::Missing => {
                let part = self.clone();
                let cancel = self.leave.map(|leave| {
                    view! {
                        <button type="button" class="button" on:click=move |_| leave.run(())>{messages::cancel()}</button>
                    }
                });
                Some(view! {
                    <div class="hint">
                        <p>{messages::part_load_failed()}</p>
                        <button type="button" class="button" on:click=move |_| part.load(code)>{messages::retry()}</button>
                        {cancel}
                    </div>
                })
            }
        })
    }

    /// Loads the code. Code that is already here is rendered at once, without a loading state.
    fn load(&self, code: RwSignal<CodeState>) {
        let mut fetching = (self.fetch)();
        let announcer = self.announcer;
        let finish = move |is_loaded| {
            let is_there = code.try_set(if is_loaded { CodeState::Loaded } else { CodeState::Missing }).is_none();
            if let Some(announcer) = announcer.filter(|_| is_there && !is_loaded) {
                announcer.alert(messages::part_load_failed());
            }
        };
        match fetching.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(is_loaded) => finish(is_loaded),
            Poll::Pending => {
                code.set(CodeState::Loading);
                if let Some(announcer) = announcer {
                    let announce = move || {
                        if code.try_get_untracked() == Some(CodeState::Loading) {
                            announcer.announce(messages::loading_part());
                        }
                    };
                    set_timeout(announce, SOON);
                }
                spawn_local(async move { finish(fetching.await) });
            }
        }
    }
}
