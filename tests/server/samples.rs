//! Sample exports of each product, imported into every database: turns, branches, thinking modes, reasoning, tools,
//! images, sources, model names. Importing the same file again adds nothing.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use turnleaf::domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf::domain::{Block, ChatId, Content, Turn, TurnStatus};
use turnleaf_interchange::chat_builder::source_changes::CHANGED_AT_SOURCE;
use turnleaf_providers::base64;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::transfer::imports::{ImportOutcome, ImportReport};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{branches, documents};

use crate::fake_file_reader::{FakeFileReader, PNG};
use crate::interchange::import_file;
use crate::test_server::TestServer;

/// Reads a sample, with a valid image in place of the two bytes that stand for one.
pub fn sample(name: &str) -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/interchange/samples").join(name);
    let picture = base64::encode(&[PNG, b"a picture"].concat());
    std::fs::read_to_string(file).unwrap().replace("aGk=", &picture).into_bytes()
}

/// Returns servers whose service reads files.
pub async fn test_servers() -> Vec<TestServer> {
    let instances = TestServer::on_every_database(|| ScriptedProvider::new("scripted", Vec::new())).await;
    let reading = |mut instance: TestServer| {
        instance.service = instance.service.clone().with_reader(Arc::new(FakeFileReader));
        instance
    };
    instances.into_iter().map(reading).collect()
}

/// Outlines a stored chat with one line per turn: `ord<parent/branch role [provider model] thinking? (ending):
/// blocks`. A star marks the turn that is shown.
pub async fn chat_lines(instance: &TestServer, chat: ChatId) -> Vec<String> {
    let row = instance.service.chat(instance.owner, chat).await.unwrap();
    let all = turns::list_of_chat(&instance.db, instance.owner, chat, 0, 1_000).await.unwrap();
    let ids: Vec<_> = all.iter().map(|turn| turn.id).collect();
    let of = exchanges::list_by_turns(&instance.db, instance.owner, &ids).await.unwrap();
    let list = branches::list(&instance.db, instance.owner, chat).await.unwrap();
    // The branches are numbered in the order of their first turns.
    let mut begun: Vec<_> = all.iter().map(|turn| turn.branch_id).collect();
    begun.dedup();
    let mut order = Vec::new();
    begun.into_iter().for_each(|id| {
        if !order.contains(&id) {
            order.push(id)
        }
    });
    assert_eq!(order.len(), list.len());
    let mut lines = Vec::new();
    for turn in &all {
        let star = if row.last_viewed_turn_id == Some(turn.id) { "*" } else { "" };
        let parent = turn.prev_turn_id.map(|id| all.iter().find(|turn| turn.id == id).unwrap().ord.to_string());
        let branch = order.iter().position(|id| *id == turn.branch_id).unwrap();
        let model = match (&turn.provider_used, &turn.model_used) {
            (Some(provider), Some(model)) => format!(" [{provider} {model}]"),
            _ => String::new(),
        };
        let thinking = if of[&turn.id].is_thinking_mode { " thinking" } else { "" };
        let block_lines: Vec<String> =
            futures::future::join_all(turn.blocks.iter().map(|block| block_line(instance, block))).await;
        let (ord, role, parent) = (turn.ord, turn.role.as_str(), parent.unwrap_or_default());
        lines.push(format!(
            "{star}{ord}<{parent}/{branch} {role}{model}{thinking}{}: {}",
            turn_ending(turn),
            block_lines.join(" | ")
        ));
    }
    lines
}

fn turn_ending(turn: &Turn) -> String {
    match (turn.status, &turn.error) {
        (TurnStatus::Complete, _) => String::new(),
        (status, None) => format!(" ({})", status.as_str()),
        (_, Some(error)) => format!(" (failed: {})", error.detail.as_deref().unwrap_or_default()),
    }
}

