//! The requests about accounts: the parts that their handlers need, and the guards of the routes for people who are not
//! signed in.

use axum::extract::FromRequestParts;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::domain::MessageCode;
use crate::server::access::{Credential, Principal};
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::{FormRefusal, PageHead};
use crate::server::http::accounts::request_origin::client_origin;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::principal::{SETUP_PATH, SIGN_IN_PATH};
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::accounts::sign_in::insecure_page;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::Service;
use turnleaf_service::accounts::ClientOrigin;
use turnleaf_service::accounts::account_error::AccountError;

/// A request about accounts, of somebody who may be signed in or not.
pub struct AccountRequest {
    pub app: App,
    pub signed_in: Option<Principal>,
    pub client: ClientIdentity,
    pub headers: HeaderMap,
    pub context: PageContext,
}

impl FromRequestParts<App> for AccountRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let client = ClientIdentity::from_request_parts(parts, app).await?;
        let Ok(context) = PageContext::from_request_parts(parts, app).await;
        let signed_in = parts.extensions.get::<Principal>().copied();
        Ok(Self { app: app.clone(), signed_in, client, headers: parts.headers.clone(), context })
    }
}

impl AccountRequest {
    /// Returns the use cases.
    pub fn service(&self) -> &Service {
        self.app.service()
    }

    /// Returns the client, for the limits on attempts and for a new session.
    pub fn client_origin(&self) -> ClientOrigin {
        client_origin(&self.app, &self.client, &self.headers)
    }

    /// Responds with a page.
    pub fn respond(&self, head: impl Into<PageHead>, page: ServerPage) -> Response {
        let head: PageHead = head.into();
        head.respond(&self.app, &self.context, page)
    }

    /// Responds with a page that has nothing but the reason why nothing was done.
    ///
    /// # Errors
    /// Those that are not about what was typed.
    pub fn refuse(
        &self,
        error: AccountError,
        draw: impl FnOnce(Option<ActionNotice>) -> ServerPage,
    ) -> Result<Response, EarlyResponse> {
        let refusal = FormRefusal::from_error(error)?;
        Ok(self.respond(refusal.head, draw(refusal.notice)))
    }

    /// Returns whether the server has no accounts: nobody signs in to it.
    pub fn is_without_accounts(&self) -> bool {
        self.signed_in.is_some_and(|principal| principal.credential == Credential::Admission)
    }

    /// Requires a client whose passwords nobody else can read on the way.
    ///
    /// # Errors
    /// The page that says so.
    pub fn require_safe_address(&self) -> Result<(), EarlyResponse> {
        if SessionCookie::new(self.app.transport()).is_safe_for(&self.client) {
            return Ok(());
        }
        let page = insecure_page(coded_sentence(&MessageCode::SignInNeedsSecureAddress.into()));
        Err(self.respond(StatusCode::FORBIDDEN, page).into())
    }

    /// Requires a server with accounts, at a safe address. Somebody who is signed in may sign in again.
    ///
    /// # Errors
    /// A redirect, or the page about the address.
    pub fn require_sign_in(&self) -> Result<(), EarlyResponse> {
        if self.is_without_accounts() {
            return Err(see_other("/").into());
        }
        self.require_safe_address()
    }

    /// Requires somebody who is not signed in, on a server that is set up.
    ///
    /// # Errors
    /// A redirect: of a person who is signed in to `next`.
    pub fn require_stranger(&self, next: &str) -> Result<(), EarlyResponse> {
        if self.signed_in.is_some() {
            return Err(see_other(next).into());
        }
        if self.service().needs_setup() {
            return Err(see_other(SETUP_PATH).into());
        }
        Ok(())
    }

    /// Requires a server without an owner, at a safe address.
    ///
    /// # Errors
    /// A redirect, or the page about the address.
    pub fn require_setup(&self) -> Result<(), EarlyResponse> {
        if !self.service().needs_setup() {
            return Err(see_other(SIGN_IN_PATH).into());
        }
        self.require_safe_address()
    }
}
