//! Tests of autolinks and of link targets.

use super::allowed::parse_allowed;
use crate::domain::fixtures::{block_id, turn_id};
use crate::domain::text::external_links::KnownHosts;
use crate::ui::markdown::autolink::{AutolinkPiece, split_at_links};
use crate::ui::markdown::target::LinkTarget;
use crate::ui::markdown::{ReplyLinks, render};

/// Returns the text with its links in angle brackets, each with its target if that differs.
fn marked(text: &str) -> String {
    let mark = |piece: AutolinkPiece| match piece {
        AutolinkPiece::Text(text) => text.to_owned(),
        AutolinkPiece::Link(text, target) if text == target.href() => format!("<{text}>"),
        AutolinkPiece::Link(text, target) => format!("<{text} {}>", target.href()),
    };
    split_at_links(text).into_iter().map(mark).collect()
}

#[test]
fn addresses_in_running_text_become_links() {
    for (text, expected) in [
        ("see https://a.test.", "see <https://a.test>."),
        ("https://a.test/x?y=1&z=2#w", "<https://a.test/x?y=1&z=2#w>"),
        ("HTTP://A.test/X", "<HTTP://A.test/X http://A.test/X>"),
        ("(https://a.test/x)", "(<https://a.test/x>)"),
        ("https://a.test/x_(y)", "<https://a.test/x_(y)>"),
        ("https://a.test/x_(y))", "<https://a.test/x_(y)>)"),
        ("https://a.test/a_b,", "<https://a.test/a_b>,"),
        ("\"https://a.test\"", "\"<https://a.test>\""),
        ("<https://a.test>", "<<https://a.test>>"),
        ("http://localhost:3000/c/1", "<http://localhost:3000/c/1>"),
        ("http://127.0.0.1:8080", "<http://127.0.0.1:8080>"),
        ("http://[::1]:80/", "<http://[::1]:80/>"),
        ("www.a.test/x", "<www.a.test/x https://www.a.test/x>"),
        ("www.a", "www.a"),
        ("www.", "www."),
        ("awww.a.test", "awww.a.test"),
        ("xhttps://a.test", "xhttps://a.test"),
        ("https://", "https://"),
        ("https://.", "https://."),
        ("https:// a", "https:// a"),
        ("https://https://a.test", "https://https://a.test"),
        ("https://a@b.test/", "https://a@b.test/"),
        ("a@b.test", "<a@b.test mailto:a@b.test>"),
        ("mail a.b+c@d-e.test.", "mail <a.b+c@d-e.test mailto:a.b+c@d-e.test>."),
        ("a@b", "a@b"),
        ("@a.test", "@a.test"),
        ("a@b_c.test", "a@b_c.test"),
        ("a@b.test-", "a@b.test-"),
        ("a@b.test@c.test", "<a@b.test mailto:a@b.test>@c.test"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("ftp://a.test", "ftp://a.test"),
        ("见https://a.test/路径，然后", "见<https://a.test/路径>，然后"),
        ("「https://a.test」", "「<https://a.test>」"),
        ("https://a.test https://b.test", "<https://a.test> <https://b.test>"),
        ("", ""),
    ] {
        assert_eq!(marked(text), expected, "{text}");
    }
}

#[test]
fn code_and_links_have_no_links_in_them() {
    for (text, links) in [
        ("`https://a.test`", 0),
        ("    https://a.test", 0),
        ("```\nhttps://a.test\n```", 0),
        ("[https://a.test](https://b.test)", 1),
        ("[www.a.test](javascript:x)", 0),
        ("**https://a.test/b_c_d**", 1),
        ("<https://a.test>", 1),
        ("<a@b.test>", 1),
        ("$https://a.test$", 0),
    ] {
        let all: usize =
            render(text).iter().map(|part| parse_allowed(part.markup().as_str()).unwrap().links.len()).sum();
        assert_eq!(all, links, "{text}");
    }
    let underscores = render("https://a.test/b_c_d and _e_");
    assert_eq!(parse_allowed(underscores[0].markup().as_str()).unwrap().links, ["https://a.test/b_c_d"]);
}

#[test]
fn only_three_shapes_of_destination_are_links() {
    for good in [
        "https://a.test",
        "HTTPS://a.test/",
        "http://a.test:80/x",
        "https://a_b.test",
        "https://münchen.test/ü",
        "http://[2001:db8::1]/",
        "mailto:a@b.test",
        "MAILTO:a@b.test",
        "https://a.test./",
        "https://a.test?x",
        "https://a.test#x",
        "https://xn--a.test",
    ] {
        assert!(LinkTarget::parse(good).is_some(), "{good}");
    }
    for bad in [
        "",
        ":",
        "https:",
        "https://",
        "https:///a",
        "https:a.test",
        "//a.test",
        "/a",
        "a",
        "#a",
        "?a",
        "a.test",
        "ftp://a.test",
        "javascript:x",
        "JAVASCRIPT:x",
        " https://a.test",
        "https://a.test ",
        "https ://a.test",
        "https://a b.test",
        "https://a.test/\u{0}",
        "https://a.test/\n",
        "\u{1}javascript:x",
        "https://a.test\\@b.test",
        "https:\\\\a.test",
        "https://u:p@a.test",
        "https://a.test:99999",
        "https://a.test:+80",
        "https://a.test:x",
        "https://a%2eb.test",
        "https://a..test",
        "https://[::1",
        "https://[zz]/",
        "https://a.test。evil",
        "https://a/\u{202e}",
        "https://a\u{200b}.test",
        "mailto:",
        "mailto:a",
        "mailto:a@",
        "mailto:a@b?bcc=c@d.test",
        "mailto:a@b.test,c@d.test",
        "data:text/html,x",
        "vbscript:x",
        "blob:https://a.test/x",
        "https://-@",
        "filesystem:https://a.test",
        "view-source:https://a.test",
        "https\u{ff1a}//a.test",
    ] {
        assert!(LinkTarget::parse(bad).is_none(), "{bad:?}");
    }
    assert!(LinkTarget::parse(&format!("https://a.test/{}", "a".repeat(8192))).is_none());
    assert_eq!(
        LinkTarget::parse("HTTPS://A.Test:8080/X").map(|target| target.host().to_owned()).as_deref(),
        Some("a.test")
    );
}

#[test]
fn links_to_unknown_hosts_lead_to_confirmation_page() {
    let mut known = KnownHosts::new(Some("127.0.0.1:8080".into()));
    known.add_hosts_from("what does https://known.test/ say?");
    let draw = |text: &str| -> String {
        let parts = ReplyLinks::new(turn_id(2), block_id(3), true).draw(&render(text), &known);
        parts.iter().map(|part| part.markup().as_str()).collect()
    };
    let asking = |address: &str| format!(" href=\"/leave?turn={}&amp;to={address}\"", turn_id(2));
    let html =
        draw("https://a.test/?q='1&2'#x and [b](https://known.test.evil.test/ \"t\") and ![c](http://i.test/p.png)");
    assert!(html.contains(&asking("https%3A%2F%2Fa.test%2F%3Fq%3D%271%262%27%23x")), "{html}");
    assert!(html.contains(&asking("https%3A%2F%2Fknown.test.evil.test%2F")), "{html}");
    assert!(html.contains(&asking("http%3A%2F%2Fi.test%2Fp.png")), "{html}");
    assert!(!html.contains("href=\"http") && html.contains("noreferrer"), "{html}");
    // The visible text stays: the address, and the link's target in its title.
    assert!(html.contains(">https://a.test/?q=&#39;1&amp;2&#39;#x</a>"), "{html}");
    assert!(html.contains("title=\"t — https://known.test.evil.test/\""), "{html}");
    for text in [
        "[a](https://known.test/x?y=1&z=2)",
        "http://KNOWN.test:8080/",
        "http://127.0.0.1:8080/c/1",
        "me@elsewhere.test",
        "` href=\"https://a.test\"`",
        "no link",
    ] {
        let plain: String = render(text).iter().map(|part| part.markup().as_str()).collect();
        assert_eq!(draw(text), plain);
    }
}

#[test]
fn links_of_streaming_reply_ask_like_those_of_complete_one() {
    let text = "One https://a.test/1\n\n[two](https://b.test/2 \"t\")\n\n- three http://known.test/3\n- four";
    let mut known = KnownHosts::new(None);
    known.add_hosts_from("known.test");
    let whole =
        |text: &str, known: &KnownHosts| ReplyLinks::new(turn_id(2), block_id(3), true).draw(&render(text), known);
    let mut growing = ReplyLinks::new(turn_id(2), block_id(3), true);
    for end in (0..=text.len()).chain([40, 3, text.len()]) {
        assert_eq!(growing.draw(&render(&text[..end]), &known), whole(&text[..end], &known), "{end}");
    }
    // A visible message names another host.
    known.add_hosts_from("a.test");
    let named = growing.draw(&render(text), &known);
    assert_eq!(named, whole(text, &known));
    assert!(named[0].markup().as_str().contains(" href=\"https://a.test/1\""));
}

#[test]
fn code_that_makes_something_leads_to_its_preview() {
    let text = "```rust\na\n```\n\n- b\n  ```HTML\n  <p>\n  ```\n\n      c\n\n~~~svg\n<svg/>\n~~~\n\n```mermaid\ngraph";
    let link = |number: usize| {
        let (turn, block) = (turn_id(2), block_id(3));
        format!(
            "</span><a class=\"md-preview\" href=\"/turns/{turn}/previews/{block}?code={number}\" rel=\"external\">Preview</a>"
        )
    };
    let known = KnownHosts::default();
    let html = |text: &str, has_server: bool| -> String {
        let parts = ReplyLinks::new(turn_id(2), block_id(3), has_server).draw(&render(text), &known);
        parts.iter().map(|part| part.markup().as_str()).collect()
    };
    let whole = html(text, true);
    for (language, number) in [("HTML", 2), ("svg", 4), ("mermaid", 5)] {
        assert!(whole.contains(&format!("{language}{}", link(number))), "{language}: {whole}");
    }
    assert_eq!(whole.matches("md-preview").count(), 3, "{whole}");
    assert!(!html(text, false).contains("md-preview"));
    // Text cannot pass for the name of a language.
    assert!(!html("<span class=\"md-language\" dir=\"ltr\">html</span>", true).contains("md-preview"));
    let mut growing = ReplyLinks::new(turn_id(2), block_id(3), true);
    for end in (0..=text.len()).chain([40, 3, text.len()]) {
        let parts = growing.draw(&render(&text[..end]), &known);
        let grown: String = parts.iter().map(|part| part.markup().as_str()).collect();
        assert_eq!(grown, html(&text[..end], true), "{end}");
    }
}
