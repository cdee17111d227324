//! Chords, keys that are pressed together: parsed, displayed, stored and matched with a press.

use std::fmt;

use leptos::ev::KeyboardEvent;

use crate::browser::case_mapping::{to_lowercase, to_uppercase};

/// Named keys: the browser's name, the displayed name, and accepted spellings.
const NAMED: &[(&str, &str, &[&str])] = &[
    ("ArrowUp", "↑", &["up"]),
    ("ArrowDown", "↓", &["down"]),
    ("ArrowLeft", "←", &["left"]),
    ("ArrowRight", "→", &["right"]),
    ("Enter", "Enter", &["return"]),
    ("Backspace", "Backspace", &[]),
    ("Delete", "Delete", &["del"]),
    ("Insert", "Insert", &["ins"]),
    ("Home", "Home", &[]),
    ("End", "End", &[]),
    ("PageUp", "Page Up", &["pageup", "pgup"]),
    ("PageDown", "Page Down", &["pagedown", "pgdn"]),
    ("F1", "F1", &[]),
    ("F2", "F2", &[]),
    ("F3", "F3", &[]),
    ("F4", "F4", &[]),
    ("F6", "F6", &[]),
    ("F7", "F7", &[]),
    ("F8", "F8", &[]),
    ("F9", "F9", &[]),
    ("F10", "F10", &[]),
];
/// Signs with the sign above them on US keyboard layouts: with Shift, browsers report the upper one.
const ABOVE: &[(char, char)] =
    &[(';', ':'), ('/', '?'), ('.', '>'), (',', '<'), ('\'', '"'), ('-', '_'), ('=', '+'), ('[', '{'), (']', '}')];

/// A key press, without the browser's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPress<'a> {
    pub key: &'a str,
    /// Ctrl, or Command on a Mac.
    pub command: bool,
    pub shift: bool,
    pub alt: bool,
}

impl<'a> KeyPress<'a> {
    /// Converts a browser event; `key` is the event's key as text.
    pub fn from_event(event: &KeyboardEvent, key: &'a str) -> Self {
        let command = event.ctrl_key() || event.meta_key();
        Self { key, command, shift: event.shift_key(), alt: event.alt_key() }
    }
}

/// Keys that are pressed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    command: bool,
    shift: bool,
    alt: bool,
    key: ChordKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChordKey {
    /// A lower-case letter, a digit, or a sign.
    Sign(char),
    /// An index into [`NAMED`].
    Named(u8),
}

impl ChordKey {
    fn parse(word: &str) -> Option<Self> {
        let mut signs = word.chars();
        if let (Some(sign), None) = (signs.next(), signs.next())
            && !sign.is_whitespace()
            && !sign.is_control()
            && !NAMED.iter().any(|(_, shown, _)| *shown == word)
        {
            return Some(Self::Sign(to_lowercase(word).chars().next().unwrap_or(sign)));
        }
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        let at = NAMED.iter().position(|(name, shown, others)| is(name) || is(shown) || others.iter().any(|o| is(o)));
        at.and_then(|at| u8::try_from(at).ok()).map(Self::Named)
    }
}

impl Chord {
    /// Parses `Ctrl+Shift+K`, `alt + up`, `/`. `None` where no keys are named.
    pub fn parse(typed: &str) -> Option<Self> {
        let mut rest = typed.trim();
        let mut chord = Self { command: false, shift: false, alt: false, key: ChordKey::Sign(' ') };
        // The last key may be the plus itself.
        while let Some((before, after)) =
            rest.split_once('+').filter(|(before, after)| !before.is_empty() && !after.is_empty())
        {
            let part = match to_lowercase(before.trim()).as_str() {
                "ctrl" | "control" | "strg" | "cmd" | "command" | "meta" | "⌘" => &mut chord.command,
                "shift" | "⇧" => &mut chord.shift,
                "alt" | "option" | "⌥" => &mut chord.alt,
                _ => return None,
            };
            *part = true;
            rest = after.trim();
        }
        chord.key = ChordKey::parse(rest)?;
        Some(chord)
    }

