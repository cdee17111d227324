//! The pages and forms for people who are not signed in: sign-in, setup and invitations; and the sign-out.

use axum::extract::State;
use axum::response::Response;
use http::header::HeaderName;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use crate::domain::MessageCode;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_request::AccountRequest;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::SIGN_IN_PATH;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::accounts::sign_in::{
    OtherWaysIn, SignInFormState, code_page, invite_page, setup_page, sign_in_page, unusable_invite_page,
};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::sign_in::SignInStep;
use turnleaf_service::accounts::{Actor, NewSecret};

/// The browser forgets this about a person who signs out: drafts and cached pages. Cookies stay, because they hold the
/// preferences of the browser.
const CLEAR_SITE_DATA: (HeaderName, &str) = (HeaderName::from_static("clear-site-data"), "\"cache\", \"storage\"");

/// The query of the sign-in page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInQuery {
    /// The address to which the person returns.
    pub next: Option<String>,
    /// The action after which the person is here.
    done: Option<SignInPageResult>,
}

/// The action after which a person comes to the sign-in page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SignInPageResult {
    AccountDeleted,
}

/// Redirects with the cookie of a new session.
pub fn with_session(app: &App, secret: &NewSecret, to: &str) -> Response {
    let mut response = see_other(to);
    SessionCookie::new(app.transport()).set(response.headers_mut(), secret.expose());
    response
}

/// Renders the sign-in page with all ways in that there are at the address of the request.
fn draw_sign_in(
    request: &AccountRequest,
    (form, next): (&SignInFormState, &str),
    notice: Option<ActionNotice>,
) -> ServerPage {
    let providers = request.service().identity_providers();
    let others = OtherWaysIn { providers: &providers, passkeys_at: request.context.passkeys_at() };
    sign_in_page(form, (local_path(next), others), notice)
}

/// Shows the sign-in page with the reason why another way in has failed.
pub fn refuse_sign_in(request: &AccountRequest, error: AccountError, next: &str) -> Result<Response, EarlyResponse> {
    request.refuse(error, |notice| draw_sign_in(request, (&SignInFormState::default(), next), notice))
}

/// `GET /sign-in`.
pub async fn show(
    request: AccountRequest,
    StrictQuery(query): StrictQuery<SignInQuery>,
) -> Result<Response, EarlyResponse> {
    let next = query.next.unwrap_or_default();
    request.require_stranger(local_path(&next))?;
    request.require_safe_address()?;
    let notice =
        query.done.map(|SignInPageResult::AccountDeleted| ActionNotice::Done(words::account_deleted().to_owned()));
    let page = draw_sign_in(&request, (&SignInFormState::default(), &next), notice);
    Ok(request.respond(StatusCode::OK, page))
}

