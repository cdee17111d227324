//! The transcript as the server renders it: every state of docs/reference/ux.md 6.2, 7 and 8, located by the marks of
//! docs/reference/api.md 4, and hostile text that stays text.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "views_transcript/attachments.rs"]
mod attachments;
#[path = "views_transcript/standalone.rs"]
mod standalone;
#[path = "views_transcript/tools.rs"]
mod tools;

use leptos::prelude::*;
use serde_json::json;
use turnleaf::api::view::{BlockMarkup, ChatPage, TurnView, VersionView};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::blocks::notice::Notice;
use turnleaf::domain::fixtures::{self, block_id, reply, tool_result, tool_use, turn, turn_id, user_turn};
use turnleaf::domain::turns::turn::RetryAttempt;
use turnleaf::domain::{BlockState, Content, Cost, Failure, FailureKind, Role, Turn, TurnStatus, Usage};
use turnleaf::ui::messages::transcript as words;
use turnleaf::ui::state::ChatState;
use turnleaf::ui::transcript::{Transcript, TranscriptProps};

fn turn_view(turn: Turn) -> TurnView {
    TurnView { retry_id: format!("retry-{}-1", turn.id), ..TurnView::new(turn) }
}

fn render_turns(turns: Vec<TurnView>) -> String {
    render_page(ChatPage { turns, ..ChatPage::default() })
}

fn render_page(page: ChatPage) -> String {
    let owner = Owner::new();
    let html = owner.with(|| {
        let state = ChatState::new(page.turns.clone(), Callback::new(|_| {})).with_edges_of(&page);
        let nothing = Callback::new(|_| {});
        let props = TranscriptProps::builder().state(state).on_stop(nothing).on_retry(nothing).at(None).build();
        Transcript(props).to_html()
    });
    html.replace("<!>", "").replace("<!--hot-reload-->", "")
}

fn render_turn(turn: Turn) -> String {
    render_turns(vec![turn_view(turn)])
}

fn thought(text: &str, title: Option<&str>, ms: Option<u64>) -> Content {
    Content::Thinking {
        thinking: text.into(),
        signature: None,
        redacted: None,
        title: title.map(str::to_owned),
        duration_ms: ms,
    }
}

/// Returns a reply that is being written; its last block is open.
fn streaming_turn(contents: Vec<Content>) -> Turn {
    let mut turn = reply(2, contents);
    turn.status = TurnStatus::Streaming;
    turn.completed_at = None;
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Open;
    }
    turn
}

fn failed_turn(kind: FailureKind, contents: Vec<Content>) -> Turn {
    let mut turn = reply(2, contents);
    turn.status = TurnStatus::Error;
    turn.error = Some(Failure::new(kind, "Demo").with_detail("status 500: <b>no</b>"));
    turn
}

/// Returns the opening tag that contains `with`.
fn tag<'a>(html: &'a str, with: &str) -> &'a str {
    let at = html.find(with).unwrap_or_else(|| panic!("no {with} in {html}"));
    let start = html[..at].rfind('<').unwrap();
    let end = at + html[at..].find('>').unwrap();
    &html[start..=end]
}

/// Returns the text of the page, its parts separated by single spaces.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_text(html: &str, words: &str) {
    let shown = text(html);
    assert!(shown.contains(words), "{words:?} not in {shown:?}");
}

fn assert_silent(html: &str, words: &str) {
    let shown = text(html);
    assert!(!shown.contains(words), "{words:?} in {shown:?}");
}

#[test]
fn every_turn_is_article_with_its_id_role_status_and_heading() {
    let html = render_turns(vec![turn_view(user_turn(1, "Hi")), turn_view(reply(2, [Content::text("Hello.")]))]);
    for (n, role) in [(1, "user"), (2, "assistant")] {
        let article = tag(&html, &format!("data-turn-id=\"{}\"", turn_id(n)));
        assert!(article.starts_with("<article "), "{article}");
        assert!(article.contains(&format!("data-role=\"{role}\"")), "{article}");
        assert!(article.contains("data-status=\"complete\""), "{article}");
        assert!(article.contains(&format!("aria-labelledby=\"turn-{}-heading\"", turn_id(n))), "{article}");
        assert!(html.contains(&format!("<h3 id=\"turn-{}-heading\"", turn_id(n))));
    }
    assert_text(&html, "You , 2026-01-01 00:01 UTC");
    assert_text(&html, "Assistant, demo-scripted , 2026-01-01 00:02 UTC");
    assert!(html.contains("<ol id=\"transcript\""));
    assert_eq!(html.matches("id=\"latest\"").count(), 1);
}

