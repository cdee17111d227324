//! The end of a handler before its action: a guard responds in its place.

use axum::response::{IntoResponse, Response};

use crate::server::http::response::problem::Problem;

/// A response in the place of the one that a handler would have given: another page, a redirect, or a problem. `?`
/// returns it.
#[derive(Debug)]
pub struct EarlyResponse(Box<Response>);

impl From<Response> for EarlyResponse {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl<E: Into<Problem>> From<E> for EarlyResponse {
    fn from(error: E) -> Self {
        let problem: Problem = error.into();
        Self(Box::new(problem.into_response()))
    }
}

impl IntoResponse for EarlyResponse {
    fn into_response(self) -> Response {
        *self.0
    }
}
