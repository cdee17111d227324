//! Access control: what each route requires, and the one layer that makes the principal of a request and enforces it,
//! deny by default. The rule is looked up by the path pattern that the router has matched, never by the address of the
//! request, which two programs may read differently.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};

use crate::domain::{MessageCode, PendingStep};
use crate::server::access::{Principal, Scope};
use crate::server::http::request::accept::wants_page;
use crate::server::http::request::principal::{
    AuthenticatedRequest, Authentication, SessionRenewal, pending_step_path,
};
use crate::server::http::response::fallback;
use crate::server::http::response::problem::Problem;
use turnleaf_service::usage::calling_token::with_calling_token;

/// The access rule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing. Only for what shows nothing of anybody, or only what its owner shared with whoever has the address.
    Public,
    /// A principal, with this scope if the route is only a part of what an account may do.
    User { scope: Option<Scope>, csrf: CsrfCheck },
    /// An administrator with all scopes.
    Admin,
    /// A person at a page, also one whose session has this step pending; without a step, any. Of the other routes only the
    /// public ones answer such a session, as they answer a stranger.
    Pending(Option<PendingStep>),
}

/// Which requests of a route may not come from another site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsrfCheck {
    /// Those whose method changes something, as on every route (`request::csrf`).
    ByMethod,
    /// All of them.
    Always,
}

impl Access {
    /// Returns whether even a request that only reads must not come from another site.
    pub fn always_checks_csrf(self) -> bool {
        matches!(self, Self::User { csrf: CsrfCheck::Always, .. })
    }

    /// Checks whether a principal, or a stranger, may use the route.
    ///
    /// # Errors
    /// 401 without a principal, 403 for one without the right.
    fn check(self, principal: Option<Principal>) -> Result<(), Problem> {
        let is_allowed = match self {
            Self::Public => return Ok(()),
            Self::User { scope, .. } => {
                principal.map(|principal| scope.is_none_or(|scope| principal.scopes.contains(scope)))
            }
            Self::Admin => principal.map(|principal| principal.is_admin()),
            Self::Pending(_) => principal.map(|principal| principal.scopes.contains(Scope::Pages)),
        };
        match is_allowed {
            Some(true) => Ok(()),
            Some(false) => Err(Problem::forbidden()),
            None => Err(Problem::unauthenticated()),
        }
    }

    /// Returns whether the route is a part of this step.
    fn is_part_of(self, step: PendingStep) -> bool {
        matches!(self, Self::Pending(of) if of.is_none_or(|of| of == step))
    }
}

/// Returns the refusal of a session that has a step pending.
fn pending_problem(step: PendingStep) -> Problem {
    let (code, message) = match step {
        PendingStep::ChangePassword => ("password_change_required", MessageCode::PasswordChangeRequired),
        PendingStep::SetUpSecondFactor => ("second_factor_required", MessageCode::SecondFactorRequired),
    };
    Problem::new(StatusCode::FORBIDDEN, code, message)
}

/// A principal with any scopes.
const ANY_PRINCIPAL: Access = Access::User { scope: None, csrf: CsrfCheck::ByMethod };

/// The access of every route: for each path pattern, its methods.
#[derive(Debug, Default)]
pub struct AccessTable(HashMap<String, Vec<(String, Access)>>);

impl AccessTable {
    /// Adds a route. The method may be in any case.
    pub fn insert(&mut self, method: &str, path: &str, access: Access) {
        self.0.entry(path.to_owned()).or_default().push((method.to_ascii_uppercase(), access));
    }

    /// Returns the method, the path and the access of every route.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, Access)> {
        self.0.iter().flat_map(|(path, methods)| {
            methods.iter().map(move |(method, access)| (method.as_str(), path.as_str(), *access))
        })
    }

    /// Returns what a request requires. Strangers do not learn which addresses exist: one that matches no route, or a
    /// route without its method, requires any principal, who is answered 404 or 405. A route that is not in the table
    /// requires an administrator.
    fn required(&self, matched: Option<&str>, method: &Method) -> Access {
        let Some(matched) = matched else { return ANY_PRINCIPAL };
        let Some(methods) = self.0.get(matched) else { return Access::Admin };
        // Routes that answer GET answer HEAD as well.
        let method = if method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
        methods.iter().find(|(known, _)| known == method).map_or(ANY_PRINCIPAL, |(_, access)| *access)
    }
}

/// The rules of the layer.
#[derive(Debug)]
pub struct AccessRules {
    pub table: AccessTable,
    pub authentication: Authentication,
}

/// Makes the principal of a request, refuses the request if its route requires more, and leaves the principal in the
/// extensions for handlers, pages and server functions. A session whose person authenticated again is renewed with the
/// response.
pub async fn layer(State(rules): State<Arc<AccessRules>>, mut request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let required = rules.table.required(matched, request.method());
    let presented = rules.authentication.present(&request);
    let authenticated = match rules.authentication.authenticate(presented).await {
        Ok(authenticated) => authenticated,
        // Public routes need no database.
        Err(_) if required == Access::Public => None,
        Err(problem) => return problem.into_response(),
    };
    let present = authenticated.as_ref().map(|authenticated| authenticated.principal);
    let is_incomplete = present.is_some_and(|principal| principal.pending.is_some());
    let authenticated = authenticated.filter(|_| required != Access::Public || !is_incomplete);
    let principal = authenticated.as_ref().map(|authenticated| authenticated.principal);
    let refused = refuse(&rules.authentication, required, principal, &request);
    let renewal = SessionRenewal::default();
    let mut response = match refused {
        Some(refused) => refused,
        None => {
            request.extensions_mut().insert(rules.authentication.has_accounts());
            if let Some(AuthenticatedRequest { principal, lease }) = authenticated {
                request.extensions_mut().insert(principal);
                request.extensions_mut().insert(lease);
                request.extensions_mut().insert(renewal.clone());
            }
            // All that the request starts is attributed to its token in the ledger.
            with_calling_token(principal.and_then(|principal| principal.token()), next.run(request)).await
        }
    };
    // Only now, because until the browser has the other cookie, its further requests are a stranger's.
    if let Some(principal) = principal.filter(|_| renewal.is_requested()) {
        rules.authentication.renew_session(principal, response.headers_mut()).await;
    }
    // The page of a failure is drawn outside of this layer, and is that of the same person.
    if let Some(principal) = present {
        response.extensions_mut().insert(principal);
    }
    response
}

/// Returns the refusal of a request whose route requires more than its principal has: a problem, or a redirect to what is
/// missing for a person who opens a page. Forms are not redirected: their text would be lost.
fn refuse(
    authentication: &Authentication,
    required: Access,
    principal: Option<Principal>,
    request: &Request,
) -> Option<Response> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_page = is_read && wants_page(request.headers()) && !fallback::is_api(request.uri());
    let (problem, address) = match principal.and_then(|principal| principal.pending) {
        Some(step) if !required.is_part_of(step) => {
            let next = request.uri().path_and_query().map_or("/", |address| address.as_str());
            (pending_problem(step), Some(pending_step_path(next)))
        }
        _ => {
            let problem = required.check(principal).err()?;
            let is_stranger = problem.status() == StatusCode::UNAUTHORIZED;
            (problem, is_stranger.then(|| authentication.sign_in_address(request.uri())).flatten())
        }
    };
    Some(match address.filter(|_| is_page) {
        Some(address) => Redirect::to(&address).into_response(),
        None => problem.into_response(),
    })
}

#[cfg(test)]
mod tests;