#[test]
fn notice_precedes_reply_and_does_not_split_reasoning() {
    let (refused, dropped) = (Notice::ReasoningRefused, Notice::ReasoningDropped);
    let contents = [
        refused.content(),
        thought("one", None, None),
        dropped.content(),
        thought("two", None, None),
        Content::text("So."),
    ];
    for turn in [reply(2, contents.clone()), streaming_turn(contents.into())] {
        let html = render_turn(turn);
        assert_eq!(html.matches("class=\"notice-line\"").count(), 2);
        assert_eq!(html.matches("data-segment=\"reasoning\"").count(), 1, "one panel of reasoning");
        let shown = text(&html);
        let at = |words: &str| shown.find(words).unwrap_or_else(|| panic!("no {words:?} in {shown}"));
        assert!(at(refused.sentence()) < at("one") && at(dropped.sentence()) < at("one"), "{shown}");
        assert_eq!(html.matches("data-block-type=\"x:notice\"").count(), 2);
    }
    assert!(!render_turn(reply(2, [Content::text("So.")])).contains("notice-line"));
}

#[test]
fn every_rendered_block_has_its_id_and_type() {
    let turn = fixtures::rich_reply(2);
    let html = render_turn(turn.clone());
    for block in &turn.blocks {
        let tag = tag(&html, &format!("data-block-id=\"{}\"", block.id));
        assert!(tag.contains(&format!("data-block-type=\"{}\"", block.content.block_type())), "{tag}");
    }
}

#[test]
fn finished_reasoning_block_is_closed_disclosure_with_label() {
    let html = render_turn(fixtures::rich_reply(2));
    let panel = tag(&html, "data-segment=\"reasoning\"");
    assert!(panel.starts_with("<details ") && !panel.contains(" open"), "{panel}");
    let summary = tag(&html, "aria-controls=\"reasoning-");
    assert!(summary.starts_with("<summary ") && summary.contains("role=\"button\""), "{summary}");
    assert!(summary.contains("aria-expanded=\"false\""), "{summary}");
    assert_text(&html, "Thought for 2 s · 1 tool call");
}

#[test]
fn titles_of_reasoning_are_in_label_breadcrumb_and_sections() {
    let thoughts = |last: Option<&str>| {
        let weather = || fixtures::tool_use("c", "weather", json!({}), ToolStatus::Done);
        let answer = fixtures::tool_result("c", "weather", json!(1));
        let first = thought("First.", Some("Planning"), Some(4_000));
        render_turn(reply(2, [first, weather(), answer, thought("Then.", last, Some(8_000)), Content::text("So.")]))
    };
    let html = thoughts(Some("Checking"));
    assert_text(&html, "Checking · thought for 12 s · 1 tool call");
    assert_text(&html, "Planning → Checking");
    let sections: Vec<&str> =
        html.split("<details ").filter(|part| part.contains("class=\"reasoning-section\"")).collect();
    assert_eq!(sections.len(), 2, "{html}");
    let is_open = |section: &str| section.split_once('>').is_some_and(|(tag, _)| tag.contains(" open"));
    assert_eq!((is_open(sections[0]), is_open(sections[1])), (false, true), "the newest is open");
    // Without a title, or alone, reasoning is no disclosure.
    let html = thoughts(None);
    assert_text(&html, "Thought for 12 s · 1 tool call");
    assert_eq!(html.matches("class=\"reasoning-section\"").count(), 1, "{html}");
    let html = render_turn(reply(2, [thought("Hm.", Some("Planning"), Some(2_000)), Content::text("So.")]));
    assert!(!html.contains("reasoning-section"), "{html}");
    assert!(tag(&html, "class=\"reasoning-titles\"").contains(" hidden"), "a single title is in the label");
    assert_text(&html, "Planning · thought for 2 s");
}

#[test]
fn headings_of_one_piece_of_reasoning_are_its_sections() {
    let thinking = |text: &str, state: BlockState| {
        let mut turn = reply(2, [thought(text, None, Some(4_000)), Content::text("So.")]);
        turn.blocks[0].block_metadata = turnleaf::domain::blocks::reasoning_title::headings_metadata();
        turn.blocks[0].state = state;
        if state == BlockState::Open {
            turn.blocks.truncate(1);
            turn.status = TurnStatus::Streaming;
        }
        render_turn(turn)
    };
    let text = "Before.\n\n**Planning**\n\nFirst.\n\n**Checking**\nThen.";
    for state in [BlockState::Done, BlockState::Open] {
        let html = thinking(text, state);
        assert_text(&html, "Planning → Checking");
        let sections: Vec<&str> =
            html.split("<details ").filter(|part| part.contains("class=\"reasoning-section\"")).collect();
        let is_open = |section: &str| section.split_once('>').is_some_and(|(tag, _)| tag.contains(" open"));
        assert_eq!(sections.iter().map(|section| is_open(section)).collect::<Vec<_>>(), [false, true], "{html}");
        assert!(sections[0].contains("Planning") && sections[0].contains("First."), "{html}");
        assert!(sections[1].contains("Checking") && sections[1].contains("Then."), "{html}");
        assert!(!sections.concat().contains("Before.") && html.contains("Before."), "{html}");
        assert!(!html.contains("Planning</strong>"), "the heading is the title of its section: {html}");
    }
    // A single heading is in the label, and the text stays as it is.
    let html = thinking("**Planning**\n\nFirst.", BlockState::Done);
    assert!(!html.contains("reasoning-section") && html.contains("Planning</strong>"), "{html}");
}

