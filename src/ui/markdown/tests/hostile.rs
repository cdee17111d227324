//! Hostile texts that try to become more than text.

use proptest::prelude::*;

use super::allowed::{ParsedMarkup, parse_allowed};
use crate::domain::limits;
use crate::ui::markdown::{MarkupPart, StreamingMarkdown, render};

/// Parses all parts strictly.
fn parse_all(parts: &[MarkupPart]) -> ParsedMarkup {
    let mut all = ParsedMarkup::default();
    for part in parts {
        let seen =
            parse_allowed(part.markup().as_str()).unwrap_or_else(|reason| panic!("{reason}\nin {:?}", part.markup()));
        all.text.push_str(&seen.text);
        all.text.push('\n');
        all.links.extend(seen.links);
        all.elements += seen.elements;
        all.depth = all.depth.max(seen.depth);
    }
    all
}

const XSS: &str = "window.__xss=1";

/// The hostile rows, each with text that must stay visible.
fn rows() -> Vec<(String, &'static str)> {
    let xss = |text: &str| text.replace("XSS", XSS);
    vec![
        (xss("<script>XSS</script>"), "<script>window.__xss=1</script>"),
        (xss("a <script>XSS</script> b"), "a <script>window.__xss=1</script> b"),
        (xss("<img src=x onerror=XSS>"), "<img src=x onerror=window.__xss=1>"),
        (xss("[a](javascript:XSS)"), "a"),
        (xss("![a](javascript:XSS)"), "a"),
        (xss("[a](JaVaScRiPt:XSS)"), "a"),
        (xss("[a]( javascript:XSS)"), "a"),
        (xss("[a](\u{1}javascript:XSS)"), "a"),
        (xss("[a](java\tscript:XSS)"), "a"),
        (xss("[a](<java\u{a0}script:XSS>)"), "a"),
        (xss("[a](java&#115;cript:XSS)"), "a"),
        (xss("[a](javascript&colon;XSS)"), "a"),
        (xss("[a](&#x6a;avascript:XSS)"), "a"),
        (xss("[a](java&Tab;script:XSS)"), "a"),
        (xss("[a](&#1;https://canary.test)"), "a"),
        (xss("<javascript:XSS>"), "javascript:"),
        (xss("<vbscript:XSS>"), "vbscript:"),
        ("[a](data:text/html;base64,PHNjcmlwdD4=)".into(), "a"),
        ("![a](data:image/svg+xml;base64,PHN2Zz4=)".into(), "a"),
        ("[a](blob:https://canary.test/1)".into(), "a"),
        (xss("# h {onclick=XSS}"), "h {onclick=window.__xss=1}"),
        (xss("# h {#id .class onclick=XSS}"), "h {#id .class onclick=window.__xss=1}"),
        (xss("```js\"><img src=x onerror=XSS>\nx\n```"), "js\"><img"),
        (xss("~~~ \" autofocus onfocus=XSS\nx\n~~~"), "\""),
        (xss("[a](https://ok.test \"\\\"onmouseover=XSS x=\\\"\")"), "a"),
        (xss("[a](https://ok.test/\"onmouseover=XSS)"), "a"),
        (
            xss("<iframe srcdoc=\"<script>parent.__xss=1</script>\">"),
            "<iframe srcdoc=\"<script>parent.__xss=1</script>\">",
        ),
        ("<form action=//canary.test><input name=p></form>".into(), "<form action=//canary.test>"),
        ("<base href=//canary.test>".into(), "<base href=//canary.test>"),
        ("<meta http-equiv=refresh content=0;url=//canary.test>".into(), "<meta"),
        ("<style>@import '//canary.test'</style>".into(), "<style>@import '//canary.test'</style>"),
        ("<svg><a xlink:href=javascript:x>".into(), "<svg>"),
        ("<!-- --><plaintext>".into(), "<plaintext>"),
        ("<?php echo 1 ?> <![CDATA[ <b> ]]>".into(), "<![CDATA["),
        ("[a](//canary.test)".into(), "a"),
        ("[a](/logout)".into(), "a"),
        ("[a](\\\\canary.test)".into(), "a"),
        ("[a](https:\\\\canary.test)".into(), "a"),
        ("[a](https:canary.test)".into(), "a"),
        ("[a](https:///canary.test)".into(), "a"),
        ("![a](/logout)".into(), "a"),
        ("[a](smb://canary.test/s)".into(), "a"),
        ("[a](calculator://)".into(), "a"),
        ("[a](file:///etc/passwd)".into(), "a"),
        ("[a](ms-msdt:/id)".into(), "a"),
        (xss("$\\href{javascript:XSS}{x}$"), "\\href{javascript:"),
        (xss("$$\\bad{<img src=x onerror=XSS>}$$"), "<img src=x"),
        (xss("\\(\\href{javascript:XSS}{x}\\)"), "\\href{javascript:"),
        ("x\n\nevent: turn_end\ndata: {}\n\n".into(), "event: turn_end\ndata: {}"),
        ("Error: it broke".into(), "Error: it broke"),
        ("{\"type\":\"turn_end\"}".into(), "{\"type\":\"turn_end\"}"),
        ("[[a]](https://ok.test)<b>`</b>`".into(), "[a]"),
        ("| a<br><script> |\n|-|\n| <img src=x> |".into(), "<img src=x>"),
        ("[r]\n\n[r]: javascript:alert(1)".into(), "r"),
        ("[^1]\n\n[^1]: <script>".into(), "[1]<script>"),
        ("---\ntitle: <script>\n---\n".into(), "title: <script>"),
        ("term\n: <b onclick=x>".into(), "<b onclick=x>"),
        ("[[javascript:alert(1)|a]]".into(), "javascript:alert(1)|a"),
        (xss("<details ontoggle=XSS open>\n\nx"), "<details ontoggle=window.__xss=1 open>"),
        (xss("<details>\n<summary onclick=XSS>s</summary><script>XSS</script>"), "<script>window.__xss=1</script>"),
        (xss("<kbd onclick=XSS>a</kbd> <sup>b</sub>"), "<kbd onclick=window.__xss=1>a</kbd> <sup>b</sub>"),
        ("[^\" onclick=x]\n\n[^\" onclick=x]: a".into(), "a"),
    ]
}

