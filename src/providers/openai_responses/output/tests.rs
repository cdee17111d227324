//! Tests of texts whose indexes or final forms differ from their deltas: every character is shown once, and the final
//! text wins.

use serde_json::{Value, json};

use crate::replay::{ReplayOptions, replay};

fn decode(body: &str, chunk: Option<usize>) -> Value {
    let api = "openai_responses".to_owned();
    let options = ReplayOptions { api, dialect: None, http_status: None, chunk, with_next_message: true };
    replay(&options, body.as_bytes()).unwrap()
}

/// Returns the blocks of a response as `type: text`, with its next request.
fn shown(events: &[Value]) -> (Vec<String>, Value) {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let decode = |chunk| decode(&body, chunk);
    let printed = decode(None);
    assert_eq!(decode(Some(1)), printed, "byte by byte");
    assert_eq!(printed["complete"], true);
    let block = |block: &Value| {
        let text = ["text", "thinking", "arguments_raw", "value"].into_iter().find_map(|field| block.get(field));
        let text = text.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned));
        format!("{}: {}", block["type"].as_str().unwrap(), text.unwrap_or_default())
    };
    (printed["blocks"].as_array().unwrap().iter().map(block).collect(), printed["next"].clone())
}

fn blocks(events: &[Value]) -> Vec<String> {
    shown(events).0
}

fn item(kind: &str, texts: &[&str]) -> Value {
    let parts = |kind: &str| texts.iter().map(|text| json!({"type": kind, "text": text})).collect::<Vec<_>>();
    match kind {
        "message" => json!({"id": "m1", "type": "message", "role": "assistant", "content": parts("output_text")}),
        "refusal" => {
            let parts: Vec<_> = texts.iter().map(|text| json!({"type": "refusal", "refusal": text})).collect();
            json!({"id": "m1", "type": "message", "role": "assistant", "content": parts})
        }
        "summary" => json!({"id": "r1", "type": "reasoning", "summary": parts("summary_text")}),
        "content" => json!({"id": "r1", "type": "reasoning", "summary": [], "content": parts("reasoning_text")}),
        _ => json!({"id": "f1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": texts.concat()}),
    }
}

/// The kinds of items with the events of their texts, the counter of their parts, and the field of a complete text.
const KINDS: [(&str, &str, &str, &str); 4] = [
    ("message", "output_text", "content_index", "text"),
    ("refusal", "refusal", "content_index", "refusal"),
    ("summary", "reasoning_summary_text", "summary_index", "text"),
    ("content", "reasoning_text", "content_index", "text"),
];

fn expected(kind: &str, texts: &[&str]) -> Vec<String> {
    match kind {
        "message" | "refusal" => vec![format!("text: {}", texts.concat())],
        _ => vec![format!("thinking: {}", texts.join("\n\n"))],
    }
}

fn added(item: &Value) -> Value {
    let mut empty = item.clone();
    for field in ["content", "summary"] {
        if empty.get(field).is_some() {
            empty[field] = json!([]);
        }
    }
    if empty.get("arguments").is_some() {
        empty["arguments"] = json!("");
    }
    json!({"type": "response.output_item.added", "output_index": 0, "item": empty})
}

fn done(item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": item})
}

fn completed(output: &[&Value]) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn text_event(kind: &str, step: &str, index: u64, text: &str) -> Value {
    let (_, name, counter, field) = KINDS.into_iter().find(|(known, ..)| *known == kind).unwrap();
    let field = if step == "delta" { "delta" } else { field };
    json!({"type": format!("response.{name}.{step}"), "output_index": 0, counter: index, field: text})
}

