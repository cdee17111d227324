//! Input that a server needs before it runs a call or gives a prompt: questions in the place of a result (protocol
//! 2026-07-28, `input_required`), after which the request is sent again, or addresses that the user must open first
//! (error -32042). That error has ended the request, so nothing waits for the user then: the call ends as well.

use std::collections::BTreeMap;

use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult, RequestMetaObject, ServerResult};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::mcp::error_messages::URL_REQUIRED;
use crate::mcp::json_repair::FIELD_ORDER;
use crate::mcp::{elicitation, sanitizer};
use crate::question::QuestionSender;
use crate::result::{CallOutcome, CallResult, text_result};
use turnleaf_domain::limits::{ELICITATION_BYTES, ELICITATION_MESSAGE_BYTES, ELICITATIONS_PER_CALL};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::tools::elicitation::{ElicitationRequest, KeyedQuestion, OpenQuestions};
use turnleaf_providers::redaction::SecretSet;

/// The answers that a server needs, by its key, and its state, which is sent back with them. A request that cannot be
/// shown has its reason.
pub struct RequiredInput {
    requests: Vec<(String, Result<ElicitationRequest, String>)>,
    state: Option<String>,
}

/// Tells the user about the pages that they have to open before the server runs a call, and returns the result of the
/// call; `None` for any other error.
pub fn end_for_pages(
    error: &ServiceError,
    server: &str,
    secrets: &SecretSet,
    questions: &QuestionSender,
) -> Option<CallResult> {
    let pages = required_pages(error, server, secrets);
    if pages.is_empty() {
        return None;
    }
    let addresses: Vec<String> = pages
        .iter()
        .filter_map(|asked| {
            let url = &asked.page.as_ref()?.url;
            Some(if asked.message.is_empty() { url.clone() } else { format!("{url} ({})", asked.message) })
        })
        .collect();
    for page in pages {
        questions.require(page);
    }
    // The addresses come last, so that no full stop looks like a part of one.
    let words = format!(
        "The tool was not run; it can be called again once the user is done. The user must open: {}",
        addresses.join(", ")
    );
    Some(text_result(CallOutcome::Failed, &words))
}

/// Returns the pages that an error asks the user to open first. One without any that can be opened is the result.
fn required_pages(error: &ServiceError, server: &str, secrets: &SecretSet) -> Vec<ElicitationRequest> {
    let ServiceError::McpError(error) = error else { return Vec::new() };
    let asked = error.data.as_ref().filter(|_| error.code.0 == URL_REQUIRED);
    let asked = asked.and_then(|data| data.get("elicitations")?.as_array()).into_iter().flatten();
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
    asked.filter_map(page).take(ELICITATIONS_PER_CALL).collect()
}

impl RequiredInput {
    /// Returns what the answer asks for; `None` for any other one.
    pub fn from_answer(answer: &ServerResult, server: &str, secrets: &SecretSet) -> Option<Self> {
        match answer {
            ServerResult::InputRequiredResult(needed) => Some(Self::from_result(needed, server, secrets)),
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
        Self { requests, state: needed.request_state.clone() }
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
        let mut responses = BTreeMap::new();
        for KeyedQuestion { key, request } in readable(self.requests)? {
            let is_form = request.page.is_none();
            let answer = elicitation::to_result(questions.ask(request).await, is_form);
            responses.insert(key, serde_json::to_value(answer).unwrap_or_else(|_| json!({ "action": "cancel" })));
        }
        let mut params = params.with_input_responses(responses);
        params.request_state = self.state;
        Ok(params)
    }

    /// Returns the questions, for a person who answers them with another request.
    ///
    /// # Errors
    /// The sentence that says why they cannot be answered that way.
    pub fn into_questions(self) -> Result<OpenQuestions, String> {
        let Self { requests, state } = self;
        if state.as_ref().is_some_and(|state| state.len() > ELICITATION_BYTES) {
            return Err(format!("its state is larger than {}", ByteSize::from_usize(ELICITATION_BYTES)));
        }
        if requests.is_empty() {
            return Err("it asks for nothing".into());
        }
        Ok(OpenQuestions { questions: readable(requests)?, state })
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
    use turnleaf_domain::tools::elicitation::ElicitationAnswer;

    use super::*;
    use crate::mcp::json_repair;
    use crate::question::{QuestionEvent, question_channel};

    fn url_error(elicitations: Value) -> ServiceError {
        let data = json!({ "elicitations": elicitations });
        ServiceError::McpError(ErrorData::new(ErrorCode(URL_REQUIRED), "Sign in first.", Some(data)))
    }

    fn input_of(result: Value) -> RequiredInput {
        let needed = serde_json::from_value(result).expect("a result");
        RequiredInput::from_answer(&needed, "Forge", &SecretSet::default()).expect("it asks")
    }

    #[test]
    fn call_ends_at_once_with_pages_that_user_must_open() {
        let asked = json!([
            { "mode": "url", "url": "https://a.example/x?y=1", "message": "Sign in.", "elicitationId": "1" },
            { "mode": "url", "url": "javascript:x" },
            { "mode": "url", "url": "https://b.example/" },
        ]);
        let (sender, mut questions) = question_channel();
        let ended = end_for_pages(&url_error(asked), "Forge", &SecretSet::default(), &sender).expect("it has pages");
        assert_eq!(ended.outcome, CallOutcome::Failed);
        let words = "The tool was not run; it can be called again once the user is done. The user must open: \
                     https://a.example/x?y=1 (Sign in.), https://b.example/";
        assert_eq!(ended.result, json!(words));
        for host in ["a.example", "b.example"] {
            let Ok(QuestionEvent::Required(request)) = questions.events.try_recv() else { panic!("it is told") };
            assert_eq!(request.page.map(|page| page.host), Some(host.to_owned()));
        }
        assert!(questions.events.try_recv().is_err());
        assert_eq!(*questions.open.borrow(), 0);
    }

    #[test]
    fn error_without_page_that_can_be_opened_stays_error() {
        let (sender, mut questions) = question_channel();
        for asked in [json!([]), json!([{ "url": "javascript:x" }]), json!("x")] {
            assert!(end_for_pages(&url_error(asked), "Forge", &SecretSet::default(), &sender).is_none());
        }
        let other = ErrorData::new(ErrorCode(-32000), "Limited.", Some(json!({ "elicitations": [] })));
        assert!(end_for_pages(&ServiceError::McpError(other), "Forge", &SecretSet::default(), &sender).is_none());
        assert!(questions.events.try_recv().is_err());
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
        let input = input_of(needed);
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
        let RequiredInput { requests, .. } = input_of(message["result"].clone());
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
        let input = input_of(needed);
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
