//! A chat through each API and several generations of models: every thinking level, concurrent and successive tool
//! calls, replies that break off anywhere, Stop and Retry. Every request is accepted.

use futures::FutureExt;
use futures::future::join_all;
use serde_json::json;
use turnleaf::domain::branches::branch::ContextPolicy;
use turnleaf::domain::{ModelParams, Thinking, Turn, TurnStatus};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::BranchChange;

use crate::test_chat::{ModelAccount, TestChat};
use crate::validator::script::{ReplyEnd, ScriptPart, ScriptedReply, call_part, text_part, thinking_part};

pub fn weather(place: &str) -> ScriptPart {
    call_part("weather", json!({ "place": place }))
}

pub fn time() -> ScriptPart {
    call_part("time", json!({}))
}

/// Returns the script of three responses: one call, two concurrent calls, the answer.
pub fn tool_loop_script() -> [ScriptedReply; 3] {
    [
        ScriptedReply::new([thinking_part("I need the weather."), weather("Köln")]),
        ScriptedReply::new([
            thinking_part("And the time."),
            ScriptPart::Hidden,
            text_part("Let me look again."),
            thinking_part("Both at once."),
            weather("Bonn"),
            time(),
        ]),
        ScriptedReply::new([thinking_part("Now I know."), text_part("It is 21 degrees.")]),
    ]
}

pub fn plain_reply(words: &str) -> ScriptedReply {
    ScriptedReply::new([thinking_part("Hm."), text_part(words)])
}

pub fn assert_complete(turn: &Turn) {
    assert_eq!(turn.status, TurnStatus::Complete, "{:?}: {:?}", turn.model_used, turn.error);
}

fn assert_interrupted(turn: &Turn) {
    assert_eq!(turn.status, TurnStatus::Error, "{:?}: {:?}", turn.model_used, turn.content_text());
}

/// Runs a short chat with tools and every thinking level.
async fn hold_chat(at: ModelAccount) -> TestChat {
    let mut talk = TestChat::new(7, &[at]).await.with_system_prompt("You are brief.").await;
    assert_complete(&talk.send_and_wait("Hello", [plain_reply("Hello there.")]).await);
    for level in [Thinking::High, Thinking::Off, Thinking::Budget(5_000)] {
        talk.thinking = level;
        assert_complete(&talk.send_and_wait("What is the weather?", tool_loop_script()).await);
    }
    talk.thinking = Thinking::High;
    assert_complete(&talk.send_and_wait("Thanks", [plain_reply("You are welcome.")]).await);
    talk
}

/// Runs a chat with every event that can happen to a reply.
pub async fn continue_chat(at: ModelAccount) -> TestChat {
    let mut talk = hold_chat(at).await;
    // The replies break off in the text, in the second step, and in the arguments of a call.
    assert_interrupted(
        &talk
            .send_and_wait(
                "Tell me a story",
                [plain_reply("Once upon a time there was a leaf.").with_end(ReplyEnd::Cut)],
            )
            .await,
    );
    assert_complete(&talk.send_and_wait("Go on", [plain_reply("It turned.")]).await);
    assert_complete(&talk.send_and_wait("More", tool_loop_script()).await);
    let [first, second, third] = tool_loop_script();
    assert_interrupted(&talk.send_and_wait("The weather again", [first, third.clone().with_end(ReplyEnd::Cut)]).await);
    assert_complete(&talk.send_and_wait("Why did you stop?", [plain_reply("The line broke.")]).await);
    assert_interrupted(&talk.send_and_wait("The weather, please", [second.clone().with_end(ReplyEnd::Cut)]).await);
    assert_complete(&talk.send_and_wait("Stopped again?", [plain_reply("So it seems.")]).await);

    // The reply is stopped in the middle.
    let stopped = talk
        .send_and_stop(
            "Talk for ever",
            [plain_reply("On and on and on it goes.").with_end(ReplyEnd::Stall)],
            "block_delta",
        )
        .await;
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    let future = ScriptedReply::new([
        thinking_part("What is to come?"),
        text_part("I ask."),
        call_part("future", json!({})),
        time(),
    ]);
    let stopped = talk.send_and_stop("And then?", [future], "block_update").await;
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    assert_complete(&talk.send_and_wait("Enough?", [plain_reply("Enough.")]).await);

    // The reply reaches the output limit and is retried; the chat continues below the second version.
    assert_complete(
        &talk.send_and_wait("Be long", [plain_reply("This goes on until the limit").with_end(ReplyEnd::Limit)]).await,
    );
    assert_complete(&talk.retry_and_wait([plain_reply("This is shorter.")]).await);
    assert_complete(&talk.retry_and_wait(tool_loop_script()).await);
    assert_complete(&talk.send_and_wait("And now?", [plain_reply("Now it ends.")]).await);

    // A message in the middle of the chat is edited.
    let reworded = talk.start_reply("Will it rain?", tool_loop_script()).await;
    assert_complete(&talk.instance.wait_until_ended(reworded.assistant_turn.id).await);
    assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Sure.")]).await);
    assert_complete(&talk.edit_and_wait(reworded.user_turn.id, "Will it snow?", tool_loop_script()).await);
    assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Quite sure.")]).await);

    talk.instance.check_invariants().await;
    talk
}

