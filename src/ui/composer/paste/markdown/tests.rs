//! Markdown of content pasted from web pages, mail and programs.

use super::*;

/// Reads well-formed HTML.
fn read(html: &str) -> Vec<RichText> {
    let mut rest = html;
    pieces(&mut rest)
}

fn pieces(rest: &mut &str) -> Vec<RichText> {
    let mut found = Vec::new();
    while !rest.is_empty() && !rest.starts_with("</") {
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            found.push(RichText::Text(
                rest[..end].replace("&lt;", "<").replace("&nbsp;", "\u{a0}").replace("&amp;", "&"),
            ));
            *rest = &rest[end..];
            continue;
        };
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        let (name, listed) = tag.split_once(' ').unwrap_or((tag, ""));
        let is_empty = matches!(name, "br" | "hr" | "img" | "meta");
        *rest = after;
        let children = if is_empty { Vec::new() } else { pieces(rest) };
        if !is_empty {
            *rest = rest.strip_prefix(&format!("</{name}>")).unwrap_or_else(|| panic!("{name} ends: {rest}"));
        }
        let attributes = ["href", "style", "class", "start"].into_iter().filter_map(|key| {
            let value = listed.split_once(&format!("{key}=\""))?.1.split_once('"')?.0;
            Some((key, value.to_owned()))
        });
        found.push(RichText::Element { name: name.to_owned(), attributes: attributes.collect(), children });
    }
    found
}

#[test]
fn rich_text_becomes_markdown() {
    for (html, markdown) in [
        ("<h2>A <b>plan</b></h2><p>First  line<br>second.</p>", "## A **plan**\n\nFirst line\nsecond."),
        // A heading of a reply: its element is below the headings of the page, its level is in the class.
        ("<h5 class=\"md-h2\">Plan</h5><p>x</p><h6 class=\"md-h3\">Step</h6><p>y</p>", "## Plan\n\nx\n\n### Step\n\ny"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><p>c</p><button>Copy table</button>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nc",
        ),
        ("<p>Some <em>fine </em>and <strong><em>bold</em></strong> words.</p>", "Some *fine* and ***bold*** words."),
        ("<ul><li>one</li><li>two<ul><li>in it</li></ul></li></ul>", "- one\n- two\n  - in it"),
        ("<ul><li>one</li><ul><li>beside it</li></ul></ul>", "- one\n  - beside it"),
        ("<ol start=\"3\"><li><p>three</p></li><li><p>four</p><p>more</p></li></ol>", "3. three\n4. four\n\n   more"),
        (
            "<p>See <a href=\"https://example.org/a b\">the [page]</a>.</p>",
            "See [the \\[page\\]](https://example.org/a%20b).",
        ),
        ("<p><b>x</b><a href=\"https://example.org\">https://example.org</a></p>", "**x**https://example.org"),
        ("<p><b>x</b> <a href=\"javascript:alert(1)\">click</a> <a href=\"/here\">here</a></p>", "**x** click here"),
        ("<p>Press <code>a`b</code> or <code>c</code></p>", "Press ``a`b`` or `c`"),
        (
            "<pre><code class=\"language-rust\">fn main() {\n    1 &lt; 2\n}\n</code></pre>",
            "```rust\nfn main() {\n    1 < 2\n}\n```\n",
        ),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````\n"),
        ("<blockquote><p>one</p><p>two</p></blockquote><p>said he</p>", "> one\n>\n> two\n\nsaid he"),
        (
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>x|y</td></tr><tr><td>2</td></tr></tbody></table>",
            "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |",
        ),
        ("<table><tr><td><h1>Mail</h1><p>text</p></td></tr></table>", "# Mail\n\ntext"),
        ("<div>line</div><div><i>line</i></div><div><br></div><p>end</p>", "line\n*line*\n\nend"),
        (
            "<b style=\"font-weight:normal\"><p><span style=\"font-weight: 700\">Docs</span> and <span style=\"font-style: italic\">more</span></p></b>",
            "**Docs** and *more*",
        ),
        ("<style>p { color: red }</style><p>a<s>b</s></p><hr><script>x</script>", "a~~b~~\n\n---"),
        ("<p>你好，<strong>世界</strong>。</p>", "你好，**世界**。"),
        ("<p>a<b> b </b>c</p>", "a **b** c"),
        ("<p>foo<b><span> bar</span></b></p>", "foo **bar**"),
        // Whitespace is preserved where the source page preserves it.
        (
            "<div style=\"white-space: pre-wrap\">one\n  two<b>!</b></div><p style=\"white-space: normal\">three\n four</p>",
            "one\n  two**!**\n\nthree four",
        ),
    ] {
        assert_eq!(from_rich_text(&read(html), false).as_deref(), Some(markdown), "{html}");
    }
}

#[test]
fn unformatted_text_stays_as_clipboard_gives_it() {
    for html in [
        "",
        "<p>Only words</p>",
        "<div><span style=\"color: red\">let</span> x</div>",
        "<b style=\"font-weight:normal\">plain</b>",
        "<a href=\"https://example.org\">https://example.org</a>",
        "<img>",
        // Diffs are rendered as a table of code.
        "<table><tr><td>1</td><td style=\"white-space: pre\">  let <b>x</b></td></tr></table>",
    ] {
        assert_eq!(from_rich_text(&read(html), false), None, "{html}");
    }
}

#[test]
fn few_words_of_block_are_no_block() {
    for (html, is_line_begun, markdown) in [
        ("<meta><pre><code class=\"language-rust\"><span>foo</span></code></pre>", true, Some("`foo`")),
        ("<meta><div><pre>cargo test</pre></div>", false, Some("`cargo test`")),
        ("<h2>foo</h2>", true, None),
        ("<h2>foo</h2>", false, Some("## foo")),
        // Blocks begin at the beginning of a line.
        ("<pre>a\nb</pre>", true, Some("\n\n```\na\nb\n```\n")),
        ("<ol><li>a</li><li>b</li></ol>", true, Some("\n\n1. a\n2. b")),
        ("<p>a <b>b</b></p>", true, Some("a **b**")),
    ] {
        assert_eq!(from_rich_text(&read(html), is_line_begun).as_deref(), markdown, "{html}");
    }
}

#[test]
fn nothing_becomes_markdown_inside_code() {
    for (before, expected) in [("", false), ("a `b", false), ("```\nlet x", true), ("```\nx\n```\n", false)] {
        assert_eq!(is_in_code(before), expected, "{before}");
    }
}
