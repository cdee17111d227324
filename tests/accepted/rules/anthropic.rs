//! The rules of Anthropic's Messages API, with a request that breaks each.

use serde_json::{Value, json};

use super::{ConformingClient, all_are_refused, list, remove, rule_case};
use crate::validator::ProviderRequest;

fn anthropic(model: &str, more: Value) -> ConformingClient {
    let mut body = json!({"model": model, "max_tokens": 4096, "stream": true, "system": "Be brief.",
        "tools": [{"name": "weather", "input_schema": {"type": "object"}}, {"name": "time", "input_schema": {"type": "object"}}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ConformingClient {
        provider: "anthropic",
        path: "v1/messages",
        messages: "messages",
        body,
        user: |text| json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        to_messages: |content| vec![json!({"role": "assistant", "content": content})],
        results: |content| {
            let calls = content.iter().filter(|block| block["type"] == "tool_use");
            let results: Vec<Value> =
                calls.map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "21"})).collect();
            vec![json!({"role": "user", "content": results})]
        },
    }
}

#[test]
fn anthropic_refuses_invalid_requests() {
    let adaptive =
        json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}});
    let (in_loop, later) = anthropic("claude-opus-4-7", adaptive.clone()).tool_conversation();
    all_are_refused(
        &in_loop,
        vec![
            rule_case("Expected `thinking` or `redacted_thinking`, but found `text`", |body| {
                drop(list(&mut body["messages"][3]["content"]).remove(0))
            }),
            rule_case("cannot be modified", |body| {
                body["messages"][3]["content"][0]["thinking"] = json!("Something else")
            }),
            rule_case("each thinking block must contain thinking", |body| {
                body["messages"][3]["content"][0]["thinking"] = json!("")
            }),
            rule_case("Invalid `signature` in `thinking` block", |body| {
                body["messages"][3]["content"][0]["signature"] = json!("EqUDabc")
            }),
            rule_case("thinking.signature: Field required", |body| {
                remove(&mut body["messages"][3]["content"][0], "signature")
            }),
            rule_case("thinking.thinking: Field required", |body| {
                remove(&mut body["messages"][3]["content"][0], "thinking")
            }),
            rule_case(
                "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_000203",
                |body| drop(list(&mut body["messages"][4]["content"]).pop()),
            ),
            rule_case("`tool_use` ids were found without", |body| {
                list(&mut body["messages"][4]["content"]).insert(0, json!({"type": "text", "text": "first"}))
            }),
            rule_case("unexpected `tool_use_id` found in `tool_result` blocks: toolu_9", |body| {
                list(&mut body["messages"][4]["content"]).push(json!({"type": "tool_result", "tool_use_id": "toolu_9"}))
            }),
            rule_case("each tool_use must have a single result", |body| {
                let twice = body["messages"][4]["content"][0].clone();
                list(&mut body["messages"][4]["content"]).push(twice);
            }),
            rule_case("`tool_use` ids must be unique", |body| {
                body["messages"][3]["content"][3]["id"] = json!("toolu_000202")
            }),
            rule_case("tool_use.input: Input should be a valid dictionary", |body| {
                body["messages"][3]["content"][2]["input"] = json!("{}")
            }),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("text content blocks must be non-empty", |body| {
                body["messages"][0]["content"][0]["text"] = json!("")
            }),
            rule_case("must contain non-whitespace text", |body| {
                body["messages"][0]["content"][0]["text"] = json!(" \n")
            }),
            rule_case("all messages must have non-empty content", |body| body["messages"][1]["content"] = json!([])),
            rule_case("roles must alternate", |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "And?"}))
            }),
            rule_case("first message must use the \"user\" role", |body| drop(list(&mut body["messages"]).remove(0))),
            rule_case("Input should be 'user' or 'assistant'", |body| {
                list(&mut body["messages"]).insert(1, json!({"role": "system", "content": "x"}))
            }),
            rule_case(
                "does not support assistant message prefill. The conversation must end with a user message.",
                |body| drop(list(&mut body["messages"]).pop()),
            ),
            rule_case("\"thinking.type.enabled\" is not supported for this model", |body| {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048})
            }),
            rule_case("does not support effort level 'minimal'", |body| {
                body["output_config"]["effort"] = json!("minimal")
            }),
            rule_case("block_binding: Extra inputs are not permitted", |body| {
                body["thinking"]["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"})
            }),
            rule_case("`temperature` is deprecated for this model.", |body| body["temperature"] = json!(1)),
            rule_case("max_tokens: 128001 > 128000", |body| body["max_tokens"] = json!(128_001)),
            rule_case("max_tokens: Field required", |body| remove(body, "max_tokens")),
            rule_case("seed: Extra inputs are not permitted", |body| body["seed"] = json!(1)),
            rule_case("stop sequence must contain non-whitespace", |body| body["stop_sequences"] = json!([" "])),
            rule_case("system: text content blocks must be non-empty", |body| body["system"] = json!("")),
            rule_case("Tool names must be unique", |body| body["tools"][1]["name"] = json!("weather")),
            rule_case("tools.0.custom.input_schema.type: Field required", |body| {
                body["tools"][0]["input_schema"] = json!({})
            }),
            rule_case("does not support oneOf, allOf, or anyOf at the top level", |body| {
                body["tools"][0]["input_schema"]["anyOf"] = json!([{}])
            }),
            rule_case("Property keys should match pattern", |body| {
                body["tools"][0]["input_schema"]["properties"] = json!({"a b": {}})
            }),
            rule_case("tool_choice forces tool use", |body| body["tool_choice"] = json!({"type": "any"})),
            rule_case("model: claude-nobody", |body| body["model"] = json!("claude-nobody")),
        ],
    );
    for (name, words) in
        [("x-api-key", "header is required"), ("anthropic-version", "anthropic-version: header is required")]
    {
        let without = |request: &mut ProviderRequest| {
            request.headers.retain(|(known, _)| known != name && known != "authorization")
        };
        assert!(later.refusal_of(without).contains(words), "{name}");
    }

    // The thinking of this model is bound to everything before it, unlike that of other models.
    let bound = json!({"thinking": {"type": "adaptive", "display": "summarized", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}});
    let (in_loop, later) = anthropic("claude-sonnet-5-5", bound).tool_conversation();
    const WRONG_CONVERSATION: &str = "The block is bound to a different conversation.";
    for good in [&in_loop, &later] {
        all_are_refused(
            good,
            vec![
                rule_case(WRONG_CONVERSATION, |body| body["system"] = json!("Be long.")),
                rule_case(WRONG_CONVERSATION, |body| drop(list(&mut body["tools"]).pop())),
                rule_case(WRONG_CONVERSATION, |body| body["messages"][0]["content"][0]["text"] = json!("Hello")),
                rule_case(WRONG_CONVERSATION, |body| drop(list(&mut body["messages"][1]["content"]).remove(0))),
                rule_case("\"thinking.type.disabled\" is not supported", |body| {
                    body["thinking"] = json!({"type": "disabled"})
                }),
            ],
        );
    }
    let without_beta = |request: &mut ProviderRequest| request.headers.retain(|(known, _)| known != "anthropic-beta");
    assert!(later.refusal_of(without_beta).contains("block_binding: Extra inputs are not permitted"));

    // Older model generations have a thinking budget.
    let (_, budget) = anthropic("claude-sonnet-4-5", json!({"thinking": {"type": "enabled", "budget_tokens": 2048}}))
        .tool_conversation();
    all_are_refused(
        &budget,
        vec![
            rule_case("greater than or equal to 1024", |body| body["thinking"]["budget_tokens"] = json!(1000)),
            rule_case("`max_tokens` must be greater than `thinking.budget_tokens`", |body| {
                body["max_tokens"] = json!(2048)
            }),
            rule_case("`temperature` may only be set to 1 when thinking is enabled.", |body| {
                body["temperature"] = json!(0.5)
            }),
            rule_case("`top_p` must be greater than or equal to 0.95", |body| body["top_p"] = json!(0.5)),
            rule_case("`top_k` must be unset when thinking is enabled.", |body| body["top_k"] = json!(5)),
            rule_case("adaptive thinking is not supported on this model", |body| {
                body["thinking"] = json!({"type": "adaptive"})
            }),
            rule_case("does not support the effort parameter", |body| body["output_config"] = json!({"effort": "low"})),
            rule_case("final assistant content cannot end with trailing whitespace", |body| {
                list(&mut body["messages"]).push(json!({"role": "assistant", "content": "So "}))
            }),
        ],
    );
    let (_, plain) = anthropic("claude-3-5-haiku-20241022", json!({})).tool_conversation();
    all_are_refused(
        &plain,
        vec![
            rule_case("does not support thinking", |body| {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048})
            }),
            rule_case("max_tokens: 9000 > 8192", |body| body["max_tokens"] = json!(9000)),
            rule_case("temperature: range: 0..1", |body| body["temperature"] = json!(1.5)),
        ],
    );
    let (_, four_one) = anthropic("claude-opus-4-1", json!({})).tool_conversation();
    all_are_refused(
        &four_one,
        vec![rule_case("`temperature` and `top_p` cannot both be specified", |body| {
            body["temperature"] = json!(0.5);
            body["top_p"] = json!(0.5);
        })],
    );
}

