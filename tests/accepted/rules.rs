//! Tests of the validator: for every rule, a request that breaks it is refused with the provider's message. Each
//! request starts as a valid one, from a conversation with reasoning and tools, which is accepted.

use serde_json::{Value, json};

use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider_factory::create_provider;

use crate::validator::memory::{ProviderMemory, SentReply};
use crate::validator::script::{ScriptedReply, call_part, text_part, thinking_part};
use crate::validator::{KEY, ProviderRequest, ProviderValidator, protocol_of};

#[path = "rules/anthropic.rs"]
mod anthropic;
#[path = "rules/chat.rs"]
mod chat;
#[path = "rules/gemini.rs"]
mod gemini;
#[path = "rules/ollama.rs"]
mod ollama;
#[path = "rules/responses.rs"]
mod responses;

use chat::chat;

/// A client that uses one API correctly.
struct ConformingClient {
    provider: &'static str,
    path: &'static str,
    /// The key of the messages in the body.
    messages: &'static str,
    body: Value,
    user: fn(&str) -> Value,
    /// Converts the content of a reply into messages.
    to_messages: fn(&[Value]) -> Vec<Value>,
    /// Returns the messages with the results of a reply's calls.
    results: fn(&[Value]) -> Vec<Value>,
}

/// A conversation up to a valid request.
#[derive(Clone)]
struct ValidConversation {
    request: ProviderRequest,
    memory: ProviderMemory,
}

impl ValidConversation {
    /// Returns the refusal of the request after a change, or `(accepted)`.
    fn refusal_of(&self, change: impl FnOnce(&mut ProviderRequest)) -> String {
        let mut request = self.request.clone();
        change(&mut request);
        match protocol_of(&request).unwrap().judge(&request, &self.memory) {
            Err(refusal) => refusal.message,
            Ok(()) => String::from("(accepted)"),
        }
    }

    fn remarks_on(&self, change: impl FnOnce(&mut ProviderRequest)) -> Vec<String> {
        let mut request = self.request.clone();
        change(&mut request);
        let bytes = request.body.to_string();
        self.memory.remarks(protocol_of(&request).unwrap(), &request, bytes.as_bytes())
    }
}

/// A rule: a part of the refusal, and the change of the request that provokes it.
type Rule<'a> = (&'a str, Box<dyn Fn(&mut Value) + 'a>);

fn rule_case<'a>(words: &'a str, change: impl Fn(&mut Value) + 'a) -> Rule<'a> {
    (words, Box::new(change))
}

fn all_are_refused(good: &ValidConversation, rules: Vec<Rule<'_>>) {
    assert_eq!(good.refusal_of(|_| {}), "(accepted)");
    for (words, change) in rules {
        let refused = good.refusal_of(|request| change(&mut request.body));
        assert!(refused.contains(words), "{words:?} was expected and not {refused:?}");
    }
}

