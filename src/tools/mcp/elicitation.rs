//! Elicitations of a server: its questions are read and sanitized, and routed to the call that they belong to. The
//! answer is translated back for the protocol.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use url::Url;

use super::json_repair::FIELD_ORDER;
use super::sanitizer;
use crate::question::QuestionSender;
use turnleaf_domain::UserId;
use turnleaf_domain::limits::{
    ELICITATION_BYTES, ELICITATION_ID_BYTES, ELICITATION_LABEL_BYTES, ELICITATION_MESSAGE_BYTES, ELICITATION_URL_BYTES,
};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::text::hidden_text::count_hidden_characters;
use turnleaf_domain::tools::elicitation::{
    ElicitationAnswer, ElicitationField, ElicitationPage, ElicitationRequest, parse_fields,
};
use turnleaf_providers::redaction::SecretSet;

/// The running calls of one connection, in the order of their start. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RunningCalls(Arc<Mutex<Vec<RegisteredCall>>>);

#[derive(Debug)]
struct RegisteredCall {
    number: u64,
    owner: UserId,
    questions: QuestionSender,
}

/// Keeps a call registered until it is dropped.
pub struct CallRegistration {
    calls: RunningCalls,
    number: u64,
}

impl RunningCalls {
    /// Registers a call, so that questions of the server can reach its user.
    pub fn register(&self, owner: UserId, questions: QuestionSender) -> CallRegistration {
        let mut calls = self.lock();
        let number = calls.last().map_or(0, |last| last.number + 1);
        calls.push(RegisteredCall { number, owner, questions });
        CallRegistration { calls: self.clone(), number }
    }

    /// Returns the call that a question of the server belongs to. The protocol does not name it, so it is the newest
    /// one. If calls of several people run, there is none: the question of one must not reach another.
    pub fn find_asking(&self) -> Option<QuestionSender> {
        let calls = self.lock();
        let newest = calls.last()?;
        calls.iter().all(|call| call.owner == newest.owner).then(|| newest.questions.clone())
    }

    /// Returns whether only one call runs.
    pub fn is_single(&self) -> bool {
        self.lock().len() == 1
    }

    /// Reports to all calls that the user finished on the page of a question.
    pub fn complete(&self, elicitation_id: &str) {
        self.lock().iter().for_each(|call| call.questions.complete(elicitation_id));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RegisteredCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallRegistration {
    fn drop(&mut self) {
        self.calls.lock().retain(|call| call.number != self.number);
    }
}

/// Reads a question of the server with this display name.
///
/// # Errors
/// A sentence for the server that says why the question cannot be shown.
pub fn read_request(
    params: &ElicitRequestParams,
    meta: &Value,
    server: &str,
    secrets: &SecretSet,
) -> Result<ElicitationRequest, String> {
    let as_sent = |message: &str| ElicitationRequest {
        server: server.to_owned(),
        message: sanitizer::visible_clean_text(message, secrets, ELICITATION_MESSAGE_BYTES),
        fields: Vec::new(),
        page: None,
    };
    let request = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, meta: own_meta } => {
            let schema = serde_json::to_value(requested_schema).map_err(|error| error.to_string())?;
            let own_meta = serde_json::to_value(own_meta).unwrap_or_default();
            let order = [meta, &own_meta].into_iter().find_map(|meta| meta.get(FIELD_ORDER)?.as_array());
            let order: Vec<String> = order.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            let mut fields = parse_fields(&schema, &order)?;
            fields.iter_mut().try_for_each(|field| clean_field(field, secrets))?;
            ElicitationRequest { fields, ..as_sent(message) }
        }
        ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
            let page = Some(read_page(url, elicitation_id, secrets)?);
            ElicitationRequest { page, ..as_sent(message) }
        }
        _ => return Err("this kind of elicitation is not supported".into()),
    };
    let size = serde_json::to_vec(&request).map_err(|error| error.to_string())?.len();
    if size > ELICITATION_BYTES {
        return Err(format!("the form is larger than {}", ByteSize::from_usize(ELICITATION_BYTES)));
    }
    Ok(request)
}

/// Returns the server's id of a question as it is compared.
pub fn clean_id(id: &str, secrets: &SecretSet) -> String {
    sanitizer::clean_line(id, secrets, ELICITATION_ID_BYTES)
}

/// Reads the address of a question of the URL mode.
///
/// # Errors
/// A sentence for the server that says why the address cannot be shown.
pub fn read_page(url: &str, elicitation_id: &str, secrets: &SecretSet) -> Result<ElicitationPage, String> {
    let parsed = Url::parse(url).map_err(|_| "the url is not valid")?;
    let host = parsed.host_str().filter(|host| !host.is_empty()).ok_or("the url has no host")?.to_owned();
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err("the url must start with https:// or http://".into());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("the url must not contain a user name or a password".into());
    }
    let url = String::from(parsed);
    if url.len() > ELICITATION_URL_BYTES || secrets.has_match_in(url.as_bytes()) {
        return Err("the url is too long, or contains a credential of this server".into());
    }
    let elicitation_id = clean_id(elicitation_id, secrets);
    Ok(ElicitationPage { url, host, elicitation_id })
}

