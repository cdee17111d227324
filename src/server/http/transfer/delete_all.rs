//! The page that deletes everything, and its form. A confirmation word must be typed, because nothing can be restored
//! afterwards.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::domain::UserId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::delete_all::DeleteAllPage;
use crate::server::server_pages::messages::delete_all as words;
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;

/// `GET /settings/data/delete`.
pub async fn page(State(app): State<App>, principal: Principal, context: PageContext) -> Result<Response, Problem> {
    show(&app, principal.user, context, String::new(), [None, None]).await
}

/// `POST /forms/delete-everything`.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let typed = fields.text("word").unwrap_or_default();
    if typed.to_lowercase() != words::confirmation_word().to_lowercase() {
        return show(&app, principal.user, context, typed, [Some(words::word_not_typed()), None]).await;
    }
    let form = ProtectedForm { action: "/forms/delete-everything", section: PageSection::Data };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    match app.service().delete_everything(principal.user, actor(&principal, &client)).await {
        Ok(()) => Ok(see_other("/settings/data?done=deleted")),
        Err(ServiceError::Conflict { code, message, .. }) => {
            let failed = match code {
                "import_running" => words::nothing_deleted_because(&coded_sentence(&message)),
                "deletion_running" => words::being_deleted().to_owned(),
                "not_deleted" => words::broke_off().to_owned(),
                _ => words::not_all_deleted(&coded_sentence(&message)),
            };
            show(&app, principal.user, context, typed, [None, Some(failed)]).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn show(
    app: &App,
    viewer: UserId,
    context: PageContext,
    typed: String,
    [wrong, failed]: [Option<String>; 2],
) -> Result<Response, Problem> {
    let status = if wrong.is_some() || failed.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let counts = app.service().count_everything(viewer).await?;
    Ok(context.respond(app, status, DeleteAllPage { counts, typed, typed_error: wrong, delete_error: failed }.draw()))
}