#[test]
fn finished_reasoning_block_links_to_provider_response_where_known() {
    let thinking = || reply(2, [thought("Hm.", None, Some(2_000)), Content::text("So.")]);
    assert!(!render_turn(thinking()).contains("/raw?of="), "nobody knows of what call it is");
    let generation = fixtures::uuid(9);
    let mut known = thinking();
    known.blocks[0].generation_id = Some(generation.into());
    let html = render_turn(known.clone());
    assert!(html.contains(&format!("href=\"/turns/{}/raw?of={generation}\"", known.id)), "{html}");
    known.status = TurnStatus::Streaming;
    known.blocks.truncate(1);
    known.blocks[0].state = BlockState::Open;
    assert!(!render_turn(known).contains("/raw?of="), "it is not over");
}

#[test]
fn streaming_reasoning_block_is_open_and_shows_topic() {
    let html = render_turn(streaming_turn(vec![thought("Let me see", Some("checking the offsets"), None)]));
    let panel = tag(&html, "data-segment=\"reasoning\"");
    assert!(panel.contains(" open"), "{panel}");
    assert!(tag(&html, "aria-controls=\"reasoning-").contains("aria-expanded=\"true\""));
    assert_text(&html, "Thinking: checking the offsets");
    assert_silent(&html, "Thought for");
    assert!(tag(&html, "data-role=\"assistant\"").contains("aria-busy=\"true\""));
    assert!(tag(&html, "class=\"timer\"").contains("aria-hidden=\"true\""));
}

#[test]
fn reply_without_token_shows_status_and_no_disclosure() {
    let html = render_turn(turn(2, Role::Assistant, TurnStatus::Pending));
    assert_text(&html, "Thinking…");
    assert!(!html.contains("data-segment"));
    assert_text(&html, "Refresh");
    assert_silent(&html, "Retry");
    // A model that does not think is only waited for.
    let mut plain = turn_view(turn(2, Role::Assistant, TurnStatus::Pending));
    plain.is_thinking_mode = false;
    let html = render_turns(vec![plain]);
    assert_silent(&html, "Thinking…");
    assert_text(&html, "Waiting for the model…");
}

#[test]
fn continued_reply_waits_visibly_until_its_model_answers() {
    let mut continued = streaming_turn(vec![Content::text("The first half")]);
    assert_silent(&render_turn(continued.clone()), "Waiting for the model…");
    continued.status = TurnStatus::Pending;
    let html = render_turn(continued);
    assert_text(&html, "The first half");
    assert_text(&html, "Waiting for the model…");
}

#[test]
fn waiting_retry_is_visible() {
    let mut waiting = turn(2, Role::Assistant, TurnStatus::Pending);
    let reason = Failure::new(FailureKind::ProviderOverloaded, "Demo");
    waiting.attempt = Some(RetryAttempt { number: 2, of: 3, wait_ms: 12_000, reason });
    let html = render_turn(waiting);
    assert_text(&html, "Attempt 2 of 3");
    assert_text(&html, "Retrying in 12 s.");
}

#[test]
fn interrupted_reasoning_shows_reason() {
    let cut = |status, error: Option<FailureKind>| {
        let mut turn = reply(2, [thought("Half a", None, Some(7_000))]);
        turn.status = status;
        turn.error = error.map(|kind| Failure::new(kind, "Demo"));
        turn.blocks[0].state = BlockState::Aborted;
        render_turn(turn)
    };
    assert_text(&cut(TurnStatus::Cancelled, None), "Thought for 7 s · stopped");
    assert_text(&cut(TurnStatus::Cancelled, None), "Stopped by you");
    let truncated = cut(TurnStatus::Error, Some(FailureKind::ProviderTruncated));
    assert_text(&truncated, "Thought for 7 s · connection lost");
    let restarted = cut(TurnStatus::Error, Some(FailureKind::ServerRestarted));
    assert_text(&restarted, "Thought for 7 s · server restarted");
}

#[test]
fn hidden_reasoning_is_shown_and_cannot_be_opened() {
    let html = render_turn(reply(2, [thought("", None, Some(12_000)), Content::text("Done.")]));
    assert!(tag(&html, "data-segment=\"reasoning\"").starts_with("<div "));
    assert_text(&html, "Thought for 12 s · hidden by the provider");
}

#[test]
fn failed_tool_in_reasoning_is_counted_in_label() {
    let html = render_turn(reply(
        2,
        [
            thought("a", None, Some(11_000)),
            tool_use("c1", "search", json!({"query": "rust sse"}), ToolStatus::Done),
            tool_result("c1", "search", json!([1, 2, 3])),
            thought("b", None, Some(1_000)),
            tool_use("c2", "fetch", json!({}), ToolStatus::Failed),
            tool_result("c2", "fetch", json!({"error": "timed out after 60 s"})),
            Content::text("So."),
        ],
    ));
    assert_text(&html, "Thought for 12 s · 2 tool calls, 1 failed");
    assert_text(&html, "3 results");
    assert_text(&html, "timed out after 60 s");
}

