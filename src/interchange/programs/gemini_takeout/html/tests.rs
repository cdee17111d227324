//! Tests of the conversion of HTML to Markdown.

use proptest::prelude::*;

use super::*;

fn markdown(html: &str) -> String {
    to_markdown(html).text
}

#[test]
fn blocks_are_converted() {
    let table = [
        ("<p>One</p>\n<p>Two <b>bold</b>, <em>slanted</em></p>", "One\n\nTwo **bold**, *slanted*"),
        ("<h2>Head</h2><p>Text</p><hr>", "## Head\n\nText\n\n---"),
        ("<ul><li>a</li><li><p>b</p><ul><li>c</li></ul></li></ul>d", "- a\n- b\n  - c\n\nd"),
        ("<ol start=\"3\"><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol start=\"18446744073709551615\"><li>a<li>b</ol>", "999999999. a\n999999999. b"),
        ("<ul><li></li><li>x</li></ul>", "- \n- x"),
        ("<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"),
        (
            "<pre><code class=\"x language-rust\">fn a() {\n\n  &lt;b&gt;\n}\n</code></pre>t",
            "```rust\nfn a() {\n\n  <b>\n}\n```\n\nt",
        ),
        ("<ul><li>a<pre>x\ny</pre></li></ul>", "- a\n\n  ```\n  x\n  y\n  ```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("a<br>b<br><br>c<br>", "a  \nb\n\nc"),
        (
            "<table><thead><tr><th>A</th><th>B|</th></tr></thead><tbody><tr><td><p>1</p></td><td>2</td></tr><tr><td>3</td></tr></tbody></table>x",
            "| A | B\\| |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |\n\nx",
        ),
        ("<style>p {}</style><script>if (a<b) c()</script>x", "x"),
        ("", ""),
    ];
    for (html, expected) in table {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn inline_elements_are_converted() {
    let table = [
        ("a<b> b </b>c", "a **b** c"),
        ("<b></b>a<i> </i>b", "a b"),
        ("<code>a  b</code> <code>`</code> <code></code>", "`a b` `` ` ``"),
        ("<a href=\"https://a.example/(x)\">A <b>b</b></a>", "[A **b**](<https://a.example/(x)>)"),
        ("<a href=\"javascript:x()\">A</a><a href='/b'>B</a>", "AB"),
        ("<img src=\"https://a.example/x.png\" alt=\"X]\">", "![X ](https://a.example/x.png)"),
        ("a &amp; b &lt;c&gt; &nbsp;d", "a & b \\<c> \u{a0}d"),
        ("&amp;lt; 1 &lt; 2", "\\&lt; 1 < 2"),
        ("<span>a</span><sup>2</sup>", "a2"),
        ("a < b <3 <", "a < b <3 <"),
        ("<!-- x --><!doctype html>a<!-- b", "a\\<!-- b"),
        ("a<unknown attr='x>y' b=\"\">b</unknown>", "ab"),
    ];
    for (html, expected) in table {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn text_that_looks_like_markdown_is_escaped() {
    let table = [
        ("# a", "\\# a"),
        ("1. a", "1\\. a"),
        ("- a", "\\- a"),
        ("-1 and 1.5", "-1 and 1.5"),
        ("2 * 3 *x* snake_case _x_ `", "2 * 3 \\*x\\* snake_case \\_x\\_ \\`"),
        ("[a](b) ~~c~~", "[a\\](b) \\~~c\\~~"),
        ("$\\tau_M = x_1 * y$ costs $5", "$\\tau_M = x_1 * y$ costs $5"),
    ];
    for (html, expected) in table {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn pictures_of_export_are_returned() {
    let converted = to_markdown("<p>Here:</p><img src=\"image-1.png\" alt=\"A cat\"><p>x</p>");
    assert_eq!(converted.text, "Here:\n\nx");
    assert_eq!(converted.pictures, [("image-1.png".to_owned(), "A cat".to_owned())]);
}

#[test]
fn hostile_nesting_is_bounded() {
    for open in ["<ul><li>", "<blockquote>", "<b>", "<table><tr><td>", "<div", "<!--", "<a href='", "<", "<code>"] {
        let html = format!("{}x", open.repeat(100_000));
        assert!(markdown(&html).len() <= 2 * html.len(), "{open}");
    }
}

#[test]
fn output_is_bounded_within_tables_and_code() {
    let row = format!("<tr>{}</tr>", "<td>".repeat(2 * COLUMNS));
    let wide = to_markdown(&format!("<table>{row}{}</table>", "<tr><td>x</td></tr>".repeat(3)));
    let cells: Vec<usize> = wide.text.lines().map(|line| line.matches('|').count() - 1).collect();
    assert_eq!((cells, wide.is_cut), (vec![2 * COLUMNS, 2 * COLUMNS, COLUMNS, COLUMNS, COLUMNS], false));

    let rows = format!("<table>{}</table>", "<tr><td>1</td><td>2</td></tr>".repeat(9));
    let cut = to_markdown_within(&rows, 30);
    assert_eq!((cut.text.as_str(), cut.is_cut), ("| 1 | 2 |\n| --- | --- |\n| 1 | 2 |", true));

    let code = to_markdown_within(&format!("<blockquote><pre>{}</pre></blockquote>", "x\n".repeat(20)), 20);
    assert_eq!((code.text.as_str(), code.is_cut), ("> ```\n> x\n> x\n> x\n> x\n> ```", true));

    let cells = to_markdown_within(&format!("<table><tr>{}", "<td>12345</td>".repeat(9)), 12);
    assert_eq!((cells.text.as_str(), cells.is_cut), ("| 12345 | 12345 | 12345 |\n| --- | --- | --- |", true));
}

proptest! {
    #[test]
    fn arbitrary_html_never_panics(
        html in "(<(/)?(p|ul|ol|li|b|a href='x'|table|tr|td|pre|code|br|blockquote|h1|img src=y|style)>|[a-zé$*_` \\n&<>|]){0,40}"
    ) {
        let converted = to_markdown(&html);
        prop_assert!(!converted.is_cut);
        prop_assert!(converted.text.len() <= 64 * (html.len() + 1));
    }
}
