//! Every recorded body of the Responses API through the decoder: whole, cut at any byte, without its deltas, without
//! its snapshot, from its middle, and resent in the next request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use turnleaf_providers::openai_responses::ResponsesDecoder;
use turnleaf_providers::provider::{DecodeOutcome, DecodedItem, Decoder};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_providers::replay::{ReplayOptions, replay};

#[path = "support/fixtures.rs"]
mod fixtures;

#[path = "support/citations.rs"]
mod citations;

#[path = "support/decoding.rs"]
mod decoding;

use fixtures::FixtureRecording;

fn recordings() -> Option<Vec<FixtureRecording>> {
    let mut all = fixtures::recordings("openai_responses", "sse")?;
    let derived = fixtures::recordings("derived", "sse")?;
    all.extend(derived.into_iter().filter(|recording| recording.about["api"] == "openai_responses"));
    Some(all)
}

/// Reads one JSON document of the fixtures. Returns `None`, and prints a note, when there are no fixtures.
fn document(path: &str) -> Option<Value> {
    let path = fixtures::fixtures_root().join(path);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: fixtures not found ({})", path.display());
        return None;
    };
    Some(serde_json::from_slice(&bytes).unwrap())
}

fn decoder() -> Box<dyn Decoder> {
    Box::new(ResponsesDecoder::for_provider("Recorded", SecretSet::default()))
}

fn decode(body: &[u8]) -> (Vec<DecodedItem>, DecodeOutcome) {
    decoding::decode(decoder(), [body])
}

fn replayed(body: &[u8], http_status: Option<u16>) -> Value {
    let options = ReplayOptions {
        api: "openai_responses".into(),
        dialect: None,
        http_status,
        chunk: None,
        with_next_message: true,
    };
    replay(&options, body).unwrap()
}

/// Parses the events of a body without any code of the product.
fn events(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

fn body_of(events: &[Value]) -> Vec<u8> {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(line).collect::<String>().into_bytes()
}

fn is_terminal(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("response.completed" | "response.incomplete" | "response.failed"))
}

/// Returns the output of a response: the one of its terminal event or, if that one is empty, the items of the
/// `output_item.done` events.
fn output(events: &[Value]) -> Vec<Value> {
    let terminal_output = events.iter().find(|event| is_terminal(event)).map(|event| &event["response"]["output"]);
    match terminal_output.and_then(Value::as_array) {
        Some(output) if !output.is_empty() => output.clone(),
        _ => {
            let ends = events.iter().filter(|event| event["type"] == "response.output_item.done");
            ends.map(|event| event["item"].clone()).collect()
        }
    }
}

/// The content of a reply without the boundaries between its pieces.
#[derive(Debug, Default, PartialEq)]
struct MergedReply {
    text: String,
    /// The reasoning, without the blank lines between its parts.
    thinking: String,
    /// The number of signatures. Some servers encrypt the same reasoning anew each time they send it, so values
    /// cannot be compared.
    signatures: usize,
    /// Call id, name and arguments of each call.
    calls: Vec<(String, String, String)>,
    /// Types of the items that are stored without interpretation, except citations.
    others: Vec<String>,
    citations: usize,
}

fn without_whitespace(thinking: &str) -> String {
    thinking.split_whitespace().collect()
}

fn merge_items(items: &[DecodedItem]) -> MergedReply {
    let mut merged = MergedReply::default();
    for item in items {
        match item {
            DecodedItem::Text(text) => merged.text.push_str(text),
            DecodedItem::Thinking(text) => merged.thinking.push_str(&without_whitespace(text)),
            DecodedItem::TextReplaced(_)
            | DecodedItem::ThinkingReplaced(_)
            | DecodedItem::FinishedReplaced { .. }
            | DecodedItem::ThinkingTitle(_)
            | DecodedItem::ToolArgumentsReplaced { .. } => {
                panic!("recordings need no corrections: {item:?}")
            }
            DecodedItem::ThinkingSignature(_) => merged.signatures += 1,
            DecodedItem::ToolCall { index, id, name } => {
                assert_eq!(usize::try_from(*index).unwrap(), merged.calls.len());
                merged.calls.push((id.clone(), name.clone(), String::new()));
            }
            DecodedItem::ToolArguments { index, text } => {
                merged.calls[usize::try_from(*index).unwrap()].2.push_str(text)
            }
            DecodedItem::Image(_) => merged.others.push("image".to_owned()),
            DecodedItem::ProviderToolCall { name, .. } => merged.others.push(format!("own {name}")),
            DecodedItem::ProviderToolArguments { .. } | DecodedItem::ProviderToolResult { .. } => {}
            DecodedItem::Opaque(map) if map["type"] == "x:citation" => merged.citations += 1,
            DecodedItem::Opaque(map) if map["type"] == "x:sources" => {
                merged.citations += map["sources"].as_array().unwrap().len();
            }
            DecodedItem::Opaque(map) => merged.others.push(map["type"].as_str().unwrap().to_owned()),
            DecodedItem::Model(_)
            | DecodedItem::ThinkingHeadings
            | DecodedItem::Usage(_)
            | DecodedItem::Cost(_)
            | DecodedItem::ResponseId(_)
            | DecodedItem::StopReason(_)
            | DecodedItem::Failed(_)
            | DecodedItem::RedactedThinking(_)
            | DecodedItem::Notice(_) => {}
        }
    }
    merged
}

