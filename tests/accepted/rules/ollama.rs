//! The rules of Ollama's own API, with a request that breaks each.

use serde_json::{Value, json};

use super::{ConformingClient, all_are_refused, list, rule_case};

#[test]
fn ollama_refuses_invalid_requests() {
    let client = ConformingClient {
        provider: "ollama",
        path: "api/chat",
        messages: "messages",
        body: json!({"model": "qwen3:4b", "stream": true, "think": true}),
        user: |text| json!({"role": "user", "content": text}),
        to_messages: <[Value]>::to_vec,
        results: |content| {
            let calls = content[0]["tool_calls"].as_array().unwrap();
            calls
                .iter()
                .map(|call| json!({"role": "tool", "content": "21", "tool_name": call["function"]["name"]}))
                .collect()
        },
    };
    let (in_loop, later) = client.tool_conversation();
    all_are_refused(
        &in_loop,
        vec![
            rule_case(
                "cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments",
                |body| body["messages"][3]["tool_calls"][0]["function"]["arguments"] = json!("{}"),
            ),
            rule_case("a call of time has no result", |body| drop(list(&mut body["messages"]).pop())),
            rule_case("which was not called", |body| body["messages"][4]["tool_name"] = json!("other")),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("invalid role: developer", |body| body["messages"][0]["role"] = json!("developer")),
            rule_case("ChatRequest.messages.content of type string", |body| body["messages"][0]["content"] = json!([])),
            rule_case("\"llama3.2\" does not support thinking", |body| body["model"] = json!("llama3.2")),
            rule_case("invalid think value: \"max\"", |body| body["think"] = json!("max")),
            rule_case("invalid option provided option=max_tokens", |body| body["options"] = json!({"max_tokens": 5})),
            rule_case("option \"top_k\" must be of another type", |body| body["options"] = json!({"top_k": 1.5})),
        ],
    );
}
