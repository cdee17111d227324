//! Signing in with an account of another service, adding one to the own account, and authenticating there again: the
//! browser goes to the identity provider by a link, and comes back to an address of this server with the answer.

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use http::{HeaderMap, StatusCode};

use crate::domain::IdentityId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::{actor, client_origin};
use crate::server::http::accounts::sign_in::{
    SignInQuery, SignedIn, draw_sign_in, is_without_accounts, refuse_insecure, refused_response, with_session,
};
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::csrf::is_led_by_other_site;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::{SETUP_PATH, sign_in_path};
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::request::used_origin::{UsedOrigin, with_public_origin};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::tools::sign_in::sign_in_answer;
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::identities::{link_page, link_refused_page};
use crate::server::server_pages::accounts::sign_in::SignInFormState;
use turnleaf_service::accounts::NewSecret;
use turnleaf_service::accounts::account_error::AccountError;
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

/// Shows the sign-in page with the reason.
fn refuse_sign_in(app: &App, context: PageContext, error: AccountError, next: &str) -> Result<Response, Problem> {
    let mut refusal = FormRefusal::from_error(error)?;
    let page = draw_sign_in(app, &context, (&SignInFormState::default(), next), refusal.notice.take());
    Ok(refused_response(app, context, refusal, page))
}

/// Shows the reason to somebody who is signed in.
fn refuse_link(app: &App, context: PageContext, error: AccountError) -> Result<Response, Problem> {
    let mut refusal = FormRefusal::from_error(error)?;
    let page = link_refused_page(refusal.notice.take());
    Ok(refused_response(app, context, refusal, page))
}

/// `GET /sign-in/{provider}`: leads to the identity provider.
async fn begin(
    State(app): State<App>,
    (signed_in, client, headers): (SignedIn, ClientIdentity, HeaderMap),
    UsedOrigin { origin, .. }: UsedOrigin,
    PathId(provider): PathId<String>,
    StrictQuery(query): StrictQuery<SignInQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let next = query.next.unwrap_or_default();
    let next = local_path(&next);
    if signed_in.is_some() {
        return Ok(see_other(next));
    }
    if app.service().needs_setup() {
        return Ok(see_other(SETUP_PATH));
    }
    // A provider that knows the person answers without a question, so no other page may begin it.
    if is_led_by_other_site(&headers) {
        return Ok(see_other(&sign_in_path(next)));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let client = client_origin(&app, &client, &headers);
    match app.service().begin_identity_sign_in(&provider, (&origin, next), IdentityPurpose::SignIn, &client).await {
        Ok(begun) => Ok(with_browser_secret(&app, &begun.browser, see_other(&begun.url))),
        Err(error) => refuse_sign_in(&app, context, error, next),
    }
}

/// `GET /sign-in/{provider}/callback`: the answer of the identity provider. It may have any further parameters.
pub async fn callback(
    State(app): State<App>,
    (signed_in, client, headers): (SignedIn, ClientIdentity, HeaderMap),
    PathId(provider): PathId<String>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    context: PageContext,
) -> Result<Response, Problem> {
    let Query(parameters) = query.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let cookie = SessionCookie::of_identity_sign_in(app.transport());
    let (answer, browser) = (sign_in_answer(&parameters), cookie.secret(&headers));
    let person = signed_in.map(|Extension(principal)| actor(&principal, &client));
    let origin = client_origin(&app, &client, &headers);
    let answer = (&answer, browser.as_deref());
    let mut response = match app.service().finish_identity_sign_in(&provider, answer, person, &origin).await {
        Ok(FinishedIdentitySignIn::SignedIn { secret, next }) => with_session(&app, &secret, local_path(&next)),
        Ok(FinishedIdentitySignIn::Linked) => see_other("/settings/profile?done=linked#identities"),
        Ok(FinishedIdentitySignIn::Confirmed) => see_other("/settings/profile?done=confirmed"),
        Err(error) if person.is_some() => return refuse_link(&app, context, error),
        Err(error) => return refuse_sign_in(&app, context, error, "/"),
    };
    cookie.clear(response.headers_mut());
    Ok(response)
}

/// `POST /forms/profile/identities/link`: names the host where the browser goes to add an identity. Only a form of this
/// site gets here, so that nobody makes a browser add the identity of somebody else.
async fn link(
    State(app): State<App>,
    principal: Principal,
    (client, headers): (ClientIdentity, HeaderMap),
    UsedOrigin { origin, .. }: UsedOrigin,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other("/settings/profile"));
    }
    let provider: String = fields.subject_id("provider")?;
    let form = ProtectedForm { action: "/forms/profile/identities/link", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let to = (origin.as_str(), "/settings/profile");
    let (person, client) = (actor(&principal, &client), client_origin(&app, &client, &headers));
    match app.service().begin_identity_sign_in(&provider, to, IdentityPurpose::Link(person), &client).await {
        Ok(begun) => {
            let response = context.respond(&app, StatusCode::OK, link_page(&begun));
            Ok(with_browser_secret(&app, &begun.browser, response))
        }
        Err(error) => refuse_link(&app, context, error),
    }
}

/// `GET /settings/profile/confirm/{provider}`: leads to the identity provider, where the person authenticates again. The
/// answer does nothing but to count like a password.
async fn confirm(
    State(app): State<App>,
    principal: Principal,
    (client, headers): (ClientIdentity, HeaderMap),
    UsedOrigin { origin, .. }: UsedOrigin,
    PathId(provider): PathId<String>,
    context: PageContext,
) -> Result<Response, Problem> {
    let to = (origin.as_str(), PageSection::Profile.path());
    // A provider that asks nobody would confirm at once, so no other page may begin it.
    if principal.session().is_none() || is_led_by_other_site(&headers) {
        return Ok(see_other(to.1));
    }
    let (person, client) = (actor(&principal, &client), client_origin(&app, &client, &headers));
    match app.service().begin_identity_sign_in(&provider, to, IdentityPurpose::Confirm(person), &client).await {
        Ok(begun) => Ok(with_browser_secret(&app, &begun.browser, see_other(&begun.url))),
        Err(error) => refuse_link(&app, context, error),
    }
}

/// `POST /forms/profile/identities/unlink`.
pub async fn unlink(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let identity: IdentityId = fields.subject_id("identity_id")?;
    let form = ProtectedForm { action: "/forms/profile/identities/unlink", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    match app.service().unlink_identity(principal.user, actor(&principal, &client), identity).await {
        Ok(()) => Ok(see_other("/settings/profile?done=unlinked#identities")),
        Err(error) => refuse_link(&app, context, error),
    }
}
