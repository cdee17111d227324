//! One chat with several models, each on its own branch: no model gets another's reasoning, every model gets its own
//! back unchanged, and every request is accepted on every branch (docs/reference/domain.md 4.7).

use futures::FutureExt;
use futures::future::join_all;
use turnleaf_platform::endpoint::ProviderApi;

use crate::chats::{assert_complete, plain_reply, tool_loop_script};
use crate::test_chat::{ModelAccount, TestChat};

const fn account(provider: &'static str, api: ProviderApi, model: &'static str) -> ModelAccount {
    ModelAccount { provider, api, model }
}

const ACCOUNTS: [ModelAccount; 11] = [
    account("anthropic", ProviderApi::Anthropic, "claude-sonnet-5-5"),
    account("openai", ProviderApi::OpenaiChat, "gpt-5.1"),
    account("gemini", ProviderApi::Gemini, "gemini-3-flash-preview"),
    account("responses", ProviderApi::OpenaiResponses, "gpt-5.6"),
    account("ollama", ProviderApi::Ollama, "qwen3:4b"),
    account("deepseek", ProviderApi::OpenaiChat, "deepseek-v4"),
    account("mistral", ProviderApi::OpenaiChat, "mistral-small-latest"),
    account("openrouter", ProviderApi::OpenaiChat, "anthropic/claude-haiku-4.5"),
    account("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5"),
    account("gemini", ProviderApi::Gemini, "gemini-2.5-flash"),
    account("responses", ProviderApi::OpenaiResponses, "o3"),
];

/// Chats with one model, then with the other, then with the first again, and continues all three branches.
async fn switch_and_return(one: ModelAccount, other: ModelAccount) {
    let mut talk = TestChat::new(11, &[one, other]).await.with_system_prompt("You are brief.").await;
    let mut texts = Vec::new();
    talk.next = Some(one);
    assert_complete(&talk.send_and_wait("What is the weather?", tool_loop_script()).await);
    assert_complete(&talk.send_and_wait("Thanks", [plain_reply("You are welcome.")]).await);
    let first = talk.leaf;
    texts.extend(reply_texts(&talk));

    talk.next = Some(other);
    assert_complete(&talk.send_and_wait("And what do you say?", tool_loop_script()).await);
    assert_complete(&talk.send_and_wait("Really?", [plain_reply("Really.")]).await);
    let second = talk.leaf;
    assert_history_kept(&talk, &texts);

    texts = reply_texts(&talk);
    talk.next = Some(one);
    assert_complete(&talk.send_and_wait("And you again?", tool_loop_script()).await);
    assert_complete(&talk.send_and_wait("Enough", [plain_reply("Enough.")]).await);
    assert_history_kept(&talk, &texts);

    for leaf in [first, second] {
        talk.leaf = leaf;
        assert_complete(&talk.send_and_wait("Here once more", tool_loop_script()).await);
    }
    assert_eq!(talk.validator.accepted_count(), 18, "{one:?} {other:?}");
    talk.instance.check_invariants().await;
}

/// Returns the texts of all replies so far.
fn reply_texts(talk: &TestChat) -> Vec<String> {
    talk.validator.sent_replies().into_iter().map(|sent| sent.text).filter(|text| !text.is_empty()).collect()
}

/// Asserts that the last request contains each of these texts once.
fn assert_history_kept(talk: &TestChat, texts: &[String]) {
    let sent = talk.validator.sent_replies();
    let before = serde_json::to_string(&sent.last().unwrap().before).unwrap();
    for text in texts {
        for sentence in text.split("Reply ").filter(|sentence| !sentence.is_empty()) {
            assert_eq!(before.matches(sentence).count(), 1, "{sentence} in {before}");
        }
    }
}

async fn switch_between_neighbours(distance: usize) {
    let pairs = (0..ACCOUNTS.len()).map(|at| (ACCOUNTS[at], ACCOUNTS[(at + distance) % ACCOUNTS.len()]));
    join_all(pairs.map(|(one, other)| switch_and_return(one, other).boxed_local())).await;
}

#[tokio::test]
async fn switching_between_neighbouring_apis_is_accepted() {
    switch_between_neighbours(1).await;
}

#[tokio::test]
async fn switching_between_models_of_one_provider_is_accepted() {
    let pairs = [(0, 8), (8, 0), (2, 9), (9, 2), (3, 10), (10, 3)];
    join_all(pairs.map(|(one, other)| switch_and_return(ACCOUNTS[one], ACCOUNTS[other]).boxed_local())).await;
}