#[test]
fn reasoning_continued_in_next_reply_is_one_block_where_it_starts() {
    let first = reply(2, vec![thought("Planning it.", Some("Planning"), Some(2_000))]);
    let call = tool_use("c", "look_up", json!({}), ToolStatus::Done);
    let answered = tool_result("c", "look_up", json!("found it"));
    let second = reply(3, vec![thought("Checking it.", None, Some(3_000)), call, answered, Content::text("Done.")]);
    let (first_id, second_id) = (first.id, second.id);
    let html = render_turns(vec![
        turn_view(user_turn(1, "Go")),
        turn_view(first),
        turn_view(second),
        turn_view(user_turn(4, "And?")),
    ]);
    assert_eq!(html.matches("data-segment=\"reasoning\"").count(), 1);
    assert_text(&html, "Thought for 5 s · 1 tool call");
    let at = |part: &str| html.find(part).unwrap_or_else(|| panic!("no {part}"));
    let places = [
        at(&format!("data-turn-id=\"{first_id}\"")),
        at("Planning it."),
        at("Checking it."),
        at("look_up"),
        at(&format!("data-turn-id=\"{second_id}\"")),
        at("Done."),
    ];
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(html.matches("Checking it.").count(), 1);
    assert_silent(&html, "empty");
    // A user message between two reasoning blocks keeps them in separate segments.
    let (first, second) = (reply(2, vec![thought("a", None, None)]), reply(4, vec![thought("b", None, None)]));
    let html = render_turns(vec![turn_view(first), turn_view(user_turn(3, "?")), turn_view(second)]);
    assert_eq!(html.matches("data-segment=\"reasoning\"").count(), 2);
}

#[test]
fn without_thinking_mode_there_is_no_reasoning() {
    let mut shown = turn_view(reply(2, [thought("secret plan", None, Some(9_000)), Content::text("Answer.")]));
    shown.is_thinking_mode = false;
    let html = render_turns(vec![shown]);
    assert!(!html.contains("data-segment=\"reasoning\""));
    assert_silent(&html, "secret plan");
    assert_text(&html, "Answer.");
}

#[test]
fn tool_card_has_name_as_heading_and_state_as_text() {
    for (status, open, words) in [
        (ToolStatus::Pending, true, "writing arguments…"),
        (ToolStatus::Pending, false, "waiting"),
        (ToolStatus::AwaitingApproval, false, "wants to run"),
        (ToolStatus::Running, false, "running"),
        (ToolStatus::Done, false, "done"),
        (ToolStatus::Failed, false, "failed"),
        (ToolStatus::Cancelled, false, "stopped"),
    ] {
        let mut turn = streaming_turn(vec![tool_use("c1", "search", json!({"query": "rust sse"}), status)]);
        turn.blocks[0].state = if open { BlockState::Open } else { BlockState::Done };
        let html = render_turn(turn);
        assert!(tag(&html, "data-segment=\"tool\"").contains("data-block-type=\"tool_use\""));
        let heading = tag(&html, "class=\"tool-name\"");
        assert!(heading.starts_with("<h4 "), "{heading}");
        assert_text(&html, "search “rust sse”");
        assert_text(&html, words);
    }
}

#[test]
fn streaming_arguments_are_shown_as_they_arrive() {
    let mut turn = streaming_turn(vec![tool_use("c1", "search", json!(null), ToolStatus::Pending)]);
    if let Content::ToolUse { arguments_raw, .. } = &mut turn.blocks[0].content {
        *arguments_raw = Some("{\"query\": \"ru".into());
    }
    let html = render_turn(turn);
    assert_text(&html, "{\"query\": \"ru");
    assert_text(&html, "writing arguments…");
}

#[test]
fn tool_interrupted_by_restart_shows_unknown_outcome() {
    let contents = vec![tool_use("c1", "delete", json!({}), ToolStatus::Cancelled)];
    let html = render_turn(failed_turn(FailureKind::ServerRestarted, contents));
    assert_text(&html, "server restarted; may or may not have run");
}

#[test]
fn long_result_is_truncated_with_note() {
    let html = render_turn(reply(
        2,
        [tool_use("c1", "read", json!({}), ToolStatus::Done), tool_result("c1", "read", json!("ä".repeat(100_000)))],
    ));
    assert!(html.len() < 90_000, "{}", html.len());
    assert_text(&html, "Showing the first 64 KiB of 196 KiB. Open full content");
}

