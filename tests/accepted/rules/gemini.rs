//! What Gemini refuses.

use serde_json::{Value, json};

use super::{Client, all_are_refused, list, remove, rule};

fn gemini(model: &str, config: Value) -> Client {
    Client {
        provider: "gemini",
        path: Box::leak(format!("v1beta/models/{model}:streamGenerateContent?alt=sse").into_boxed_str()),
        messages: "contents",
        body: json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "generationConfig": {"thinkingConfig": config},
            "tools": [{"functionDeclarations": [{"name": "weather"}, {"name": "time"}]}]}),
        user: |text| json!({"role": "user", "parts": [{"text": text}]}),
        said: |said| {
            // A client that keeps no empty part.
            let mut said = said.to_vec();
            list(&mut said[0]["parts"]).retain(|part| part["text"] != "" || part.get("thoughtSignature").is_some());
            said
        },
        results: |said| {
            let calls = said[0]["parts"].as_array().unwrap().iter().filter_map(|part| part.get("functionCall"));
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
fn gemini_refuses_what_breaks_its_rules() {
    let shown = json!({"includeThoughts": true, "thinkingLevel": "high"});
    let (in_loop, later) = gemini("gemini-3-pro-preview", shown).converses();
    let place_of = |body: &Value, at: usize, key: &str| {
        body["contents"][at]["parts"].as_array().unwrap().iter().position(|part| part.get(key).is_some()).unwrap()
    };
    all_are_refused(
        &in_loop,
        vec![
            rule("Function call is missing a thought_signature in functionCall parts", |body| {
                let at = place_of(body, 3, "functionCall");
                remove(&mut body["contents"][3]["parts"][at], "thoughtSignature");
            }),
            rule("Corrupted thought signature", |body| {
                let at = place_of(body, 3, "functionCall");
                let signature = body["contents"][3]["parts"][at]["thoughtSignature"].clone();
                body["contents"][3]["parts"][at + 1]["thoughtSignature"] = signature;
            }),
            rule("Invalid thought signature", |body| {
                let at = place_of(body, 3, "functionCall");
                body["contents"][3]["parts"][at]["thoughtSignature"] = json!("skip");
            }),
            rule("number of function response parts is equal to the number of function call parts", |body| {
                drop(list(&mut body["contents"][4]["parts"]).pop())
            }),
            rule("function response parts match", |body| list(&mut body["contents"][4]["parts"]).reverse()),
            rule("google.protobuf.Struct", |body| {
                body["contents"][4]["parts"][0]["functionResponse"]["response"] = json!("21")
            }),
        ],
    );
    let unsigned = later.refused(|asked| {
        let at = place_of(&asked.body, 3, "functionCall");
        remove(&mut asked.body["contents"][3]["parts"][at], "thoughtSignature");
    });
    assert_eq!(unsigned, "(accepted)", "earlier turns are not judged");
    all_are_refused(
        &later,
        vec![
            rule("contents.parts must not be empty", |body| body["contents"][1]["parts"] = json!([])),
            rule("required oneof field 'data'", |body| body["contents"][1]["parts"] = json!([{"thought": true}])),
            rule("it must have a text parameter", |body| body["contents"][1]["parts"] = json!([{"text": ""}])),
            rule("Please use a valid role: user, model.", |body| body["contents"][1]["role"] = json!("assistant")),
            rule("alternate between user and model", |body| {
                list(&mut body["contents"]).push(json!({"role": "user", "parts": [{"text": "x"}]}))
            }),
            rule("end with a user role", |body| drop(list(&mut body["contents"]).pop())),
            rule("contents is not specified", |body| body["contents"] = json!([])),
            rule("function response turn comes immediately after a function call turn", |body| {
                drop(list(&mut body["contents"]).drain(2..4))
            }),
            rule("function call turn comes immediately after", |body| drop(list(&mut body["contents"]).drain(..3))),
            rule("only set only one of thinking budget and thinking level", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingBudget"] = json!(100)
            }),
            rule("Thinking level MEDIUM is not supported", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingLevel"] = json!("medium")
            }),
            rule("Unknown name \"system\"", |body| body["system"] = json!("x")),
            rule("maxOutputTokens value of 70000", |body| body["generationConfig"]["maxOutputTokens"] = json!(70_000)),
        ],
    );
    let moved = later.remarks(|asked| {
        let signed = list(&mut asked.body["contents"][1]["parts"]).pop().unwrap();
        asked.body["contents"][1]["parts"][0]["thoughtSignature"] = signed["thoughtSignature"].clone();
    });
    assert!(
        moved
            .iter()
            .any(|remark| remark.contains("message 1 is not what was said") || remark.contains("message 1 before it")),
        "{moved:?}"
    );
    assert!(later.refused(|asked| asked.headers.clear()).contains("unregistered callers"));
    assert!(later.refused(|asked| asked.path.push_str("&key=x")).contains("without the key in the URL"));

    let (_, budget) = gemini("gemini-2.5-pro", json!({"includeThoughts": true, "thinkingBudget": 1000})).converses();
    all_are_refused(
        &budget,
        vec![
            rule("The thinking budget 0 is invalid. Please choose a value between 128 and 32768", |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingBudget"] = json!(0)
            }),
            rule("Thinking level is not supported", |body| {
                body["generationConfig"]["thinkingConfig"] = json!({"thinkingLevel": "low"})
            }),
        ],
    );
    let (_, off) = gemini("gemini-2.5-flash", json!({"thinkingBudget": 0})).converses();
    all_are_refused(
        &off,
        vec![rule("include_thoughts is only enabled when thinking is enabled", |body| {
            body["generationConfig"]["thinkingConfig"]["includeThoughts"] = json!(true)
        })],
    );
    let (_, plain) = gemini("gemini-2.0-flash", json!(null)).converses();
    all_are_refused(
        &plain,
        vec![rule("Thinking is not enabled for models/gemini-2.0-flash", |body| {
            body["generationConfig"]["thinkingConfig"] = json!({"thinkingBudget": 0})
        })],
    );
}

#[test]
fn gemini_refuses_what_breaks_the_rules_of_its_own_tools() {
    let (_, later) = gemini("gemini-2.5-flash", json!({})).converses();
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
    assert_eq!(later.refused(|asked| ran(json!([code, result]))(&mut asked.body)), "(accepted)");
    all_are_refused(
        &later,
        vec![
            rule("cannot be combined in the same request", |body| {
                list(&mut body["tools"]).push(json!({"googleSearch": {}}))
            }),
            rule("Unknown name \"webSearch\"", |body| body["tools"] = json!([{"webSearch": {}}])),
            rule("equal to the number of executable codes", ran(json!([code]))),
            rule("comes after the executable code", ran(json!([result, code]))),
            rule("executable_code", ran(json!([{"executableCode": {"code": "1"}}, result]))),
            rule("outcome", ran(json!([code, {"codeExecutionResult": {"output": "1"}}]))),
        ],
    );
}
