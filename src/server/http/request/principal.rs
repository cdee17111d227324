//! The principal of a request: the authentication methods of a server, and the extractors for handlers. The layer that
//! asks them runs once for each request (`access_control`).

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequestParts, Request};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};

use crate::domain::encoding::url_encoding;
use crate::domain::{MessageCode, UserId};
use crate::server::access::{Credential, Principal, Scopes};
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::problem::Problem;
use turnleaf_service::Service;
use turnleaf_service::accounts::credential_cache::{AuthenticatedCredential, CredentialId, Revocation};
use turnleaf_service::accounts::credentials::PresentedCredential;
use turnleaf_service::accounts::proxy_users::ProxyUser;

/// The addresses of the pages that strangers are sent to.
pub const SIGN_IN_PATH: &str = "/sign-in";
pub const SETUP_PATH: &str = "/setup";
/// The address of the page that people are sent to whose session has a step pending.
pub const PENDING_STEP_PATH: &str = "/finish-sign-in";

/// The authentication methods of a server. Without any, every request is a stranger's.
#[derive(Clone, Default)]
pub struct Authentication(WaysIn);

#[derive(Clone, Default)]
enum WaysIn {
    #[default]
    Nobody,
    /// A server without accounts.
    Admission(UserId),
    Accounts(Arc<AccountsAccess>),
    Proxy(Arc<ProxyAccess>),
}

/// A server whose proxy names people.
struct ProxyAccess {
    service: Service,
    creates_accounts: bool,
}

struct AccountsAccess {
    service: Service,
    cookie: SessionCookie,
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            WaysIn::Nobody => "Nobody",
            WaysIn::Admission(_) => "Admission",
            WaysIn::Accounts(_) => "Accounts",
            WaysIn::Proxy(_) => "Proxy",
        })
    }
}

/// The identity that a request presents, before it is looked up.
pub enum PresentedIdentity {
    Stranger,
    Owner(UserId),
    Credential(PresentedCredential),
    /// The person whom the proxy names, and their address.
    Named(ProxyUser, IpAddr),
}

/// A request that is let in.
#[derive(Debug, Clone)]
pub struct AuthenticatedRequest {
    pub principal: Principal,
    pub lease: ConnectionLease,
}

/// True if people sign in to the server. Public pages read it, because they link to pages of people who are signed in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HasAccounts(pub bool);

/// The right to keep a connection open. It ends with the session or the token that the connection was opened with.
#[derive(Debug, Clone, Default)]
pub struct ConnectionLease(Revocation);

/// Notes that the person of a request has authenticated again. When the response is ready, their session gets another
/// cookie, and the former one counts no more.
#[derive(Debug, Clone, Default)]
pub struct SessionRenewal(Arc<AtomicBool>);

impl SessionRenewal {
    /// Notes that the session is to be renewed.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the session is to be renewed.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ConnectionLease {
    /// Waits until the connection must be closed. Without accounts that is never.
    pub async fn ended(&self) {
        self.0.revoked().await;
    }
}

impl Authentication {
    /// Returns the authentication of a server without accounts: every admitted client ([`admission`](super::admission))
    /// is its owner and needs no credential, because the binding policy keeps others from reaching it
    /// (docs/reference/security.md 2.5).
    pub fn without_accounts(owner: UserId) -> Self {
        Self(WaysIn::Admission(owner))
    }

    /// Returns the authentication of a server with accounts: sessions of browsers, and API tokens. From now on, budgets
    /// apply.
    pub fn with_accounts(service: Service, cookie: SessionCookie) -> Self {
        service.enforce_budgets();
        Self(WaysIn::Accounts(Arc::new(AccountsAccess { service, cookie })))
    }

    /// Returns whether people sign in to the server.
    pub fn has_accounts(&self) -> HasAccounts {
        HasAccounts(matches!(self.0, WaysIn::Accounts(_)))
    }

    /// Returns the authentication of a server whose proxy names people: the name in each request, and API tokens.
    /// Budgets apply, and the proxy's groups can be mapped.
    pub fn behind_proxy(service: Service, creates_accounts: bool) -> Self {
        service.enforce_budgets();
        service.note_proxy_users();
        Self(WaysIn::Proxy(Arc::new(ProxyAccess { service, creates_accounts })))
    }

