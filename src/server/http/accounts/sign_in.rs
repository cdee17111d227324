//! The pages and forms for people who are not signed in: sign-in, setup and invitations; and the sign-out.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;

use crate::domain::MessageCode;
use crate::server::access::{Credential, Principal};
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::{FormRefusal, with_retry_after};
use crate::server::http::accounts::request_origin::{actor, client_origin};
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::{SETUP_PATH, SIGN_IN_PATH};
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::accounts::sign_in::{
    OtherWaysIn, SignInFormState, code_page, insecure_page, invite_page, setup_page, sign_in_page, unusable_invite_page,
};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::NewSecret;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::sign_in::SignInStep;

/// The browser forgets this about a person who signs out: drafts and cached pages. Cookies stay, because they hold the
/// preferences of the browser.
const CLEAR_SITE_DATA: (HeaderName, &str) = (HeaderName::from_static("clear-site-data"), "\"cache\", \"storage\"");

/// The principal, if somebody is signed in, on a route for people who are not.
pub type SignedIn = Option<Extension<Principal>>;

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

/// Returns whether the server has no accounts: nobody signs in to it.
pub fn is_without_accounts(signed_in: &SignedIn) -> bool {
    signed_in.as_ref().is_some_and(|Extension(principal)| principal.credential == Credential::Admission)
}

/// Returns the page for clients whose passwords others could read on the way.
pub fn refuse_insecure(app: &App, client: &ClientIdentity, context: &PageContext) -> Option<Response> {
    let is_safe = SessionCookie::new(app.transport()).is_safe_for(client);
    (!is_safe).then(|| {
        let page = insecure_page(coded_sentence(&MessageCode::SignInNeedsSecureAddress.into()));
        context.clone().respond(app, StatusCode::FORBIDDEN, page)
    })
}

/// Redirects with the cookie of a new session.
pub fn with_session(app: &App, secret: &NewSecret, to: &str) -> Response {
    let mut response = see_other(to);
    SessionCookie::new(app.transport()).set(response.headers_mut(), secret.expose());
    response
}

/// Renders the sign-in page with all ways in that there are at the address of the request.
pub fn draw_sign_in(
    app: &App,
    context: &PageContext,
    (form, next): (&SignInFormState, &str),
    notice: Option<ActionNotice>,
) -> ServerPage {
    let providers = app.service().identity_providers();
    let others = OtherWaysIn { providers: &providers, passkeys_at: context.passkeys_at() };
    sign_in_page(form, (local_path(next), others), notice)
}

/// Responds with the page of a form that was refused.
pub fn refused_response(app: &App, context: PageContext, refusal: FormRefusal, page: ServerPage) -> Response {
    let seconds = refusal.retry_after();
    with_retry_after(context.respond(app, refusal.status, page), seconds)
}

/// `GET /sign-in`.
pub async fn show(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    StrictQuery(query): StrictQuery<SignInQuery>,
    context: PageContext,
) -> Response {
    let next = query.next.unwrap_or_default();
    if signed_in.is_some() {
        return see_other(local_path(&next));
    }
    if app.service().needs_setup() {
        return see_other(SETUP_PATH);
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return refused;
    }
    let notice =
        query.done.map(|SignInPageResult::AccountDeleted| ActionNotice::Done(words::account_deleted().to_owned()));
    let page = draw_sign_in(&app, &context, (&SignInFormState::default(), &next), notice);
    context.respond(&app, StatusCode::OK, page)
}

/// `POST /forms/sign-in`.
pub async fn sign_in(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let (name, next) = (fields.text("name").unwrap_or_default(), fields.text("next").unwrap_or_default());
    let password = fields.lines("password").into();
    let error = match app.service().sign_in(&name, &password, &client_origin(&app, &client, &headers)).await {
        Ok(SignInStep::SignedIn(secret)) => return Ok(with_session(&app, &secret, local_path(&next))),
        // The answer has the form for the code, so that there is no address at which the sign-in is lost.
        Ok(SignInStep::CodeNeeded(begun)) => {
            let page = code_page(begun.expose(), local_path(&next), None, None);
            return Ok(context.respond(&app, StatusCode::OK, page));
        }
        Err(error) => error,
    };
    let mut refusal = FormRefusal::from_error(error)?;
    let form = SignInFormState { name, error: refusal.field.take(), ..SignInFormState::default() };
    let page = draw_sign_in(&app, &context, (&form, &next), refusal.notice.take());
    Ok(refused_response(&app, context, refusal, page))
}