async fn block_line(instance: &TestServer, block: &Block) -> String {
    match &block.content {
        Content::Text { is_error: true, .. } => "a failure".to_owned(),
        Content::Text { text, .. } => format!("{text:?}"),
        Content::Thinking { thinking, title, duration_ms, .. } => {
            let title = title.as_ref().map(|title| format!(" {title:?}")).unwrap_or_default();
            let time = duration_ms.map(|ms| format!(" {ms}ms")).unwrap_or_default();
            format!("thought{title}{time} {thinking:?}")
        }
        Content::ToolUse { tool_name, arguments, arguments_raw, status, .. } => {
            let arguments =
                if arguments.is_null() { arguments_raw.clone().unwrap_or_default() } else { arguments.to_string() };
            format!("{status:?} {tool_name}({arguments})")
        }
        Content::ToolResult { result, success, .. } => {
            let result = result.to_string();
            let short: String = result.chars().take(60).collect();
            format!("{} {short}", if *success { "brought" } else { "failed with" })
        }
        Content::Image { mime, alt, blob } => {
            let stored = instance.service.blob(instance.owner, blob).await.unwrap();
            assert!(stored.bytes.starts_with(PNG));
            format!("{mime} {alt:?}")
        }
        Content::Reference { ref_id, ref_type, version_timestamp } if ref_type == DOCUMENT_REF_TYPE => {
            let id = ref_id.parse().unwrap();
            let document = documents::read::find(&instance.db, instance.owner, id).await.unwrap().unwrap();
            let text = documents::read::content(&instance.db, instance.owner, id, version_timestamp.unwrap())
                .await
                .unwrap()
                .unwrap();
            format!("file {} {text:?}", document.title)
        }
        Content::Other(fields) if fields["type"] == "x:sources" => {
            let one = |source: &Value| source["url"].as_str().unwrap_or_default().to_owned();
            let all: Vec<String> = fields["sources"].as_array().unwrap_or(&Vec::new()).iter().map(one).collect();
            format!("sources {}", all.join(" "))
        }
        other => panic!("{other:?}"),
    }
}

/// Asserts that a dry run reports the same as an import, except for the ids of the chats.
pub fn assert_same(preview: &ImportReport, report: &ImportReport) {
    let plain = |report: &ImportReport| {
        let mut value = serde_json::to_value(report).unwrap();
        value["dry_run"] = Value::Null;
        value["chats"].as_array_mut().unwrap().iter_mut().for_each(|chat| chat["id"] = Value::Null);
        value
    };
    assert!(preview.dry_run && !report.dry_run);
    assert_eq!(plain(preview), plain(report));
}

/// Imports a file twice, after a dry run. Returns the report and the outline of each new chat, headed by its title.
async fn import_outline(instance: &TestServer, name: &str, bytes: &[u8]) -> (ImportReport, Vec<Vec<String>>) {
    let preview = import_file(instance, name, bytes, true).await;
    let report = import_file(instance, name, bytes, false).await;
    assert_same(&preview, &report);
    let mut all = Vec::new();
    for chat in report.chats.iter().filter(|chat| chat.outcome == ImportOutcome::Imported) {
        let mut outline = vec![chat.title.clone()];
        outline.extend(chat_lines(instance, chat.id.unwrap()).await);
        all.push(outline);
    }
    let again = import_file(instance, name, bytes, false).await;
    assert_eq!((again.imported, again.known, again.turns, again.documents), (0, report.imported, 0, 0), "{again:?}");
    assert!(
        again.findings.iter().all(|finding| finding.text != CHANGED_AT_SOURCE),
        "nothing was changed: {:#?}",
        again.findings
    );
    (report, all)
}

/// Asserts that the imported chats have this outline.
#[track_caller]
fn assert_outline(outlines: &[Vec<String>], expected: &str) {
    let outlines: Vec<String> = outlines.iter().map(|chat| chat.join("\n")).collect();
    let outlines = outlines.join("\n\n");
    assert!(outlines == expected.trim(), "---- actual\n{outlines}\n---- expected\n{}", expected.trim());
}

