//! The page "Tools" and its forms. Each form does one deed and sends the browser on with 303; one that is wrong comes back
//! with what was typed.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::approval::Policy;
use crate::domain::tool::ToolChoice;
use crate::domain::{Invalid, UserId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::Said;
use crate::server::plain_pages::tools::{Form, ToolsPage, Values};
use crate::server::plain_pages::words::tools as words;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::servers::{NewToolServer, ToolServerChange, ToolServerView};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// The server to edit.
    edit: Option<String>,
    /// What was done, and with which server.
    done: Option<String>,
    id: Option<String>,
}

/// `GET /settings/tools`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let mut page = page(&app, viewer.0).await?;
    let find = |id: &str| page.servers.iter().find(|server| server.id == id);
    let editing = query.edit.as_deref().and_then(find).filter(|server| !server.locked);
    let editing = editing.map(|server| (server.id.clone(), Form::of_server(server)));
    let said = query.done.as_deref().and_then(|done| said(done, query.id.as_deref().and_then(find)));
    (page.editing, page.said) = (editing, said);
    Ok(asked.answer(&app, StatusCode::OK, page.draw()))
}

/// `POST /forms/tools/default`: which tools new chats get.
pub async fn default(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    fields: Fields,
) -> Result<Response, Problem> {
    let choice = ToolChoice { on: fields.all("on"), client: Vec::new() };
    match app.service().set_default_tools(viewer.0, choice).await {
        Ok(_) => Ok(see_other("/settings/tools?done=saved#new-chats")),
        Err(ServiceError::Invalid(invalid)) => refused(&app, viewer.0, asked, &invalid).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/policies`: what happens when a model calls the tools of one server. Only what differs from what the
/// page showed is said.
pub async fn policies(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let server = fields.text("server").unwrap_or_default();
    let (tools, were, policies) = (fields.all("tool"), fields.all("was"), fields.all("policy"));
    if tools.len() != policies.len() || tools.len() != were.len() {
        return Err(Problem::invalid(Invalid::new("policy", "there is one for each tool")));
    }
    for ((tool, was), policy) in tools.iter().zip(&were).zip(&policies).filter(|((_, was), policy)| was != policy) {
        let _ = was;
        let policy = match policy.as_str() {
            "ask" => Policy::Ask,
            "allow" => Policy::Allow,
            "never" => Policy::Never,
            _ => return Err(Problem::invalid(Invalid::new("policy", "is `ask`, `allow` or `never`"))),
        };
        app.service().set_tool_policy(viewer.0, &server, tool, None, policy).await?;
    }
    let place = if server.is_empty() { String::new() } else { format!("#server-{server}") };
    Ok(see_other(&format!("/settings/tools?done=saved{place}")))
}

/// `POST /forms/tools/hosts`: allows a host for a tool that is asked about for each, or takes that back.
pub async fn hosts(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let tool = fields.text("tool").unwrap_or_default();
    let host = fields.text("host").unwrap_or_default();
    let policy = if fields.text("how").as_deref() == Some("ask") { Policy::Ask } else { Policy::Allow };
    match app.service().set_tool_policy(viewer.0, "", &tool, Some(&host), policy).await {
        Ok(_) => Ok(see_other("/settings/tools?done=saved#own-title")),
        Err(ServiceError::Invalid(invalid)) => refused(&app, viewer.0, asked, &invalid).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/add`: stores, then waits a little for its tools.
pub async fn add(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    no_program(&fields)?;
    let done = match whole_change(&fields, false) {
        Ok(change) => {
            let new = NewToolServer { id: fields.text("id"), fields: change, client_request_id: None };
            app.service().add_tool_server(viewer.0, new).await.map(|made| made.it)
        }
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) => {
            let id = changed.server.id;
            app.service().test_tool_server(viewer.0, &id).await?;
            Ok(back("tested", &id))
        }
        Err(error) => {
            let page = ToolsPage { adding: form_again(&fields, error)?, ..page(&app, viewer.0).await? };
            Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/tools/change`: the whole form of a server, or its switch.
pub async fn change(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    no_program(&fields)?;
    let id: String = fields.subject_id("id")?;
    let change = if fields.is_ticked("whole") {
        whole_change(&fields, true)
    } else {
        let is_enabled = fields.text("switch").map(|word| word == "on");
        Ok(ToolServerChange { is_enabled, ..ToolServerChange::default() })
    };
    let done = match change {
        Ok(change) => app.service().change_tool_server(viewer.0, &id, change).await,
        Err(invalid) => Err(invalid.into()),
    };
    match done {
        Ok(changed) if !changed.notices.is_empty() => Ok(back("cleared", &id)),
        Ok(changed) => {
            if changed.server.is_enabled {
                let _ = app.service().test_tool_server(viewer.0, &id).await;
            }
            Ok(back("saved", &id))
        }
        Err(error) => {
            let form = form_again(&fields, error)?;
            let page = ToolsPage { editing: Some((id, form)), ..page(&app, viewer.0).await? };
            Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
    }
}

/// `POST /forms/tools/restart`: asks a server now, or begins it anew.
pub async fn restart(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id: String = fields.subject_id("id")?;
    if fields.text("how").as_deref() == Some("restart") {
        app.service().restart_tool_server(viewer.0, &id).await?;
    } else {
        app.service().test_tool_server(viewer.0, &id).await?;
    }
    Ok(back("tested", &id))
}

/// `POST /forms/tools/remove`.
pub async fn remove(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    app.service().remove_tool_server(viewer.0, &fields.subject_id::<String>("id")?).await?;
    Ok(see_other("/settings/tools?done=removed"))
}

async fn page(app: &App, viewer: UserId) -> Result<ToolsPage, Problem> {
    let service = app.service();
    Ok(ToolsPage {
        built_in: service.built_in_tools(viewer).await?,
        servers: service.tool_servers(viewer).await?,
        of_providers: service.tools_of_providers(),
        default: service.default_tools(viewer).await?,
        now: app.now(),
        said: None,
        adding: Form::default(),
        editing: None,
    })
}

async fn refused(app: &App, viewer: UserId, asked: Asked, invalid: &Invalid) -> Result<Response, Problem> {
    let said = Some(Said::Refused(words::not_saved_because(invalid)));
    let page = ToolsPage { said, ..page(app, viewer).await? };
    Ok(asked.answer(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
}

/// What a script is told; people see it on the page.
const PROGRAMS: &str = "Programs are named in the configuration file only.";

/// No form names a program (badinputs.md S-TL-08).
fn no_program(fields: &Fields) -> Result<(), Problem> {
    if fields.has("command") {
        return Err(Problem::new(StatusCode::FORBIDDEN, "program_refused", PROGRAMS));
    }
    Ok(())
}

/// Back to the card. An id that was stored is plain, and one that was not never comes here.
fn back(done: &str, id: &str) -> Response {
    see_other(&format!("/settings/tools?done={done}&id={id}#server-{id}"))
}

fn said(done: &str, server: Option<&ToolServerView>) -> Option<Said> {
    match (done, server) {
        ("tested", Some(server)) => {
            let text = words::tested(&server.name, &server.status.sentence);
            Some(if server.status.state == "working" { Said::Done(text) } else { Said::Careful(text) })
        }
        ("saved", _) => Some(Said::Done(words::saved().into())),
        ("cleared", _) => Some(Said::Careful(words::cleared().into())),
        ("removed", _) => Some(Said::Done(words::removed().into())),
        _ => None,
    }
}

/// The change that a whole form asks for. No lines of headers keep what is there.
fn whole_change(fields: &Fields, is_changed: bool) -> Result<ToolServerChange, Invalid> {
    let text = |name: &str| Some(fields.text(name).unwrap_or_default());
    Ok(ToolServerChange {
        name: text("name"),
        url: text("url"),
        headers: fields.headers_given(is_changed)?,
        is_enabled: None,
        local_network: Some(fields.is_ticked("local_network")),
    })
}

/// The form with what was typed and what is wrong with it; other errors are not the form's.
fn form_again(fields: &Fields, error: ServiceError) -> Result<Form, Problem> {
    let ServiceError::Invalid(invalid) = error else { return Err(error.into()) };
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let values = Values {
        id: text("id"),
        name: text("name"),
        url: text("url"),
        local_network: fields.is_ticked("local_network"),
    };
    Ok(Form { values, error: Some(invalid), lost_headers: fields.is_ticked("headers") })
}