/// `POST /forms/sign-in`.
pub async fn sign_in(request: AccountRequest, fields: SubmittedFields) -> Result<Response, EarlyResponse> {
    request.require_sign_in()?;
    let (name, next) = (fields.text("name").unwrap_or_default(), fields.text("next").unwrap_or_default());
    let password = fields.lines("password").into();
    let error = match request.service().sign_in(&name, &password, &request.client_origin()).await {
        Ok(SignInStep::SignedIn(secret)) => return Ok(with_session(&request.app, &secret, local_path(&next))),
        // The answer has the form for the code, so that there is no address at which the sign-in is lost.
        Ok(SignInStep::CodeNeeded(begun)) => {
            let page = code_page(begun.expose(), local_path(&next), None, None);
            return Ok(request.respond(StatusCode::OK, page));
        }
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let form = SignInFormState { name, error: refusal.field, ..SignInFormState::default() };
    let page = draw_sign_in(&request, (&form, &next), refusal.notice);
    Ok(request.respond(refusal.head, page))
}

/// `POST /forms/sign-in/code`: the code of the second factor, after the password.
pub async fn enter_code(request: AccountRequest, fields: SubmittedFields) -> Result<Response, EarlyResponse> {
    request.require_sign_in()?;
    let (begun, next) = (fields.text("sign_in").unwrap_or_default(), fields.text("next").unwrap_or_default());
    let code = fields.text("code").unwrap_or_default();
    let error = match request.service().sign_in_with_code(&begun, &code, &request.client_origin()).await {
        Ok(secret) => return Ok(with_session(&request.app, &secret, local_path(&next))),
        Err(error @ AccountError::Service(ServiceError::Conflict { .. })) => {
            return refuse_sign_in(&request, error, &next);
        }
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = code_page(&begun, local_path(&next), refusal.field.as_ref(), refusal.notice);
    Ok(request.respond(refusal.head, page))
}

/// `GET /setup`.
pub async fn show_setup(request: AccountRequest) -> Result<Response, EarlyResponse> {
    request.require_setup()?;
    Ok(request.respond(StatusCode::OK, setup_page(&SignInFormState::default(), None)))
}

/// `POST /forms/setup`.
pub async fn set_up(request: AccountRequest, fields: SubmittedFields) -> Result<Response, EarlyResponse> {
    request.require_setup()?;
    let (code, name) = (fields.text("code").unwrap_or_default(), fields.text("name").unwrap_or_default());
    let password = fields.lines("password").into();
    let error = match request.service().set_up(&code, &name, &password, &request.client_origin()).await {
        Ok(secret) => return Ok(with_session(&request.app, &secret, "/")),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = setup_page(&SignInFormState { name, code, error: refusal.field }, refusal.notice);
    Ok(request.respond(refusal.head, page))
}

/// `GET /invite/{code}`.
pub async fn show_invite(request: AccountRequest, PathId(code): PathId<String>) -> Result<Response, EarlyResponse> {
    request.require_sign_in()?;
    let page = match request.service().find_invite(&code).await? {
        Some(invite) => invite_page(&SignInFormState::default(), invite.role, &code, None),
        None => return Ok(unusable_invite(&request)),
    };
    Ok(request.respond(StatusCode::OK, page))
}

fn unusable_invite(request: &AccountRequest) -> Response {
    let page = unusable_invite_page(coded_sentence(&MessageCode::InviteUnusable.into()));
    request.respond(StatusCode::NOT_FOUND, page)
}

/// `POST /forms/invite`.
pub async fn accept_invite(request: AccountRequest, fields: SubmittedFields) -> Result<Response, EarlyResponse> {
    request.require_sign_in()?;
    let (code, name) = (fields.text("code").unwrap_or_default(), fields.text("name").unwrap_or_default());
    let password = fields.lines("password").into();
    let error = match request.service().accept_invite(&code, &name, &password, &request.client_origin()).await {
        Ok(secret) => return Ok(with_session(&request.app, &secret, "/")),
        Err(AccountError::Service(ServiceError::Conflict { .. })) => return Ok(unusable_invite(&request)),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let Some(invite) = request.service().find_invite(&code).await? else { return Ok(unusable_invite(&request)) };
    let form = SignInFormState { name, error: refusal.field, ..SignInFormState::default() };
    let page = invite_page(&form, invite.role, &code, refusal.notice);
    Ok(request.respond(refusal.head, page))
}

/// `POST /forms/sign-out`.
pub async fn sign_out(State(app): State<App>, principal: Principal, actor: Actor) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other("/"));
    }
    app.service().end_current_session(principal.user, actor).await?;
    Ok(signed_out(&app, SIGN_IN_PATH))
}

/// Redirects a browser whose session has ended. It forgets what it has stored of the person.
pub fn signed_out(app: &App, to: &str) -> Response {
    let mut response = see_other(to);
    SessionCookie::new(app.transport()).clear(response.headers_mut());
    response.headers_mut().insert(CLEAR_SITE_DATA.0, HeaderValue::from_static(CLEAR_SITE_DATA.1));
    response
}
