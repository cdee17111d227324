//! What the keys of the message box do, as a pure decision (ux.md 10.2 to 10.4). Input methods end a composition with
//! the same Enter that sends; the browsers tell it in three different ways, and all three are obeyed.

use crate::ui::input_method::{Memory, Press, is_of_input_method};

/// Two presses of Esc within this are one wish, in milliseconds.
const TWICE_MS: f64 = 1000.0;

/// What a press asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The browser does what it does.
    Nothing,
    Send,
    Stop,
}

/// What a press asks of a list that the box points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is not for the list.
    Nothing,
    /// Another option, by its place.
    Move(usize),
    /// The option that is pointed at.
    Take,
    Close,
}

/// Decides on a press while a list of `count` options is open, of which the one at `at` is pointed at. Without options
/// only Esc is for it.
pub fn in_list(press: Press<'_>, memory: Memory, at: usize, count: usize) -> Choice {
    if is_of_input_method(press, memory) || press.command || press.alt || press.shift {
        return Choice::Nothing;
    }
    match (press.key, count) {
        ("Escape", _) => Choice::Close,
        (_, 0) => Choice::Nothing,
        ("ArrowDown", _) => Choice::Move((at + 1) % count),
        ("ArrowUp", _) => Choice::Move((at + count - 1) % count),
        ("Enter" | "Tab", _) => Choice::Take,
        _ => Choice::Nothing,
    }
}

/// Decides on a press in the message box. `is_touch` is whether fingers type: their Enter is a new line, as that of
/// whoever `chose` to send with Ctrl+Enter. With Shift it sends too, where it has no other use.
pub fn in_box(press: Press<'_>, memory: Memory, is_touch: bool, chose: &str) -> Ask {
    if is_of_input_method(press, memory) {
        return Ask::Nothing;
    }
    match (press.key, press.command, press.shift, press.alt) {
        ("Enter", true, _, false) => Ask::Send,
        ("Enter", false, false, false) if !is_touch && chose == "enter" => Ask::Send,
        _ => Ask::Nothing,
    }
}

/// Decides on a press anywhere on the page while a reply runs. Esc stops at the second press, because it also closes
/// things; among the turns, where there is nothing to close, the transcript stops at the first.
pub fn on_page(press: Press<'_>, memory: Memory) -> Ask {
    let escaped_before = memory.escaped.is_some_and(|before| press.at - before < TWICE_MS);
    match (press.key, press.command, press.shift, press.alt) {
        _ if is_of_input_method(press, memory) => Ask::Nothing,
        ("Escape", false, false, false) if escaped_before => Ask::Stop,
        _ => Ask::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_box(press: Press<'_>, memory: Memory, is_touch: bool) -> Ask {
        super::in_box(press, memory, is_touch, "enter")
    }

    fn enter() -> Press<'static> {
        Press { key: "Enter", key_code: 13, is_composing: false, command: false, shift: false, alt: false, at: 1000.0 }
    }

    #[test]
    fn enter_sends_and_shift_enter_does_not() {
        assert_eq!(in_box(enter(), Memory::default(), false), Ask::Send);
        assert_eq!(in_box(Press { shift: true, ..enter() }, Memory::default(), false), Ask::Nothing);
    }

    #[test]
    fn on_a_touch_keyboard_enter_is_a_new_line() {
        assert_eq!(in_box(enter(), Memory::default(), true), Ask::Nothing);
        assert_eq!(in_box(Press { command: true, ..enter() }, Memory::default(), true), Ask::Send);
    }

    #[test]
    fn who_chose_ctrl_enter_writes_lines_with_enter() {
        let by = |press| super::in_box(press, Memory::default(), false, "ctrl-enter");
        assert_eq!((by(enter()), by(Press { shift: true, ..enter() })), (Ask::Nothing, Ask::Nothing));
        assert_eq!(by(Press { command: true, ..enter() }), Ask::Send);
    }

    #[test]
    fn the_enter_that_ends_a_composition_sends_nothing_in_any_browser() {
        // Chrome and Firefox: inside the composition.
        assert_eq!(in_box(Press { is_composing: true, ..enter() }, Memory::default(), false), Ask::Nothing);
        // Safari: after it, but marked.
        assert_eq!(in_box(Press { key_code: 229, ..enter() }, Memory::default(), false), Ask::Nothing);
        // Others: after it and unmarked.
        let ended = Memory { composition_ended: Some(980.0), ..Memory::default() };
        assert_eq!(in_box(enter(), ended, false), Ask::Nothing);
        let long_ago = Memory { composition_ended: Some(900.0), ..Memory::default() };
        assert_eq!(in_box(enter(), long_ago, false), Ask::Send);
    }

    #[test]
    fn a_list_goes_round_and_leaves_other_keys_alone() {
        let key = |key: &'static str| Press { key, key_code: 0, ..enter() };
        let in_list = |press, at, count| super::in_list(press, Memory::default(), at, count);
        assert_eq!(in_list(key("ArrowDown"), 2, 3), Choice::Move(0));
        assert_eq!(in_list(key("ArrowUp"), 0, 3), Choice::Move(2));
        assert_eq!((in_list(enter(), 0, 3), in_list(key("Tab"), 0, 3)), (Choice::Take, Choice::Take));
        assert_eq!((in_list(enter(), 0, 0), in_list(key("Escape"), 0, 0)), (Choice::Nothing, Choice::Close));
        assert_eq!(in_list(key("a"), 0, 3), Choice::Nothing);
        assert_eq!(in_list(Press { shift: true, ..enter() }, 0, 3), Choice::Nothing);
        assert_eq!(in_list(Press { is_composing: true, ..enter() }, 0, 3), Choice::Nothing, "it ends a composition");
    }

    #[test]
    fn escape_stops_at_the_second_press() {
        let escape = Press { key: "Escape", key_code: 27, ..enter() };
        assert_eq!(on_page(escape, Memory::default()), Ask::Nothing);
        let before = Memory { escaped: Some(500.0), ..Memory::default() };
        assert_eq!(on_page(escape, before), Ask::Stop);
        let too_long_ago = Memory { escaped: Some(-100.0), ..Memory::default() };
        assert_eq!(on_page(escape, too_long_ago), Ask::Nothing);
    }
}
