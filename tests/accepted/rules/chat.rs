//! The rules of OpenAI's chat completions and of its dialects, with a request that breaks each.

use serde_json::{Value, json};

use super::{ConformingClient, all_are_refused, list, remove, rule_case};
use crate::validator::ProviderRequest;

/// Returns a client that conforms to the dialect of this provider.
pub fn chat(provider: &'static str, model: &str, more: Value) -> ConformingClient {
    let parameters = json!({"type": "object", "properties": {}});
    let function = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let mut body = json!({"model": model, "stream": true, "tools": [function("weather"), function("time")]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ConformingClient {
        provider,
        path: "v1/chat/completions",
        messages: "messages",
        body,
        user: |text| json!({"role": "user", "content": text}),
        to_messages: <[Value]>::to_vec,
        results: |content| {
            let calls = content[0]["tool_calls"].as_array().unwrap();
            calls.iter().map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "21"})).collect()
        },
    }
}

#[test]
fn openai_refuses_invalid_requests() {
    let described = |schema: Value| move |body: &mut Value| body["tools"][0]["function"]["parameters"] = schema.clone();
    let (in_loop, later) = chat("openai", "gpt-5.1", json!({"reasoning_effort": "high"})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![
            rule_case("did not have response messages: call_0000203", |body| drop(list(&mut body["messages"]).pop())),
            rule_case("must be a response to a preceeding message with 'tool_calls'", |body| {
                body["messages"][4]["tool_call_id"] = json!("call_9")
            }),
            rule_case("must be a response to a preceeding message", |body| drop(list(&mut body["messages"]).remove(3))),
            rule_case("expected a string, but got an object instead", |body| {
                body["messages"][3]["tool_calls"][0]["function"]["arguments"] = json!({})
            }),
            rule_case("did not have response messages", |body| {
                list(&mut body["messages"]).insert(4, json!({"role": "user", "content": "Hm"}))
            }),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("Unknown parameter: 'messages[1].reasoning_content'.", |body| {
                body["messages"][1]["reasoning_content"] = json!("x")
            }),
            rule_case("Unrecognized request argument supplied: top_k", |body| body["top_k"] = json!(3)),
            rule_case("Expected a string with maximum length 1024, but got a string with length 1025", |body| {
                body["tools"][0]["function"]["description"] = json!("x".repeat(1025))
            }),
            rule_case("got 'type: \"None\"'", described(json!({"properties": {}}))),
            rule_case("at the top level", described(json!({"type": "object", "properties": {}, "anyOf": [{}]}))),
            rule_case("object schema missing properties", described(json!({"type": "object"}))),
            rule_case(
                "array schema missing items",
                described(json!({"type": "object", "properties": {"a": {"type": "array"}}})),
            ),
            rule_case("Use 'max_completion_tokens' instead.", |body| body["max_tokens"] = json!(100)),
            rule_case("'temperature' does not support 0.5 with this model", |body| body["temperature"] = json!(0.5)),
            rule_case("Unsupported parameter: 'top_p'", |body| body["top_p"] = json!(0.5)),
            rule_case("Unsupported parameter: 'stop'", |body| body["stop"] = json!(["x"])),
            rule_case(
                "'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.",
                |body| body["reasoning_effort"] = json!("minimal"),
            ),
            rule_case("only allowed when 'stream' is enabled", |body| {
                body["stream"] = json!(false);
                body["stream_options"] = json!({"include_usage": true});
            }),
            rule_case("Invalid value: 'model'", |body| body["messages"][1]["role"] = json!("model")),
            rule_case("expected a string, got null", |body| body["messages"][1]["content"] = json!(null)),
            rule_case("empty array", |body| body["messages"][1]["tool_calls"] = json!([])),
            rule_case("empty array", |body| body["messages"] = json!([])),
            rule_case("The model `gpt-nobody` does not exist", |body| body["model"] = json!("gpt-nobody")),
        ],
    );
    assert!(later.refusal_of(|request| request.headers.clear()).contains("didn't provide an API key"));
    let (_, plain) = chat("openai", "gpt-4o", json!({"temperature": 0.5})).tool_conversation();
    all_are_refused(
        &plain,
        vec![rule_case("Unrecognized request argument supplied: reasoning_effort", |body| {
            body["reasoning_effort"] = json!("low")
        })],
    );
    let (_, old) = chat("openai", "o1-mini", json!({})).tool_conversation();
    all_are_refused(
        &old,
        vec![rule_case("'messages[0].role' does not support 'developer'", |body| {
            list(&mut body["messages"]).insert(0, json!({"role": "developer", "content": "x"}));
        })],
    );
}

