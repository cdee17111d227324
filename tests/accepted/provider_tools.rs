//! Tools that providers run themselves, through each API that has them: searches and code within one response, and
//! across the responses of a reply that the provider pauses. Every following request is accepted, by the same model
//! and by every other.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::{Author, Content, FailureKind, Turn, TurnStatus, limits};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::provider::Provider;
use turnleaf_service::chats::NewChat;
use turnleaf_store::turns::generations::{self, Generation, requests};

use crate::chats::{assert_complete, plain_reply};
use crate::test_chat::{ModelAccount, TestChat};
use crate::tool_providers::ProviderWithBuiltInTools;
use crate::validator::script::{BuiltInTool, ReplyEnd, ScriptPart, ScriptedReply, text_part, thinking_part};

const fn account(provider: &'static str, api: ProviderApi, model: &'static str) -> ModelAccount {
    ModelAccount { provider, api, model }
}

const CLAUDE: ModelAccount = account("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-6");
/// The accounts whose providers run tools themselves.
const PROVIDERS_WITH_TOOLS: [ModelAccount; 5] = [
    CLAUDE,
    account("responses", ProviderApi::OpenaiResponses, "gpt-5.6"),
    account("responses-kept", ProviderApi::OpenaiResponses, "gpt-5.6"),
    account("gemini", ProviderApi::Gemini, "gemini-3-pro-preview"),
    account("gemini", ProviderApi::Gemini, "gemini-2.5-flash"),
];
const PROVIDERS_WITHOUT_TOOLS: [ModelAccount; 2] =
    [account("deepseek", ProviderApi::OpenaiChat, "deepseek-v4"), account("ollama", ProviderApi::Ollama, "qwen3:4b")];

/// Starts a chat that offers all tools of the providers.
async fn start_chat(accounts: &[ModelAccount]) -> TestChat {
    let with_own = |provider: Arc<dyn Provider>| match provider.api() {
        "openai_responses" => Arc::new(ProviderWithBuiltInTools(provider)),
        _ => provider,
    };
    let mut talk = TestChat::with_provider_wrapper(5, accounts, with_own).await;
    let on = ["provider/web_search", "provider/code_execution"].map(str::to_owned).to_vec();
    let tools = Some(ToolChoice { on, client: Vec::new() });
    let (provider, model) = (Some(accounts[0].provider.to_owned()), Some(accounts[0].model.to_owned()));
    let new = NewChat { tools, provider, model, ..NewChat::default() };
    talk.chat = Some(talk.instance.service.create_chat(talk.instance.owner, new).await.unwrap().value.0.id);
    talk
}

/// Returns a reply that searches and runs code, with text in between.
fn search_reply() -> ScriptedReply {
    ScriptedReply::new([
        thinking_part("I look."),
        text_part("One moment."),
        ScriptPart::BuiltInCall(BuiltInTool::Search),
        text_part("Found."),
        thinking_part("Now I count."),
        ScriptPart::BuiltInCall(BuiltInTool::Code),
        text_part("It is four."),
    ])
}

/// Returns the calls that the provider ran: name, status, and whether exactly one result belongs to it.
fn own_calls(turn: &Turn) -> Vec<(&str, ToolStatus, bool)> {
    let calls = turn.blocks.iter().filter_map(|block| match &block.content {
        Content::ToolUse { tool_name, status, .. } if block.is_run_by_provider() => {
            let is_result = |other: &&turnleaf::domain::Block| {
                other.author == Author::Tool && other.parent_block_id == Some(block.id)
            };
            Some((tool_name.as_str(), *status, turn.blocks.iter().filter(is_result).count() == 1))
        }
        _ => None,
    });
    calls.collect()
}

async fn generations_of(talk: &TestChat, turn: &Turn) -> Vec<Generation> {
    generations::list(&talk.instance.db, talk.instance.owner, turn.id).await.unwrap()
}

