//! Suggestions for the value of an argument, of a prompt or of a template of addresses (`completion/complete`). A person
//! chooses one before it is used, so only those are kept that are sent back exactly as they are shown.

use std::collections::HashMap;

use rmcp::RoleClient;
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext, ErrorCode, Reference,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::Value;

use super::catalog::is_plain;
use super::error_messages;
use turnleaf_domain::CodedMessage;
use turnleaf_domain::limits::{SERVER_LINE_BYTES, SERVER_SUGGESTIONS};
use turnleaf_providers::redaction::SecretSet;

/// An argument that a person is writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentDraft {
    pub subject: ArgumentSubject,
    pub argument: String,
    /// The value as it is written so far.
    pub value: String,
    /// The other arguments that are written.
    pub others: HashMap<String, String>,
}

/// The prompt or the template that an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentSubject {
    /// The name of a prompt.
    Prompt(String),
    /// A template of addresses.
    Template(String),
}

/// Requests suggestions for an argument. A server that has none for it may answer with an error about the request.
///
/// # Errors
/// The reason why there is no answer, as a part of a sentence.
pub async fn suggest(
    peer: &Peer<RoleClient>,
    secrets: &SecretSet,
    draft: ArgumentDraft,
) -> Result<Vec<String>, CodedMessage> {
    let ArgumentDraft { subject, argument, value, others } = draft;
    let reference = match subject {
        ArgumentSubject::Prompt(name) => Reference::for_prompt(name),
        ArgumentSubject::Template(template) => Reference::for_resource(template),
    };
    let mut params = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, value));
    if !others.is_empty() {
        params = params.with_context(CompletionContext::with_arguments(others));
    }
    match peer.send_request(ClientRequest::CompleteRequest(CompleteRequest::new(params))).await {
        Ok(answer) => Ok(values_of(&serde_json::to_value(answer).unwrap_or_default(), secrets)),
        Err(ServiceError::McpError(error))
            if [ErrorCode::METHOD_NOT_FOUND, ErrorCode::INVALID_PARAMS].contains(&error.code) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error_messages::request_error(&error, secrets)),
    }
}

fn values_of(answer: &Value, secrets: &SecretSet) -> Vec<String> {
    let listed = answer.pointer("/completion/values").and_then(Value::as_array).into_iter().flatten();
    let mut values: Vec<String> = Vec::new();
    for value in listed.filter_map(Value::as_str).filter(|value| is_plain(value, SERVER_LINE_BYTES, secrets)) {
        if values.len() == SERVER_SUGGESTIONS {
            break;
        }
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_values_that_can_be_shown_are_suggested() {
        let secrets = SecretSet::new(["9f8e7d6c5b4a3f2e".into()]);
        let long = "x".repeat(SERVER_LINE_BYTES + 1);
        let listed =
            json!(["rust", "", "a\nb", "a\u{202e}b", "key 9f8e7d6c5b4a3f2e", long, 7, "rust", "<b>", "naïve 叶"]);
        let answer = json!({ "completion": { "values": listed, "total": 10 } });
        assert_eq!(values_of(&answer, &secrets), ["rust", "<b>", "naïve 叶"]);
        let many: Vec<String> = (0..SERVER_SUGGESTIONS + 5).map(|at| at.to_string()).collect();
        let many = values_of(&json!({ "completion": { "values": many } }), &secrets);
        assert_eq!(many.len(), SERVER_SUGGESTIONS);
        for odd in [json!({}), json!({ "completion": { "values": "rust" } }), json!(null)] {
            assert_eq!(values_of(&odd, &secrets), [""; 0], "{odd}");
        }
    }
}
