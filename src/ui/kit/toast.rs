//! Toasts: short notes at the edge of the page, at most two, each with at most one action (docs/reference/ux.md 15).
//! Errors that need an action are never toasts.

use std::sync::Arc;
use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use crate::ui::erased::{keyed_rows, live_view, view};
use crate::ui::kit::{Icon, Menu};
use crate::ui::messages;

/// The maximum number of toasts on screen; an older one makes room.
const SHOWN: usize = 2;
/// The number of past toasts that can be looked up.
const REMEMBERED: usize = 10;
/// The display time of a toast, without and with an action.
const STAYS: Duration = Duration::from_secs(5);
const STAYS_WITH_ACTION: Duration = Duration::from_secs(10);

/// The action of a toast.
type ToastAction = Arc<dyn Fn() + Send + Sync>;

/// The timer of a toast. It pauses while the pointer or the focus is on the toast, and restarts when both are gone,
/// so that the user need not hurry.
#[derive(Default)]
struct ToastTimer {
    held_by: u8,
    timer: Option<TimeoutHandle>,
}

const POINTER: u8 = 1;
const FOCUS: u8 = 2;

/// One toast. It outlives the page that created it, so nothing in it may belong to that page.
#[derive(Clone)]
struct Toast {
    number: u64,
    text: ArcRwSignal<String>,
    action: Option<(&'static str, ToastAction)>,
    clock: ArcStoredValue<ToastTimer>,
}

/// A handle to a toast with an action, for updating it later.
pub struct ToastHandle {
    number: u64,
    text: ArcRwSignal<String>,
}

impl ToastHandle {
    /// Replaces the text.
    pub fn set_text(&self, text: String) {
        self.text.set(text);
    }
}

/// The toasts on screen, provided as context.
#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    /// The recent toasts, newest first; an action that was taken is no longer offered.
    recent: RwSignal<Vec<Toast>>,
    next: StoredValue<u64>,
}

/// Provides an empty set of toasts as context.
pub fn provide_toasts() -> Toasts {
    let toasts =
        Toasts { shown: RwSignal::new(Vec::new()), recent: RwSignal::new(Vec::new()), next: StoredValue::new(0) };
    provide_context(toasts);
    toasts
}

impl Toasts {
    /// Shows a toast.
    pub fn show(self, text: impl Into<String>) {
        let _ = self.push(text.into(), None);
    }

    /// Shows a toast with an action ("Undo").
    pub fn offer(
        self,
        text: impl Into<String>,
        action: &'static str,
        run: impl Fn() + Send + Sync + 'static,
    ) -> ToastHandle {
        self.push(text.into(), Some((action, Arc::new(run))))
    }

    /// Withdraws a toast that is no longer true, also from the recent ones.
    pub fn withdraw(self, offered: &ToastHandle) {
        self.remove(offered.number);
        self.recent.update(|recent| recent.retain(|toast| toast.number != offered.number));
    }

    /// Shows a permanent toast, for the gallery.
    pub fn show_fixed(self, text: impl Into<String>, action: Option<&'static str>) {
        let action = action.map(|label| (label, Arc::new(|| ()) as ToastAction));
        self.shown.update(|all| {
            let number = all.len() as u64;
            let text = ArcRwSignal::new(text.into());
            all.push(Toast { number, text, action, clock: ArcStoredValue::new(ToastTimer::default()) });
        });
    }

    /// Runs the newest action, as Ctrl+Z does. False when no toast with an action is shown.
    pub fn take_newest_offer(self) -> bool {
        let newest = self.shown.with_untracked(|all| all.iter().rev().find(|toast| toast.action.is_some()).cloned());
        newest.is_some_and(|toast| {
            self.take(&toast);
            true
        })
    }

