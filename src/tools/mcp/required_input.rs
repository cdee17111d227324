//! Input that a server needs before it runs a call or gives a prompt: questions in the place of a result (protocol
//! 2026-07-28, `input_required`), or addresses that the user must open first (error -32042). The request is sent again
//! afterwards.

use std::collections::BTreeMap;

use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult, RequestMetaObject, ServerResult};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::mcp::error_messages::URL_REQUIRED;
use crate::mcp::json_repair::FIELD_ORDER;
use crate::mcp::{elicitation, sanitizer};
use crate::question::QuestionSender;
use turnleaf_domain::byte_size::ByteSize;
use turnleaf_domain::elicitation::{ElicitationAnswer, ElicitationRequest, KeyedQuestion, OpenQuestions};
use turnleaf_domain::limits::{ELICITATION_BYTES, ELICITATION_MESSAGE_BYTES, ELICITATIONS_PER_CALL};
use turnleaf_providers::redaction::SecretSet;

/// The input that a server needs before it runs a call.
pub enum RequiredInput {
    /// Answers by the server's key, sent back with its state. A request that cannot be shown has its reason.
    Answers { requests: Vec<(String, Result<ElicitationRequest, String>)>, state: Option<String> },
    /// Pages that the user must finish first.
    Pages(Vec<ElicitationRequest>),
}

impl RequiredInput {
    /// Returns the input that the answer requests; `None` for a result and for any other error.
    pub fn from_answer(answer: &Result<ServerResult, ServiceError>, server: &str, secrets: &SecretSet) -> Option<Self> {
        match answer {
            Ok(ServerResult::InputRequiredResult(needed)) => Some(Self::from_result(needed, server, secrets)),
            Err(ServiceError::McpError(error)) if error.code.0 == URL_REQUIRED => {
                let asked = error.data.as_ref()?.get("elicitations")?.as_array()?;
                let page = |asked: &Value| {
                    let text = |key: &str| asked.get(key).and_then(Value::as_str).unwrap_or_default();
                    let page = elicitation::read_page(text("url"), text("elicitationId"), secrets).ok()?;
                    Some(ElicitationRequest {
                        server: server.to_owned(),
                        message: sanitizer::visible_clean_text(text("message"), secrets, ELICITATION_MESSAGE_BYTES),
                        fields: Vec::new(),
                        page: Some(page),
                    })
                };
                let pages: Vec<_> = asked.iter().filter_map(page).take(ELICITATIONS_PER_CALL).collect();
                // Without a page that can be opened, the error is the result.
                (!pages.is_empty()).then_some(Self::Pages(pages))
            }
            _ => None,
        }
    }

    fn from_result(needed: &InputRequiredResult, server: &str, secrets: &SecretSet) -> Self {
        let read = |request: &InputRequest| match request {
            InputRequest::Elicitation(asked) => {
                // The library moves the metadata out of the parameters.
                let meta = asked.extensions.get::<RequestMetaObject>();
                let meta = serde_json::to_value(meta).unwrap_or_default();
                elicitation::read_request(&asked.params, &meta, server, secrets)
            }
            _ => Err("the client supports only elicitation".to_owned()),
        };
        let order = needed.meta.as_ref().and_then(|meta| meta.0.get(FIELD_ORDER)?.as_array());
        let place = |key: &str| order.and_then(|order| order.iter().position(|known| known == key));
        let mut requests: Vec<_> = needed.input_requests.iter().flatten().collect();
        requests.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        let requests = requests.into_iter().take(ELICITATIONS_PER_CALL);
        let requests = requests.map(|(key, asked)| (key.clone(), read(asked))).collect();
        Self::Answers { requests, state: needed.request_state.clone() }
    }

    /// Asks the user everything, one after the other, and returns the call to send.
    ///
    /// # Errors
    /// The sentence for the model that says why the call is not sent again.
    pub async fn collect(
        self,
        questions: &QuestionSender,
        params: CallToolRequestParams,
    ) -> Result<CallToolRequestParams, String> {
        match self {
            Self::Pages(pages) => {
                for page in pages {
                    if !matches!(questions.ask(page).await, ElicitationAnswer::Accept(_)) {
                        return Err("The user did not finish on the page that the server asks for.".into());
                    }
                }
                Ok(params)
            }
            Self::Answers { requests, state } => {
                let mut responses = BTreeMap::new();
                for KeyedQuestion { key, request } in readable(requests)? {
                    let is_form = request.page.is_none();
                    let answer = elicitation::to_result(questions.ask(request).await, is_form);
                    responses
                        .insert(key, serde_json::to_value(answer).unwrap_or_else(|_| json!({ "action": "cancel" })));
                }
                let mut params = params.with_input_responses(responses);
                params.request_state = state;
                Ok(params)
            }
        }
    }

    /// Returns the questions, for a person who answers them with another request.
    ///
    /// # Errors
    /// The sentence that says why they cannot be answered that way.
    pub fn into_questions(self) -> Result<OpenQuestions, String> {
        match self {
            Self::Answers { requests, state } => {
                if state.as_ref().is_some_and(|state| state.len() > ELICITATION_BYTES) {
                    return Err(format!("its state is larger than {}", ByteSize::from_usize(ELICITATION_BYTES)));
                }
                if requests.is_empty() {
                    return Err("it asks for nothing".into());
                }
                Ok(OpenQuestions { questions: readable(requests)?, state })
            }
            Self::Pages(_) => Err("the user has to open a page first".into()),
        }
    }
}