#[test]
fn text_is_shown_once_whatever_the_indexes_are() {
    let texts = ["Hello ", "wor", "Hello world"];
    for (kind, ..) in KINDS {
        for (case, of_deltas, of_done) in [
            ("as it should be", [0, 1, 2], [0, 1, 2]),
            ("from one", [1, 2, 3], [1, 2, 3]),
            ("from one, done from zero", [1, 2, 3], [0, 1, 2]),
            ("with gaps", [2, 5, 7], [2, 5, 7]),
            ("one index", [0, 0, 0], [0, 0, 0]),
            ("one other index", [1, 1, 1], [1, 1, 1]),
        ] {
            for count in 1..=3 {
                for (with_done, with_item, with_output) in [
                    (true, true, true),
                    (true, false, true),
                    (true, true, false),
                    (false, true, true),
                    (false, false, true),
                ] {
                    let whole = item(kind, &texts[..count]);
                    let output = [&whole];
                    let mut events = vec![added(&whole)];
                    for n in 0..count {
                        let (begin, end) = texts[n].split_at(2);
                        events.push(text_event(kind, "delta", of_deltas[n], begin));
                        events.push(text_event(kind, "delta", of_deltas[n], end));
                        if with_done {
                            events.push(text_event(kind, "done", of_done[n], texts[n]));
                        }
                    }
                    events.extend(with_item.then(|| done(&whole)));
                    events.push(completed(if with_output { &output } else { &[] }));
                    let is_emitted_as_one =
                        !with_done && case.starts_with("one") && !matches!(kind, "message" | "refusal");
                    let expected = match is_emitted_as_one {
                        true => vec![format!("thinking: {}", texts[..count].concat())],
                        false => expected(kind, &texts[..count]),
                    };
                    let label = format!("{kind}, {case}, {count} parts, {with_done} {with_item} {with_output}");
                    assert_eq!(blocks(&events), expected, "{label}");
                }
            }
        }
    }
}

#[test]
fn missing_texts_are_added_behind_those_of_other_indexes() {
    for (kind, ..) in KINDS {
        let whole = item(kind, &["One", "Two"]);
        let events = [added(&whole), text_event(kind, "delta", 1, "On"), done(&whole), completed(&[&whole])];
        assert_eq!(blocks(&events), expected(kind, &["One", "Two"]), "{kind}");
        let other_id = json!({"type": "response.output_item.done", "output_index": 7, "item": whole});
        let events = [added(&whole), text_event(kind, "delta", 1, "On"), other_id, completed(&[])];
        assert_eq!(blocks(&events), expected(kind, &["One", "Two"]), "{kind} with another output index");
    }
    // Text of a reasoning item is not repeated in its other list.
    let deltas = [text_event("content", "delta", 1, "Why"), text_event("content", "done", 0, "Why")];
    let events = [&deltas[..], &[done(&item("summary", &["Why"])), completed(&[&item("summary", &["Why"])])]].concat();
    assert_eq!(blocks(&events), ["thinking: Why"]);
}

#[test]
fn final_text_wins_over_deltas() {
    for (kind, ..) in KINDS {
        let label = expected(kind, &[""])[0].clone();
        let right = "The command ran.";
        for (of_delta, of_done) in [(0, 0), (1, 1), (1, 0)] {
            let whole = item(kind, &[right]);
            let wrong = text_event(kind, "delta", of_delta, "The comand");
            for end in [
                vec![text_event(kind, "done", of_done, right), done(&whole), completed(&[&whole])],
                vec![text_event(kind, "done", of_done, right), completed(&[])],
                vec![done(&whole), completed(&[&whole])],
                vec![completed(&[&whole])],
            ] {
                let events = [&[added(&whole), wrong.clone()], &end[..]].concat();
                assert_eq!(blocks(&events), [format!("{label}{right}")], "{kind} {of_delta} {of_done} {}", end.len());
            }
        }
        // The final text of the item is newer than that of its text.
        let whole = item(kind, &["Right."]);
        let events = [
            text_event(kind, "delta", 0, "Wrogn"),
            text_event(kind, "done", 0, "Wrong."),
            done(&whole),
            completed(&[&whole]),
        ];
        assert_eq!(blocks(&events), [format!("{label}Right.")], "{kind} twice");
        // Two parts are one block, and one of them is corrected.
        let whole = item(kind, &["One", "Two"]);
        let events = [
            text_event(kind, "delta", 0, "Oen"),
            text_event(kind, "done", 0, "One"),
            text_event(kind, "delta", 1, "Tow"),
            done(&whole),
            completed(&[&whole]),
        ];
        assert_eq!(blocks(&events), expected(kind, &["One", "Two"]), "{kind} in two parts");
        // Text that continues after a correction is appended to it.
        let events = [
            text_event(kind, "delta", 0, "Oen"),
            text_event(kind, "done", 0, "One"),
            text_event(kind, "delta", 1, "Two"),
            completed(&[]),
        ];
        assert_eq!(blocks(&events), expected(kind, &["One", "Two"]), "{kind} goes on");
    }
}

