//! Tests of the HTML that is interpreted, of alerts, and of footnotes that lead.

use super::allowed::parse_allowed;
use crate::domain::fixtures::{block_id, turn_id};
use crate::domain::text::external_links::KnownHosts;
use crate::ui::markdown::{MarkupPart, ReplyLinks, StreamingMarkdown, render};

fn html(text: &str) -> String {
    let parts = render(text);
    for part in &parts {
        parse_allowed(part.markup().as_str()).unwrap_or_else(|reason| panic!("{reason} in {text:?}"));
    }
    parts.iter().map(|part| part.markup().as_str().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn inline_tags_with_partner_become_elements_and_others_stay_text() {
    for (text, expected) in [
        ("H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("x<sup>2</sup>", "x<sup>2</sup>"),
        ("<KBD>Ctrl</KBD>+<kbd>C</Kbd>", "<kbd>Ctrl</kbd>+<kbd>C</kbd>"),
        ("<kbd>**a** `b`</kbd>", "<kbd><strong>a</strong> <code dir=\"ltr\">b</code></kbd>"),
        ("<sub>a<sup>b</sup></sub>", "<sub>a<sup>b</sup></sub>"),
        ("<sub>a", "&lt;sub&gt;a"),
        ("a</sub>", "a&lt;/sub&gt;"),
        ("<sub>a</sup>", "&lt;sub&gt;a&lt;/sup&gt;"),
        ("<sub>a<kbd>b</sub>c</kbd>", "<sub>a&lt;kbd&gt;b</sub>c&lt;/kbd&gt;"),
        ("**<sub>a**</sub>", "<strong>&lt;sub&gt;a</strong>&lt;/sub&gt;"),
        ("<sub class=\"x\">a</sub>", "&lt;sub class=&quot;x&quot;&gt;a&lt;/sub&gt;"),
        ("`<sub>a</sub>`", "<code dir=\"ltr\">&lt;sub&gt;a&lt;/sub&gt;</code>"),
        ("\\<sub>a\\</sub>", "&lt;sub&gt;a&lt;/sub&gt;"),
        ("a <b>b</b>", "a &lt;b&gt;b&lt;/b&gt;"),
        ("![a<sub>b</sub>](x)", "a&lt;sub&gt;b&lt;/sub&gt;"),
    ] {
        assert_eq!(html(text), format!("<p dir=\"auto\">{expected}</p>"), "{text}");
    }
    assert!(html("|a|\n|-|\n|x<sub>1</sub><br>y|").contains("x<sub>1</sub><br/>y"));
}

const OPEN: &str = "<details class=\"md-details\" open=\"\">";
const CLOSED: &str = "<details class=\"md-details\">";

#[test]
fn disclosure_reaches_over_blocks_up_to_its_end() {
    let body = "<p dir=\"auto\">Inside <em>it</em>.</p>";
    let more = format!("{CLOSED}<summary dir=\"auto\">More</summary>{body}</details>");
    for text in [
        "<details>\n<summary>More</summary>\n\nInside *it*.\n\n</details>",
        "<details><summary>More</summary>\n\nInside *it*.\n</details>",
        "<details>\n\n<summary>\n<b>More</b>\n</summary>\n\nInside *it*.\n\n</details>",
        "<DETAILS>\n<Summary><strong>More</strong></SUMMARY>\n\nInside *it*.\n\n</Details>",
    ] {
        assert_eq!(html(text), more, "{text}");
        assert_eq!(
            html(&format!("a\n\n{text}\n\nb")),
            format!("<p dir=\"auto\">a</p>\n{more}\n<p dir=\"auto\">b</p>"),
            "{text}"
        );
        assert_eq!(html(&format!("{text}\n{text}")), format!("{more}{more}"), "{text}");
    }
    assert_eq!(html("<details open>\n\na\n\n</details>").matches(OPEN).count(), 1);
    assert!(
        html("<details>\n<summary>A &amp; B &lt;i&gt; &amp;lt;</summary>\n\na\n\n</details>")
            .contains("<summary dir=\"auto\">A &amp; B &lt;i&gt; &amp;lt;</summary>")
    );
    assert_eq!(
        html("<details>\nraw <i>text</i>\n</details>"),
        format!(
            "{CLOSED}<summary dir=\"auto\">Details</summary>\
             <p class=\"md-literal\" dir=\"auto\">raw &lt;i&gt;text&lt;/i&gt;</p></details>"
        )
    );
    assert_eq!(
        html("- <details>\n  <summary>S</summary>\n\n  a\n  </details>\n- b"),
        format!(
            "<ul><li dir=\"auto\">{CLOSED}<summary dir=\"auto\">S</summary><p dir=\"auto\">a</p></details></li>\
             <li dir=\"auto\"><p dir=\"auto\">b</p></li></ul>"
        )
    );
}

#[test]
fn disclosure_without_end_is_open_and_ends_with_its_element() {
    assert_eq!(
        html("<details>\n<summary>S</summary>\n\na\n\nb"),
        format!("{OPEN}<summary dir=\"auto\">S</summary><p dir=\"auto\">a</p><p dir=\"auto\">b</p></details>")
    );
    assert!(html("> <details>\n>\n> a\n\nb").ends_with("</details></blockquote>\n<p dir=\"auto\">b</p>"));
    // Of two, the outer one has no end.
    let nested = html("<details>\n<summary>A</summary>\n\n<details>\n<summary>B</summary>\n\nb\n\n</details>\n\nc");
    assert!(nested.starts_with(OPEN) && nested.contains(CLOSED) && nested.ends_with("c</p></details>"), "{nested}");
    assert_eq!(html("a\n\n</details>").matches("details").count(), 1);
    assert!(html("<div><details>\n\na").contains("&lt;details&gt;"));
}

#[test]
fn streamed_disclosure_is_one_part_like_finished_one() {
    let text =
        "Before.\n\n<details>\n<summary>S</summary>\n\n- a\n\n```\ncode\n\n</details>\n```\n\n</details>\n\nAfter.\n";
    let mut streaming = StreamingMarkdown::default();
    for (at, c) in text.char_indices() {
        streaming.push(c.encode_utf8(&mut [0; 4]));
        assert_eq!(streaming.parts(), render(&text[..at + c.len_utf8()]), "{at}");
    }
    assert_eq!(streaming.parts().len(), 3);
    let whole = streaming.parts().to_vec();
    streaming.finish();
    assert_eq!(streaming.parts(), whole);
}

#[test]
fn alerts_have_their_names_and_other_quotes_stay_quotes() {
    for (tag, class, name) in [
        ("[!NOTE]", "md-alert", "Note"),
        ("[!tip]", "md-alert md-tip", "Tip"),
        ("[!IMPORTANT]", "md-alert md-important", "Important"),
        ("[!WARNING]", "md-alert md-warning", "Warning"),
        ("[!CAUTION]", "md-alert md-caution", "Caution"),
    ] {
        assert_eq!(
            html(&format!("> {tag}\n> Read *this*.")),
            format!(
                "<div class=\"{class}\"><p class=\"md-alert-name\">{name}</p>\
                 <p dir=\"auto\">Read <em>this</em>.</p></div>"
            )
        );
    }
    for quote in ["> [!NOTE] on the line", "> [!OTHER]\n> a", "> a\n> [!NOTE]", "> NOTE"] {
        assert!(html(quote).starts_with("<blockquote"), "{quote}");
    }
}

#[test]
fn footnotes_lead_there_and_back_within_their_block() {
    let text = "One[^a] and two[^a].\n\nThree[^B c].\n\n[^a]: The note.\n\n[^B c]: Another.\n";
    let known = KnownHosts::new(None);
    let draw = |block: u64, parts: &[MarkupPart]| -> String {
        let parts = ReplyLinks::new(turn_id(2), block_id(block), false).draw(parts, &known);
        parts.iter().map(|part| part.markup().as_str()).collect()
    };
    let html = draw(3, &render(text));
    let values = |attribute: &str| -> Vec<String> {
        let start = format!(" {attribute}=\"");
        let pieces = html.split(&start).skip(1);
        pieces.map(|piece| piece.split('"').next().unwrap_or_default().to_owned()).collect()
    };
    let ids = values("id");
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{html}");
    let links = values("href");
    assert!(links.len() >= 3, "{html}");
    for link in links {
        assert!(link.strip_prefix('#').is_some_and(|id| ids.iter().any(|known| known == id)), "{link} in {html}");
    }
    // Another block of the same page has other places.
    let other = draw(4, &render(text));
    assert!(ids.iter().all(|id| !other.contains(&format!(" id=\"{id}\""))), "{other}");
    // Parts that were kept from before count: no id appears twice while a reply grows.
    let mut growing = ReplyLinks::new(turn_id(2), block_id(3), false);
    let parts = render(text);
    for end in 0..=parts.len() {
        growing.draw(&parts[..end], &known);
    }
    let grown: String = growing.draw(&parts, &known).iter().map(|part| part.markup().as_str()).collect();
    assert_eq!(grown, html);
}

#[test]
fn footnote_in_link_is_no_link_in_link() {
    // The strict parser refuses a link in a link.
    assert!(html("[a[^1] b](https://a.test)\n\n[^1]: c").contains("[1]"));
}