#[test]
fn hostile_rows_are_inert_at_every_prefix_and_however_they_arrive() {
    for (row, text) in rows() {
        let whole = parse_all(&render(&row));
        assert!(whole.text.contains(text), "{row:?} reads {:?}", whole.text);
        assert!(
            whole.links.iter().all(|link| link.starts_with("https://ok.test") || link.starts_with("#note")),
            "{row:?} leads to {:?}",
            whole.links
        );
        let mut streaming = StreamingMarkdown::default();
        for (at, c) in row.char_indices() {
            parse_all(&render(&row[..at]));
            streaming.push(c.encode_utf8(&mut [0; 4]));
            parse_all(streaming.parts());
        }
        streaming.finish();
        assert_eq!(streaming.parts(), render(&row), "{row:?}");
    }
}

#[test]
fn image_is_card_that_names_its_host_and_loads_nothing() {
    for text in ["![x](https://canary.test/p?q=SECRET)", "![x][r]\n\n[r]: https://canary.test/p?q=SECRET"] {
        let seen = parse_all(&render(text));
        assert_eq!(seen.text, "xOpen image at canary.test\n");
        assert_eq!(seen.links, ["https://canary.test/p?q=SECRET"]);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            parse_all(&render(&text[..at]));
        }
    }
    assert_eq!(parse_all(&render("[![a](https://canary.test/1)](https://ok.test)")).links, ["https://ok.test"]);
    assert_eq!(parse_all(&render("![a ![b](https://b.test) c](https://c.test)")).text, "a b cOpen image at c.test\n");
    assert_eq!(parse_all(&render("![](https://b.test)")).text, "ImageOpen image at b.test\n");
}

#[test]
fn nesting_beyond_limit_is_shown_as_plain_text() {
    let deep = |depth: usize| parse_all(&render(&format!("{}text", "> ".repeat(depth))));
    assert_eq!(deep(limits::MARKDOWN_NESTING).depth, limits::MARKDOWN_NESTING + 1);
    let beyond = deep(limits::MARKDOWN_NESTING + 1);
    assert_eq!((beyond.elements, beyond.depth), (2, 1));
    assert!(beyond.text.contains("> > > text"));
}

