//! The rules of the Gemini API, with a request that breaks each.

use serde_json::{Value, json};

use super::{ConformingClient, all_are_refused, list, remove, rule_case};

fn gemini(model: &str, config: Value) -> ConformingClient {
    ConformingClient {
        provider: "gemini",
        path: Box::leak(format!("v1beta/models/{model}:streamGenerateContent?alt=sse").into_boxed_str()),
        messages: "contents",
        body: json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "generationConfig": {"thinkingConfig": config},
            "tools": [{"functionDeclarations": [{"name": "weather"}, {"name": "time"}]}]}),
        user: |text| json!({"role": "user", "parts": [{"text": text}]}),
        to_messages: |content| {
            // This client drops empty parts, unless they have a signature.
            let mut content = content.to_vec();
            list(&mut content[0]["parts"]).retain(|part| part["text"] != "" || part.get("thoughtSignature").is_some());
            content
        },
        results: |content| {
            let calls = content[0]["parts"].as_array().unwrap().iter().filter_map(|part| part.get("functionCall"));
            let answer = |call: &Value| {
                let mut answer = json!({"name": call["name"], "response": {"output": 21}});
                if call.get("id").is_some() {
                    answer["id"] = call["id"].clone();
                }
                json!({"functionResponse": answer})
            };
            vec![json!({"role": "user", "parts": calls.map(answer).collect::<Vec<_>>()})]
        },
    }
}