/// Sanitizes the labels of a field. Its name and the values of its options are sent back, so they stay as they are.
fn clean_field(field: &mut ElicitationField, secrets: &SecretSet) -> Result<(), String> {
    let is_clean = |text: &str| {
        text.len() <= ELICITATION_LABEL_BYTES
            && !text.contains(char::is_control)
            && count_hidden_characters(text) == 0
            && !secrets.has_match_in(text.as_bytes())
    };
    let line = |text: &str| sanitizer::visible_clean_line(text, secrets, ELICITATION_LABEL_BYTES);
    if field.name.is_empty() || !is_clean(&field.name) {
        return Err(format!("the name of the field “{}” cannot be shown", line(&field.name)));
    }
    (field.title, field.description) = (line(&field.title), line(&field.description));
    for option in &mut field.options {
        if !is_clean(&option.value) {
            return Err(format!("an option of the field `{}` cannot be shown", field.name));
        }
        option.title = line(&option.title);
    }
    if let Some(Value::String(text)) = &field.default
        && (count_hidden_characters(text) > 0
            || sanitizer::clean_text(text, secrets, ELICITATION_MESSAGE_BYTES) != *text)
    {
        field.default = None;
    }
    Ok(())
}

/// Returns the answer for the protocol.
pub fn to_result(answer: ElicitationAnswer, is_form: bool) -> ElicitResult {
    match answer {
        ElicitationAnswer::Accept(content) if is_form => {
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
        }
        ElicitationAnswer::Accept(_) => ElicitResult::new(ElicitationAction::Accept),
        ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
        ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::question_channel;
    use turnleaf_platform::ids;

    fn read(params: Value) -> Result<ElicitationRequest, String> {
        let meta = params["_meta"].clone();
        let params = serde_json::from_value(params).expect("the library reads it");
        read_request(&params, &meta, "Forge", &SecretSet::new(["9f8e7d6c5b4a3f2e".into()]))
    }

    #[test]
    fn question_is_read_with_clean_labels_in_order_of_server() {
        let schema = json!({ "type": "object", "required": ["b"], "properties": {
            "a": { "type": "string", "title": "\u{1b}[1mName\nhere", "default": "9f8e7d6c5b4a3f2e" },
            "b": { "type": "boolean", "description": "key 9f8e7d6c5b4a3f2e" },
        } });
        let asked =
            read(json!({ "message": "Who\0?", "requestedSchema": schema, "_meta": { FIELD_ORDER: ["b", "a"] } }));
        let asked = asked.expect("it can be shown");
        assert_eq!((asked.server.as_str(), asked.message.as_str(), asked.page.is_none()), ("Forge", "Who?", true));
        let fields: Vec<_> = asked.fields.iter().map(|field| (field.name.as_str(), field.is_required)).collect();
        assert_eq!(fields, [("b", true), ("a", false)]);
        assert_eq!((asked.fields[1].title.as_str(), &asked.fields[1].default), ("Name here", &None));
        assert_eq!(asked.fields[0].description, "key [removed]");
    }

    #[test]
    fn address_is_shown_with_host_that_is_looked_up() {
        let page = |url: &str| read_page(url, "e-1", &SecretSet::new(["9f8e7d6c5b4a3f2e".into()]));
        let found = page("https://ex\u{e4}mple.org/connect?x=1").expect("it is an address");
        assert_eq!((found.host.as_str(), found.elicitation_id.as_str()), ("xn--exmple-cua.org", "e-1"));
        assert_eq!(found.url, "https://xn--exmple-cua.org/connect?x=1");
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://me:pw@example.org/",
            "example.org",
            "https://example.org/9f8e7d6c5b4a3f2e",
        ] {
            assert!(page(url).is_err(), "{url}");
        }
        assert!(page(&format!("https://example.org/{}", "x".repeat(ELICITATION_URL_BYTES))).is_err());
    }

    #[test]
    fn hidden_characters_are_shown_and_large_forms_are_refused() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": "string", "title": "a\u{202e}b", "default": "x\u{200b}y" },
            "b": { "type": "string", "oneOf": [{ "const": "1", "title": "o\u{200b}ne" }] },
        } });
        let asked = read(json!({ "message": "Go\u{202e}?", "requestedSchema": schema })).expect("it can be shown");
        assert_eq!((asked.message.as_str(), asked.fields[0].title.as_str()), ("Go[U+202E]?", "a[U+202E]b"));
        assert_eq!((&asked.fields[0].default, asked.fields[1].options[0].title.as_str()), (&None, "o[U+200B]ne"));
        let options: Vec<String> = (0..200).map(|at| format!("{at}{}", "x".repeat(490))).collect();
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "enum": options } } });
        let refused = read(json!({ "message": "Which?", "requestedSchema": schema })).unwrap_err();
        assert!(refused.contains("64 KiB"), "{refused}");
    }

    #[test]
    fn question_reaches_newest_call_but_never_another_person() {
        let calls = RunningCalls::default();
        assert!(calls.find_asking().is_none());
        let (me, other) = (ids::mint(), ids::mint());
        let ((first, _a), (second, b), (third, _c)) = (question_channel(), question_channel(), question_channel());
        let _first = calls.register(me, first);
        let of_second = calls.register(me, second);
        let asking = calls.find_asking().expect("one person");
        assert!(asking.subscribe_open().same_channel(&b.open), "it is the newest");
        let of_third = calls.register(other, third);
        assert!(calls.find_asking().is_none());
        drop(of_third);
        assert!(calls.find_asking().is_some());
        drop(of_second);
        assert_eq!(calls.lock().len(), 1);
    }
}
