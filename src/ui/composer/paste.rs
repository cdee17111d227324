//! Pasted text: a long one becomes an attached document, which can be undone, and one that looks like an API key gets a
//! warning. Rich text is converted to [`markdown`] by a code part that is loaded at the first use.

mod markdown;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::attachments::MessageAttachments;
use crate::browser::{rich_text, textarea};
use crate::domain::limits;
use crate::ui::announce::Announcer;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::attachments as words;

/// The prefixes of vendors' API keys.
const KEYS: &[&str] = &["sk-", "sk_", "AIza", "gsk_", "xai-", "ghp_", "github_pat_"];
/// An API key has more characters than this behind its prefix.
const KEY_CHARS: usize = 16;

/// A long text that was attached instead of inserted.
#[derive(Clone)]
pub struct AttachedPaste {
    /// The id of its attachment.
    pub id: u32,
    pub text: String,
}

/// The notices on pasted text.
#[derive(Clone, Copy)]
pub struct PasteNotices {
    /// The long text that became an attachment.
    pub attached: RwSignal<Option<AttachedPaste>>,
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
        Self { attached: RwSignal::new(None), has_key: RwSignal::new(false), announcer: expect_context() }
    }

    /// Attaches a long text. False where the text goes into the box.
    pub fn on_paste(self, attaching: MessageAttachments, text: &str) -> bool {
        self.warn_of_key(text);
        let is_long = is_long(text);
        if is_long {
            self.attach(attaching, with_box_line_ends(text));
        }
        is_long
    }

    fn warn_of_key(self, text: &str) {
        if looks_like_key(text) {
            self.has_key.set(true);
            self.announcer.announce(words::looks_like_key());
        }
    }

    fn attach(self, attaching: MessageAttachments, text: String) {
        let chars = text.chars().count();
        if let Some(id) = attaching.add_text(text.clone()) {
            if !self.has_key.get_untracked() {
                self.announcer.announce(words::paste_attached(chars));
            }
            self.attached.set(Some(AttachedPaste { id, text }));
        }
    }

    /// Pastes rich text: its plain `text` goes into the box at once, so that nothing is sent or left without it.
    /// Markdown with more content replaces it, unless the text was changed meanwhile. A long text is attached as
    /// Markdown instead.
    pub fn on_rich_paste(self, attaching: MessageAttachments, area: NodeRef<html::Textarea>, text: &str, html: String) {
        let Some(field) = area.get_untracked() else { return };
        self.warn_of_key(text);
        let text = with_box_line_ends(text);
        if is_long(&text) {
            spawn_local(async move {
                let text = rich_text_to_markdown(text, &html).await;
                // The page may be gone by now.
                if area.try_get_untracked().flatten().is_some() {
                    self.attach(attaching, text);
                }
            });
            return;
        }
        let before = textarea::text_before_selection(&field);
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
            textarea::replace_text(&area, &before, &text, &converted);
        });
    }

    /// Updates the notices: those on text that is neither in the box nor attached are removed.
    pub fn on_input(self, attaching: MessageAttachments, text: &str) {
        let is_gone = |paste: &AttachedPaste| attaching.queue.with_untracked(|queue| queue.find(paste.id).is_none());
        if self.attached.with_untracked(|paste| paste.as_ref().is_some_and(is_gone)) {
            self.attached.set(None);
        }
        let is_attached =
            || self.attached.with_untracked(|paste| paste.as_ref().is_some_and(|paste| looks_like_key(&paste.text)));
        if self.has_key.get_untracked() && !looks_like_key(text) && !is_attached() {
            self.has_key.set(false);
        }
    }
}

/// Returns whether a pasted text is attached instead of inserted.
fn is_long(text: &str) -> bool {
    text.chars().count() > limits::PASTE_CHARS
}

/// Returns the text with the line ends of a text box.
fn with_box_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
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