#[test]
fn gemini_refuses_invalid_requests() {
    let shown = json!({"includeThoughts": true, "thinkingLevel": "high"});
    let (in_loop, later) = gemini("gemini-3-pro-preview", shown).tool_conversation();
    let place_of = |body: &Value, at: usize, key: &str| {
        body["contents"][at]["parts"].as_array().unwrap().iter().position(|part| part.get(key).is_some()).unwrap()
    };
    all_are_refused(
        &in_loop,
        vec![
            rule_case("Function call is missing a thought_signature in functionCall parts", |body| {
                let at = place_of(body, 3, "functionCall");
                remove(&mut body["contents"][3]["parts"][at], "thoughtSignature");
            }),
            rule_case("Corrupted thought signature", |body| {
                let at = place_of(body, 3, "functionCall");
                let signature = body["contents"][3]["parts"][at]["thoughtSignature"].clone();
                body["contents"][3]["parts"][at + 1]["thoughtSignature"] = signature;
            }),
            rule_case("Invalid thought signature", |body| {
                let at = place_of(body, 3, "functionCall");
                body["contents"][3]["parts"][at]["thoughtSignature"] = json!("skip");
            }),
            rule_case("number of function response parts is equal to the number of function call parts", |body| {
                drop(list(&mut body["contents"][4]["parts"]).pop())
            }),
            rule_case("function response parts match", |body| list(&mut body["contents"][4]["parts"]).reverse()),
            rule_case("google.protobuf.Struct", |body| {
                body["contents"][4]["parts"][0]["functionResponse"]["response"] = json!("21")
            }),
        ],
    );
    let unsigned = later.refusal_of(|request| {
        let at = place_of(&request.body, 3, "functionCall");
        remove(&mut request.body["contents"][3]["parts"][at], "thoughtSignature");
    });
    assert_eq!(unsigned, "(accepted)", "earlier turns are not judged");
    all_are_refused(
        &later,
        vec![
            rule_case("contents.parts must not be empty", |body| body["contents"][1]["parts"] = json!([])),
            rule_case("required oneof field 'data'", |body| body["contents"][1]["parts"] = json!([{"thought": true}])),
            rule_case("it must have a text parameter", |body| body["contents"][1]["parts"] = json!([{"text": ""}])),
            rule_case("Please use a valid role: user, model.", |body| body["contents"][1]["role"] = json!("assistant")),
            rule_case("alternate between user and model", |body| {
                list(&mut body["contents"]).push(json!({"role": "user", "parts": [{"text": "x"}]}))
            }),
            rule_case("end with a user role", |body| drop(list(&mut body["contents"]).pop())),
            rule_case("contents is not specified", |body| body["contents"] = json!([])),
            rule_case("function response turn comes immediately after a function call turn", |body| {
                drop(list(&mut body["contents"]).drain(2..4))
            }),
            rule_case("function call turn comes immediately after", |body| {
                drop(list(&mut body["contents"]).drain(..3))
            }),
            rule_case("only set only one of thinking budget and thinking level", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingBudget"] = json!(100)
            }),
            rule_case("Thinking level MEDIUM is not supported", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingLevel"] = json!("medium")
            }),
            rule_case("Unknown name \"system\"", |body| body["system"] = json!("x")),
            rule_case("maxOutputTokens value of 70000", |body| {
                body["generationConfig"]["maxOutputTokens"] = json!(70_000)
            }),
        ],
    );
    let moved = later.remarks_on(|request| {
        let signed = list(&mut request.body["contents"][1]["parts"]).pop().unwrap();
        request.body["contents"][1]["parts"][0]["thoughtSignature"] = signed["thoughtSignature"].clone();
    });
    assert!(
        moved
            .iter()
            .any(|remark| remark.contains("message 1 is not what was said") || remark.contains("message 1 before it")),
        "{moved:?}"
    );
    assert!(later.refusal_of(|request| request.headers.clear()).contains("unregistered callers"));
    assert!(later.refusal_of(|request| request.path.push_str("&key=x")).contains("without the key in the URL"));

    let (_, budget) =
        gemini("gemini-2.5-pro", json!({"includeThoughts": true, "thinkingBudget": 1000})).tool_conversation();
    all_are_refused(
        &budget,
        vec![
            rule_case("The thinking budget 0 is invalid. Please choose a value between 128 and 32768", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingBudget"] = json!(0)
            }),
            rule_case("Thinking level is not supported", |body| {
                body["generationConfig"]["thinkingConfig"] = json!({"thinkingLevel": "low"})
            }),
        ],
    );
    let (_, off) = gemini("gemini-2.5-flash", json!({"thinkingBudget": 0})).tool_conversation();
    all_are_refused(
        &off,
        vec![rule_case("include_thoughts is only enabled when thinking is enabled", |body| {
            body["generationConfig"]["thinkingConfig"]["includeThoughts"] = json!(true)
        })],
    );
    let (_, plain) = gemini("gemini-2.0-flash", json!(null)).tool_conversation();
    all_are_refused(
        &plain,
        vec![rule_case("Thinking is not enabled for models/gemini-2.0-flash", |body| {
            body["generationConfig"]["thinkingConfig"] = json!({"thinkingBudget": 0})
        })],
    );
}

#[test]
fn gemini_refuses_invalid_built_in_tool_use() {
    let (_, later) = gemini("gemini-2.5-flash", json!({})).tool_conversation();
    let ran = |parts: Value| {
        move |body: &mut Value| {
            let at = list(&mut body["contents"]).len() - 1;
            list(&mut body["contents"]).insert(at, json!({"role": "model", "parts": parts.clone()}));
            list(&mut body["contents"]).insert(at, json!({"role": "user", "parts": [{"text": "Hm"}]}));
            body.as_object_mut().unwrap().remove("tools");
        }
    };
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let result = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}});
    assert_eq!(later.refusal_of(|request| ran(json!([code, result]))(&mut request.body)), "(accepted)");
    all_are_refused(
        &later,
        vec![
            rule_case("cannot be combined in the same request", |body| {
                list(&mut body["tools"]).push(json!({"googleSearch": {}}))
            }),
            rule_case("Unknown name \"webSearch\"", |body| body["tools"] = json!([{"webSearch": {}}])),
            rule_case("equal to the number of executable codes", ran(json!([code]))),
            rule_case("comes after the executable code", ran(json!([result, code]))),
            rule_case("executable_code", ran(json!([{"executableCode": {"code": "1"}}, result]))),
            rule_case("outcome", ran(json!([code, {"codeExecutionResult": {"output": "1"}}]))),
        ],
    );
}
