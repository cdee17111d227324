//! How a plain page is asked for and answered, and the fields of its forms.

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{Html, IntoResponse, Redirect, Response};
use http::header::CONTENT_SECURITY_POLICY;
use http::request::Parts;
use http::{Method, StatusCode};
use leptos::nonce::Nonce;
use std::convert::Infallible;
use std::str::FromStr;

use crate::domain::InvalidField;
use crate::server::app::App;
use crate::server::http::request::cookies::preferences;
use crate::server::http::response::headers::document_policy;
use crate::server::http::response::problem::Problem;
use crate::server::server_pages::{PageFrame, ServerPage};
use crate::ui::preferences::Preferences;
use turnleaf_service::providers::headers::SecretHeaders;

/// What the request says about how a page should look.
#[derive(Debug, Clone)]
pub struct PageContext {
    preferences: Preferences,
    /// Path and query, when asking again shows the same page.
    address: Option<String>,
}

impl FromRequestParts<App> for PageContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Infallible> {
        Ok(Self::from_headers(&parts.headers, (parts.method == Method::GET).then(|| parts.uri.to_string())))
    }
}

impl PageContext {
    /// The same of a request that no handler answers.
    pub fn from_headers(headers: &http::HeaderMap, address: Option<String>) -> Self {
        Self { preferences: preferences(headers), address }
    }

    /// The page as an answer without script, for when something is wrong. The shell gives it the policy of such a
    /// document.
    pub fn respond_without_script(self, app: &App, status: StatusCode, page: ServerPage) -> Response {
        (status, Html(self.frame(app, &page, None).draw(page))).into_response()
    }

    /// The page as an answer, with the script that its policy lets run: it works without, and does more with it
    /// (`browser::server_page`).
    pub fn respond(self, app: &App, status: StatusCode, page: ServerPage) -> Response {
        let nonce = Nonce::new().to_string();
        let policy = document_policy(Some(&nonce), app.transport());
        (status, [(CONTENT_SECURITY_POLICY, policy)], Html(self.frame(app, &page, Some(nonce)).draw(page)))
            .into_response()
    }

    fn frame(self, app: &App, page: &ServerPage, nonce: Option<String>) -> PageFrame {
        PageFrame {
            package: format!("/{}", app.leptos().site_pkg_dir),
            preferences: self.preferences,
            address: self.address.unwrap_or_else(|| page.section.path().to_owned()),
            nonce,
        }
    }
}

/// Sends the browser on after a deed, so that a reload does not do it again.
pub fn see_other(to: &str) -> Response {
    Redirect::to(to).into_response()
}

/// The fields of a form in their order; a name may come more than once.
#[derive(Debug, Clone, Default)]
pub struct SubmittedFields(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for SubmittedFields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Form::<Vec<(String, String)>>::from_request(request, state).await {
            Ok(Form(fields)) => Ok(Self(fields)),
            Err(rejection) => Err(Problem::invalid(InvalidField::new("", rejection.body_text()))),
        }
    }
}

impl SubmittedFields {
    /// The text of a field without the white space around it; nothing for one that is absent or empty. Browsers send
    /// line ends of forms as CRLF.
    pub fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.replace("\r\n", "\n").trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The text of a field whose white space says something.
    pub fn lines(&self, name: &str) -> String {
        let field = self.0.iter().find(|(key, _)| key == name);
        field.map(|(_, value)| value.replace("\r\n", "\n")).unwrap_or_default()
    }

    /// Whether the field is there, though it may be empty.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Whether a box is ticked.
    pub fn is_checked(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// The id in a field that every form of this kind has.
    ///
    /// # Errors
    /// 400 without one, 404 for one that cannot be.
    pub fn required_id<T: FromStr>(&self, name: &str) -> Result<T, Problem> {
        let text = self.text(name).ok_or_else(|| InvalidField::new(name, "is missing"))?;
        text.parse().map_err(|_| Problem::not_found())
    }

    /// What a form is about, by the id in a field.
    ///
    /// # Errors
    /// 404 without one, and for one that cannot be.
    pub fn subject_id<T: FromStr>(&self, name: &str) -> Result<T, Problem> {
        self.text(name).and_then(|text| text.parse().ok()).ok_or_else(Problem::not_found)
    }

    /// The headers that the form of an address gives it: those that are there, none where the form says so, and those
    /// of before, which no page shows, where it says nothing. A new address has none before.
    ///
    /// # Errors
    /// A line without a colon.
    pub fn submitted_headers(&self, is_changed: bool) -> Result<Option<SecretHeaders>, InvalidField> {
        let headers: SecretHeaders = self.headers()?.into_iter().map(|(name, value)| (name, value.into())).collect();
        let gives_headers = !headers.is_empty() || self.is_checked("no_headers");
        Ok((gives_headers || !is_changed).then_some(headers))
    }

    /// The headers in a field that has one a line, such as `Name: value`.
    fn headers(&self) -> Result<Vec<(String, String)>, InvalidField> {
        let lines = self.text("headers").unwrap_or_default();
        let split = |line: &str| {
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| InvalidField::new("headers", "each line must be like Name: value"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        lines.lines().filter(|line| !line.trim().is_empty()).map(split).collect()
    }

    /// Every value of a field that may come more than once.
    pub fn values(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone()).collect()
    }
}
