//! Blocks of code.

use super::drawing::{Draw, LTR};
use crate::ui::markdown::enrich::Run;
use crate::ui::markdown::html::{Attribute, Element, Html};
use crate::ui::markdown::part::Part;
use crate::ui::markdown::words;

/// Code that is still being written; `body` is escaped already.
pub fn open_code(language: &str, body: &str, last_line: &str) -> Part {
    let mut html = Html::default();
    code_box(&mut html, language, |html| {
        html.escaped(body);
        html.text(last_line);
    });
    Part::new(html.finish())
}

/// The language of an info string: its first word, as people write it.
pub fn language(info: &str) -> String {
    let word = info.split([' ', '\t', ',', '{', '}', ':']).find(|word| !word.is_empty()).unwrap_or_default();
    word.trim_start_matches('.').chars().take(32).collect()
}

/// A block of code: its language, a button that copies, the code itself. The page has one listener for all buttons.
fn code_box(html: &mut Html, language: &str, body: impl FnOnce(&mut Html)) {
    let name = if language.is_empty() { words::code().to_owned() } else { words::code_in(language) };
    html.open(Element::Div, &[(Attribute::Class, "md-code")]);
    html.open(Element::Div, &[(Attribute::Class, "md-code-head")]);
    html.leaf(Element::Span, &[(Attribute::Class, "md-language"), LTR], language);
    copy_button(html);
    html.close();
    html.open(
        Element::Pre,
        &[LTR, (Attribute::Tabindex, "0"), (Attribute::Role, "group"), (Attribute::AriaLabel, &name)],
    );
    html.open(Element::Code, &[]);
    body(html);
    html.close();
    html.close();
    html.close();
}

fn copy_button(html: &mut Html) {
    let button = [
        (Attribute::Type, "button"),
        (Attribute::Class, "md-copy"),
        (Attribute::DataCopy, "code"),
        (Attribute::AriaLabel, words::copy_code()),
    ];
    html.leaf(Element::Button, &button, words::copy());
}

/// A part for a page without script, where nothing answers a button. It was drawn in the language that is spoken.
pub fn without_buttons(part: &Part) -> Part {
    let mut button = Html::default();
    copy_button(&mut button);
    // No text holds one: its `<` is written as a reference.
    Part::received(part.markup().as_str().replace(button.finish().as_str(), ""))
}

/// Code in its colours. What the runs leave over is plain.
fn coloured(html: &mut Html, code: &str, runs: &[Run]) {
    let mut rest = code;
    for run in runs {
        let Some((text, after)) = rest.split_at_checked(run.bytes) else { break };
        match run.class.as_str() {
            Some(class) => html.leaf(Element::Span, &[(Attribute::Class, class)], text),
            None => html.text(text),
        }
        rest = after;
    }
    html.text(rest);
}

impl Draw<'_> {
    pub(super) fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let runs = self.enrich.code(&language, &code).unwrap_or_default();
        code_box(&mut self.html, &language, |html| coloured(html, &code, &runs));
    }
}
