//! One chat with several models, each on a branch of its own: no model gets another's thoughts, every model gets its own
//! back unchanged, and every request is accepted on every branch (domain.md 4.7, the worked example).

use futures::FutureExt;
use futures::future::join_all;
use turnleaf_platform::endpoint::Api;

use crate::chats::{a_tool_loop, complete, plain};
use crate::talk::{At, Talk};

const fn at(provider: &'static str, api: Api, model: &'static str) -> At {
    At { provider, api, model }
}

const ACCOUNTS: [At; 11] = [
    at("anthropic", Api::Anthropic, "claude-sonnet-5-5"),
    at("openai", Api::OpenaiChat, "gpt-5.1"),
    at("gemini", Api::Gemini, "gemini-3-flash-preview"),
    at("responses", Api::OpenaiResponses, "gpt-5.6"),
    at("ollama", Api::Ollama, "qwen3:4b"),
    at("deepseek", Api::OpenaiChat, "deepseek-v4"),
    at("mistral", Api::OpenaiChat, "mistral-small-latest"),
    at("openrouter", Api::OpenaiChat, "anthropic/claude-haiku-4.5"),
    at("anthropic", Api::Anthropic, "claude-sonnet-4-5"),
    at("gemini", Api::Gemini, "gemini-2.5-flash"),
    at("responses", Api::OpenaiResponses, "o3"),
];

/// From one to the other and back, and on along all three branches.
async fn there_and_back(one: At, other: At) {
    let mut talk = Talk::new(11, &[one, other]).await.with_system_prompt("You are brief.").await;
    let mut said = Vec::new();
    talk.next = Some(one);
    complete(&talk.say("What is the weather?", a_tool_loop()).await);
    complete(&talk.say("Thanks", [plain("You are welcome.")]).await);
    let first = talk.leaf;
    said.extend(answers(&talk));

    talk.next = Some(other);
    complete(&talk.say("And what do you say?", a_tool_loop()).await);
    complete(&talk.say("Really?", [plain("Really.")]).await);
    let second = talk.leaf;
    holds(&talk, &said);

    said = answers(&talk);
    talk.next = Some(one);
    complete(&talk.say("And you again?", a_tool_loop()).await);
    complete(&talk.say("Enough", [plain("Enough.")]).await);
    holds(&talk, &said);

    for leaf in [first, second] {
        talk.leaf = leaf;
        complete(&talk.say("Here once more", a_tool_loop()).await);
    }
    assert_eq!(talk.validator.accepted(), 18, "{one:?} {other:?}");
    talk.house.check().await;
}

/// The text of everything that was said so far.
fn answers(talk: &Talk) -> Vec<String> {
    talk.validator.sent().into_iter().map(|sent| sent.text).filter(|text| !text.is_empty()).collect()
}

/// The last request told all of this once.
fn holds(talk: &Talk, said: &[String]) {
    let sent = talk.validator.sent();
    let before = serde_json::to_string(&sent.last().unwrap().before).unwrap();
    for text in said {
        for sentence in text.split("Reply ").filter(|sentence| !sentence.is_empty()) {
            assert_eq!(before.matches(sentence).count(), 1, "{sentence} in {before}");
        }
    }
}

async fn from_each_to_the_one_after(distance: usize) {
    let pairs = (0..ACCOUNTS.len()).map(|at| (ACCOUNTS[at], ACCOUNTS[(at + distance) % ACCOUNTS.len()]));
    join_all(pairs.map(|(one, other)| there_and_back(one, other).boxed_local())).await;
}

#[tokio::test]
async fn every_api_and_its_neighbour_take_turns() {
    from_each_to_the_one_after(1).await;
}

#[tokio::test]
async fn models_of_one_provider_take_turns() {
    let pairs = [(0, 8), (8, 0), (2, 9), (9, 2), (3, 10), (10, 3)];
    join_all(pairs.map(|(one, other)| there_and_back(ACCOUNTS[one], ACCOUNTS[other]).boxed_local())).await;
}
