//! The places where the framework writes text into a page without escaping it: the document's title, the content of a
//! text area, and the content of `noscript`; and the one place where markup of our own goes in as it is, the symbols of the
//! icons. Everything else is escaped by it.

use leptos::attr::Attribute;
use leptos::prelude::*;
use leptos::tachys::html::element::inner_html;

use crate::browser::document;
use crate::domain::TurnId;
use crate::ui::erased::view;

/// Text as it may stand inside an element: the characters that could start or end markup are written as references.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// A text for `leptos_meta::Title`, which writes it into the server's HTML as it is. In the browser the title is set as
/// a property, where references would be seen.
pub fn safe_title(text: &str) -> String {
    if document::is_in_browser() { text.to_owned() } else { escaped(text) }
}

/// The content of a `<textarea>` (`<textarea {..textarea_content(text)}>`), whose children the framework would write as
/// they are. Nothing in the browser: there the value is set as a property, and never over what somebody has typed.
pub fn textarea_content(text: &str) -> impl Attribute {
    inner_html(textarea_text(text))
}

fn textarea_text(text: &str) -> String {
    // A parser drops one line break after the opening tag; this one is for it to drop.
    if document::is_in_browser() { String::new() } else { format!("\n{}", escaped(text)) }
}

/// Lets a page that is read without script follow a reply. With script the parser leaves the content of `noscript` as
/// text, and hydration must not look for elements in it: so it is one string, with nothing but an id in it. The address
/// is written out, because to go to an address that ends in `#latest` from itself is not to load it again. A page whose
/// program did not start reads the address there (`ui/shell.rs`).
#[component]
pub fn FollowWithoutScript(
    /// The turn whose path is shown.
    at: TurnId,
) -> impl IntoView {
    let refresh = format!(r#"<meta http-equiv="refresh" content="4; url=?at={at}">"#);
    view! { <noscript {..inner_html(refresh)}></noscript> }
}

/// The symbols that icons name. They are in every document, behind its content, and are not a file beside it: icons are
/// there with the first paint, without another request, and stay when the network goes.
pub fn icon_sprite() -> impl IntoView {
    view! { <div hidden=true {..inner_html(include_str!("kit/icons.svg"))}></div> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_or_draft_cannot_end_its_element() {
        for hostile in
            ["</title><script>alert(1)</script>", "</textarea><script>alert(1)</script>", "<!--", "&lt;script>"]
        {
            for safe in [safe_title(hostile), textarea_text(hostile)] {
                assert!(!safe.contains('<') && !safe.contains('>'), "{safe}");
            }
        }
        assert_eq!(safe_title("Tom & Jerry"), "Tom &amp; Jerry");
    }

    #[test]
    fn draft_keeps_leading_line_break() {
        assert_eq!(textarea_text("\nfirst"), "\n\nfirst");
    }
}
