//! Recognizes that a server no longer knows a session. The protocol has HTTP 404 for it; many servers answer
//! otherwise after a restart: HTTP 400 with a sentence, as JSON-RPC, JSON or plain text, or HTTP 401.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use rmcp::model::RequestId;
use serde_json::Value;

/// Codes of errors that a server sends after it has read a request: unknown method, invalid parameters, internal.
const OF_REQUEST: [i64; 3] = [-32601, -32602, -32603];
/// Longest sentence about a session, in bytes.
const SENTENCE_BYTES: usize = 300;
/// Words of sentences about something else than the session of the transport, in lower case.
const OF_ARGUMENTS: [&str; 10] =
    ["argument", "arguments", "browser", "field", "param", "params", "parameter", "parameters", "property", "tool"];
/// Words with which servers refuse a session.
const UNKNOWN: [&str; 11] = [
    "closed",
    "doesn't",
    "expired",
    "invalid",
    "missing",
    "no",
    "not",
    "stale",
    "terminated",
    "unknown",
    "unrecognized",
];
/// Words that may stand before the session of the transport. Any other one names a session of something else.
const BEFORE: [&str; 16] = [
    "a", "active", "an", "existing", "for", "http", "known", "mcp", "or", "request", "such", "that", "the", "this",
    "valid", "your",
];
/// Words that may follow a session that was refused before.
const AFTER: [&str; 7] = ["error", "found", "given", "in", "is", "provided", "was"];
/// Words before a session and after it among which the refusal must be.
const WORDS_BEFORE: usize = 3;
const WORDS_AFTER: usize = 4;
/// Words of servers that have forgotten that they were initialized.
const UNINITIALIZED: [&str; 9] = ["been", "client", "has", "http", "is", "mcp", "server", "session", "the"];

/// The session in which the last request was answered. After a restart, some servers refuse the requests of a session
/// with HTTP 401, which is also how they ask for credentials: a session that has worked is given up, by all requests that
/// it still had, and its replacement has to work first.
#[derive(Debug, Clone, Default)]
pub struct WorkingSession(Arc<Mutex<SessionRecord>>);

#[derive(Debug, Default)]
struct SessionRecord {
    working: Option<HeaderValue>,
    /// The session that was given up, until another one begins.
    given_up: Option<HeaderValue>,
}

impl WorkingSession {
    /// Notes that a request was answered in this session; without one, another session begins.
    pub fn set(&self, session: Option<&HeaderValue>) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *record = SessionRecord { working: session.cloned(), given_up: None };
    }

    /// Gives up this session. Returns whether it has worked.
    pub fn give_up(&self, session: &HeaderValue) -> bool {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worked) = record.working.take_if(|working| working == session) {
            record.given_up = Some(worked);
        }
        record.given_up.as_ref() == Some(session)
    }
}

/// Returns whether an error document states that the session is unknown. The request was not executed then. An error
/// about the request itself is none, even if it mentions a session. One in a successful response that has the id of the
/// request is the answer to it.
pub fn is_unknown_session(status: StatusCode, body: &[u8], request: Option<&RequestId>) -> bool {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(&text) {
        Ok(document) => error_sentences(&document, status, request).into_iter().any(states_unknown_session),
        Err(_) => states_unknown_session(&text),
    }
}

/// Returns the sentences of a document about an error that is not about the request itself.
fn error_sentences<'d>(document: &'d Value, status: StatusCode, request: Option<&RequestId>) -> Vec<&'d str> {
    let error = document.get("error");
    let code = error.and_then(|error| error.get("code")?.as_i64());
    let is_answer = || request.is_some_and(|id| document.get("id") == serde_json::to_value(id).ok().as_ref());
    let is_about_request = code.is_some_and(|code| OF_REQUEST.contains(&code));
    if is_about_request || (status.is_success() && (error.is_none() || is_answer())) {
        return Vec::new();
    }
    let named = ["error_description", "message", "detail"].map(|key| document.get(key));
    let places = [Some(document), error, error.and_then(|error| error.get("message"))].into_iter().chain(named);
    places.flatten().filter_map(Value::as_str).collect()
}

/// Returns whether a sentence states that the session of the transport is unknown, in one of the phrases of servers.
fn states_unknown_session(sentence: &str) -> bool {
    if sentence.len() > SENTENCE_BYTES {
        return false;
    }
    let sentence = sentence.to_lowercase().replace("session-id", "session id").replace("sessionid", "session id");
    let sentence = sentence.replace("mcp-session", "mcp session");
    let clauses: Vec<Vec<&str>> = sentence.split([':', '.', ';', ',', '(', '\n']).map(words).collect();
    let has = |wanted: &[&str]| clauses.iter().flatten().any(|word| wanted.contains(word));
    if has(&OF_ARGUMENTS) {
        return false;
    }
    let is_refused = has(&UNKNOWN) || has(&["required"]);
    clauses.iter().any(|clause| is_uninitialized(clause) || is_about_session(clause, is_refused))
}

fn words(clause: &str) -> Vec<&str> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'');
    clause.split(|c| !is_inside(c)).filter(|word| !word.is_empty()).collect()
}

