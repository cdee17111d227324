//! The import of the tool servers of other programs, as pages that work without script: the text is pasted or sent as a
//! file, the plan is shown, and the chosen servers are added.

use std::collections::BTreeSet;

use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::response::Response;
use http::StatusCode;

use crate::domain::{InvalidField, MessageCode, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::password_prompt::{PasswordAnswer, ask_password_for_secrets};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::multipart_form::{broken_form_problem, read_text_field, unknown_field_problem};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::tools::page::protected;
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::messages::tool_import as words;
use crate::server::server_pages::tools::import::{ServerImportForm, ServerImportPreview};
use crate::ui::locale::coded_messages::labelled_sentence;
use crate::ui::locale::join_list;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::servers::imports::{ImportValues, ProgramImport, ServerImport};

/// `GET /settings/tools/import`.
pub async fn show(State(app): State<App>, _: Principal, context: PageContext) -> Result<Response, Problem> {
    Ok(context.respond(&app, StatusCode::OK, ServerImportForm::default().draw()))
}

/// `POST /settings/tools/import`: shows what the text or the file would import. Nothing is stored.
pub async fn preview(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = form.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    let (pasted, file) = read_form(form).await?;
    let text = if file.trim().is_empty() { pasted.clone() } else { file };
    if text.trim().is_empty() {
        return Ok(refusal(&app, context, pasted, InvalidField::new("json", MessageCode::IsRequired)));
    }
    let import = ServerImport { text: text.into(), values: ImportValues::new() };
    match app.service().plan_server_import(principal.user, &import, ProgramImport::Refused).await {
        Ok(plan) => {
            let sealed = app.service().seal_server_import(principal.user, &import);
            let page = ServerImportPreview { plan, sealed, chosen: None, error: None, notice: None };
            Ok(context.respond(&app, StatusCode::OK, page.draw()))
        }
        Err(ServiceError::Invalid(invalid)) => Ok(refusal(&app, context, pasted, invalid)),
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/import`: adds the chosen servers.
pub async fn add(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    // The file is encrypted in the page; the typed values are not.
    let (who, form) = ((&principal, &client), protected("/forms/tools/import"));
    let is_secret = |field: &str| field.starts_with("value.");
    // A value that was not kept is missing, which the page says.
    if let PasswordAnswer::Asked(asked) =
        ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await?
    {
        return Ok(asked);
    }
    let sealed = fields.text("sealed").unwrap_or_default();
    let Some(mut import) = app.service().open_server_import(principal.user, &sealed) else {
        let notice = Some(ActionNotice::Refused(words::paste_again().into()));
        let page = ServerImportForm { notice, ..ServerImportForm::default() };
        return Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()));
    };
    let plan = app.service().plan_server_import(principal.user, &import, ProgramImport::Refused).await?;
    // The page shows the values of an earlier plan, so each field has its key beside it.
    let keys = fields.values("key");
    for (at, key) in keys.iter().enumerate().filter(|(_, key)| plan.values.iter().any(|value| value.key == **key)) {
        if let Some(typed) = fields.text(&format!("value.{at}")) {
            import.values.insert(key.clone(), typed.into());
        }
    }
    let chosen: BTreeSet<usize> = fields.values("on").iter().filter_map(|at| at.parse().ok()).collect();
    let (error, notice) = match chosen.is_empty() {
        true => (None, words::choose_one().to_owned()),
        false => {
            let (actor, scope) = (actor(&principal, &client), (ProgramImport::Refused, true));
            match app.service().import_servers(principal.user, actor, &import, scope, &chosen).await {
                Ok(result) if result.refused.is_empty() => return Ok(imported(&result.imported)),
                Ok(result) => {
                    let reasons = result.refused.iter().map(|(name, reason)| labelled_sentence(name, reason));
                    (None, words::refused(&join_list(&reasons.collect::<Vec<_>>())))
                }
                Err(ServiceError::Invalid(invalid)) => {
                    let sentence = labelled_sentence(invalid.field.trim_start_matches("value."), &invalid.reason);
                    (Some(invalid), sentence)
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    preview_again(&app, principal.user, context, &import, (chosen, error, notice)).await
}

/// Shows the plan as it is now, with what was typed and chosen.
async fn preview_again(
    app: &App,
    viewer: UserId,
    context: PageContext,
    import: &ServerImport,
    (chosen, error, notice): (BTreeSet<usize>, Option<InvalidField>, String),
) -> Result<Response, Problem> {
    let plan = app.service().plan_server_import(viewer, import, ProgramImport::Refused).await?;
    let sealed = app.service().seal_server_import(viewer, import);
    let notice = Some(ActionNotice::Refused(notice));
    let page = ServerImportPreview { plan, sealed, chosen: Some(chosen), error, notice };
    Ok(context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
}

fn imported(ids: &[String]) -> Response {
    let card = ids.first().map(|id| format!("#server-{id}")).unwrap_or_default();
    see_other(&format!("/settings/tools?done=imported{card}"))
}

/// Shows the form again with what was pasted, so that it can be corrected.
fn refusal(app: &App, context: PageContext, pasted: String, invalid: InvalidField) -> Response {
    let page = ServerImportForm { text: pasted, error: Some(invalid), notice: None };
    context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw())
}

/// Returns the pasted text and the text of the file.
async fn read_form(mut form: Multipart) -> Result<(String, String), Problem> {
    let (mut pasted, mut file) = (String::new(), String::new());
    while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
        match field.name() {
            // A longer text is refused beside its field, with its limit.
            Some("json") => pasted = read_text_field(field, limits::BODY_BYTES).await?,
            Some("file") => file = read_text_field(field, limits::BODY_BYTES).await?,
            _ => return Err(unknown_field_problem()),
        }
    }
    Ok((pasted, file))
}
