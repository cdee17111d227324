//! Messages: what a Claude refuses.

use serde_json::{Value, json};

use super::{Client, all_are_refused, list, remove, rule};
use crate::validator::Asked;

fn anthropic(model: &str, more: Value) -> Client {
    let mut body = json!({"model": model, "max_tokens": 4096, "stream": true, "system": "Be brief.",
        "tools": [{"name": "weather", "input_schema": {"type": "object"}}, {"name": "time", "input_schema": {"type": "object"}}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Client {
        provider: "anthropic",
        path: "v1/messages",
        messages: "messages",
        body,
        user: |text| json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        said: |said| vec![json!({"role": "assistant", "content": said})],
        results: |said| {
            let calls = said.iter().filter(|block| block["type"] == "tool_use");
            let results: Vec<Value> =
                calls.map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "21"})).collect();
            vec![json!({"role": "user", "content": results})]
        },
    }
}

#[test]
fn anthropic_refuses_what_breaks_its_rules() {
    let adaptive =
        json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}});
    let (in_loop, later) = anthropic("claude-opus-4-7", adaptive.clone()).converses();
    all_are_refused(
        &in_loop,
        vec![
            rule("Expected `thinking` or `redacted_thinking`, but found `text`", |body| {
                drop(list(&mut body["messages"][3]["content"]).remove(0))
            }),
            rule("cannot be modified", |body| body["messages"][3]["content"][0]["thinking"] = json!("Something else")),
            rule("each thinking block must contain thinking", |body| {
                body["messages"][3]["content"][0]["thinking"] = json!("")
            }),
            rule("Invalid `signature` in `thinking` block", |body| {
                body["messages"][3]["content"][0]["signature"] = json!("EqUDabc")
            }),
            rule("thinking.signature: Field required", |body| {
                remove(&mut body["messages"][3]["content"][0], "signature")
            }),
            rule("thinking.thinking: Field required", |body| {
                remove(&mut body["messages"][3]["content"][0], "thinking")
            }),
            rule("`tool_use` ids were found without `tool_result` blocks immediately after: toolu_000203", |body| {
                drop(list(&mut body["messages"][4]["content"]).pop())
            }),
            rule("`tool_use` ids were found without", |body| {
                list(&mut body["messages"][4]["content"]).insert(0, json!({"type": "text", "text": "first"}))
            }),
            rule("unexpected `tool_use_id` found in `tool_result` blocks: toolu_9", |body| {
                list(&mut body["messages"][4]["content"]).push(json!({"type": "tool_result", "tool_use_id": "toolu_9"}))
            }),
            rule("each tool_use must have a single result", |body| {
                let twice = body["messages"][4]["content"][0].clone();
                list(&mut body["messages"][4]["content"]).push(twice);
            }),
            rule("`tool_use` ids must be unique", |body| {
                body["messages"][3]["content"][3]["id"] = json!("toolu_000202")
            }),
            rule("tool_use.input: Input should be a valid dictionary", |body| {
                body["messages"][3]["content"][2]["input"] = json!("{}")
            }),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule("text content blocks must be non-empty", |body| body["messages"][0]["content"][0]["text"] = json!("")),
            rule("must contain non-whitespace text", |body| body["messages"][0]["content"][0]["text"] = json!(" \n")),
            rule("all messages must have non-empty content", |body| body["messages"][1]["content"] = json!([])),
            rule("roles must alternate", |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "And?"}))
            }),
            rule("first message must use the \"user\" role", |body| drop(list(&mut body["messages"]).remove(0))),
            rule("Input should be 'user' or 'assistant'", |body| {
                list(&mut body["messages"]).insert(1, json!({"role": "system", "content": "x"}))
            }),
            rule(
                "does not support assistant message prefill. The conversation must end with a user message.",
                |body| drop(list(&mut body["messages"]).pop()),
            ),
            rule("\"thinking.type.enabled\" is not supported for this model", |body| {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048})
            }),
            rule("does not support effort level 'minimal'", |body| body["output_config"]["effort"] = json!("minimal")),
            rule("block_binding: Extra inputs are not permitted", |body| {
                body["thinking"]["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"})
            }),
            rule("`temperature` is deprecated for this model.", |body| body["temperature"] = json!(1)),
            rule("max_tokens: 128001 > 128000", |body| body["max_tokens"] = json!(128_001)),
            rule("max_tokens: Field required", |body| remove(body, "max_tokens")),
            rule("seed: Extra inputs are not permitted", |body| body["seed"] = json!(1)),
            rule("stop sequence must contain non-whitespace", |body| body["stop_sequences"] = json!([" "])),
            rule("system: text content blocks must be non-empty", |body| body["system"] = json!("")),
            rule("Tool names must be unique", |body| body["tools"][1]["name"] = json!("weather")),
            rule("tools.0.custom.input_schema.type: Field required", |body| {
                body["tools"][0]["input_schema"] = json!({})
            }),
            rule("tool_choice forces tool use", |body| body["tool_choice"] = json!({"type": "any"})),
            rule("model: claude-nobody", |body| body["model"] = json!("claude-nobody")),
        ],
    );
    for (name, words) in
        [("x-api-key", "header is required"), ("anthropic-version", "anthropic-version: header is required")]
    {
        let without = |asked: &mut Asked| asked.headers.retain(|(known, _)| known != name && known != "authorization");
        assert!(later.refused(without).contains(words), "{name}");
    }

    // Bound to everything before, unlike the others.
    let bound = json!({"thinking": {"type": "adaptive", "display": "summarized", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}});
    let (in_loop, later) = anthropic("claude-sonnet-5-5", bound).converses();
    const ELSEWHERE: &str = "The block is bound to a different conversation.";
    for good in [&in_loop, &later] {
        all_are_refused(
            good,
            vec![
                rule(ELSEWHERE, |body| body["system"] = json!("Be long.")),
                rule(ELSEWHERE, |body| drop(list(&mut body["tools"]).pop())),
                rule(ELSEWHERE, |body| body["messages"][0]["content"][0]["text"] = json!("Hello")),
                rule(ELSEWHERE, |body| drop(list(&mut body["messages"][1]["content"]).remove(0))),
                rule("\"thinking.type.disabled\" is not supported", |body| {
                    body["thinking"] = json!({"type": "disabled"})
                }),
            ],
        );
    }
    let without_beta = |asked: &mut Asked| asked.headers.retain(|(known, _)| known != "anthropic-beta");
    assert!(later.refused(without_beta).contains("block_binding: Extra inputs are not permitted"));

    // The generations before.
    let (_, budget) =
        anthropic("claude-sonnet-4-5", json!({"thinking": {"type": "enabled", "budget_tokens": 2048}})).converses();
    all_are_refused(
        &budget,
        vec![
            rule("greater than or equal to 1024", |body| body["thinking"]["budget_tokens"] = json!(1000)),
            rule("`max_tokens` must be greater than `thinking.budget_tokens`", |body| body["max_tokens"] = json!(2048)),
            rule("`temperature` may only be set to 1 when thinking is enabled.", |body| {
                body["temperature"] = json!(0.5)
            }),
            rule("`top_p` must be greater than or equal to 0.95", |body| body["top_p"] = json!(0.5)),
            rule("`top_k` must be unset when thinking is enabled.", |body| body["top_k"] = json!(5)),
            rule("adaptive thinking is not supported on this model", |body| {
                body["thinking"] = json!({"type": "adaptive"})
            }),
            rule("does not support the effort parameter", |body| body["output_config"] = json!({"effort": "low"})),
            rule("final assistant content cannot end with trailing whitespace", |body| {
                list(&mut body["messages"]).push(json!({"role": "assistant", "content": "So "}))
            }),
        ],
    );
    let (_, plain) = anthropic("claude-3-5-haiku-20241022", json!({})).converses();
    all_are_refused(
        &plain,
        vec![
            rule("does not support thinking", |body| {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048})
            }),
            rule("max_tokens: 9000 > 8192", |body| body["max_tokens"] = json!(9000)),
            rule("temperature: range: 0..1", |body| body["temperature"] = json!(1.5)),
        ],
    );
    let (_, four_one) = anthropic("claude-opus-4-1", json!({})).converses();
    all_are_refused(
        &four_one,
        vec![rule("`temperature` and `top_p` cannot both be specified", |body| {
            body["temperature"] = json!(0.5);
            body["top_p"] = json!(0.5);
        })],
    );
}

