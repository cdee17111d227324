//! Standalone HTML export: the application's own transcript, without anything that needs a server or a script.

use std::collections::{BTreeSet, HashMap};

use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::documents::attachment::{Attachment, AttachmentCard, CARD_KEY, DOCUMENT_REF_TYPE};
use turnleaf::domain::transfer::export::{ExportDetail, ExportOptions};
use turnleaf::domain::{ImportDifference, ImportDifferenceKind, ImportOrigin};
use turnleaf::ui::locale::{Locale, with_locale};
use turnleaf::ui::standalone::StandalonePage;

use super::*;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const DATA: &str = "data:image/png;base64,aGk=";

/// Builds turns with every kind of block.
fn turns() -> Vec<TurnView> {
    let mut question = user_turn(1, "Look at <b>this</b>\n  and that");
    let chip = Content::PartialReference {
        ref_id: "00000000-0000-0000-0000-0000000000d1".into(),
        ref_type: DOCUMENT_REF_TYPE.into(),
        version_timestamp: Some("2026-11-22T07:00:00.5Z".parse().unwrap()),
        selection_start: 0,
        selection_end: 7,
    };
    let card =
        AttachmentCard { title: "spec.md".into(), lines: Some((10, 42)), tokens: 1_234, ..AttachmentCard::default() };
    let picture = Attachment::image(SHA.into(), "image/png".into(), "A leaf".into(), Some((960, 384)), None);
    for (content, card) in [(chip, card), (picture.content, picture.card)] {
        let mut block = fixtures::block(1, question.blocks.len() as u32, content);
        block.block_metadata = json!({ CARD_KEY: card });
        question.blocks.push(block);
    }
    let mut long = fixtures::rich_reply(2);
    let mut result = tool_result("call_3", "draw", json!("Two files."));
    if let Content::ToolResult { metadata, .. } = &mut result {
        *metadata = json!({
            "images": [{"blob": SHA, "mime": "image/png", "alt": "Drawn"}, {"blob": "f".repeat(64), "mime": "image/png"}],
            "files": [{"blob": SHA, "mime": "audio/wav", "bytes": 12_300}],
            "cut": {"bytes": 3_250_586, "blob": SHA},
        });
    }
    let sources = json!({
        "type": "x:sources",
        "sources": [{"url": "https://example.org/a", "title": "A", "quote": "a quote", "start": 0, "end": 5}],
    });
    let more = [
        Notice::ReasoningRefused.content(),
        tool_use("call_3", "draw", json!({"what": "a leaf"}), ToolStatus::Done),
        result,
        Content::text("| a | b |\n|---|---|\n| 1 | 2 |\n\nInline $x^2$ and\n\n```python\nprint('hi')\n```\n"),
        serde_json::from_value(sources).unwrap(),
        Content::Image { blob: SHA.into(), mime: "image/png".into(), alt: "Made".into() },
    ];
    let first = long.blocks.len() as u32;
    for (seq, content) in (first..).zip(more) {
        let mut block = fixtures::block(2, seq, content);
        if let Content::ToolResult { .. } = &block.content {
            block.parent_block_id = Some(long.blocks[seq as usize - 1].id);
        }
        long.blocks.push(block);
    }
    let broken = failed_turn(FailureKind::ProviderOverloaded, vec![Content::text("The tallest")]);
    let mut broken = Turn { id: turn_id(4), prev_turn_id: Some(turn_id(3)), ..broken };
    for (n, block) in (0..).zip(&mut broken.blocks) {
        block.id = block_id(400 + n);
    }
    let mut views = vec![turn_view(question), turn_view(long), turn_view(user_turn(3, "And?")), turn_view(broken)];
    views[1].siblings = vec![turn_id(9), views[1].turn.id];
    // The server sends this markup already rendered, with the buttons of the application's page.
    let text = views[1].turn.blocks.iter().find(|block| matches!(block.content, Content::Text { is_error: false, .. }));
    let text = text.unwrap();
    let parts = vec![
        "<p dir=\"auto\">drawn <math><mi>x</mi></math></p>".to_owned(),
        "<div class=\"md-code\"><div class=\"md-code-head\"><span class=\"md-language\" dir=\"ltr\">python</span><button type=\"button\" class=\"md-copy\" data-copy=\"code\" aria-label=\"Copy code\">Copy</button></div><pre dir=\"ltr\"><code>print()</code></pre></div>".to_owned(),
    ];
    let markup = vec![BlockMarkup { block_id: text.id, parts }];
    views[1].markup = markup;
    views
}

fn page(parts: ExportOptions) -> StandalonePage {
    StandalonePage {
        title: "A </title><script>alert(1)</script> chat".into(),
        created_at: fixtures::time(0),
        exported_at: fixtures::time(90_000),
        system_prompt: "Be </div>brief.".into(),
        turns: turns(),
        pictures: HashMap::from([(SHA.to_owned(), DATA.to_owned())]),
        has_picture_files: false,
        pictures_left_out: 1,
        is_cut: true,
        damaged: Vec::new(),
        imported_from: None,
        parts,
        style: ".turn{color:red}".into(),
    }
}

fn parts(reasoning: ExportDetail, tools: ExportDetail) -> ExportOptions {
    ExportOptions { reasoning, tools }
}

