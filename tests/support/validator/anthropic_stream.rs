//! Encodes a Claude stream: named events, blocks one after the other, a signature at the end of every thinking block.

use serde_json::{Value, json};

use super::ProviderRequest;
use super::anthropic::content_blocks;
use super::anthropic_models::{AnthropicThinkingRule, find};
use super::script::{BuiltInTool, EncodedReply, ReplyEnd, ScriptPart, ScriptedReply, text_pieces};

pub fn encode_reply(request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
    let model = find(request.text("model"));
    let kind = request.body["thinking"]["type"].as_str();
    let always = model.is_some_and(|model| model.thinks == AnthropicThinkingRule::Always);
    let thinks = matches!(kind, Some("enabled" | "adaptive")) || (kind.is_none() && always);
    let display = request.body["thinking"]["display"].as_str();
    let omits = display.map_or(model.is_some_and(|model| model.omits), |display| display == "omitted");
    let mut speech = EncodedReply::default();
    let start = json!({"type": "message_start", "message": {"id": format!("msg_{number:04}"), "type": "message", "role": "assistant",
        "model": request.text("model"), "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}});
    event(&mut speech, &start);
    event(&mut speech, &json!({"type": "ping"}));
    let mut index = 0;
    let is_offered = |own: BuiltInTool| {
        let begin = if own == BuiltInTool::Search { "web_search_" } else { "code_execution_" };
        request.list("tools").iter().any(|tool| tool["type"].as_str().is_some_and(|kind| kind.starts_with(begin)))
    };
    let mut container = Value::Null;
    for (at, part) in scripted.numbered_parts(number).into_iter().enumerate() {
        match part {
            ScriptPart::Thinking(_) | ScriptPart::Hidden if !thinks => continue,
            ScriptPart::Hidden => {
                let block = json!({"type": "redacted_thinking", "data": format!("EmwK{number:04}{at:02}redacted==")});
                start_block(&mut speech, index, &block);
                speech.secrets.extend(block["data"].as_str().map(str::to_owned));
                speech.content.push(block);
            }
            ScriptPart::Thinking(text) => {
                let signature = format!("EqUD{number:04}{at:02}kXSig+/{}==", request.text("model").len());
                let shown = if omits { String::new() } else { text.clone() };
                start_block(&mut speech, index, &json!({"type": "thinking", "thinking": "", "signature": ""}));
                let deltas = text_pieces(&shown);
                append_deltas(
                    &mut speech,
                    index,
                    deltas.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})),
                );
                event(
                    &mut speech,
                    &json!({"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": signature}}),
                );
                speech.content.push(json!({"type": "thinking", "thinking": shown, "signature": signature}));
                speech.secrets.push(signature);
                speech.secrets.extend((!omits).then_some(text));
            }
            ScriptPart::Text(text) => {
                let mut text_block = json!({"type": "text", "text": ""});
                let cited = speech
                    .content
                    .last()
                    .and_then(|before| before["content"].get(0))
                    .filter(|one| one["url"].is_string());
                let cited = cited.map(|one| {
                    json!({"type": "web_search_result_location", "url": one["url"], "title": one["title"],
                        "cited_text": "words", "encrypted_index": format!("Eo8B{number:04}{at:02}index==")})
                });
                if cited.is_some() {
                    text_block["citations"] = json!([]);
                }
                start_block(&mut speech, index, &text_block);
                let deltas = text_pieces(&text).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
                let deltas = cited.iter().map(|one| json!({"type": "citations_delta", "citation": one})).chain(deltas);
                append_deltas(&mut speech, index, deltas);
                speech
                    .secrets
                    .extend(cited.iter().filter_map(|one| one["encrypted_index"].as_str().map(str::to_owned)));
                text_block["citations"].as_array_mut().into_iter().for_each(|list| list.extend(cited.clone()));
                text_block["text"] = json!(text);
                if text_block["citations"].is_null() {
                    text_block.as_object_mut().into_iter().for_each(|text_block| drop(text_block.remove("citations")));
                }
                speech.text.push_str(&text);
                speech.content.push(text_block);
            }
            ScriptPart::BuiltInCall(_) => {}
            ScriptPart::UnfinishedBuiltInCall(own) if !is_offered(own) => continue,
            ScriptPart::UnfinishedBuiltInCall(own) => {
                let (name, input) = match own {
                    BuiltInTool::Search => ("web_search", json!({"query": "leaves"})),
                    BuiltInTool::Code => ("bash_code_execution", json!({"command": "echo 4"})),
                };
                let id = format!("srvtoolu_{number:04}{at:02}");
                let block = |input: &Value| json!({"type": "server_tool_use", "id": id, "name": name, "input": input});
                start_block(&mut speech, index, &block(&json!({})));
                let raw = input.to_string();
                let deltas = text_pieces(&raw)
                    .into_iter()
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                append_deltas(&mut speech, index, deltas);
                speech.content.push(block(&input));
                if own == BuiltInTool::Code {
                    container =
                        json!({"id": format!("container_{number:04}"), "expires_at": "2026-11-22T11:13:36.730129Z"});
                }
            }
            ScriptPart::BuiltInResult => {
                let before = request.list("messages").last().map(content_blocks).unwrap_or_default();
                let called = |block: &&Value| block["type"] == "server_tool_use";
                let Some(call) = speech.content.iter().rev().find(called).or_else(|| before.iter().rev().find(called))
                else {
                    continue;
                };
                let sealed = format!("EvIE{number:04}{at:02}found==");
                let (id, name) = (&call["id"], call["name"].as_str().unwrap_or_default());
                let found = match name {
                    "web_search" => json!([{"type": "web_search_result", "title": "Leaves", "page_age": null,
                        "url": format!("https://leaves.example/{number}"), "encrypted_content": sealed}]),
                    _ => {
                        json!({"type": "bash_code_execution_result", "stdout": "4\n", "stderr": "", "return_code": 0, "content": []})
                    }
                };
                speech.secrets.extend((name == "web_search").then_some(sealed));
                let block = json!({"type": format!("{name}_tool_result"), "tool_use_id": id, "content": found});
                start_block(&mut speech, index, &block);
                speech.content.push(block);
            }
            ScriptPart::Call(name, arguments) => {
                let id = format!("toolu_{number:04}{at:02}");
                let block = |input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
                start_block(&mut speech, index, &block(json!({})));
                let raw = if arguments == json!({}) { String::new() } else { arguments.to_string() };
                let deltas = std::iter::once("").chain(text_pieces(&raw));
                append_deltas(
                    &mut speech,
                    index,
                    deltas.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
                );
                speech.content.push(block(arguments));
            }
        }
        event(&mut speech, &json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    let calls = speech.content.iter().any(|block| block["type"] == "tool_use");
    let reason = match scripted.end {
        ReplyEnd::Limit => "max_tokens",
        ReplyEnd::Pause => "pause_turn",
        _ if calls => "tool_use",
        _ => "end_turn",
    };
    let mut delta = json!({"stop_reason": reason, "stop_sequence": null});
    if !container.is_null() {
        delta["container"] = container;
    }
    event(&mut speech, &json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 30}}));
    event(&mut speech, &json!({"type": "message_stop"}));
    speech.truncated_for(scripted.end)
}

fn event(speech: &mut EncodedReply, event: &Value) {
    let name = event["type"].as_str().unwrap_or_default();
    // The API pads its JSON objects with spaces.
    let data = event.to_string();
    let (body, end) = data.split_at(data.len() - 1);
    speech.push_event(format!("event: {name}\ndata: {body}{}{end}\n\n", " ".repeat(name.len() % 5)));
}

fn start_block(speech: &mut EncodedReply, index: usize, block: &Value) {
    event(speech, &json!({"type": "content_block_start", "index": index, "content_block": block}));
}

fn append_deltas(speech: &mut EncodedReply, index: usize, deltas: impl Iterator<Item = Value>) {
    for (at, delta) in deltas.enumerate() {
        event(speech, &json!({"type": "content_block_delta", "index": index, "delta": delta}));
        if at < 2 {
            speech.middle = speech.events.len();
        }
    }
}