fn expected(output: &[Value]) -> MergedReply {
    let mut merged = MergedReply::default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for item in output {
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap() {
            "message" => {
                for part in list(&item["content"]) {
                    merged.text.push_str(part["text"].as_str().or(part["refusal"].as_str()).unwrap());
                    merged.citations += list(&part["annotations"]).len();
                }
            }
            "reasoning" => {
                for part in list(&item["summary"]).into_iter().chain(list(&item["content"])) {
                    merged.thinking.push_str(&without_whitespace(part["text"].as_str().unwrap()));
                }
                merged.signatures += usize::from(item["encrypted_content"].is_string());
            }
            "function_call" => merged.calls.push((text("call_id"), text("name"), text("arguments"))),
            "custom_tool_call" => merged.calls.push((text("call_id"), text("name"), text("input"))),
            "web_search_call" => merged.others.push("own web_search".into()),
            "file_search_call" => merged.others.push("own file_search".into()),
            "code_interpreter_call" => merged.others.push("own code_interpreter".into()),
            "mcp_call" => merged.others.push(format!("own {}", text("name"))),
            other => match other.strip_suffix("_call").or(Some(other).filter(|other| other.starts_with("mcp_"))) {
                Some(name) => merged.others.push(format!("own {name}")),
                None => merged.others.push(format!("x:{other}")),
            },
        }
    }
    merged
}

#[test]
fn every_split_of_recording_gives_same_items() {
    let Some(recordings) = recordings() else { return };
    assert!(recordings.len() >= 45, "only {} recordings", recordings.len());
    decoding::assert_same_in_every_split(&recordings, |_| decoder());
}

#[test]
fn every_recording_prefix_ends_and_is_complete_only_with_terminal_event() {
    let Some(recordings) = recordings() else { return };
    decoding::assert_every_prefix_ends(&recordings, |_| decoder());
    for recording in &recordings {
        let events = events(&recording.body);
        for cut in 0..events.len() {
            let (_, outcome) = decode(&body_of(&events[..cut]));
            let is_ended = events[..cut].iter().any(is_terminal);
            assert_eq!(outcome.complete, is_ended && outcome.failure.is_none(), "{} cut at {cut}", recording.name);
            assert!(is_ended || outcome.failure.is_some(), "{} cut at {cut}", recording.name);
        }
    }
}

