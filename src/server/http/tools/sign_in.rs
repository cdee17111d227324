//! The sign-in to a tool server: it begins with a form, names where the browser goes, and ends at the address to which
//! the authorization server sends the person back. The browser gets there by a link, because a form may not lead to
//! another origin (`form-action 'self'`).

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ToolSignInId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::used_origin::{UsedOrigin, with_public_origin};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::tools::page::redirect_to_card;
use crate::server::http::turns::forms::redirect_to_turn;
use crate::server::server_pages::tools::sign_in::SignInPage;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::servers::sign_in::{SignInAnswer, SignInOrigin, SignInOutcome, SignInPerson};

/// Returns the route of the form that begins a sign-in.
pub fn begin_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::post(begin), public_origin)
}

/// Returns the route of the client ID metadata document.
pub fn document_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::get(client_document), public_origin)
}

/// Returns the person of a request, with the session in which alone an answer counts.
fn person(principal: &Principal) -> SignInPerson {
    SignInPerson { user: principal.user, session: principal.session() }
}

/// `POST /forms/tools/sign-in`: from the card of a server, or from a reply that waits for it.
async fn begin(
    State(app): State<App>,
    principal: Principal,
    UsedOrigin { origin, is_public }: UsedOrigin,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let return_to: Option<TurnId> = fields.text("turn").and_then(|turn| turn.parse().ok());
    let origin = SignInOrigin { origin, is_public };
    match app.service().begin_sign_in(person(&principal), &id, &origin, return_to).await {
        Ok(begun) => Ok(see_other(&format!("/settings/tools/oauth/confirm?id={begun}"))),
        Err(ServiceError::Conflict { code: "sign_in_failed", .. }) => Ok(redirect_to_card("sign_in_failed", &id)),
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationQuery {
    id: ToolSignInId,
}

/// `GET /settings/tools/oauth/confirm`: names the host where the browser goes.
pub async fn confirm(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<ConfirmationQuery>,
) -> Result<Response, Problem> {
    match app.service().sign_in_confirmation(principal.user, query.id).await {
        Ok(confirmation) => Ok(context.respond(&app, StatusCode::OK, SignInPage { confirmation }.draw())),
        Err(ServiceError::NotFound) => Ok(see_other("/settings/tools?done=sign_in_expired")),
        Err(error) => Err(error.into()),
    }
}

/// `GET /settings/tools/oauth/callback`: the answer of the authorization server. It may have any further parameters.
pub async fn callback(
    State(app): State<App>,
    principal: Principal,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(parameters) = query.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    let service = app.service();
    match service.finish_sign_in(person(&principal), sign_in_answer(&parameters)).await? {
        SignInOutcome::SignedIn { server, return_to } => {
            // The notice tells how the server is; a server that does not answer does not undo the sign-in.
            let _ = service.test_tool_server(principal.user, &server).await;
            let turn = match return_to {
                Some(turn) => service.turn(principal.user, turn).await.ok(),
                None => None,
            };
            Ok(match turn {
                Some(turn) => redirect_to_turn(turn.chat_id, turn.id),
                None => redirect_to_card("signed_in", &server),
            })
        }
        SignInOutcome::Failed { server: Some(server) } => Ok(redirect_to_card("sign_in_failed", &server)),
        SignInOutcome::Failed { server: None } => Ok(see_other("/settings/tools?done=sign_in_expired")),
    }
}

/// Reads the answer. One with a repeated parameter is none (RFC 6749, 3.1), so it counts as an invalid request.
pub fn sign_in_answer(parameters: &[(String, String)]) -> SignInAnswer {
    let single = |name: &str| {
        let mut values = parameters.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone());
        let first = values.next();
        first.filter(|_| values.next().is_none())
    };
    let is_repeated = |name: &&str| parameters.iter().filter(|(key, _)| key == name).count() > 1;
    if ["code", "iss", "error"].iter().any(is_repeated) {
        let error = Some("invalid_request".to_owned());
        return SignInAnswer { state: single("state").unwrap_or_default(), error, ..SignInAnswer::default() };
    }
    SignInAnswer {
        state: single("state").unwrap_or_default(),
        code: single("code"),
        iss: single("iss"),
        error: single("error"),
    }
}

/// `POST /forms/tools/sign-out`.
pub async fn sign_out(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let is_revoked = app.service().sign_out(principal.user, &id).await?;
    Ok(redirect_to_card(if is_revoked { "signed_out" } else { "signed_out_here" }, &id))
}

/// `GET /oauth/client.json`: the client ID metadata document, for authorization servers that identify clients by it.
async fn client_document(UsedOrigin { origin, is_public }: UsedOrigin) -> Response {
    match (SignInOrigin { origin, is_public }).client_document() {
        Some(document) => Json(document).into_response(),
        None => Problem::not_found().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(query: &[(&str, &str)]) -> SignInAnswer {
        let owned: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        sign_in_answer(&owned)
    }

    #[test]
    fn answer_with_repeated_parameter_is_refused() {
        let good = answer(&[("code", "c"), ("state", "s"), ("iss", "i"), ("session_state", "x")]);
        assert_eq!((&*good.state, good.code.as_deref(), good.iss.as_deref()), ("s", Some("c"), Some("i")));
        let repeated = answer(&[("code", "c"), ("code", "d"), ("state", "s"), ("state", "s")]);
        assert_eq!((&*repeated.state, repeated.code, repeated.error.as_deref()), ("", None, Some("invalid_request")));
        let issuers = answer(&[("code", "c"), ("state", "s"), ("iss", "i"), ("iss", "j")]);
        assert_eq!((&*issuers.state, issuers.code, issuers.error.as_deref()), ("s", None, Some("invalid_request")));
        assert_eq!(answer(&[("code", "c"), ("state", "s"), ("state", "t")]).state, "");
    }
}