#[test]
fn every_failure_has_code_message_and_retry() {
    for kind in FailureKind::ALL {
        let html = render_turn(failed_turn(kind, vec![Content::text("Half an ans")]));
        let panel = tag(&html, &format!("data-error=\"{}\"", kind.as_str()));
        assert!(panel.contains("role=\"group\""), "{panel}");
        assert_text(&html, "Half an ans");
        assert_text(&html, &Failure::new(kind, "Demo").message);
        assert_text(&html, "status 500: &lt;b&gt;no&lt;/b&gt;");
        assert_eq!(html.matches("action=\"/forms/retry\"").count(), 1, "one button, in the panel");
        if let Some(step) = words::next_step(kind) {
            assert_text(&html, step);
        }
        assert!(tag(&html, "data-role=\"assistant\"").contains("data-status=\"error\""));
    }
}

#[test]
fn failure_has_recovery_links_that_work_without_script() {
    let rendered = |kind| {
        let mut turn = failed_turn(kind, vec![]);
        (turn.provider_used, turn.prev_turn_id) = (Some("openai-2".into()), Some(turn_id(1)));
        render_turns(vec![turn_view(user_turn(1, "Hi")), turn_view(turn)])
    };
    let card = "href=\"/settings/providers#provider-openai-2\"";
    for (kind, name) in
        [(FailureKind::ProviderAuth, "Replace API key"), (FailureKind::ProviderQuota, "Open provider settings")]
    {
        let html = rendered(kind);
        assert!(tag(&html, card).contains("rel=\"external\""), "{kind:?}");
        assert_text(&html, name);
        let again = format!("href=\"/turns/{}/again\"", turn_id(2));
        assert_eq!(html.matches(&again).count(), 1, "{kind:?}: in the panel, and not beside it once more");
    }
    let unreachable = rendered(FailureKind::ProviderUnreachable);
    assert_text(&unreachable, "Test connection");
    assert!(
        tag(&unreachable, "action=\"/forms/providers/test\"").contains("method=\"post\""),
        "it tests, and does not only lead there"
    );
    tag(&unreachable, "name=\"id\" value=\"openai-2\"");
    for kind in [FailureKind::ContextTooLong, FailureKind::ProviderRefusedRequest] {
        let html = rendered(kind);
        for (turn, page) in [(2, "sent"), (1, "edit")] {
            // A link to a section of the page has a fragment behind its path.
            let link = format!("href=\"/turns/{}/{page}", turn_id(turn));
            assert!(html.matches(&link).count() >= 2, "{kind:?}: {link} beside the turn's own");
        }
    }
    // A failure that ends by waiting links to no settings.
    assert!(!rendered(FailureKind::ProviderOverloaded).contains("/settings/providers"));
    let before_it_was_known = render_turn(failed_turn(FailureKind::ProviderAuth, vec![]));
    assert!(before_it_was_known.contains("href=\"/settings/providers"), "the card may not be known");
}

#[test]
fn block_has_language_of_its_script() {
    let chinese = "树会保留你的每一个版本，你可以随时返回。";
    let html = render_turns(vec![
        turn_view(user_turn(1, chinese)),
        turn_view(reply(2, [Content::thinking("好的，让我想想。"), Content::text(chinese)])),
        turn_view(user_turn(3, "42")),
        turn_view(reply(4, [Content::text("نعم، هذا صحيح."), Content::text("Yes.")])),
    ]);
    for (turn, block, lang) in [(1, 0, "zh"), (2, 0, "zh"), (2, 1, "zh"), (4, 0, "ar")] {
        let tag = tag(&html, &format!("data-block-id=\"{}\"", block_id((turn << 20) + block)));
        assert!(tag.contains(&format!(" lang=\"{lang}\"")), "{tag}");
    }
    for (turn, block) in [(3, 0), (4, 1)] {
        let tag = tag(&html, &format!("data-block-id=\"{}\"", block_id((turn << 20) + block)));
        assert!(!tag.contains(" lang="), "{tag}");
    }
}

#[test]
fn same_failure_message_is_shown_once() {
    let words = Failure::new(FailureKind::ProviderTruncated, "Demo").message;
    let html = render_turn(failed_turn(FailureKind::ProviderTruncated, vec![fixtures::error_text(&words)]));
    let block = tag(&html, &format!("data-block-id=\"{}\"", block_id(2 << 20)));
    assert!(block.contains(" hidden"), "{block}");
    let other = render_turn(failed_turn(FailureKind::Internal, vec![fixtures::error_text(&words)]));
    assert!(!tag(&other, &format!("data-block-id=\"{}\"", block_id(2 << 20))).contains(" hidden"));
}

#[test]
fn failure_message_of_older_version_is_shown_once_with_new_sentence() {
    let old = "The key for Demo was refused.";
    let mut turn = failed_turn(FailureKind::ProviderAuth, vec![fixtures::error_text(old)]);
    let error = turn.error.as_mut().unwrap();
    (error.message, error.args) = (old.to_owned(), std::collections::BTreeMap::new());
    let html = render_turn(turn);
    let block = tag(&html, &format!("data-block-id=\"{}\"", block_id(2 << 20)));
    assert!(block.contains(" hidden"), "{block}");
    assert_text(&html, "Demo rejected the API key.");
}