#[test]
fn blank_or_cut_final_text_erases_nothing() {
    for (kind, ..) in KINDS {
        for short in ["", " ", "Hel", "Hello"] {
            let whole = item(kind, &[short]);
            let delta = text_event(kind, "delta", 0, "Hello");
            let text_done = text_event(kind, "done", 0, short);
            for ends in [
                vec![text_done.clone(), done(&whole), completed(&[])],
                vec![text_done.clone(), completed(&[&whole])],
                vec![done(&whole), completed(&[&whole])],
            ] {
                let events = [vec![added(&whole), delta.clone()], ends].concat();
                assert_eq!(blocks(&events), expected(kind, &["Hello"]), "{kind} {short:?}");
            }
        }
        for blank in ["", " \n"] {
            let mut whole = item(kind, &[blank]);
            whole["status"] = json!("completed");
            let events = [
                added(&whole),
                text_event(kind, "delta", 0, "Hello"),
                text_event(kind, "done", 0, blank),
                done(&whole),
                completed(&[&whole]),
            ];
            assert_eq!(blocks(&events), expected(kind, &["Hello"]), "{kind} completed {blank:?}");
        }
    }
}

#[test]
fn shorter_final_text_counts_where_nothing_is_missing() {
    for (kind, ..) in KINDS {
        let plain = item(kind, &["Hello"]);
        let mut with_status = plain.clone();
        with_status["status"] = json!("completed");
        for (case, deltas, ends) in [
            ("repeated", "HelloHello", vec![text_event(kind, "done", 0, "Hello"), completed(&[])]),
            ("completed item", "Hello wor", vec![done(&with_status), completed(&[])]),
            ("completed in the snapshot", "Hello wor", vec![completed(&[&with_status])]),
            ("all agree", "Hello wor", vec![text_event(kind, "done", 0, "Hello"), done(&plain), completed(&[&plain])]),
        ] {
            let events = [vec![added(&plain), text_event(kind, "delta", 0, deltas)], ends].concat();
            assert_eq!(blocks(&events), expected(kind, &["Hello"]), "{kind} {case}");
        }
    }
}

#[test]
fn final_text_corrects_block_that_has_ended() {
    let right = "The command ran.";
    let message = item("message", &["Done."]);
    let later = |event: Value| under(event, 1, Value::Null);
    for kind in ["summary", "content"] {
        let reasoning = item(kind, &[right]);
        for streamed in ["The comand", "The", "The command ran.The command ran."] {
            let begin = [
                added(&reasoning),
                text_event(kind, "delta", 0, streamed),
                later(added(&message)),
                later(text_event("message", "delta", 0, "Done.")),
            ];
            for ends in [
                vec![completed(&[&reasoning, &message])],
                vec![done(&reasoning), later(done(&message)), completed(&[])],
                vec![text_event(kind, "done", 0, right), later(done(&message)), completed(&[])],
                vec![later(done(&message)), done(&reasoning), completed(&[&reasoning, &message])],
            ] {
                let events = [&begin[..], &ends].concat();
                let expected = [format!("thinking: {right}"), "text: Done.".to_owned()];
                assert_eq!(blocks(&events), expected, "{kind} {streamed} {}", ends.len());
            }
        }
        // A small correction of a long block comes once, at the end.
        let long = "x".repeat(1000);
        let whole = item(kind, &[&long, "Two", "Four"]);
        let events = [
            added(&whole),
            text_event(kind, "delta", 0, &long),
            text_event(kind, "delta", 1, "Tow"),
            text_event(kind, "delta", 2, "Fuor"),
            later(added(&message)),
            later(text_event("message", "delta", 0, "Done.")),
            done(&whole),
            completed(&[&whole, &message]),
        ];
        assert_eq!(blocks(&events), [format!("thinking: {long}\n\nTwo\n\nFour"), "text: Done.".to_owned()]);
    }
    let call = item("function_call", &["{}"]);
    let whole = item("message", &["One"]);
    let events =
        [added(&whole), text_event("message", "delta", 0, "Oen"), later(added(&call)), completed(&[&whole, &call])];
    assert_eq!(blocks(&events), ["text: One", "tool_use: {}"]);
}

#[test]
fn final_arguments_win_unless_they_are_no_json() {
    let delta =
        |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text});
    let end =
        |text: &str| json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": text});
    for (streamed, finals, expected) in [
        ("{\"a\":1", "{\"a\":1}", "{\"a\":1}"),
        ("{\"a\":1}", "{\"a\":2}", "{\"a\":2}"),
        ("{\"a\":\"\"1}", "{\"a\":\"1\"}", "{\"a\":\"1\"}"),
        ("{\"a\":1}", "", "{\"a\":1}"),
        ("{\"a\":1}", "{\"b\":", "{\"a\":1}"),
        ("{\"a\":1}", "{\"a\"", "{\"a\":1}"),
    ] {
        let whole = item("function_call", &[finals]);
        for middle in [vec![end(finals), done(&whole)], vec![done(&whole)], vec![end(finals)]] {
            let events = [&[added(&whole), delta(streamed)], &middle[..], &[completed(&[&whole])]].concat();
            assert_eq!(blocks(&events), [format!("tool_use: {expected}")], "{streamed} {finals}");
        }
    }
}