#[test]
fn recording_ends_as_terminal_event_says() {
    let Some(recordings) = recordings() else { return };
    for recording in &recordings {
        let name = recording.name.as_str();
        let (items, outcome) = decode(&recording.body);
        let failure = outcome.failure.as_ref().map(|failure| failure.kind.as_str());
        let stop = outcome.stop_reason.as_deref();
        match name {
            "openai_responses/failed_insufficient_quota" => assert_eq!(failure, Some("provider_quota"), "{name}"),
            "derived/responses_truncated_no_completed" => assert_eq!(failure, Some("provider_truncated"), "{name}"),
            _ if name.contains("incomplete_") => {
                assert_eq!((failure, stop), (None, Some("max_output_tokens")), "{name}")
            }
            _ => assert_eq!((failure, stop), (None, Some("completed")), "{name}"),
        }
        assert_eq!(outcome.complete, failure.is_none(), "{name}");
        let served = recording.about["served_model"].as_str().map(str::to_owned);
        let mut models = items
            .iter()
            .filter_map(|item| if let DecodedItem::Model(model) = item { Some(model.clone()) } else { None });
        let last = models.next_back();
        assert!(served.is_none() || last == served, "{name}: {last:?}");
        let events = events(&recording.body);
        let terminal = events.iter().find(|event| is_terminal(event)).filter(|_| failure.is_none());
        if let Some(usage) = terminal.map(|event| &event["response"]["usage"]) {
            let ending = items
                .iter()
                .rev()
                .find_map(|item| if let DecodedItem::Usage(usage) = item { Some(*usage) } else { None });
            let ending = ending.unwrap();
            for (found, path) in [
                (ending.input_tokens, "/input_tokens"),
                (ending.output_tokens, "/output_tokens"),
                (ending.cache_read_tokens, "/input_tokens_details/cached_tokens"),
                (ending.cache_write_tokens, "/input_tokens_details/cache_write_tokens"),
                (ending.reasoning_tokens, "/output_tokens_details/reasoning_tokens"),
            ] {
                assert_eq!(found, usage.pointer(path).and_then(Value::as_u64), "{name} {path}");
            }
        }
    }
}

#[test]
fn decoded_items_match_final_response() {
    let Some(recordings) = recordings() else { return };
    for recording in recordings.iter().filter(|recording| !recording.name.starts_with("derived/")) {
        let (items, _) = decode(&recording.body);
        let events = events(&recording.body);
        assert_eq!(merge_items(&items), expected(&output(&events)), "{}", recording.name);
        let ends = events.iter().filter(|event| event["type"] == "response.output_item.done");
        let seals: Vec<&str> = ends.filter_map(|event| event["item"]["encrypted_content"].as_str()).collect();
        let signed = items.iter().filter_map(|item| match item {
            DecodedItem::ThinkingSignature(signature) => Some(signature.as_str()),
            _ => None,
        });
        assert_eq!(signed.collect::<Vec<_>>(), seals, "{}", recording.name);
    }
}

#[test]
fn blocks_keep_order_of_first_appearance() {
    let Some(recordings) = recordings() else { return };
    for recording in &recordings {
        let added = events(&recording.body);
        let added = added.iter().filter(|event| event["type"] == "response.output_item.added");
        let mut appeared: Vec<String> = added
            .filter_map(|event| match event["item"]["type"].as_str().unwrap() {
                "message" => Some("text".into()),
                "reasoning" => None,
                "function_call" | "custom_tool_call" => Some("tool_use".into()),
                "web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call" => {
                    Some("tool_use".into())
                }
                other if other.ends_with("_call") || other.starts_with("mcp_") => Some("tool_use".into()),
                other => Some(format!("x:{other}")),
            })
            .collect();
        if merge_items(&decode(&recording.body).0).text.is_empty() {
            // A message that is empty, or was cut before its first text, makes no block.
            appeared.retain(|kind| kind != "text");
        }
        let blocks = replayed(&recording.body, None)["blocks"].clone();
        let kinds = blocks.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap().to_owned());
        let hidden = ["thinking", "thinking_signature", "x:citation", "x:sources", "tool_result"];
        let kinds: Vec<String> = kinds.filter(|kind| !hidden.contains(&kind.as_str())).collect();
        assert_eq!(kinds, appeared, "{}", recording.name);
    }
}