#[test]
fn dialects_refuse_invalid_requests() {
    const PASSED_BACK: &str = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    let (in_loop, later) =
        chat("deepseek", "deepseek-v4", json!({"thinking": {"type": "enabled"}})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![rule_case(PASSED_BACK, |body| remove(&mut body["messages"][3], "reasoning_content"))],
    );
    all_are_refused(
        &later,
        vec![
            rule_case(PASSED_BACK, |body| remove(&mut body["messages"][3], "reasoning_content")),
            rule_case(PASSED_BACK, |body| remove(&mut body["messages"][6], "reasoning_content")),
            rule_case("unknown variant", |body| body["reasoning_effort"] = json!("xhigh")),
        ],
    );
    let without = |request: &mut ProviderRequest| remove(&mut request.body["messages"][1], "reasoning_content");
    assert_eq!(later.refusal_of(without), "(accepted)", "turns without tools do not need it");

    let (in_loop, later) =
        chat("openrouter", "anthropic/claude-haiku-4.5", json!({"reasoning": {"effort": "high"}})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![rule_case("Expected `thinking` or `redacted_thinking`", |body| {
            remove(&mut body["messages"][3], "reasoning_details")
        })],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("Invalid `signature`", |body| {
                body["messages"][1]["reasoning_details"][0]["text"] = json!("else")
            }),
            rule_case("Invalid `signature`", |body| {
                remove(&mut body["messages"][1]["reasoning_details"][0], "signature")
            }),
            rule_case("Only one of \"reasoning.effort\"", |body| body["reasoning"]["max_tokens"] = json!(1000)),
        ],
    );

    let (in_loop, later) =
        chat("mistral", "mistral-small-latest", json!({"reasoning_effort": "high"})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![
            rule_case("Unexpected role 'user' after role 'tool'", |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "x"}))
            }),
            rule_case("Not the same number of function calls and responses", |body| {
                drop(list(&mut body["messages"]).pop())
            }),
            rule_case("must be a-z, A-Z, 0-9, with a length of 9", |body| {
                body["messages"][3]["tool_calls"][0]["id"] = json!("call_1")
            }),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("extra_forbidden: body.stream_options", |body| {
                body["stream_options"] = json!({"include_usage": true})
            }),
            rule_case("extra_forbidden: body.messages.1.reasoning_content", |body| {
                body["messages"][1]["reasoning_content"] = json!("x")
            }),
            rule_case("must have either content or tool_calls", |body| body["messages"][1]["content"] = json!("")),
            rule_case("union_tag_invalid", |body| body["messages"][1]["content"][0]["type"] = json!("reasoning")),
            rule_case("Expected last role User or Tool", |body| drop(list(&mut body["messages"]).pop())),
            rule_case("Prompt mode is not supported", |body| body["prompt_mode"] = json!("reasoning")),
            rule_case("reasoning_effort is not supported", |body| body["reasoning_effort"] = json!("low")),
        ],
    );

    let (in_loop, later) = chat("generic", "some-model", json!({})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![rule_case("messages.3.reasoning must be passed back", |body| {
            remove(&mut body["messages"][3], "reasoning")
        })],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("property 'messages.1.reasoning_content' is unsupported", |body| {
                body["messages"][1]["reasoning_content"] = json!("x")
            }),
            rule_case("messages.3.reasoning must be passed back", |body| {
                body["messages"][3]["reasoning"] = json!("else")
            }),
        ],
    );

    let (in_loop, later) = chat("ollama-v1", "qwen3:8b", json!({"reasoning_effort": "high"})).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![rule_case("Failed to parse tool call arguments", |body| {
            body["messages"][3]["tool_calls"][0]["function"]["arguments"] = json!("{\"a")
        })],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("Conversation roles must alternate", |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "x"}))
            }),
            rule_case("\"llama3.2\" does not support thinking", |body| body["model"] = json!("llama3.2")),
            rule_case("invalid reasoning value", |body| body["reasoning_effort"] = json!("minimal")),
        ],
    );
}