pub async fn assert_sample(format: &str, name: &str, bytes: &[u8], expected: &str) {
    // These samples have a conversation without messages.
    let left_out = u64::from(format == "claude" || matches!(name, "lobe-chat.json" | "cherry-studio.zip"));
    for instance in test_servers().await {
        let (report, chats) = import_outline(&instance, name, bytes).await;
        assert_eq!((report.format, &report.stopped, report.left_out), (Some(format), &None, left_out), "{report:?}");
        assert_outline(&chats, expected);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn chatgpt_samples_are_imported() {
    assert_sample(
        "chatgpt",
        "conversations.json",
        &sample("chatgpt/conversations.json"),
        include_str!("samples/chatgpt.txt"),
    )
    .await;
}

/// The same conversations, in two files, with the images and files that they name.
#[tokio::test]
async fn chatgpt_export_in_many_files_is_imported() {
    let all: Vec<Value> = serde_json::from_slice(&sample("chatgpt/conversations.json")).unwrap();
    let part = |some: &[Value]| serde_json::to_vec(some).unwrap();
    let picture = [PNG, b"a picture"].concat();
    let entries: [(&str, Vec<u8>); 7] = [
        ("export/conversations-000.json", part(&all[..1])),
        ("export/conversations-001.json", part(&all[1..])),
        ("export/file_00000000aaaa-sanitized.png", picture.clone()),
        ("export/file-LOGBOOK1-log.md", b"# Log".to_vec()),
        ("export/dalle-generations/file-MADE1-0f0f0f0f-0000-4000-8000-000000000000.png", picture.clone()),
        ("export/user-abc/file-PLOT1.dat", picture),
        ("export/conversation_asset_file_names.json", br#"{"file-PLOT1.dat": "plot.png"}"#.to_vec()),
    ];
    let entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    assert_sample(
        "chatgpt",
        "chatgpt.zip",
        &crate::bad_imports::zip_files(&entries),
        include_str!("samples/chatgpt_files.txt"),
    )
    .await;
}

#[tokio::test]
async fn claude_samples_are_imported() {
    assert_sample(
        "claude",
        "conversations.json",
        &sample("claude/conversations.json"),
        include_str!("samples/claude.txt"),
    )
    .await;
}

#[tokio::test]
async fn open_webui_samples_are_imported() {
    assert_sample("open-webui", "chats.json", &sample("open_webui/chats.json"), include_str!("samples/open_webui.txt"))
        .await;
}

#[tokio::test]
async fn librechat_samples_are_imported() {
    assert_sample(
        "librechat",
        "branches.json",
        &sample("librechat/branches.json"),
        include_str!("samples/librechat.txt"),
    )
    .await;
    assert_sample(
        "librechat",
        "recursive.json",
        &sample("librechat/recursive.json"),
        include_str!("samples/librechat_recursive.txt"),
    )
    .await;
}

#[tokio::test]
async fn llama_cpp_samples_are_imported() {
    assert_sample("llama-cpp", "list.json", &sample("llama_cpp/list.json"), include_str!("samples/llama_cpp_list.txt"))
        .await;
    assert_sample(
        "llama-cpp",
        "session.jsonl",
        &sample("llama_cpp/session.jsonl"),
        include_str!("samples/llama_cpp.txt"),
    )
    .await;
}

#[tokio::test]
async fn big_agi_samples_are_imported() {
    assert_sample("big-agi", "all.json", &sample("big_agi/all.json"), include_str!("samples/big_agi.txt")).await;
}

#[tokio::test]
async fn claude_code_samples_are_imported() {
    let expected = include_str!("samples/claude_code.txt");
    assert_sample("claude-code", "session.jsonl", &sample("claude_code/session.jsonl"), expected).await;
    let expected = include_str!("samples/claude_code_2025.txt");
    assert_sample("claude-code", "session_2025.jsonl", &sample("claude_code/session_2025.jsonl"), expected).await;
}

#[tokio::test]
async fn codex_samples_are_imported() {
    let expected = include_str!("samples/codex.txt");
    assert_sample("codex", "rollout.jsonl", &sample("codex/session.jsonl"), expected).await;
    let expected = include_str!("samples/codex_2025.txt");
    assert_sample("codex", "rollout.jsonl", &sample("codex/session_2025.jsonl"), expected).await;
    let expected = include_str!("samples/codex_rollout.txt");
    assert_sample("codex", "rollout.json", &sample("codex/rollout.json"), expected).await;
}

#[tokio::test]
async fn gemini_cli_samples_are_imported() {
    let expected = include_str!("samples/gemini_cli.txt");
    assert_sample("gemini-cli", "session.jsonl", &sample("gemini_cli/session.jsonl"), expected).await;
    let expected = include_str!("samples/gemini_cli_saved.txt");
    assert_sample("gemini-cli", "checkpoint-files.json", &sample("gemini_cli/checkpoint-files.json"), expected).await;
}

#[tokio::test]
async fn deepseek_samples_are_imported() {
    let expected = include_str!("samples/deepseek.txt");
    assert_sample("deepseek", "conversations.json", &sample("deepseek/conversations.json"), expected).await;
}

#[tokio::test]
async fn ai_studio_samples_are_imported() {
    let expected = include_str!("samples/ai_studio.txt");
    assert_sample("ai-studio", "Tides and ports", &sample("ai_studio/Tides and ports"), expected).await;
    let expected = include_str!("samples/ai_studio_parts.txt");
    assert_sample("ai-studio", "Parts.json", &sample("ai_studio/Parts and functions.json"), expected).await;
}

#[tokio::test]
async fn gemini_takeout_samples_are_imported() {
    let expected = include_str!("samples/gemini_takeout.txt");
    assert_sample("gemini-takeout", "MyActivity.json", &sample("gemini_takeout/MyActivity.json"), expected).await;
}

#[tokio::test]
async fn grok_samples_are_imported() {
    let expected = include_str!("samples/grok.txt");
    assert_sample("grok", "prod-grok-backend.json", &sample("grok/prod-grok-backend.json"), expected).await;
}

#[tokio::test]
async fn openai_messages_samples_are_imported() {
    let expected = include_str!("samples/openai_messages.txt");
    assert_sample("messages", "chats.json", &sample("openai_messages/chats.json"), expected).await;
    let expected = include_str!("samples/openai_messages_lines.txt");
    assert_sample("messages", "lines.jsonl", &sample("openai_messages/lines.jsonl"), expected).await;
}

/// Returns the creation times of the turns of the chat with this title, in seconds since 1970.
async fn times(instance: &TestServer, report: &ImportReport, title: &str) -> Vec<i64> {
    let chat = report.chats.iter().find(|chat| chat.title == title).and_then(|chat| chat.id).unwrap();
    let all = turns::list_of_chat(&instance.db, instance.owner, chat, 0, 1_000).await.unwrap();
    all.iter().map(|turn| turn.created_at.timestamp()).collect()
}

#[tokio::test]
async fn messages_keep_their_dates() {
    for instance in test_servers().await {
        let chatgpt = import_file(&instance, "conversations.json", &sample("chatgpt/conversations.json"), false).await;
        // This conversation claims to have begun later than its messages.
        let dates = times(&instance, &chatgpt, "Another model than the usual one").await;
        assert_eq!(dates, [1_749_990_001, 1_749_990_002, 1_749_990_005]);
        assert_eq!(
            times(&instance, &chatgpt, "Edits and regenerations").await,
            [1_704_067_201, 1_704_067_202, 1_704_067_290, 1_704_067_300, 1_704_067_310]
        );
        instance.close().await;
    }
}

/// A reply may have images but no documents, so its other attachments become text.
#[tokio::test]
async fn reply_files_become_text() {
    let message = |id: &str, role: &str, parent: Value, extra: Value| {
        json!({"id": id, "convId": "c", "type": "text", "timestamp": 1_757_000_001_000_i64, "role": role,
            "content": id, "parent": parent, "children": [], "extra": extra})
    };
    let extra = json!([
        {"type": "TEXT", "name": "notes.md", "content": "# Leaves"},
        {"type": "PDF", "name": "b.pdf", "base64Data": "/wD+"},
        {"type": "MCP_RESOURCE", "name": "tree", "content": "an oak"},
    ]);
    let all = json!([{
        "conv": {"currNode": "answer", "id": "c", "lastModified": 1_757_000_000_000_i64, "name": "Files"},
        "messages": [message("question", "user", Value::Null, json!([])), message("answer", "assistant", json!("question"), extra)],
    }]);
    for instance in test_servers().await {
        let (report, chats) = import_outline(&instance, "list.json", &serde_json::to_vec(&all).unwrap()).await;
        let reply = chats[0].last().unwrap();
        for words in ["notes.md\\n\\n# Leaves", "[b.pdf]", "tree\\n\\nan oak"] {
            assert!(reply.contains(words), "{words}: {reply}");
        }
        assert!(
            report.findings.iter().any(|finding| finding.text.contains("only user messages can have files")),
            "{report:?}"
        );
        instance.check_invariants().await;
        instance.close().await;
    }
}
