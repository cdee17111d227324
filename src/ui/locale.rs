//! Localization: the language of the page, and the macros for its messages. Both languages stand in one line, so a
//! missing translation does not compile.
//!
//! Messages do not take the language as an argument: they ask [`locale`] for that of the current rendering. The
//! browser sets it once, from `<html lang>`; the server sets it for each step of a request's work
//! (`http::request::language`), so requests in several languages share its threads.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Defines messages, one a line: the function's name, English, Chinese.
macro_rules! define_messages {
    ($($(#[$doc:meta])* $name:ident: $english:expr, $chinese:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> &'static str {
            $crate::ui::locale::localized_word($english, $chinese)
        }
    )*};
}

/// A sentence with values: English, Chinese.
macro_rules! message {
    ($english:literal, $chinese:literal) => {
        $crate::ui::locale::localized_sentence(|| format!($english), || format!($chinese))
    };
}

/// A sentence with a plural: the number, English for one, English for others, Chinese.
macro_rules! plural_message {
    ($count:expr; $one:literal, $other:literal; $chinese:literal) => {
        $crate::ui::locale::localized_sentence(
            || if $count == 1 { format!($one) } else { format!($other) },
            || format!($chinese),
        )
    };
}

pub mod coded_messages;
pub mod failure_sentences;

/// The cookie with the chosen language.
pub const LOCALE_COOKIE: &str = "turnleaf_language";

/// A language of the interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locale {
    #[default]
    English,
    Chinese,
    /// A pseudo-locale: English with other letters, longer by four tenths and between brackets, so that hard-coded
    /// texts and tight layouts are visible at once. No menu offers it.
    Pseudo,
}

impl Locale {
    /// The languages that a person may choose.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the value for the cookie and for `html[lang]` (BCP 47).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
            Self::Pseudo => "en-XA",
        }
    }

    /// Parses the result of `as_str`.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::English, Self::Chinese, Self::Pseudo].into_iter().find(|locale| locale.as_str() == word)
    }

    /// Returns the language's name for itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::English | Self::Pseudo => "English",
            Self::Chinese => "简体中文",
        }
    }

    /// Negotiates the language of an `Accept-Language` header (RFC 9110 12.5.4): the known language with the highest
    /// weight, the first of equals; English where none is known.
    pub fn from_accept_language(header: &str) -> Self {
        let mut best = (0, Self::English);
        for item in header.split(',') {
            let mut parts = item.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default().to_ascii_lowercase();
            let locale = match tag.split('-').next() {
                Some("en") => Self::English,
                Some("zh") => Self::Chinese,
                _ => continue,
            };
            let weight = parts
                .find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")))
                .map_or(Some(1000), weight)
                .unwrap_or(0);
            if weight > best.0 {
                best = (weight, locale);
            }
        }
        best.1
    }

    /// Sets the language from now on: for a browser, which has one reader.
    pub fn set_current(self) {
        LOCALE.set(self);
    }
}

/// Parses a weight such as `0.8` into thousandths.
fn weight(text: &str) -> Option<u32> {
    let weight: f32 = text.trim().parse().ok()?;
    (0.0..=1.0).contains(&weight).then_some((weight * 1000.0) as u32)
}

thread_local! {
    static LOCALE: Cell<Locale> = const { Cell::new(Locale::English) };
    static PSEUDO: RefCell<HashMap<&'static str, &'static str>> = RefCell::new(HashMap::new());
}

/// Returns the language of the current rendering.
pub fn locale() -> Locale {
    LOCALE.get()
}

/// Runs an action in a language.
pub fn with_locale<T>(locale: Locale, act: impl FnOnce() -> T) -> T {
    /// Restores the previous language, also after a panic, because the thread serves other requests afterwards.
    struct RestoreLocale(Locale);
    impl Drop for RestoreLocale {
        fn drop(&mut self) {
            LOCALE.set(self.0);
        }
    }
    let _back = RestoreLocale(LOCALE.replace(locale));
    act()
}

/// Wraps work for another thread, so that it runs in the current language.
pub fn propagate_locale<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let locale = locale();
    move || with_locale(locale, work)
}

/// Returns one of two words, by the current language.
pub fn localized_word(english: &'static str, chinese: &'static str) -> &'static str {
    match locale() {
        Locale::English => english,
        Locale::Chinese => chinese,
        Locale::Pseudo => PSEUDO.with_borrow_mut(|known| {
            // Bounded leak: one entry for each message of the tables and thread; requests do not add to it.
            *known.entry(english).or_insert_with(|| Box::leak(pseudo(english).into_boxed_str()))
        }),
    }
}

/// Returns a formatted sentence in the current language.
pub fn localized_sentence(english: impl FnOnce() -> String, chinese: impl FnOnce() -> String) -> String {
    match locale() {
        Locale::English => english(),
        Locale::Chinese => chinese(),
        Locale::Pseudo => pseudo(&english()),
    }
}

