//! Every recorded chat completion through the SSE framer, the decoder and the block builder: whole, cut at any byte,
//! and resent in the next request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use futures::StreamExt;
use serde_json::{Value, json};
use turnleaf_providers::openai_chat::{ChatDecoder, Dialect};
use turnleaf_providers::provider::{DecodeOutcome, DecodedItem, Decoder};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_providers::replay::{ReplayOptions, replay};
use turnleaf_providers::sse::{SseEvent, SseParser};

#[path = "support/fixtures.rs"]
mod fixtures;

#[path = "support/decoding.rs"]
mod decoding;

use decoding::DamageRng;
use fixtures::FixtureRecording;

/// Loads every recorded chat completion stream, real and derived.
fn chat_recordings() -> Option<Vec<FixtureRecording>> {
    let mut all = fixtures::recordings("openai_chat", "sse")?;
    all.extend(fixtures::recordings("openai_compat", "sse")?);
    all.extend(
        fixtures::recordings("derived", "sse")?
            .into_iter()
            .filter(|recording| matches!(recording.about["api"].as_str(), Some("openai_chat" | "openai_compat"))),
    );
    Some(all)
}

fn dialect(recording: &FixtureRecording) -> &'static Dialect {
    let provider = recording.about["provider"].as_str().unwrap();
    Dialect::from_name(provider).unwrap_or_else(|| panic!("{}: {provider} has no dialect", recording.name))
}

fn decoder(recording: &FixtureRecording) -> Box<dyn Decoder> {
    Box::new(ChatDecoder::for_provider(dialect(recording), "Recorded", SecretSet::default()))
}

fn decode<'a>(
    recording: &FixtureRecording,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<DecodedItem>, DecodeOutcome) {
    decoding::decode(decoder(recording), pieces)
}

fn frame<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut framer = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        framer.feed(piece, &mut |event| events.push(event)).unwrap();
    }
    events.extend(framer.finish());
    events
}

fn replayed(recording: &FixtureRecording, chunk: Option<usize>) -> Value {
    let options = ReplayOptions {
        api: "openai_chat".into(),
        dialect: Some(dialect(recording).name.into()),
        http_status: None,
        chunk,
        with_next_message: true,
    };
    replay(&options, &recording.body).unwrap()
}

#[test]
fn framer_agrees_with_independent_parser_on_every_recording() {
    let Some(recordings) = chat_recordings() else { return };
    for recording in recordings {
        let whole = futures::stream::iter([Ok::<_, std::io::Error>(recording.body.clone())]);
        let events = futures::executor::block_on(sseer::EventStream::new(whole).collect::<Vec<_>>());
        let theirs: Vec<(String, String)> = events
            .into_iter()
            .map_while(Result::ok)
            .map(|event| (event.event.to_string(), event.data.to_string()))
            .map(|(name, data)| (if name == "message" { String::new() } else { name }, data))
            .collect();
        let ours: Vec<(String, String)> =
            frame([recording.body.as_slice()]).into_iter().map(|event| (event.name, event.data)).collect();
        // If the body ends in the middle of an event, our framer may return that event too, if it is complete.
        assert!(ours.len() - theirs.len() <= usize::from(!recording.body.ends_with(b"\n\n")), "{}", recording.name);
        assert_eq!(ours[..theirs.len()], theirs, "{}", recording.name);
    }
}

#[test]
fn every_split_of_recording_gives_same_events_and_items() {
    let Some(recordings) = chat_recordings() else { return };
    let mut dice = DamageRng(0x6672_616d_6572);
    for recording in &recordings {
        let body = recording.body.as_slice();
        let events = frame([body]);
        assert_eq!(frame(body.chunks(1)), events, "{} byte by byte", recording.name);
        for round in 0..200 {
            let pieces = dice.random_pieces(body);
            assert_eq!(frame(pieces.iter().copied()), events, "{} split {round}", recording.name);
        }
        let printed = replayed(recording, None);
        assert_eq!(replayed(recording, Some(1)), printed, "{}", recording.name);
        assert_eq!(replayed(recording, Some(7)), printed, "{}", recording.name);
    }
    decoding::assert_same_in_every_split(&recordings, decoder);
}

#[test]
fn recording_is_complete_only_with_terminal_event() {
    let Some(recordings) = chat_recordings() else { return };
    for recording in recordings {
        let (items, outcome) = decode(&recording, [recording.body.as_slice()]);
        let failure = outcome.failure.as_ref().map(|failure| failure.kind.as_str());
        let name = recording.name.as_str();
        match name {
            "derived/llamacpp_cut_mid_utf8" | "derived/openai_chat_no_done" => {
                assert_eq!(failure, Some("provider_truncated"), "{name}");
            }
            "openai_compat/groq_tool_use_failed_session.t1" => assert_eq!(failure, Some("provider_error"), "{name}"),
            "openai_compat/openrouter_midstream_error" => {
                assert_eq!(failure, Some("provider_refused_request"), "{name}");
            }
            _ => {
                assert!(outcome.complete, "{name}: {outcome:?}");
                let reason = outcome.stop_reason.as_deref();
                let expected = recording.about["features"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|feature| feature.as_str()?.strip_prefix("fin:"))
                    .next();
                assert_eq!(reason, expected, "{name}");
                let content_of = |item: &DecodedItem| {
                    matches!(item, DecodedItem::Text(_) | DecodedItem::Thinking(_) | DecodedItem::ToolCall { .. })
                };
                assert!(items.iter().any(content_of), "{name} yields no content");
            }
        }
        assert_eq!(outcome.complete, failure.is_none(), "{name}");
        assert!(items.iter().any(|item| matches!(item, DecodedItem::Model(_))), "{name} has no model");
    }
}

