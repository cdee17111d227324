//! Escaping at the places where the framework writes text without it: the document's title, and the content of
//! `textarea` and `noscript`. It also holds the one place where our own markup is inserted as it is: the icon sprite.

use leptos::attr::Attribute;
use leptos::prelude::*;
use leptos::tachys::html::element::inner_html;

use crate::browser::document;
use crate::domain::TurnId;
use crate::ui::erased::view;
use crate::ui::messages::queue::write_while_running;

/// Escapes text for the inside of an element: characters that could start or end markup become references.
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

/// Escapes a text for `leptos_meta::Title`, which writes it into the server's HTML as it is. In the browser the title
/// is set as a property, where references would be visible.
pub fn safe_title(text: &str) -> String {
    if document::is_in_browser() { text.to_owned() } else { escaped(text) }
}

/// The content of a `<textarea>` (`<textarea {..textarea_content(text)}>`), whose children the framework would write
/// without escaping. Empty in the browser, where the value is a property and never overwrites typed text.
pub fn textarea_content(text: &str) -> impl Attribute {
    inner_html(textarea_text(text))
}

fn textarea_text(text: &str) -> String {
    // The HTML parser drops one line break after the opening tag, so one is added for it.
    if document::is_in_browser() { String::new() } else { format!("\n{}", escaped(text)) }
}

/// Lets a page without script follow a reply by refreshing, with a link that pauses this, because a refresh discards
/// what is typed. With script, the parser leaves the content of `noscript`
/// as text, and hydration must not look for elements in it: so it is one string with nothing but an id in it. The
/// address is written out, because navigating from an address that ends in `#latest` to itself does not reload the
/// page. A page whose program did not start reads the address there (`ui/shell.rs`).
#[component]
pub fn FollowWithoutScript(
    /// The turn whose path is shown.
    at: TurnId,
) -> impl IntoView {
    let write = write_while_running();
    let refresh = format!(
        r##"<meta http-equiv="refresh" content="4; url=?at={at}"><p><a href="?at={at}&amp;hold=1#message">{write}</a></p>"##
    );
    view! { <noscript {..inner_html(refresh)}></noscript> }
}

/// The SVG symbols of the icons, inlined behind the content of every document instead of a separate file: icons are
/// there at the first paint, without another request, and also offline.
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
