//! A copy button with a confirmation.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{clipboard, dialog};
use crate::ui::announce::Announcer;
use crate::ui::erased::view;
use crate::ui::kit::{Icon, Toasts};
use crate::ui::messages;
use crate::ui::standalone::standalone_context;

/// The time for which the button shows success.
const SHOWN: Duration = Duration::from_millis(1_500);

/// Copies text. Hidden without script, because a click could do nothing.
#[component]
pub fn CopyButton(
    /// The button's label.
    name: &'static str,
    /// Returns the text to copy, called at the click.
    text: Callback<(), String>,
    /// The path of the whole text on the server, where the page has only a part of it.
    #[prop(optional)]
    source: Option<Callback<(), Option<String>>>,
    /// Returns the same as HTML, for programs that can paste it.
    #[prop(optional)]
    html: Option<Callback<(), Option<String>>>,
    /// True if the label is visible beside the icon.
    #[prop(optional)]
    is_wordy: bool,
    /// True for a menu item; the menu closes on success.
    #[prop(optional)]
    in_menu: bool,
) -> impl IntoView {
    if standalone_context().is_some() {
        return ().into_any();
    }
    let (announcer, toasts) = (use_context::<Announcer>(), use_context::<Toasts>());
    let is_done = RwSignal::new(false);
    let on_click = move |_| {
        let done = move |copied| {
            let sentence = if copied { messages::copied() } else { messages::transcript::copy_failed() };
            if let Some(announcer) = announcer {
                announcer.announce(sentence);
            }
            // A menu closes, and a failure changes nothing on the button.
            if let Some(toasts) = toasts.filter(|_| in_menu || !copied) {
                toasts.show(sentence);
            }
            let _ = is_done.try_set(copied);
            if in_menu && copied {
                dialog::close_popovers();
            }
            set_timeout(
                move || {
                    let _ = is_done.try_set(false);
                },
                SHOWN,
            );
        };
        let html = html.and_then(|html| html.run(()));
        match source.and_then(|source| source.run(())) {
            Some(path) => clipboard::copy_response(path, html, done),
            None => clipboard::copy_with_html(text.run(()), html, done),
        }
    };
    let icon = move || {
        if is_done.get() {
            view! { <Icon name="check"/> }
        } else {
            view! { <Icon name="copy"/> }
        }
    };
    let is_wordy = is_wordy || in_menu;
    let label = (!is_wordy).then_some(name);
    let words = move || if is_done.get() { messages::copied_mark() } else { name };
    // An icon alone says it in a bubble, so that nothing beside it moves. A screen reader has been told.
    let bubble = move || {
        is_done.get().then(|| view! { <span class="copied" aria-hidden="true">{messages::copied_mark()}</span> })
    };
    let class = if in_menu { "menu-row needs-script" } else { "button bare needs-script" };
    view! {
        <button type="button" class=class data-verb=(!is_wordy).then_some("copy") aria-label=label title=label on:click=on_click>
            {move || icon()}
            {is_wordy.then_some(words)}
            {(!is_wordy).then_some(bubble)}
        </button>
    }
}
