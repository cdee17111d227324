//! Menu state of the message box: `@` opens documents, lines of them, and turns ([`menu`]); `/` at the beginning of a
//! line opens commands ([`commands`]). Each menu is a list that the box points into; the focus stays in the box (APG:
//! combobox with a listbox).

pub mod commands;
pub mod list;
pub mod mention_matches;
pub mod menu;
pub mod menus;
mod prompts;
mod turns;

use leptos::html;
use leptos::prelude::*;

use super::keys::{self, ListKeyAction};
use crate::browser::{scroll, textarea};
use crate::ui::input_method::{CompositionMemory, FieldKeyPress};

/// The id of the list; the ids of its options begin with it.
pub const LIST: &str = "mention";
/// The maximum length of a word that titles are searched by.
const WORD_CHARS: usize = 60;
/// The maximum length of a command.
const COMMAND_CHARS: usize = 40;

#[derive(Clone, Copy)]
pub struct MentionState {
    /// The word behind `@`; none while that menu is closed.
    word: RwSignal<Option<String>>,
    /// The word behind `/`; at most one of both is open.
    command: RwSignal<Option<String>>,
    /// The number of options in the menu; none before it is known.
    count: RwSignal<Option<usize>>,
    active: RwSignal<usize>,
    /// The chosen option, for the menu to apply.
    chosen: RwSignal<Option<usize>>,
    /// True if Enter may still be held back once while the menu does not know its options yet.
    holds: StoredValue<bool>,
    /// True if Enter was pressed before the options of the commands were known: the first one is chosen then.
    is_take_pending: StoredValue<bool>,
    /// The text up to the `@` whose menu was dismissed: it stays closed.
    dismissed: StoredValue<Option<String>>,
}

impl Default for MentionState {
    fn default() -> Self {
        Self::new()
    }
}

impl MentionState {
    pub fn new() -> Self {
        Self {
            word: RwSignal::new(None),
            command: RwSignal::new(None),
            count: RwSignal::new(None),
            holds: StoredValue::new(true),
            is_take_pending: StoredValue::new(false),
            active: RwSignal::new(0),
            chosen: RwSignal::new(None),
            dismissed: StoredValue::new(None),
        }
    }

    pub fn is_open(self) -> bool {
        self.word.with(Option::is_some) || self.command.with(Option::is_some)
    }

    /// Returns the id of the list while it is shown.
    pub fn list_id(self) -> Option<&'static str> {
        (self.is_open() && self.count.get().is_some()).then_some(LIST)
    }

    /// Returns the id of the option that Enter chooses.
    pub fn active_option(self) -> Option<String> {
        let count = if self.is_open() { self.count.get().unwrap_or(0) } else { 0 };
        (count > 0).then(|| format!("{LIST}-{}", self.active.get().min(count - 1)))
    }

    /// Sets the number of options.
    fn set_count(self, count: Option<usize>) {
        self.count.set(count);
        let is_taken = count.is_some_and(|count| count > 0)
            && self.is_take_pending.try_update_value(std::mem::take).unwrap_or(false);
        if is_taken {
            self.chosen.set(Some(0));
        }
    }

    pub fn close(self) {
        self.is_take_pending.set_value(false);
        for open_word in [self.word, self.command] {
            if open_word.with_untracked(Option::is_some) {
                open_word.set(None);
            }
        }
    }

    /// Closes the menu and keeps it closed for the sign before the caret.
    fn dismiss(self, area: Area) {
        let before = text_before(area);
        let word = trigger_at_end(&before).map_or(0, |(_, word)| word.len());
        self.dismissed.set_value(Some(before[..before.len() - word].to_owned()));
        self.close();
    }

    /// Handles a change of the text or the caret.
    pub fn on_text_change(self, area: Area) {
        let before = text_before(area);
        let Some((sign, word)) = trigger_at_end(&before) else { return self.close() };
        let up_to = &before[..before.len() - word.len()];
        if self.dismissed.with_value(|dismissed| dismissed.as_deref() == Some(up_to)) {
            return;
        }
        self.dismissed.set_value(None);
        self.holds.set_value(true);
        self.is_take_pending.set_value(false);
        self.active.set(0);
        let (current, other) = match sign {
            Sign::At => (self.word, self.command),
            Sign::Slash => (self.command, self.word),
        };
        if other.with_untracked(Option::is_some) || current.with_untracked(Option::is_none) {
            // The count of the other menu does not apply to this one.
            self.count.set(None);
            other.set(None);
        }
        current.set(Some(word.to_owned()));
    }

    /// Handles a move of the caret: an open menu follows or closes; none opens.
    pub fn on_caret_move(self, area: Area) {
        if untrack(|| self.is_open()) {
            self.on_text_change(area);
        }
    }

    /// Handles a key press; true if it belonged to the menu.
    pub fn handle_key(self, area: Area, memory: CompositionMemory, press: FieldKeyPress<'_>) -> bool {
        if !untrack(|| self.is_open()) {
            return false;
        }
        let known = self.count.get_untracked();
        let count = known.unwrap_or(1);
        let at = self.active.get_untracked().min(count.saturating_sub(1));
        match keys::list_key_action(press, memory, at, count) {
            ListKeyAction::Nothing => return false,
            ListKeyAction::Move(_) if known.is_none() => return false,
            // A message sent too early would contain the word that should have become a document.
            ListKeyAction::Take if known.is_none() => {
                let is_held = self.holds.try_update_value(std::mem::take).unwrap_or(false);
                self.is_take_pending.set_value(is_held && self.command.with_untracked(Option::is_some));
                return is_held;
            }
            ListKeyAction::Move(to) => {
                self.active.set(to);
                request_animation_frame(move || scroll::scroll_into_view(&format!("#{LIST}-{to}")));
            }
            ListKeyAction::Take => self.chosen.set(Some(at)),
            ListKeyAction::Close => self.dismiss(area),
        }
        true
    }
}

