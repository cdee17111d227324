//! The text of a prompt, for a person to edit before it is sent. A server of protocol 2026-07-28 may ask the person first
//! (`input_required`); the answers go with the same request again.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, GetPromptRequest, GetPromptRequestParams, ServerResult};
use rmcp::service::Peer;
use serde_json::{Map, Value, json};

use super::required_input::RequiredInput;
use super::{elicitation, error_messages, sanitizer};
use turnleaf_domain::limits::SERVER_PROMPT_BYTES;
use turnleaf_domain::tools::elicitation::{KeyedAnswer, OpenQuestions};
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_providers::redaction::SecretSet;

/// A prompt with its arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptRequest {
    pub name: String,
    pub arguments: Map<String, Value>,
    /// The answers to earlier questions of the server, and the state that it sent with its questions.
    pub answers: Vec<KeyedAnswer>,
    pub state: Option<String>,
}

/// The answer of a server to the request for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptAnswer {
    Text(String),
    /// The server asks the person first.
    Asks(OpenQuestions),
}

/// Gets the messages of a prompt as one text, or the questions that the server with this display name asks first.
///
/// # Errors
/// The reason why there is no text, as a part of a sentence.
pub async fn get(
    peer: &Peer<RoleClient>,
    secrets: &SecretSet,
    server: &str,
    request: PromptRequest,
) -> Result<PromptAnswer, CodedMessage> {
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params_of(request)));
    let answer = peer.send_request(request).await;
    // A page that must be opened first is named in the error.
    let answer = answer.map_err(|error| error_messages::request_error(&error, secrets))?;
    if let Some(needed) = RequiredInput::from_answer(&answer, server, secrets) {
        return needed.into_questions().map(PromptAnswer::Asks).map_err(CodedMessage::uncoded);
    }
    match answer {
        ServerResult::GetPromptResult(prompt) => {
            let prompt = serde_json::to_value(prompt).unwrap_or_default();
            Ok(PromptAnswer::Text(text_of_messages(&prompt, secrets)))
        }
        _ => Err(MessageCode::ResponseUnreadable.into()),
    }
}

fn params_of(request: PromptRequest) -> GetPromptRequestParams {
    let PromptRequest { name, arguments, answers, state } = request;
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = (!arguments.is_empty()).then_some(arguments);
    if !answers.is_empty() {
        let answers = answers.into_iter().map(|answer| {
            let (key, is_form) = (answer.key.clone(), answer.content.is_some());
            let result = elicitation::to_result(answer.into_answer(), is_form);
            (key, serde_json::to_value(result).unwrap_or_else(|_| json!({ "action": "cancel" })))
        });
        params = params.with_input_responses(answers.collect());
    }
    params.request_state = state;
    params
}

/// Joins the texts of messages and of embedded resources. Other content has no form as text.
fn text_of_messages(prompt: &Value, secrets: &SecretSet) -> String {
    let messages = prompt.get("messages").and_then(Value::as_array).into_iter().flatten();
    let text = |message: &Value| {
        let content = message.get("content")?;
        let text = content.get("text").or_else(|| content.pointer("/resource/text"))?;
        text.as_str().map(str::to_owned)
    };
    let texts: Vec<String> = messages.filter_map(text).collect();
    sanitizer::clean_text(&texts.join("\n\n"), secrets, SERVER_PROMPT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::tools::elicitation::ElicitationAction;

    #[test]
    fn messages_become_text_to_edit() {
        let prompt = json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "Review:\0" } },
            { "role": "user", "content": { "type": "resource", "resource": { "uri": "a", "text": "code" } } },
            { "role": "user", "content": { "type": "image", "data": "", "mimeType": "image/png" } },
        ] });
        assert_eq!(text_of_messages(&prompt, &SecretSet::default()), "Review:\n\ncode");
    }

    #[test]
    fn answers_are_sent_by_their_keys_with_state_of_server() {
        let answer = |key: &str, action, content: Option<Value>| KeyedAnswer {
            key: key.into(),
            action,
            content: content.and_then(|content| content.as_object().cloned()),
        };
        let request = PromptRequest {
            name: "plan".into(),
            answers: vec![
                answer("a", ElicitationAction::Accept, Some(json!({ "n": 3 }))),
                answer("b", ElicitationAction::Accept, None),
                answer("c", ElicitationAction::Decline, None),
            ],
            state: Some("s".into()),
            ..PromptRequest::default()
        };
        let sent = serde_json::to_value(params_of(request)).expect("it is JSON");
        let responses = json!({
            "a": { "action": "accept", "content": { "n": 3 } }, "b": { "action": "accept" }, "c": { "action": "decline" },
        });
        assert_eq!(sent, json!({ "name": "plan", "inputResponses": responses, "requestState": "s" }));
        let plain = PromptRequest { name: "plan".into(), ..PromptRequest::default() };
        assert_eq!(serde_json::to_value(params_of(plain)).expect("it is JSON"), json!({ "name": "plan" }));
    }
}
