//! Signing in with an account of another service, adding one to the own account, and authenticating there again: the
//! browser goes to the identity provider by a link, and comes back to an address of this server with the answer.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use http::StatusCode;

use crate::domain::IdentityId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::account_request::AccountRequest;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::accounts::sign_in::{SignInQuery, refuse_sign_in, with_session};
use crate::server::http::request::csrf::is_led_by_other_site;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::sign_in_path;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::request::used_origin::{UsedOrigin, with_public_origin};
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::see_other;
use crate::server::http::tools::sign_in::sign_in_answer;
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::identities::{link_page, link_refused_page};
use turnleaf_service::accounts::NewSecret;
use turnleaf_service::accounts::identity_sign_in::{FinishedIdentitySignIn, IdentityPurpose};

/// Returns the route that begins a sign-in.
pub fn begin_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::get(begin), public_origin)
}

/// Returns the route of the form that adds an identity to the own account.
pub fn link_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::post(link), public_origin)
}

/// Returns the route on which people without a password authenticate again.
pub fn confirm_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::get(confirm), public_origin)
}

/// Sets the cookie by which the answer counts in this browser only.
fn with_browser_secret(app: &App, secret: &NewSecret, mut response: Response) -> Response {
    SessionCookie::of_identity_sign_in(app.transport()).set(response.headers_mut(), secret.expose());
    response
}

/// `GET /sign-in/{provider}`: leads to the identity provider.
async fn begin(
    request: AccountRequest,
    UsedOrigin { origin, .. }: UsedOrigin,
    PathId(provider): PathId<String>,
    StrictQuery(query): StrictQuery<SignInQuery>,
) -> Result<Response, EarlyResponse> {
    let next = query.next.unwrap_or_default();
    let next = local_path(&next);
    request.require_stranger(next)?;
    // A provider that knows the person answers without a question, so no other page may begin it.
    if is_led_by_other_site(&request.headers) {
        return Ok(see_other(&sign_in_path(next)));
    }
    request.require_safe_address()?;
    let (to, client) = ((origin.as_str(), next), request.client_origin());
    match request.service().begin_identity_sign_in(&provider, to, IdentityPurpose::SignIn, &client).await {
        Ok(begun) => Ok(with_browser_secret(&request.app, &begun.browser, see_other(&begun.url))),
        Err(error) => refuse_sign_in(&request, error, next),
    }
}

/// `GET /sign-in/{provider}/callback`: the answer of the identity provider. It may have any further parameters.
pub async fn callback(
    request: AccountRequest,
    PathId(provider): PathId<String>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Response, EarlyResponse> {
    let Query(parameters) = query.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    request.require_sign_in()?;
    let cookie = SessionCookie::of_identity_sign_in(request.app.transport());
    let (answer, browser) = (sign_in_answer(&parameters), cookie.secret(&request.headers));
    let person = request.signed_in.map(|principal| actor(&principal, &request.client));
    let (answer, origin) = ((&answer, browser.as_deref()), request.client_origin());
    let mut response = match request.service().finish_identity_sign_in(&provider, answer, person, &origin).await {
        Ok(FinishedIdentitySignIn::SignedIn { secret, next }) => with_session(&request.app, &secret, local_path(&next)),
        Ok(FinishedIdentitySignIn::Linked) => see_other("/settings/profile?done=linked#identities"),
        Ok(FinishedIdentitySignIn::Confirmed) => {
            request.context.renew_session();
            see_other("/settings/profile?done=confirmed")
        }
        Err(error) if person.is_some() => return request.refuse(error, link_refused_page),
        Err(error) => return refuse_sign_in(&request, error, "/"),
    };
    cookie.clear(response.headers_mut());
    Ok(response)
}

/// `POST /forms/profile/identities/link`: names the host where the browser goes to add an identity. Only a form of this
/// site gets here, so that nobody makes a browser add the identity of somebody else.
async fn link(UsedOrigin { origin, .. }: UsedOrigin, form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session()?;
    let provider: String = form.fields.subject_id("provider")?;
    form.require_password("/forms/profile/identities/link", PageSection::Profile).await?;
    let (to, client) = ((origin.as_str(), PageSection::Profile.path()), form.client_origin());
    match form.service().begin_identity_sign_in(&provider, to, IdentityPurpose::Link(form.actor()), &client).await {
        Ok(begun) => {
            let response = form.respond(StatusCode::OK, link_page(&begun));
            Ok(with_browser_secret(&form.app, &begun.browser, response))
        }
        Err(error) => form.refuse(error, link_refused_page),
    }
}

/// `GET /settings/profile/confirm/{provider}`: leads to the identity provider, where the person authenticates again. The
/// answer does nothing but to count like a password.
async fn confirm(
    principal: Principal,
    request: AccountRequest,
    UsedOrigin { origin, .. }: UsedOrigin,
    PathId(provider): PathId<String>,
) -> Result<Response, EarlyResponse> {
    let to = (origin.as_str(), PageSection::Profile.path());
    // A provider that asks nobody would confirm at once, so no other page may begin it.
    if principal.session().is_none() || is_led_by_other_site(&request.headers) {
        return Ok(see_other(to.1));
    }
    let purpose = IdentityPurpose::Confirm(actor(&principal, &request.client));
    match request.service().begin_identity_sign_in(&provider, to, purpose, &request.client_origin()).await {
        Ok(begun) => Ok(with_browser_secret(&request.app, &begun.browser, see_other(&begun.url))),
        Err(error) => request.refuse(error, link_refused_page),
    }
}

/// `POST /forms/profile/identities/unlink`.
pub async fn unlink(form: AccountForm) -> Result<Response, EarlyResponse> {
    let identity: IdentityId = form.fields.subject_id("identity_id")?;
    form.require_password("/forms/profile/identities/unlink", PageSection::Profile).await?;
    match form.service().unlink_identity(form.user(), form.actor(), identity).await {
        Ok(()) => Ok(see_other("/settings/profile?done=unlinked#identities")),
        Err(error) => form.refuse(error, link_refused_page),
    }
}