/// The rules of the tools that the API runs itself, in requests that follow their use.
#[test]
fn anthropic_refuses_invalid_built_in_tool_use() {
    use super::{ProviderMemory, ScriptedReply, ValidConversation};
    use crate::validator::KEY;
    use crate::validator::script::{BuiltInTool, ReplyEnd, ScriptPart, text_part};

    let mut client = anthropic("claude-sonnet-4-6", json!({}));
    client.body["tools"] = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "code_execution_20260120", "name": "code_execution"}]);
    client.body["messages"] = json!([(client.user)("Hi")]);
    let headers =
        [("x-api-key", KEY), ("anthropic-version", "2023-06-01")].map(|(name, value)| (name.into(), value.into()));
    let (provider, path) = (client.provider.to_owned(), format!("/{}/{}", client.provider, client.path));
    let request = ProviderRequest { provider, path, headers: headers.to_vec(), body: client.body.clone() };
    let mut later = ValidConversation { request, memory: ProviderMemory::default() };
    client.append_reply(
        &mut later,
        &ScriptedReply::new([
            ScriptPart::BuiltInCall(BuiltInTool::Search),
            text_part("Found."),
            ScriptPart::BuiltInCall(BuiltInTool::Code),
        ]),
    );
    client.append_messages(&mut later, [(client.user)("More")]);
    let mut paused = later.clone();
    client.append_reply(
        &mut paused,
        &ScriptedReply::new([text_part("Wait."), ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Search)])
            .with_end(ReplyEnd::Pause),
    );
    assert_eq!(paused.refusal_of(|_| {}), "(accepted)");
    let whole = "was found without a corresponding `web_search_tool_result` block";
    all_are_refused(
        &later,
        vec![
            rule_case(whole, |body| drop(list(&mut body["messages"][1]["content"]).remove(1))),
            rule_case("unexpected `tool_use_id` found in `web_search_tool_result` blocks", |body| {
                drop(list(&mut body["messages"][1]["content"]).remove(0))
            }),
            rule_case(
                "Each `bash_code_execution_tool_result` block must have a corresponding `server_tool_use`",
                |body| list(&mut body["messages"][1]["content"]).swap(3, 4),
            ),
            rule_case("Invalid `encrypted_content`", |body| {
                body["messages"][1]["content"][1]["content"][0]["encrypted_content"] = json!("other")
            }),
            rule_case("Invalid `encrypted_index`", |body| {
                body["messages"][1]["content"][2]["citations"][0]["encrypted_index"] = json!("other")
            }),
            rule_case("server_tool_use.id: String should match pattern", |body| {
                body["messages"][1]["content"][0]["id"] = json!("toolu_1")
            }),
            rule_case("server_tool_use.name: Input should be", |body| {
                body["messages"][1]["content"][0]["name"] = json!("lab__look")
            }),
            rule_case("server_tool_use.input: Input should be a valid dictionary", |body| {
                body["messages"][1]["content"][0]["input"] = json!("{}")
            }),
            rule_case("does not match any of the expected tags", |body| {
                body["tools"][0]["type"] = json!("web_search_of_tomorrow")
            }),
            rule_case("name: Input should be 'web_search'", |body| body["tools"][0]["name"] = json!("search")),
            rule_case("Extra inputs are not permitted", |body| body["tools"][1]["max_uses"] = json!(1)),
        ],
    );
    all_are_refused(
        &paused,
        vec![
            rule_case(whole, |body| list(&mut body["messages"]).push(json!({"role": "user", "content": "And?"}))),
            rule_case("does not support assistant message prefill", |body| {
                body["messages"][3]["content"][0]["text"] = json!("Wait, please.")
            }),
        ],
    );
}
