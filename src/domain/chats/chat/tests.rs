//! Tests of titles by people and of titles derived from messages.

use proptest::prelude::*;

use super::*;
use crate::fixtures;

#[test]
fn user_title_is_trimmed_and_bounded() {
    let longest = "字".repeat(limits::TITLE_CHARS);
    let table = [
        ("Plans", Some("Plans")),
        ("  Plans \n", Some("Plans")),
        ("", Some("")),
        (longest.as_str(), Some(longest.as_str())),
        ("a\u{0}b", None),
        ("a\nb", None),
        ("a\u{1b}[31mb", None),
    ];
    for (title, expected) in table {
        assert_eq!(check_title(title).ok().as_deref(), expected, "{title:?}");
    }
    let too_long = "a".repeat(limits::TITLE_CHARS + 1);
    assert_eq!(check_title(&too_long).unwrap_err().field, "title");
}

#[test]
fn derived_title_is_first_meaningful_line() {
    let long = "How do I keep a server running while I change the engine under it without anybody noticing?";
    let table = [
        ("Hello", "Hello"),
        ("\n\n  Hello \nmore", "Hello"),
        ("# A heading\ntext", "A heading"),
        ("> quoted", "quoted"),
        ("```\nlet x = 1;", "let x = 1;"),
        ("---\n***\nafter the rule", "after the rule"),
        ("a\tb\u{7}c", "a bc"),
        ("\u{7}\nsecond", "second"),
        ("", ""),
        (" \n\t\n", ""),
        (long, "How do I keep a server running while I change the engine…"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ];
    for (text, title) in table {
        assert_eq!(derive_title(text), title, "{text:?}");
    }
}

#[test]
fn long_title_is_cut_at_word_with_ellipsis() {
    for (title, chars, shorter) in [
        ("Plans", 5, "Plans"),
        ("Plans for May", 8, "Plans…"),
        ("Plansformay", 8, "Plansfo…"),
        ("a Plansformay", 8, "a Plans…"),
        ("字字字字", 3, "字字…"),
    ] {
        assert_eq!(shorten_title(title, chars), shorter, "{title:?}");
    }
    let longest = shorten_title(&"word ".repeat(100), limits::TITLE_CHARS);
    assert!(longest.ends_with("word…") && check_title(&longest).is_ok(), "{longest}");
}

#[test]
fn line_without_word_breaks_is_truncated() {
    assert_eq!(derive_title(&"字".repeat(100)), format!("{}…", "字".repeat(60)));
    assert_eq!(derive_title(&"🌦".repeat(61)), format!("{}…", "🌦".repeat(60)));
}

#[test]
fn chat_json_omits_owner() {
    let (id, owner) = (ChatId::from_uuid(fixtures::uuid(1)), UserId::from_uuid(fixtures::uuid(2)));
    let chat = Chat { title: "Plans".into(), ..Chat::new(id, owner, fixtures::time(0)) };
    let json = serde_json::to_value(&chat).unwrap();
    assert_eq!(json.get("owner_id"), None);
    let back: Chat = serde_json::from_value(json).unwrap();
    assert_eq!((back.owner_id, back.title), (nobody(), chat.title));
}

proptest! {
    #[test]
    fn derived_title_always_passes_title_check(text in "\\PC{0,80}|[ -~\n\t\u{0}\u{7}\u{3000}]{0,200}") {
        let title = derive_title(&text);
        prop_assert_eq!(check_title(&title).unwrap(), title);
    }
}
