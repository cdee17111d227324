//! Text of a stranger in which nothing hides: what is there but not seen is named.

use crate::domain::plain::is_hidden;
use crate::ui::markdown::{Attribute, Element, Html};

/// So many of a run of hidden characters are named one by one.
const NAMED: usize = 3;

/// Text with a badge for every run of characters that are not seen.
pub fn write(html: &mut Html, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        html.text(&rest[..at]);
        let end = rest[at..].find(|c| !is_hidden(c)).map_or(rest.len(), |length| at + length);
        let run = &rest[at..end];
        let mut name: Vec<String> = run.chars().take(NAMED).map(|c| format!("U+{:04X}", u32::from(c))).collect();
        let more = run.chars().count().saturating_sub(NAMED);
        if more > 0 {
            name.push(format!("+{more}"));
        }
        html.leaf(Element::Span, &[(Attribute::Class, "hidden-letters"), (Attribute::Dir, "ltr")], &name.join(" "));
        rest = &rest[end..];
    }
    html.text(rest);
}

/// A box of text as it was written. `name` is what it is called; code reads from the left.
pub fn text_box(html: &mut Html, name: &str, is_code: bool, text: &str) {
    let dir = if is_code { "ltr" } else { "auto" };
    let attributes = [
        (Attribute::Class, "tool-text"),
        (Attribute::Dir, dir),
        (Attribute::Tabindex, "0"),
        (Attribute::Role, "group"),
        (Attribute::AriaLabel, name),
    ];
    html.open(Element::Pre, &attributes);
    html.open(Element::Code, &[]);
    write(html, text);
    html.close();
    html.close();
}

/// A line of ours between the parts.
pub fn line(html: &mut Html, text: &str) {
    html.leaf(Element::P, &[(Attribute::Class, "tool-part")], text);
}