/// Runs the long chat with the first model of each account, and the short one with the others.
async fn all_accept(api: ProviderApi, accounts: &[(&'static str, &[&'static str])]) {
    let mut chats = Vec::new();
    for (provider, models) in accounts {
        for (number, model) in models.iter().enumerate() {
            let at = ModelAccount { provider, api, model };
            chats.push(if number == 0 { continue_chat(at).boxed_local() } else { hold_chat(at).boxed_local() });
        }
    }
    for talk in join_all(chats).await {
        assert!(talk.validator.accepted_count() >= 11);
    }
}

#[tokio::test]
async fn anthropic_accepts_every_request() {
    let models: &[&str] = &["claude-sonnet-4-5", "claude-3-5-haiku-20241022", "claude-3-7-sonnet-20250219"];
    all_accept(ProviderApi::Anthropic, &[("anthropic", models)]).await;
}

#[tokio::test]
async fn anthropic_accepts_every_request_of_newer_models() {
    let models: &[&str] =
        &["claude-sonnet-5-5", "claude-opus-4-5", "claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5"];
    all_accept(ProviderApi::Anthropic, &[("anthropic", models)]).await;
}

#[tokio::test]
async fn openai_chat_accepts_every_request() {
    let models: &[&str] = &["gpt-5.1", "gpt-4o", "o3", "gpt-5-mini", "gpt-5.6"];
    all_accept(ProviderApi::OpenaiChat, &[("openai", models)]).await;
}

#[tokio::test]
async fn deepseek_and_openrouter_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] =
        [("deepseek", &["deepseek-v4", "deepseek-chat"]), ("openrouter", &["anthropic/claude-haiku-4.5"])];
    all_accept(ProviderApi::OpenaiChat, &accounts).await;
}

#[tokio::test]
async fn mistral_and_zai_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] =
        [("mistral", &["mistral-small-latest", "magistral-medium-latest"]), ("zai", &["glm-4.7"])];
    all_accept(ProviderApi::OpenaiChat, &accounts).await;
}

#[tokio::test]
async fn local_servers_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] = [("llamacpp", &["qwen3.gguf"]), ("ollama-v1", &["qwen3:8b", "llama3.2"])];
    all_accept(ProviderApi::OpenaiChat, &accounts).await;
    all_accept(ProviderApi::Ollama, &[("ollama", &["qwen3:4b", "gpt-oss:20b", "llama3.2"])]).await;
}

#[tokio::test]
async fn unknown_server_accepts_every_request() {
    all_accept(ProviderApi::OpenaiChat, &[("generic", &["some-model"])]).await;
}

#[tokio::test]
async fn responses_accepts_every_request() {
    let models: &[&str] = &["gpt-5.6", "gpt-4o", "o1", "o3", "gpt-5-mini", "gpt-5.1"];
    all_accept(ProviderApi::OpenaiResponses, &[("responses", models)]).await;
}

#[tokio::test]
async fn gemini_accepts_every_request() {
    let models: &[&str] =
        &["gemini-3-flash-preview", "gemini-3-pro-preview", "gemini-3.1-pro-preview", "gemini-3.7-flash"];
    all_accept(ProviderApi::Gemini, &[("gemini", models)]).await;
}

#[tokio::test]
async fn gemini_accepts_every_request_of_older_models() {
    let models: &[&str] = &["gemini-2.5-pro", "gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite"];
    all_accept(ProviderApi::Gemini, &[("gemini", models)]).await;
}

