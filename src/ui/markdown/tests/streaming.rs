//! Tests that a streamed text ends like a text that arrived at once, with a bounded amount of work.

use proptest::prelude::*;

use super::hostile::MARKS;
use crate::ui::markdown::{MarkupPart, PartsChange, StreamingMarkdown, render};

/// Follows a text as a page does: only by the deltas.
fn follow(pieces: &[&str]) -> (Vec<MarkupPart>, StreamingMarkdown) {
    let mut streaming = StreamingMarkdown::default();
    let mut page = Vec::new();
    for piece in pieces {
        streaming.push(piece).apply(&mut page);
        assert_eq!(page, streaming.parts());
    }
    streaming.finish().apply(&mut page);
    (page, streaming)
}

/// Splits a text into pieces of at most `size` bytes.
fn cut(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = (size.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Whole lines and blocks as models write them; without link definitions, which change earlier text.
const LINES: &[&str] = &[
    "A paragraph with *emphasis*, **strength** and `code`.\n",
    "It goes on.\n",
    "\n",
    "\n\n",
    "# Heading\n",
    "Setext\n===\n",
    "---\n",
    "- item\n",
    "- another\n",
    "  continued\n",
    "\n  a paragraph of the item\n",
    "  - nested\n",
    "1. first\n",
    "2. second\n",
    "   ```rust\n   let a = 1;\n   ```\n",
    "> quoted\n",
    "> > twice\n",
    "lazy\n",
    "```rust\nfn main() {}\n",
    "```\n",
    "````\n",
    "~~~\n",
    "let x = \"<b>\";\n",
    "    indented\n",
    "\tcode\n",
    "| a | b |\n|---|:-:|\n",
    "| 1 | 2 |\n",
    "$$\nx^2\n$$\n",
    "\\[\nx\n\\]\n",
    "\\(a_1\\) and \\(b_1\\)\n",
    "<div>\n",
    "<details>\n",
    "<details><summary>S</summary>\n",
    "<summary>S</summary>\n",
    "</details>\n",
    "- <details>\n",
    "> [!TIP]\n",
    "Press <kbd>a</kbd>, H<sub>2</sub>O, <sup>\n",
    "</div>\n",
    "<script>\n",
    "</script>\n",
    "<!-- a\n",
    "-->\n",
    "- [x] done\n",
    "https://h.test/path\n",
    "text without an end",
    "  \n",
    "\r\n",
    "- ```\n",
    "  ``` \n",
    "   ```\n",
    "```rust &amp;\n",
    "* * *\n",
    "2",
    ". ",
    "|",
    "-|-",
    "=",
    "`",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn text_in_pieces_ends_as_whole_text(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..24), size in 1_usize..40
    ) {
        let text = lines.concat();
        prop_assert_eq!(follow(&cut(&text, size)).0, render(&text));
    }

    #[test]
    fn text_of_markup_signs_in_pieces_ends_as_whole_text(
        marks in prop::collection::vec(prop::sample::select(MARKS), 0..60), size in 1_usize..9
    ) {
        let text = marks.concat();
        prop_assert_eq!(follow(&cut(&text, size)).0, render(&text));
    }

    /// A stronger property: after every piece, too, the parts equal those of the text so far.
    #[test]
    fn parts_always_match_text_so_far(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..16), size in 1_usize..12
    ) {
        let text = lines.concat();
        let mut streaming = StreamingMarkdown::default();
        for piece in cut(&text, size) {
            streaming.push(piece);
            prop_assert_eq!(streaming.parts(), render(streaming.text()), "after {:?}", streaming.text());
        }
    }
}

#[test]
fn change_names_only_new_parts() {
    let mut streaming = StreamingMarkdown::new("one\n\ntwo");
    assert_eq!(streaming.parts().len(), 2);
    let PartsChange { from_index, parts } = streaming.push(" more");
    assert_eq!((from_index, parts), (1, render("two more")));
    let PartsChange { from_index, parts } = streaming.push("\n\nthree");
    assert_eq!((from_index, parts), (2, render("three")));
    assert_eq!(streaming.finish(), PartsChange { from_index: 3, parts: Vec::new() });
}

#[test]
fn definition_at_end_resolves_links_before_it() {
    let text = "See [the book][b].\n\nMore.\n\n[b]: https://book.test\n";
    let mut streaming = StreamingMarkdown::default();
    let mut page = Vec::new();
    for piece in cut(text, 5) {
        streaming.push(piece).apply(&mut page);
    }
    assert!(!page[0].markup().as_str().contains("href"));
    streaming.finish().apply(&mut page);
    assert!(page[0].markup().as_str().contains("href=\"https://book.test\""));
    assert_eq!(page, render(text));
}

#[test]
fn parsing_work_is_linear_for_prose() {
    let prose = "This is a sentence of a reply. It has *some* marks and `code`.\nAnd a second line.\n\n- one\n- two\n\n## Next\n\n";
    for repeats in [100, 1000] {
        let text = prose.repeat(repeats);
        let (page, streaming) = follow(&cut(&text, 13));
        assert_eq!(page, render(&text));
        assert!(streaming.parsed_bytes() <= 12 * text.len() as u64, "{} for {}", streaming.parsed_bytes(), text.len());
    }
}

#[test]
fn parsing_work_is_linear_for_one_long_code_block() {
    let code = format!("```rust\n{}", "    let answer = \"<forty-two>\";\n".repeat(1500));
    for ending in ["", "```\n\nThe end.\n", "``` not\n```\nend"] {
        let text = format!("Before.\n\n{code}{ending}");
        let (page, streaming) = follow(&cut(&text, 17));
        assert_eq!(page, render(&text));
        assert!(streaming.parsed_bytes() <= 6 * text.len() as u64, "{} for {}", streaming.parsed_bytes(), text.len());
    }
}

#[test]
fn parsing_work_on_long_list_is_bounded_and_list_is_shown_in_full() {
    let text = "- an item of a list that goes on and on\n".repeat(2000);
    let mut streaming = StreamingMarkdown::default();
    let mut at = 0;
    for piece in cut(&text, 200) {
        streaming.push(piece);
        at += piece.len();
        let shown: usize = streaming.parts().iter().map(|part| part.markup().as_str().len()).sum();
        assert!(shown >= at - 2 * (at / 40 + 1) && streaming.parts().len() <= 2);
    }
    streaming.finish();
    assert_eq!(streaming.parts(), render(&text));
    assert!(streaming.parsed_bytes() <= 60 * text.len() as u64, "{} for {}", streaming.parsed_bytes(), text.len());
}