#[test]
fn recording_prefix_ends_as_interrupted_with_text_prefix() {
    let Some(recordings) = chat_recordings() else { return };
    decoding::assert_every_prefix_ends(&recordings, decoder);
    // A prefix counts as complete only if it contains the terminal event.
    let mut dice = DamageRng(0x7465_726d_696e_616c);
    for recording in &recordings {
        let body = recording.body.as_slice();
        for cut in (0..20).map(|_| dice.next_below(body.len())) {
            let (_, early) = decode(recording, [&body[..cut]]);
            let has = |word: &[u8]| body[..cut].windows(word.len()).any(|window| window == word);
            let is_terminated = has(b"finish_reason\":\"") || has(b"finish_reason\": \"") || has(b"[DONE]");
            assert!(!early.complete || is_terminated, "{} cut at {cut}", recording.name);
        }
    }
}

#[test]
fn resent_history_matches_recorded_client() {
    // These recorded clients send something else on purpose.
    const KNOWN_DIFFERENCES: [(&str, &str); 2] = [
        (
            "openai_compat/groq_tool_use_failed_session.t1",
            "the client built a call out of an error and put its thoughts into the text",
        ),
        ("openai_compat/groq_tool_use_failed_session.t2", "the client put its thoughts into the text"),
    ];
    let Some(recordings) = chat_recordings() else { return };
    let mut compared = 0;
    for recording in &recordings {
        let Some((session, step)) = recording.name.rsplit_once(".t") else { continue };
        let next = format!("{session}.t{}", step.parse::<u32>().unwrap() + 1);
        let Some(next) = recordings.iter().find(|recording| recording.name == next) else { continue };
        let messages = next.about["request"]["messages"].as_array().unwrap();
        let Some(sent) = messages.iter().rev().find(|message| message["role"] == "assistant") else { continue };
        if KNOWN_DIFFERENCES.iter().any(|(name, _)| *name == recording.name) {
            continue;
        }
        let ours = replayed(recording, None)["next"].clone();
        assert_eq!(ours.as_array().map(Vec::len), Some(1), "{}", recording.name);
        assert_eq!(normalized(&ours[0]), normalized(sent), "{}", recording.name);
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} sessions were compared");
}

/// Removes the freedoms that the API leaves in a message: how "no text" is written, how arguments are spaced,
/// duplicate reasoning keys, and an index inside a call.
fn normalized(message: &Value) -> Value {
    let mut message = message.clone();
    let map = message.as_object_mut().unwrap();
    if map.get("content").is_some_and(|content| content.is_null() || content == "") {
        map.remove("content");
    }
    if map.contains_key("reasoning") {
        map.remove("reasoning_content");
    }
    for call in map.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        call.as_object_mut().unwrap().remove("index");
        let arguments = call["function"]["arguments"].as_str().unwrap();
        call["function"]["arguments"] = serde_json::from_str(arguments).unwrap();
    }
    message
}

#[test]
fn recorded_error_bodies_are_classified() {
    let Some(recordings) = fixtures::recordings("http_errors", "body") else { return };
    for recording in recordings {
        let status = u16::try_from(recording.about["status"].as_u64().unwrap()).unwrap();
        let options = ReplayOptions {
            api: "openai_chat".into(),
            dialect: None,
            http_status: Some(status),
            chunk: None,
            with_next_message: false,
        };
        let printed = replay(&options, &recording.body).unwrap();
        let name = recording.name.rsplit('/').next().unwrap();
        let expected = match name {
            _ if name.contains("_auth_error") || name.starts_with("openai_401") => "provider_auth",
            _ if name.starts_with("azure_429") || name.starts_with("openrouter_429") => "provider_rate_limited",
            _ if name.starts_with("google_429") => "provider_rate_limited",
            _ if name.contains("context") => "context_too_long",
            _ if name.contains("model_name_suggestion") => "model_not_found",
            _ if name.contains("tool_use_failed") => "provider_error",
            _ => "provider_refused_request",
        };
        assert_eq!(printed["failure"]["kind"], expected, "{name}: {printed}");
        assert_eq!(printed["complete"], false, "{name}");
        assert_eq!(printed["blocks"], json!([]), "{name}");
    }
}

#[test]
fn accepted_context_pairs_match_resent_history() {
    let Some(pairs) = fixtures::recordings("context_pairs", "json") else { return };
    let mut compared = 0;
    for next in pairs.iter().filter(|pair| pair.about["api"] == "openai_compat" && pair.name.ends_with(".t2")) {
        assert_eq!(next.about["status"], 200, "{}", next.name);
        let first = next.name.replace(".t2", ".t1.response");
        let first = pairs.iter().find(|pair| pair.name == first).unwrap();
        let options = ReplayOptions {
            api: "openai_chat".into(),
            dialect: Some(dialect(next).name.into()),
            http_status: None,
            chunk: None,
            with_next_message: true,
        };
        let ours = replay(&options, &first.body).unwrap()["next"].clone();
        let sent = next.about["request"]["messages"].as_array().unwrap();
        let sent = sent.iter().rev().find(|message| message["role"] == "assistant").unwrap();
        // A client may leave out what the server does not need: format, index, status.
        let plain = |message: &Value| {
            let mut message = message.clone();
            for list in ["content", "reasoning_details"] {
                for part in message[list].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                    part.retain(|key, _| !["format", "index", "closed"].contains(&key.as_str()));
                }
            }
            message.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            message
        };
        assert_eq!(plain(&ours[0]), plain(sent), "{}", next.name);
        compared += 1;
    }
    assert_eq!(compared, 3);
}
