//! Tools that the providers run themselves, through each API that has such: searches and code inside of one response, and
//! across the responses of a reply that the provider pauses. Every request that follows is accepted, of the same model
//! and of every other.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use turnleaf::domain::block::ToolStatus;
use turnleaf::domain::tool::ToolChoice;
use turnleaf::domain::{Author, Content, FailureKind, Turn, TurnStatus, limits};
use turnleaf_platform::endpoint::Api;
use turnleaf_providers::provider::Provider;
use turnleaf_service::chats::NewChat;
use turnleaf_store::generations::{self, Generation, requests};

use crate::chats::{complete, plain};
use crate::talk::{At, Talk};
use crate::tools::WithOwnTools;
use crate::validator::script::{End, Own, Part, Say, text, thinking};

const fn at(provider: &'static str, api: Api, model: &'static str) -> At {
    At { provider, api, model }
}

const CLAUDE: At = at("anthropic", Api::Anthropic, "claude-sonnet-4-6");
/// Those whose providers run tools themselves.
const WITH: [At; 5] = [
    CLAUDE,
    at("responses", Api::OpenaiResponses, "gpt-5.6"),
    at("responses-kept", Api::OpenaiResponses, "gpt-5.6"),
    at("gemini", Api::Gemini, "gemini-3-pro-preview"),
    at("gemini", Api::Gemini, "gemini-2.5-flash"),
];
const WITHOUT: [At; 2] = [at("deepseek", Api::OpenaiChat, "deepseek-v4"), at("ollama", Api::Ollama, "qwen3:4b")];

/// A chat in which everything is on that the providers run.
async fn talk(accounts: &[At]) -> Talk {
    let with_own = |provider: Arc<dyn Provider>| match provider.api() {
        "openai_responses" => Arc::new(WithOwnTools(provider)),
        _ => provider,
    };
    let mut talk = Talk::of(5, accounts, with_own).await;
    let on = ["provider/web_search", "provider/code_execution"].map(str::to_owned).to_vec();
    let tools = Some(ToolChoice { on, client: Vec::new() });
    let (provider, model) = (Some(accounts[0].provider.to_owned()), Some(accounts[0].model.to_owned()));
    let new = NewChat { tools, provider, model, ..NewChat::default() };
    talk.chat = Some(talk.house.service.create_chat(talk.house.owner, new).await.unwrap().it.0.id);
    talk
}

/// Searches, runs code, and says something between.
fn looks() -> Say {
    Say::new([
        thinking("I look."),
        text("One moment."),
        Part::Own(Own::Search),
        text("Found."),
        thinking("Now I count."),
        Part::Own(Own::Code),
        text("It is four."),
    ])
}

/// The calls that the provider ran, each with what became of it and whether its result stands below it.
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

async fn made(talk: &Talk, turn: &Turn) -> Vec<Generation> {
    generations::list(&talk.house.db, talk.house.owner, turn.id).await.unwrap()
}

/// What was asked in each request of a turn.
async fn bodies(talk: &Talk, made: &[Generation]) -> Vec<Value> {
    let body = async |made: &Generation| {
        let body = requests::find(&talk.house.db, talk.house.owner, made.id).await.unwrap();
        serde_json::from_slice(&body.unwrap()).unwrap()
    };
    join_all(made.iter().map(body)).await
}

#[tokio::test]
async fn a_paused_reply_is_sent_back_as_it_came_until_it_is_over() {
    let mut talk = talk(&[CLAUDE]).await;
    let begins = Say::new([thinking("I look."), text("One moment."), Part::Own(Own::Code), Part::Begun(Own::Search)]);
    let goes_on = Say::new([Part::Found, text("Found."), Part::Begun(Own::Code)]);
    let ends = Say::new([Part::Found, text("It is four.")]);
    let turn = talk.say("Count", [begins.ending(End::Pause), goes_on.ending(End::Pause), ends]).await;
    complete(&turn);
    let done = |name| (name, ToolStatus::Done, true);
    let code = "bash_code_execution";
    assert_eq!(own_calls(&turn), [done(code), done("web_search"), done(code)]);
    assert!(turn.content_text().starts_with("Reply 1.1: One moment."), "{}", turn.content_text());
    assert!(turn.content_text().ends_with("Reply 3.1: It is four."), "{}", turn.content_text());
    // One turn, three requests, all of them paid for.
    let made = made(&talk, &turn).await;
    assert_eq!(made.iter().map(|made| made.step).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (Some(60), Some(90)));
    let paid: u64 = made.iter().map(|made| made.cost_micros.unwrap()).sum();
    assert_eq!(turn.cost.as_ref().map(|cost| cost.micros), Some(paid));
    // The second and the third end with what was said so far, as it was said.
    let sent = talk.validator.sent();
    let bodies = bodies(&talk, &made).await;
    for (at, body) in bodies.iter().enumerate().skip(1) {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["role"], &last["content"]), (&json!("assistant"), &json!(sent[at - 1].said)));
    }
    // In the container in which the code ran.
    let containers: Vec<Value> = bodies.iter().map(|body| body["container"].clone()).collect();
    assert_eq!(containers, [Value::Null, json!("container_0001"), json!("container_0002")]);
    complete(&talk.say("Thanks", [plain("You are welcome.")]).await);
    talk.validator.accepted();
    talk.house.check().await;
}

