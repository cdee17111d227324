//! Parts of the page whose code the browser fetches when they are first used: functions marked with `wasm_split`, which
//! the build puts into files of their own with all that nothing else needs. The server has them at hand.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
pub use leptos::wasm_split::SplitLoaderError as NotFetched;

use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live, view};
use crate::ui::words;

/// What comes sooner is not announced, nor shown (`.late`).
const SOON: Duration = Duration::from_millis(200);

/// How far the code of a part is.
#[derive(Clone, Copy, PartialEq)]
enum Code {
    Unwanted,
    OnItsWay,
    Here,
    Missing,
}

/// A part of the page and the code that it is drawn with.
#[derive(Clone)]
struct Part {
    /// Whether the code came.
    fetch: Arc<dyn Fn() -> Pin<Box<dyn Future<Output = bool>>> + Send + Sync>,
    /// Nothing before it came.
    draw: Arc<dyn Fn() -> Option<AnyView> + Send + Sync>,
    leave: Option<Callback<()>>,
    announcer: Option<Announcer>,
}

/// Draws a part of the page with code that is fetched first, if it is not here yet. Where it cannot be, that is said,
/// with a button that tries it again, and one for `leave`, which lets it be.
pub fn fetched<T, F>(
    fetch: fn() -> F,
    leave: Option<Callback<()>>,
    draw: impl Fn(&T) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<T, NotFetched>> + 'static,
{
    Part::new(fetch, leave, draw).shown()
}

/// The same for what is not there at first: from when it is wanted on, it stays.
pub fn when<T, F>(
    is_wanted: impl Fn() -> bool + 'static,
    fetch: fn() -> F,
    leave: Callback<()>,
    draw: impl Fn(&T) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<T, NotFetched>> + 'static,
{
    let code = RwSignal::new(Code::Unwanted);
    let leave = Callback::new(move |()| {
        code.set(Code::Unwanted);
        leave.run(());
    });
    let part = Part::new(fetch, Some(leave), draw);
    let of_effect = part.clone();
    effect(move || {
        match (is_wanted(), code.get_untracked()) {
            (true, Code::Unwanted | Code::Missing) => of_effect.ask(code),
            // Nobody waits for it: its failure is nobody's.
            (false, Code::Missing) => code.set(Code::Unwanted),
            _ => {}
        }
    });
    part.followed(code)
}

impl Part {
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

    fn shown(self) -> AnyView {
        let code = RwSignal::new(Code::Unwanted);
        self.ask(code);
        // On the server always, and then the browser's first view must be the same: `lib.rs` waits for what a page needs.
        match code.get_untracked() {
            Code::Here => (self.draw)().into_any(),
            _ => self.followed(code),
        }
    }

    fn followed(self, code: RwSignal<Code>) -> AnyView {
        live(move || match code.get() {
            Code::Unwanted => None,
            Code::Here => untrack(|| (self.draw)()),
            Code::OnItsWay => Some(view! { <p class="hint late">{words::loading_part()}</p> }),
            Code::Missing => {
                let part = self.clone();
                let cancel = self.leave.map(|leave| {
                    view! {
                        <button type="button" class="button" on:click=move |_| leave.run(())>{words::cancel()}</button>
                    }
                });
                Some(view! {
                    <div class="hint">
                        <p>{words::no_part()}</p>
                        <button type="button" class="button" on:click=move |_| part.ask(code)>{words::retry()}</button>
                        {cancel}
                    </div>
                })
            }
        })
    }

    /// What is here already is drawn at once, without a moment in which it is on its way.
    fn ask(&self, code: RwSignal<Code>) {
        let mut fetching = (self.fetch)();
        let announcer = self.announcer;
        let came = move |came| {
            let is_there = code.try_set(if came { Code::Here } else { Code::Missing }).is_none();
            if let Some(announcer) = announcer.filter(|_| is_there && !came) {
                announcer.alert(words::no_part());
            }
        };
        match fetching.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(here) => came(here),
            Poll::Pending => {
                code.set(Code::OnItsWay);
                if let Some(announcer) = announcer {
                    let say = move || {
                        if code.try_get_untracked() == Some(Code::OnItsWay) {
                            announcer.say(words::loading_part());
                        }
                    };
                    set_timeout(say, SOON);
                }
                spawn_local(async move { came(fetching.await) });
            }
        }
    }
}
