//! Tests of the rendering of typical texts.

use crate::ui::markdown::render;

fn html(text: &str) -> String {
    render(text).iter().map(|part| part.markup().as_str().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn typical_reply() {
    insta::assert_snapshot!(html(
        "# Title\n\nSome *text* with `a < b`, [a link](https://a.test \"why\") and https://b.test.\n\n1. one\n2. two\n   - deep\n\n---\n\n> quoted\n"
    ));
}

#[test]
fn code_with_language() {
    insta::assert_snapshot!(html("```rust,ignore\nfn main() { println!(\"<hi>\"); }\n```\n\n    indented & plain\n"));
}

#[test]
fn table_and_tasks() {
    insta::assert_snapshot!(html(
        "| left | right |\n|:--|--:|\n| a<br>b | 1 |\n\n- [x] done\n- [ ] open\n\n3. three\n"
    ));
}

#[test]
fn formulas() {
    insta::assert_snapshot!(html(
        "Inline $a_1 < b$ and \\(c_1 * d_1\\), then\n\n\\[\n\\frac{a}{b}\n\\]\n\n$$x^2$$\n\nIt costs $5 or $6, or $7-$8. \\(open and `\\)`, \\\\(no\\\\)\n\n> \\[\n> x\n> \\]"
    ));
}

#[test]
fn footnotes() {
    insta::assert_snapshot!(html(
        "High tide is at six.[^1] Or so[^why].\n\n[^1]: See the *table*.\n\n    And the moon.\n\n[^why]: The clock is slow.\n\nNone has this[^none] name.\n"
    ));
}

#[test]
fn html_is_text() {
    insta::assert_snapshot!(html("<div>\n<u>More</u>\n\nInside <b>bold</b>.\n\n</div>\n"));
}

#[test]
fn two_scripts_in_one_message() {
    insta::assert_snapshot!(html("مرحبا **bold** \u{200f}(123) code: `a<b`\n\n中文**加粗**。\n"));
}

#[test]
fn empty_text_draws_nothing() {
    assert!(render("").is_empty() && render(" \n\t\n").is_empty());
}
