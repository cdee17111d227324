//! Loops with tools that Turnleaf runs, through each API: calls that run, fail, are declined, stopped or handed to
//! the client. Every following request is accepted.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::{ApprovalDecision, ApprovalRequest};
use turnleaf::domain::{
    Author, Block, Content, Exchange, ExchangeKind, ModelParams, Role, Turn, TurnLocation, TurnStatus,
};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_platform::ids;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider_factory::create_provider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::calls::CallDecision;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{branches, chats};

use crate::chats::{assert_complete, plain_reply};
use crate::fake_toolbox::{FakeToolbox, ToolBehavior};
use crate::test_chat::{ModelAccount, TestChat};
use crate::test_server::TestServer;
use crate::validator::ProviderValidator;
use crate::validator::script::{ScriptPart, ScriptedReply, call_part, text_part, thinking_part};

const ACCOUNTS: [ModelAccount; 6] = [
    ModelAccount { provider: "anthropic", api: ProviderApi::Anthropic, model: "claude-sonnet-4-5" },
    ModelAccount { provider: "deepseek", api: ProviderApi::OpenaiChat, model: "deepseek-v4" },
    ModelAccount { provider: "responses", api: ProviderApi::OpenaiResponses, model: "gpt-5.6" },
    ModelAccount { provider: "responses-kept", api: ProviderApi::OpenaiResponses, model: "gpt-5.6" },
    ModelAccount { provider: "gemini", api: ProviderApi::Gemini, model: "gemini-3-pro-preview" },
    ModelAccount { provider: "ollama", api: ProviderApi::Ollama, model: "qwen3:4b" },
];

fn toolbox() -> FakeToolbox {
    FakeToolbox::default()
        .with_tool("look", ToolBehavior::Echo)
        .with_tool("fail", ToolBehavior::Fails)
        .with_tool("hang", ToolBehavior::Hangs)
        .with_asking_tool("write", ToolBehavior::Returns(json!("written")))
}

async fn start_chat(at: ModelAccount, lab: &FakeToolbox) -> TestChat {
    let validator = ProviderValidator::start(7).await;
    let provider = create_provider(&validator.endpoint(at.provider, at.api), HttpClient::default());
    let registry = ProviderRegistry::from_providers(vec![(provider, vec![at.model.to_owned()])]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let chat = Some(instance.chat_with_tools(&lab.offered_tools()).await);
    let thinking = turnleaf::domain::Thinking::High;
    TestChat { instance, validator, chat, leaf: None, next: None, thinking, params: ModelParams::default() }
}

fn script_calls(words: &str, calls: impl IntoIterator<Item = ScriptPart>) -> ScriptedReply {
    ScriptedReply::new([thinking_part("I need a tool."), text_part(words)].into_iter().chain(calls))
}

fn statuses(turn: &Turn) -> Vec<ToolStatus> {
    let status = |block: &Block| match &block.content {
        Content::ToolUse { status, .. } => Some(*status),
        _ => None,
    };
    turn.blocks.iter().filter_map(status).collect()
}

fn pending_approval(turn: &Turn) -> Option<(Block, ApprovalRequest)> {
    turn.blocks.iter().find_map(|block| Some((block.clone(), ApprovalRequest::from_block(block)?)))
}

async fn run_every_outcome(at: ModelAccount) {
    let lab = toolbox();
    let mut talk = start_chat(at, &lab).await;
    let look = || call_part("lab__look", json!({ "n": 1 }));
    // Reasoning and calls alternate: a failed call beside a successful one, then a call of an unknown tool.
    let steps = [
        script_calls("Once.", [look()]),
        script_calls("Twice.", [call_part("lab__fail", json!({})), look()]),
        plain_reply("That is all."),
    ];
    assert_complete(&talk.send_and_wait("Go", steps).await);
    // A call is declined with a reason, then one is allowed.
    for decision in [ApprovalDecision::Deny, ApprovalDecision::Allow] {
        let script =
            [script_calls("May I?", [call_part("lab__write", json!({ "a": 1 })), look()]), plain_reply("So be it.")];
        let id = talk.start_reply("Write", script).await.assistant_turn.id;
        let turn = talk.instance.wait_until(id, |turn| pending_approval(turn).is_some()).await;
        let (call, ask) = pending_approval(&turn).unwrap();
        let (service, owner) = (&talk.instance.service, talk.instance.owner);
        let reason = Some("not that file".to_owned());
        let answer = CallDecision { reason, ..CallDecision::new(&ask.hash, decision) };
        service.decide_tool_call(owner, Actor::default(), (id, call.id), answer).await.unwrap();
        assert_complete(&talk.instance.wait_until_ended(id).await);
    }
    // One call is stopped, then the whole reply.
    let script =
        [script_calls("This takes long.", [call_part("lab__hang", json!({})), look()]), plain_reply("Stopped, then.")];
    let id = talk.start_reply("Hang", script).await.assistant_turn.id;
    let hangs = |turn: &Turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done];
    let turn = talk.instance.wait_until(id, hangs).await;
    let hung = turn.blocks.iter().find(|block| matches!(block.content, Content::ToolUse { .. })).unwrap();
    talk.instance.service.stop_tool_call(talk.instance.owner, id, hung.id).await.unwrap();
    assert_complete(&talk.instance.wait_until_ended(id).await);
    let id = talk
        .start_reply("Hang again", [script_calls("As you like.", [call_part("lab__hang", json!({})), look()])])
        .await;
    let id = id.assistant_turn.id;
    talk.instance.wait_until(id, hangs).await;
    talk.instance.service.stop_turn(talk.instance.owner, id).await.unwrap();
    assert_complete(&talk.send_and_wait("And now?", [plain_reply("Nothing.")]).await);
    // A call is handed over to the client, which never answers.
    let handed =
        talk.send_and_wait("Yours", [script_calls("Yours.", [call_part("client_tool", json!({})), look()])]).await;
    assert_eq!(statuses(&handed), [ToolStatus::HandedOver, ToolStatus::Done]);
    assert_complete(&talk.send_and_wait("Never mind", [plain_reply("Very well.")]).await);
    // A call is handed over and the client answers it, with and without text beside the result.
    for words in [Some("Here it is."), None] {
        let handed = talk
            .send_and_wait("Yours again", [script_calls("Yours.", [call_part("client_tool", json!({})), look()])])
            .await;
        assert_complete(&handed);
        talk.validator.push_script([script_calls("I go on.", [look()]), plain_reply("Thanks.")]);
        assert_complete(&answer_approval(&mut talk, &handed, words).await);
        assert_complete(&talk.send_and_wait("Bye", [plain_reply("Bye.")]).await);
    }
    talk.instance.check_invariants().await;
    talk.validator.accepted_count();
}