impl ConformingClient {
    /// Returns two valid requests: one in the middle of a tool loop, and one of the next turn.
    fn tool_conversation(&self) -> (ValidConversation, ValidConversation) {
        let mut body = self.body.clone();
        body[self.messages] = json!([(self.user)("Hi")]);
        let headers = [
            ("x-api-key", KEY.to_owned()),
            ("x-goog-api-key", KEY.to_owned()),
            ("authorization", format!("Bearer {KEY}")),
            ("anthropic-version", "2023-06-01".to_owned()),
            ("anthropic-beta", "thinking-binding-controls-2026-08-01".to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let request = ProviderRequest {
            provider: self.provider.into(),
            path: format!("/{}/{}", self.provider, self.path),
            headers,
            body,
        };
        let mut good = ValidConversation { request, memory: ProviderMemory::default() };
        self.append_reply(&mut good, &ScriptedReply::new([thinking_part("Hm."), text_part("Hello there.")]));
        self.append_messages(&mut good, [(self.user)("The weather?")]);
        let two = [call_part("weather", json!({"place": "Bonn"})), call_part("time", json!({}))];
        self.append_reply(
            &mut good,
            &ScriptedReply::new([thinking_part("I look."), text_part("Let me see.")].into_iter().chain(two)),
        );
        let content = good.memory.sent.last().unwrap().content.clone();
        self.append_messages(&mut good, (self.results)(&content));
        let in_loop = good.clone();
        self.append_reply(&mut good, &ScriptedReply::new([thinking_part("So."), text_part("It is warm.")]));
        self.append_messages(&mut good, [(self.user)("More")]);
        (in_loop, good)
    }

    fn append_reply(&self, good: &mut ValidConversation, scripted: &ScriptedReply) {
        let rules = protocol_of(&good.request).unwrap();
        let bytes = good.request.body.to_string();
        assert_eq!(good.memory.remarks(rules, &good.request, bytes.as_bytes()), Vec::<String>::new());
        assert_eq!(rules.judge(&good.request, &good.memory), Ok(()));
        let speech = rules.encode_reply(&good.request, scripted, good.memory.sent.len() + 1);
        let (messages, model) = ((self.to_messages)(&speech.content), rules.model(&good.request).to_owned());
        let request = good.request.clone();
        good.memory.record_reply(rules, &request, &model, scripted, speech);
        self.append_messages(good, messages);
    }

    fn append_messages(&self, good: &mut ValidConversation, messages: impl IntoIterator<Item = Value>) {
        good.request.body[self.messages].as_array_mut().unwrap().extend(messages);
    }
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().unwrap()
}

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().unwrap().remove(key);
}

#[test]
fn unrefused_mistakes_are_noted() {
    let (_, later) = chat("zai", "glm-4.7", json!({})).tool_conversation();
    let noted = |words: &str, change: &dyn Fn(&mut ProviderRequest)| {
        let remarks = later.remarks_on(|request| change(request));
        assert!(remarks.iter().any(|remark| remark.contains(words)), "{words:?} was expected and not {remarks:?}");
    };
    assert_eq!(later.remarks_on(|_| {}), Vec::<String>::new());
    noted("message 6 came back, but message 0 before it is not what it was", &|request| {
        request.body["messages"][0]["content"] = json!("Hello")
    });
    noted("message 4 came back, but message 1 before it is not what it was", &|request| {
        drop(list(&mut request.body["messages"]).drain(1..3))
    });
    noted("message 6 is not what was said", &|request| {
        request.body["messages"][6]["content"] = json!("Reply 3.1: It is warm. And dry.")
    });
    noted("message 6 is not what was said", &|request| remove(&mut request.body["messages"][6], "reasoning_content"));
    noted("the system prompt or the tools changed", &|request| drop(list(&mut request.body["tools"]).pop()));
    noted("went to another model: Thought 1.0: Hm.", &|request| request.body["model"] = json!("glm-4.6"));
    // After another model's reply, everything older is sent as plain text and need not match the original.
    const WORDS: &str = "Another model's words.";
    let switch = |request: &mut ProviderRequest| {
        let other = [json!({"role": "assistant", "content": WORDS}), json!({"role": "user", "content": "Hm"})];
        list(&mut request.body["messages"]).extend(other);
        remove(&mut request.body["messages"][6], "reasoning_content");
    };
    let unknown = later.remarks_on(switch);
    assert!(unknown.iter().any(|remark| remark.contains("message 8 was never said")), "{unknown:?}");
    let mut switched = later;
    let other = SentReply { model: "glm-4.6".into(), text: WORDS.into(), ..switched.memory.sent[0].clone() };
    switched.memory.sent.push(SentReply { secrets: Vec::new(), ..other });
    assert_eq!(switched.remarks_on(switch), Vec::<String>::new());
}

/// One refused request for each API over HTTP, with the message that is returned.
#[tokio::test]
async fn refusals_are_encoded_in_each_provider_format() {
    let validator = ProviderValidator::start(1).await;
    let user = json!([{"role": "user", "content": "Hi"}]);
    for (provider, api, model, body, words) in [
        (
            "anthropic",
            ProviderApi::Anthropic,
            "claude-opus-4-7",
            json!({"max_tokens": 10, "temperature": 1, "messages": user}),
            "`temperature` is deprecated for this model.",
        ),
        (
            "openai",
            ProviderApi::OpenaiChat,
            "o3",
            json!({"max_tokens": 10, "messages": user}),
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            "mistral",
            ProviderApi::OpenaiChat,
            "mistral-small",
            json!({"messages": []}),
            "Invalid 'messages': empty array.",
        ),
        (
            "openrouter",
            ProviderApi::OpenaiChat,
            "any/model",
            json!({"reasoning": {"effort": "low", "max_tokens": 5}, "messages": user}),
            "Only one of \"reasoning.effort\" and \"reasoning.max_tokens\" can be specified",
        ),
        (
            "responses",
            ProviderApi::OpenaiResponses,
            "gpt-5.1",
            json!({"input": user, "previous_response_id": "resp_9"}),
            "Previous response with id 'resp_9' not found.",
        ),
        ("gemini", ProviderApi::Gemini, "gemini-2.5-pro", json!({"contents": []}), "contents is not specified"),
        (
            "ollama",
            ProviderApi::Ollama,
            "llama3.2",
            json!({"messages": user, "think": true}),
            "does not support thinking",
        ),
    ] {
        let mut body = body;
        if api != ProviderApi::Gemini {
            body["model"] = json!(model);
        }
        let endpoint = create_provider(&validator.endpoint(provider, api), HttpClient::default());
        let body = body.to_string();
        let Err(refused) = endpoint.send(model, body.clone().into()).await else { panic!("{provider} took it") };
        assert!(matches!(refused.status, Some(400 | 422)), "{provider}: {refused:?}");
        assert!(refused.failure.detail.unwrap_or_default().contains(words), "{provider}");
        let noted = validator.violations().pop().unwrap();
        assert_eq!((noted.provider.as_str(), noted.model.as_str()), (provider, model));
        assert!(noted.message.contains(words) && noted.body == body, "{noted:?}");
    }
}