#[test]
fn content_is_neither_lost_nor_doubled_when_server_omits_events() {
    let Some(recordings) = recordings() else { return };
    let mut from_the_middle = 0;
    for recording in &recordings {
        let events = events(&recording.body);
        let Some(terminal) = events.iter().find(|event| is_terminal(event)) else { continue };
        let whole = merge_items(&decode(&recording.body).0);
        let check = |case: &str, kept: Vec<Value>| {
            let (items, _) = decode(&body_of(&kept));
            assert_eq!(merge_items(&items), whole, "{} {case}", recording.name);
        };
        let without = |ending: &str| {
            events
                .iter()
                .filter(|event| !event["type"].as_str().unwrap().ends_with(ending))
                .cloned()
                .collect::<Vec<_>>()
        };
        check("without deltas", without(".delta"));
        check("without beginnings", without(".added"));
        check("without text ends", without("text.done"));
        let only_items = |event: &&Value| event["type"] == "response.output_item.done" || is_terminal(event);
        check("with ends of items alone", events.iter().filter(only_items).cloned().collect());
        let mut unnumbered = events.clone();
        for event in &mut unnumbered {
            event.as_object_mut().unwrap().remove("sequence_number");
        }
        check("without numbers", unnumbered);
        let mut silent = events.clone();
        silent.iter_mut().filter(|event| is_terminal(event)).for_each(|event| event["response"]["output"] = json!([]));
        check("with an empty snapshot", silent);
        if terminal["response"]["output"].as_array().is_some_and(|output| !output.is_empty()) {
            check("with the terminal alone", vec![terminal.clone()]);
            // Items that are complete only at their end come with the terminal event then, after a call whose
            // beginning was seen.
            let in_any_order = |mut merged: MergedReply| {
                merged.others.sort();
                merged
            };
            let (items, _) = decode(&body_of(&without("output_item.done")));
            let (kept, all) =
                (in_any_order(merge_items(&items)), in_any_order(merge_items(&decode(&recording.body).0)));
            assert_eq!(kept, all, "{} without ends of items", recording.name);
            assert_eq!(
                merge_items(&decode(terminal["response"].to_string().as_bytes()).0),
                whole,
                "{} as a document",
                recording.name
            );
            for first in 1..events.len() {
                if events[first]["sequence_number"].as_u64().is_some_and(|number| number > 1) {
                    check(&format!("from event {first}"), events[first..].to_vec());
                    from_the_middle += 1;
                }
            }
        }
    }
    assert!(from_the_middle > 1_000, "only {from_the_middle} bodies began in the middle");
}

#[test]
fn recorded_oracles_match() {
    let Some(recordings) = fixtures::recordings("openai_responses", "sse") else { return };
    let Some(oracles) = document("ORACLES.json") else { return };
    let facts = oracles["responses_final"].as_object().unwrap();
    assert_eq!(facts.len(), recordings.len());
    for recording in &recordings {
        let file = format!("{}.sse", recording.name.rsplit('/').next().unwrap());
        let fact = &facts[&file];
        let events = events(&recording.body);
        let terminal = events.iter().find(|event| is_terminal(event)).unwrap();
        assert_eq!(terminal["type"], fact["terminal"], "{file}");
        let final_output = terminal["response"]["output"].as_array().unwrap();
        assert_eq!(json!(final_output.len()), fact["final_output_items"], "{file}");
        let (items, _) = decode(&recording.body);
        let (ours, theirs) = (merge_items(&items), expected(final_output));
        // If the oracle states that the deltas are incomplete, the ends of the items or the snapshot complete the text.
        if fact["text_equal"] == true || !final_output.is_empty() {
            assert_eq!(ours.text, theirs.text, "{file}");
        }
        if !final_output.is_empty() {
            assert_eq!(ours.calls, theirs.calls, "{file}");
        }
    }
}

/// Returns the assistant items at the end of a recorded request: what its client made of the previous response.
fn resent_items(request: &Value) -> Vec<Value> {
    let is_answer =
        |item: &&Value| item["role"] == "user" || item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"));
    let input = request["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut items: Vec<Value> =
        input.iter().rev().skip_while(is_answer).take_while(|item| !is_answer(item)).cloned().collect();
    items.reverse();
    items
}

/// Removes the freedoms that the API leaves in an item: ids, states, nulls, how a text is wrapped, and annotations.
fn normalized(item: &Value) -> Value {
    let mut item = item.clone();
    let map = item.as_object_mut().unwrap();
    map.retain(|key, value| !value.is_null() && !matches!(key.as_str(), "id" | "status"));
    // One client prefixes the call id with the response's id, because its server numbers the calls anew in every
    // response.
    if let Some(id) = map.get("call_id").and_then(Value::as_str) {
        let bare = id.rsplit(':').next().unwrap().to_owned();
        map.insert("call_id".into(), json!(bare));
    }
    if map.get("role").is_some() {
        map.remove("type");
        if let Some(text) = map.get("content").and_then(Value::as_str) {
            map.insert("content".into(), json!([{"type": "output_text", "text": text}]));
        }
    }
    for part in map.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        part.as_object_mut().unwrap().retain(|key, _| matches!(key.as_str(), "type" | "text" | "refusal"));
        // The tool that recorded the requests wrote plain quotes.
        let text = part["text"].as_str().map(|text| text.replace(['“', '”'], "\"").replace('’', "'"));
        part.as_object_mut().unwrap().extend(text.map(|text| ("text".to_owned(), json!(text))));
    }
    item
}