#[test]
fn early_ending_reason_is_shown_after_reply() {
    let cut = reply(2, [Content::text("Half of"), Notice::LengthReached.content_with_stop_reason("length")]);
    let html = render_turn(cut);
    assert_text(&html, "Half of The reply reached the model's length limit.");
    assert_eq!(html.matches("length limit").count(), 1, "not in front of it too");
    let filtered = reply(2, [Content::text("Once"), Notice::Filtered.content_with_stop_reason("SAFETY")]);
    assert_text(&render_turn(filtered), "The provider's content filter ended the reply here.");
    assert_silent(&render_turn(reply(2, [Content::text("All of it.")])), "length limit");
}

#[test]
fn failure_shows_known_wait_and_links_to_earlier_turn() {
    let mut limited = failed_turn(FailureKind::ProviderRateLimited, Vec::new());
    limited.error.as_mut().unwrap().retry_after_ms = Some(11_400);
    assert_text(&render_turn(limited), "The provider asked you to wait 12 s.");
    let mut silent = failed_turn(FailureKind::ProviderStalled, Vec::new());
    silent.error = Some(Failure::stalled(60, "Demo"));
    assert_text(&render_turn(silent), "Demo sent nothing for 60 s.");
    let mut long = failed_turn(FailureKind::ContextTooLong, Vec::new());
    (long.id, long.prev_turn_id) = (turn_id(4), Some(turn_id(3)));
    let mut question = user_turn(3, "And?");
    question.prev_turn_id = Some(turn_id(2));
    let chat = long.chat_id;
    let path = vec![
        turn_view(user_turn(1, "Hi")),
        turn_view(reply(2, [Content::text("Hello.")])),
        turn_view(question),
        turn_view(long),
    ];
    let html = render_turns(path);
    assert_text(&html, "Branch from an earlier reply");
    assert!(html.contains(&format!("href=\"/c/{chat}?from={}\"", turn_id(2))));
}

#[test]
fn retry_is_form_that_works_without_script() {
    let html = render_turn(reply(2, [Content::text("Done.")]));
    assert!(tag(&html, "action=\"/forms/retry\"").contains("method=\"post\""));
    assert!(html.contains(&format!("<input type=\"hidden\" name=\"turn_id\" value=\"{}\"", turn_id(2))));
    assert!(html.contains(&format!("name=\"client_request_id\" value=\"retry-{}-1\"", turn_id(2))));
    assert!(tag(&html, "aria-label=\"Retry\"").contains("type=\"submit\""));
    assert!(tag(&html, "aria-label=\"Copy reply\"").contains("needs-script"));
}

#[test]
fn versions_are_links_with_button_labels() {
    let mut second = turn_view(reply(2, [Content::text("Second.")]));
    second.siblings = vec![turn_id(7), turn_id(2), turn_id(9)];
    let html = render_turns(vec![second]);
    let group = tag(&html, "aria-label=\"Versions\"");
    assert!(group.contains("role=\"group\""), "{group}");
    assert_text(&html, "2/3");
    for (name, to) in [("Previous version, 1 of 3", turn_id(7)), ("Next version, 3 of 3", turn_id(9))] {
        let link = tag(&html, &format!("aria-label=\"{name}\""));
        assert!(link.starts_with("<a ") && link.contains("role=\"button\""), "{link}");
        assert!(link.contains(&format!("?at={to}\"")), "{link}");
    }
}

#[test]
fn version_list_links_describe_each_version() {
    let mut second = turn_view(reply(2, [Content::text("Second.")]));
    second.siblings = vec![turn_id(7), turn_id(2), turn_id(9)];
    let version = |id, words: &str, status, followed_by| VersionView {
        turn_id: id,
        at: fixtures::time(60),
        model: Some("model-a".into()),
        words: words.into(),
        status,
        is_edited: followed_by == 0,
        followed_by,
    };
    second.versions = vec![
        version(turn_id(7), "<b>First</b>", TurnStatus::Cancelled, 6),
        version(turn_id(2), "Second.", TurnStatus::Complete, 0),
        version(turn_id(9), "", TurnStatus::Streaming, 1),
    ];
    let html = render_turns(vec![second.clone()]);
    let button = tag(&html, &format!("popovertarget=\"turn-{}-versions\"", turn_id(2)));
    assert!(button.starts_with("<button"), "{button}");
    assert_text(
        &html,
        "1/3 &lt;b&gt;First&lt;/b&gt; 2026-01-01 00:01 UTC · model-a · stopped · followed by 6 messages",
    );
    // The state on screen is newer than the list.
    assert_text(&html, "edited by you · demo-scripted");
    assert_text(&html, "in progress · followed by 1 message");
    assert!(html.contains("aria-label=\"Another version is being generated\""));
    assert_eq!(html.matches("aria-current=\"true\"").count(), 1);
    second.versions[2].status = TurnStatus::Complete;
    assert!(!render_turns(vec![second]).contains("Another version is being generated"));
}