    fn push(self, text: String, action: Option<(&'static str, ToastAction)>) -> ToastHandle {
        let number = self.next.get_value();
        self.next.set_value(number + 1);
        let text = ArcRwSignal::new(text);
        let toast = Toast { number, text: text.clone(), action, clock: ArcStoredValue::new(ToastTimer::default()) };
        self.start_clock(&toast);
        self.recent.update(|recent| {
            recent.insert(0, toast.clone());
            recent.truncate(REMEMBERED);
        });
        self.shown.update(|all| {
            all.push(toast);
            let surplus = all.len().saturating_sub(SHOWN);
            all.drain(..surplus);
        });
        ToastHandle { number, text }
    }

    fn take(self, toast: &Toast) {
        self.remove(toast.number);
        self.recent.update(|recent| {
            for taken in recent.iter_mut().filter(|taken| taken.number == toast.number) {
                taken.action = None;
            }
        });
        if let Some((_, run)) = &toast.action {
            run();
        }
    }

    fn remove(self, number: u64) {
        self.shown.update(|all| all.retain(|toast| toast.number != number));
    }

    fn hold(toast: &Toast, by: u8) {
        toast.clock.update_value(|clock| {
            clock.held_by |= by;
            if let Some(timer) = clock.timer.take() {
                timer.clear();
            }
        });
    }

    fn release(self, toast: &Toast, by: u8) {
        toast.clock.update_value(|clock| clock.held_by &= !by);
        if toast.clock.with_value(|clock| clock.held_by == 0) {
            self.start_clock(toast);
        }
    }

    fn start_clock(self, toast: &Toast) {
        let duration = if toast.action.is_some() { STAYS_WITH_ACTION } else { STAYS };
        let number = toast.number;
        let timer = set_timeout_with_handle(move || self.remove(number), duration).ok();
        toast.clock.update_value(|clock| {
            if let Some(old) = std::mem::replace(&mut clock.timer, timer) {
                old.clear();
            }
        });
    }
}

/// The recent toasts, with their actions as long as these are available.
#[component]
pub fn RecentToasts() -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let row = move |toast: Toast| {
        let action = toast.action.as_ref().map(|&(label, _)| {
            let taken = toast.clone();
            let text = toast.text.clone();
            view! {
                <button type="button" class="button bare strong" on:click=move |_| toasts.take(&taken)>
                    {label}<span class="quiet">" "{move || text.get()}</span>
                </button>
            }
        });
        view! { <li><span dir="auto">{move || toast.text.get()}</span>{action}</li> }
    };
    // The list is rendered only while it is open: no screen reader should find a toast twice.
    let is_open = RwSignal::new(false);
    let toggled = Callback::new(move |()| is_open.update(|open| *open = !*open));
    view! {
        <Menu id="recent-notices" label=messages::notices() icon="clock" class="bare needs-script" on_toggle=toggled>
            <div class="recent-notices">
                {live_view(move || is_open.get().then(|| {
                    let recent = toasts.recent.get();
                    match recent.is_empty() {
                        true => view! { <p class="hint">{messages::no_notices()}</p> },
                        false => view! { <ul>{recent.into_iter().map(row).collect_view()}</ul> },
                    }
                }))}
            </div>
        </Menu>
    }
}

/// The container of the toasts.
#[component]
pub fn ToastShelf() -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    view! {
        <div class="toasts no-print">
            {keyed_rows(move || toasts.shown.get(), |toast| toast.number.into(), |toast| view! { <ToastView toast/> })}
        </div>
    }
}

#[component]
fn ToastView(toast: Toast) -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let (held, over, left, out) = (toast.clone(), toast.clone(), toast.clone(), toast.clone());
    let number = toast.number;
    let action = toast.action.map(|(label, _)| {
        let taken = held.clone();
        view! {
            <button type="button" class="button bare strong" on:click=move |_| toasts.take(&taken)>
                {label}
            </button>
        }
    });
    view! {
        <div
            class="toast"
            on:pointerenter=move |_| Toasts::hold(&over, POINTER)
            on:pointerleave=move |_| toasts.release(&left, POINTER)
            on:focusin=move |_| Toasts::hold(&held, FOCUS)
            on:focusout=move |_| toasts.release(&out, FOCUS)
        >
            <span dir="auto">{move || toast.text.get()}</span>
            {action}
            <button type="button" class="button bare" on:click=move |_| toasts.remove(number)>
                <Icon name="close"/>
                <span class="quiet">{messages::dismiss()}</span>
            </button>
        </div>
    }
}
