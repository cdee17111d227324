//! The page "Tools" and its forms. Each form performs one action and redirects with 303 (post/redirect/get); a form
//! with errors is shown again with what was typed.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::tools::approval::ToolApprovalPolicy;
use crate::domain::tools::tool::ToolChoice;
use crate::domain::{InvalidField, MessageCode, UserId, limits};
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
use crate::server::server_pages::messages::{tool_sign_in as sign_in_words, tools as words};
use crate::server::server_pages::tools::web_search::{WebSearchForm, WebSearchPanel};
use crate::server::server_pages::tools::{
    DEFAULT_POLICY, LIMIT_FIELDS, SERVER_POLICY, ToolServerForm, ToolServerFormValues, ToolsPage,
};
use crate::server::server_pages::{ActionNotice, PageSection};
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::locale::join_sentences;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::servers::{NewToolServer, ToolServerChange, ToolServerView};
use turnleaf_service::tools::web_search::WebSearchView;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsPageQuery {
    /// The server to edit.
    edit: Option<String>,
    /// The action that was done, and its server.
    done: Option<String>,
    id: Option<String>,
}

/// Returns a form of the page that needs a password which was entered lately.
pub(super) fn protected(action: &'static str) -> ProtectedForm {
    ProtectedForm { action, section: PageSection::Tools }
}

/// Returns whether a field of the forms of servers is a secret. The query of an address may have credentials.
fn is_secret(field: &str) -> bool {
    matches!(field, "url" | "headers" | "oauth_client_secret")
}

