//! Escaping for the Markdown export: code that cannot leave its fence, inline text without formatting, and verbatim
//! text that cannot swallow what follows it.

use std::borrow::Cow;
use std::io::{self, Write};

use chrono::{DateTime, SecondsFormat, Utc};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::domain::text::hidden_text::is_hidden_character;

/// Writes a code block that holds exactly this text, whatever it contains.
pub fn write_code(out: &mut impl Write, language: &str, text: &str) -> io::Result<()> {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    writeln!(out, "{fence}{language}")?;
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(out)?;
    }
    writeln!(out, "{fence}\n")
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(|run| run.len() / of.len_utf8()).max().unwrap_or(0)
}

/// Writes a text verbatim as its own paragraph, except that its HTML is escaped. A fence that it leaves open is closed,
/// because it would swallow the rest of the file.
pub fn write_verbatim(out: &mut impl Write, text: &str) -> io::Result<()> {
    let text = &*escape_raw_html(text);
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        writeln!(out)?;
    }
    if let Some(closing) = closing(text) {
        writeln!(out, "{closing}")?;
    }
    writeln!(out)
}

/// Writes a text as a quote.
pub fn write_quote(out: &mut impl Write, text: &str) -> io::Result<()> {
    let text = escape_raw_html(text);
    // A lone carriage return ends a line, too.
    for line in text.replace("\r\n", "\n").trim_end().split(['\n', '\r']) {
        writeln!(out, "{}", format!("> {line}").trim_end())?;
    }
    writeln!(out)
}

/// The number of times that a text is searched for HTML. An escape can only reveal HTML that was part of the escaped
/// one, so a few times suffice for any text of a person.
const HTML_PASSES: usize = 8;

/// Escapes the HTML of a Markdown text, which programs would render or run. Code stays as it is.
pub fn escape_raw_html(text: &str) -> Cow<'_, str> {
    let mut escaped = Cow::Borrowed(text);
    for _ in 0..HTML_PASSES {
        let html = Parser::new(&escaped).into_offset_iter().filter_map(|(event, range)| match event {
            Event::Html(_) | Event::InlineHtml(_) => Some(range),
            _ => None,
        });
        let mut places: Vec<usize> = Vec::new();
        for range in html {
            let start = range.start;
            let html = escaped.get(range).unwrap_or_default();
            places.extend(html.match_indices('<').map(|(at, _)| start + at));
        }
        if places.is_empty() {
            break;
        }
        let mut next = String::with_capacity(escaped.len() + places.len());
        let mut from = 0;
        for place in places {
            next.push_str(&escaped[from..place]);
            next.push('\\');
            from = place;
        }
        next.push_str(&escaped[from..]);
        escaped = Cow::Owned(next);
    }
    escaped
}