/// Returns the request body of each generation of a turn.
async fn bodies(talk: &TestChat, made: &[Generation]) -> Vec<Value> {
    let body = async |made: &Generation| {
        let body = requests::find(&talk.instance.db, talk.instance.owner, made.id).await.unwrap();
        serde_json::from_slice(&body.unwrap()).unwrap()
    };
    join_all(made.iter().map(body)).await
}

#[tokio::test]
async fn paused_reply_is_resent_unchanged_until_complete() {
    let mut talk = start_chat(&[CLAUDE]).await;
    let begins = ScriptedReply::new([
        thinking_part("I look."),
        text_part("One moment."),
        ScriptPart::BuiltInCall(BuiltInTool::Code),
        ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Search),
    ]);
    let goes_on = ScriptedReply::new([
        ScriptPart::BuiltInResult,
        text_part("Found."),
        ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Code),
    ]);
    let ends = ScriptedReply::new([ScriptPart::BuiltInResult, text_part("It is four.")]);
    let turn =
        talk.send_and_wait("Count", [begins.with_end(ReplyEnd::Pause), goes_on.with_end(ReplyEnd::Pause), ends]).await;
    assert_complete(&turn);
    let done = |name| (name, ToolStatus::Done, true);
    let code = "bash_code_execution";
    assert_eq!(own_calls(&turn), [done(code), done("web_search"), done(code)]);
    assert!(turn.content_text().starts_with("Reply 1.1: One moment."), "{}", turn.content_text());
    assert!(turn.content_text().ends_with("Reply 3.1: It is four."), "{}", turn.content_text());
    // One turn took three requests, and its usage and cost include all of them.
    let made = generations_of(&talk, &turn).await;
    assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (Some(60), Some(90)));
    let paid: u64 = made.iter().map(|made| made.cost_micros.unwrap()).sum();
    assert_eq!(turn.cost.as_ref().map(|cost| cost.micros), Some(paid));
    // The second and the third request end with the reply so far, unchanged.
    let sent = talk.validator.sent_replies();
    let bodies = bodies(&talk, &made).await;
    for (at, body) in bodies.iter().enumerate().skip(1) {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["role"], &last["content"]), (&json!("assistant"), &json!(sent[at - 1].content)));
    }
    // Each continuation names the container in which the code ran.
    let containers: Vec<Value> = bodies.iter().map(|body| body["container"].clone()).collect();
    assert_eq!(containers, [Value::Null, json!("container_0001"), json!("container_0002")]);
    assert_complete(&talk.send_and_wait("Thanks", [plain_reply("You are welcome.")]).await);
    talk.validator.accepted_count();
    talk.instance.check_invariants().await;
}

#[tokio::test]
async fn endlessly_paused_reply_is_ended_and_stop_between_pauses_works() {
    let mut talk = start_chat(&[CLAUDE]).await;
    let pauses = |number: u32| {
        let found = (number > 0).then_some(ScriptPart::BuiltInResult);
        let parts =
            found.into_iter().chain([text_part("On and on."), ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Search)]);
        ScriptedReply::new(parts).with_end(ReplyEnd::Pause)
    };
    let rounds = limits::TOOL_ROUNDS + 1;
    let turn = talk.send_and_wait("Go", (0..rounds).map(pauses)).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::LimitRounds));
    assert_eq!(generations_of(&talk, &turn).await.len(), rounds as usize);
    let calls = own_calls(&turn);
    assert!(calls.iter().all(|(.., has_result)| *has_result), "{calls:?}");
    assert!(calls.iter().all(|(_, status, _)| !status.is_open()), "{calls:?}");
    assert_complete(&talk.send_and_wait("Enough", [plain_reply("Enough.")]).await);
    // The reply is stopped after a pause.
    let stalls = ScriptedReply::new([ScriptPart::BuiltInResult, text_part("And then it hangs for ever.")])
        .with_end(ReplyEnd::Stall);
    let id = talk.start_reply("Again", [pauses(0), stalls]).await.assistant_turn.id;
    talk.instance.wait_until(id, |turn| turn.content_text().matches("Reply ").count() == 2).await;
    let stopped = talk.instance.service.stop_turn(talk.instance.owner, id).await.unwrap();
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    assert_complete(&talk.send_and_wait("Well?", [search_reply()]).await);
    // The connection breaks after a pause.
    let cut = ScriptedReply::new([ScriptPart::BuiltInResult, text_part("This breaks off somewhere.")])
        .with_end(ReplyEnd::Cut);
    let broken = talk.send_and_wait("And now", [pauses(0), cut]).await;
    assert_eq!(broken.status, TurnStatus::Error);
    assert_complete(&talk.send_and_wait("Well?", [search_reply()]).await);
    talk.validator.accepted_count();
    talk.instance.check_invariants().await;
}