/// `POST /forms/sign-in/code`: the code of the second factor, after the password.
pub async fn enter_code(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let (begun, next) = (fields.text("sign_in").unwrap_or_default(), fields.text("next").unwrap_or_default());
    let code = fields.text("code").unwrap_or_default();
    let error = match app.service().sign_in_with_code(&begun, &code, &client_origin(&app, &client, &headers)).await {
        Ok(secret) => return Ok(with_session(&app, &secret, local_path(&next))),
        Err(error) => error,
    };
    let is_over = matches!(error, AccountError::Service(ServiceError::Conflict { .. }));
    let mut refusal = FormRefusal::from_error(error)?;
    let page = match is_over {
        true => draw_sign_in(&app, &context, (&SignInFormState::default(), &next), refusal.notice.take()),
        false => code_page(&begun, local_path(&next), refusal.field.as_ref(), refusal.notice.take()),
    };
    Ok(refused_response(&app, context, refusal, page))
}

/// `GET /setup`.
pub async fn show_setup(State(app): State<App>, client: ClientIdentity, context: PageContext) -> Response {
    if !app.service().needs_setup() {
        return see_other(SIGN_IN_PATH);
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return refused;
    }
    context.respond(&app, StatusCode::OK, setup_page(&SignInFormState::default(), None))
}

/// `POST /forms/setup`.
pub async fn set_up(
    State(app): State<App>,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if !app.service().needs_setup() {
        return Ok(see_other(SIGN_IN_PATH));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let (code, name) = (fields.text("code").unwrap_or_default(), fields.text("name").unwrap_or_default());
    let password = fields.lines("password").into();
    let error = match app.service().set_up(&code, &name, &password, &client_origin(&app, &client, &headers)).await {
        Ok(secret) => return Ok(with_session(&app, &secret, "/")),
        Err(error) => error,
    };
    let mut refusal = FormRefusal::from_error(error)?;
    let form = SignInFormState { name, code, error: refusal.field.take() };
    let page = setup_page(&form, refusal.notice.take());
    Ok(refused_response(&app, context, refusal, page))
}

/// `GET /invite/{code}`.
pub async fn show_invite(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    PathId(code): PathId<String>,
    context: PageContext,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let page = match app.service().find_invite(&code).await? {
        Some(invite) => invite_page(&SignInFormState::default(), invite.role, &code, None),
        None => return Ok(unusable_invite(&app, context)),
    };
    Ok(context.respond(&app, StatusCode::OK, page))
}

fn unusable_invite(app: &App, context: PageContext) -> Response {
    let page = unusable_invite_page(coded_sentence(&MessageCode::InviteUnusable.into()));
    context.respond(app, StatusCode::NOT_FOUND, page)
}

/// `POST /forms/invite`.
pub async fn accept_invite(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let (code, name) = (fields.text("code").unwrap_or_default(), fields.text("name").unwrap_or_default());
    let password = fields.lines("password").into();
    let origin = client_origin(&app, &client, &headers);
    let error = match app.service().accept_invite(&code, &name, &password, &origin).await {
        Ok(secret) => return Ok(with_session(&app, &secret, "/")),
        Err(AccountError::Service(ServiceError::Conflict { .. })) => return Ok(unusable_invite(&app, context)),
        Err(error) => error,
    };
    let mut refusal = FormRefusal::from_error(error)?;
    let Some(invite) = app.service().find_invite(&code).await? else { return Ok(unusable_invite(&app, context)) };
    let form = SignInFormState { name, error: refusal.field.take(), ..SignInFormState::default() };
    let page = invite_page(&form, invite.role, &code, refusal.notice.take());
    Ok(refused_response(&app, context, refusal, page))
}

/// `POST /forms/sign-out`.
pub async fn sign_out(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other("/"));
    }
    app.service().end_current_session(principal.user, actor(&principal, &client)).await?;
    Ok(signed_out(&app, SIGN_IN_PATH))
}

/// Redirects a browser whose session has ended. It forgets what it has stored of the person.
pub fn signed_out(app: &App, to: &str) -> Response {
    let mut response = see_other(to);
    SessionCookie::new(app.transport()).clear(response.headers_mut());
    response.headers_mut().insert(CLEAR_SITE_DATA.0, HeaderValue::from_static(CLEAR_SITE_DATA.1));
    response
}
