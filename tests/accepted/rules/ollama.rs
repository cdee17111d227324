//! What Ollama's own API refuses.

use serde_json::{Value, json};

use super::{Client, all_are_refused, list, rule};

#[test]
fn ollama_refuses_what_breaks_its_rules() {
    let client = Client {
        provider: "ollama",
        path: "api/chat",
        messages: "messages",
        body: json!({"model": "qwen3:4b", "stream": true, "think": true}),
        user: |text| json!({"role": "user", "content": text}),
        said: <[Value]>::to_vec,
        results: |said| {
            let calls = said[0]["tool_calls"].as_array().unwrap();
            calls
                .iter()
                .map(|call| json!({"role": "tool", "content": "21", "tool_name": call["function"]["name"]}))
                .collect()
        },
    };
    let (in_loop, later) = client.converses();
    all_are_refused(
        &in_loop,
        vec![
            rule(
                "cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments",
                |body| body["messages"][3]["tool_calls"][0]["function"]["arguments"] = json!("{}"),
            ),
            rule("a call of time has no result", |body| drop(list(&mut body["messages"]).pop())),
            rule("which was not called", |body| body["messages"][4]["tool_name"] = json!("other")),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule("invalid role: developer", |body| body["messages"][0]["role"] = json!("developer")),
            rule("ChatRequest.messages.content of type string", |body| body["messages"][0]["content"] = json!([])),
            rule("\"llama3.2\" does not support thinking", |body| body["model"] = json!("llama3.2")),
            rule("invalid think value: \"max\"", |body| body["think"] = json!("max")),
            rule("invalid option provided option=max_tokens", |body| body["options"] = json!({"max_tokens": 5})),
            rule("option \"top_k\" must be of another type", |body| body["options"] = json!({"top_k": 1.5})),
        ],
    );
}