/// Chats with one model, then with the other, then with the first on both branches.
async fn switch_and_return(one: ModelAccount, other: ModelAccount) {
    let mut talk = start_chat(&[one, other]).await;
    let turn = talk.send_and_wait("Look and count", [search_reply()]).await;
    assert_complete(&turn);
    assert!(own_calls(&turn).iter().all(|(_, status, has_result)| *status == ToolStatus::Done && *has_result));
    // Gemini's search is no part of the response; its sources report what it found.
    let least = if one.api == ProviderApi::Gemini { 1 } else { 2 };
    assert!(own_calls(&turn).len() >= least, "{one:?}: {:?}", own_calls(&turn));
    assert_complete(&talk.send_and_wait("Once more", [search_reply()]).await);
    let cut = ScriptedReply::new([
        text_part("I look."),
        ScriptPart::BuiltInCall(BuiltInTool::Search),
        text_part("Broken off in the middle"),
    ])
    .with_end(ReplyEnd::Cut);
    assert_eq!(talk.send_and_wait("And again", [cut]).await.status, TurnStatus::Error);
    assert_complete(&talk.send_and_wait("Well?", [search_reply()]).await);
    let first = talk.leaf;
    talk.next = Some(other);
    assert_complete(&talk.send_and_wait("And you?", [search_reply()]).await);
    assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Sure.")]).await);
    talk.next = Some(one);
    assert_complete(&talk.send_and_wait("And you again?", [search_reply()]).await);
    talk.leaf = first;
    assert_complete(&talk.send_and_wait("Here once more", [search_reply()]).await);
    talk.validator.accepted_count();
    talk.instance.check_invariants().await;
}

#[tokio::test]
async fn provider_tool_results_are_resent_only_to_their_provider() {
    let others: Vec<ModelAccount> = PROVIDERS_WITH_TOOLS.into_iter().chain(PROVIDERS_WITHOUT_TOOLS).collect();
    let different =
        |one: ModelAccount| move |other: &&ModelAccount| (other.provider, other.model) != (one.provider, one.model);
    let pairs =
        PROVIDERS_WITH_TOOLS.iter().flat_map(|one| others.iter().filter(different(*one)).map(|other| (*one, *other)));
    join_all(pairs.map(|(one, other)| switch_and_return(one, other).boxed_local())).await;
}

/// The provider's reply breaks off at many places; the request after it is accepted every time.
#[tokio::test]
async fn next_request_is_accepted_after_interrupted_search() {
    join_all(PROVIDERS_WITH_TOOLS.map(|one| {
        async move {
            for permille in (40..1000).step_by(120) {
                let mut talk = start_chat(&[one]).await;
                assert_complete(&talk.send_and_wait("Look", [search_reply()]).await);
                let _ended =
                    talk.send_and_wait("Again", [search_reply().with_end(ReplyEnd::CutAtPermille(permille))]).await;
                assert_complete(&talk.send_and_wait("Well?", [search_reply()]).await);
                talk.validator.accepted_count();
            }
        }
        .boxed_local()
    }))
    .await;
}
