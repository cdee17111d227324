//! Replies that break off at any byte of any step: what is left of them goes into the next request, and it is accepted.

use futures::FutureExt;
use futures::future::join_all;
use turnleaf::domain::TurnStatus;
use turnleaf_platform::endpoint::Api;

use crate::chats::{a_tool_loop, complete, plain};
use crate::talk::{At, Talk};
use crate::validator::script::End;

/// Breaks the first, the second and the last reply of a tool loop at this place, one after the other.
async fn breaks_off(at: At, place: usize) {
    let mut talk = Talk::new(place as u64, &[at]).await;
    let end = End::CutAt(place);
    let [first, second, third] = a_tool_loop();
    for script in
        [vec![second.clone().ending(end)], vec![first.clone(), second.ending(end)], vec![first, third.ending(end)]]
    {
        let turn = talk.say("What is the weather?", script).await;
        let is_over = matches!(turn.status, TurnStatus::Complete | TurnStatus::Error);
        assert!(is_over, "{at:?} at {place}: {:?}", turn.status);
        complete(&talk.say("And then?", [plain("Then nothing.")]).await);
    }
    talk.house.check().await;
    talk.validator.accepted();
}

#[tokio::test]
async fn what_is_left_of_a_broken_reply_is_accepted() {
    let accounts = [
        ("anthropic", Api::Anthropic, "claude-sonnet-5-5"),
        ("anthropic", Api::Anthropic, "claude-sonnet-4-5"),
        ("deepseek", Api::OpenaiChat, "deepseek-v4"),
        ("mistral", Api::OpenaiChat, "mistral-small-latest"),
        ("openrouter", Api::OpenaiChat, "anthropic/claude-haiku-4.5"),
        ("llamacpp", Api::OpenaiChat, "qwen3.gguf"),
        ("responses", Api::OpenaiResponses, "gpt-5.6"),
        ("gemini", Api::Gemini, "gemini-3-pro-preview"),
        ("ollama", Api::Ollama, "qwen3:4b"),
    ];
    // Each account has other places, so that together they are close.
    let places = |number: usize| (40 + 19 * number..1000).step_by(310);
    let chats = accounts.into_iter().enumerate().flat_map(|(number, (provider, api, model))| {
        places(number).map(move |place| breaks_off(At { provider, api, model }, place).boxed_local())
    });
    join_all(chats).await;
}
