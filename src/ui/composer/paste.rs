//! Pasted text: a long one is offered to become a document, and one that looks like an API key gets a warning. The
//! text stays in the box until the person decides. Rich text is converted to [`markdown`] by a code part that is
//! loaded at the first use.

mod markdown;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::{rich_text, textarea};
use crate::domain::limits;
use crate::ui::announce::Announcer;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::attachments as words;

/// The prefixes of vendors' API keys.
const KEYS: &[&str] = &["sk-", "sk_", "AIza", "gsk_", "xai-", "ghp_", "github_pat_"];
/// An API key has more characters than this behind its prefix.
const KEY_CHARS: usize = 16;

/// The notices on pasted text.
#[derive(Clone, Copy)]
pub struct PasteNotices {
    /// The long text that is offered to become a document.
    pub offer: RwSignal<Option<String>>,
    pub has_key: RwSignal<bool>,
    announcer: Announcer,
}

impl Default for PasteNotices {
    fn default() -> Self {
        Self::new()
    }
}

impl PasteNotices {
    pub fn new() -> Self {
        Self { offer: RwSignal::new(None), has_key: RwSignal::new(false), announcer: expect_context() }
    }

    pub fn on_paste(self, text: &str) {
        // Line ends are normalized as in the text box.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let chars = text.chars().count();
        if looks_like_key(&text) {
            self.has_key.set(true);
            self.announcer.announce(words::looks_like_key());
        } else if chars > limits::PASTE_CHARS {
            self.announcer.announce(words::paste_offer(chars));
        }
        if chars > limits::PASTE_CHARS {
            self.offer.set(Some(text));
        }
    }

    /// Pastes rich text: its plain `text` goes into the box at once, so that nothing is sent or left without it.
    /// Markdown with more content replaces it, unless the text was changed meanwhile.
    pub fn on_rich_paste(self, area: NodeRef<html::Textarea>, text: &str, html: String) {
        let Some(field) = area.get_untracked() else { return };
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let before = textarea::text_before_selection(&field);
        self.on_paste(&text);
        textarea::insert(&field, &text);
        if markdown::is_in_code(&before) {
            return;
        }
        let is_line_begun = before.rsplit('\n').next().is_some_and(|line| !line.trim().is_empty());
        spawn_local(async move {
            let converted = fetch().await.ok().and_then(|convert| convert(&html, is_line_begun));
            // The page may be gone by now.
            let area = area.try_get_untracked().flatten();
            let (Some(area), Some(converted)) = (area, converted.filter(|converted| *converted != text)) else {
                return;
            };
            if textarea::replace_text(&area, &before, &text, &converted) {
                self.offer.update(|offer| *offer = offer.take().map(|_| converted));
            }
        });
    }

    /// Updates the notices: those on text that is no longer in the box are removed.
    pub fn on_input(self, text: &str) {
        if self.has_key.get_untracked() && !looks_like_key(text) {
            self.has_key.set(false);
        }
        // Pasted text is announced before it is in the box.
        if text.is_empty() && self.offer.with_untracked(Option::is_some) {
            self.offer.set(None);
        }
    }
}

/// Converts rich text to Markdown; returns the plain `text` if Markdown would add nothing.
pub async fn rich_text_to_markdown(text: String, html: &str) -> String {
    if !is_rich(html) {
        return text;
    }
    let convert = fetch().await.ok();
    convert.and_then(|convert| convert(html, false)).unwrap_or(text)
}

/// Converts HTML to Markdown; the flag says whether it follows a begun line. None where Markdown adds nothing to the
/// plain text.
type Convert = fn(&str, bool) -> Option<String>;

/// Loads the code part that converts HTML to Markdown.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Convert, NotFetched> {
    Ok(convert_html)
}

fn convert_html(html: &str, is_line_begun: bool) -> Option<String> {
    markdown::from_rich_text(&rich_text::parse_rich_text(html, limits::RICH_PASTE_DEPTH), is_line_begun)
}

/// Returns whether the HTML has elements that Markdown can express, so that loading the converter is worth it.
pub fn is_rich(html: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "<h1",
        "<h2",
        "<h3",
        "<h4",
        "<h5",
        "<h6",
        "<li",
        "<a ",
        "<strong",
        "<em",
        "<code",
        "<pre",
        "<blockquote",
        "<t",
    ];
    const MORE: [&str; 6] = ["<b>", "<b ", "<i>", "<i ", "font-weight", "font-style"];
    html.len() <= limits::RICH_PASTE_BYTES && SIGNS.iter().chain(&MORE).any(|sign| html.contains(sign))
}

/// Returns whether the text contains an API key: a word with a vendor's prefix and sufficient length.
pub fn looks_like_key(text: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.split(|c| !is_of_key(c)).any(|word| {
        let rest = KEYS.iter().find_map(|key| word.strip_prefix(key));
        // Hyphenated words have no digits.
        rest.is_some_and(|rest| rest.len() > KEY_CHARS && rest.contains(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_keys_are_distinguished_from_words() {
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
