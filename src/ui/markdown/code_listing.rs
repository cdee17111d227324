//! The code blocks of a text as they are shown, for what is made of them (`domain::blocks::preview`).

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::block;
use super::draw::{CODE_LANGUAGE, DrawBudget, info_string_language};
use super::enricher::PlainEnricher;
use super::reading::Reading;

/// A code block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeListing {
    pub language: String,
    /// The name of the file, where the line that opens the block has one.
    pub name: Option<String>,
    pub code: String,
}

/// Returns the code blocks of a text in the order in which they are shown. Those that are shown as plain text, because
/// the text is nested too deeply or too large, are left out, so that all others have the number that a page gives them.
pub fn code_listings(text: &str) -> Vec<CodeListing> {
    let drawn = block::draw_blocks(text, DrawBudget::default(), &[], &PlainEnricher);
    // Read once: one block of the text can contain thousands of code blocks.
    let drawn: Vec<(usize, bool)> =
        drawn.iter().map(|block| (block.range.start, block.part.markup().as_str().contains(CODE_LANGUAGE))).collect();
    let reading = Reading::new(text);
    let mut found = Vec::new();
    let mut open: Option<(usize, CodeListing)> = None;
    for (event, range) in reading.events() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = if let CodeBlockKind::Fenced(info) = &kind { &**info } else { "" };
                let listing =
                    CodeListing { language: info_string_language(info), name: file_name(info), code: String::new() };
                open = Some((range.start, listing));
            }
            Event::Text(piece) => {
                if let Some((_, listing)) = &mut open {
                    listing.code.push_str(reading.as_written(&piece, &range));
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let shown = open.take().filter(|(start, _)| is_shown(&drawn, *start));
                found.extend(shown.map(|(_, listing)| listing));
            }
            _ => {}
        }
    }
    found
}

/// Returns whether the code block that starts here is drawn as one. `drawn` has the starts of the text's blocks, and
/// whether they are drawn with code.
fn is_shown(drawn: &[(usize, bool)], start: usize) -> bool {
    let behind = drawn.partition_point(|(begin, _)| *begin <= start);
    behind.checked_sub(1).and_then(|at| drawn.get(at)).is_some_and(|(_, has_code)| *has_code)
}

/// The members of an info string that name a file.
const NAME_MEMBERS: [&str; 4] = ["title", "filename", "file", "name"];

/// Returns the name of the file in an info string such as `html title="Page one"` or `html:index.html`.
fn file_name(info: &str) -> Option<String> {
    let (_, rest) = info.split_at(info.find([' ', '\t', ',', '{', '}', ':'])?);
    let quoted = |member: &&str| {
        let (_, value) = rest.split_once(&format!("{member}=\""))?;
        value.split_once('"').map(|(value, _)| value)
    };
    let bare = || {
        let mut words = rest.split([' ', '\t', ',', '{', '}', ':']).filter(|word| !word.is_empty());
        words.find_map(|word| match word.split_once('=') {
            Some((member, value)) => NAME_MEMBERS.contains(&member).then_some(value),
            None => word.trim_start_matches('.').contains('.').then_some(word),
        })
    };
    let name = NAME_MEMBERS.iter().find_map(quoted).or_else(bare)?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limits;
    use crate::ui::markdown::render;

    fn codes(text: &str) -> Vec<String> {
        code_listings(text).into_iter().map(|listing| listing.code).collect()
    }

    #[test]
    fn listings_are_code_blocks_that_are_shown() {
        let quote = "> ".repeat(limits::MARKDOWN_NESTING + 2);
        let deep = format!("{quote}```html\n{quote}deep\n{quote}```\n");
        for (text, expected) in [
            ("no code, `inline` only".to_owned(), vec![]),
            (
                "a\n\n```html\n<p>*x*</p>\n```\n\n    indented\n\n1. ~~~svg\n   <svg/>\n   ~~~\n".to_owned(),
                vec!["<p>*x*</p>\n", "indented\n", "<svg/>\n"],
            ),
            (format!("{deep}\n```md\nafter\n```"), vec!["after\n"]),
            ("```mermaid\ngraph TD\n  A--".to_owned(), vec!["graph TD\n  A--"]),
            ("$x$ **粗体。**\n\n```html\n$5 and $6\n```".to_owned(), vec!["$5 and $6\n"]),
        ] {
            assert_eq!(codes(&text), expected, "{text}");
            let html: String = render(&text).iter().map(|part| part.markup().as_str().to_owned()).collect();
            assert_eq!(html.matches(CODE_LANGUAGE).count(), expected.len(), "{html}");
        }
    }

    #[test]
    fn name_is_read_from_opening_line() {
        for (info, expected) in [
            ("html", None),
            ("html index.html", Some("index.html")),
            ("html:src/a.html", Some("src/a.html")),
            ("html title=\"Page one\"", Some("Page one")),
            ("svg {file=logo.svg}", Some("logo.svg")),
            ("html {.numbered}", None),
            ("md file=", None),
        ] {
            assert_eq!(file_name(info).as_deref(), expected, "{info}");
        }
    }
}
