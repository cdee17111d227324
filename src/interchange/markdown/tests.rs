//! Tests of the Markdown export for small paths and hostile texts: every code block holds its exact content, and no
//! text swallows what follows it.

use chrono::TimeDelta;
use proptest::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use super::*;
use crate::domain::blocks::block::{BlockState, ToolStatus};
use crate::domain::tools::call_edit::CallEdit;
use crate::domain::{FailureKind, fixtures};

fn file(blob: &str, mime: &str) -> String {
    format!("files/{blob}.{}", mime.rsplit('/').next().unwrap_or("bin"))
}

fn options(reasoning: ExportDetail, tools: ExportDetail) -> MarkdownOptions<'static> {
    MarkdownOptions { reasoning, tools, image: &file }
}

fn shown(turn: &Turn) -> ExportedTurn<'_> {
    ExportedTurn { turn, is_thinking_mode: true, other_versions: 0 }
}

fn write_path(title: &str, path: &[ExportedTurn<'_>], options: &MarkdownOptions<'_>) -> String {
    let mut out = Vec::new();
    let chat = ChatHeading { title, ..ChatHeading::default() };
    write(&mut out, &chat, path, options).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn path_is_written_as_on_screen() {
    let (user, reply) = (fixtures::user_turn(1, "Weather in *Oslo*?\n"), fixtures::rich_reply(2));
    let path =
        [ExportedTurn { other_versions: 2, ..shown(&user) }, ExportedTurn { other_versions: 1, ..shown(&reply) }];
    let text = write_path("About `the` weather\n# now", &path, &options(ExportDetail::Folded, ExportDetail::Full));
    assert_eq!(
        text,
        "# About \\`the\\` weather \\# now\n\
         \n\
         ## You · 2026-01-01T00:01:00Z\n\
         \n\
         Weather in *Oslo*?\n\
         \n\
         *2 other versions are not in this file.*\n\
         \n\
         ## Assistant · demo-scripted · 2026-01-01T00:02:00Z\n\
         \n\
         <details>\n<summary>Thought for 2 s · 1 tool call</summary>\n\
         \n\
         **Planning**\n\
         \n\
         The user wants the weather. I should look it up.\n\
         \n\
         **Tool weather · done**\n\
         \n\
         Arguments\n\
         \n\
         ```json\n{\n  \"city\": \"Oslo\"\n}\n```\n\
         \n\
         Result\n\
         \n\
         ```json\n{\n  \"celsius\": -3\n}\n```\n\
         \n\
         Minus three. Short answer.\n\
         \n\
         </details>\n\
         \n\
         It is **-3 °C** in Oslo.\n\n```rust\nfn main() {}\n```\n\
         \n\
         **Tool forecast · failed**\n\
         \n\
         Arguments\n\
         \n\
         ```json\n{\n  \"city\": \"Oslo\"\n}\n```\n\
         \n\
         Error\n\
         \n\
         ```json\n{\n  \"error\": \"timed out after 60 s\"\n}\n```\n\
         \n\
         > **Error:** The connection to Demo was lost.\n\
         \n\
         *1 other version is not in this file.*\n\n"
    );
}

#[test]
fn reasoning_and_tools_follow_options() {
    let reply = fixtures::rich_reply(2);
    let thought = "The user wants the weather.";
    let table = [
        // Options for reasoning and tools; whether the thought appears as text and as a quote; counts of folds and
        // arguments.
        (ExportDetail::Folded, ExportDetail::Folded, true, false, 3, 2),
        (ExportDetail::Full, ExportDetail::Full, true, true, 0, 2),
        (ExportDetail::LeftOut, ExportDetail::Full, false, false, 0, 2),
        (ExportDetail::LeftOut, ExportDetail::LeftOut, false, false, 0, 0),
        (ExportDetail::Folded, ExportDetail::LeftOut, true, false, 1, 0),
    ];
    for (reasoning, tools, has_thought, is_quoted, folds, calls) in table {
        let text = write_path("t", &[shown(&reply)], &options(reasoning, tools));
        let counted = |pattern: &str| text.matches(pattern).count();
        assert_eq!(counted(thought) == 1, has_thought, "{text}");
        assert_eq!(counted(&format!("> {thought}")) == 1, is_quoted, "{text}");
        assert_eq!((counted("<details>"), counted("</details>")), (folds, folds), "{text}");
        assert_eq!(counted("Arguments"), calls, "{text}");
        assert!(text.contains("It is **-3 °C** in Oslo."), "{text}");
    }
    // Without thinking mode there is no reasoning panel, as on the screen.
    let plain = ExportedTurn { is_thinking_mode: false, ..shown(&reply) };
    let text = write_path("t", &[plain], &options(ExportDetail::Full, ExportDetail::Full));
    assert!(!text.contains(thought) && text.matches("Arguments").count() == 2, "{text}");
}

#[test]
fn edited_call_has_both_versions_of_its_arguments() {
    let mut reply = fixtures::rich_reply(2);
    let call = reply.blocks.iter_mut().find(|block| matches!(block.content, Content::ToolUse { .. })).unwrap();
    let edit = CallEdit { arguments: json!({ "city": "Bergen" }), at: chrono::DateTime::default() };
    call.block_metadata = edit.as_metadata();
    let text = write_path("x", &[shown(&reply)], &options(ExportDetail::Folded, ExportDetail::Full));
    let (edited, original) = text.split_once(messages::MODEL_WROTE).unwrap();
    assert!(edited.contains("\"city\": \"Oslo\"") && original.contains("\"city\": \"Bergen\""), "{text}");
}

#[test]
fn consecutive_replies_share_reasoning_block() {
    let one = fixtures::reply(2, [Content::text("a"), Content::thinking("first")]);
    let two = fixtures::reply(3, [Content::thinking("second"), Content::text("b")]);
    let text = write_path("t", &[shown(&one), shown(&two)], &options(ExportDetail::Full, ExportDetail::Full));
    let expected = "**Thought**\n\n> first\n>\n> second\n\n## Assistant";
    assert!(text.contains(expected) && text.matches("Thought").count() == 1, "{text}");
}

#[test]
fn reply_endings_are_written() {
    let stopped = {
        let mut turn = fixtures::reply(2, [Content::thinking("hm")]);
        turn.status = TurnStatus::Cancelled;
        turn.blocks[0].state = BlockState::Aborted;
        turn
    };
    let mut bare = fixtures::failed_reply(2, FailureKind::ProviderQuota);
    bare.blocks.truncate(1);
    let table = [
        (stopped, "· hidden", false, "<summary>Thought · stopped</summary>"),
        (fixtures::reply(2, []), "Error", false, "*The reply is empty.*"),
        (fixtures::running_reply(2), "Error", false, "*This reply was still being generated.*"),
        (
            fixtures::failed_reply(2, FailureKind::ProviderQuota),
            "The tallest",
            true,
            "> **Error:** Your account at Demo",
        ),
        (bare, "The tallest", true, "> **Error:** Your account at Demo"),
    ];
    for (turn, other, has_other, expected) in table {
        let text = write_path("t", &[shown(&turn)], &options(ExportDetail::Folded, ExportDetail::Folded));
        assert!(text.contains(expected) && text.contains(other) == has_other, "{text}");
        assert!(text.matches("**Error:**").count() <= 1, "{text}");
    }
}

#[test]
fn attachments_and_sources_are_named() {
    let mut user = fixtures::user_turn(1, "See:");
    let mut quote = fixtures::block(
        1,
        1,
        Content::PartialReference {
            ref_id: "d".into(),
            ref_type: "document".into(),
            version_timestamp: Some(fixtures::time(0) + TimeDelta::milliseconds(5)),
            selection_start: 0,
            selection_end: 7,
        },
    );
    quote.block_metadata = json!({"card": {"title": "a_b.md", "lines": [3, 4], "quote": "one\r```\ntwo", "tokens": 2}});
    user.blocks.push(quote);
    user.blocks.push(fixtures::block(
        1,
        2,
        Content::Image { blob: "ab".into(), mime: "image/png".into(), alt: "A]".into() },
    ));
    let sources = json!({"type": "x:sources", "sources": [
        {"url": "https://a.example/x(1)", "title": "A [page]", "quote": "so *it* is"}, {"url": "javascript:x"}
    ]});
    let Value::Object(sources) = sources else { unreachable!("it is an object") };
    let reply = fixtures::reply(2, [Content::text("Yes."), Content::Other(sources)]);
    let text = write_path("", &[shown(&user), shown(&reply)], &options(ExportDetail::Folded, ExportDetail::Folded));
    for part in [
        "# Untitled chat\n",
        "**Document:** a\\_b.md, lines 3-4 (version 2026-01-01T00:00:00Z)\n\n> one\n> ```\n> two\n\n",
        "![A\\]](files/ab.png)\n\n",
        "**Sources**\n\n1. [A \\[page\\]](<https://a.example/x(1)>) — “so \\*it\\* is”\n\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn heading_is_written_once() {
    let mut out = Vec::new();
    let chat = ChatHeading {
        title: "T",
        created_at: Some(fixtures::time(5)),
        system_prompt: "Be short.\n```\nopen",
        imported_from: None,
        damaged: &[],
    };
    write(&mut out, &chat, &[], &options(ExportDetail::Folded, ExportDetail::Folded)).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text, "# T\n\nCreated 2026-01-01T00:00:05Z\n\n## System prompt\n\nBe short.\n```\nopen\n```\n\n");
}

/// Generates texts of characters that break Markdown.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "```",
        "````",
        "~~~",
        "`",
        "<!--",
        "-->",
        "<details>",
        "</details>",
        "<script>",
        "<pre>",
        "<?",
        "<!A",
        "<![CDATA[",
        "- ",
        "1. ",
        "> ",
        "# h",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "word",
        "[a]: /b",
        "[^1]: n",
        "|a|b|",
        "|-|-|",
        "***",
        "---",
        "===",
        "\\",
        "&amp;",
        "\u{0}",
        "é",
        " ",
        "*",
        "_",
    ]);
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Normalizes line ends and NUL as the parser does.
fn normalized(text: &str) -> String {
    text.replace('\0', "\u{fffd}").trim_end_matches('\n').to_owned()
}

