//! The refusal of a form of accounts: the error of a field, or a notice above the form.

use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use crate::domain::InvalidField;
use crate::server::http::response::problem::Problem;
use crate::server::server_pages::ActionNotice;
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::account_error::AccountError;

/// The refusal of a form.
pub struct FormRefusal {
    pub status: StatusCode,
    pub field: Option<InvalidField>,
    pub notice: Option<ActionNotice>,
    retry_after: Option<u64>,
}

impl FormRefusal {
    /// Returns the refusal that the page of a form shows.
    ///
    /// # Errors
    /// Those that are not about what was typed.
    pub fn from_error(error: AccountError) -> Result<Self, Problem> {
        let notice = |message| Some(ActionNotice::Refused(coded_sentence(message)));
        match error {
            AccountError::Service(ServiceError::Invalid(field)) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                Ok(Self { status, field: Some(field), notice: None, retry_after: None })
            }
            AccountError::Service(ServiceError::Conflict { message, .. }) => {
                let status = StatusCode::CONFLICT;
                Ok(Self { status, field: None, notice: notice(&message), retry_after: None })
            }
            AccountError::Wait { message, seconds } => {
                let status = StatusCode::TOO_MANY_REQUESTS;
                Ok(Self { status, field: None, notice: notice(&message), retry_after: Some(seconds) })
            }
            error => Err(error.into()),
        }
    }

    /// Returns the value of the header that goes with the page.
    pub fn retry_after(&self) -> Option<HeaderValue> {
        self.retry_after.map(HeaderValue::from)
    }
}

/// Adds the header that tells when a retry may work.
pub fn with_retry_after(mut response: Response, seconds: Option<HeaderValue>) -> Response {
    if let Some(seconds) = seconds {
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}
