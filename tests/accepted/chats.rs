//! A chat through each API and several generations of models: thinking in every measure, tools side by side and one after
//! the other, replies that break off anywhere, Stop, Try again. Every request is accepted.

use futures::FutureExt;
use futures::future::join_all;
use serde_json::json;
use turnleaf::domain::branch::ContextPolicy;
use turnleaf::domain::{Params, Thinking, Turn, TurnStatus};
use turnleaf_platform::endpoint::Api;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::BranchChange;

use crate::talk::{At, Talk};
use crate::validator::script::{End, Part, Say, call, text, thinking};

pub fn weather(place: &str) -> Part {
    call("weather", json!({ "place": place }))
}

pub fn time() -> Part {
    call("time", json!({}))
}

/// Three requests: a call, two calls side by side, the answer.
pub fn a_tool_loop() -> [Say; 3] {
    [
        Say::new([thinking("I need the weather."), weather("Köln")]),
        Say::new([
            thinking("And the time."),
            Part::Hidden,
            text("Let me look again."),
            thinking("Both at once."),
            weather("Bonn"),
            time(),
        ]),
        Say::new([thinking("Now I know."), text("It is 21 degrees.")]),
    ]
}

pub fn plain(words: &str) -> Say {
    Say::new([thinking("Hm."), text(words)])
}

pub fn complete(turn: &Turn) {
    assert_eq!(turn.status, TurnStatus::Complete, "{:?}: {:?}", turn.model_used, turn.error);
}

fn broken(turn: &Turn) {
    assert_eq!(turn.status, TurnStatus::Error, "{:?}: {:?}", turn.model_used, turn.content_text());
}

/// Holds a short chat, with tools and in every measure of thinking.
async fn hold(at: At) -> Talk {
    let mut talk = Talk::new(7, &[at]).await.with_system_prompt("You are brief.").await;
    complete(&talk.say("Hello", [plain("Hello there.")]).await);
    for level in [Thinking::High, Thinking::Off, Thinking::Budget(5_000)] {
        talk.thinking = level;
        complete(&talk.say("What is the weather?", a_tool_loop()).await);
    }
    talk.thinking = Thinking::High;
    complete(&talk.say("Thanks", [plain("You are welcome.")]).await);
    talk
}

/// Holds a chat in which everything happens that can happen to a reply.
pub async fn hold_on(at: At) -> Talk {
    let mut talk = hold(at).await;
    // Broken off in the text, in the second step, in the arguments of a call.
    broken(&talk.say("Tell me a story", [plain("Once upon a time there was a leaf.").ending(End::Cut)]).await);
    complete(&talk.say("Go on", [plain("It turned.")]).await);
    complete(&talk.say("More", a_tool_loop()).await);
    let [first, second, third] = a_tool_loop();
    broken(&talk.say("The weather again", [first, third.clone().ending(End::Cut)]).await);
    complete(&talk.say("Why did you stop?", [plain("The line broke.")]).await);
    broken(&talk.say("The weather, please", [second.clone().ending(End::Cut)]).await);
    complete(&talk.say("Stopped again?", [plain("So it seems.")]).await);

    // Stopped in the middle.
    let stopped =
        talk.stop("Talk for ever", [plain("On and on and on it goes.").ending(End::Stall)], "block_delta").await;
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    let future = Say::new([thinking("What is to come?"), text("I ask."), call("future", json!({})), time()]);
    let stopped = talk.stop("And then?", [future], "block_update").await;
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    complete(&talk.say("Enough?", [plain("Enough.")]).await);

    // The limit, tried again, and on below the second version.
    complete(&talk.say("Be long", [plain("This goes on until the limit").ending(End::Limit)]).await);
    complete(&talk.again([plain("This is shorter.")]).await);
    complete(&talk.again(a_tool_loop()).await);
    complete(&talk.say("And now?", [plain("Now it ends.")]).await);

    // A message in other words, in the middle of everything.
    let reworded = talk.begin("Will it rain?", a_tool_loop()).await;
    complete(&talk.house.ended(reworded.assistant_turn.id).await);
    complete(&talk.say("Sure?", [plain("Sure.")]).await);
    complete(&talk.edit(reworded.user_turn.id, "Will it snow?", a_tool_loop()).await);
    complete(&talk.say("Sure?", [plain("Quite sure.")]).await);

    talk.house.check().await;
    talk
}

