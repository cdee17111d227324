//! Token usage of five APIs, normalized to one meaning: over every recording, and with examples for the providers
//! that count differently.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use turnleaf_providers::replay::{ReplayOptions, replay};

#[path = "support/fixtures.rs"]
mod fixtures;

use fixtures::FixtureRecording;

const FOLDERS: [(&str, &str, &str); 6] = [
    ("anthropic", "sse", "anthropic"),
    ("gemini", "sse", "gemini"),
    ("gemini_json_array", "body", "gemini"),
    ("openai_chat", "sse", "openai_chat"),
    ("openai_compat", "sse", "openai_chat"),
    ("openai_responses", "sse", "openai_responses"),
];

/// Loads every recording with its API. Returns `None` when there are no fixtures.
fn all_recordings() -> Option<Vec<(&'static str, FixtureRecording)>> {
    let mut all = Vec::new();
    for (folder, ending, api) in FOLDERS {
        all.extend(fixtures::recordings(folder, ending)?.into_iter().map(|recording| (api, recording)));
    }
    Some(all)
}

fn read(api: &str, dialect: Option<&str>, body: &[u8]) -> Value {
    let options = ReplayOptions {
        api: api.into(),
        dialect: dialect.map(str::to_owned),
        http_status: None,
        chunk: None,
        with_next_message: false,
    };
    replay(&options, body).unwrap()
}

/// Parses the JSON values of a body without any code of the product: events of one line each, or one document.
fn values(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str(&text) {
        Ok(Value::Array(values)) => values,
        Ok(value) => vec![value],
        Err(_) => {
            text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect()
        }
    }
}

/// Returns the last total that the provider's body states.
fn total(api: &str, body: &[u8]) -> Option<u64> {
    let paths: &[&str] = match api {
        "gemini" => &["/usageMetadata/totalTokenCount"],
        "openai_responses" => &["/response/usage/total_tokens"],
        _ => &["/usage/total_tokens", "/x_groq/usage/total_tokens"],
    };
    let reported = |value: &Value| paths.iter().find_map(|path| value.pointer(path)?.as_u64());
    values(body).iter().rev().find_map(reported)
}

#[test]
fn input_and_output_match_provider_total_and_parts_do_not_exceed_sums() {
    let Some(recordings) = all_recordings() else { return };
    let mut compared = 0;
    for (api, recording) in &recordings {
        let dialect = recording.about["provider"].as_str().filter(|_| *api == "openai_chat");
        let read = read(api, dialect, &recording.body);
        let usage = &read["usage"];
        let count = |name: &str| usage[name].as_u64();
        let (input, output) = (count("input_tokens"), count("output_tokens"));
        if let (Some(total), Some(input)) = (total(api, &recording.body), input) {
            assert_eq!(input + output.unwrap_or(0), total, "{}: {usage}", recording.name);
            compared += 1;
        }
        // A provider that failed in the middle may not have reported all counts yet.
        if read["failure"].is_object() {
            continue;
        }
        let cached = count("cache_read_tokens").unwrap_or(0) + count("cache_write_tokens").unwrap_or(0);
        assert!(cached <= input.unwrap_or(0), "{}: {usage}", recording.name);
        assert!(count("reasoning_tokens").unwrap_or(0) <= output.unwrap_or(0), "{}: {usage}", recording.name);
    }
    assert!(compared > 100, "only {compared} recordings have a total");
}

#[test]
fn anthropic_input_is_input_plus_both_cached_parts() {
    let Some(recordings) = fixtures::recordings("anthropic", "sse") else { return };
    let mut compared = 0;
    for recording in recordings {
        // Each count keeps its last reported value.
        let mut last = json!({});
        for value in values(&recording.body) {
            let reported = value.pointer("/message/usage").or(value.get("usage"));
            for (key, count) in reported.and_then(Value::as_object).into_iter().flatten().filter(|(_, v)| v.is_u64()) {
                last[key.as_str()] = count.clone();
            }
        }
        let count = |key: &str| last[key].as_u64();
        let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let expected = count("input_tokens").map(|input| input + read.unwrap_or(0) + written.unwrap_or(0));
        let replayed = self::read("anthropic", None, &recording.body);
        let usage = &replayed["usage"];
        assert_eq!(usage["input_tokens"].as_u64(), expected, "{}", recording.name);
        assert_eq!(usage["cache_read_tokens"].as_u64(), read, "{}", recording.name);
        assert_eq!(usage["cache_write_tokens"].as_u64(), written, "{}", recording.name);
        assert_eq!(usage["output_tokens"].as_u64(), count("output_tokens"), "{}", recording.name);
        compared += u32::from(expected.is_some() && read.is_some());
    }
    assert!(compared > 20, "only {compared} recordings say all of it");
}