/// Returns the requests if all of them can be shown: a person is asked nothing if the request cannot be sent again
/// anyway.
fn readable(requests: Vec<(String, Result<ElicitationRequest, String>)>) -> Result<Vec<KeyedQuestion>, String> {
    let question = |(key, request): (String, Result<ElicitationRequest, String>)| match request {
        Ok(request) => Ok(KeyedQuestion { key, request }),
        Err(why) => Err(format!("the server asks for something else: {why}")),
    };
    requests.into_iter().map(question).collect()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorCode, ErrorData};

    use super::*;
    use crate::mcp::json_repair;
    use crate::question::{QuestionEvent, question_channel};

    fn url_error(elicitations: Value) -> Result<ServerResult, ServiceError> {
        let data = json!({ "elicitations": elicitations });
        Err(ServiceError::McpError(ErrorData::new(ErrorCode(URL_REQUIRED), "Sign in first.", Some(data))))
    }

    #[tokio::test]
    async fn call_is_sent_again_after_pages_and_not_after_decline() {
        let asked =
            json!([{ "mode": "url", "url": "https://a.example/x", "message": "Sign in.", "elicitationId": "1" }]);
        for (answer, is_sent) in
            [(ElicitationAnswer::Accept(Default::default()), true), (ElicitationAnswer::Decline, false)]
        {
            let input = RequiredInput::from_answer(&url_error(asked.clone()), "Forge", &SecretSet::default());
            let (sender, mut questions) = question_channel();
            let answering = async {
                let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
                assert_eq!(question.request.page.map(|page| page.host), Some("a.example".to_owned()));
                question.answer.send(answer).unwrap();
            };
            let params = CallToolRequestParams::new("push");
            let (again, ()) = tokio::join!(input.expect("a page").collect(&sender, params), answering);
            assert_eq!(again.is_ok(), is_sent);
        }
    }

    #[test]
    fn error_without_page_that_can_be_opened_stays_error() {
        for asked in [json!([]), json!([{ "url": "javascript:x" }]), json!("x")] {
            assert!(RequiredInput::from_answer(&url_error(asked), "Forge", &SecretSet::default()).is_none());
        }
    }

    #[tokio::test]
    async fn nothing_is_asked_if_one_request_cannot_be_shown() {
        let form = |kind: &str| {
            json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "How many?",
                "requestedSchema": { "type": "object", "properties": { "n": { "type": kind } } } } })
        };
        let large = "x".repeat(501);
        let mut unreadable = form("string");
        unreadable["params"]["requestedSchema"]["properties"] = json!({ large: { "type": "string" } });
        let needed =
            json!({ "resultType": "input_required", "inputRequests": { "a": form("integer"), "b": unreadable } });
        let needed = serde_json::from_value(needed).expect("a result");
        let input = RequiredInput::from_answer(&Ok(needed), "Forge", &SecretSet::default()).expect("it asks");
        let (sender, mut questions) = question_channel();
        let refused = input.collect(&sender, CallToolRequestParams::new("push")).await;
        assert!(refused.is_err() && questions.events.try_recv().is_err());
    }

    #[test]
    fn questions_and_their_fields_stay_in_order_of_server() {
        let form = |names: [&str; 2]| {
            let properties: Value = names.into_iter().map(|name| (name, json!({ "type": "string" }))).collect();
            json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "Who?",
                "requestedSchema": { "type": "object", "properties": properties } } })
        };
        let requests = json!({ "later": form(["zip", "city"]), "earlier": form(["b", "a"]) });
        let result = json!({ "resultType": "input_required", "inputRequests": requests });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        let message: Value = json_repair::parse(message.as_bytes()).expect("it is JSON");
        let needed = serde_json::from_value(message["result"].clone()).expect("a result");
        let input = RequiredInput::from_answer(&Ok(needed), "Forge", &SecretSet::default()).expect("it asks");
        let RequiredInput::Answers { requests, .. } = input else { panic!("it asks for answers") };
        let names = |request: Result<ElicitationRequest, String>| -> Vec<String> {
            request.expect("it can be shown").fields.into_iter().map(|field| field.name).collect()
        };
        let found: Vec<_> = requests.into_iter().map(|(key, request)| (key, names(request))).collect();
        let expected = [("later", ["zip", "city"]), ("earlier", ["b", "a"])];
        assert_eq!(found, expected.map(|(key, names)| (key.to_owned(), names.map(str::to_owned).to_vec())));
    }

    #[tokio::test]
    async fn answers_are_sent_with_state_of_server() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let asked = json!({ "method": "elicitation/create",
            "params": { "mode": "form", "message": "How many?", "requestedSchema": schema } });
        let needed = json!({ "resultType": "input_required", "inputRequests": { "k": asked }, "requestState": "s" });
        let needed = serde_json::from_value(needed).expect("a result");
        let input = RequiredInput::from_answer(&Ok(needed), "Forge", &SecretSet::default()).expect("it asks");
        let (sender, mut questions) = question_channel();
        let answering = async {
            let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
            let content = json!({ "n": 3 }).as_object().cloned().unwrap();
            question.answer.send(ElicitationAnswer::Accept(content)).unwrap();
        };
        let (again, ()) = tokio::join!(input.collect(&sender, CallToolRequestParams::new("push")), answering);
        let again = serde_json::to_value(again.expect("it is sent again")).unwrap();
        assert_eq!(again["inputResponses"]["k"], json!({ "action": "accept", "content": { "n": 3 } }));
        assert_eq!(again["requestState"], "s");
    }
}