#[tokio::test]
async fn a_reply_that_pauses_for_ever_is_ended_and_a_stop_between_is_heard() {
    let mut talk = talk(&[CLAUDE]).await;
    let pauses = |number: u32| {
        let found = (number > 0).then_some(Part::Found);
        let parts = found.into_iter().chain([text("On and on."), Part::Begun(Own::Search)]);
        Say::new(parts).ending(End::Pause)
    };
    let rounds = limits::TOOL_ROUNDS + 1;
    let turn = talk.say("Go", (0..rounds).map(pauses)).await;
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::LimitRounds));
    assert_eq!(made(&talk, &turn).await.len(), rounds as usize);
    let calls = own_calls(&turn);
    assert!(calls.iter().all(|(.., has_result)| *has_result), "{calls:?}");
    assert!(calls.iter().all(|(_, status, _)| !status.is_open()), "{calls:?}");
    complete(&talk.say("Enough", [plain("Enough.")]).await);
    // Stopped in what comes after a pause.
    let stalls = Say::new([Part::Found, text("And then it hangs for ever.")]).ending(End::Stall);
    let id = talk.begin("Again", [pauses(0), stalls]).await.assistant_turn.id;
    talk.house.until(id, |turn| turn.content_text().matches("Reply ").count() == 2).await;
    let stopped = talk.house.service.stop_turn(talk.house.owner, id).await.unwrap();
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    complete(&talk.say("Well?", [looks()]).await);
    // Broken off behind a pause.
    let cut = Say::new([Part::Found, text("This breaks off somewhere.")]).ending(End::Cut);
    let broken = talk.say("And now", [pauses(0), cut]).await;
    assert_eq!(broken.status, TurnStatus::Error);
    complete(&talk.say("Well?", [looks()]).await);
    talk.validator.accepted();
    talk.house.check().await;
}

/// With one model for a while, then with the other, and on with the first.
async fn there_and_back(one: At, other: At) {
    let mut talk = talk(&[one, other]).await;
    let turn = talk.say("Look and count", [looks()]).await;
    complete(&turn);
    assert!(own_calls(&turn).iter().all(|(_, status, has_result)| *status == ToolStatus::Done && *has_result));
    // A search of Google's leaves no part; what it found stands in the sources.
    let least = if one.api == Api::Gemini { 1 } else { 2 };
    assert!(own_calls(&turn).len() >= least, "{one:?}: {:?}", own_calls(&turn));
    complete(&talk.say("Once more", [looks()]).await);
    let cut = Say::new([text("I look."), Part::Own(Own::Search), text("Broken off in the middle")]).ending(End::Cut);
    assert_eq!(talk.say("And again", [cut]).await.status, TurnStatus::Error);
    complete(&talk.say("Well?", [looks()]).await);
    let first = talk.leaf;
    talk.next = Some(other);
    complete(&talk.say("And you?", [looks()]).await);
    complete(&talk.say("Sure?", [plain("Sure.")]).await);
    talk.next = Some(one);
    complete(&talk.say("And you again?", [looks()]).await);
    talk.leaf = first;
    complete(&talk.say("Here once more", [looks()]).await);
    talk.validator.accepted();
    talk.house.check().await;
}

#[tokio::test]
async fn what_a_provider_ran_goes_back_to_it_and_to_no_other() {
    let others: Vec<At> = WITH.into_iter().chain(WITHOUT).collect();
    let different = |one: At| move |other: &&At| (other.provider, other.model) != (one.provider, one.model);
    let pairs = WITH.iter().flat_map(|one| others.iter().filter(different(*one)).map(|other| (*one, *other)));
    join_all(pairs.map(|(one, other)| there_and_back(one, other).boxed_local())).await;
}

/// Where a provider's reply may break off, it breaks off: none of what is left is refused.
#[tokio::test]
async fn wherever_a_search_breaks_off_the_next_request_is_accepted() {
    join_all(WITH.map(|one| {
        async move {
            for permille in (40..1000).step_by(120) {
                let mut talk = talk(&[one]).await;
                complete(&talk.say("Look", [looks()]).await);
                let _ended = talk.say("Again", [looks().ending(End::CutAt(permille))]).await;
                complete(&talk.say("Well?", [looks()]).await);
                talk.validator.accepted();
            }
        }
        .boxed_local()
    }))
    .await;
}
