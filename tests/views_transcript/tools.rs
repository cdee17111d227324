//! Tool cards in every state of docs/reference/ux.md 7, approval prompts, groups, results and sources.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::fixtures::{block_id, reply, tool_result, tool_use, turn_id};
use turnleaf::domain::tools::approval::ApprovalRequest;
use turnleaf::domain::tools::elicitation::{
    Elicitation, ElicitationOutcome, ElicitationPage, ElicitationRequest, parse_fields,
};
use turnleaf::domain::turns::user_input_wait::ReplyPauseReason;
use turnleaf::domain::{Block, BlockState, Content, FailureKind, Turn, TurnStatus, limits};

use super::{
    assert_silent, assert_text, failed_turn, render_turn, render_turns, streaming_turn, tag, text, thought, turn_view,
};

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Builds a reply that waits, with unchanged blocks.
fn waiting_turn(contents: Vec<Content>) -> Turn {
    let mut turn = reply(2, contents);
    turn.status = TurnStatus::WaitingSubagents;
    turn.completed_at = None;
    turn
}

fn call(status: ToolStatus) -> Content {
    tool_use("c1", "files__search", json!({"query": "rust sse"}), status)
}

fn ask(title: &str) -> ApprovalRequest {
    ApprovalRequest {
        server: "files".into(),
        tool: "delete".into(),
        title: title.into(),
        schema_hash: "s".into(),
        hash: "h-1".into(),
        hidden_characters: 0,
        hints: Vec::new(),
        note: None,
        note_code: None,
        note_args: BTreeMap::new(),
    }
}

fn asking_turn(arguments: Value) -> Turn {
    let mut turn = waiting_turn(vec![tool_use("c1", "files__delete", arguments, ToolStatus::AwaitingApproval)]);
    turn.blocks[0].block_metadata = ask("Delete a file").as_metadata();
    turn
}

/// Builds a reply with the call and its result, which has this metadata.
fn turn_with_result(status: ToolStatus, result: Value, metadata: Value) -> Turn {
    let mut turn = reply(2, [call(status), tool_result("c1", "files__search", result)]);
    if let Content::ToolUse { duration_ms, .. } = &mut turn.blocks[0].content {
        *duration_ms = Some(60_000);
    }
    if let Content::ToolResult { metadata: of, .. } = &mut turn.blocks[1].content {
        *of = metadata;
    }
    turn
}

fn with_metadata(mut turn: Turn, metadata: Value) -> Turn {
    turn.blocks[0].block_metadata = metadata;
    turn
}

/// Returns the text of the card's header and its icon.
fn header(html: &str) -> String {
    let at = html.find("<header class=\"tool-header\"").unwrap();
    let header = &html[at..at + html[at..].find("</header>").unwrap()];
    let icon = header.split("\"#icon-").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    format!("[{icon}] {}", text(header))
}