/// The text area, while it is in the page.
type Area = NodeRef<html::Textarea>;

fn text_before(area: Area) -> String {
    area.get_untracked().and_then(|area| textarea::text_before_caret(&area)).unwrap_or_default()
}

/// The sign that opens a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    At,
    Slash,
}

/// Returns the sign that this text ends with, and the word behind it.
fn trigger_at_end(text: &str) -> Option<(Sign, &str)> {
    let command = || Some((Sign::Slash, command_at_end(text)?));
    word_at_end(text).map(|word| (Sign::At, word)).or_else(command)
}

/// Returns the word behind a `/` that begins the last line. The same key yields `、` with a Chinese input method,
/// which begins no line.
fn command_at_end(text: &str) -> Option<&str> {
    let line = text.rsplit('\n').next()?;
    let word = line.strip_prefix(['/', '／', '、'])?;
    let is_word = word.chars().count() <= COMMAND_CHARS && !word.contains(|c: char| c.is_whitespace() || c == '/');
    is_word.then_some(word)
}

/// Returns the word behind an `@` that ends this text, where the `@` begins a word.
fn word_at_end(text: &str) -> Option<&str> {
    let (before, word) = text.rsplit_once('@')?;
    let begins = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "([{\"'“‘«".contains(c));
    let is_word = word.chars().count() <= WORD_CHARS && !word.chars().any(char::is_whitespace);
    (begins && is_word).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sign_opens_menu_only_where_it_begins_word() {
        for (text, word) in [
            ("@", Some("")),
            ("see @spec", Some("spec")),
            ("see\n@规格", Some("规格")),
            ("(@a", Some("a")),
            ("mail me@example.org", None),
            ("@two words", None),
            ("@a@b", None),
            ("", None),
        ] {
            assert_eq!(word_at_end(text), word, "{text:?}");
        }
        assert_eq!(word_at_end(&format!("@{}", "a".repeat(61))), None);
    }

    #[test]
    fn slash_opens_menu_only_where_it_begins_line() {
        for (text, expected) in [
            ("/", Some((Sign::Slash, ""))),
            ("words\n/mo", Some((Sign::Slash, "mo"))),
            ("、模型", Some((Sign::Slash, "模型"))),
            ("/@spec", Some((Sign::Slash, "@spec"))),
            ("/ @spec", Some((Sign::At, "spec"))),
            ("and/or", None),
            (" /model", None),
            ("/two words", None),
            ("/usr/bin", None),
            ("words\n", None),
        ] {
            assert_eq!(trigger_at_end(text), expected, "{text:?}");
        }
    }
}