/// Escapes text for one line of Markdown and removes invisible characters.
pub fn escape_inline(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '~' | '|' | '&' | '$') {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

/// Escapes text for one line of HTML.
pub fn escape_html(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Puts text on one line and removes invisible characters.
pub fn one_line(text: &str) -> String {
    let seen: String =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden_character(*c)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a link target for use in parentheses.
pub fn link_target(address: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'*+,;=%".contains(c);
    if !address.is_empty() && address.chars().all(plain) {
        return address.to_owned();
    }
    let mut safe = String::from("<");
    for c in address.chars() {
        match c {
            '<' | '>' | '\\' => safe.push_str(&format!("%{:02X}", u32::from(c))),
            c if c.is_control() => {}
            c => safe.push(c),
        }
    }
    safe + ">"
}

/// A word that occurs in no text by chance; it probes whether the text after a block parses on its own.
const PROBE_WORD: &str = "turnleafreadsthisafterthetext";

/// Returns the line that closes what a text leaves open.
fn closing(text: &str) -> Option<String> {
    if is_over(text, "") {
        return None;
    }
    let closing = closing_of_last(text)?;
    is_over(text, &closing).then_some(closing)
}

/// Returns whether text after this line parses as its own paragraph.
fn is_over(text: &str, closing: &str) -> bool {
    let whole = format!("{text}\n{closing}\n\n{PROBE_WORD}\n");
    let mut depth = 0_usize;
    let mut last = None;
    for event in Parser::new(&whole) {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    last = Some((matches!(tag, Tag::Paragraph), String::new()));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(words) => {
                if let Some((_, content)) = &mut last {
                    content.push_str(&words);
                }
            }
            _ if depth == 0 => last = None,
            _ => {}
        }
    }
    last.is_some_and(|(is_paragraph, content)| is_paragraph && content == PROBE_WORD)
}

/// Returns the closing line of the last block if that block does not end by itself.
fn closing_of_last(text: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut last = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    last = Some((tag, range.start));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let (tag, start) = last?;
    let begin = text.get(start..)?.trim_start();
    match tag {
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
            let mark = begin.chars().next().filter(|c| matches!(c, '`' | '~'))?;
            Some(begin.chars().take_while(|c| *c == mark).collect())
        }
        Tag::HtmlBlock => {
            let lower: String = begin.chars().take(12).collect::<String>().to_ascii_lowercase();
            let ends = [
                ("<!--", "-->"),
                ("<?", "?>"),
                ("<![cdata[", "]]>"),
                ("<!", ">"),
                ("<script", "</script>"),
                ("<pre", "</pre>"),
                ("<style", "</style>"),
                ("<textarea", "</textarea>"),
            ];
            ends.into_iter().find(|(begin, _)| lower.starts_with(begin)).map(|(_, end)| end.to_owned())
        }
        _ => None,
    }
}

/// Formats a time in ISO 8601 with seconds.
pub fn iso_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_fences_and_comments_are_closed() {
        let table = [
            ("plain", None),
            ("# heading\n\n- item\n  - item", None),
            ("```rust\nfn main() {", Some("```")),
            ("```rust\nfn main() {}\n```", None),
            ("~~~~\n```\n", Some("~~~~")),
            ("  ````md\n```\nx\n```", Some("````")),
            // Fences within lists and quotes end with them.
            ("- ```\n  code", None),
            ("1. ```\n   code\n   ```", None),
            ("> ```\n> code", None),
            ("```\n```\n```", Some("```")),
            ("a <!-- b", None),
            ("<!-- a\n\nb", Some("-->")),
            ("<script>\nlet a", Some("</script>")),
            ("<div>\na", None),
            ("<?php\n\necho", Some("?>")),
            ("    indented", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(closing(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn raw_html_is_escaped_and_code_is_not() {
        let table = [
            ("a <b onclick=\"x\">c</b>", "a \\<b onclick=\"x\">c\\</b>"),
            ("<script>\nlet a = 1 < 2;\n</script>\n", "\\<script>\nlet a = 1 \\< 2;\n\\</script>\n"),
            ("a\n\n<!-- b -->", "a\n\n\\<!-- b -->"),
            ("</details>", "\\</details>"),
            ("`<b>` and\n\n```html\n<b>\n```", "`<b>` and\n\n```html\n<b>\n```"),
            ("1 < 2 > 0 <https://a.example>", "1 < 2 > 0 <https://a.example>"),
            ("\\<b>", "\\<b>"),
        ];
        for (text, expected) in table {
            assert_eq!(escape_raw_html(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_html_stays(text in "(<b>|</b>|<!--|-->|<script>|<|>|`|\\\\|\n|    |<a |x=\"|\"|é|- ){0,12}") {
            let escaped = escape_raw_html(&text);
            let is_html = |event: Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
            proptest::prop_assert!(!Parser::new(&escaped).any(is_html), "{escaped:?}");
        }
    }

    #[test]
    fn inline_text_is_escaped() {
        assert_eq!(escape_inline("a\n*b* [c](d) <e>\u{202e}# &amp;"), "a \\*b\\* \\[c\\](d) \\<e\\>\\# \\&amp;");
        assert_eq!(escape_html("a\n<b> & \"c\""), "a &lt;b&gt; &amp; &quot;c&quot;");
        assert_eq!(link_target("https://a.example/b?c=1#d"), "https://a.example/b?c=1#d");
        assert_eq!(link_target("a (1).png"), "<a (1).png>");
        assert_eq!(link_target("a>b\n"), "<a%3Eb>");
    }
}