/// The first of each API's models goes through everything, the others through a short chat.
async fn all_accept(api: Api, accounts: &[(&'static str, &[&'static str])]) {
    let mut chats = Vec::new();
    for (provider, models) in accounts {
        for (number, model) in models.iter().enumerate() {
            let at = At { provider, api, model };
            chats.push(if number == 0 { hold_on(at).boxed_local() } else { hold(at).boxed_local() });
        }
    }
    for talk in join_all(chats).await {
        assert!(talk.validator.accepted() >= 11);
    }
}

#[tokio::test]
async fn anthropic_accepts_every_request() {
    let models: &[&str] = &["claude-sonnet-4-5", "claude-3-5-haiku-20241022", "claude-3-7-sonnet-20250219"];
    all_accept(Api::Anthropic, &[("anthropic", models)]).await;
}

#[tokio::test]
async fn anthropic_accepts_every_request_of_newer_models() {
    let models: &[&str] =
        &["claude-sonnet-5-5", "claude-opus-4-5", "claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5"];
    all_accept(Api::Anthropic, &[("anthropic", models)]).await;
}

#[tokio::test]
async fn openai_chat_accepts_every_request() {
    let models: &[&str] = &["gpt-5.1", "gpt-4o", "o3", "gpt-5-mini", "gpt-5.6"];
    all_accept(Api::OpenaiChat, &[("openai", models)]).await;
}

#[tokio::test]
async fn deepseek_and_openrouter_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] =
        [("deepseek", &["deepseek-v4", "deepseek-chat"]), ("openrouter", &["anthropic/claude-haiku-4.5"])];
    all_accept(Api::OpenaiChat, &accounts).await;
}

#[tokio::test]
async fn mistral_and_zai_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] =
        [("mistral", &["mistral-small-latest", "magistral-medium-latest"]), ("zai", &["glm-4.7"])];
    all_accept(Api::OpenaiChat, &accounts).await;
}

#[tokio::test]
async fn local_servers_accept_every_request() {
    let accounts: [(&str, &[&str]); 2] = [("llamacpp", &["qwen3.gguf"]), ("ollama-v1", &["qwen3:8b", "llama3.2"])];
    all_accept(Api::OpenaiChat, &accounts).await;
    all_accept(Api::Ollama, &[("ollama", &["qwen3:4b", "gpt-oss:20b", "llama3.2"])]).await;
}

#[tokio::test]
async fn responses_accepts_every_request() {
    let models: &[&str] = &["gpt-5.6", "gpt-4o", "o1", "o3", "gpt-5-mini", "gpt-5.1"];
    all_accept(Api::OpenaiResponses, &[("responses", models)]).await;
}

#[tokio::test]
async fn gemini_accepts_every_request() {
    let models: &[&str] =
        &["gemini-3-flash-preview", "gemini-3-pro-preview", "gemini-3.1-pro-preview", "gemini-3.7-flash"];
    all_accept(Api::Gemini, &[("gemini", models)]).await;
}

#[tokio::test]
async fn gemini_accepts_every_request_of_older_models() {
    let models: &[&str] = &["gemini-2.5-pro", "gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite"];
    all_accept(Api::Gemini, &[("gemini", models)]).await;
}

#[tokio::test]
async fn reasoning_asked_for_without_its_text_goes_back_as_it_came() {
    for model in ["claude-sonnet-4-5", "claude-opus-4-7", "claude-fable-5-2"] {
        let mut talk = hold(At { provider: "anthropic", api: Api::Anthropic, model }).await;
        let (service, owner) = (&talk.house.service, talk.house.owner);
        let branch = service.branches(owner, talk.chat.unwrap()).await.unwrap()[0].id;
        let change = BranchChange { policy: Some(ContextPolicy::SignaturesOnly), ..BranchChange::default() };
        service.change_branch(owner, branch, change).await.unwrap();
        complete(&talk.say("The weather once more", a_tool_loop()).await);
        complete(&talk.say("Thanks", [plain("Gladly.")]).await);
        let last = talk.validator.sent().pop().unwrap();
        assert_eq!(last.said[0]["thinking"], "", "{model}: {:?}", last.said);
        talk.validator.accepted();
    }
}

