//! Fixed keys of a document's page, in addition to the configurable ones.

/// The action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteKeyAction {
    /// Moves by this many lines; the flag says whether the selection is extended.
    MoveLines(isize, bool),
    Quote,
    OpenBar,
    Close,
    Search,
}

/// Parses a key press: the key, Ctrl or Command, Shift, Alt. `in_text` means that the document's text has the focus.
pub(super) fn quote_key_action(
    (key, command, shift, alt): (&str, bool, bool, bool),
    in_text: bool,
) -> Option<QuoteKeyAction> {
    match (key, command, shift, alt) {
        ("Escape", false, false, false) => Some(QuoteKeyAction::Close),
        ("ContextMenu", false, _, false) | ("F10", false, true, false) if in_text => Some(QuoteKeyAction::OpenBar),
        ("ArrowDown", false, _, false) if in_text => Some(QuoteKeyAction::MoveLines(1, shift)),
        ("ArrowUp", false, _, false) if in_text => Some(QuoteKeyAction::MoveLines(-1, shift)),
        ("End", false, _, false) if in_text => Some(QuoteKeyAction::MoveLines(isize::MAX, shift)),
        ("Home", false, _, false) if in_text => Some(QuoteKeyAction::MoveLines(isize::MIN, shift)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(key: &str, held: &str, in_text: bool) -> Option<QuoteKeyAction> {
        quote_key_action((key, held.contains('c'), held.contains('s'), held.contains('a')), in_text)
    }

    #[test]
    fn keys_move_through_lines_where_text_has_focus() {
        for (key, held, expected) in [
            ("ArrowDown", "", QuoteKeyAction::MoveLines(1, false)),
            ("ArrowUp", "s", QuoteKeyAction::MoveLines(-1, true)),
            ("End", "s", QuoteKeyAction::MoveLines(isize::MAX, true)),
            ("Home", "", QuoteKeyAction::MoveLines(isize::MIN, false)),
            ("ContextMenu", "", QuoteKeyAction::OpenBar),
            ("F10", "s", QuoteKeyAction::OpenBar),
        ] {
            assert_eq!(pressed(key, held, true), Some(expected), "{key} {held}");
            assert_eq!(pressed(key, held, false), None, "{key} {held} elsewhere");
        }
        for (key, held) in
            [("ArrowDown", "c"), ("ArrowLeft", "s"), ("End", "c"), ("l", ""), ("l", "c"), ("PageDown", "")]
        {
            assert_eq!(pressed(key, held, true), None, "{key} {held} is the browser's");
        }
    }

    #[test]
    fn closing_works_wherever_focus_is() {
        for in_text in [false, true] {
            assert_eq!(pressed("Escape", "", in_text), Some(QuoteKeyAction::Close));
        }
    }
}