#[test]
fn turn_actions_have_links_without_script() {
    let html = render_turns(vec![turn_view(user_turn(1, "Hi")), turn_view(reply(2, [Content::text("Hello.")]))]);
    let chat = turn_view(user_turn(1, "Hi")).turn.chat_id;
    let edit = tag(&html, "aria-label=\"Edit your message\"");
    assert!(
        edit.contains(&format!("href=\"/turns/{}/edit\"", turn_id(1))) && edit.contains("role=\"button\""),
        "{edit}"
    );
    let branch = tag(&html, "aria-label=\"Branch\"");
    assert!(branch.contains(&format!("href=\"/c/{chat}?from={}\"", turn_id(2))), "{branch}");
    tag(&html, &format!("href=\"/turns/{}/again\"", turn_id(2)));
    tag(&html, &format!("href=\"/c/{chat}?at={}\"", turn_id(2)));
    assert!(tag(&html, "action=\"/forms/copy\"").contains("method=\"post\""));
    let running = render_turn(streaming_turn(vec![Content::text("Hel")]));
    assert!(
        !running.contains("/forms/copy") && !running.contains("aria-label=\"Branch\""),
        "what is not over goes nowhere"
    );
}

#[test]
fn person_written_reply_is_marked() {
    let mut turn = reply(2, [Content::text("Mine.")]);
    turn.blocks[0].author = turnleaf::domain::Author::User;
    assert_text(&render_turn(turn), "Edited by you");
    assert_silent(&render_turn(reply(2, [Content::text("Its own.")])), "Edited by you");
}

#[test]
fn first_and_last_version_buttons_stay_focusable_and_disabled() {
    let mut last = turn_view(reply(2, [Content::text("Last.")]));
    last.siblings = vec![turn_id(1), turn_id(2)];
    let html = render_turns(vec![last]);
    let end = tag(&html, "aria-label=\"Next version\"");
    assert!(end.contains("aria-disabled=\"true\"") && end.contains("tabindex=\"0\""), "{end}");
    assert!(!end.contains("href"), "{end}");
    assert!(!render_turn(reply(2, [Content::text("Only.")])).contains("Versions"));
}

#[test]
fn reply_usage_is_shown_below_it_and_unknown_usage_is_not() {
    let mut turn = reply(2, [Content::text("Done.")]);
    turn.usage = Usage { output_tokens: Some(340), input_tokens: Some(1_204), ..Usage::default() };
    turn.cost = Some(Cost { micros: 4_012, is_estimated: true });
    turn.completed_at = Some(turn.created_at + chrono::TimeDelta::seconds(14));
    let html = render_turn(turn);
    assert_text(&html, "demo-scripted 1.2k in · 340 out 1,204 tokens sent · 340 tokens received ≈ $0.004 14 s");
    let mut unpriced = reply(2, [Content::text("Done.")]);
    unpriced.usage = Usage { input_tokens: Some(7), ..Usage::default() };
    let html = render_turn(unpriced);
    assert_text(&html, "7 in · — out");
    assert_eq!(html.matches('—').count(), 1, "a cost that nobody knows is no dash at the end: {html}");
    let mut answered = reply(2, [Content::text("Done.")]);
    answered.usage = Usage { output_tokens: Some(7), ..Usage::default() };
    answered.cost = Some(Cost { micros: 1_500_000, is_estimated: false });
    assert_text(&render_turn(answered), "— in · 7 out 7 tokens received $1.50");
    let unknown = render_turn(reply(2, [Content::text("Done.")]));
    for part in [" in ·", " out", "$", "—"] {
        assert_silent(&unknown, part);
    }
}

#[test]
fn time_that_nobody_measured_is_not_shown() {
    let took = |ms: i64| {
        let mut turn = reply(2, [Content::text("Done.")]);
        turn.completed_at = Some(turn.created_at + chrono::TimeDelta::milliseconds(ms));
        render_turn(turn)
    };
    assert!(took(60).contains("0.1 s"), "{}", took(60));
    for ms in [0, 20] {
        assert!(!took(ms).contains("0.1 s") && !took(ms).contains("0.0 s"), "{}", took(ms));
    }
}

#[test]
fn server_rendered_block_is_used_when_present() {
    let mut shown = turn_view(reply(2, [Content::text("`x`")]));
    let id = shown.turn.blocks[0].id;
    shown.markup = vec![BlockMarkup { block_id: id, parts: vec!["<p>coloured</p>".into()] }];
    assert!(render_turns(vec![shown]).contains("<div class=\"part\"><p>coloured</p></div>"));
}

#[test]
fn empty_reply_is_marked() {
    assert_text(&render_turn(reply(2, [])), "The reply is empty.");
}

