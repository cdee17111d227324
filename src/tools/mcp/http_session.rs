//! Recognizes that a server no longer knows a session. The protocol has HTTP 404 for it; many servers answer
//! otherwise after a restart: HTTP 400 with a sentence, as JSON-RPC or plain text.

use reqwest::StatusCode;
use rmcp::model::RequestId;
use serde_json::Value;

/// Codes of errors that a server sends after it has read a request: unknown method, invalid parameters, internal.
const OF_REQUEST: [i64; 3] = [-32601, -32602, -32603];
/// Code of an unknown session in the official servers. They send it with the id of the request, too.
const UNKNOWN_SESSION: i64 = -32001;
/// Longest sentence about a session, in bytes.
const SENTENCE_BYTES: usize = 300;
/// Phrases with which servers refuse an unknown session, in lower case.
const UNKNOWN: [&str; 14] = [
    "not found",
    "no valid",
    "invalid",
    "unknown",
    "expired",
    "missing",
    "required",
    "does not exist",
    "doesn't exist",
    "not exist",
    "no active",
    "no longer",
    "terminated",
    "unrecognized",
];

/// Returns whether an error document states that the session is unknown. The request was not executed then. An error
/// about the request itself is none, even if it mentions a session: one of a tool has the id of its request.
pub fn is_unknown_session(status: StatusCode, body: &[u8], request: Option<&RequestId>) -> bool {
    let text = String::from_utf8_lossy(body);
    let json: Option<Value> = serde_json::from_str(&text).ok();
    let sentence = match &json {
        Some(json) => {
            let Some(error) = json.get("error") else { return false };
            let code = error.get("code").and_then(Value::as_i64);
            let is_answer = request.is_some_and(|id| json.get("id") == serde_json::to_value(id).ok().as_ref());
            let is_about_request = code.is_some_and(|code| OF_REQUEST.contains(&code));
            let is_own = is_answer && (status.is_success() || code.is_some_and(|code| code != UNKNOWN_SESSION));
            if is_about_request || is_own {
                return false;
            }
            error.get("message").or(Some(error)).and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        None => text.into_owned(),
    };
    let sentence = sentence.to_lowercase();
    let is_about_session = sentence.contains("session") && UNKNOWN.iter().any(|word| sentence.contains(word));
    sentence.len() <= SENTENCE_BYTES && (is_about_session || sentence.contains("not initialized"))
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
            ("Invalid session ID".to_owned(), true),
            (json!({ "error": "Unknown session" }).to_string(), true),
            (error(json!(7), -32602, "Invalid arguments: session is required"), false),
            (error(json!(null), -32602, "invalid session argument"), false),
            (error(json!(7), 42, "the session of this user has expired"), false),
            (error(json!(7), -32000, "no active browser session"), false),
            (error(json!(null), -32000, "Bad Request: Unsupported protocol version"), false),
            (json!({ "jsonrpc": "2.0", "id": 7, "result": { "text": "session not found" } }).to_string(), false),
            ("Bad Request".to_owned(), false),
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
}