#[test]
fn every_card_state_has_icon_and_text() {
    let mut writing = streaming_turn(vec![tool_use("c1", "files__search", json!(null), ToolStatus::Pending)]);
    if let Content::ToolUse { arguments_raw, .. } = &mut writing.blocks[0].content {
        *arguments_raw = Some("{\n  \"query\": \"ru".into());
    }
    let mut queued =
        waiting_turn(vec![call(ToolStatus::Running), call(ToolStatus::Pending), call(ToolStatus::Pending)]);
    queued.blocks.remove(0);
    let timed_out = json!({"timed_out": true});
    let named = json!({"tool": {"title": "Search files", "server": "Files"}});
    let states = [
        ("writing", writing),
        ("queued", queued),
        ("asking", asking_turn(json!({"path": "a"}))),
        ("running", with_metadata(waiting_turn(vec![call(ToolStatus::Running)]), named.clone())),
        ("done", with_metadata(turn_with_result(ToolStatus::Done, json!([1, 2]), Value::Null), named)),
        ("failed", turn_with_result(ToolStatus::Failed, json!({"error": "no such file"}), Value::Null)),
        ("timed out", turn_with_result(ToolStatus::Failed, json!("it was silent"), timed_out)),
        ("crashed", turn_with_result(ToolStatus::Failed, json!("gone"), json!({"crashed": true}))),
        ("denied", reply(2, [call(ToolStatus::Denied)])),
        ("cancelled", reply(2, [call(ToolStatus::Cancelled)])),
        ("interrupted", reply(2, [call(ToolStatus::Interrupted)])),
        ("handed over", reply(2, [call(ToolStatus::HandedOver)])),
        ("by the provider", with_metadata(reply(2, [call(ToolStatus::Done)]), json!({"run_by": "provider"}))),
    ];
    let shown: Vec<String> = states
        .into_iter()
        .map(|(state, turn)| {
            let html = render_turn(turn);
            let status = tag(&html, "data-tool-status=\"").split("data-tool-status=\"").nth(1).unwrap().to_owned();
            format!("{state}: {} {}", status.split('"').next().unwrap(), header(&html))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn card_in_reasoning_is_compact_row_with_same_text() {
    let html = render_turn(reply(2, [thought("a", None, None), call(ToolStatus::Denied), thought("b", None, None)]));
    let card = tag(&html, "data-segment=\"tool\"");
    assert!(card.contains("compact") && card.contains("data-tool-status=\"denied\""), "{card}");
    assert_text(&html, "denied by you");
}

#[test]
fn streaming_arguments_show_tail_and_finished_ones_show_all() {
    let long = format!("{{\"text\": \"{}THE END", "x".repeat(20_000));
    let mut turn = streaming_turn(vec![tool_use("c1", "search", json!(null), ToolStatus::Pending)]);
    if let Content::ToolUse { arguments_raw, .. } = &mut turn.blocks[0].content {
        *arguments_raw = Some(long.clone());
    }
    let html = render_turn(turn.clone());
    assert!(html.len() < 20_000 && html.contains("THE END"), "{}", html.len());
    turn.blocks[0].state = BlockState::Done;
    assert!(
        text(&render_turn(turn)).contains(&long.replace('"', "&quot;")),
        "what is no JSON is shown as it was written"
    );
}

#[test]
fn approval_prompt_shows_server_tool_and_every_argument_and_is_form() {
    let html = render_turn(asking_turn(json!({"b": "two", "a": "\u{202e}gnp.exe", "list": [1, {"z": 1, "y": 2}]})));
    let form = tag(&html, "action=\"/forms/call\"");
    assert!(form.contains("method=\"post\""), "{form}");
    for (name, value) in
        [("turn", turn_id(2).to_string()), ("block", block_id(2 << 20).to_string()), ("hash", "h-1".into())]
    {
        assert!(html.contains(&format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\"")), "{name}");
    }
    for decision in ["allow", "allow_in_chat", "always", "deny"] {
        let button = tag(&html, &format!("value=\"{decision}\""));
        assert!(button.contains("type=\"submit\"") && button.contains("name=\"decision\""), "{button}");
    }
    assert_text(&html, "Delete a file wants to run · files/delete");
    assert_text(
        &html,
        "Allow once Allow in this chat Always allow Edit Allow whole server Reason (sent to the model) Deny",
    );
    assert_text(&html, "1 hidden character");
    assert_text(&html, "U+202E gnp.exe");
    let shown = text(&html);
    let order: Vec<_> = ["&quot;a&quot;: ", "&quot;b&quot;: ", "&quot;y&quot;: ", "&quot;z&quot;: "]
        .map(|key| shown.rfind(key).unwrap_or_else(|| panic!("no {key} in {shown}")))
        .into();
    assert!(order.is_sorted(), "in the order that the answer is bound to: {shown}");
    assert!(!html.contains("autofocus"));
    // Enter in a textarea submits nothing.
    assert!(html.contains("<textarea id=\"ask-") && !html.contains("<input type=\"text\""));
    assert_text(&html, "Waiting for your response.");
    let article = tag(&html, "data-role=\"assistant\"");
    assert!(!article.contains("aria-busy"), "a question is announced: {article}");
}

#[test]
fn approval_prompt_is_outside_of_disclosures() {
    let mut turn = waiting_turn(vec![thought("hm", None, None), call(ToolStatus::AwaitingApproval)]);
    turn.blocks[1].block_metadata = ask("Delete").as_metadata();
    let html = render_turn(turn);
    let (reasoning, question) = (html.rfind("</details>").unwrap(), html.find("class=\"ask\"").unwrap());
    assert!(reasoning < question, "after the last disclosure of the reply");
    let link = tag(&html, &format!("href=\"#ask-{}\"", block_id((2 << 20) | 1)));
    assert!(link.starts_with("<a "), "the card leads to it: {link}");
}

#[test]
fn answered_approval_shows_decision_and_no_form() {
    let denied = json!({
        "approval": ask("Delete"),
        "decision": {"decision": "deny", "reason": "not <b>that</b> one", "at": "2026-01-01T00:00:00Z"},
    });
    let html = render_turn(with_metadata(waiting_turn(vec![call(ToolStatus::Denied)]), denied));
    assert!(!html.contains("/forms/call"));
    assert_text(&html, "denied by you");
    assert_text(&html, "not &lt;b&gt;that&lt;/b&gt; one");
    let mut over = asking_turn(json!({}));
    over.status = TurnStatus::Cancelled;
    assert!(!render_turn(over).contains("/forms/call"), "a reply that is over asks nothing");
}

#[test]
fn pause_is_card_with_two_actions() {
    let mut turn = waiting_turn(vec![call(ToolStatus::Done), ReplyPauseReason::Rounds.content()]);
    turn.blocks[1].state = BlockState::Open;
    let html = render_turn(turn.clone());
    assert_text(&html, "Paused after 25 rounds of tool calls. Continue (25 more rounds) Stop here");
    assert!(tag(&html, "action=\"/forms/continue\"").contains("method=\"post\""));
    assert!(html.contains("form=\"stop-reply\""));
    turn.blocks[1].state = BlockState::Done;
    assert_silent(&render_turn(turn), "Continue (25 more rounds)");
}

#[test]
fn running_tool_shows_progress_and_can_be_stopped_alone() {
    let running = |metadata| render_turn(with_metadata(waiting_turn(vec![call(ToolStatus::Running)]), metadata));
    let html = running(json!({"progress": {"line": "3 of 10 · copying", "percent": 30}}));
    assert_text(&html, "3 of 10 · copying Stop this tool");
    let bar = tag(&html, "<progress");
    assert!(bar.contains("value=\"30\"") && bar.contains("aria-label=\"Progress\""), "{bar}");
    let html_without = running(json!({"progress": {"line": "7"}}));
    assert_text(&html_without, "7 Stop this tool");
    assert!(!html_without.contains("<progress"));
    assert!(tag(&html, "action=\"/forms/call-stop\"").contains("method=\"post\""));
    assert!(html.contains(&format!("name=\"block\" value=\"{}\"", block_id(2 << 20))));
    // The provider's own tools are stopped with the reply.
    assert_silent(&running(json!({"run_by": "provider"})), "Stop this tool");
    assert_silent(&render_turn(turn_with_result(ToolStatus::Done, json!("x"), Value::Null)), "Stop this tool");
}

#[test]
fn tools_in_row_have_one_heading_and_many_finished_ones_are_closed() {
    let row = |statuses: &[ToolStatus]| {
        let mut turn = waiting_turn(statuses.iter().map(|status| call(*status)).collect());
        for (n, block) in (1..).zip(&mut turn.blocks) {
            if let Content::ToolUse { tool_use_id, .. } = &mut block.content {
                *tool_use_id = format!("c{n}");
            }
        }
        turn
    };
    use ToolStatus::{Done, Failed, Pending, Running};
    for (statuses, words, is_open) in [
        (&[Done, Running, Done][..], "3 tool calls · 1 running", true),
        (&[Running, Pending, Pending], "3 tool calls · 1 running · 2 waiting", true),
        (&[Done, Done], "2 tool calls, all done", true),
        (&[Done; 5], "5 tool calls, all done", true),
        (&[Done; 6], "6 tool calls, all done", false),
        (&[Done, Done, Done, Done, Done, Failed], "6 tool calls · 1 failed", false),
        (&[Done, Done, Done, Done, Done, Running], "6 tool calls · 1 running", true),
        (&[Done, ToolStatus::Denied, ToolStatus::HandedOver], "3 tool calls · 1 denied · 1 not finished", true),
    ] {
        let mut turn = row(statuses);
        if !is_open {
            let open = render_turn(turn.clone());
            assert!(tag(&open, "id=\"tools-").contains(" open"), "{words}: the next call may join: {open}");
            turn.status = TurnStatus::Complete;
        }
        let html = render_turn(turn);
        assert_text(&html, words);
        let group = tag(&html, "id=\"tools-");
        assert_eq!(group.contains(" open"), is_open, "{words}: {group}");
        assert_eq!(html.matches("data-segment=\"tool\"").count(), statuses.len());
    }
    let one = render_turn(row(&[Done]));
    assert!(tag(&one, "id=\"tools-").contains("single"), "one alone has no heading to see");
    assert_eq!(
        render_turn(reply(2, [call(Done), Content::text("a"), call(Done)])).matches("<details id=\"tools-").count(),
        2
    );
}

#[test]
fn many_finished_tools_between_two_thoughts_are_one_line_of_reasoning() {
    let calls = |count: usize| {
        let mut contents = vec![thought("First.", None, Some(1_000))];
        for n in 0..count {
            let id = format!("c{n}");
            contents.push(tool_use(&id, "search", json!({}), ToolStatus::Done));
            contents.push(tool_result(&id, "search", json!("found")));
            // The provider reasons between the calls and does not show it.
            contents.push(thought("", None, Some(1_000)));
        }
        contents.push(thought("Second.", None, Some(1_000)));
        render_turn(reply(2, [contents, vec![Content::text("Done.")]].concat()))
    };
    let html = calls(6);
    assert_eq!(html.matches("data-segment=\"reasoning\"").count(), 1);
    assert_eq!(html.matches("<details id=\"tools-").count(), 1, "{html}");
    assert_eq!(html.matches("data-block-type=\"thinking\"").count(), 8, "each block is there");
    let group = tag(&html, "class=\"tool-group");
    assert!(!group.contains(" open"), "{group}");
    assert_text(&html, "6 tool calls, all done");
    assert!(tag(&html, "data-segment=\"tool\"").contains("compact"));
    let html = calls(5);
    assert!(tag(&html, "class=\"tool-group").contains(" open"));
    // A single call has no group heading.
    assert!(tag(&calls(1), "class=\"tool-group").contains("single"));
}

#[test]
fn last_lines_of_running_tool_are_in_its_card_until_it_is_over() {
    let progress = json!({ "progress": { "line": "2 of 9 · two", "tail": ["one", "two <b>"] } });
    let html = render_turn(with_metadata(waiting_turn(vec![call(ToolStatus::Running)]), progress.clone()));
    assert!(html.contains("one\ntwo &lt;b&gt;") && html.contains("aria-label=\"Tool output\""), "{html}");
    let over = with_metadata(turn_with_result(ToolStatus::Done, json!("x"), Value::Null), progress);
    assert_silent(&render_turn(over), "two <b>");
    assert!(!render_turn(waiting_turn(vec![call(ToolStatus::Running)])).contains("Tool output"));
}

#[test]
fn result_shows_text_tree_images_and_files_and_names_missing_parts() {
    let tree = render_turn(turn_with_result(
        ToolStatus::Done,
        json!({"files": [{"name": "a"}], "n": 1.5, "ok": true}),
        Value::Null,
    ));
    assert_text(&tree, "files : [1]");
    assert_text(&tree, "n : 1.5");
    assert_eq!(tree.matches("<details open=\"\">").count(), 1, "the first level is open");
    let many: Vec<u32> = (0..3_000).collect();
    let many = render_turn(turn_with_result(ToolStatus::Done, json!(many), Value::Null));
    assert!(!many.contains("class=\"json\"") && many.contains("2999"), "too many for a tree are text");
    let wide: Vec<Value> = (0..900).map(|n| json!({ "name": format!("{n:052}") })).collect();
    assert!(serde_json::to_string_pretty(&wide).unwrap().len() > limits::TOOL_SHOWN_BYTES);
    let wide = render_turn(turn_with_result(ToolStatus::Done, json!(wide), Value::Null));
    assert!(wide.contains("class=\"json\"") && !wide.contains("Showing the first"), "indents are not in a tree");

    let metadata = json!({
        "images": [{"blob": SHA, "mime": "image/png", "alt": "A \"cat\""}, {"blob": "../x", "mime": "image/png"}],
        "files": [{"blob": SHA, "mime": "audio/wav", "bytes": 12_300}],
        "cleaned": {"ansi": 2, "hidden": 1},
        "cut": {"bytes": 3_250_586, "blob": SHA},
    });
    let html = render_turn(turn_with_result(ToolStatus::Done, json!("text"), metadata));
    assert_eq!(html.matches("<img ").count(), 1, "a blob is named by its hash and by nothing else");
    let image = tag(&html, "<img ");
    assert!(image.contains(&format!("src=\"/api/blobs/{SHA}\"")) && image.contains("loading=\"lazy\""), "{image}");
    assert!(image.contains("alt=\"A &quot;cat&quot;\""), "{image}");
    assert!(tag(&html, "download=\"\"").contains(SHA));
    assert_text(&html, "Download audio/wav, 13 KiB");
    assert_text(&html, "Showing the first 64 KiB of 3.2 MiB. Open full content");
    assert!(html.matches(&format!("href=\"/api/blobs/{SHA}\"")).count() >= 3);
    assert_text(&html, "2 terminal codes removed · 1 hidden character");
}

#[test]
fn page_of_server_is_framed_in_sandbox_and_hidden_in_imported_chat() {
    let view = json!({ "app": { "uri": "ui://files/page", "page": { "blob": SHA }, "answer": { "blob": SHA } } });
    let done = |view: &Value| {
        let turn = turn_with_result(ToolStatus::Done, json!("Sunny."), view.clone());
        with_metadata(turn, json!({ "tool": { "title": "Weather", "server": "<b>Skies" } }))
    };
    let html = render_turn(done(&view));
    let frame = tag(&html, "sandboxed-frame");
    for part in ["sandbox=\"allow-scripts\"", "loading=\"lazy\"", "title=\"View from &lt;b&gt;Skies\""] {
        assert!(frame.contains(part), "{part}: {frame}");
    }
    let address = format!("/turns/{}/calls/{}/view", done(&view).id, done(&view).blocks[0].id);
    assert!(frame.contains(&format!("src=\"{address}/document\"")), "{frame}");
    assert!(html.contains(&format!("href=\"{address}\"")) && html.contains("Sunny."), "{html}");
    assert!(tag(&html, "class=\"app-view").contains(" open"), "{html}");
    let mut imported = done(&view);
    imported.id = uuid::Uuid::new_v8([7; 16]).into();
    assert!(!tag(&render_turn(imported), "class=\"app-view").contains(" open"));
    let missing = render_turn(done(&json!({ "app": { "uri": "ui://files/page" } })));
    assert!(!missing.contains("<iframe") && missing.contains("did not provide it"), "{missing}");
    assert!(!render_turn(done(&Value::Null)).contains("app-view"));
}

#[test]
fn sources_are_listed_and_marked_in_text() {
    let sources = json!({
        "type": "x:sources",
        "sources": [
            {"url": "https://example.org/a", "title": "<b>A</b>", "quote": "a quote", "start": 0, "end": 5},
            {"url": "https://example.org\\@evil.test/", "title": "bad", "end": 99},
            {"url": "javascript:alert(1)", "title": "worse", "end": 3},
        ],
    });
    let contents = [Content::text("Hello world."), serde_json::from_value(sources).unwrap()];
    let html = render_turn(reply(2, contents.clone()));
    let id = turn_id(2);
    assert!(
        html.contains(&format!("<p dir=\"auto\">Hello<sup class=\"md-cite\"><a href=\"#source-{id}-1\"")),
        "{html}"
    );
    assert!(html.contains(&format!("<li id=\"source-{id}-1\"")) && html.contains(&format!("<li id=\"source-{id}-2\"")));
    assert_text(&html, "Hello [1] world. [2]");
    assert_text(&html, "2 sources &lt;b&gt;A&lt;/b&gt; example.org a quote bad");
    assert!(
        !html.contains("javascript:") && !html.contains("evil.test"),
        "what is no address on the web leads nowhere"
    );
    let plain = render_turn(reply(2, [Content::text("Hello [1]")]));
    assert!(!plain.contains("md-cite") && !plain.contains("class=\"sources\""));
    let mut streaming = streaming_turn(contents.into());
    streaming.blocks[0].state = BlockState::Open;
    assert!(!render_turn(streaming).contains("md-cite"), "text that grows is not moved by marks");
}

#[test]
fn untrusted_text_stays_text_in_every_part() {
    let hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'`\u{0}\u{1b}[31m\u{202e}";
    let mut asking = asking_turn(json!({hostile: hostile}));
    asking.blocks[0].block_metadata = json!({
        "approval": ApprovalRequest { title: hostile.into(), server: hostile.into(), tool: hostile.into(), hash: hostile.into(),
            note: Some(hostile.into()), ..ask("") },
        "tool": {"title": hostile, "server": hostile},
    });
    let metadata = json!({
        "images": [{"blob": SHA, "alt": hostile, "mime": hostile}],
        "files": [{"blob": SHA, "mime": hostile}],
        "cut": {"blob": hostile},
    });
    let mut running = with_metadata(
        waiting_turn(vec![call(ToolStatus::Running)]),
        json!({"progress": {"line": hostile, "percent": hostile}}),
    );
    running.id = turn_id(4);
    let mut done = turn_with_result(ToolStatus::Done, json!({hostile: [hostile, {hostile: hostile}]}), metadata);
    done.id = turn_id(6);
    let html = render_turns(vec![turn_view(asking), turn_view(running), turn_view(done)]);
    for raw in ["<script", "<img src=x", "onerror=alert(1)>\"'"] {
        assert!(!html.contains(raw), "{raw} in {html}");
    }
    assert!(html.contains("U+001B") && html.contains("U+202E"), "what is not seen is named");
}

#[test]
fn restart_is_shown_for_running_calls_and_not_for_ended_ones() {
    let calls = |status| failed_turn(FailureKind::ServerRestarted, vec![call(status)]);
    assert_text(&render_turn(calls(ToolStatus::Interrupted)), "server restarted; may or may not have run");
    assert_silent(&render_turn(calls(ToolStatus::Failed)), "may or may not have run");
    assert_silent(&render_turn(calls(ToolStatus::Denied)), "may or may not have run");
}

#[test]
fn non_call_block_waits_for_nobody() {
    let odd: Block = {
        let mut turn = waiting_turn(vec![serde_json::from_value(json!({"type": "x:pause"})).unwrap()]);
        turn.blocks[0].state = BlockState::Open;
        turn.blocks.remove(0)
    };
    let mut turn = waiting_turn(vec![Content::text("Hi")]);
    turn.blocks.push(odd);
    assert_silent(&render_turn(turn), "Continue (25 more rounds)");
}

/// Builds a running reply whose call asks the user.
fn questioning_turn(outcome: Option<ElicitationOutcome>, page: Option<ElicitationPage>) -> Turn {
    let schema = json!({ "required": ["city"], "properties": {
        "city": { "type": "string", "title": "<City>", "description": "Or\u{202e} a village" },
        "size": { "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"], "default": "l" },
        "key": { "type": "string", "title": "API key" },
    } });
    let fields = if page.is_some() { Vec::new() } else { parse_fields(&schema, &[]).unwrap() };
    let request = ElicitationRequest { server: "Files".into(), message: "Where <b>to</b>?".into(), fields, page };
    let content = (outcome == Some(ElicitationOutcome::Accepted))
        .then(|| json!({ "city": "Bergen", "size": "s" }).as_object().cloned().unwrap());
    let id = block_id(77).uuid().into();
    let asked = Elicitation { id, request, asked_at: Default::default(), outcome, content, ended_at: None };
    with_metadata(waiting_turn(vec![call(ToolStatus::Running)]), Elicitation::as_metadata(&[asked]))
}

#[test]
fn question_of_server_is_form_beside_its_call() {
    let html = render_turn(questioning_turn(None, None));
    let card = tag(&html, "data-segment=\"tool\"");
    assert!(card.contains("data-tool-status=\"asking\""), "{card}");
    for part in [
        "action=\"/forms/elicitation\"",
        "&lt;City&gt;",
        "name=\"field0\"",
        "Where &lt;b&gt;to&lt;/b&gt;?",
        "required",
        "value=\"decline\"",
        "seems to ask for a secret",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_text(&html, "“Files” has a question for you");
    let declined = render_turn(questioning_turn(Some(ElicitationOutcome::Declined), None));
    assert!(!declined.contains("/forms/elicitation"), "{declined}");
}

#[test]
fn page_of_question_opens_only_through_confirmation() {
    let url = "https://auth.example/start?x=1";
    let page = ElicitationPage { url: url.into(), host: "auth.example".into(), elicitation_id: "e".into() };
    let html = render_turn(questioning_turn(None, Some(page)));
    assert!(html.contains("/leave?turn=") && !html.contains(&format!("href=\"{url}")), "{html}");
    assert_text(&html, "Opens auth.example");
    assert_text(&html, "I’m done");
}

#[test]
fn page_that_must_be_opened_first_is_linked_from_card_of_ended_call() {
    let url = "https://auth.example/start?x=1";
    let page = ElicitationPage { url: url.into(), host: "auth.example".into(), elicitation_id: "e".into() };
    let mut turn = questioning_turn(Some(ElicitationOutcome::Required), Some(page));
    turn.blocks[0].content = call(ToolStatus::Failed);
    turn.status = TurnStatus::Complete;
    let html = render_turn(turn);
    assert!(html.contains("/leave?turn=") && !html.contains(&format!("href=\"{url}")), "{html}");
    assert!(!html.contains("/forms/elicitation"), "{html}");
    for words in ["Opens auth.example", url, "The tool can run after you have opened this page"] {
        assert_text(&html, words);
    }
}

#[test]
fn card_shows_answers_and_outcome_of_questions() {
    let mut turn = questioning_turn(Some(ElicitationOutcome::Accepted), None);
    let html = render_turn(turn.clone());
    for words in ["You answered", "Bergen", "Small"] {
        assert_text(&html, words);
    }
    turn = questioning_turn(None, None);
    turn.blocks[0].content = call(ToolStatus::Cancelled);
    turn.status = TurnStatus::Cancelled;
    let html = render_turn(turn);
    assert_text(&html, "Expired: the call ended before you answered");
    assert!(!html.contains("/forms/elicitation"), "{html}");
}