#[test]
fn large_hostile_texts_stay_within_limits_and_are_shown_in_full() {
    let table = format!("{}\n{}\n{}", "|a".repeat(1000), "|-".repeat(1000), "|x\n".repeat(20_000));
    let texts = [
        ">".repeat(200_000),
        "[".repeat(200_000),
        "*a_ ".repeat(50_000),
        "<!".repeat(100_000),
        "![".repeat(100_000),
        "[a](".repeat(50_000),
        "[^a]: ".repeat(50_000),
        "- ".repeat(100_000),
        "1. ".repeat(60_000),
        "**a ".repeat(50_000),
        "*".repeat(200_000),
        "`".repeat(200_000),
        "` `` ".repeat(40_000),
        "$".repeat(200_000),
        "$a ".repeat(60_000),
        "\\(".repeat(100_000),
        "\\( a_".repeat(40_000),
        "http://".repeat(30_000),
        "www.".repeat(50_000),
        "a@".repeat(100_000),
        "a@b.c".repeat(40_000),
        "<a@b>".repeat(40_000),
        "a\n\n".repeat(60_000),
        "[a]: b\n".repeat(30_000),
        "&#x61;".repeat(30_000),
        "<".repeat(200_000),
        "|".repeat(200_000),
        ")".repeat(200_000),
        format!("http://a.test/{}", ")".repeat(200_000)),
        "~~a ".repeat(50_000),
        "<sub>".repeat(40_000),
        "<sub>a</sub>".repeat(20_000),
        "<sub><kbd></sub>".repeat(20_000),
        "<details>\n\n".repeat(20_000),
        "<details><summary>".repeat(20_000),
        "<details></details>".repeat(20_000),
        "- <details>\n".repeat(20_000),
        "> [!NOTE]\n\n".repeat(20_000),
        table,
    ];
    for text in texts {
        let parts = render(&text);
        let seen = parse_all(&parts);
        assert!(seen.elements <= 2 * limits::MARKDOWN_NODES, "{} elements of {:?}", seen.elements, &text[..9]);
        assert!(seen.depth <= 4 * limits::MARKDOWN_NESTING, "{} deep: {:?}", seen.depth, &text[..9]);
        let bytes: usize = parts.iter().map(|part| part.markup().as_str().len()).sum();
        assert!(bytes <= 20 * text.len(), "{bytes} bytes of {:?}", &text[..9]);
    }
}

#[test]
fn too_many_cells_turn_table_and_rest_into_plain_text() {
    let table = |rows: usize| {
        let row = |cell: &str| format!("{}\n", cell.repeat(20));
        format!("before\n\n{}{}{}\nafter\n\nlast", row("|a"), row("|-"), row("|x").repeat(rows))
    };
    let fits = limits::MARKDOWN_CELLS / 20 - 1;
    assert_eq!(render(&table(fits)).len(), 4);
    let beyond = render(&table(fits + 1));
    assert_eq!(beyond.len(), 2);
    assert!(parse_all(&beyond).text.ends_with("|x|x\n\nafter\n\nlast\n"));
}

#[test]
fn control_characters_are_shown_and_never_written() {
    assert_eq!(parse_all(&render("a\u{0}b\u{8}c\u{7f}`\u{1b}`")).text, "a␀b␈c␡␛\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_well_formed_allowed_markup(text in any::<String>()) {
        parse_all(&render(&text));
    }

    #[test]
    fn any_mix_of_marks_gives_well_formed_allowed_markup(pieces in prop::collection::vec(prop::sample::select(MARKS), 0..60)) {
        parse_all(&render(&pieces.concat()));
    }
}

/// Fragments that are syntax to the parser or to a browser.
pub const MARKS: &[&str] = &[
    "a",
    "[^1]",
    "[^1]: ",
    " ",
    "\n",
    "\n\n",
    "\t",
    "    ",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "```",
    "~~~",
    "```rust\n",
    "[",
    "]",
    "](",
    ")",
    "(",
    "<",
    ">",
    "</p>",
    "<sub>",
    "</sub>",
    "<kbd>",
    "</kbd>",
    "<details>",
    "<details open>",
    "</details>",
    "<summary>",
    "</summary>",
    "[!NOTE]",
    "<script>",
    "<b onclick=x>",
    "<!--",
    "-->",
    "<br>",
    "![",
    "![a](https://h.test/i)",
    "[a](https://h.test)",
    "[a](javascript:x)",
    "[r]",
    "[r]: https://r.test\n",
    "# ",
    "## ",
    "- ",
    "* ",
    "1. ",
    "7) ",
    "> ",
    "|",
    "|-|-|\n",
    "|a|b|\n",
    "---\n",
    "===\n",
    "- [ ] ",
    "- [x] ",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\\",
    "&amp;",
    "&#106;",
    "&",
    "\"",
    "'",
    "https://h.test/a_b",
    "www.h.test",
    "a@h.test",
    "<https://h.test>",
    "{",
    "}",
    ":",
    "é",
    "漢字",
    "\u{202e}",
    "\u{0}",
    "\r\n",
    "\r",
    "{onclick=x}",
    "5",
    ".",
    ",",
];
