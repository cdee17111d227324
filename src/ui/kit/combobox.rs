//! A combobox: a text field that points into a list below it (APG: combobox with a listbox). The focus stays in the
//! field; the owner renders the list, with options named by [`option_id`].

use std::time::Duration;

use leptos::ev::{CompositionEvent, KeyboardEvent};
use leptos::prelude::*;

use crate::browser::{focus, scroll};
use crate::ui::erased::{effect, on_change, view};
use crate::ui::input_method::{CompositionMemory, field_key_press, is_input_method_press};

/// The action of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComboboxAction {
    /// Moves to the option at this index.
    MoveTo(usize),
    /// Activates the option.
    Activate,
    /// Activates the option in a new tab.
    ActivateInNewTab,
}

/// Parses a key press: the key, Ctrl or Command, Shift or Alt; `at` is the active option of `count`. The arrows wrap
/// around.
pub fn combobox_action(key: &str, command: bool, other: bool, at: usize, count: usize) -> Option<ComboboxAction> {
    if other || count == 0 {
        return None;
    }
    match (key, command) {
        ("ArrowDown", false) => Some(ComboboxAction::MoveTo((at + 1) % count)),
        ("ArrowUp", false) => Some(ComboboxAction::MoveTo((at + count - 1) % count)),
        ("Home", false) => Some(ComboboxAction::MoveTo(0)),
        ("End", false) => Some(ComboboxAction::MoveTo(count - 1)),
        ("Enter", false) => Some(ComboboxAction::Activate),
        ("Enter", true) => Some(ComboboxAction::ActivateInNewTab),
        _ => None,
    }
}

/// Returns the id of an option, for `aria-activedescendant`.
pub fn option_id(list: &str, at: usize) -> String {
    format!("{list}-{at}")
}

/// The delay before the focused field points into the list: a screen reader that is sent to an option at once never
/// announces the field, and interprets typed text as its own commands.
const ANNOUNCE_DELAY: Duration = Duration::from_millis(300);

/// The field. It takes the focus when it is rendered, because its dialog exists for it.
#[component]
pub fn Combobox(
    label: &'static str,
    /// The list's id.
    list: &'static str,
    /// The number of options, and the active one.
    #[prop(into)]
    count: Signal<usize>,
    #[prop(into)] at: Signal<usize>,
    /// Called with the field's text, once an input method is done with it.
    on_input: Callback<String>,
    on_ask: Callback<ComboboxAction>,
) -> impl IntoView {
    let memory = StoredValue::new(CompositionMemory::default());
    let is_composing = StoredValue::new(false);
    let is_announced = RwSignal::new(false);
    let composed = move |event: CompositionEvent| {
        is_composing.set_value(false);
        memory.set_value(CompositionMemory { composition_ended: Some(event.time_stamp()), escaped: None });
        on_input.run(event_target_value(&event));
    };
    let on_keydown = move |event: KeyboardEvent| {
        let key = event.key();
        let pressed = field_key_press(&event, &key);
        if is_input_method_press(pressed, memory.get_value()) {
            return;
        }
        let is_other = pressed.shift || pressed.alt;
        let action = combobox_action(&key, pressed.command, is_other, at.get_untracked(), count.get_untracked());
        if let Some(action) = action {
            event.prevent_default();
            on_ask.run(action);
        }
    };
    take_focus(list, at, is_announced);
    let is_any = move || count.get() > 0;
    view! {
        <input
            type="text"
            role="combobox"
            aria-label=label
            placeholder=label
            aria-autocomplete="list"
            aria-expanded=move || is_any().to_string()
            aria-controls=list
            aria-activedescendant=move || (is_announced.get() && is_any()).then(|| option_id(list, at.get()))
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            enterkeyhint="go"
            dir="auto"
            maxlength="256"
            on:input=move |event| {
                if !is_composing.get_value() {
                    on_input.run(event_target_value(&event));
                }
            }
            on:compositionstart=move |_| is_composing.set_value(true)
            on:compositionend=composed
            on:keydown=on_keydown
        />
    }
}

/// Focuses the field, sets `is_announced` after a delay, and keeps the active option in view.
fn take_focus(list: &'static str, at: Signal<usize>, is_announced: RwSignal<bool>) {
    let show_chosen = move || {
        let chosen = format!("#{}", option_id(list, at.get_untracked()));
        request_animation_frame(move || scroll::scroll_into_view(&chosen));
    };
    on_change(move || at.get(), move |_, _| show_chosen());
    effect(move || {
        request_animation_frame(move || {
            focus::focus_first(&format!("[role=combobox][aria-controls={list}]"));
            // The dialog may be closed by then.
            set_timeout(move || _ = is_announced.try_set(true), ANNOUNCE_DELAY);
        });
        show_chosen();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_wrap_around_and_other_keys_are_fields() {
        for (key, command, at, expected) in [
            ("ArrowDown", false, 0, Some(ComboboxAction::MoveTo(1))),
            ("ArrowDown", false, 2, Some(ComboboxAction::MoveTo(0))),
            ("ArrowUp", false, 0, Some(ComboboxAction::MoveTo(2))),
            ("Home", false, 2, Some(ComboboxAction::MoveTo(0))),
            ("End", false, 0, Some(ComboboxAction::MoveTo(2))),
            ("Enter", false, 1, Some(ComboboxAction::Activate)),
            ("Enter", true, 1, Some(ComboboxAction::ActivateInNewTab)),
            ("ArrowDown", true, 0, None),
            ("ArrowLeft", false, 0, None),
            ("a", false, 0, None),
        ] {
            assert_eq!(combobox_action(key, command, false, at, 3), expected, "{key} {command} {at}");
            assert_eq!(combobox_action(key, command, true, at, 3), None, "{key} with Shift");
            assert_eq!(combobox_action(key, command, false, 0, 0), None, "{key} without rows");
        }
    }
}
