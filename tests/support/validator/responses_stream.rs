//! Encodes a Responses stream: numbered events, items that are added, extended and done, and a final snapshot.

use serde_json::{Value, json};

use super::ProviderRequest;
use super::chat_models::find;
use super::script::{BuiltInTool, EncodedReply, ReplyEnd, ScriptPart, ScriptedReply, text_pieces};

struct Stream {
    number: u64,
    speech: EncodedReply,
}

impl Stream {
    fn event(&mut self, kind: &str, mut fields: Value) {
        let mut event = json!({"type": kind, "sequence_number": self.number});
        if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object_mut()) {
            event.append(fields);
        }
        self.number += 1;
        self.speech.push_event(format!("event: {kind}\ndata: {event}\n\n"));
    }

    fn append_deltas(&mut self, kind: &str, at: &Value, text: &str) {
        for (count, piece) in text_pieces(text).into_iter().enumerate() {
            let mut fields = at.clone();
            fields["delta"] = json!(piece);
            self.event(kind, fields);
            if count < 2 {
                self.speech.middle = self.speech.events.len();
            }
        }
    }
}

pub fn encode_reply(request: &ProviderRequest, scripted: &ScriptedReply, number: usize) -> EncodedReply {
    let name = request.text("model");
    let effort = request.body.pointer("/reasoning/effort").and_then(Value::as_str);
    let thinks = find(name).is_some_and(|model| model.is_reasoning(effort));
    let summarises = request.body.pointer("/reasoning/summary").is_some();
    let seals = request.list("include").iter().any(|member| member == "reasoning.encrypted_content");
    // Newer models mark which of their messages is the answer.
    let has_phase = name.starts_with("gpt-5.5") || name.starts_with("gpt-5.6");
    let mut stream = Stream { number: 0, speech: EncodedReply::default() };
    let response = |status: &str, output: &[Value]| {
        json!({"response": {"id": format!("resp_{number:04}"), "object": "response", "status": status, "model": name, "output": output,
            "error": null, "incomplete_details": (status == "incomplete").then(|| json!({"reason": "max_output_tokens"})),
            "usage": (status != "in_progress").then(|| json!({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 50}))}})
    };
    stream.event("response.created", response("in_progress", &[]));
    stream.event("response.in_progress", response("in_progress", &[]));
    let parts = scripted.numbered_parts(number);
    let last = parts.len().saturating_sub(1);
    for (at, part) in parts.into_iter().enumerate() {
        let index = stream.speech.content.len();
        let is_limited = scripted.end == ReplyEnd::Limit && at == last;
        let status = if is_limited { "incomplete" } else { "completed" };
        let item = match part {
            ScriptPart::Hidden | ScriptPart::BuiltInCall(_) | ScriptPart::BuiltInResult => continue,
            ScriptPart::UnfinishedBuiltInCall(own) => {
                let (tool, include) = match own {
                    BuiltInTool::Search => ("web_search", "web_search_call.action.sources"),
                    BuiltInTool::Code => ("code_interpreter", "code_interpreter_call.outputs"),
                };
                if !request.list("tools").iter().any(|known| known["type"] == tool) {
                    continue;
                }
                let is_included = request.list("include").iter().any(|known| known == include);
                let id = format!("{}_{number:04}{at:02}", if own == BuiltInTool::Search { "ws" } else { "ci" });
                let mut item = json!({"id": id, "type": format!("{tool}_call"), "status": "in_progress"});
                let place = json!({"item_id": id, "output_index": index});
                if own == BuiltInTool::Code {
                    item["container_id"] = json!(format!("cntr_{number:04}"));
                    item["code"] = json!("");
                    item["outputs"] = Value::Null;
                }
                stream.event("response.output_item.added", json!({"output_index": index, "item": item}));
                stream.event(&format!("response.{tool}_call.in_progress"), place.clone());
                item["status"] = json!("completed");
                match own {
                    BuiltInTool::Search => {
                        item["action"] = json!({"type": "search", "query": "leaves"});
                        if is_included {
                            item["action"]["sources"] = json!([{"type": "url", "url": "https://leaves.example/"}]);
                        }
                    }
                    BuiltInTool::Code => {
                        const CODE: &str = "print(2 + 2)";
                        stream.append_deltas("response.code_interpreter_call_code.delta", &place, CODE);
                        item["code"] = json!(CODE);
                        if is_included {
                            item["outputs"] = json!([{"type": "logs", "logs": "4\n"}]);
                        }
                    }
                }
                stream.event(&format!("response.{tool}_call.completed"), place);
                stream.speech.secrets.push(id);
                item
            }
            ScriptPart::Thinking(_) if !thinks => continue,
            ScriptPart::Thinking(thought) => {
                let id = format!("rs_{number:04}{at:02}");
                let sealed = format!("gAAAAAB{number:04}{at:02}sealed==");
                let mut item = json!({"id": id, "type": "reasoning", "summary": []});
                stream.event("response.output_item.added", json!({"output_index": index, "item": item}));
                if summarises {
                    let place = json!({"item_id": id, "output_index": index, "summary_index": 0});
                    let with = |key: &str, value: Value| {
                        let mut fields = place.clone();
                        fields[key] = value;
                        fields
                    };
                    stream.event(
                        "response.reasoning_summary_part.added",
                        with("part", json!({"type": "summary_text", "text": ""})),
                    );
                    stream.append_deltas("response.reasoning_summary_text.delta", &place, &thought);
                    stream.event("response.reasoning_summary_text.done", with("text", json!(thought)));
                    stream.event(
                        "response.reasoning_summary_part.done",
                        with("part", json!({"type": "summary_text", "text": thought})),
                    );
                    item["summary"] = json!([{"type": "summary_text", "text": thought}]);
                    stream.speech.secrets.push(thought);
                }
                if seals {
                    item["encrypted_content"] = json!(sealed);
                    stream.speech.secrets.push(sealed);
                }
                stream.speech.secrets.push(id);
                item
            }
            ScriptPart::Text(text) => {
                let id = format!("msg_{number:04}{at:02}");
                let message = |status: &str, content: Value| {
                    let mut item =
                        json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content});
                    if has_phase {
                        item["phase"] = json!("final_answer");
                    }
                    item
                };
                let place = json!({"item_id": id, "output_index": index, "content_index": 0});
                let is_cited = stream.speech.content.iter().any(|item| item["type"] == "web_search_call");
                let citations = |text: &str| match is_cited && !text.is_empty() {
                    true => json!([{"type": "url_citation", "start_index": 0, "end_index": text.chars().count(),
                        "url": "https://leaves.example/", "title": "Leaves"}]),
                    false => json!([]),
                };
                let part = |text: &str| json!({"type": "output_text", "annotations": citations(text), "logprobs": [], "text": text});
                let with = |key: &str, value: Value| {
                    let mut fields = place.clone();
                    fields[key] = value;
                    fields
                };
                stream.event(
                    "response.output_item.added",
                    json!({"output_index": index, "item": message("in_progress", json!([]))}),
                );
                stream.event("response.content_part.added", with("part", part("")));
                stream.append_deltas("response.output_text.delta", &place, &text);
                stream.event("response.output_text.done", with("text", json!(text)));
                stream.event("response.content_part.done", with("part", part(&text)));
                stream.speech.text.push_str(&text);
                message(status, json!([part(&text)]))
            }
            ScriptPart::Call(name, arguments) => {
                let id = format!("fc_{number:04}{at:02}");
                let call = |status: &str, arguments: &str| json!({"id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": format!("call_{number:04}{at:02}"), "name": name});
                let raw = arguments.to_string();
                stream.event(
                    "response.output_item.added",
                    json!({"output_index": index, "item": call("in_progress", "")}),
                );
                let place = json!({"item_id": id, "output_index": index});
                stream.append_deltas("response.function_call_arguments.delta", &place, &raw);
                stream.event(
                    "response.function_call_arguments.done",
                    json!({"item_id": id, "output_index": index, "arguments": raw}),
                );
                call(status, &raw)
            }
        };
        stream.event("response.output_item.done", json!({"output_index": index, "item": item}));
        stream.speech.content.push(item);
    }
    let items = stream.speech.content.clone();
    if scripted.end == ReplyEnd::Limit {
        stream.event("response.incomplete", response("incomplete", &items));
        // A truncated message goes back as plain text without the reasoning before it (docs/reference/providers.md
        // 2.6).
        let text = stream.speech.text.clone();
        stream.speech.content = vec![json!({"role": "assistant", "content": text})];
    } else {
        stream.event("response.completed", response("completed", &items));
    }
    stream.speech.truncated_for(scripted.end)
}