#[test]
fn hostile_text_stays_text_everywhere() {
    let hostile = "</textarea></title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`";
    let mut answer = failed_turn(
        FailureKind::Internal,
        vec![
            thought(hostile, Some(hostile), Some(2_000)),
            tool_use("c1", hostile, json!({hostile: hostile}), ToolStatus::Failed),
            tool_result("c1", hostile, json!({"error": hostile})),
            tool_use("c2", "ok", json!(hostile), ToolStatus::Done),
            tool_result("c2", "ok", json!(hostile)),
            Content::text(hostile),
            fixtures::error_text(hostile),
            Content::Image { blob: hostile.into(), mime: hostile.into(), alt: hostile.into() },
            Content::Reference { ref_id: hostile.into(), ref_type: hostile.into(), version_timestamp: None },
        ],
    );
    answer.model_used = Some(hostile.into());
    if let Some(error) = &mut answer.error {
        error.message = hostile.into();
        error.detail = Some(hostile.into());
    }
    let mut question = user_turn(1, hostile);
    question.blocks.push(fixtures::block(
        1,
        1,
        Content::Image { blob: "b".into(), mime: "m".into(), alt: hostile.into() },
    ));
    let mut streaming = streaming_turn(vec![thought(hostile, Some(hostile), None)]);
    streaming.id = turn_id(4);
    let html = render_turns(vec![turn_view(question), turn_view(answer), turn_view(streaming)]);
    for raw in ["<script", "<img", "</textarea", "</title", "onerror=alert(1)>\"'"] {
        assert!(!html.contains(raw), "{raw} in {html}");
    }
    assert!(html.contains("&lt;script&gt;"));
}

#[test]
fn server_and_browser_render_same_initially() {
    let turns = || {
        vec![
            turn_view(user_turn(1, "Hi")),
            turn_view(streaming_turn(vec![thought("a", None, None), Content::text("b")])),
        ]
    };
    assert_eq!(render_turns(turns()), render_turns(turns()));
}

#[test]
fn path_window_links_to_rest_at_both_ends() {
    let turns = vec![turn_view(user_turn(3, "Hi")), turn_view(reply(4, vec![Content::text("Hello")]))];
    let chat = turns[0].turn.chat_id;
    let html = render_page(ChatPage {
        turns: turns.clone(),
        has_more_before: true,
        end: Some(turn_view(reply(8, vec![Content::text("the end, which is elsewhere")]))),
        ..ChatPage::default()
    });
    let (first, last) = (turn_id(3), turn_id(4));
    assert!(html.contains(&format!("href=\"/c/{chat}?at={first}&amp;side=older#turn-{first}\"")), "{html}");
    assert!(html.contains(&format!("href=\"/c/{chat}?at={last}&amp;side=newer\"")), "{html}");
    assert!(html.contains("Load older messages") && html.contains("Load newer messages"), "{html}");
    assert!(!html.contains("the end, which is elsewhere") && !html.contains("id=\"latest\""), "{html}");
    let html = render_turns(turns);
    assert!(!html.contains("Load older") && !html.contains("Load newer") && html.contains("id=\"latest\""), "{html}");
}

#[test]
fn hidden_characters_of_messages_and_replies_are_counted() {
    let tags: String = ('\u{e0061}'..='\u{e006c}').collect();
    let text_with_tags = format!("look{tags}");
    let html = render_turns(vec![
        turn_view(user_turn(1, &text_with_tags)),
        turn_view(reply(2, [Content::text(&text_with_tags)])),
    ]);
    assert_eq!(html.matches(">12 hidden characters</summary>").count(), 2, "{html}");
    // The message itself keeps its hidden characters.
    assert!(html.contains(&format!(">{text_with_tags}</div>")), "{html}");
    let open = render_turns(vec![turn_view(streaming_turn(vec![Content::text(&text_with_tags)]))]);
    assert!(open.contains("<p class=\"hidden-count\">12 hidden characters</p>"), "{open}");
    let ordinary = "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} می\u{200c}خواهم क्\u{200d}ष";
    let html = render_turns(vec![turn_view(user_turn(1, ordinary)), turn_view(reply(2, [Content::text(ordinary)]))]);
    assert!(!html.contains("hidden-count"), "{html}");
}

#[test]
fn reply_links_ask_unless_message_on_path_names_host() {
    let text = "See https://known.test/a and https://other.test/?q=1.";
    let rendered = |message: &str| {
        render_turns(vec![turn_view(user_turn(1, message)), turn_view(reply(2, [Content::text(text)]))])
    };
    let asks = format!("href=\"/leave?turn={}&amp;to=https%3A%2F%2F", turn_id(2));
    let html = rendered("what is on known.test?");
    assert!(html.contains("href=\"https://known.test/a\""), "{html}");
    assert!(html.contains(&format!("{asks}other.test%2F%3Fq%3D1\"")), "{html}");
    let html = rendered("hello");
    assert!(html.contains(&format!("{asks}known.test%2Fa\"")), "{html}");
    // The server's highlighted markup is checked too.
    let parts = vec!["<p><a href=\"https://other.test/\">x</a></p>".to_owned()];
    let turn = reply(2, [Content::text(text)]);
    let markup = vec![BlockMarkup { block_id: turn.blocks[0].id, parts }];
    let html = render_turns(vec![TurnView { markup, ..turn_view(turn) }]);
    assert!(html.contains(&format!("{asks}other.test%2F\">x</a>")), "{html}");
}
