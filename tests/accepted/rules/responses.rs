//! The rules of OpenAI's Responses API, with a request that breaks each.

use serde_json::{Value, json};

use super::{ConformingClient, all_are_refused, list, remove, rule_case};
use crate::validator::{ProviderRequest, protocol_of};

fn responses(model: &str) -> ConformingClient {
    let parameters = json!({"type": "object", "properties": {}});
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": parameters});
    ConformingClient {
        provider: "responses",
        path: "v1/responses",
        messages: "input",
        body: json!({"model": model, "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"}, "instructions": "Be brief.",
            "tools": [function("weather"), function("time")]}),
        user: |text| json!({"role": "user", "content": text}),
        to_messages: <[Value]>::to_vec,
        results: |content| {
            let calls = content.iter().filter(|item| item["type"] == "function_call");
            calls
                .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "21"}))
                .collect()
        },
    }
}

#[test]
fn kept_response_precedes_input() {
    let mut client = responses("gpt-5.1");
    client.body["store"] = json!(true);
    let (in_loop, later) = client.tool_conversation();
    for good in [in_loop, later] {
        // The request names the newest stored response and sends only the items after it.
        let newest = good.memory.sent.len();
        let kept = good.memory.sent[newest - 1].before.len() + good.memory.sent[newest - 1].content.len();
        let mut part = good.request.clone();
        part.body["previous_response_id"] = json!(format!("resp_{newest:04}"));
        list(&mut part.body["input"]).drain(..kept);
        let rules = protocol_of(&part).unwrap();
        let whole = rules.expand_request(&part, &good.memory);
        assert_eq!(whole.body, good.request.body);
        assert_eq!(rules.judge(&whole, &good.memory), Ok(()));

        let refused = |change: &dyn Fn(&mut ProviderRequest)| {
            let mut part = part.clone();
            change(&mut part);
            rules.judge(&rules.expand_request(&part, &good.memory), &good.memory).unwrap_err().message
        };
        let all = good.request.body["input"].clone();
        let twice = refused(&|request| request.body["input"] = all.clone());
        assert!(twice.contains("Duplicate"), "{twice}");
        for unknown in ["resp_0099", "resp_0000", "resp_", "else"] {
            let message = refused(&|request| request.body["previous_response_id"] = json!(unknown));
            assert_eq!(message, format!("Previous response with id '{unknown}' not found."));
        }
        let message = refused(&|request| request.provider = "another".into());
        assert!(message.contains("not found"), "{message}");
        let mut forgetful = good.clone();
        forgetful.memory.sent.iter_mut().for_each(|sent| sent.is_stored = false);
        let refusal = rules.judge(&rules.expand_request(&part, &forgetful.memory), &forgetful.memory).unwrap_err();
        let document = rules.error_document(&refusal);
        assert_eq!((refusal.status, &document["error"]["code"]), (400, &json!("previous_response_not_found")));
    }
}

#[test]
fn responses_refuses_invalid_requests() {
    // The items of the input are: 0 message of the user, 1 reasoning, 2 message, 3 message of the user, 4 reasoning,
    // 5 message, 6 and 7 calls, 8 and 9 outputs, 10 reasoning, …
    let (in_loop, later) = responses("gpt-5.1").tool_conversation();
    all_are_refused(
        &in_loop,
        vec![
            rule_case("No tool output found for function call call_000203.", |body| {
                drop(list(&mut body["input"]).pop())
            }),
            rule_case("No tool call found for function call output with call_id call_000203", |body| {
                drop(list(&mut body["input"]).remove(7))
            }),
            rule_case("Duplicate tool output found", |body| {
                let twice = body["input"][9].clone();
                list(&mut body["input"]).push(twice);
            }),
            rule_case("object schema missing properties", |body| {
                body["tools"][0]["parameters"] = json!({"type": "object"})
            }),
            rule_case("Invalid 'tools[1].description': string too long.", |body| {
                body["tools"][1]["description"] = json!("x".repeat(1025))
            }),
            rule_case("without its required following item", |body| drop(list(&mut body["input"]).remove(5))),
            rule_case(
                "Item 'msg_000201' of type 'message' was provided without its required 'reasoning' item: 'rs_000200'",
                |body| drop(list(&mut body["input"]).remove(4)),
            ),
            rule_case("Missing required parameter: 'input[6].arguments'", |body| {
                remove(&mut body["input"][6], "arguments")
            }),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule_case("Missing required parameter: 'input[1].summary'", |body| {
                remove(&mut body["input"][1], "summary")
            }),
            rule_case("Items are not persisted when `store` is set to false", |body| {
                remove(&mut body["input"][1], "encrypted_content")
            }),
            rule_case("could not be verified", |body| body["input"][1]["encrypted_content"] = json!("gAAAAAother")),
            rule_case("could not be verified", |body| body["input"][1]["id"] = json!("rs_other")),
            rule_case("the summary was changed", |body| body["input"][1]["summary"][0]["text"] = json!("else")),
            rule_case(
                "array too long. Expected an array with maximum length 0, but got an array with length 1",
                |body| body["input"][1]["content"] = json!([{"type": "reasoning_text", "text": "x"}]),
            ),
            rule_case("without its required following item", |body| {
                body["input"][2] = json!({"role": "assistant", "content": "In other words"})
            }),
            rule_case("Duplicate item found with id rs_000100", |body| {
                let twice = body["input"][1].clone();
                list(&mut body["input"]).insert(1, twice);
            }),
            rule_case("Invalid 'input[2].id': ''", |body| body["input"][2]["id"] = json!("")),
            rule_case("Item with id 'msg_other' not found", |body| {
                drop(list(&mut body["input"]).remove(1));
                body["input"][1]["id"] = json!("msg_other");
            }),
            rule_case("Unknown parameter: 'input[2].reasoning'", |body| body["input"][2]["reasoning"] = json!("x")),
            rule_case("Supported values are: 'output_text' and 'refusal'", |body| {
                body["input"][2]["content"][0]["type"] = json!("input_text")
            }),
            rule_case("Previous response with id 'resp_1' not found", |body| {
                body["previous_response_id"] = json!("resp_1")
            }),
            rule_case("Unknown parameter: 'messages'", |body| body["messages"] = json!([])),
            rule_case("'minimal' is not supported with the 'gpt-5.1' model", |body| {
                body["reasoning"]["effort"] = json!("minimal")
            }),
            rule_case("Unsupported parameter: 'temperature'", |body| body["temperature"] = json!(0.5)),
            rule_case("integer below minimum value. Expected a value >= 16, but got 10", |body| {
                body["max_output_tokens"] = json!(10)
            }),
            rule_case("Invalid value: 'full'", |body| body["reasoning"]["summary"] = json!("full")),
            rule_case("'reasoning.effort' is not supported", |body| body["model"] = json!("gpt-4o")),
            rule_case("Encrypted content is not supported", |body| {
                body["model"] = json!("gpt-4o");
                remove(body, "reasoning");
            }),
        ],
    );
}
