//! The menu behind `@`: documents by their titles, those that changed last first. It is a list that the message box
//! points into; the focus stays in the box (APG: combobox with a listbox).

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::attaching::document_in;
use super::keys::{self, Choice, Press};
use super::state::ComposerState;
use crate::browser::{api_request, textarea};
use crate::domain::attachment::Attachment;
use crate::domain::limits;
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::words::attaching as words;

/// The list's id; its options' begin with it.
pub const LIST: &str = "mention";
/// Options that are shown: who sees more types on.
const SHOWN: usize = 8;
/// A longer word is none that a title is looked for by.
const WORD_CHARS: usize = 60;

#[derive(Clone, Copy)]
pub struct Mention {
    /// What stands behind `@`; none while the menu is closed.
    word: RwSignal<Option<String>>,
    /// None until they are loaded.
    documents: RwSignal<Option<Vec<Attachment>>>,
    active: RwSignal<usize>,
    /// The text up to the `@` whose menu was closed: it stays closed.
    dismissed: StoredValue<Option<String>>,
}

impl Mention {
    pub fn closed() -> Self {
        Self {
            word: RwSignal::new(None),
            documents: RwSignal::new(None),
            active: RwSignal::new(0),
            dismissed: StoredValue::new(None),
        }
    }

    pub fn is_open(self) -> bool {
        self.word.with(Option::is_some)
    }

    /// What there is to choose from.
    fn options(self) -> Vec<Attachment> {
        let Some(word) = self.word.get() else { return Vec::new() };
        let word = word.to_lowercase();
        self.documents.with(|documents| {
            let all = documents.iter().flatten();
            all.filter(|one| one.card.title.to_lowercase().contains(&word)).take(SHOWN).cloned().collect()
        })
    }

    /// The id of the option that Enter takes.
    pub fn active_option(self) -> Option<String> {
        let count = self.options().len();
        (count > 0).then(|| format!("{LIST}-{}", self.active.get().min(count - 1)))
    }

    pub fn close(self) {
        if self.word.with_untracked(Option::is_some) {
            self.word.set(None);
        }
    }

    /// The text or the caret is another one.
    pub fn moved(self, state: ComposerState) {
        let before = state.area.get_untracked().and_then(|area| textarea::before_caret(&area)).unwrap_or_default();
        let Some(word) = word_at_end(&before) else { return self.close() };
        let up_to = &before[..before.len() - word.len()];
        if self.dismissed.with_value(|dismissed| dismissed.as_deref() == Some(up_to)) {
            return;
        }
        self.dismissed.set_value(None);
        let was_open = untrack(|| self.is_open());
        self.active.set(0);
        self.word.set(Some(word.to_owned()));
        if !was_open {
            self.load(state);
        }
        self.say(state);
    }

    fn say(self, state: ComposerState) {
        if self.documents.with_untracked(Option::is_some) {
            state.announcer.say(words::offered(untrack(|| self.options()).len()));
        }
    }

    fn load(self, state: ComposerState) {
        let path = format!("/api/documents?limit={}", limits::MENTION_DOCUMENTS);
        spawn_local(async move {
            // What was known stays where there is no answer.
            let Ok(answer) = api_request::get(&path).await else { return };
            let documents = answer.as_array().into_iter().flatten().filter_map(document_in).collect();
            if self.documents.try_set(Some(documents)).is_none() && untrack(|| self.is_open()) {
                self.say(state);
            }
        });
    }

    /// Whether the key belongs to the menu, which has then done what it asks.
    pub fn key(self, state: ComposerState, press: Press<'_>) -> bool {
        if !untrack(|| self.is_open()) {
            return false;
        }
        let options = untrack(|| self.options());
        let at = self.active.get_untracked().min(options.len().saturating_sub(1));
        match keys::in_list(press, state.memory.get_value(), at, options.len()) {
            Choice::Nothing => return false,
            Choice::Move(to) => self.active.set(to),
            Choice::Take => self.take(state, options.into_iter().nth(at)),
            Choice::Close => {
                let before = state.area.get_untracked().and_then(|area| textarea::before_caret(&area));
                let before = before.unwrap_or_default();
                let word = word_at_end(&before).unwrap_or_default().len();
                self.dismissed.set_value(Some(before[..before.len() - word].to_owned()));
                self.close();
            }
        }
        true
    }

    /// Attaches the document and takes the word out of the text.
    fn take(self, state: ComposerState, chosen: Option<Attachment>) {
        let (Some(area), Some(chosen)) = (state.area.get_untracked(), chosen) else { return };
        let before = textarea::before_caret(&area).unwrap_or_default();
        let word = word_at_end(&before).map(|word| format!("@{word}"));
        self.close();
        state.attaching.attach(chosen);
        if let Some(word) = word {
            textarea::take_out(&area, &word, before.len());
        }
    }
}

/// The menu; nothing while it is closed.
#[component]
pub fn MentionMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let mention = state.mention;
    live(move || {
        mention.is_open().then(|| {
            let options = mention.options();
            let note = match (options.is_empty(), mention.documents.with(Option::is_some)) {
                (true, true) => Some(words::NO_DOCUMENTS),
                (true, false) => Some(words::LOOKING),
                _ => None,
            };
            let row = move |(at, option): (usize, Attachment)| {
                let title = option.card.title.clone();
                // The focus stays in the box.
                let hold = |event: leptos::ev::MouseEvent| event.prevent_default();
                let take = move |_| mention.take(state, Some(option.clone()));
                view! {
                    <li
                        id=format!("{LIST}-{at}")
                        class="menu-row"
                        role="option"
                        aria-selected=move || (mention.active.get() == at).to_string()
                        on:mousedown=hold
                        on:click=take
                    >
                        <Icon name="file"/>
                        <bdi class="chip-text">{title}</bdi>
                    </li>
                }
            };
            view! {
                <div class="mention-menu">
                    <ul id=LIST role="listbox" aria-label=words::DOCUMENTS>
                        {options.into_iter().enumerate().map(row).collect_view()}
                    </ul>
                    {note.map(|note| view! { <p class="hint">{note}</p> })}
                </div>
            }
        })
    })
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
