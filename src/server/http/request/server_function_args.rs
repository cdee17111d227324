//! Strict checks of the arguments of server functions, like those of API bodies: an unknown, repeated or mistyped
//! field is 400 with its name. The functions themselves parse leniently, because the same code reads responses in the
//! browser, where a newer server may send more than the page knows.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use crate::api::calls::{self, ArgumentReader};
use crate::server::http::request::json_structure;
use crate::server::http::response::problem::Problem;

/// Refuses a call whose arguments are not exactly those of its function.
pub async fn layer(request: Request, next: Next) -> Response {
    let Some(endpoint) = request.uri().path().strip_prefix(calls::PREFIX).map(str::to_owned) else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let Ok(bytes) = Bytes::from_request(Request::new(body), &()).await else {
        return Problem::broken_body().into_response();
    };
    match check(&endpoint, &bytes) {
        Ok(()) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(endpoint: &str, bytes: &[u8]) -> Result<(), Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| invalid_arguments_problem("", "the body is not UTF-8"))?;
    json_structure::check(text).map_err(|error| invalid_arguments_problem("", &error.to_string()))?;
    // Serde would read an array as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(invalid_arguments_problem("", "must be an object"));
    }
    calls::read_arguments(endpoint, StrictJson(text)).unwrap_or(Ok(()))
}

/// Parses JSON of a type and refuses fields that the type does not have.
struct StrictJson<'t>(&'t str);

impl ArgumentReader for StrictJson<'_> {
    type Output = Result<(), Problem>;

    fn read<T: DeserializeOwned>(self) -> Result<(), Problem> {
        let mut unknown = None;
        let mut note = |path: serde_ignored::Path<'_>| {
            unknown.get_or_insert_with(|| path.to_string());
        };
        let mut deserializer = serde_json::Deserializer::from_str(self.0);
        let read: Result<T, _> =
            serde_path_to_error::deserialize(serde_ignored::Deserializer::new(&mut deserializer, &mut note));
        if let Err(error) = read {
            let path = error.path().to_string();
            return Err(invalid_arguments_problem(if path == "." { "" } else { &path }, &error.inner().to_string()));
        }
        match unknown {
            // `serde_ignored` writes a question mark into the path of a field inside of an `Option`.
            Some(path) => Err(invalid_arguments_problem(&path.replace(".?", "").replace("?.", ""), "unknown field")),
            None => Ok(()),
        }
    }
}

/// Returns a 400 that the page can also read as its own kind of error.
fn invalid_arguments_problem(path: &str, reason: &str) -> Problem {
    let problem = Problem::unreadable(path, reason);
    let problem = if problem.field().is_none() { problem.with_member("field", "request") } else { problem };
    let reason = problem.message().to_string();
    problem.with_member("reason", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_function_is_checked() {
        leptos_axum::generate_route_list(|| ());
        let mut functions: Vec<String> = leptos::server_fn::axum::server_fn_paths()
            .filter_map(|(path, _)| path.strip_prefix(calls::PREFIX).map(str::to_owned))
            .collect();
        functions.sort_unstable();
        let mut known: Vec<&str> = calls::ENDPOINTS.to_vec();
        known.sort_unstable();
        assert_eq!(functions, known);
    }

    #[test]
    fn arguments_outside_function_signature_are_refused() {
        let id = "0190b5b4-7c1e-7abc-8def-0123456789ab";
        let lock = r#"{"provider":"p","model":"m"}"#;
        for (endpoint, text, field) in [
            ("stop_reply", format!(r#"{{"turn_id":"{id}"}}"#), None),
            ("list_chats", "{}".into(), None),
            ("retry_reply", format!(r#"{{"turn_id":"{id}","lock":{lock},"client_request_id":"k"}}"#), None),
            ("stop_reply", format!(r#"{{"turn_id":"{id}","user_id":"{id}"}}"#), Some("user_id")),
            ("stop_reply", format!(r#"{{"turn_id":"{id}","turn_id":"{id}"}}"#), Some("turn_id")),
            ("stop_reply", r#"{"turn_id":"1"}"#.into(), Some("turn_id")),
            ("stop_reply", "{}".into(), Some("turn_id")),
            ("stop_reply", "[]".into(), Some("request")),
            ("list_chats", r#"{"x":1}"#.into(), Some("x")),
            (
                "retry_reply",
                format!(r#"{{"turn_id":"{id}","lock":{},"client_request_id":"k"}}"#, lock.replace('}', r#","x":1}"#)),
                Some("lock.x"),
            ),
            (
                "send_message",
                format!(r#"{{"message":{{"text":"a","chat_id":"{id}","owner":"me"}}}}"#),
                Some("message.owner"),
            ),
        ] {
            let problem = check(endpoint, text.as_bytes()).err();
            let shown = problem.as_ref().map(|problem| problem.as_event()["field"].as_str().unwrap().to_owned());
            // A missing field of a message is found before an unknown one.
            let is_as_expected = shown.as_deref() == field || (endpoint == "send_message" && shown.is_some());
            assert!(is_as_expected, "{endpoint} {text}: {shown:?}");
        }
    }
}