/// Returns ids and types of the rendered blocks.
fn blocks(html: &str) -> BTreeSet<(String, String)> {
    let value = |tag: &str, name: &str| {
        let rest = tag.split_once(&format!("{name}=\"")).map(|(_, rest)| rest)?;
        rest.split('"').next().map(str::to_owned)
    };
    let tags = html.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    tags.filter_map(|tag| Some((value(tag, "data-block-id")?, value(tag, "data-block-type")?))).collect()
}

#[test]
fn page_has_application_blocks_and_requests_nothing() {
    let app = render_turns(turns());
    let html = page(ExportOptions::default()).draw();
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\"><head>"), "{html}");
    assert_eq!(blocks(&html), blocks(&app));
    assert!(blocks(&html).len() > 14, "{:?}", blocks(&html));
    for kind in ["text", "thinking", "tool_use", "tool_result", "image", "partial_reference", "x:notice"] {
        assert!(blocks(&html).iter().any(|(_, of)| of == kind), "{kind}");
    }
    for never in [
        "<script",
        "<button",
        "<form",
        "<input",
        "<link",
        "<iframe",
        "aria-expanded",
        "/api/",
        "src=\"http",
        "url(",
        "<!>",
    ] {
        assert!(!html.contains(never), "{never}: {html}");
    }
    // Links lead into the page, or to addresses that a reply names.
    let leads = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let strange: Vec<&str> =
        leads.filter(|to| !to.starts_with('#') && !to.starts_with("https://example.org/")).collect();
    assert!(strange.is_empty(), "{strange:?}");
    let policy =
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\"";
    let (at_policy, at_style) = (html.find(policy), html.find("<style>.turn{color:red}</style>"));
    assert!(at_policy.is_some() && at_policy < at_style, "{html}");
    assert_eq!(html.matches(&format!("src=\"{DATA}\"")).count(), 3, "{html}");
    assert_text(&html, "Image not included in this export");
    assert!(html.contains("width=\"480\" height=\"192\""), "{html}");
}

#[test]
fn page_uses_application_texts_and_names_missing_parts() {
    let html = page(ExportOptions::default()).draw();
    assert!(html.contains("<title>A &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; chat</title>"), "{html}");
    for words in [
        "Started on 2026-01-01 · 4 messages",
        "System prompt Be &lt;/div&gt;brief.",
        "Exported from Turnleaf on 2026-01-02. Only the displayed branch is included.",
        "A reply that was still being generated is not included.",
        "1 other version is not included.",
        "1 image is not included.",
        "Version 2 of 2",
        "1 source",
        "spec.md",
        "demo-scripted",
    ] {
        assert_text(&html, words);
    }
    for details in ["class=\"reasoning\"", "class=\"tool-details\""] {
        let panel = tag(&html, details);
        assert!(panel.starts_with("<details") && !panel.contains(" open"), "{panel}");
    }
    let plain = StandalonePage {
        pictures_left_out: 0,
        is_cut: false,
        system_prompt: String::new(),
        turns: vec![turn_view(user_turn(1, "Hi"))],
        ..page(ExportOptions::default())
    };
    let plain = plain.draw();
    for never in ["System prompt", "still being generated", "other version", "not included", "Source"] {
        assert_silent(&plain, never);
    }
}

#[test]
fn reasoning_and_tools_are_folded_open_or_omitted() {
    let full = page(parts(ExportDetail::Full, ExportDetail::Full)).draw();
    assert!(tag(&full, "class=\"reasoning\"").contains(" open"), "{}", tag(&full, "class=\"reasoning\""));
    assert!(tag(&full, "class=\"tool-details\"").contains(" open"));
    let silent = page(parts(ExportDetail::LeftOut, ExportDetail::Folded)).draw();
    assert!(!silent.contains("data-block-type=\"thinking\"") && !silent.contains("data-segment=\"reasoning\""));
    assert_eq!(silent.matches("data-segment=\"tool\"").count(), 3, "tools in reasoning stand by themselves");
    assert_text(&silent, "Reasoning is not included.");
    let idle = page(parts(ExportDetail::Folded, ExportDetail::LeftOut)).draw();
    assert!(!idle.contains("data-segment=\"tool\"") && idle.contains("data-block-type=\"thinking\""));
    assert_text(&idle, "Tool calls are not included.");
    assert_silent(&idle, "1 tool");
    let neither = page(parts(ExportDetail::LeftOut, ExportDetail::LeftOut)).draw();
    assert!(!neither.contains("data-segment"), "{neither}");
    assert_text(&neither, "drawn x");
}

#[test]
fn origin_is_shown_with_import_losses() {
    let differences =
        vec![ImportDifference::new(ImportDifferenceKind::Lost, "conv-1 › m<2>".into(), "a canvas is not kept".into())];
    let source = ImportOrigin {
        format: "chatgpt".into(),
        file: "conversations.json".into(),
        imported_at: fixtures::time(0),
        differences,
    };
    let with = |source: &ImportOrigin| StandalonePage {
        imported_from: Some(source.clone()),
        ..page(ExportOptions::default())
    };
    let html = with(&source).draw();
    assert_text(&html, "Imported from ChatGPT on 2026-01-01 (conversations.json).");
    assert_text(&html, "not preserved conv-1 › m&lt;2&gt; : a canvas is not kept");
    let whole = ImportOrigin { differences: Vec::new(), ..source };
    assert_text(&with(&whole).draw(), "Everything was imported.");
    let chinese = with_locale(Locale::Chinese, || with(&whole).draw());
    assert!(chinese.contains("<html lang=\"zh") && chinese.contains("全部内容均已导入。"), "{chinese}");
}