/// What the API runs itself, in requests that go on from a chat with it.
#[test]
fn anthropic_refuses_what_breaks_the_rules_of_its_own_tools() {
    use super::{Good, Memory, Say};
    use crate::validator::KEY;
    use crate::validator::script::{End, Own, Part, text};

    let mut client = anthropic("claude-sonnet-4-6", json!({}));
    client.body["tools"] = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "code_execution_20260120", "name": "code_execution"}]);
    client.body["messages"] = json!([(client.user)("Hi")]);
    let headers =
        [("x-api-key", KEY), ("anthropic-version", "2023-06-01")].map(|(name, value)| (name.into(), value.into()));
    let (provider, path) = (client.provider.to_owned(), format!("/{}/{}", client.provider, client.path));
    let asked = Asked { provider, path, headers: headers.to_vec(), body: client.body.clone() };
    let mut later = Good { asked, memory: Memory::default() };
    client.hears(&mut later, &Say::new([Part::Own(Own::Search), text("Found."), Part::Own(Own::Code)]));
    client.says(&mut later, [(client.user)("More")]);
    let mut paused = later.clone();
    client.hears(&mut paused, &Say::new([text("Wait."), Part::Begun(Own::Search)]).ending(End::Pause));
    assert_eq!(paused.refused(|_| {}), "(accepted)");
    let whole = "was found without a corresponding `web_search_tool_result` block";
    all_are_refused(
        &later,
        vec![
            rule(whole, |body| drop(list(&mut body["messages"][1]["content"]).remove(1))),
            rule("unexpected `tool_use_id` found in `web_search_tool_result` blocks", |body| {
                drop(list(&mut body["messages"][1]["content"]).remove(0))
            }),
            rule("Each `bash_code_execution_tool_result` block must have a corresponding `server_tool_use`", |body| {
                list(&mut body["messages"][1]["content"]).swap(3, 4)
            }),
            rule("Invalid `encrypted_content`", |body| {
                body["messages"][1]["content"][1]["content"][0]["encrypted_content"] = json!("other")
            }),
            rule("Invalid `encrypted_index`", |body| {
                body["messages"][1]["content"][2]["citations"][0]["encrypted_index"] = json!("other")
            }),
            rule("server_tool_use.id: String should match pattern", |body| {
                body["messages"][1]["content"][0]["id"] = json!("toolu_1")
            }),
            rule("server_tool_use.name: Input should be", |body| {
                body["messages"][1]["content"][0]["name"] = json!("lab__look")
            }),
            rule("server_tool_use.input: Input should be a valid dictionary", |body| {
                body["messages"][1]["content"][0]["input"] = json!("{}")
            }),
            rule("does not match any of the expected tags", |body| {
                body["tools"][0]["type"] = json!("web_search_of_tomorrow")
            }),
            rule("name: Input should be 'web_search'", |body| body["tools"][0]["name"] = json!("search")),
            rule("Extra inputs are not permitted", |body| body["tools"][1]["max_uses"] = json!(1)),
        ],
    );
    all_are_refused(
        &paused,
        vec![
            rule(whole, |body| list(&mut body["messages"]).push(json!({"role": "user", "content": "And?"}))),
            rule("does not support assistant message prefill", |body| {
                body["messages"][3]["content"][0]["text"] = json!("Wait, please.")
            }),
        ],
    );
}
