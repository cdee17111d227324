//! Text of a stranger in which nothing hides: what is there but not seen is named.

use crate::domain::hidden_text::{count_hidden_characters, find_hidden_characters};
use crate::domain::limits;
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::transcript as words;

/// So many of a run of hidden characters are named one by one.
const NAMED: usize = 3;

/// Text with a badge for every run of characters that are not seen.
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

/// The number of a character as Unicode writes it.
fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// How many characters of a message are not seen; where they are, as a person asks for it. Nothing where all are seen.
/// A message that is still being written, or a very long one, has the count alone.
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

/// A box of text as it was written. `name` is what it is called; code reads from the left.
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

/// A line of ours between the parts.
pub fn write_line(html: &mut Html, text: &str) {
    html.text_element(Element::P, &[(Attribute::Class, "tool-part")], text);
}