#[test]
fn citations_count_characters_of_the_final_text() {
    let part = |text: &str| {
        json!({"type": "output_text", "text": text, "annotations": [
            {"type": "url_citation", "url": "https://a.example/", "title": "A", "start_index": 0, "end_index": 3}]})
    };
    let whole = json!({"id": "m1", "type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Äpfel ", "annotations": []}, part("und Birnen")]});
    let events = [
        added(&whole),
        text_event("message", "delta", 1, "Apfelsaft "),
        text_event("message", "done", 0, "Äpfel "),
        text_event("message", "delta", 2, "undd Birnen"),
        done(&whole),
        completed(&[&whole]),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let printed = decode(&body, None);
    assert_eq!(printed["blocks"][0]["text"], "Äpfel und Birnen");
    assert_eq!(printed["blocks"][1]["sources"][0]["start"], 6);
    assert_eq!(printed["blocks"][1]["sources"][0]["end"], 9);
    assert_eq!(printed["blocks"].as_array().unwrap().len(), 2);
}

#[test]
fn two_items_of_one_kind_are_not_mixed_up() {
    let first = item("message", &["One"]);
    let mut second = item("message", &["Two"]);
    second["id"] = json!("m2");
    let at = |mut event: Value, index: u64| {
        event["output_index"] = json!(index);
        event
    };
    let events = [
        at(added(&first), 0),
        text_event("message", "delta", 1, "One"),
        at(done(&first), 0),
        at(added(&second), 1),
        at(text_event("message", "delta", 1, "Tow"), 1),
        at(done(&second), 1),
    ];
    for output in [vec![&first, &second], vec![&second], vec![]] {
        let events = [&events[..], &[completed(&output)]].concat();
        assert_eq!(blocks(&events), ["text: One", "x:message: {\"output_index\":1}", "text: Two"]);
    }
    // Ids that change with every event, and only the last message in the snapshot.
    second["id"] = json!("other");
    let events = [&events[..], &[completed(&[&second])]].concat();
    assert_eq!(blocks(&events)[2], "text: Two");
}

/// Returns the event with this output index and item id; null removes the id.
fn under(mut event: Value, index: u64, id: Value) -> Value {
    event["output_index"] = json!(index);
    if event.get("item").is_none() {
        event["item_id"] = id;
    }
    event
}

#[test]
fn text_under_numbers_of_another_item_is_shown_once() {
    for (kind, ..) in KINDS {
        let whole = item(kind, &["Hello"]);
        let expected = expected(kind, &["Hello"]);
        for id in [Value::Null, json!("other"), json!("")] {
            let delta = |text| under(text_event(kind, "delta", 0, text), 1, id.clone());
            let text_done = under(text_event(kind, "done", 0, "Hello"), 0, id.clone());
            for (case, deltas) in [
                ("whole", vec![delta("Hel"), delta("lo")]),
                ("cut", vec![delta("Hel")]),
                ("wrong", vec![delta("Helo")]),
            ] {
                for (end, ends) in [
                    ("item", vec![done(&whole)]),
                    ("text and item", vec![text_done.clone(), done(&whole)]),
                    ("snapshot", vec![]),
                ] {
                    let events = [vec![added(&whole)], deltas.clone(), ends, vec![completed(&[&whole])]].concat();
                    let (blocks, next) = shown(&events);
                    assert_eq!(blocks, expected, "{kind} {id} {case} {end}");
                    if matches!(kind, "message" | "refusal") {
                        assert_eq!(next, json!([whole]), "{kind} {id} {case} {end}");
                    }
                }
            }
            // The deltas are counted as the item is, and only the complete text is not.
            let delta = under(text_event(kind, "delta", 0, "Hel"), 0, id.clone());
            let text_done = under(text_event(kind, "done", 0, "Hello"), 1, id.clone());
            let events = [added(&whole), delta, text_done, done(&whole), completed(&[&whole])];
            assert_eq!(blocks(&events), expected, "{kind} {id} complete text");
        }
    }
}