proptest! {
    #[test]
    fn code_block_holds_exact_text_and_no_text_swallows_rest(
        texts in prop::collection::vec(hostile(), 5),
        reasoning in prop::sample::select(vec![ExportDetail::Folded, ExportDetail::Full, ExportDetail::LeftOut]),
        tools in prop::sample::select(vec![ExportDetail::Folded, ExportDetail::Full]),
    ) {
        let mark = "⟦put in⟧";
        let argument = format!("{mark}{}", texts[0].replace('\r', "\n"));
        let result = format!("{mark}{}", texts[1].replace('\r', "\n"));
        let call = Content::ToolUse {
            tool_use_id: "1".into(), tool_name: texts[2].clone(), arguments: Value::Null,
            arguments_raw: Some(argument.clone()), status: ToolStatus::Done, duration_ms: None,
        };
        let user = fixtures::user_turn(1, &texts[3]);
        let reply = fixtures::reply(2, [
            Content::thinking(texts[4].clone()),
            call,
            fixtures::tool_result("1", "x", Value::String(result.clone())),
            Content::text(texts[2].clone()),
        ]);
        let last = fixtures::user_turn(3, "the end");
        let text = write_path(&texts[0], &[shown(&user), shown(&reply), shown(&last)], &options(reasoning, tools));
        let (mut code, mut headings, mut title, mut depth): (Vec<String>, Vec<String>, String, usize) = Default::default();
        let mut within: Option<Tag<'_>> = None;
        for event in Parser::new(&text) {
            match event {
                Event::Start(tag) => {
                    match &tag {
                        Tag::CodeBlock(_) => code.push(String::new()),
                        Tag::Heading { level: HeadingLevel::H2, .. } if depth == 0 => headings.push(String::new()),
                        _ => {}
                    }
                    if matches!(tag, Tag::CodeBlock(_) | Tag::Heading { .. }) {
                        within = Some(tag);
                    }
                    depth += 1;
                }
                Event::End(end) => {
                    depth -= 1;
                    if matches!(end, TagEnd::CodeBlock | TagEnd::Heading(_)) {
                        within = None;
                    }
                }
                Event::Text(words) => match &within {
                    Some(Tag::CodeBlock(_)) => code.last_mut().unwrap().push_str(&words),
                    Some(Tag::Heading { level: HeadingLevel::H1, .. }) if headings.is_empty() => title.push_str(&words),
                    Some(Tag::Heading { level: HeadingLevel::H2, .. }) if depth == 1 => {
                        headings.last_mut().unwrap().push_str(&words);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        let put_in: Vec<String> = code.iter().filter(|code| code.contains(mark)).map(|code| normalized(code)).collect();
        prop_assert_eq!(put_in, [normalized(&argument), normalized(&result)], "{}", &text);
        let turns: Vec<&String> = headings.iter().filter(|heading| heading.contains(" · 2026-01-01")).collect();
        prop_assert_eq!(turns.len(), 3, "{}", &text);
        prop_assert!(title.starts_with(if escaping::one_line(&texts[0]).is_empty() { messages::UNTITLED.to_owned() } else { escaping::one_line(&texts[0]) }.as_str()), "{:?} {}", title, &text);
        // Text of people appears verbatim, except for its HTML.
        prop_assert!(texts[3].trim().is_empty() || text.contains(&*escaping::escape_raw_html(&texts[3])));
        prop_assert!(texts[2].trim().is_empty() || text.contains(&*escaping::escape_raw_html(&texts[2])));
    }
}