/// Sends the client's message with the result of its call. Returns the reply.
async fn answer_approval(talk: &mut TestChat, reply: &Turn, words: Option<&str>) -> Turn {
    let (instance, owner) = (&talk.instance, talk.instance.owner);
    let now = SystemClock.now();
    let called = reply.blocks.iter().find_map(|block| match &block.content {
        Content::ToolUse { tool_use_id, tool_name, status: ToolStatus::HandedOver, .. } => {
            Some((block.id, tool_use_id.clone(), tool_name.clone()))
        }
        _ => None,
    });
    let (call, tool_use_id, tool_name) = called.unwrap();
    let result = Content::ToolResult {
        tool_use_id,
        tool_name,
        result: json!({ "from": "the client" }),
        success: true,
        is_error: false,
        metadata: Value::Null,
    };
    let mut tx = instance.db.begin().await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, reply.chat_id, now).await.unwrap().unwrap();
    let exchange = Exchange {
        id: ids::mint(),
        chat_id: reply.chat_id,
        branch_id: reply.branch_id,
        user_turn_id: None,
        kind: ExchangeKind::Send,
        is_thinking_mode: true,
        params: ModelParams::default(),
        not_sent: Vec::new(),
        client_request_id: None,
        created_at: now,
    };
    let contents = [Some((result, Some(call))), words.map(|words| (Content::text(words), None))];
    let block = |(seq, (content, parent_block_id)): (u32, (Content, _))| Block {
        parent_block_id,
        ..Block::new(ids::mint(), (ord, seq), Author::User, content, now)
    };
    let location = TurnLocation {
        chat_id: reply.chat_id,
        ord,
        depth: reply.depth + 1,
        branch_id: reply.branch_id,
        exchange_id: exchange.id,
        prev_turn_id: Some(reply.id),
    };
    let message = Turn {
        status: TurnStatus::Complete,
        completed_at: Some(now),
        blocks: (0..).zip(contents.into_iter().flatten()).map(block).collect(),
        ..Turn::new(ids::mint(), location, Role::User, now)
    };
    let exchange = Exchange { user_turn_id: Some(message.id), ..exchange };
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &message).await.unwrap();
    assert!(branches::set_head(&mut tx, reply.branch_id, Some(reply.id), message.id).await.unwrap());
    tx.commit().await.unwrap();
    let place = PlacementRequest::default();
    let params = ModelParams { thinking: Some(talk.thinking), ..ModelParams::default() };
    let started = instance.service.retry_turn(owner, message.id, place, params, None).await.unwrap();
    talk.leaf = Some(started.assistant_turn.id);
    talk.instance.wait_until_ended(started.assistant_turn.id).await
}

#[tokio::test]
async fn next_request_is_accepted_after_every_call_outcome() {
    join_all(ACCOUNTS.map(|at| run_every_outcome(at).boxed_local())).await;
}

#[tokio::test]
async fn tools_with_any_schema_and_long_descriptions_are_accepted() {
    let alternatives =
        json!([{ "properties": { "a": { "const": 1 } } }, { "properties": { "b": { "type": "array" } } }]);
    let lab = toolbox()
        .with_described_tool("bare", "", json!({}))
        .with_described_tool("unnamed", "", json!({ "type": "object" }))
        .with_described_tool("either", &"Many words. ".repeat(300), json!({ "anyOf": alternatives }))
        .with_described_tool("one", "", json!({ "type": ["object", "null"], "oneOf": alternatives, "not": {} }))
        .with_described_tool("odd names", "", json!({ "properties": { "a b": { "type": "array" } } }))
        .with_described_tool(
            "referred",
            "",
            json!({ "$ref": "#/$defs/R", "$defs": { "R": { "allOf": alternatives } } }),
        );
    let openai = ModelAccount { provider: "openai", api: ProviderApi::OpenaiChat, model: "gpt-5.1" };
    for at in ACCOUNTS.into_iter().chain([openai]) {
        let mut talk = start_chat(at, &lab).await;
        assert_complete(&talk.send_and_wait("Hi", [plain_reply("Hello.")]).await);
        talk.validator.accepted_count();
    }
}
