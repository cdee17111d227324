//! Type-erased views. The structure of a view is part of its type, and each type brings its own code for building,
//! hydrating and rebuilding; erased views share one. This halves the size that a component adds to the bundle
//! (docs/adr/0049-type-erased-views.md).

use std::sync::{Arc, Mutex};

use leptos::prelude::{AnyView, Effect, For, ForProps, IntoAny, untrack};

/// Leptos's `view!`, erased. Every view of the interface uses it.
macro_rules! view {
    ($($markup:tt)*) => {
        ::leptos::prelude::IntoAny::into_any(::leptos::prelude::view! { $($markup)* })
    };
}

pub(crate) use view;

/// A reactive part of the page: rendered again when the signals that it reads change. For closures outside of a
/// `view!`, which erases its own.
pub fn live_view<V: IntoAny>(mut draw: impl FnMut() -> V + Send + 'static) -> AnyView {
    let drawing: Arc<Mutex<dyn FnMut() -> AnyView + Send>> = Arc::new(Mutex::new(move || draw().into_any()));
    drawing.into_any()
}

/// Runs an effect in the browser now and whenever the signals that it reads change. Leptos's `Effect`, erased.
pub fn effect(act: impl FnMut() + 'static) {
    let mut act: Box<dyn FnMut()> = Box::new(act);
    Effect::new(move |_| act());
}

/// Runs an action in the browser whenever the read value changes; not at first.
pub fn on_change<T: Clone + PartialEq + 'static>(read: impl Fn() -> T + 'static, mut act: impl FnMut(T, T) + 'static) {
    let mut before = None;
    effect(move || {
        let now = read();
        if let Some(before) = before.replace(now.clone()).filter(|before| *before != now) {
            untrack(|| act(before, now));
        }
    });
}

/// One row of a list: its key and its view.
struct KeyedRow {
    key: u128,
    draw: Box<dyn FnOnce() -> AnyView + Send>,
}

/// A keyed list: an item whose key was there before keeps its elements and is not rendered again.
pub fn keyed_rows<T: Send + 'static>(
    items: impl Fn() -> Vec<T> + Send + Sync + 'static,
    key: impl Fn(&T) -> u128 + Send + Sync + 'static,
    draw: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let draw: Arc<dyn Fn(T) -> AnyView + Send + Sync> = Arc::new(draw);
    list(Arc::new(move || {
        let row = |item: T| {
            let draw = draw.clone();
            KeyedRow { key: key(&item), draw: Box::new(move || draw(item)) }
        };
        items().into_iter().map(row).collect()
    }))
}

fn list(rows: Arc<dyn Fn() -> Vec<KeyedRow> + Send + Sync>) -> AnyView {
    let props =
        ForProps::builder().each(move || rows()).key(|row: &KeyedRow| row.key).children(|row: KeyedRow| (row.draw)());
    For(props.build()).into_any()
}