    /// Returns the identity that a request presents. A request has one identity: one with a token is not looked up by
    /// its cookie, whatever the token is.
    pub fn present(&self, request: &Request) -> PresentedIdentity {
        let client = request.extensions().get::<ClientIdentity>();
        let Some(client) = client.filter(|client| client.is_admitted()) else { return PresentedIdentity::Stranger };
        match &self.0 {
            WaysIn::Nobody => PresentedIdentity::Stranger,
            WaysIn::Admission(owner) => PresentedIdentity::Owner(*owner),
            WaysIn::Accounts(access) if !access.cookie.is_safe_for(client) => PresentedIdentity::Stranger,
            WaysIn::Accounts(access) => {
                let presented = match bearer_token(request.headers()) {
                    Some(token) => PresentedCredential::token(token),
                    None => {
                        let secret = access.cookie.secret(request.headers());
                        secret.and_then(|secret| PresentedCredential::session(&secret))
                    }
                };
                presented.map_or(PresentedIdentity::Stranger, PresentedIdentity::Credential)
            }
            // Any other value of `Authorization` belongs to the proxy.
            WaysIn::Proxy(_) => match bearer_token(request.headers()).and_then(PresentedCredential::token) {
                Some(token) => PresentedIdentity::Credential(token),
                None => match request.extensions().get::<ProxyUser>() {
                    Some(named) => PresentedIdentity::Named(named.clone(), client.address),
                    None => PresentedIdentity::Stranger,
                },
            },
        }
    }

    /// Returns who it is; `None` for a stranger.
    ///
    /// # Errors
    /// The database does not answer, or 403 for a person whom the proxy names and who has no account.
    pub async fn authenticate(&self, presented: PresentedIdentity) -> Result<Option<AuthenticatedRequest>, Problem> {
        match (&self.0, presented) {
            (_, PresentedIdentity::Owner(owner)) => {
                let (principal, lease) = (Principal::owner(owner), ConnectionLease::default());
                Ok(Some(AuthenticatedRequest { principal, lease }))
            }
            (WaysIn::Accounts(access), PresentedIdentity::Credential(presented)) => {
                let found = access.service.authenticate(&presented).await?;
                Ok(found.map(AuthenticatedRequest::from))
            }
            (WaysIn::Proxy(access), PresentedIdentity::Credential(presented)) => {
                let found = access.service.authenticate(&presented).await?;
                Ok(found.map(AuthenticatedRequest::from))
            }
            (WaysIn::Proxy(access), PresentedIdentity::Named(named, address)) => {
                let found = access.service.authenticate_proxy_user(&named, access.creates_accounts, address).await?;
                let detail = || MessageCode::ProxyUserUnknown.with("name", &named.name);
                let unknown = || Problem::new(StatusCode::FORBIDDEN, "proxy_user_unknown", detail());
                found.map(|found| Some(found.into())).ok_or_else(unknown)
            }
            _ => Ok(None),
        }
    }

    /// Gives the session of a principal another cookie, with the headers of the response. A session that has ended with
    /// what was done gets none, and after a failure of the database it keeps the one that it has.
    pub async fn renew_session(&self, principal: Principal, headers: &mut HeaderMap) {
        let (WaysIn::Accounts(access), Some(session)) = (&self.0, principal.session()) else { return };
        match access.service.renew_session(principal.user, session).await {
            Ok(Some(secret)) => access.cookie.set(headers, secret.expose()),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a session was not renewed after its person authenticated again"),
        }
    }

    /// Returns the address at which a stranger signs in, or sets up, and returns to this one afterwards. `None` on a
    /// server without accounts.
    pub fn sign_in_address(&self, uri: &Uri) -> Option<String> {
        let WaysIn::Accounts(access) = &self.0 else { return None };
        if access.service.needs_setup() {
            return Some(SETUP_PATH.to_owned());
        }
        Some(sign_in_path(uri.path_and_query().map_or("/", |address| address.as_str())))
    }
}

/// Returns the address of the sign-in page, which leads to `next` afterwards.
pub fn sign_in_path(next: &str) -> String {
    path_that_leads_to(SIGN_IN_PATH, next)
}

/// Returns the address of the page with the pending step of a session, which leads to `next` afterwards.
pub fn pending_step_path(next: &str) -> String {
    path_that_leads_to(PENDING_STEP_PATH, next)
}

fn path_that_leads_to(path: &str, next: &str) -> String {
    match next {
        "/" => path.to_owned(),
        next => format!("{path}?next={}", url_encoding::encode(next)),
    }
}

impl From<AuthenticatedCredential> for AuthenticatedRequest {
    fn from(found: AuthenticatedCredential) -> Self {
        let AuthenticatedCredential { user, role, id, pending, revocation } = found;
        let (credential, scopes) = match id {
            CredentialId::Session(session) => (Credential::Session(session), Scopes::ALL),
            CredentialId::Token { id, scopes } => (Credential::Token(id), scopes.into()),
            CredentialId::ProxyUser(identity) => (Credential::ProxyUser(identity), Scopes::ALL),
        };
        let principal = Principal { user, role, scopes, credential, pending };
        Self { principal, lease: ConnectionLease(revocation) }
    }
}

/// Returns the text after `Bearer`. Other schemes are those of a proxy in front.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().copied().ok_or_else(Problem::unauthenticated)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for HasAccounts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().copied().unwrap_or_default())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ConnectionLease {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
