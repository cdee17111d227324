//! Which press is which command, and which keys a command may have.

use super::*;

fn press(keys: &str) -> Press<'_> {
    let (mut command, mut shift, mut alt, mut key) = (false, false, false, keys);
    while let Some((flag, rest)) = key.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
        match flag {
            "C" => command = true,
            "S" => shift = true,
            _ => alt = true,
        }
        key = rest;
    }
    Press { key, command, shift, alt }
}

fn asked(scope: Scope, keys: &str, in_text: bool) -> Option<Command> {
    Keymap::default().asked(scope, press(keys), in_text, true)
}

#[test]
fn commands_work_wherever_the_focus_is() {
    for in_text in [false, true] {
        for (keys, command) in [
            ("C+S+O", Command::NewChat),
            ("C+k", Command::Search),
            ("C+K", Command::Search),
            ("C+.", Command::Panel),
            ("C+b", Command::Sidebar),
            ("F6", Command::NextPart),
            ("S+F6", Command::PartBefore),
            ("C+S+Enter", Command::StopAndSend),
            ("C+S+Backspace", Command::Stop),
            // On an American keyboard Shift makes a colon of it, on a German one it does not.
            ("C+S+:", Command::CopyCode),
            ("C+S+;", Command::CopyCode),
            // A slash is above the seven on some.
            ("C+S+/", Command::Shortcuts),
        ] {
            assert_eq!(asked(Scope::Page, keys, in_text), Some(command), "{keys}");
        }
    }
    // With Alt it is a character on some keyboards.
    assert_eq!(asked(Scope::Page, "C+A+b", false), None);
    assert_eq!(asked(Scope::Reading, "C+S+L", false), Some(Command::Quote));
}

#[test]
fn letters_and_signs_are_text_where_somebody_types_and_can_be_switched_off() {
    assert_eq!(asked(Scope::Page, "/", true), None);
    assert_eq!(asked(Scope::Page, "/", false), Some(Command::MessageBox));
    assert_eq!(asked(Scope::Turn, "e", true), None);
    assert_eq!(asked(Scope::Turn, "e", false), Some(Command::Edit));
    assert_eq!(asked(Scope::Turn, "C+c", false), None, "copying is the browser's");
    assert_eq!(asked(Scope::Turn, "A+ArrowDown", true), None, "words of a text on a Mac");
    let without = |scope, keys| Keymap::default().asked(scope, press(keys), false, false);
    assert_eq!((without(Scope::Turn, "e"), without(Scope::Page, "/")), (None, None));
    assert_eq!(without(Scope::Turn, "A+ArrowDown"), Some(Command::NextTurn));
    assert_eq!(without(Scope::Page, "C+K"), Some(Command::Search));
}

#[test]
fn keys_are_read_as_people_write_them_and_shown_as_one_does() {
    for (typed, shown) in [
        ("ctrl + j", "Ctrl+J"),
        ("⌘+⇧+k", "Ctrl+Shift+K"),
        ("Alt+Up", "Alt+↑"),
        ("alt+↑", "Alt+↑"),
        ("Shift+Ctrl+F8", "Ctrl+Shift+F8"),
        ("Ctrl++", "Ctrl++"),
        ("é", "É"),
        ("Strg+Alt+PgUp", "Ctrl+Alt+Page Up"),
    ] {
        assert_eq!(Chord::parse(typed).map(|chord| chord.to_string()).as_deref(), Some(shown), "{typed}");
    }
    for nonsense in ["", " ", "Ctrl", "Ctrl+", "Hyper+K", "K+Ctrl", "Ctrl+KK", "F99", "\u{7}"] {
        assert_eq!(Chord::parse(nonsense), None, "{nonsense:?}");
    }
}

#[test]
fn every_usual_key_could_be_typed_by_a_person_and_none_is_twice() {
    let usual = Keymap::default();
    for command in Command::ALL {
        let typed = usual.of(command).map(|chord| chord.to_string()).unwrap_or_default();
        assert_eq!(usual.check(command, &typed).ok(), usual.of(command), "{}: {typed}", command.name());
        assert_eq!(Command::parse(command.name()), Some(command));
    }
    assert_eq!(usual.kept(), "");
}

#[test]
fn keys_that_would_break_something_are_refused_with_the_reason() {
    let usual = Keymap::default();
    for (command, typed, why) in [
        (Command::Search, "", Refused::Unreadable),
        (Command::Search, "x", Refused::Bare),
        (Command::Search, "?", Refused::Bare),
        (Command::Search, "Ctrl+T", Refused::OfBrowser),
        (Command::Search, "Ctrl+Shift+N", Refused::OfBrowser),
        (Command::Search, "Ctrl+C", Refused::OfText),
        (Command::Search, "Enter", Refused::OfText),
        (Command::Edit, "ArrowDown", Refused::OfText),
        (Command::Search, "Ctrl+Left", Refused::OfText),
        (Command::Search, "Ctrl+B", Refused::Taken(Command::Sidebar)),
        (Command::Edit, "c", Refused::Taken(Command::Copy)),
        (Command::Edit, "Ctrl+K", Refused::Taken(Command::Search)),
    ] {
        assert_eq!(usual.check(command, typed), Err(why), "{typed}");
    }
    assert_eq!(usual.check(Command::Quote, "Ctrl+K"), Err(Refused::Taken(Command::Search)));
    assert!(usual.with(Command::Sidebar, None).check(Command::Search, "Ctrl+B").is_ok(), "it is free then");
}

#[test]
fn what_is_kept_is_read_back_and_nonsense_is_the_usual() {
    let usual = Keymap::default();
    let mine = usual
        .with(Command::Search, Chord::parse("Ctrl+;"))
        .with(Command::Stop, None)
        .with(Command::Edit, Chord::parse("Alt+Shift+Up"))
        .with(Command::Copy, Chord::parse("é"));
    let kept = mine.kept();
    assert_eq!(Keymap::from_kept(&kept), mine, "{kept}");
    assert!(kept.chars().all(|sign| sign.is_ascii_alphanumeric() || "-.=&".contains(sign)), "{kept}");
    for nonsense in
        ["search", "search=C", "search=C.zz", "search=C.110000", "none=C.6b", "search=C.74", "&&=", "search=-Enter"]
    {
        assert_eq!(Keymap::from_kept(nonsense), usual, "{nonsense}");
    }
    assert_eq!(mine.asked(Scope::Page, press("C+k"), false, true), None);
    assert_eq!(mine.asked(Scope::Page, press("C+;"), true, true), Some(Command::Search));
}
