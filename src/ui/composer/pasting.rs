//! Text that was pasted: a long one is offered to become a document, one that looks like a key is remarked upon. It stays
//! where it is until a person says otherwise.

use leptos::prelude::*;

use crate::domain::limits;
use crate::ui::announce::Announcer;
use crate::ui::words::attaching as words;

/// How the keys of vendors begin.
const KEYS: &[&str] = &["sk-", "sk_", "AIza", "gsk_", "xai-", "ghp_", "github_pat_"];
/// The shortest of them has more characters than this behind that.
const KEY_CHARS: usize = 16;

/// What is to be said of pasted text.
#[derive(Clone, Copy)]
pub struct Pasting {
    /// The long text that is offered to become a document.
    pub offer: RwSignal<Option<String>>,
    pub has_key: RwSignal<bool>,
    announcer: Announcer,
}

impl Pasting {
    pub fn nothing() -> Self {
        Self { offer: RwSignal::new(None), has_key: RwSignal::new(false), announcer: expect_context() }
    }

    pub fn pasted(self, text: &str) {
        // As the text box has it.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let chars = text.chars().count();
        if looks_like_key(&text) {
            self.has_key.set(true);
            self.announcer.say(words::looks_like_key());
        } else if chars > limits::PASTE_CHARS {
            self.announcer.say(words::paste_offer(chars));
        }
        if chars > limits::PASTE_CHARS {
            self.offer.set(Some(text));
        }
    }

    /// The box holds this now: what is not in it any more is not spoken of.
    pub fn typed(self, text: &str) {
        if self.has_key.get_untracked() && !looks_like_key(text) {
            self.has_key.set(false);
        }
        // Pasted text is announced before it is in the box.
        if text.is_empty() && self.offer.with_untracked(Option::is_some) {
            self.offer.set(None);
        }
    }
}

/// Whether a key is in the text: a word that begins as the keys of vendors do and is as long.
pub fn looks_like_key(text: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.split(|c| !is_of_key(c)).any(|word| {
        let rest = KEYS.iter().find_map(|key| word.strip_prefix(key));
        // Words with hyphens have no digits.
        rest.is_some_and(|rest| rest.len() > KEY_CHARS && rest.contains(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_words() {
        for key in
            ["sk-proj-abcdefghijkl1234567890", "use \"sk-ant-api03-0123456789abcdef\".", "AIzaSyA0123456789abcdefg"]
        {
            assert!(looks_like_key(key), "{key}");
        }
        for word in
            ["", "sk-", "sk-learn-is-a-python-library", "task-0123456789abcdefghij", "desk sk- 0123456789abcdef0123"]
        {
            assert!(!looks_like_key(word), "{word}");
        }
    }
}
