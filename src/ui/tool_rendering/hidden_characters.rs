//! Untrusted text with its hidden characters made visible.

use crate::domain::limits;
use crate::domain::text::hidden_text::{count_hidden_characters, find_hidden_characters};
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::transcript as words;

/// The number of hidden characters of a run that are named one by one.
const NAMED: usize = 3;

/// Writes text with a badge for every run of hidden characters.
pub fn write_revealed(html: &mut Html, text: &str) {
    let mut hidden = find_hidden_characters(text).peekable();
    let mut shown = 0;
    while let Some((begin, first)) = hidden.next() {
        html.text(&text[shown..begin]);
        shown = begin + first.len_utf8();
        let mut name = code_point(first);
        let mut count = 1;
        while let Some((at, c)) = hidden.next_if(|(at, _)| *at == shown) {
            shown = at + c.len_utf8();
            count += 1;
            if count <= NAMED {
                name.push(' ');
                name.push_str(&code_point(c));
            }
        }
        if count > NAMED {
            name.push_str(&format!(" +{}", count - NAMED));
        }
        html.text_element(Element::Span, &[(Attribute::Class, "hidden-letters"), (Attribute::Dir, "ltr")], &name);
    }
    html.text(&text[shown..]);
}

/// Returns the Unicode notation of a character.
fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Renders the number of hidden characters in a message, with a disclosure that shows where they are; none where
/// there are none. A message that is still being streamed, or a very long one, has only the number.
pub fn hidden_badge(text: &str, is_open: bool) -> Option<MarkupPart> {
    let count = count_hidden_characters(text);
    if count == 0 {
        return None;
    }
    let words = words::cleaned([0, 0, 0, count.into()]);
    let mut html = Html::default();
    let class = [(Attribute::Class, "hidden-count")];
    if is_open || text.len() > limits::TOOL_SHOWN_BYTES {
        html.text_element(Element::P, &class, &words);
    } else {
        html.open(Element::Details, &[(Attribute::Class, "hidden-text")]);
        html.text_element(Element::Summary, &class, &words);
        write_text_box(&mut html, &words, false, text);
    }
    Some(MarkupPart::new(html.finish()))
}

/// Writes a box of unchanged text. `name` is its label; code is always left-to-right.
pub fn write_text_box(html: &mut Html, name: &str, is_code: bool, text: &str) {
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
    write_revealed(html, text);
    html.close();
    html.close();
}

/// Writes a line of our own between the parts.
pub fn write_line(html: &mut Html, text: &str) {
    html.text_element(Element::P, &[(Attribute::Class, "tool-part")], text);
}
