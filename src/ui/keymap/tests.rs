//! Tests which press runs which command, and which keys a command may have.

use super::*;

fn press(keys: &str) -> KeyPress<'_> {
    let (mut command, mut shift, mut alt, mut key) = (false, false, false, keys);
    while let Some((flag, rest)) = key.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
        match flag {
            "C" => command = true,
            "S" => shift = true,
            _ => alt = true,
        }
        key = rest;
    }
    KeyPress { key, command, shift, alt }
}

fn command_for(scope: KeyScope, keys: &str, in_text: bool) -> Option<KeyCommand> {
    Keymap::default().command_for(scope, press(keys), in_text, true)
}

#[test]
fn commands_work_wherever_focus_is() {
    for in_text in [false, true] {
        for (keys, command) in [
            ("C+S+O", KeyCommand::NewChat),
            ("C+k", KeyCommand::Search),
            ("C+K", KeyCommand::Search),
            ("C+.", KeyCommand::Panel),
            ("C+b", KeyCommand::Sidebar),
            ("F6", KeyCommand::NextPart),
            ("S+F6", KeyCommand::PartBefore),
            ("C+S+Enter", KeyCommand::StopAndSend),
            ("C+S+Backspace", KeyCommand::Stop),
            // On a US keyboard Shift makes it a colon, on a German one it does not.
            ("C+S+:", KeyCommand::CopyCode),
            ("C+S+;", KeyCommand::CopyCode),
            // On some keyboards the slash is above the seven.
            ("C+S+/", KeyCommand::Shortcuts),
        ] {
            assert_eq!(command_for(KeyScope::Page, keys, in_text), Some(command), "{keys}");
        }
    }
    // With Alt it is a character on some keyboards.
    assert_eq!(command_for(KeyScope::Page, "C+A+b", false), None);
    assert_eq!(command_for(KeyScope::Reading, "C+S+L", false), Some(KeyCommand::Quote));
}

#[test]
fn letters_and_signs_are_text_in_fields_and_can_be_switched_off() {
    assert_eq!(command_for(KeyScope::Page, "/", true), None);
    assert_eq!(command_for(KeyScope::Page, "/", false), Some(KeyCommand::MessageBox));
    assert_eq!(command_for(KeyScope::Turn, "e", true), None);
    assert_eq!(command_for(KeyScope::Turn, "e", false), Some(KeyCommand::Edit));
    assert_eq!(command_for(KeyScope::Turn, "C+c", false), None, "copying is the browser's");
    assert_eq!(command_for(KeyScope::Turn, "A+ArrowDown", true), None, "words of a text on a Mac");
    let without = |scope, keys| Keymap::default().command_for(scope, press(keys), false, false);
    assert_eq!((without(KeyScope::Turn, "e"), without(KeyScope::Page, "/")), (None, None));
    assert_eq!(without(KeyScope::Turn, "A+ArrowDown"), Some(KeyCommand::NextTurn));
    assert_eq!(without(KeyScope::Page, "C+K"), Some(KeyCommand::Search));
}

#[test]
fn keys_are_parsed_leniently_and_shown_uniformly() {
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
fn every_default_chord_is_allowed_and_unique() {
    let usual = Keymap::default();
    for command in KeyCommand::ALL {
        let typed = usual.chord(command).map(|chord| chord.to_string()).unwrap_or_default();
        assert_eq!(usual.check(command, &typed).ok(), usual.chord(command), "{}: {typed}", command.name());
        assert_eq!(KeyCommand::parse(command.name()), Some(command));
    }
    assert_eq!(usual.to_stored(), "");
}

#[test]
fn harmful_chords_are_refused_with_reason() {
    let usual = Keymap::default();
    for (command, typed, reason) in [
        (KeyCommand::Search, "", ChordRejection::Unreadable),
        (KeyCommand::Search, "x", ChordRejection::Bare),
        (KeyCommand::Search, "?", ChordRejection::Bare),
        (KeyCommand::Search, "Ctrl+T", ChordRejection::ReservedByBrowser),
        (KeyCommand::Search, "Ctrl+Shift+N", ChordRejection::ReservedByBrowser),
        (KeyCommand::Search, "Ctrl+C", ChordRejection::NeededForText),
        (KeyCommand::Search, "Enter", ChordRejection::NeededForText),
        (KeyCommand::Edit, "ArrowDown", ChordRejection::NeededForText),
        (KeyCommand::Search, "Ctrl+Left", ChordRejection::NeededForText),
        (KeyCommand::Search, "Ctrl+B", ChordRejection::Taken(KeyCommand::Sidebar)),
        (KeyCommand::Edit, "c", ChordRejection::Taken(KeyCommand::Copy)),
        (KeyCommand::Edit, "Ctrl+K", ChordRejection::Taken(KeyCommand::Search)),
    ] {
        assert_eq!(usual.check(command, typed), Err(reason), "{typed}");
    }
    assert_eq!(usual.check(KeyCommand::Quote, "Ctrl+K"), Err(ChordRejection::Taken(KeyCommand::Search)));
    assert!(usual.with_chord(KeyCommand::Sidebar, None).check(KeyCommand::Search, "Ctrl+B").is_ok(), "it is free then");
}

#[test]
fn stored_keymap_is_read_back_and_nonsense_is_default() {
    let usual = Keymap::default();
    let mine = usual
        .with_chord(KeyCommand::Search, Chord::parse("Ctrl+;"))
        .with_chord(KeyCommand::Stop, None)
        .with_chord(KeyCommand::Edit, Chord::parse("Alt+Shift+Up"))
        .with_chord(KeyCommand::Copy, Chord::parse("é"));
    let kept = mine.to_stored();
    assert_eq!(Keymap::from_stored(&kept), mine, "{kept}");
    assert!(kept.chars().all(|sign| sign.is_ascii_alphanumeric() || "-.=&".contains(sign)), "{kept}");
    for nonsense in
        ["search", "search=C", "search=C.zz", "search=C.110000", "none=C.6b", "search=C.74", "&&=", "search=-Enter"]
    {
        assert_eq!(Keymap::from_stored(nonsense), usual, "{nonsense}");
    }
    assert_eq!(mine.command_for(KeyScope::Page, press("C+k"), false, true), None);
    assert_eq!(mine.command_for(KeyScope::Page, press("C+;"), true, true), Some(KeyCommand::Search));
}
