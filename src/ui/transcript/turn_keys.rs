//! The keys of a turn that has the focus (ux.md 11): its versions, its neighbours, its verbs. A key presses what a
//! person would press.

use leptos::ev::KeyboardEvent;

use crate::browser::focus;
use crate::ui::keymap::{self, Command, Press, Scope};

/// What a command presses within the turn that has the focus. `None` for one that does something else.
fn pressed(command: Command) -> Option<&'static str> {
    Some(match command {
        Command::VersionBefore => "[data-version=previous]",
        Command::NextVersion => "[data-version=next]",
        Command::Edit => "[data-verb=edit]",
        Command::Retry => "[data-verb=retry]",
        Command::Branch => "[data-verb=branch]",
        Command::Copy => ".actions > [data-verb=copy]",
        _ => return None,
    })
}

/// Does what a key asks for. Left alone where there is nothing to press, so that Alt and an arrow go back there.
pub fn on_keydown(event: &KeyboardEvent) {
    if event.default_prevented() || event.is_composing() {
        return;
    }
    let key = event.key();
    let neighbour = |turns| focus::neighbour("[data-turn-id]", "h3", turns);
    let is_done = match keymap::asked(Scope::Turn, Press::of(event, &key), focus::is_in_text()) {
        Some(Command::TurnBefore) => neighbour(-1),
        Some(Command::NextTurn) => neighbour(1),
        // All that is closed, or all where nothing is.
        Some(Command::Reasoning) => {
            let press = |what| focus::press_all_within("[data-turn-id]", what);
            press("details.reasoning:not([open]) > summary") || press("details.reasoning > summary")
        }
        Some(command) => pressed(command).is_some_and(|what| focus::press_within("[data-turn-id]", what)),
        None => false,
    };
    if is_done {
        event.prevent_default();
    }
}
