//! The request context and the response of server-rendered pages, and the fields of their forms.

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{Html, IntoResponse, Redirect, Response};
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, HOST};
use http::request::Parts;
use leptos::nonce::Nonce;
use std::convert::Infallible;
use std::str::FromStr;

use crate::domain::{InvalidField, MessageCode};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::cookies::preferences;
use crate::server::http::request::principal::SessionRenewal;
use crate::server::http::response::headers::document_policy;
use crate::server::http::response::problem::Problem;
use crate::server::server_pages::{AccountPages, PageFrame, ServerPage};
use crate::ui::preferences::Preferences;
use turnleaf_service::accounts::passkeys::relying_party::RelyingParty;
use turnleaf_service::providers::headers::SecretHeaders;

/// The parts of a request that determine how a page looks.
#[derive(Debug, Clone)]
pub struct PageContext {
    preferences: Preferences,
    accounts: AccountPages,
    /// True for a page of a session, which its person can end on it.
    has_session: bool,
    /// The relying party of passkeys at the address of the request.
    relying_party: Option<RelyingParty>,
    renewal: SessionRenewal,
}

impl FromRequestParts<App> for PageContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let principal = parts.extensions.get::<Principal>();
        let accounts = principal.map(account_pages).unwrap_or_default();
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let relying_party = app.service().relying_party(host);
        let renewal = parts.extensions.get::<SessionRenewal>().cloned().unwrap_or_default();
        Ok(Self { accounts, relying_party, renewal, ..Self::of_failure(&parts.headers, principal) })
    }
}

/// Returns which pages about accounts a person may open.
fn account_pages(principal: &Principal) -> AccountPages {
    match (principal.has_account(), principal.is_admin()) {
        (false, _) => AccountPages::None,
        (true, true) => AccountPages::All,
        (true, false) => AccountPages::Own,
    }
}

impl PageContext {
    /// Creates the context of a request that no handler answers. Its page leads to no pages of accounts.
    pub fn of_failure(headers: &http::HeaderMap, principal: Option<&Principal>) -> Self {
        let has_session = principal.is_some_and(|principal| principal.session().is_some());
        let (preferences, renewal) = (preferences(headers), SessionRenewal::default());
        Self { preferences, accounts: AccountPages::None, has_session, relying_party: None, renewal }
    }

    /// Notes that the person has authenticated again, after which their session gets another cookie.
    pub fn renew_session(&self) {
        self.renewal.request();
    }

    /// Returns the relying party of passkeys; `None` where browsers offer none.
    pub fn relying_party(&self) -> Option<&RelyingParty> {
        self.relying_party.as_ref()
    }

    /// Returns the origin at which a page offers passkeys.
    pub fn passkeys_at(&self) -> Option<&str> {
        self.relying_party().map(RelyingParty::origin)
    }

    /// Renders the page without script, for failures. The header layer gives it the policy of such a document.
    pub fn respond_without_script(self, app: &App, status: StatusCode, page: ServerPage) -> Response {
        (status, Html(self.frame(app, None).draw(page))).into_response()
    }

    /// Renders the page with a script and a policy that allows it. The page works without the script, which enhances
    /// it (`browser::server_page`).
    pub fn respond(self, app: &App, status: StatusCode, page: ServerPage) -> Response {
        let nonce = Nonce::new().to_string();
        let policy = document_policy(Some(&nonce), app.transport());
        (status, [(CONTENT_SECURITY_POLICY, policy)], Html(self.frame(app, Some(nonce)).draw(page))).into_response()
    }

    fn frame(self, app: &App, nonce: Option<String>) -> PageFrame {
        let Self { preferences, accounts, has_session, .. } = self;
        PageFrame { package: format!("/{}", app.leptos().site_pkg_dir), preferences, nonce, accounts, has_session }
    }
}

/// Redirects after an action with 303 (post/redirect/get), so that a reload does not repeat it.
pub fn see_other(to: &str) -> Response {
    Redirect::to(to).into_response()
}

/// The fields of a form in their order. A name may occur more than once.
#[derive(Debug, Clone, Default)]
pub struct SubmittedFields(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for SubmittedFields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Form::<Vec<(String, String)>>::from_request(request, state).await {
            Ok(Form(fields)) => Ok(Self(fields)),
            Err(rejection) => Err(Problem::unreadable("", &rejection.body_text())),
        }
    }
}

impl SubmittedFields {
    /// Returns the trimmed text of a field; `None` if it is absent or empty. Browsers send line ends of forms as
    /// CRLF.
    pub fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.replace("\r\n", "\n").trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the text of a field in which white space is significant.
    pub fn lines(&self, name: &str) -> String {
        let field = self.0.iter().find(|(key, _)| key == name);
        field.map(|(_, value)| value.replace("\r\n", "\n")).unwrap_or_default()
    }

    /// Returns whether the field is present; it may be empty.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Returns whether a box is ticked.
    pub fn is_checked(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Returns the id in a field that every form of this kind has.
    ///
    /// # Errors
    /// 400 if the field is missing, 404 for an impossible id.
    pub fn required_id<T: FromStr>(&self, name: &str) -> Result<T, Problem> {
        let text = self.text(name).ok_or_else(|| InvalidField::new(name, MessageCode::IsRequired))?;
        text.parse().map_err(|_| Problem::not_found())
    }

    /// Returns the id of the subject of a form.
    ///
    /// # Errors
    /// 404 if the field is missing, and for an impossible id.
    pub fn subject_id<T: FromStr>(&self, name: &str) -> Result<T, Problem> {
        self.text(name).and_then(|text| text.parse().ok()).ok_or_else(Problem::not_found)
    }

    /// Returns the headers that a connection gets from its form: the submitted ones; none if the form says so; and
    /// otherwise `None`, which keeps the stored headers, because no page shows those. A new connection has none to
    /// keep.
    ///
    /// # Errors
    /// Returns an error for a line without a colon.
    pub fn submitted_headers(&self, is_changed: bool) -> Result<Option<SecretHeaders>, InvalidField> {
        let headers: SecretHeaders = self.headers()?.into_iter().map(|(name, value)| (name, value.into())).collect();
        let gives_headers = !headers.is_empty() || self.is_checked("no_headers");
        Ok((gives_headers || !is_changed).then_some(headers))
    }

    /// Parses the headers in a field with one per line, such as `Name: value`.
    fn headers(&self) -> Result<Vec<(String, String)>, InvalidField> {
        let lines = self.text("headers").unwrap_or_default();
        let split = |line: &str| {
            let (name, value) =
                line.split_once(':').ok_or_else(|| InvalidField::new("headers", MessageCode::HeaderLineInvalid))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        lines.lines().filter(|line| !line.trim().is_empty()).map(split).collect()
    }

    /// Removes the fields that fit, and returns them.
    pub fn take(&mut self, fits: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let all = std::mem::take(&mut self.0);
        let (taken, kept) = all.into_iter().partition(|(name, _)| fits(name));
        self.0 = kept;
        taken
    }

    /// Adds fields.
    pub fn extend(&mut self, fields: Vec<(String, String)>) {
        self.0.extend(fields);
    }

    /// Returns all fields with their values.
    pub fn all(&self) -> &[(String, String)] {
        &self.0
    }

    /// Returns every value of a field that may occur more than once.
    pub fn values(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone()).collect()
    }
}