/// Converts a text to the pseudo-locale.
fn pseudo(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        'a' => 'à',
        'e' => 'é',
        'i' => 'ï',
        'o' => 'ô',
        'u' => 'ü',
        'A' => 'Å',
        'E' => 'É',
        'I' => 'Î',
        'O' => 'Ø',
        'U' => 'Û',
        other => other,
    });
    let more = text.chars().count().div_ceil(5) * 2;
    let mut marked: String = std::iter::once('[').chain(letters).collect();
    // The padding has spaces, so that lines can break as between words.
    marked.extend((1..=more).flat_map(|at| ['·', ' '].into_iter().take(if at % 8 == 0 && at < more { 2 } else { 1 })));
    marked.push(']');
    marked
}

/// Joins the items of a list.
pub fn join_list(items: &[impl AsRef<str>]) -> String {
    let between = if locale() == Locale::Chinese { "、" } else { ", " };
    let items: Vec<Cow<'_, str>> = items.iter().map(|item| Cow::Borrowed(item.as_ref())).collect();
    items.join(between)
}

/// Returns the separator between a label and its value.
pub fn colon() -> &'static str {
    localized_word(": ", "：")
}

/// Returns the separator between two sentences.
pub fn sentence_end() -> &'static str {
    localized_word(". ", "。")
}

/// Returns the separator between two parts of a line.
pub fn comma() -> &'static str {
    localized_word(", ", "，")
}

/// Formats a label with its value.
pub fn label_with_value(label: &str, value: &str) -> String {
    message!("{label}: {value}", "{label}：{value}")
}

/// Joins two sentences.
pub fn join_sentences(first: &str, second: &str) -> String {
    message!("{first} {second}", "{first}{second}")
}

/// Puts a text in parentheses behind another.
pub fn parenthesized(text: &str) -> String {
    message!(" ({text})", "（{text}）")
}

pub(crate) use {define_messages, message, plural_message};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_language_is_read_by_its_weights() {
        for (header, locale) in [
            ("", Locale::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Locale::Chinese),
            ("zh-Hant-TW", Locale::Chinese),
            ("en-US,en;q=0.9,zh;q=0.8", Locale::English),
            ("de-DE, de;q=0.9, zh;q=0.5, en;q=0.4", Locale::Chinese),
            ("de;q=0.9, fr", Locale::English),
            ("zh;q=0, en;q=0", Locale::English),
            ("en;q=0.3,zh;q=0.30001", Locale::English),
            ("ZH ; q=0.7 , en;q=0.6", Locale::Chinese),
            ("zh;q=NaN,en;q=0.1", Locale::English),
            ("zhx,*", Locale::English),
            (";;,,q=1", Locale::English),
        ] {
            assert_eq!(Locale::from_accept_language(header), locale, "{header}");
        }
    }

    #[test]
    fn locale_holds_for_work_done_in_it_and_no_longer() {
        assert_eq!(locale(), Locale::English);
        let both = || (localized_word("Close", "关闭"), localized_sentence(|| "1 chat".into(), || "1 个对话".into()));
        assert_eq!(both(), ("Close", "1 chat".to_owned()));
        assert_eq!(with_locale(Locale::Chinese, both), ("关闭", "1 个对话".to_owned()));
        let panicked = std::panic::catch_unwind(|| with_locale(Locale::Chinese, || panic!("as asked")));
        assert!(panicked.is_err());
        assert_eq!(locale(), Locale::English);
        let carried = with_locale(Locale::Chinese, || propagate_locale(both));
        assert_eq!(std::thread::spawn(carried).join().unwrap().0, "关闭");
    }

    #[test]
    fn plurals_follow_rules_of_language() {
        let counted = |count: u32| plural_message!(count; "1 chat", "{count} chats"; "{count} 个对话");
        assert_eq!([counted(0), counted(1), counted(2)], ["0 chats", "1 chat", "2 chats"]);
        assert_eq!(with_locale(Locale::Chinese, || [counted(1), counted(2)]), ["1 个对话", "2 个对话"]);
        assert_eq!(with_locale(Locale::Chinese, || join_list(&["甲", "乙"])), "甲、乙");
    }

    #[test]
    fn pseudo_language_marks_text_of_tables() {
        let marked = with_locale(Locale::Pseudo, || localized_word("Close", "关闭"));
        assert_eq!(marked, "[Clôsé··]");
        assert!(std::ptr::eq(marked, with_locale(Locale::Pseudo, || localized_word("Close", "关闭"))), "made once");
        assert_eq!(Locale::parse("en-XA"), Some(Locale::Pseudo));
        assert!(!Locale::ALL.contains(&Locale::Pseudo));
    }
}
