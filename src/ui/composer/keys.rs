//! Key handling of the message box as a pure function (docs/reference/ux.md 10.2). Input methods end a composition
//! with the same Enter that sends; browsers report it in three different ways, and all three are handled.

use crate::ui::input_method::{CompositionMemory, FieldKeyPress, is_input_method_press};

/// The maximum distance of the two presses of Esc that stop a reply, in milliseconds.
const TWICE_MS: f64 = 1000.0;

/// The action of a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerKeyAction {
    /// Leaves the press to the browser.
    Nothing,
    Send,
    Stop,
}

/// The action of a key press on a list that the box points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKeyAction {
    /// The press is not for the list.
    Nothing,
    /// Moves to the option at this index.
    Move(usize),
    /// Chooses the active option.
    Take,
    Close,
}

/// Decides on a press while a list of `count` options is open, of which the one at `at` is active. Without options
/// only Esc is for the list.
pub fn list_key_action(press: FieldKeyPress<'_>, memory: CompositionMemory, at: usize, count: usize) -> ListKeyAction {
    if is_input_method_press(press, memory) || press.command || press.alt || press.shift {
        return ListKeyAction::Nothing;
    }
    match (press.key, count) {
        ("Escape", _) => ListKeyAction::Close,
        (_, 0) => ListKeyAction::Nothing,
        ("ArrowDown", _) => ListKeyAction::Move((at + 1) % count),
        ("ArrowUp", _) => ListKeyAction::Move((at + count - 1) % count),
        ("Enter" | "Tab", _) => ListKeyAction::Take,
        _ => ListKeyAction::Nothing,
    }
}

/// Decides on a press in the message box. `is_touch` means an on-screen keyboard, whose Enter is a new line, as is
/// Enter for people who `chose` to send with Ctrl+Enter. Shift+Enter also sends where Shift has no other use.
pub fn message_box_key_action(
    press: FieldKeyPress<'_>,
    memory: CompositionMemory,
    is_touch: bool,
    chose: &str,
) -> ComposerKeyAction {
    if is_input_method_press(press, memory) {
        return ComposerKeyAction::Nothing;
    }
    match (press.key, press.command, press.shift, press.alt) {
        ("Enter", true, _, false) => ComposerKeyAction::Send,
        ("Enter", false, false, false) if !is_touch && chose == "enter" => ComposerKeyAction::Send,
        _ => ComposerKeyAction::Nothing,
    }
}

/// Decides on a press anywhere on the page while a reply runs. Esc stops at the second press, because it also closes
/// things; among the turns, where there is nothing to close, the transcript stops at the first.
pub fn page_key_action(press: FieldKeyPress<'_>, memory: CompositionMemory) -> ComposerKeyAction {
    let escaped_before = memory.escaped.is_some_and(|before| press.at - before < TWICE_MS);
    match (press.key, press.command, press.shift, press.alt) {
        _ if is_input_method_press(press, memory) => ComposerKeyAction::Nothing,
        ("Escape", false, false, false) if escaped_before => ComposerKeyAction::Stop,
        _ => ComposerKeyAction::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action_in_box(press: FieldKeyPress<'_>, memory: CompositionMemory, is_touch: bool) -> ComposerKeyAction {
        super::message_box_key_action(press, memory, is_touch, "enter")
    }

    fn enter() -> FieldKeyPress<'static> {
        FieldKeyPress {
            key: "Enter",
            key_code: 13,
            is_composing: false,
            command: false,
            shift: false,
            alt: false,
            at: 1000.0,
        }
    }

    #[test]
    fn enter_sends_and_shift_enter_does_not() {
        assert_eq!(action_in_box(enter(), CompositionMemory::default(), false), ComposerKeyAction::Send);
        assert_eq!(
            action_in_box(FieldKeyPress { shift: true, ..enter() }, CompositionMemory::default(), false),
            ComposerKeyAction::Nothing
        );
    }

    #[test]
    fn enter_on_touch_keyboard_is_new_line() {
        assert_eq!(action_in_box(enter(), CompositionMemory::default(), true), ComposerKeyAction::Nothing);
        assert_eq!(
            action_in_box(FieldKeyPress { command: true, ..enter() }, CompositionMemory::default(), true),
            ComposerKeyAction::Send
        );
    }

    #[test]
    fn enter_is_new_line_where_ctrl_enter_sends() {
        let by = |press| super::message_box_key_action(press, CompositionMemory::default(), false, "ctrl-enter");
        assert_eq!(
            (by(enter()), by(FieldKeyPress { shift: true, ..enter() })),
            (ComposerKeyAction::Nothing, ComposerKeyAction::Nothing)
        );
        assert_eq!(by(FieldKeyPress { command: true, ..enter() }), ComposerKeyAction::Send);
    }

    #[test]
    fn enter_that_ends_composition_sends_nothing_in_any_browser() {
        // Chrome and Firefox report it inside the composition.
        assert_eq!(
            action_in_box(FieldKeyPress { is_composing: true, ..enter() }, CompositionMemory::default(), false),
            ComposerKeyAction::Nothing
        );
        // Safari reports it after the composition, but marked.
        assert_eq!(
            action_in_box(FieldKeyPress { key_code: 229, ..enter() }, CompositionMemory::default(), false),
            ComposerKeyAction::Nothing
        );
        // Other browsers report it after the composition and unmarked.
        let ended = CompositionMemory { composition_ended: Some(980.0), ..CompositionMemory::default() };
        assert_eq!(action_in_box(enter(), ended, false), ComposerKeyAction::Nothing);
        let long_ago = CompositionMemory { composition_ended: Some(900.0), ..CompositionMemory::default() };
        assert_eq!(action_in_box(enter(), long_ago, false), ComposerKeyAction::Send);
    }

    #[test]
    fn list_wraps_around_and_ignores_other_keys() {
        let key = |key: &'static str| FieldKeyPress { key, key_code: 0, ..enter() };
        let in_list = |press, at, count| super::list_key_action(press, CompositionMemory::default(), at, count);
        assert_eq!(in_list(key("ArrowDown"), 2, 3), ListKeyAction::Move(0));
        assert_eq!(in_list(key("ArrowUp"), 0, 3), ListKeyAction::Move(2));
        assert_eq!((in_list(enter(), 0, 3), in_list(key("Tab"), 0, 3)), (ListKeyAction::Take, ListKeyAction::Take));
        assert_eq!(
            (in_list(enter(), 0, 0), in_list(key("Escape"), 0, 0)),
            (ListKeyAction::Nothing, ListKeyAction::Close)
        );
        assert_eq!(in_list(key("a"), 0, 3), ListKeyAction::Nothing);
        assert_eq!(in_list(FieldKeyPress { shift: true, ..enter() }, 0, 3), ListKeyAction::Nothing);
        assert_eq!(
            in_list(FieldKeyPress { is_composing: true, ..enter() }, 0, 3),
            ListKeyAction::Nothing,
            "it ends a composition"
        );
    }

    #[test]
    fn escape_stops_at_second_press() {
        let escape = FieldKeyPress { key: "Escape", key_code: 27, ..enter() };
        assert_eq!(page_key_action(escape, CompositionMemory::default()), ComposerKeyAction::Nothing);
        let before = CompositionMemory { escaped: Some(500.0), ..CompositionMemory::default() };
        assert_eq!(page_key_action(escape, before), ComposerKeyAction::Stop);
        let too_long_ago = CompositionMemory { escaped: Some(-100.0), ..CompositionMemory::default() };
        assert_eq!(page_key_action(escape, too_long_ago), ComposerKeyAction::Nothing);
    }
}
