//! What the keys of the palette's box do, as a pure decision.

/// What a press asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// To the row at this place.
    To(usize),
    /// What the row does.
    Act,
    /// The same in a tab of its own.
    ActBeside,
}

/// Reads a press: the key, Ctrl or Command, Shift or Alt; `at` is the row that is chosen of so many. The arrows go round.
pub fn ask(key: &str, command: bool, other: bool, at: usize, count: usize) -> Option<Ask> {
    if other || count == 0 {
        return None;
    }
    match (key, command) {
        ("ArrowDown", false) => Some(Ask::To((at + 1) % count)),
        ("ArrowUp", false) => Some(Ask::To((at + count - 1) % count)),
        ("Home", false) => Some(Ask::To(0)),
        ("End", false) => Some(Ask::To(count - 1)),
        ("Enter", false) => Some(Ask::Act),
        ("Enter", true) => Some(Ask::ActBeside),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_round_and_the_rest_is_the_boxes_own() {
        for (key, command, at, asked) in [
            ("ArrowDown", false, 0, Some(Ask::To(1))),
            ("ArrowDown", false, 2, Some(Ask::To(0))),
            ("ArrowUp", false, 0, Some(Ask::To(2))),
            ("Home", false, 2, Some(Ask::To(0))),
            ("End", false, 0, Some(Ask::To(2))),
            ("Enter", false, 1, Some(Ask::Act)),
            ("Enter", true, 1, Some(Ask::ActBeside)),
            ("ArrowDown", true, 0, None),
            ("ArrowLeft", false, 0, None),
            ("a", false, 0, None),
        ] {
            assert_eq!(ask(key, command, false, at, 3), asked, "{key} {command} {at}");
            assert_eq!(ask(key, command, true, at, 3), None, "{key} with Shift");
            assert_eq!(ask(key, command, false, 0, 0), None, "{key} without rows");
        }
    }
}