    /// Returns whether a person would press it to type its character.
    pub fn is_bare(self) -> bool {
        !self.command && !self.alt && matches!(self.key, ChordKey::Sign(_))
    }

    /// Returns whether browsers reserve it: for tabs, windows, reloading, or developer tools.
    pub fn is_reserved_by_browser(self) -> bool {
        match self.key {
            ChordKey::Sign(sign) if self.command && !self.alt => {
                let kept = if self.shift { "tnwijcrp" } else { "tnwrlqhjd0123456789+-=" };
                kept.contains(sign)
            }
            ChordKey::Named(_) => matches!(self.name(), "F1" | "F3" | "F7") && !self.command && !self.alt,
            ChordKey::Sign(_) => false,
        }
    }

    /// Returns whether text editing needs it.
    pub fn is_needed_for_text(self) -> bool {
        match self.key {
            ChordKey::Sign(sign) => self.command && !self.alt && !self.shift && "acvxzy".contains(sign),
            ChordKey::Named(_) if self.name().starts_with('F') => false,
            // Alone, with Shift or with Ctrl, named keys move through a text, change it or send it.
            ChordKey::Named(_) => !(self.alt || self.command && self.shift),
        }
    }

    /// Returns the browser's name of the key; empty for a sign.
    fn name(self) -> &'static str {
        match self.key {
            ChordKey::Named(at) => NAMED[usize::from(at)].0,
            ChordKey::Sign(_) => "",
        }
    }

    /// Returns whether this chord is pressed. The place of a sign depends on the keyboard layout, so Shift counts for
    /// a sign only where the chord names it.
    pub fn matches(self, press: KeyPress<'_>) -> bool {
        if (self.command, self.alt) != (press.command, press.alt) {
            return false;
        }
        let ChordKey::Sign(sign) = self.key else { return self.shift == press.shift && press.key == self.name() };
        let pressed = to_lowercase(press.key);
        let mut signs = pressed.chars();
        let (Some(pressed), None) = (signs.next(), signs.next()) else { return false };
        let is_above = || ABOVE.contains(&(sign, pressed));
        match (sign.is_alphanumeric(), self.shift) {
            (true, _) => self.shift == press.shift && pressed == sign,
            (false, true) => press.shift && (pressed == sign || is_above()),
            (false, false) => pressed == sign,
        }
    }

    /// Serializes the chord without characters that are special in cookies or attributes.
    pub fn to_stored(self) -> String {
        let flag = |is: bool, sign: &'static str| if is { sign } else { "" };
        let flags = [flag(self.command, "C"), flag(self.shift, "S"), flag(self.alt, "A")].concat();
        match self.key {
            ChordKey::Sign(sign) => format!("{flags}.{:x}", u32::from(sign)),
            ChordKey::Named(_) => format!("{flags}-{}", self.name()),
        }
    }

    /// Parses the result of [`Self::to_stored`].
    pub fn from_stored(text: &str) -> Option<Self> {
        let (flags, key) = match (text.split_once('.'), text.split_once('-')) {
            (Some((flags, code)), _) => (flags, ChordKey::Sign(char::from_u32(u32::from_str_radix(code, 16).ok()?)?)),
            (None, Some((flags, name))) => (flags, ChordKey::parse(name)?),
            (None, None) => return None,
        };
        let has = |flag| flags.contains(flag);
        let chord = Self { command: has('C'), shift: has('S'), alt: has('A'), key };
        // Cookies are untrusted input.
        (!chord.is_reserved_by_browser() && !chord.is_needed_for_text()).then_some(chord)
    }

    /// Returns the keys one by one, for `<kbd>`.
    pub fn parts(self) -> Vec<String> {
        let flag = |is: bool, name: &str| is.then(|| name.to_owned());
        let key = match self.key {
            ChordKey::Sign(sign) => to_uppercase(&sign.to_string()),
            ChordKey::Named(at) => NAMED[usize::from(at)].1.to_owned(),
        };
        [flag(self.command, "Ctrl"), flag(self.alt, "Alt"), flag(self.shift, "Shift"), Some(key)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts().join("+"))
    }
}