/// What somebody may ask for: one thing alone, and many at once.
fn wishes() -> Vec<Params> {
    let none = Params::default;
    let wishes = [
        Params { temperature: Some(0.5), ..none() },
        Params { temperature: Some(1.5), ..none() },
        Params { top_p: Some(0.5), ..none() },
        Params { top_p: Some(0.97), ..none() },
        Params { top_k: Some(20), ..none() },
        Params { max_tokens: Some(10), ..none() },
        Params { max_tokens: Some(3_000), ..none() },
        Params { max_tokens: Some(60_000), ..none() },
        Params { max_tokens: Some(900_000), ..none() },
        Params { stop_sequences: vec!["END".into()], ..none() },
        Params { stop_sequences: vec![" ".into()], ..none() },
        Params { stop_sequences: ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec(), ..none() },
        Params { temperature: Some(0.5), top_p: Some(0.5), ..none() },
        Params { temperature: Some(0.5), top_k: Some(20), max_tokens: Some(2_000), ..none() },
    ];
    // Each of them with two of the levels.
    let levels = [Thinking::Off, Thinking::Low, Thinking::High, Thinking::Budget(100), Thinking::Budget(100_000)];
    let with = |(at, wish): (usize, &Params)| {
        [at, at + 2].map(|at| Params { thinking: Some(levels[at % levels.len()]), ..wish.clone() })
    };
    wishes.iter().enumerate().flat_map(with).collect()
}

/// Whatever the service takes, the provider takes too.
async fn fits(at: At) {
    let mut talk = Talk::new(3, &[at]).await;
    for wish in wishes() {
        (talk.params, talk.thinking, talk.chat, talk.leaf) = (wish.clone(), wish.thinking.unwrap(), None, None);
        match talk.ask("Hello").await {
            Ok(started) => complete(&talk.house.ended(started.assistant_turn.id).await),
            Err(ServiceError::Invalid(invalid)) => {
                assert!(invalid.field.starts_with("params."), "{at:?} {wish:?}: {invalid:?}");
            }
            Err(other) => panic!("{at:?} {wish:?}: {other:?}"),
        }
    }
    assert!(talk.validator.accepted() >= 5, "{at:?} took {}", talk.validator.accepted());
}

#[tokio::test]
async fn parameters_that_are_taken_fit_the_model() {
    let models = [
        ("anthropic", Api::Anthropic, "claude-3-5-haiku-20241022"),
        ("anthropic", Api::Anthropic, "claude-sonnet-4-5"),
        ("anthropic", Api::Anthropic, "claude-sonnet-4-6"),
        ("anthropic", Api::Anthropic, "claude-opus-5"),
        ("anthropic", Api::Anthropic, "claude-fable-5-2"),
        ("openai", Api::OpenaiChat, "gpt-4o"),
        ("openai", Api::OpenaiChat, "o3"),
        ("openai", Api::OpenaiChat, "gpt-5.1"),
        ("openai", Api::OpenaiChat, "gpt-5.5"),
        ("mistral", Api::OpenaiChat, "mistral-small-latest"),
        ("deepseek", Api::OpenaiChat, "deepseek-v4"),
        ("openrouter", Api::OpenaiChat, "anthropic/claude-haiku-4.5"),
        ("responses", Api::OpenaiResponses, "gpt-5.1"),
        ("responses", Api::OpenaiResponses, "gpt-5-mini"),
        ("gemini", Api::Gemini, "gemini-2.0-flash"),
        ("gemini", Api::Gemini, "gemini-2.5-pro"),
        ("gemini", Api::Gemini, "gemini-3-flash-preview"),
        ("ollama", Api::Ollama, "qwen3:4b"),
    ];
    let asked = models.map(|(provider, api, model)| fits(At { provider, api, model }).boxed_local());
    join_all(asked).await;
}
