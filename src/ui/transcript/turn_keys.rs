//! The keys of a focused turn (docs/reference/ux.md 11): its versions, its neighbours, its actions. A key presses the
//! corresponding button.

use leptos::ev::KeyboardEvent;

use crate::browser::focus;
use crate::ui::keymap::{self, KeyCommand, KeyPress, KeyScope};

/// Returns the selector that a command presses within the focused turn. `None` for other commands.
fn pressed_selector(command: KeyCommand) -> Option<&'static str> {
    Some(match command {
        KeyCommand::VersionBefore => "[data-version=previous]",
        KeyCommand::NextVersion => "[data-version=next]",
        KeyCommand::Edit => "[data-verb=edit]",
        KeyCommand::Retry => "[data-verb=retry]",
        KeyCommand::Branch => "[data-verb=branch]",
        KeyCommand::Copy => ".actions > [data-verb=copy]",
        _ => return None,
    })
}

/// Handles a key. It is left alone where there is nothing to press, so that Alt+Left navigates back there.
pub fn on_keydown(event: &KeyboardEvent) {
    if event.default_prevented() || event.is_composing() {
        return;
    }
    let key = event.key();
    let neighbour = |turns| focus::focus_neighbour("[data-turn-id]", "h3", turns);
    let is_done =
        match keymap::command_on_page(KeyScope::Turn, KeyPress::from_event(event, &key), focus::is_in_text_field()) {
            Some(KeyCommand::TurnBefore) => neighbour(-1),
            Some(KeyCommand::NextTurn) => neighbour(1),
            // Opens all closed ones, or toggles all where none is closed.
            Some(KeyCommand::Reasoning) => {
                let press = |selector| focus::press_all_within("[data-turn-id]", selector);
                press("details.reasoning:not([open]) > summary") || press("details.reasoning > summary")
            }
            Some(command) => {
                pressed_selector(command).is_some_and(|selector| focus::press_within("[data-turn-id]", selector))
            }
            None => false,
        };
    if is_done {
        event.prevent_default();
    }
}
