//! Replies that break off anywhere in any step of a tool loop: the next request, which contains what is left of them,
//! is accepted.

use futures::FutureExt;
use futures::future::join_all;
use turnleaf::domain::TurnStatus;
use turnleaf_platform::endpoint::ProviderApi;

use crate::chats::{assert_complete, plain_reply, tool_loop_script};
use crate::test_chat::{ModelAccount, TestChat};
use crate::validator::script::ReplyEnd;

/// Breaks off the first, the second and the last response of a tool loop at this place, in permille.
async fn assert_interruption_accepted(at: ModelAccount, place: usize) {
    let mut talk = TestChat::new(place as u64, &[at]).await;
    let end = ReplyEnd::CutAtPermille(place);
    let [first, second, third] = tool_loop_script();
    for script in [
        vec![second.clone().with_end(end)],
        vec![first.clone(), second.with_end(end)],
        vec![first, third.with_end(end)],
    ] {
        let turn = talk.send_and_wait("What is the weather?", script).await;
        let is_over = matches!(turn.status, TurnStatus::Complete | TurnStatus::Error);
        assert!(is_over, "{at:?} at {place}: {:?}", turn.status);
        assert_complete(&talk.send_and_wait("And then?", [plain_reply("Then nothing.")]).await);
    }
    talk.instance.check_invariants().await;
    talk.validator.accepted_count();
}

#[tokio::test]
async fn interrupted_reply_history_is_accepted() {
    let accounts = [
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-5-5"),
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5"),
        ("deepseek", ProviderApi::OpenaiChat, "deepseek-v4"),
        ("mistral", ProviderApi::OpenaiChat, "mistral-small-latest"),
        ("openrouter", ProviderApi::OpenaiChat, "anthropic/claude-haiku-4.5"),
        ("llamacpp", ProviderApi::OpenaiChat, "qwen3.gguf"),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5.6"),
        ("gemini", ProviderApi::Gemini, "gemini-3-pro-preview"),
        ("ollama", ProviderApi::Ollama, "qwen3:4b"),
    ];
    // The places differ by account, so that together they lie close.
    let places = |number: usize| (40 + 19 * number..1000).step_by(310);
    let chats = accounts.into_iter().enumerate().flat_map(|(number, (provider, api, model))| {
        places(number)
            .map(move |place| assert_interruption_accepted(ModelAccount { provider, api, model }, place).boxed_local())
    });
    join_all(chats).await;
}