#[test]
fn finished_item_does_not_grow_by_text_of_the_next() {
    let first = item("message", &["A"]);
    let mut second = item("message", &["B"]);
    second["id"] = json!("m2");
    for id in [json!("m2"), Value::Null, json!("rotated")] {
        let events = [
            added(&first),
            text_event("message", "delta", 0, "A"),
            done(&first),
            under(added(&second), 1, Value::Null),
            under(text_event("message", "delta", 0, "B"), 0, id.clone()),
            under(done(&second), 1, Value::Null),
            completed(&[&first, &second]),
        ];
        let (blocks, next) = shown(&events);
        assert_eq!(blocks, ["text: A", "x:message: {\"output_index\":1}", "text: B"], "{id}");
        assert_eq!(next, json!([first, second]), "{id}");
    }
}

#[test]
fn ids_that_change_with_every_event_leave_items_apart() {
    let (first, mut second) = (item("message", &["One"]), item("message", &["Two"]));
    second["id"] = json!("m2");
    let mut count = 0;
    let mut rotated = |event: Value, index: u64| {
        count += 1;
        let mut event = under(event, index, json!(format!("id{count}")));
        if event.get("item").is_some() {
            event["item"]["id"] = json!(format!("id{count}"));
        }
        event
    };
    let events = [
        rotated(added(&first), 0),
        rotated(added(&second), 1),
        rotated(text_event("message", "delta", 0, "On"), 0),
        rotated(text_event("message", "delta", 0, "e"), 0),
        rotated(done(&first), 0),
        rotated(text_event("message", "delta", 0, "Two"), 1),
        rotated(done(&second), 1),
        completed(&[&first, &second]),
    ];
    assert_eq!(blocks(&events), ["text: One", "x:message: {\"output_index\":1}", "text: Two"]);
}

/// Returns the provider tool calls and results of a response as `name? arguments` and `name! result`.
fn provider_tools(output: &[Value]) -> Vec<String> {
    let events: Vec<Value> = (0..)
        .zip(output)
        .flat_map(|(n, item)| {
            ["added", "done"]
                .map(|step| json!({"type": format!("response.output_item.{step}"), "output_index": n, "item": item}))
        })
        .chain([completed(&output.iter().collect::<Vec<_>>())])
        .collect();
    let whole = [completed(&output.iter().collect::<Vec<_>>())];
    let [streamed, alone] = [&events[..], &whole].map(|events| {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let printed = decode(&body, None);
        assert_eq!(decode(&body, Some(1)), printed, "byte by byte");
        let describe = |block: &Value| match block["type"].as_str().unwrap() {
            "tool_use" => format!("{}? {}", block["tool_name"].as_str().unwrap(), block["arguments"]),
            "tool_result" => format!("{}! {}", block["tool_name"].as_str().unwrap(), block["result"]),
            other => other.to_owned(),
        };
        printed["blocks"].as_array().unwrap().iter().map(describe).collect::<Vec<_>>()
    });
    assert_eq!(streamed, alone);
    streamed
}

