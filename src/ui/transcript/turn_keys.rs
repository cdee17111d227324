//! The keys of a turn that has the focus (ux.md 11): its versions, its neighbours, its verbs. A key presses what a
//! person would press.

use leptos::ev::KeyboardEvent;

use crate::browser::focus;
use crate::ui::preferences::{Setting, chosen};

/// What a key does, as what it presses within the turn, or the turn that it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Press(&'static str),
    /// So many turns further down.
    Go(i32),
}

/// Reads a key. Where somebody types, all keys are the text's; letters alone can be switched off (WCAG 2.1.4).
fn ask(key: &str, command: bool, shift: bool, alt: bool, in_text: bool, has_letters: bool) -> Option<Ask> {
    match (key, command, shift, alt) {
        _ if in_text || (!has_letters && !alt) => None,
        ("ArrowLeft", false, false, true) => Some(Ask::Press("[data-version=previous]")),
        ("ArrowRight", false, false, true) => Some(Ask::Press("[data-version=next]")),
        ("ArrowUp", false, false, true) => Some(Ask::Go(-1)),
        ("ArrowDown", false, false, true) => Some(Ask::Go(1)),
        ("e", false, false, false) => Some(Ask::Press("[data-verb=edit]")),
        ("r", false, false, false) => Some(Ask::Press("[data-verb=retry]")),
        ("b", false, false, false) => Some(Ask::Press("[data-verb=branch]")),
        ("c", false, false, false) => Some(Ask::Press(".actions > [data-verb=copy]")),
        ("o", false, false, false) => Some(Ask::Press("details.reasoning > summary")),
        _ => None,
    }
}

/// Does what a key asks for. Left alone where there is nothing to press, so that Alt and an arrow go back there.
pub fn on_keydown(event: &KeyboardEvent) {
    if event.default_prevented() || event.is_composing() {
        return;
    }
    let command = event.ctrl_key() || event.meta_key();
    let has_letters = chosen(Setting::Letters) == "on";
    let is_done = match ask(&event.key(), command, event.shift_key(), event.alt_key(), focus::is_in_text(), has_letters)
    {
        Some(Ask::Press(what)) => focus::press_within("[data-turn-id]", what),
        Some(Ask::Go(turns)) => focus::neighbour("[data-turn-id]", "h3", turns),
        None => false,
    };
    if is_done {
        event.prevent_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(key: &str, command: bool, shift: bool, alt: bool, in_text: bool) -> Option<Ask> {
        super::ask(key, command, shift, alt, in_text, true)
    }

    #[test]
    fn letters_can_be_switched_off() {
        let without = |key, alt| super::ask(key, false, false, alt, false, false);
        assert_eq!(without("e", false), None);
        assert_eq!(without("ArrowDown", true), Some(Ask::Go(1)));
    }

    #[test]
    fn letters_are_text_where_somebody_types() {
        assert_eq!(ask("e", false, false, false, true), None);
        assert_eq!(ask("e", false, false, false, false), Some(Ask::Press("[data-verb=edit]")));
        assert_eq!(ask("c", true, false, false, false), None, "copying is the browser's");
        assert_eq!(ask("o", true, false, false, false), None, "opening is the browser's");
    }

    #[test]
    fn alt_and_an_arrow_go_through_versions_and_turns() {
        assert_eq!(ask("ArrowLeft", false, false, true, false), Some(Ask::Press("[data-version=previous]")));
        assert_eq!(ask("ArrowDown", false, false, true, false), Some(Ask::Go(1)));
        assert_eq!(ask("ArrowDown", false, false, true, true), None, "words of a text on a Mac");
        assert_eq!(ask("ArrowDown", false, false, false, false), None);
    }
}
