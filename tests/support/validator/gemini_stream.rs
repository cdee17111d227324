//! Encodes a Gemini stream: unnamed chunks with CRLF, each with only the new parts, no `[DONE]`, signatures on calls
//! and at the end of text.

use serde_json::{Value, json};

use super::ProviderRequest;
use super::gemini::{GeminiThinkingRule, demands_signatures, thinking_rule};
use super::script::{BuiltInTool, EncodedReply, ReplyEnd, ScriptPart, ScriptedReply, text_pieces};

pub fn encode_reply(request: &ProviderRequest, model: &str, scripted: &ScriptedReply, number: usize) -> EncodedReply {
    let config = &request.body["generationConfig"]["thinkingConfig"];
    let shows =
        config["includeThoughts"] == true && !matches!(thinking_rule(model), None | Some(GeminiThinkingRule::Never));
    let signs = demands_signatures(model) || (shows && config["thinkingBudget"] != 0);
    let mut speech = EncodedReply::default();
    let mut kept = Vec::new();
    let chunk = |part: Option<Value>, finish: Option<&str>| {
        let mut candidate = json!({"content": {"role": "model"}, "index": 0});
        if let Some(part) = part {
            candidate["content"]["parts"] = json!([part]);
        }
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let usage = json!({"promptTokenCount": 20, "candidatesTokenCount": 10, "totalTokenCount": 30});
        let chunk = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": format!("r{number:04}")});
        format!("data: {chunk}\r\n\r\n")
    };
    let parts = scripted.numbered_parts(number);
    let last = parts.len().saturating_sub(1);
    let mut has_call = false;
    let offers = |tool: &str| request.list("tools").iter().any(|known| known.get(tool).is_some());
    let mut is_grounded = false;
    for (at, part) in parts.into_iter().enumerate() {
        let signature = format!("CpQB{number:04}{at:02}gem/sig+==");
        match part {
            ScriptPart::Hidden | ScriptPart::BuiltInCall(_) => {}
            ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Search) => is_grounded |= offers("googleSearch"),
            ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Code) if !offers("codeExecution") => {}
            ScriptPart::UnfinishedBuiltInCall(BuiltInTool::Code) => {
                let mut part = json!({"executableCode": {"language": "PYTHON", "code": "print(2 + 2)"}});
                if demands_signatures(model) {
                    part["executableCode"]["id"] = json!(format!("code{number:04}{at:02}"));
                }
                if signs {
                    part["thoughtSignature"] = json!(signature);
                    speech.secrets.push(signature);
                }
                speech.push_event(chunk(Some(part.clone()), None));
                kept.push(part);
            }
            ScriptPart::BuiltInResult => {
                let Some(code) = kept.last().and_then(|part| part.get("executableCode")) else { continue };
                let mut part = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4\n"}});
                if let Some(id) = code.get("id") {
                    part["codeExecutionResult"]["id"] = id.clone();
                }
                speech.push_event(chunk(Some(part.clone()), None));
                kept.push(part);
            }
            ScriptPart::Thinking(_) if !shows => {}
            ScriptPart::Thinking(thought) => {
                for piece in text_pieces(&thought) {
                    speech.push_event(chunk(Some(json!({"text": piece, "thought": true})), None));
                    speech.middle = speech.events.len();
                }
                speech.secrets.push(thought);
            }
            ScriptPart::Text(text) => {
                for piece in text_pieces(&text) {
                    let part = json!({"text": piece});
                    speech.push_event(chunk(Some(part.clone()), None));
                    kept.push(part);
                    if piece != text && kept.len() < 3 {
                        speech.middle = speech.events.len();
                    }
                }
                speech.text.push_str(&text);
                if at == last {
                    // A text signature comes last, on a part of its own; without one the last part is empty.
                    let mut part = json!({"text": ""});
                    if signs {
                        part["thoughtSignature"] = json!(signature);
                        speech.secrets.push(signature);
                        kept.push(part.clone());
                    }
                    speech.push_event(chunk(Some(part), None));
                }
            }
            ScriptPart::Call(name, arguments) => {
                let mut part = json!({"functionCall": {"name": name, "args": arguments}});
                // Some endpoints give their calls ids.
                if model.contains("flash") {
                    part["functionCall"]["id"] = json!(format!("call{number:04}{at:02}"));
                }
                // Only the first of parallel calls is signed.
                if signs && !has_call {
                    part["thoughtSignature"] = json!(signature);
                    speech.secrets.push(signature);
                }
                has_call = true;
                speech.push_event(chunk(Some(part.clone()), None));
                kept.push(part);
            }
        }
    }
    if is_grounded {
        let end = speech.text.len();
        let grounding = json!({"webSearchQueries": ["leaves"],
            "groundingChunks": [{"web": {"uri": "https://leaves.example/", "title": "leaves.example"}}],
            "groundingSupports": [{"segment": {"endIndex": end, "text": speech.text}, "groundingChunkIndices": [0]}]});
        let candidate = json!({"content": {"role": "model"}, "index": 0, "groundingMetadata": grounding});
        speech.push_event(format!("data: {}\r\n\r\n", json!({"candidates": [candidate], "modelVersion": model})));
    }
    speech.push_event(chunk(None, Some(if scripted.end == ReplyEnd::Limit { "MAX_TOKENS" } else { "STOP" })));
    speech.content = vec![json!({"role": "model", "parts": kept})];
    speech.truncated_for(scripted.end)
}
