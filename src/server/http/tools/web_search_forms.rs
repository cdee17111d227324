//! The forms of the web search on the page "Tools". A form with errors is shown again with what was typed, except the
//! key.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::page::{protected, tools_page};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::password_prompt::{PasswordAnswer, ask_password, ask_password_for_secrets};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::tools::web_search::{WebSearchForm, WebSearchFormValues};
use turnleaf_service::ServiceError;
use turnleaf_service::tools::web_search::WebSearchSettings;

/// `POST /forms/tools/search`: saves the engine and tests it.
pub async fn save(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (who, form) = ((&principal, &client), protected("/forms/tools/search"));
    let is_secret = |field: &str| field == "key";
    let lost = match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
        PasswordAnswer::Asked(asked) => return Ok(asked),
        PasswordAnswer::Given(lost) => lost,
    };
    let before = app.service().web_search(principal.user).await?;
    let engine = fields.text("engine").unwrap_or_default();
    // The address of another engine stays in the field when only the engine is changed, and must not get a key.
    let is_of_other = |url: &String| before.engine != Some(engine.as_str()) && before.url.as_ref() == Some(url);
    let chosen = WebSearchSettings {
        url: fields.text("url").filter(|url| !is_of_other(url)),
        key: fields.text("key").map(Into::into),
        local_network: fields.is_checked("local_network"),
        engine,
    };
    let done = match lost {
        None => app.service().set_web_search(principal.user, actor(&principal, &client), chosen).await,
        Some(lost) => Err(lost.into()),
    };
    match done {
        Ok(_) => {
            app.service().test_web_search(principal.user).await?;
            Ok(see_other("/settings/tools?done=search_saved#web-search"))
        }
        Err(ServiceError::Invalid(error)) => {
            let mut page = tools_page(&app, principal.user).await?;
            let text = |name: &str| fields.text(name).unwrap_or_default();
            page.search.form = WebSearchForm {
                values: Some(WebSearchFormValues {
                    engine: text("engine"),
                    url: text("url"),
                    local_network: fields.is_checked("local_network"),
                }),
                error: Some(error),
                lost_key: fields.is_checked("key"),
            };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/search/test`.
pub async fn test(State(app): State<App>, principal: Principal) -> Result<Response, Problem> {
    app.service().test_web_search(principal.user).await?;
    Ok(see_other("/settings/tools?done=search_tested#web-search"))
}

/// `POST /forms/tools/search/remove`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (who, form) = ((&principal, &client), protected("/forms/tools/search/remove"));
    if let Some(asked) = ask_password(&app, who, &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().remove_web_search(principal.user, actor(&principal, &client)).await?;
    Ok(see_other("/settings/tools?done=removed#web-search"))
}