/// `GET /settings/tools`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<ToolsPageQuery>,
) -> Result<Response, Problem> {
    let mut page = tools_page(&app, principal.user).await?;
    let find = |id: &str| page.servers.iter().find(|server| server.id == id);
    let editing = query.edit.as_deref().and_then(find).filter(|server| !server.locked);
    let editing = editing.map(|server| (server.id.clone(), ToolServerForm::from_server(server)));
    let notice = query.done.as_deref().and_then(|done| {
        let server = query.id.as_deref().and_then(find);
        action_notice(done, server).or_else(|| search_notice(done, &page.search.view))
    });
    (page.editing, page.notice) = (editing, notice);
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `POST /forms/tools/default`: sets the tools of new chats.
pub async fn save_default(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let choice = ToolChoice { on: fields.values("on"), client: Vec::new() };
    match app.service().set_default_tools(principal.user, choice).await {
        Ok(_) => Ok(see_other("/settings/tools?done=saved#new-chats")),
        Err(ServiceError::Invalid(invalid)) => refusal_page(&app, principal.user, context, &invalid).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/policies`: sets the permissions of the tools of one server. Only values that differ from what
/// the page showed are saved.
pub async fn save_policies(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let server = fields.text("server").unwrap_or_default();
    let (tools, were, policies) = (fields.values("tool"), fields.values("was"), fields.values("policy"));
    if tools.len() != policies.len() || tools.len() != were.len() {
        return Err(Problem::invalid(InvalidField::new("policy", MessageCode::OnePolicyPerTool)));
    }
    for ((tool, was), policy) in tools.iter().zip(&were).zip(&policies).filter(|((_, was), policy)| was != policy) {
        let _ = was;
        let policy = submitted_policy(policy, SERVER_POLICY)?;
        let (actor, of) = (actor(&principal, &client), (server.as_str(), tool.as_str(), None));
        app.service().set_tool_policy(principal.user, actor, of, policy).await?;
    }
    let place = if server.is_empty() { String::new() } else { format!("#server-{server}") };
    Ok(see_other(&format!("/settings/tools?done=saved{place}")))
}

/// `POST /forms/tools/server-policy`: sets the permission of the tools of a server that have none of their own.
pub async fn save_server_policy(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let policy = submitted_policy(&fields.text("policy").unwrap_or_default(), DEFAULT_POLICY)?;
    app.service().set_server_policy(principal.user, actor(&principal, &client), (&id, None), policy).await?;
    Ok(redirect_to_card("saved", &id))
}

/// `POST /forms/tools/instructions`: sets whether models are offered the instructions of a server.
pub async fn save_instructions(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let (actor, offers) = (actor(&principal, &client), (id.as_str(), fields.is_checked("offered")));
    app.service().set_offers_instructions(principal.user, actor, offers).await?;
    Ok(redirect_to_card("saved", &id))
}

/// Parses the value of a policy in a form; `none` is the value that removes it.
fn submitted_policy(value: &str, none: &str) -> Result<Option<ToolApprovalPolicy>, Problem> {
    match value {
        "ask" => Ok(Some(ToolApprovalPolicy::Ask)),
        "allow" => Ok(Some(ToolApprovalPolicy::Allow)),
        "never" => Ok(Some(ToolApprovalPolicy::Never)),
        value if value == none => Ok(None),
        _ => Err(Problem::invalid(InvalidField::new("policy", MessageCode::UnknownPolicy))),
    }
}

/// `POST /forms/tools/hosts`: allows a host for a tool with permissions by host, or revokes that.
pub async fn save_host(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let tool = fields.text("tool").unwrap_or_default();
    let host = fields.text("host").unwrap_or_default();
    let policy =
        if fields.text("how").as_deref() == Some("ask") { ToolApprovalPolicy::Ask } else { ToolApprovalPolicy::Allow };
    let (actor, of) = (actor(&principal, &client), ("", tool.as_str(), Some(host.as_str())));
    match app.service().set_tool_policy(principal.user, actor, of, Some(policy)).await {
        Ok(_) => Ok(see_other("/settings/tools?done=saved#own-title")),
        Err(ServiceError::Invalid(invalid)) => refusal_page(&app, principal.user, context, &invalid).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/add`: stores a server and waits briefly for its tools.
pub async fn add(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    refuse_program(&fields)?;
    let (who, form) = ((&principal, &client), protected("/forms/tools/add"));
    let lost = match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
        PasswordAnswer::Asked(asked) => return Ok(asked),
        PasswordAnswer::Given(lost) => lost,
    };
    let done = match lost.map_or_else(|| change_from_form(&fields, false), Err) {
        Ok(change) => {
            let new = NewToolServer { id: fields.text("id"), fields: change, client_request_id: None };
            let added = app.service().add_tool_server(principal.user, actor(&principal, &client), new).await;
            added.map(|made| made.value)
        }
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) => {
            let id = changed.server.id;
            app.service().test_tool_server(principal.user, &id).await?;
            Ok(redirect_to_card("tested", &id))
        }
        Err(error) => {
            let page =
                ToolsPage { adding: form_with_error(&fields, error)?, ..tools_page(&app, principal.user).await? };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/tools/change`: saves the whole form of a server, or its switch.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    mut fields: SubmittedFields,
) -> Result<Response, Problem> {
    refuse_program(&fields)?;
    let id: String = fields.subject_id("id")?;
    let (is_whole, mut lost) = (fields.is_checked("whole"), None);
    // The switch of a card is about no secret.
    if is_whole {
        let (who, form) = ((&principal, &client), protected("/forms/tools/change"));
        match ask_password_for_secrets(&app, who, &context, form, (&mut fields, is_secret)).await? {
            PasswordAnswer::Asked(asked) => return Ok(asked),
            PasswordAnswer::Given(missing) => lost = missing,
        }
    }
    let change = if let Some(lost) = lost {
        Err(lost)
    } else if is_whole {
        change_from_form(&fields, true)
    } else {
        let is_enabled = fields.text("switch").map(|word| word == "on");
        Ok(ToolServerChange { is_enabled, ..ToolServerChange::default() })
    };
    let done = match change {
        Ok(change) => app.service().change_tool_server(principal.user, actor(&principal, &client), (&id, change)).await,
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) if !changed.notices.is_empty() => Ok(redirect_to_card("cleared", &id)),
        Ok(changed) => {
            if changed.server.is_enabled {
                let _ = app.service().test_tool_server(principal.user, &id).await;
            }
            Ok(redirect_to_card("saved", &id))
        }
        Err(error) => {
            let form = form_with_error(&fields, error)?;
            let page = ToolsPage { editing: Some((id, form)), ..tools_page(&app, principal.user).await? };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/tools/restart`: tests a server, or restarts it.
pub async fn restart(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    if fields.text("how").as_deref() == Some("restart") {
        app.service().restart_tool_server(principal.user, &id).await?;
    } else {
        app.service().test_tool_server(principal.user, &id).await?;
    }
    Ok(redirect_to_card("tested", &id))
}

/// `POST /forms/tools/remove`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    let (who, form) = ((&principal, &client), protected("/forms/tools/remove"));
    if let Some(asked) = ask_password(&app, who, &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().remove_tool_server(principal.user, actor(&principal, &client), &id).await?;
    Ok(see_other("/settings/tools?done=removed"))
}

/// Reads the content of the page, without a form that is being filled in.
pub(super) async fn tools_page(app: &App, viewer: UserId) -> Result<ToolsPage, Problem> {
    let service = app.service();
    Ok(ToolsPage {
        built_in: service.built_in_tools(viewer).await?,
        search: WebSearchPanel { view: service.web_search(viewer).await?, form: WebSearchForm::default() },
        servers: service.tool_servers(viewer).await?,
        provider_tools: service.provider_tool_catalog(viewer),
        default: service.default_tools(viewer).await?,
        now: app.now(),
        notice: None,
        adding: ToolServerForm::default(),
        editing: None,
    })
}

async fn refusal_page(
    app: &App,
    viewer: UserId,
    context: PageContext,
    invalid: &InvalidField,
) -> Result<Response, Problem> {
    let notice = Some(ActionNotice::Refused(words::not_saved_because(invalid)));
    let page = ToolsPage { notice, ..tools_page(app, viewer).await? };
    Ok(context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
}

/// Refuses a form that names a program, because no form of the page does.
fn refuse_program(fields: &SubmittedFields) -> Result<(), Problem> {
    if fields.contains("command") {
        return Err(Problem::new(StatusCode::FORBIDDEN, "program_refused", MessageCode::ProgramsRefused));
    }
    Ok(())
}

/// Redirects to the card of a server. Only stored ids get here, and they need no encoding.
pub(super) fn redirect_to_card(done: &str, id: &str) -> Response {
    see_other(&format!("/settings/tools?done={done}&id={id}#server-{id}"))
}

fn action_notice(done: &str, server: Option<&ToolServerView>) -> Option<ActionNotice> {
    match (done, server) {
        ("tested", Some(server)) => {
            let text = words::test_result(&server.name, &words::status_sentence(&server.status.message()));
            Some(if server.status.state == "working" { ActionNotice::Done(text) } else { ActionNotice::Warning(text) })
        }
        ("sign_in_failed", Some(server)) => {
            let problem = server.sign_in.as_ref()?.problem.as_ref()?.message();
            let text = sign_in_words::failed(&server.name, &words::status_sentence(&problem));
            Some(ActionNotice::Refused(text))
        }
        ("sign_in_expired", _) => Some(ActionNotice::Warning(sign_in_words::expired().into())),
        ("signed_in", Some(server)) => {
            let status = words::status_sentence(&server.status.message());
            let text = sign_in_words::signed_in_to(&server.name, &status);
            Some(if server.status.state == "working" { ActionNotice::Done(text) } else { ActionNotice::Warning(text) })
        }
        ("signed_out", _) => Some(ActionNotice::Done(sign_in_words::signed_out().into())),
        ("signed_out_here", _) => Some(ActionNotice::Warning(sign_in_words::signed_out_here().into())),
        ("saved", _) => Some(ActionNotice::Done(words::saved().into())),
        ("cleared", _) => Some(ActionNotice::Warning(words::cleared().into())),
        ("removed", _) => Some(ActionNotice::Done(words::removed().into())),
        ("imported", _) => Some(ActionNotice::Done(words::imported().into())),
        _ => None,
    }
}

/// Returns the notice about a change or a test of the web search, with the result of the test.
fn search_notice(done: &str, search: &WebSearchView) -> Option<ActionNotice> {
    let tested = words::test_result(search.name?, &coded_sentence(&search.status.message()));
    let text = match done {
        "search_tested" => tested,
        "search_saved" => join_sentences(words::saved(), &tested),
        _ => return None,
    };
    Some(if search.status.state == "working" { ActionNotice::Done(text) } else { ActionNotice::Warning(text) })
}

/// Reads the change from a whole form. Empty headers keep the stored ones.
fn change_from_form(fields: &SubmittedFields, is_changed: bool) -> Result<ToolServerChange, InvalidField> {
    let text = |name: &str| Some(fields.text(name).unwrap_or_default());
    // An empty field is the default; text that is not a number is reported as out of range.
    let number = |name: &str| match fields.text(name).map(|text| text.parse::<u64>()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(InvalidField::out_of_range(name, &limits::TOOL_SETTABLE_SECONDS)),
    };
    Ok(ToolServerChange {
        name: text("name"),
        url: text("url"),
        headers: fields.submitted_headers(is_changed)?,
        oauth_client_id: Some(fields.text("oauth_client_id")),
        oauth_client_secret: fields.text("oauth_client_secret").map(Into::into),
        is_enabled: None,
        local_network: Some(fields.is_checked("local_network")),
        start_seconds: Some(number(LIMIT_FIELDS[0])?),
        idle_seconds: Some(number(LIMIT_FIELDS[1])?),
        total_seconds: Some(number(LIMIT_FIELDS[2])?),
    })
}

/// Returns the form with what was typed and the error of its field. Other errors become problems.
fn form_with_error(fields: &SubmittedFields, error: ServiceError) -> Result<ToolServerForm, Problem> {
    let ServiceError::Invalid(invalid) = error else { return Err(error.into()) };
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let values = ToolServerFormValues {
        id: text("id"),
        name: text("name"),
        url: text("url"),
        oauth_client_id: text("oauth_client_id"),
        local_network: fields.is_checked("local_network"),
        limits: LIMIT_FIELDS.map(text),
    };
    Ok(ToolServerForm { values, error: Some(invalid), lost_headers: fields.is_checked("headers") })
}
