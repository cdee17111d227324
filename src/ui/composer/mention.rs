//! What the message box knows of the menu behind `@`: documents, and lines of them, by their titles. It is a list that the
//! box points into; the focus stays in the box (APG: combobox with a listbox). The menu itself is fetched with the first
//! `@` ([`menu`]).

mod menu;

use leptos::prelude::*;

use super::keys::{self, Choice, Press};
use super::state::ComposerState;
use crate::browser::textarea;
use crate::ui::fetched::{NotFetched, when};

/// The list's id; its options' begin with it.
pub const LIST: &str = "mention";
/// A longer word is none that a title is looked for by.
const WORD_CHARS: usize = 60;

#[derive(Clone, Copy)]
pub struct Mention {
    /// What stands behind `@`; none while the menu is closed.
    word: RwSignal<Option<String>>,
    /// How many options the menu shows; nothing before it knows.
    count: RwSignal<Option<usize>>,
    active: RwSignal<usize>,
    /// The option that was chosen, for the menu to take.
    chosen: RwSignal<Option<usize>>,
    /// Whether Enter is held back where the menu does not know its options yet: once.
    holds: StoredValue<bool>,
    /// The text up to the `@` whose menu was closed: it stays closed.
    dismissed: StoredValue<Option<String>>,
}

impl Mention {
    pub fn closed() -> Self {
        Self {
            word: RwSignal::new(None),
            count: RwSignal::new(None),
            holds: StoredValue::new(true),
            active: RwSignal::new(0),
            chosen: RwSignal::new(None),
            dismissed: StoredValue::new(None),
        }
    }

    pub fn is_open(self) -> bool {
        self.word.with(Option::is_some)
    }

    /// The list, while there is one.
    pub fn list(self) -> Option<&'static str> {
        (self.is_open() && self.count.get().is_some()).then_some(LIST)
    }

    /// The id of the option that Enter takes.
    pub fn active_option(self) -> Option<String> {
        let count = if self.is_open() { self.count.get().unwrap_or(0) } else { 0 };
        (count > 0).then(|| format!("{LIST}-{}", self.active.get().min(count - 1)))
    }

    pub fn close(self) {
        if self.word.with_untracked(Option::is_some) {
            self.word.set(None);
        }
    }

    /// The text or the caret is another one.
    pub fn moved(self, state: ComposerState) {
        let before = text_before(state);
        let Some(word) = word_at_end(&before) else { return self.close() };
        let up_to = &before[..before.len() - word.len()];
        if self.dismissed.with_value(|dismissed| dismissed.as_deref() == Some(up_to)) {
            return;
        }
        self.dismissed.set_value(None);
        self.holds.set_value(true);
        self.active.set(0);
        self.word.set(Some(word.to_owned()));
    }

    /// Whether the key belongs to the menu, which has then done what it asks.
    pub fn key(self, state: ComposerState, press: Press<'_>) -> bool {
        if !untrack(|| self.is_open()) {
            return false;
        }
        let known = self.count.get_untracked();
        let count = known.unwrap_or(1);
        let at = self.active.get_untracked().min(count.saturating_sub(1));
        match keys::in_list(press, state.memory.get_value(), at, count) {
            Choice::Nothing => return false,
            Choice::Move(_) if known.is_none() => return false,
            // Sent too early, a message would have a word in it that should have become a document.
            Choice::Take if known.is_none() => return self.holds.try_update_value(std::mem::take).unwrap_or(false),
            Choice::Move(to) => self.active.set(to),
            Choice::Take => self.chosen.set(Some(at)),
            Choice::Close => {
                let before = text_before(state);
                let word = word_at_end(&before).unwrap_or_default().len();
                self.dismissed.set_value(Some(before[..before.len() - word].to_owned()));
                self.close();
            }
        }
        true
    }
}

fn text_before(state: ComposerState) -> String {
    state.area.get_untracked().and_then(|area| textarea::before_caret(&area)).unwrap_or_default()
}

/// The code of the menu.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<fn(ComposerState) -> AnyView, NotFetched> {
    Ok(menu::draw)
}

/// The menu; nothing while it is closed.
#[component]
pub fn MentionMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let is_open = Memo::new(move |_| state.mention.is_open());
    let leave = Callback::new(move |()| state.mention.close());
    let menu = when(move || is_open.get(), fetch, leave, move |draw: &fn(ComposerState) -> AnyView| draw(state));
    // The focus stays in the box, whatever is pressed here.
    let hold = |event: leptos::ev::MouseEvent| event.prevent_default();
    view! { <div class="mention-menu" hidden=move || !is_open.get() on:mousedown=hold>{menu}</div> }
}

/// The word behind an `@` that ends this text, where the `@` begins a word.
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
    fn an_at_sign_asks_only_where_it_begins_a_word() {
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
}
