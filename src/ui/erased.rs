//! Views without their types. What a view is made of is part of its type, and each type brings its own code for building,
//! hydrating and rebuilding; erased, all share one. This halves what a component adds to the bundle.

use std::sync::{Arc, Mutex};

use leptos::prelude::{AnyView, Effect, For, ForProps, IntoAny, untrack};

/// Leptos's `view!`, erased. Every view in this room is made by it.
macro_rules! view {
    ($($markup:tt)*) => {
        ::leptos::prelude::IntoAny::into_any(::leptos::prelude::view! { $($markup)* })
    };
}

pub(crate) use view;

/// A part of the page that is drawn again when what it reads changes. For closures that are not written inside a
/// `view!`: those it erases by itself.
pub fn live_view<V: IntoAny>(mut draw: impl FnMut() -> V + Send + 'static) -> AnyView {
    let drawing: Arc<Mutex<dyn FnMut() -> AnyView + Send>> = Arc::new(Mutex::new(move || draw().into_any()));
    drawing.into_any()
}

/// Does something in the browser now and whenever what it reads changes. Leptos's `Effect`, erased.
pub fn effect(act: impl FnMut() + 'static) {
    let mut act: Box<dyn FnMut()> = Box::new(act);
    Effect::new(move |_| act());
}

/// Does something in the browser whenever what is read changes from one value to another: not at first.
pub fn on_change<T: Clone + PartialEq + 'static>(read: impl Fn() -> T + 'static, mut act: impl FnMut(T, T) + 'static) {
    let mut before = None;
    effect(move || {
        let now = read();
        if let Some(before) = before.replace(now.clone()).filter(|before| *before != now) {
            untrack(|| act(before, now));
        }
    });
}

/// One row of a list: what it is told apart by, and how it is drawn.
struct KeyedRow {
    key: u128,
    draw: Box<dyn FnOnce() -> AnyView + Send>,
}

/// A list that follows its items: an item whose key was there before keeps its elements and is not drawn again.
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
