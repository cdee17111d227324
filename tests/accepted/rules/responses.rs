//! Responses: what OpenAI refuses.

use serde_json::{Value, json};

use super::{Client, all_are_refused, list, remove, rule};
use crate::validator::{Asked, protocol};

fn responses(model: &str) -> Client {
    Client {
        provider: "responses",
        path: "v1/responses",
        messages: "input",
        body: json!({"model": model, "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"}, "instructions": "Be brief.",
            "tools": [{"type": "function", "name": "weather", "parameters": {}}, {"type": "function", "name": "time", "parameters": {}}]}),
        user: |text| json!({"role": "user", "content": text}),
        said: <[Value]>::to_vec,
        results: |said| {
            let calls = said.iter().filter(|item| item["type"] == "function_call");
            calls
                .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "21"}))
                .collect()
        },
    }
}

#[test]
fn a_kept_response_stands_before_the_input() {
    let mut client = responses("gpt-5.1");
    client.body["store"] = json!(true);
    let (in_loop, later) = client.converses();
    for good in [in_loop, later] {
        // The newest response, and what came behind it.
        let newest = good.memory.sent.len();
        let kept = good.memory.sent[newest - 1].before.len() + good.memory.sent[newest - 1].said.len();
        let mut part = good.asked.clone();
        part.body["previous_response_id"] = json!(format!("resp_{newest:04}"));
        list(&mut part.body["input"]).drain(..kept);
        let rules = protocol(&part).unwrap();
        let whole = rules.whole(&part, &good.memory);
        assert_eq!(whole.body, good.asked.body);
        assert_eq!(rules.judge(&whole, &good.memory), Ok(()));

        let refused = |change: &dyn Fn(&mut Asked)| {
            let mut part = part.clone();
            change(&mut part);
            rules.judge(&rules.whole(&part, &good.memory), &good.memory).unwrap_err().message
        };
        let all = good.asked.body["input"].clone();
        let twice = refused(&|asked| asked.body["input"] = all.clone());
        assert!(twice.contains("Duplicate"), "{twice}");
        for unknown in ["resp_0099", "resp_0000", "resp_", "else"] {
            let said = refused(&|asked| asked.body["previous_response_id"] = json!(unknown));
            assert_eq!(said, format!("Previous response with id '{unknown}' not found."));
        }
        let said = refused(&|asked| asked.provider = "another".into());
        assert!(said.contains("not found"), "{said}");
        let mut forgetful = good.clone();
        forgetful.memory.sent.iter_mut().for_each(|sent| sent.is_stored = false);
        let said = rules.judge(&rules.whole(&part, &forgetful.memory), &forgetful.memory).unwrap_err();
        let document = rules.refusal(&said);
        assert_eq!((said.status, &document["error"]["code"]), (400, &json!("previous_response_not_found")));
    }
}

#[test]
fn responses_refuses_what_breaks_its_rules() {
    // 0 person, 1 reasoning, 2 message, 3 person, 4 reasoning, 5 message, 6 and 7 calls, 8 and 9 outputs, 10 reasoning, …
    let (in_loop, later) = responses("gpt-5.1").converses();
    all_are_refused(
        &in_loop,
        vec![
            rule("No tool output found for function call call_000203.", |body| drop(list(&mut body["input"]).pop())),
            rule("No tool call found for function call output with call_id call_000203", |body| {
                drop(list(&mut body["input"]).remove(7))
            }),
            rule("Duplicate tool output found", |body| {
                let twice = body["input"][9].clone();
                list(&mut body["input"]).push(twice);
            }),
            rule("without its required following item", |body| drop(list(&mut body["input"]).remove(5))),
            rule(
                "Item 'msg_000201' of type 'message' was provided without its required 'reasoning' item: 'rs_000200'",
                |body| drop(list(&mut body["input"]).remove(4)),
            ),
            rule("Missing required parameter: 'input[6].arguments'", |body| remove(&mut body["input"][6], "arguments")),
        ],
    );
    all_are_refused(
        &later,
        vec![
            rule("Missing required parameter: 'input[1].summary'", |body| remove(&mut body["input"][1], "summary")),
            rule("Items are not persisted when `store` is set to false", |body| {
                remove(&mut body["input"][1], "encrypted_content")
            }),
            rule("could not be verified", |body| body["input"][1]["encrypted_content"] = json!("gAAAAAother")),
            rule("could not be verified", |body| body["input"][1]["id"] = json!("rs_other")),
            rule("the summary was changed", |body| body["input"][1]["summary"][0]["text"] = json!("else")),
            rule("array too long. Expected an array with maximum length 0, but got an array with length 1", |body| {
                body["input"][1]["content"] = json!([{"type": "reasoning_text", "text": "x"}])
            }),
            rule("without its required following item", |body| {
                body["input"][2] = json!({"role": "assistant", "content": "In other words"})
            }),
            rule("Duplicate item found with id rs_000100", |body| {
                let twice = body["input"][1].clone();
                list(&mut body["input"]).insert(1, twice);
            }),
            rule("Invalid 'input[2].id': ''", |body| body["input"][2]["id"] = json!("")),
            rule("Item with id 'msg_other' not found", |body| {
                drop(list(&mut body["input"]).remove(1));
                body["input"][1]["id"] = json!("msg_other");
            }),
            rule("Unknown parameter: 'input[2].reasoning'", |body| body["input"][2]["reasoning"] = json!("x")),
            rule("Supported values are: 'output_text' and 'refusal'", |body| {
                body["input"][2]["content"][0]["type"] = json!("input_text")
            }),
            rule("Previous response with id 'resp_1' not found", |body| body["previous_response_id"] = json!("resp_1")),
            rule("Unknown parameter: 'messages'", |body| body["messages"] = json!([])),
            rule("'minimal' is not supported with the 'gpt-5.1' model", |body| {
                body["reasoning"]["effort"] = json!("minimal")
            }),
            rule("Unsupported parameter: 'temperature'", |body| body["temperature"] = json!(0.5)),
            rule("integer below minimum value. Expected a value >= 16, but got 10", |body| {
                body["max_output_tokens"] = json!(10)
            }),
            rule("Invalid value: 'full'", |body| body["reasoning"]["summary"] = json!("full")),
            rule("'reasoning.effort' is not supported", |body| body["model"] = json!("gpt-4o")),
            rule("Encrypted content is not supported", |body| {
                body["model"] = json!("gpt-4o");
                remove(body, "reasoning");
            }),
        ],
    );
}