#[test]
fn every_api_usage_has_same_meaning() {
    let chat = |usage: Value| {
        let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}], "usage": usage});
        ("openai_chat", format!("data: {chunk}\n\ndata: [DONE]\n\n"))
    };
    let gemini = |usage: Value| {
        let parts = json!([{"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "STOP"}]);
        ("gemini", format!("data: {}\n\n", json!({"candidates": parts, "usageMetadata": usage})))
    };
    let responses = |usage: Value| {
        let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "a", "annotations": []}]});
        let response = json!({"id": "r", "status": "completed", "model": "m", "output": [item], "usage": usage});
        (
            "openai_responses",
            format!(
                "event: response.completed\ndata: {}\n\n",
                json!({"type": "response.completed", "response": response})
            ),
        )
    };
    let anthropic = |usage: Value| {
        let message = json!({"type": "message", "id": "m", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "a"}], "usage": usage});
        ("anthropic", message.to_string())
    };
    let ollama = |input: u64, output: u64| {
        let line = json!({"model": "m", "message": {"role": "assistant", "content": "a"}, "done": true,
            "done_reason": "stop", "prompt_eval_count": input, "eval_count": output});
        ("ollama", format!("{line}\n"))
    };
    // The common case: a prompt of 1000 tokens, 600 of them read from a cache; 100 tokens written, 40 of them
    // reasoning.
    let whole = json!({"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 600,
        "cache_write_tokens": null, "reasoning_tokens": 40});
    let with = |key: &str, value: Value| {
        let mut usage = whole.clone();
        usage[key] = value;
        usage
    };
    let plain = json!({"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": null,
        "cache_write_tokens": null, "reasoning_tokens": null});
    for ((api, body), expected) in [
        (
            chat(json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
                "prompt_tokens_details": {"cached_tokens": 600}, "completion_tokens_details": {"reasoning_tokens": 40}})),
            whole.clone(),
        ),
        // DeepSeek names the cached tokens differently.
        (
            chat(
                json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "prompt_cache_hit_tokens": 600,
                "prompt_cache_miss_tokens": 400, "completion_tokens_details": {"reasoning_tokens": 40}}),
            ),
            whole.clone(),
        ),
        // xAI counts reasoning in addition to the completion tokens.
        (
            chat(json!({"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1100,
                "prompt_tokens_details": {"cached_tokens": 600}, "completion_tokens_details": {"reasoning_tokens": 40}})),
            whole.clone(),
        ),
        (
            responses(
                json!({"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 600}, "output_tokens": 100,
                "output_tokens_details": {"reasoning_tokens": 40}, "total_tokens": 1100}),
            ),
            whole.clone(),
        ),
        (
            gemini(json!({"promptTokenCount": 1000, "cachedContentTokenCount": 600, "candidatesTokenCount": 60,
                "thoughtsTokenCount": 40, "totalTokenCount": 1100})),
            whole.clone(),
        ),
        // Gemini counts the prompt tokens of its own tools in addition to the prompt.
        (
            gemini(json!({"promptTokenCount": 900, "toolUsePromptTokenCount": 100, "cachedContentTokenCount": 600,
                "candidatesTokenCount": 60, "thoughtsTokenCount": 40, "totalTokenCount": 1100})),
            whole.clone(),
        ),
        (
            anthropic(json!({"input_tokens": 100, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 300,
                "output_tokens": 100, "output_tokens_details": {"thinking_tokens": 40}})),
            with("cache_write_tokens", json!(300)),
        ),
        (ollama(1000, 100), plain),
    ] {
        assert_eq!(read(api, None, body.as_bytes())["usage"], expected, "{api} {body}");
    }
}