fn assert_resent(name: &str, ours: &Value, request: &Value) -> bool {
    let theirs = resent_items(request);
    if theirs.is_empty() {
        return false;
    }
    let mut ours: Vec<Value> = ours.as_array().unwrap().iter().map(normalized).collect();
    let theirs: Vec<Value> = theirs.iter().map(normalized).collect();
    // Some clients leave the phase out; the API guide asks for it.
    for (ours, theirs) in ours.iter_mut().zip(&theirs) {
        if theirs.get("phase").is_none() {
            ours.as_object_mut().unwrap().remove("phase");
        }
    }
    assert_eq!(ours, theirs, "{name}");
    true
}

#[test]
fn resent_history_matches_recorded_client() {
    // In this recording, the client put the id of the item where the id of the call belongs.
    const KNOWN_DIFFERENCES: &str = "openai_responses/function_call_session_gpt4o.t1";
    let Some(recordings) = recordings() else { return };
    let mut compared = 0;
    for recording in &recordings {
        let Some((session, step)) = recording.name.rsplit_once(".t") else { continue };
        let next = format!("{session}.t{}", step.parse::<u32>().unwrap() + 1);
        let Some(next) = recordings.iter().find(|recording| recording.name == next) else { continue };
        if recording.name == KNOWN_DIFFERENCES {
            continue;
        }
        let ours = replayed(&recording.body, None)["next"].clone();
        compared += usize::from(assert_resent(&recording.name, &ours, &next.about["request"]));
    }
    assert!(compared >= 11, "only {compared} sessions were compared");
}

#[test]
fn accepted_context_pairs_are_kept_and_refused_ones_never_sent() {
    let Some(summary) = document("context_pairs/responses_summary_replay.t1.response.json") else { return };
    let named = |name: &str| document(&format!("context_pairs/responses_{name}.json")).unwrap();
    let next = replayed(summary.to_string().as_bytes(), None);
    assert_eq!((&next["complete"], &next["stop_reason"]), (&json!(true), &json!("completed")));
    assert!(assert_resent("summary", &next["next"], &named("summary_replay.t2")["request"]));
    // An accepted item is resent unchanged, with its ids.
    assert_eq!(next["next"], summary["output"]);
    let parts = summary["output"][0]["summary"].as_array().unwrap();
    let texts: Vec<&str> = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
    assert_eq!(next["blocks"][0]["thinking"], texts.join("\n\n"));

    // An edited reply has no raw bytes, so its reasoning is not resent; the recorded request that sent it was
    // refused.
    let refused = named("modified_history_400.t2.response");
    let printed = replayed(refused.to_string().as_bytes(), Some(400));
    assert_eq!(printed["failure"]["kind"], "provider_refused_request");
    let before = named("modified_history_400.t1.response");
    let mut cut = before.clone();
    cut["output"].as_array_mut().unwrap().pop();
    assert_eq!(replayed(cut.to_string().as_bytes(), None)["next"], json!([]));
    assert_eq!(replayed(before.to_string().as_bytes(), None)["next"], before["output"]);
}

#[test]
fn recorded_error_bodies_are_classified() {
    let Some(recordings) = fixtures::recordings("http_errors", "body") else { return };
    let mut seen = 0;
    for recording in recordings {
        let name = recording.name.rsplit('/').next().unwrap();
        if !(name.starts_with("openai_") || name.starts_with("azure_") || name.starts_with("xai_")) {
            continue;
        }
        seen += 1;
        let status = u16::try_from(recording.about["status"].as_u64().unwrap()).unwrap();
        let printed = replayed(&recording.body, Some(status));
        let expected = match name {
            _ if name.contains("_auth_error") || name.starts_with("openai_401") => "provider_auth",
            _ if name.starts_with("azure_429") => "provider_rate_limited",
            _ if name.contains("context_length") => "context_too_long",
            _ if name.contains("model_name_suggestion") => "model_not_found",
            _ => "provider_refused_request",
        };
        assert_eq!(printed["failure"]["kind"], expected, "{name}: {printed}");
        // An error document under status 200 is an error too.
        let inside = replayed(&recording.body, None);
        assert_eq!((&inside["complete"], &inside["blocks"]), (&json!(false), &json!([])), "{name}");
        assert_ne!(inside["failure"]["kind"], "provider_truncated", "{name}");
    }
    assert!(seen >= 10, "only {seen} error bodies");
}