#[test]
fn every_kind_of_provider_item_is_shown() {
    let call = |kind: &str, more: Value| {
        let mut item = json!({"id": format!("id_{kind}"), "type": kind, "status": "completed"});
        item.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        item
    };
    for (case, output, expected) in [
        (
            "a shell with its output",
            vec![
                call(
                    "shell_call",
                    json!({"call_id": "c1", "action": {"commands": ["ls"]}, "environment": {"type": "x"}}),
                ),
                call("shell_call_output", json!({"call_id": "c1", "output": [{"stdout": "a", "stderr": ""}]})),
            ],
            vec![r#"shell? {"commands":["ls"]}"#, r#"shell! [{"stdout":"a","stderr":""}]"#],
        ),
        (
            "two calls and their outputs behind them",
            vec![
                call(
                    "tool_search_call",
                    json!({"id": "a", "call_id": "c1", "arguments": {"queries": ["q"]}, "execution": "server"}),
                ),
                call("shell_call", json!({"id": "b", "call_id": "c2", "action": {"commands": []}})),
                call("shell_call_output", json!({"id": "c", "call_id": "c2", "output": "two"})),
                call("tool_search_output", json!({"id": "d", "call_id": "c1", "tools": [{"name": "t"}]})),
            ],
            vec![
                r#"tool_search? {"queries":["q"]}"#,
                r#"shell? {"commands":[]}"#,
                r#"shell! "two""#,
                r#"tool_search! [{"name":"t"}]"#,
            ],
        ),
        (
            "an output without call id",
            vec![
                call("tool_search_call", json!({"call_id": "c1", "arguments": "{}"})),
                call("tool_search_output", json!({"tools": []})),
            ],
            vec!["tool_search? {}", "tool_search! []"],
        ),
        ("an output alone", vec![call("program_output", json!({"output": "1"}))], vec![r#"program! "1""#]),
        (
            "no output",
            vec![call("local_shell_call", json!({"call_id": "c", "action": {"type": "exec", "command": ["ls"]}}))],
            vec![r#"local_shell? {"type":"exec","command":["ls"]}"#, r#"local_shell! """#],
        ),
        (
            "a patch",
            vec![call("apply_patch_call", json!({"call_id": "c", "operation": {"type": "create_file", "path": "p"}}))],
            vec![r#"apply_patch? {"type":"create_file","path":"p"}"#, r#"apply_patch! """#],
        ),
        (
            "a computer",
            vec![call(
                "computer_call",
                json!({"call_id": "c", "action": {"type": "click"}, "pending_safety_checks": []}),
            )],
            vec![r#"computer? {"action":{"type":"click"},"pending_safety_checks":[]}"#, r#"computer! """#],
        ),
        (
            "an image that failed",
            vec![call("image_generation_call", json!({"status": "failed", "revised_prompt": "a cat", "result": null}))],
            vec![r#"image_generation? {"revised_prompt":"a cat"}"#, r#"image_generation! """#],
        ),
        (
            "tools of a server",
            vec![call("mcp_list_tools", json!({"server_label": "s", "tools": [{"name": "t"}], "error": null}))],
            vec!["mcp_list_tools? {}", r#"mcp_list_tools! [{"name":"t"}]"#],
        ),
        (
            "a question",
            vec![call("mcp_approval_request", json!({"server_label": "s", "name": "t", "arguments": "{}"}))],
            vec![r#"mcp_approval_request? {"name":"t","arguments":"{}"}"#, r#"mcp_approval_request! """#],
        ),
        (
            "a program",
            vec![call("program", json!({"code": "1+1", "fingerprint": "f"}))],
            vec![r#"program? {"code":"1+1","fingerprint":"f"}"#, r#"program! """#],
        ),
        (
            "a compaction",
            vec![call("compaction", json!({"encrypted_content": "sealed"}))],
            vec!["compaction? {}", r#"compaction! """#],
        ),
        (
            "a fallback",
            vec![call("fallback", json!({"model": "m-2", "reason": "busy"}))],
            vec![r#"fallback? {"model":"m-2","reason":"busy"}"#, r#"fallback! """#],
        ),
        (
            "an unknown call with its result",
            vec![call("quantum_call", json!({"input": "x", "output": {"y": 1}}))],
            vec![r#"quantum? {"input":"x"}"#, r#"quantum! {"y":1}"#],
        ),
        (
            "equal and blank ids",
            vec![
                call("a_call", json!({"id": " ", "input": 1})),
                call("a_call", json!({"id": "x", "input": 2})),
                call("b_call", json!({"id": "x", "input": 3})),
            ],
            vec![r#"a? {"input":1}"#, r#"a! """#, r#"a? {"input":2}"#, r#"a! """#, r#"b? {"input":3}"#, r#"b! """#],
        ),
    ] {
        assert_eq!(provider_tools(&output), expected, "{case}");
    }
}

#[test]
fn last_heading_of_reasoning_is_its_title() {
    let whole = item("summary", &["**Checking the offsets**\n\nFirst.", "**Comparing both**\nThen."]);
    let events = [
        added(&whole),
        text_event("summary", "delta", 0, "**Checking the off"),
        text_event("summary", "delta", 0, "sets**\n\nFirst."),
        text_event("summary", "delta", 1, "**Comparing both**\nThen."),
        done(&whole),
    ];
    for count in [events.len(), 4, 3, 2] {
        let body: String = events[..count].iter().map(|event| format!("data: {event}\n\n")).collect();
        let printed = decode(&body, None);
        let title = ["", "", "", "Checking the offsets", "Comparing both", "Comparing both"][count];
        assert_eq!(printed["blocks"][0]["title"].as_str().unwrap_or_default(), title, "{count} events");
        assert_eq!(decode(&body, Some(1)), printed, "byte by byte");
    }
    let plain = item("summary", &["Some **bold** words."]);
    let printed = decode(&format!("data: {}\n\n", completed(&[&plain])), None);
    assert_eq!(printed["blocks"][0], json!({"type": "thinking", "thinking": "Some **bold** words."}));
}