#[tokio::test]
async fn reasoning_without_text_is_resent_unchanged() {
    for model in ["claude-sonnet-4-5", "claude-opus-4-7", "claude-fable-5-2"] {
        let mut talk = hold_chat(ModelAccount { provider: "anthropic", api: ProviderApi::Anthropic, model }).await;
        let (service, owner) = (&talk.instance.service, talk.instance.owner);
        let branch = service.branches(owner, talk.chat.unwrap()).await.unwrap()[0].id;
        let change = BranchChange { policy: Some(ContextPolicy::SignaturesOnly), ..BranchChange::default() };
        service.change_branch(owner, branch, change).await.unwrap();
        assert_complete(&talk.send_and_wait("The weather once more", tool_loop_script()).await);
        assert_complete(&talk.send_and_wait("Thanks", [plain_reply("Gladly.")]).await);
        let last = talk.validator.sent_replies().pop().unwrap();
        assert_eq!(last.content[0]["thinking"], "", "{model}: {:?}", last.content);
        talk.validator.accepted_count();
    }
}

/// Returns sets of parameters: each parameter alone, and many at once.
fn parameter_sets() -> Vec<ModelParams> {
    let none = ModelParams::default;
    let wishes = [
        ModelParams { temperature: Some(0.5), ..none() },
        ModelParams { temperature: Some(1.5), ..none() },
        ModelParams { top_p: Some(0.5), ..none() },
        ModelParams { top_p: Some(0.97), ..none() },
        ModelParams { top_k: Some(20), ..none() },
        ModelParams { max_tokens: Some(10), ..none() },
        ModelParams { max_tokens: Some(3_000), ..none() },
        ModelParams { max_tokens: Some(60_000), ..none() },
        ModelParams { max_tokens: Some(900_000), ..none() },
        ModelParams { stop_sequences: vec!["END".into()], ..none() },
        ModelParams { stop_sequences: vec![" ".into()], ..none() },
        ModelParams { stop_sequences: ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec(), ..none() },
        ModelParams { temperature: Some(0.5), top_p: Some(0.5), ..none() },
        ModelParams { temperature: Some(0.5), top_k: Some(20), max_tokens: Some(2_000), ..none() },
    ];
    // Each set is combined with two thinking levels.
    let levels = [Thinking::Off, Thinking::Low, Thinking::High, Thinking::Budget(100), Thinking::Budget(100_000)];
    let with = |(at, wish): (usize, &ModelParams)| {
        [at, at + 2].map(|at| ModelParams { thinking: Some(levels[at % levels.len()]), ..wish.clone() })
    };
    wishes.iter().enumerate().flat_map(with).collect()
}

/// Asserts that every request that the service accepts is accepted by the provider.
async fn parameters_fit(at: ModelAccount) {
    let mut talk = TestChat::new(3, &[at]).await;
    for wish in parameter_sets() {
        (talk.params, talk.thinking, talk.chat, talk.leaf) = (wish.clone(), wish.thinking.unwrap(), None, None);
        match talk.try_start_reply("Hello").await {
            Ok(started) => assert_complete(&talk.instance.wait_until_ended(started.assistant_turn.id).await),
            Err(ServiceError::Invalid(invalid)) => {
                assert!(invalid.field.starts_with("params."), "{at:?} {wish:?}: {invalid:?}");
            }
            Err(other) => panic!("{at:?} {wish:?}: {other:?}"),
        }
    }
    assert!(talk.validator.accepted_count() >= 5, "{at:?} took {}", talk.validator.accepted_count());
}

#[tokio::test]
async fn accepted_parameters_fit_model() {
    let models = [
        ("anthropic", ProviderApi::Anthropic, "claude-3-5-haiku-20241022"),
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5"),
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-6"),
        ("anthropic", ProviderApi::Anthropic, "claude-opus-5"),
        ("anthropic", ProviderApi::Anthropic, "claude-fable-5-2"),
        ("openai", ProviderApi::OpenaiChat, "gpt-4o"),
        ("openai", ProviderApi::OpenaiChat, "o3"),
        ("openai", ProviderApi::OpenaiChat, "gpt-5.1"),
        ("openai", ProviderApi::OpenaiChat, "gpt-5.5"),
        ("mistral", ProviderApi::OpenaiChat, "mistral-small-latest"),
        ("deepseek", ProviderApi::OpenaiChat, "deepseek-v4"),
        ("openrouter", ProviderApi::OpenaiChat, "anthropic/claude-haiku-4.5"),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5.1"),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5-mini"),
        ("gemini", ProviderApi::Gemini, "gemini-2.0-flash"),
        ("gemini", ProviderApi::Gemini, "gemini-2.5-pro"),
        ("gemini", ProviderApi::Gemini, "gemini-3-flash-preview"),
        ("ollama", ProviderApi::Ollama, "qwen3:4b"),
    ];
    let requests =
        models.map(|(provider, api, model)| parameters_fit(ModelAccount { provider, api, model }).boxed_local());
    join_all(requests).await;
}
