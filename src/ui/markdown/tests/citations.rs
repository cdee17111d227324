//! Tests of citation marks: their allowed positions, and that they change nothing else.

use proptest::prelude::*;

use super::allowed;
use crate::domain::blocks::sources::{ReplySources, SourceMark, SourcePage};
use crate::domain::fixtures::{block_id, turn_id};
use crate::ui::markdown::{InlineCitation, PlainEnricher, render, render_with};

/// Renders the text with marks after these numbers of characters.
fn marked(text: &str, places: &[usize]) -> String {
    let source = |n: usize| SourcePage { url: format!("https://example.org/{n}"), title: "A page".into(), quote: None };
    let mark = |(source, at): (usize, &usize)| SourceMark { block_id: block_id(1), at: *at, source: source + 1 };
    let sources = ReplySources {
        list: (0..places.len()).map(source).collect(),
        marks: places.iter().enumerate().map(mark).collect(),
    };
    let cites = InlineCitation::marks_in_block(&sources, turn_id(2), block_id(1), text);
    render_with(text, &cites, &PlainEnricher).iter().map(|part| part.markup().as_str()).collect()
}

/// Renders the text with every mark as `^1`.
fn short(text: &str, places: &[usize]) -> String {
    let mut html = marked(text, places);
    for number in (1..=places.len()).rev() {
        let link = format!(
            "<sup class=\"md-cite\"><a href=\"#source-{}-{number}\" rel=\"external\" aria-label=\"Source {number}\">[{number}]</a></sup>",
            turn_id(2)
        );
        html = html.replace(&link, &format!("^{number}"));
    }
    html
}

#[test]
fn mark_stands_after_cited_text() {
    for (text, places, html) in [
        ("One two.", &[3][..], "<p dir=\"auto\">One^1 two.</p>"),
        ("One two.", &[8], "<p dir=\"auto\">One two.^1</p>"),
        ("One two.", &[99], "<p dir=\"auto\">One two.^1</p>"),
        ("One two.", &[3, 3], "<p dir=\"auto\">One^1^2 two.</p>"),
        ("日本語 text", &[3], "<p dir=\"auto\">日本語^1 text</p>"),
        ("a **b** c", &[7], "<p dir=\"auto\">a <strong>b</strong>^1 c</p>"),
        ("a _b_ c", &[5], "<p dir=\"auto\">a <em>b</em>^1 c</p>"),
        ("One.\n\nTwo.", &[6], "<p dir=\"auto\">One.^1</p><p dir=\"auto\">Two.</p>"),
        ("- a\n- b", &[3], "<ul><li dir=\"auto\">a^1</li><li dir=\"auto\">b</li></ul>"),
        ("- a\n  - b", &[3], "<ul><li dir=\"auto\">a^1<ul><li dir=\"auto\">b</li></ul></li></ul>"),
        ("# Title\n\nx", &[7], "<h4 class=\"md-h1\" dir=\"auto\">Title^1</h4><p dir=\"auto\">x</p>"),
        ("a &amp; b", &[9], "<p dir=\"auto\">a &amp; b^1</p>"),
    ] {
        assert_eq!(short(text, places), html, "{text:?} {places:?}");
    }
}

#[test]
fn no_mark_stands_in_code_link_or_formula() {
    for (text, at, html) in [
        ("`code` x", 3, "<p dir=\"auto\"><code dir=\"ltr\">code</code>^1 x</p>"),
        ("a $x+y$ b", 5, "<p dir=\"auto\">a <code class=\"md-math\" dir=\"ltr\">x+y</code>^1 b</p>"),
    ] {
        assert_eq!(short(text, &[at]), html, "{text:?}");
    }
    let link = short("see [the page](https://a.test/) now", &[8]);
    assert!(link.contains("the page</a>^1 now"), "{link}");
    let code = short("```\nlet a = 1;\n```\n\nAfter it.", &[8]);
    assert!(!code.contains("^1") && code.contains("<p dir=\"auto\">After it.</p>"), "{code}");
}

#[test]
fn written_text_is_no_mark() {
    let html = render("[1] \u{fdd0}1\u{fdd1} <sup class=\"md-cite\">")[0].markup().as_str().to_owned();
    assert!(!html.contains("<sup"), "{html}");
}

proptest! {
    /// Without its marks, the rendering equals that of the plain text, whatever the text is and wherever the marks
    /// point.
    #[test]
    fn marks_change_nothing_else(
        text in "([a-z ]{0,6}|\\*\\*|_|`|```\n|\n|\n\n|- |# |\\[a\\]\\(https://b.test\\)|https://c.test/|&amp;|\\$x\\$|é|\\| a \\|){0,12}",
        places in prop::collection::vec(0_usize..60, 0..4),
    ) {
        prop_assert_eq!(allowed::parse_allowed(&marked(&text, &places)).err(), None);
        let mut html = short(&text, &places);
        for number in (1..=places.len()).rev() {
            html = html.replace(&format!("^{number}"), "");
        }
        let plain: String = render(&text).iter().map(|part| part.markup().as_str()).collect();
        // A mark in the middle of an address splits the link in two; the words stay.
        let words = |html: &str| allowed::parse_allowed(html).map(|seen| seen.text);
        prop_assert_eq!(words(&html), words(&plain));
    }
}