/// Returns whether a clause refuses the session of the transport. The id of one may be refused in another clause.
fn is_about_session(clause: &[&str], is_refused: bool) -> bool {
    let is_refusal = |words: &[&str]| words.iter().any(|word| UNKNOWN.contains(word));
    clause.iter().enumerate().filter(|(_, word)| **word == "session").any(|(at, _)| {
        let (before, after) = (&clause[..at], &clause[at + 1..]);
        if before.last().is_some_and(|word| !BEFORE.contains(word) && !UNKNOWN.contains(word)) {
            return false;
        }
        match after.first() {
            Some(&"id") => is_refused,
            Some(&"of") => false,
            // A word behind may continue the noun: an invalid session name.
            next => {
                let is_whole = next.is_none_or(|word| AFTER.contains(word) || UNKNOWN.contains(word));
                (is_whole && is_refusal(&before[at.saturating_sub(WORDS_BEFORE)..]))
                    || is_refusal(&after[..after.len().min(WORDS_AFTER)])
            }
        }
    })
}

/// Returns whether a clause states that the server was not initialized, and nothing else was not.
fn is_uninitialized(clause: &[&str]) -> bool {
    let Some(subject) = clause.strip_suffix(&["initialized"]) else { return false };
    subject.contains(&"not") && subject.iter().all(|word| *word == "not" || UNINITIALIZED.contains(word))
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_session_is_recognized_and_bad_request_is_not() {
        let error = |id: Value, code: i64, message: &str| {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
        };
        for (body, expected) in [
            (error(json!(null), -32000, "Bad Request: No valid session ID provided"), true),
            (error(json!("server-error"), -32600, "Bad Request: Missing session ID"), true),
            (error(json!(null), -32001, "Session not found"), true),
            (error(json!(7), -32001, "Session not found"), true),
            (error(json!(null), -32000, "Bad Request: Server not initialized"), true),
            (error(json!(7), -32000, "Bad Request: No valid session ID provided"), true),
            (error(json!(7), -32000, "Bad Request: Mcp-Session-Id header is required"), true),
            (error(json!(7), -32000, "Server has not been initialized."), true),
            ("Session 0e4e6a1c-3b7f-4a55-9d0e-5c1f3a2b7d10 not found".to_owned(), true),
            ("Not Found: Invalid or expired session ID".to_owned(), true),
            ("Session ID missing in mcp-session-id header".to_owned(), true),
            (json!({ "detail": "Session not found" }).to_string(), true),
            (json!({ "message": "Invalid sessionId" }).to_string(), true),
            (json!("Missing session").to_string(), true),
            ("Invalid session ID".to_owned(), true),
            (json!({ "error": "Unknown session" }).to_string(), true),
            (error(json!(7), -32602, "Invalid arguments: session is required"), false),
            (error(json!(null), -32602, "invalid session argument"), false),
            (error(json!(7), 42, "the session of this user has expired"), false),
            (error(json!(7), -32000, "no active browser session"), false),
            (error(json!(null), -32000, "Bad Request: Unsupported protocol version"), false),
            (json!({ "jsonrpc": "2.0", "id": 7, "result": { "text": "session not found" } }).to_string(), false),
            ("Bad Request".to_owned(), false),
            ("Missing required argument: session_name".to_owned(), false),
            (json!({ "error": "Missing required argument: session_name" }).to_string(), false),
            (json!({ "error": "session is required" }).to_string(), false),
            (json!({ "detail": "Browser session not found" }).to_string(), false),
            ("User session expired".to_owned(), false),
            ("Invalid session name".to_owned(), false),
            ("There is no such file in this session".to_owned(), false),
            (error(json!(7), -32000, "Database not initialized"), false),
            ("Database not initialized".to_owned(), false),
            ("Database session not initialized".to_owned(), false),
            ("Mcp-Session-Id header must be a single value".to_owned(), false),
            (format!("Invalid session {}", "x".repeat(500)), false),
            (String::new(), false),
        ] {
            let request = NumberOrString::Number(7);
            let is_unknown = is_unknown_session(StatusCode::BAD_REQUEST, body.as_bytes(), Some(&request));
            assert_eq!(is_unknown, expected, "{body}");
        }
        for (id, expected) in [(json!(null), true), (json!(7), false)] {
            let body = error(id, -32001, "Session not found");
            let request = NumberOrString::Number(7);
            assert_eq!(is_unknown_session(StatusCode::OK, body.as_bytes(), Some(&request)), expected, "{body}");
        }
    }

    #[test]
    fn session_that_has_worked_is_given_up_until_another_begins() {
        let [first, second] = ["one", "two"].map(HeaderValue::from_static);
        let working = WorkingSession::default();
        assert!(!working.give_up(&first));
        working.set(Some(&first));
        assert!(!working.give_up(&second));
        // Each of several requests that are refused together.
        assert!(working.give_up(&first) && working.give_up(&first));
        working.set(None);
        // The server may give the next session the same name.
        assert!(!working.give_up(&first) && !working.give_up(&second));
    }
}
