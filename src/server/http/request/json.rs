//! JSON bodies: their only extractor, and the only way to respond in JSON. Each way in which a body can be wrong has
//! its status and code here.

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::domain::encoding::json_reader;
use crate::domain::messages::failure::InvalidField;
use crate::domain::{CodedMessage, MessageCode};
use crate::server::http::request::json_structure;
use crate::server::http::response::problem::Problem;

/// A body read as JSON, or a response written as JSON. Types that are read must `deny_unknown_fields`.
#[derive(Debug, Clone, Copy)]
pub struct ApiJson<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for ApiJson<T> {
    type Rejection = Problem;

    /// Errors: 415 for another content type or encoding, 413 beyond the body limit, 408 for a slow body, 400 with the
    /// field for everything else.
    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        check_type(request.headers())?;
        let bytes = read_body(request, state).await?;
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> OptionalFromRequest<S> for ApiJson<T> {
    type Rejection = Problem;

    /// Returns `None` for a request without a body and without a content type.
    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Problem> {
        if !request.headers().contains_key(CONTENT_TYPE) && request.body().is_end_stream() {
            return Ok(None);
        }
        <Self as FromRequest<S>>::from_request(request, state).await.map(Some)
    }
}

impl<T: Serialize> IntoResponse for ApiJson<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => {
                let mut response = Response::new(Body::from(bytes));
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response
            }
            Err(error) => Problem::internal(format!("a response is not JSON: {error}")).into_response(),
        }
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let refused = || Problem::unsupported_media_type("application/json");
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(CONTENT_ENCODING).iter().all(is_plain) {
        return Err(refused());
    }
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).ok_or_else(refused)?;
    let mut parts = text.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|part| match part.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if is_json && is_utf8 { Ok(()) } else { Err(refused()) }
}

/// Reads the body. The `body` layer replaces this error if the body was too long or too slow.
async fn read_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let read = Bytes::from_request(request, state).await;
    read.map_err(|_| Problem::broken_body())
}

/// Parses the bytes of a body.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let not_utf8 = || CodedMessage::uncoded("The request body is not valid UTF-8.");
    let text =
        std::str::from_utf8(bytes).map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "invalid_utf8", not_utf8()))?;
    json_structure::check(text).map_err(|error| Problem::unreadable("", &error.to_string()))?;
    // Serde would read an array as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(InvalidField::new("", MessageCode::NotAnObject).into());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| Problem::unreadable("", &error.to_string()))?;
    serde_path_to_error::deserialize(json_reader::deserializer(&value)).map_err(|error| {
        let path = error.path().to_string();
        Problem::unreadable(if path == "." { "" } else { &path }, &error.inner().to_string())
    })
}

/// Distinguishes `null` from an absent field.
pub fn deserialize_double_option<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
