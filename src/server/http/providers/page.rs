//! The page "Providers" and its forms. Each form performs one action and redirects with 303 (post/redirect/get); a
//! form with errors is shown again with what was typed.

use std::ops::RangeInclusive;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::encoding::url_encoding;
use crate::domain::{InvalidField, ModelLock, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::password_prompt::{
    PasswordAnswer, ProtectedForm, ask_password, ask_password_for_secrets,
};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::messages::providers as words;
use crate::server::server_pages::providers::{ProviderForm, ProviderFormValues, ProvidersPage};
use crate::server::server_pages::{ActionNotice, PageSection};
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::locale::join_sentences;
use turnleaf_service::ServiceError;
use turnleaf_service::providers::{NewProvider, ProviderChange, ProviderView, complete_address, provider_templates};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvidersPageQuery {
    /// The template of a new connection, and the address to continue at when the connection works.
    add: Option<String>,
    next: Option<String>,
    /// The connection to edit, and a suggested base URL for its form.
    edit: Option<String>,
    base_url: Option<String>,
    /// The connection whose models are searched, and the search text.
    models: Option<String>,
    q: Option<String>,
    /// The action that was done, and its connection.
    done: Option<String>,
    id: Option<String>,
}

/// `GET /settings/providers`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<ProvidersPageQuery>,
) -> Result<Response, Problem> {
    let mut page = providers_page(&app, principal.user).await?;
    let find = |id: &str| page.providers.iter().find(|provider| provider.id == id);
    let editing = query.edit.as_deref().and_then(find).filter(|provider| !provider.locked).map(|provider| {
        let mut form = ProviderForm::from_provider(provider);
        // Only a URL that a test of this connection suggested: a link from elsewhere must not put one beside an API
        // key.
        if let Some(suggestion) =
            query.base_url.as_ref().filter(|url| provider.status.suggestion.as_ref() == Some(*url))
        {
            form.values.base_url = suggestion.clone();
        }
        (provider.id.clone(), form)
    });
    let notice = query.done.as_deref().and_then(|done| action_notice(done, query.id.as_deref().and_then(find)));
    let start = query.add.as_deref().and_then(|id| provider_templates().into_iter().find(|start| start.id == id));
    page.adding =
        start.as_ref().map(|start| ProviderForm { next: query.next.clone(), ..ProviderForm::from_start(start) });
    page.model_search = query.models.map(|id| (id, query.q.unwrap_or_default()));
    (page.editing, page.notice) = (editing, notice);
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// Returns a form of the page that needs a password which was entered lately.
fn protected(action: &'static str) -> ProtectedForm {
    ProtectedForm { action, section: PageSection::Providers }
}

/// Returns whether a field of these forms is a secret.
fn is_secret(field: &str) -> bool {
    matches!(field, "key" | "headers")
}

/// `POST /forms/found`: allows a local server that was found (`how=use`), disallows it (`how=stop`), or else hides it
/// from the page of the new chat.
pub async fn decide_found_server(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let address = fields.text("address").unwrap_or_default();
    match fields.text("how").as_deref() {
        Some(action @ ("use" | "stop")) => {
            let (actor, decision) = (actor(&principal, &client), (address.as_str(), action == "use"));
            app.service().set_local_server_used(principal.user, actor, decision).await?;
            Ok(see_other("/settings/providers?done=saved"))
        }
        _ => {
            app.service().dismiss_local_server(principal.user, &address).await?;
            Ok(see_other("/"))
        }
    }
}

/// `POST /forms/demo`: offers the demo beside other models (`how=show`), or hides it.
pub async fn choose_demo(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    app.service().set_demo_shown(principal.user, fields.text("how").as_deref() == Some("show")).await?;
    Ok(see_other("/settings/providers?done=saved#demo"))
}

/// `POST /forms/providers/add`: stores a connection and tests it.
pub async fn add_connection(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (who, form) = ((&principal, &client), protected("/forms/providers/add"));
    let lost = match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
        PasswordAnswer::Asked(asked) => return Ok(asked),
        PasswordAnswer::Given(lost) => lost,
    };
    let change = lost.map_or_else(|| change_from_form(&fields, false), Err);
    let done = match change {
        Ok(fields) => {
            let (actor, new) = (actor(&principal, &client), NewProvider { fields, ..NewProvider::default() });
            app.service().add_provider(principal.user, actor, new).await.map(|made| made.value)
        }
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) => {
            let id = changed.provider.id;
            let status = app.service().test_provider(principal.user, &id).await?;
            match fields.text("next").filter(|_| status.state.as_str() == "working") {
                Some(next) => Ok(see_other(local_path(&next))),
                None => Ok(redirect_to_card("saved", &id)),
            }
        }
        Err(error) => {
            let form = ProviderForm { next: fields.text("next"), ..form_with_error(&fields, error)? };
            let page = ProvidersPage { adding: Some(form), ..providers_page(&app, principal.user).await? };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/providers/change`: saves the whole form of a connection, or one action of its card.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let mut lost = None;
    // The switch of a card is about no secret.
    if fields.is_checked("whole") || fields.contains("base_url") {
        let (who, form) = ((&principal, &client), protected("/forms/providers/change"));
        match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
            PasswordAnswer::Asked(asked) => return Ok(asked),
            PasswordAnswer::Given(missing) => lost = missing,
        }
    }
    let change = if let Some(lost) = lost {
        Err(lost)
    } else if fields.is_checked("whole") {
        change_from_form(&fields, true)
    } else {
        let is_enabled = fields.text("switch").map(|word| word == "on");
        let local_network = fields.is_checked("local_network").then_some(true);
        Ok(ProviderChange { is_enabled, base_url: fields.text("base_url"), local_network, ..ProviderChange::default() })
    };
    let done = match change {
        Ok(change) => app.service().change_provider(principal.user, actor(&principal, &client), (&id, change)).await,
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) => {
            if changed.provider.is_enabled {
                let _ = app.service().test_provider(principal.user, &id).await;
            }
            Ok(redirect_to_card(if changed.notices.is_empty() { "saved" } else { "cleared" }, &id))
        }
        Err(error) => {
            let form = form_with_error(&fields, error)?;
            let page = ProvidersPage { editing: Some((id, form)), ..providers_page(&app, principal.user).await? };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/providers/key`: sets, replaces or removes an API key.
pub async fn save_key(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let (who, form) = ((&principal, &client), protected("/forms/providers/key"));
    let lost = match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
        PasswordAnswer::Asked(asked) => return Ok(asked),
        PasswordAnswer::Given(lost) => lost,
    };
    let removes = fields.is_checked("remove");
    let key = if removes { None } else { Some(fields.text("key").unwrap_or_default().into()) };
    let change = ProviderChange { key: Some(key), ..ProviderChange::default() };
    let done = match lost {
        None => app.service().change_provider(principal.user, actor(&principal, &client), (&id, change)).await,
        Some(lost) => Err(lost.into()),
    };
    match done {
        Ok(changed) => {
            if changed.provider.is_enabled && !removes {
                let _ = app.service().test_provider(principal.user, &id).await;
            }
            Ok(redirect_to_card(if removes { "key_removed" } else { "saved" }, &id))
        }
        Err(ServiceError::Invalid(invalid)) => {
            let page = ProvidersPage {
                key_error: Some((id, words::error_sentence(&invalid))),
                ..providers_page(&app, principal.user).await?
            };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/providers/models`: saves which of the listed models the menus show, and the default model.
pub async fn save_models(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let provider = app.service().provider(principal.user, &id).await?;
    if !provider.locked {
        let (listed, shown) = (fields.values("listed"), fields.values("shown"));
        let was_hidden = |model: &&str| provider.models.iter().any(|known| known.model == **model && known.is_hidden);
        let kept = provider.models.iter().map(|model| model.model.as_str()).filter(was_hidden);
        let kept = kept.filter(|model| !listed.iter().any(|listed| listed == model)).map(str::to_owned);
        let hidden = kept.chain(listed.iter().filter(|model| !shown.contains(model)).cloned()).collect();
        let change = ProviderChange { hidden_models: Some(hidden), ..ProviderChange::default() };
        app.service().change_provider(principal.user, actor(&principal, &client), (&id, change)).await?;
        app.service().test_provider_soon(principal.user, &id);
    }
    if let Some(model) = fields.text("default") {
        app.service().set_default_model(principal.user, Some(ModelLock::new(id.as_str(), model))).await?;
    }
    // The search text is kept.
    match fields.text("q") {
        Some(text) => {
            let q = url_encoding::encode(&text);
            Ok(see_other(&format!("/settings/providers?done=saved&id={id}&models={id}&q={q}#models-{id}")))
        }
        None => Ok(redirect_to_card("saved", &id)),
    }
}

/// `POST /forms/providers/test`.
pub async fn test(State(app): State<App>, principal: Principal, fields: SubmittedFields) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    app.service().test_provider(principal.user, &id).await?;
    Ok(redirect_to_card("tested", &id))
}

/// `POST /forms/providers/remove`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let (who, form) = ((&principal, &client), protected("/forms/providers/remove"));
    if let Some(asked) = ask_password(&app, who, &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().remove_provider(principal.user, actor(&principal, &client), &id).await?;
    Ok(see_other("/settings/providers?done=removed"))
}

async fn providers_page(app: &App, viewer: UserId) -> Result<ProvidersPage, Problem> {
    Ok(ProvidersPage {
        providers: app.service().providers(viewer).await?,
        demo: app.service().demo_choice(viewer).await?,
        starts: provider_templates(),
        now: app.now(),
        notice: None,
        adding: None,
        editing: None,
        key_error: None,
        model_search: None,
    })
}

/// Redirects to the card of a connection. Only stored ids get here, and they need no encoding.
fn redirect_to_card(done: &str, id: &str) -> Response {
    see_other(&format!("/settings/providers?done={done}&id={id}#provider-{id}"))
}

fn action_notice(done: &str, provider: Option<&ProviderView>) -> Option<ActionNotice> {
    let tested = |provider: &ProviderView| {
        let text = words::test_result(&provider.name, &coded_sentence(&provider.status.message()));
        if provider.status.state == "working" { ActionNotice::Done(text) } else { ActionNotice::Warning(text) }
    };
    match (done, provider) {
        ("tested", Some(provider)) => Some(tested(provider)),
        ("saved", Some(provider)) => {
            let with_state = !matches!(provider.status.state, "working" | "off" | "not_tested");
            let text = join_sentences(
                words::saved(),
                &words::test_result(&provider.name, &coded_sentence(&provider.status.message())),
            );
            Some(if with_state { ActionNotice::Warning(text) } else { ActionNotice::Done(words::saved().into()) })
        }
        ("saved", None) => Some(ActionNotice::Done(words::saved().into())),
        ("cleared", _) => Some(ActionNotice::Warning(words::key_cleared().into())),
        ("key_removed", _) => Some(ActionNotice::Done(words::key_removed().into())),
        ("removed", _) => Some(ActionNotice::Done(words::removed().into())),
        _ => None,
    }
}

/// Reads the change from a whole form. An empty API key or empty headers keep the stored ones.
fn change_from_form(fields: &SubmittedFields, is_changed: bool) -> Result<ProviderChange, InvalidField> {
    let text = |name: &str| Some(fields.text(name).unwrap_or_default());
    let models = fields.text("models").unwrap_or_default();
    // An empty field is the default; text that is not a number is reported as out of range.
    let number = |name: &str, bounds: RangeInclusive<u32>| match fields.text(name).map(|text| text.parse::<u32>()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(InvalidField::out_of_range(name, &bounds)),
    };
    Ok(ProviderChange {
        name: text("name"),
        api: text("api"),
        dialect: text("dialect"),
        base_url: Some(complete_address(
            &fields.text("base_url").unwrap_or_default(),
            fields.is_checked("local_network"),
        )),
        key: fields.text("key").map(|key| Some(key.into())),
        headers: fields.submitted_headers(is_changed)?,
        models: Some(models.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        default_model: Some(fields.text("default_model")),
        hidden_models: None,
        is_enabled: None,
        local_network: Some(fields.is_checked("local_network")),
        keeps_responses: Some(fields.is_checked("keeps_responses")),
        retries: Some(number("retries", limits::PROVIDER_RETRIES)?),
        silence_seconds: Some(number("silence_seconds", limits::PROVIDER_SILENCE_SECONDS)?),
    })
}

/// Returns the form with what was typed and the error of its field. Other errors become problems.
fn form_with_error(fields: &SubmittedFields, error: ServiceError) -> Result<ProviderForm, Problem> {
    let ServiceError::Invalid(invalid) = error else { return Err(error.into()) };
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let values = ProviderFormValues {
        name: text("name"),
        api: text("api"),
        dialect: text("dialect"),
        base_url: text("base_url"),
        // Header values may be secrets and are not shown again.
        headers: String::new(),
        models: text("models"),
        default_model: text("default_model"),
        local_network: fields.is_checked("local_network"),
        keeps_responses: fields.is_checked("keeps_responses"),
        retries: text("retries"),
        silence_seconds: text("silence_seconds"),
    };
    let lost_key = fields.text("key").is_some();
    Ok(ProviderForm { values, error: Some(invalid.clone()), lost_key, ..ProviderForm::default() })
}
