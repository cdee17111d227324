//! Quoting from the transcript (docs/reference/ux.md 10.8): a selected passage of a reply, by its button or by keys,
//! and a whole turn, from its menu. Both become Markdown quotes in the message box.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::{dialog, document_viewer, focus, selection};
use crate::ui::composer::paste::rich_text_to_markdown;
use crate::ui::composer::quote::quote_in_message_box;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::keymap::{self, KeyCommand, KeyPress, KeyScope};
use crate::ui::kit::Icon;
use crate::ui::messages::turn_actions as words;
use crate::ui::state::{ChatState, TurnState};

/// The selector of quotable text, and the button's id.
const REPLY: &str = ".reply";
const BUTTON: &str = "quote-reply";

/// The button "Quote" beside a selection in a reply, and its shortcut.
#[component]
pub fn QuoteButton(state: ChatState) -> impl IntoView {
    let is_offered = RwSignal::new(false);
    let place = || document_viewer::position_bar(&format!("#{BUTTON}"));
    let settled = move || {
        let is_selected = selection::selected_content(REPLY).is_some();
        // The page may be gone by now.
        let Some(before) = is_offered.try_get_untracked() else { return };
        if before != is_selected {
            is_offered.set(is_selected);
        }
        if is_selected {
            if !before {
                state.announce(words::selected());
            }
            request_animation_frame(place);
        }
    };
    let take = move || {
        let selected = selection::selected_content(REPLY);
        if let Some((text, html)) = selected.clone() {
            spawn_local(async move {
                if quote_in_message_box(&rich_text_to_markdown(text, &html).await) {
                    state.announce(words::quoted());
                }
            });
        }
        selected.is_some()
    };
    effect(move || {
        let watch = selection::watch_selection(settled);
        let scrolled = window_event_listener(ev::scroll, move |_| place());
        let keys = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() || dialog::is_any_open() {
                return;
            }
            let (key, in_text) = (event.key(), focus::is_in_text_field());
            let is_quote_command =
                keymap::command_on_page(KeyScope::Reading, KeyPress::from_event(&event, &key), in_text)
                    == Some(KeyCommand::Quote);
            if is_quote_command && (take() || (!in_text && focus::press_within("[data-turn-id]", "[data-verb=quote]")))
            {
                event.prevent_default();
            }
        });
        on_cleanup(move || {
            if let Some(watch) = watch {
                watch.stop();
            }
            scrolled.remove();
            keys.remove();
        });
    });
    live_view(move || {
        is_offered.get().then(|| {
            view! {
                <button
                    type="button"
                    id=BUTTON
                    class="button quote-reply no-print"
                    // The click keeps the selection.
                    on:mousedown=|event| event.prevent_default()
                    on:click=move |_| { take(); }
                >
                    {words::quote()}
                </button>
            }
        })
    })
}

/// The menu item that quotes a whole turn.
#[component]
pub fn QuoteRow(turn: TurnState) -> impl IntoView {
    let take = move |_| {
        dialog::close_popovers();
        quote_in_message_box(&turn.with_untracked(|view| view.turn.content_text()));
    };
    view! {
        <button type="button" class="menu-row needs-script" data-verb="quote" on:click=take>
            <Icon name="chat"/>
            {words::quote_in_message()}
        </button>
    }
}
