//! The refusal of a form of accounts: the error of a field, or a notice above the form.

use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use crate::domain::InvalidField;
use crate::server::app::App;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::account_error::AccountError;

/// The status of a page, and the seconds after which a retry may work.
#[derive(Debug, Clone, Copy)]
pub struct PageHead {
    status: StatusCode,
    retry_after: Option<u64>,
}

impl From<StatusCode> for PageHead {
    fn from(status: StatusCode) -> Self {
        Self { status, retry_after: None }
    }
}

impl PageHead {
    /// Responds with the page.
    pub fn respond(self, app: &App, context: &PageContext, page: ServerPage) -> Response {
        let mut response = context.clone().respond(app, self.status, page);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The refusal of a form.
pub struct FormRefusal {
    pub head: PageHead,
    pub field: Option<InvalidField>,
    pub notice: Option<ActionNotice>,
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
                Ok(Self { head: StatusCode::UNPROCESSABLE_ENTITY.into(), field: Some(field), notice: None })
            }
            AccountError::Service(ServiceError::Conflict { message, .. }) => {
                Ok(Self { head: StatusCode::CONFLICT.into(), field: None, notice: notice(&message) })
            }
            AccountError::Wait { message, seconds } => {
                let head = PageHead { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(seconds) };
                Ok(Self { head, field: None, notice: notice(&message) })
            }
            error => Err(error.into()),
        }
    }
}
