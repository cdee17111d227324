//! Code blocks.

use super::drawing::{BlockDrawing, LTR};
use crate::ui::markdown::enricher::CodeRun;
use crate::ui::markdown::html::{Attribute, Element, Html};
use crate::ui::markdown::messages;
use crate::ui::markdown::part::MarkupPart;

/// The markup before the name of a language. Only the writer writes this sequence, once for each code block.
pub const CODE_LANGUAGE: &str = "<span class=\"md-language\" dir=\"ltr\">";

/// Renders code that is still being streamed; `body` is already escaped.
pub fn draw_open_code(language: &str, body: &str, last_line: &str) -> MarkupPart {
    let mut html = Html::default();
    write_code_box(&mut html, language, |html| {
        html.push_escaped(body);
        html.text(last_line);
    });
    MarkupPart::new(html.finish())
}

/// Returns the language of an info string: its first word, with its usual spelling.
pub fn info_string_language(info: &str) -> String {
    let word = info.split([' ', '\t', ',', '{', '}', ':']).find(|word| !word.is_empty()).unwrap_or_default();
    word.trim_start_matches('.').chars().take(32).collect()
}

/// Writes a code block: its language, a copy button, the code. The page has one listener for all buttons.
fn write_code_box(html: &mut Html, language: &str, body: impl FnOnce(&mut Html)) {
    let name = if language.is_empty() { messages::code().to_owned() } else { messages::code_in(language) };
    html.open(Element::Div, &[(Attribute::Class, "md-code")]);
    html.open(Element::Div, &[(Attribute::Class, "md-code-head")]);
    html.text_element(Element::Span, &[(Attribute::Class, "md-language"), LTR], language);
    write_copy_button(html, CopyKind::Code);
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

/// The content that a copy button copies, with its form.
#[derive(Debug, Clone, Copy)]
pub(super) enum CopyKind {
    Code,
    Table,
    TableAsCsv,
}

pub(super) fn write_copy_button(html: &mut Html, kind: CopyKind) {
    let (value, name, label) = match kind {
        CopyKind::Code => ("code", messages::copy_code(), messages::copy()),
        CopyKind::Table => ("table", messages::copy_table(), messages::copy_table()),
        CopyKind::TableAsCsv => ("csv", messages::copy_table_as_csv(), messages::csv()),
    };
    let button = [
        (Attribute::Type, "button"),
        (Attribute::Class, "md-copy"),
        (Attribute::DataCopy, value),
        (Attribute::AriaLabel, name),
    ];
    html.text_element(Element::Button, &button, label);
}

/// Removes the copy buttons for a page without script. The part must have been rendered in the current language.
pub fn without_buttons(part: &MarkupPart) -> MarkupPart {
    let mut markup = part.markup().as_str().to_owned();
    for kind in [CopyKind::Code, CopyKind::Table, CopyKind::TableAsCsv] {
        let mut button = Html::default();
        write_copy_button(&mut button, kind);
        // No text can contain the button's markup: its `<` is written as a reference.
        markup = markup.replace(button.finish().as_str(), "");
    }
    MarkupPart::from_server(markup)
}

/// Writes code with its colours. Code beyond the runs is plain.
fn write_coloured(html: &mut Html, code: &str, runs: &[CodeRun]) {
    let mut rest = code;
    for run in runs {
        let Some((text, after)) = rest.split_at_checked(run.bytes) else { break };
        match run.class.as_str() {
            Some(class) => html.text_element(Element::Span, &[(Attribute::Class, class)], text),
            None => html.text(text),
        }
        rest = after;
    }
    html.text(rest);
}

impl BlockDrawing<'_> {
    pub(super) fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let runs = self.enrich.code(&language, &code).unwrap_or_default();
        write_code_box(&mut self.html, &language, |html| write_coloured(html, &code, &runs));
    }
}
