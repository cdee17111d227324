//! The forms about accounts that people send who are signed in: the parts that their handlers need, and the guards
//! before an action, in their one order.

use std::ops::Deref;

use axum::extract::{FromRequest, FromRequestParts, Request};

use crate::domain::UserId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_request::AccountRequest;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::factor_setup::{FactorSetup, NEXT_FIELD};
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::list_pages::ListPosition;

/// A form about accounts, with the principal who sends it. The rest is a request about accounts like any other.
pub struct AccountForm {
    request: AccountRequest,
    pub principal: Principal,
    pub fields: SubmittedFields,
}

impl FromRequest<App> for AccountForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let principal = Principal::from_request_parts(&mut parts, app).await?;
        let request = AccountRequest::from_request_parts(&mut parts, app).await?;
        let fields = SubmittedFields::from_request(Request::from_parts(parts, body), app).await?;
        Ok(Self { request, principal, fields })
    }
}

impl Deref for AccountForm {
    type Target = AccountRequest;

    fn deref(&self) -> &AccountRequest {
        &self.request
    }
}

impl AccountForm {
    /// Returns the account of the person.
    pub fn user(&self) -> UserId {
        self.principal.user
    }

    /// Returns who does what the form is for, for the audit log.
    pub fn actor(&self) -> Actor {
        actor(&self.principal, &self.client)
    }

    /// Returns the trimmed text of a field; empty if it is absent.
    pub fn text(&self, name: &str) -> String {
        self.fields.text(name).unwrap_or_default()
    }

    /// Returns the position of the list in which the form was.
    pub fn list_position(&self) -> ListPosition {
        ListPosition::new(&self.text("find"), &self.text("after"))
    }

    /// Returns the address to which the person returns.
    pub fn next_address(&self) -> String {
        local_path(&self.text(NEXT_FIELD)).to_owned()
    }

    /// Returns the occasion on which a form of the second factor or of a passkey was sent.
    pub fn factor_setup(&self) -> FactorSetup {
        match self.principal.pending {
            None => FactorSetup::Voluntary,
            Some(_) => FactorSetup::Required { next: self.next_address() },
        }
    }

    /// Requires a person who has signed in to this server: only they have codes, passkeys and linked identities.
    ///
    /// # Errors
    /// A redirect to the own account.
    pub fn require_session(&self) -> Result<(), EarlyResponse> {
        match self.principal.session() {
            Some(_) => Ok(()),
            None => Err(see_other(PageSection::Profile.path()).into()),
        }
    }

    /// Requires the password, or a passkey, if none was entered lately. `action` is the address of the form, `section`
    /// that of its page.
    ///
    /// # Errors
    /// The page that asks for it.
    pub async fn require_password(&self, action: &'static str, section: PageSection) -> Result<(), EarlyResponse> {
        let (who, form) = ((&self.principal, &self.client), ProtectedForm { action, section });
        match ask_password(&self.app, who, &self.context, form, &self.fields).await? {
            Some(asked) => Err(asked.into()),
            None => Ok(()),
        }
    }

    /// Requires a session, and then its password for a form of the own account, which may be a part of a pending step.
    ///
    /// # Errors
    /// A redirect, or the page that asks.
    pub async fn require_session_and_password(&self, action: &'static str) -> Result<(), EarlyResponse> {
        self.require_session()?;
        self.require_password(action, self.factor_setup().section()).await
    }
}
