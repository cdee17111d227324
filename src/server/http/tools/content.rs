//! Resources and prompts of tool servers, for the composer: as JSON, and as the page "Insert from a server", which works
//! without script.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::documents::attachment::Attachment;
use crate::domain::tools::elicitation::{KeyedAnswer, OpenQuestions};
use crate::domain::{ChatId, InvalidField, MessageCode, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::attachments::forms::chat_page_path;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::http::tools::prompt_questions::PendingPrompt;
use crate::server::server_pages::insert::{InsertPage, ResourcePage, TypedInsert, URI_FIELD, argument_field};
use crate::ui::locale::coded_messages::{coded_sentence, labelled_sentence};
use turnleaf_service::ServiceError;
use turnleaf_service::tools::server_content::{
    ArgumentDraft, ArgumentSubject, PromptAnswer, PromptRequest, ResourceContent, ServerCatalogView,
};

/// A resource to store for a message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachServerResourceRequest {
    /// The address of the resource, listed or built from a template.
    uri: String,
}

/// A block for the `content` of a message, with `card`, which describes it to people.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object)]
pub struct ServerResourceAttachment(Attachment);

/// A prompt with its arguments.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerPromptRequest {
    name: String,
    /// The arguments by name; texts.
    #[serde(default)]
    #[schema(value_type = Object)]
    arguments: Map<String, Value>,
    /// The answers to the questions of an earlier response.
    #[serde(default)]
    answers: Vec<KeyedAnswer>,
    /// The `state` of that response.
    #[serde(default)]
    state: Option<String>,
}

/// The text of a prompt, or the questions that its server asks first.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum ServerPromptText {
    Text { text: String },
    Asks(OpenQuestions),
}

/// An argument that is being written: of a prompt, or of a template of addresses.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestValuesRequest {
    /// The name of the prompt. Either this or `template` is required.
    prompt: Option<String>,
    /// The template of addresses.
    template: Option<String>,
    argument: String,
    /// The value as it is written so far.
    #[serde(default)]
    value: String,
    /// The other arguments by name.
    #[serde(default)]
    #[schema(value_type = Object)]
    arguments: Map<String, Value>,
}

/// Values that a server suggests. They are untrusted.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SuggestedValues {
    values: Vec<String>,
}

/// `GET /api/tool-servers/{id}/catalog`.
pub async fn show_catalog(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
) -> Result<ApiJson<ServerCatalogView>, Problem> {
    Ok(ApiJson(app.service().server_catalog(principal.user, &id).await?))
}

/// `GET /api/tool-catalogs`.
pub async fn list_catalogs(
    State(app): State<App>,
    principal: Principal,
) -> Result<ApiJson<Vec<ServerCatalogView>>, Problem> {
    Ok(ApiJson(app.service().server_catalogs(principal.user).await?))
}

/// `POST /api/tool-servers/{id}/resources`: reads a resource and stores it for a message.
pub async fn store_resource(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<AttachServerResourceRequest>,
) -> Result<ApiJson<ServerResourceAttachment>, Problem> {
    let attachment = app.service().read_server_attachment(principal.user, (&id, &body.uri)).await?;
    Ok(ApiJson(ServerResourceAttachment(attachment)))
}

/// `POST /api/tool-servers/{id}/prompts`: returns the text of a prompt.
pub async fn show_prompt(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<ServerPromptRequest>,
) -> Result<ApiJson<ServerPromptText>, Problem> {
    let ServerPromptRequest { name, arguments, answers, state } = body;
    let request = PromptRequest { name, arguments, answers, state };
    Ok(ApiJson(match app.service().server_prompt(principal.user, &id, request).await? {
        PromptAnswer::Text(text) => ServerPromptText::Text { text },
        PromptAnswer::Asks(questions) => ServerPromptText::Asks(questions),
    }))
}

/// `POST /api/tool-servers/{id}/suggestions`: returns values that a server suggests for an argument.
pub async fn suggest_values(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<SuggestValuesRequest>,
) -> Result<ApiJson<SuggestedValues>, Problem> {
    let SuggestValuesRequest { prompt, template, argument, value, arguments } = body;
    let subject = match (prompt, template) {
        (Some(prompt), None) => ArgumentSubject::Prompt(prompt),
        (None, Some(template)) => ArgumentSubject::Template(template),
        (None, None) => return Err(ServiceError::from(InvalidField::new("prompt", MessageCode::IsRequired)).into()),
        (Some(_), Some(_)) => {
            let both = MessageCode::BothSet.with("one", "prompt").with("other", "template");
            return Err(ServiceError::from(InvalidField::new("template", both)).into());
        }
    };
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(ServiceError::from(InvalidField::new(format!("arguments/{name}"), MessageCode::NotAText))),
    };
    let others = arguments.into_iter().map(text).collect::<Result<HashMap<_, _>, _>>()?;
    let draft = ArgumentDraft { subject, argument, value, others };
    let values = app.service().argument_suggestions(principal.user, &id, draft).await?;
    Ok(ApiJson(SuggestedValues { values }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsertQuery {
    /// The chat; without it, the next new chat.
    chat: Option<ChatId>,
}

/// `GET /insert`. A link of another site may cause this, too: it lists the resources and prompts of the user's own
/// servers, at most once a minute, with nothing that the link could choose, and the other site cannot read it.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<InsertQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = insert_page(&app, principal.user, query.chat).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

async fn insert_page(app: &App, viewer: UserId, chat: Option<ChatId>) -> Result<InsertPage, Problem> {
    if let Some(chat) = chat {
        app.service().chat(viewer, chat).await?;
    }
    let servers = app.service().server_catalogs(viewer).await?;
    Ok(InsertPage { chat, back: chat_page_path(chat), servers, problem: None, typed: None })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceQuery {
    server: String,
    uri: String,
    /// The chat to attach it to, or the reply that links to it.
    chat: Option<ChatId>,
    turn: Option<TurnId>,
}

/// `GET /insert/view`: the content of a resource. Reading acts on its server at an address that a link chooses, so only
/// a link of our own pages reads at once. Otherwise, and over plain HTTP, where browsers do not say where a link comes
/// from, the page has a button that reads it.
pub async fn resource_page(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ResourceQuery>,
    headers: HeaderMap,
    context: PageContext,
) -> Result<Response, Problem> {
    let ResourceQuery { server, uri, chat, turn } = query;
    let chat = match turn {
        Some(turn) => Some(app.service().turn(principal.user, turn).await?.chat_id),
        None => chat,
    };
    let content = match headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin") {
        true => Some(read_content(&app, principal.user, (&server, &uri)).await?),
        false => None,
    };
    let page = ResourcePage { chat, back: chat_page_path(chat), server, uri, content };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `POST /forms/insert/view`: the content of a resource.
pub async fn view_resource_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat = submitted_chat(&fields)?;
    let server: String = fields.subject_id("server")?;
    let uri = fields.text(URI_FIELD).unwrap_or_default();
    let content = Some(read_content(&app, principal.user, (&server, &uri)).await?);
    let page = ResourcePage { chat, back: chat_page_path(chat), server, uri, content };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// Returns the content of a resource, or the reason why its server does not give it.
async fn read_content(
    app: &App,
    viewer: UserId,
    (server, uri): (&str, &str),
) -> Result<Result<ResourceContent, String>, Problem> {
    match app.service().server_resource(viewer, server, uri).await {
        Ok(content) => Ok(Ok(content)),
        Err(error @ ServiceError::Conflict { .. }) => Ok(Err(refusal_sentence(&error))),
        Err(error) => Err(error.into()),
    }
}

/// Returns the chat that a form names.
fn submitted_chat(fields: &SubmittedFields) -> Result<Option<ChatId>, Problem> {
    fields.text("chat_id").map(|id| id.parse().map_err(|_| Problem::not_found())).transpose()
}

/// `POST /forms/insert/resource`: attaches a resource and returns to the chat. A form in a reply names its turn.
pub async fn attach_resource_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat = match fields.contains("turn") {
        true => Some(app.service().turn(principal.user, fields.subject_id("turn")?).await?.chat_id),
        false => submitted_chat(&fields)?,
    };
    let server: String = fields.subject_id("server")?;
    let uri = fields.text(URI_FIELD).unwrap_or_default();
    let stays = fields.is_checked("stay");
    match app.service().attach_server_resource(principal.user, chat, (&server, &uri)).await {
        // The page finds the change of the draft itself.
        Ok(_) if stays => Ok(StatusCode::NO_CONTENT.into_response()),
        Ok(_) => Ok(see_other(&chat_page_path(chat))),
        Err(error) if stays => Err(error.into()),
        Err(error) => refuse(&app, principal.user, context, (chat, &fields), error).await,
    }
}

/// `POST /forms/insert/prompt`: appends the text of a prompt to the draft and returns to the chat.
pub async fn insert_prompt_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat = submitted_chat(&fields)?;
    let server: String = fields.subject_id("server")?;
    let name = fields.text("prompt").unwrap_or_default();
    let names = argument_names(&fields).into_iter().enumerate();
    let arguments: Map<String, Value> =
        names.map(|(at, name)| (name, Value::String(fields.lines(&argument_field(at))))).collect();
    let request = PromptRequest { name, arguments, ..PromptRequest::default() };
    match app.service().insert_server_prompt(principal.user, chat, &server, request.clone()).await {
        Ok(None) => Ok(see_other(&chat_page_path(chat))),
        Ok(Some(open)) => {
            let pending = PendingPrompt::new(chat, server, request, open);
            Ok(context.respond(&app, StatusCode::OK, pending.page(None, None)))
        }
        Err(error) => refuse(&app, principal.user, context, (chat, &fields), error).await,
    }
}

/// `POST /forms/insert/suggest`: shows the page again with the typed values and those that the server suggests.
pub async fn suggest_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat = submitted_chat(&fields)?;
    let typed = typed_insert(&fields);
    let server = typed.server.as_str();
    let suggested = if typed.template.is_empty() {
        let named: Vec<(String, String)> =
            argument_names(&fields).into_iter().zip(typed.arguments.iter().cloned()).collect();
        app.service().prompt_suggestions(principal.user, (server, &typed.prompt), &named).await
    } else {
        let addresses = app.service().address_suggestions(principal.user, (server, &typed.template), &typed.uri).await;
        addresses.map(|addresses| vec![addresses])
    };
    match suggested {
        Ok(suggested) => {
            let typed = Some(TypedInsert { suggested: Some(suggested), ..typed });
            let page = InsertPage { typed, ..insert_page(&app, principal.user, chat).await? };
            Ok(context.respond(&app, StatusCode::OK, page.draw()))
        }
        Err(error) => refuse(&app, principal.user, context, (chat, &fields), error).await,
    }
}

/// Returns the names of the arguments in a form. A prompt has no more than these, and each is searched in the fields.
fn argument_names(fields: &SubmittedFields) -> Vec<String> {
    let mut names = fields.values("argument");
    names.truncate(limits::SERVER_PROMPT_ARGUMENTS);
    names
}

/// Returns the values that were typed into a form of the page.
fn typed_insert(fields: &SubmittedFields) -> TypedInsert {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    TypedInsert {
        server: text("server"),
        prompt: text("prompt"),
        arguments: (0..argument_names(fields).len()).map(|at| fields.lines(&argument_field(at))).collect(),
        template: text("template"),
        uri: text(URI_FIELD),
        suggested: None,
        error: None,
    }
}

/// Shows the page again with the reason of a refusal and the typed values.
async fn refuse(
    app: &App,
    viewer: UserId,
    context: PageContext,
    (chat, fields): (Option<ChatId>, &SubmittedFields),
    error: ServiceError,
) -> Result<Response, Problem> {
    let sentence = match &error {
        ServiceError::Invalid(InvalidField { .. }) | ServiceError::Conflict { .. } | ServiceError::TooLarge { .. } => {
            refusal_sentence(&error)
        }
        _ => return Err(error.into()),
    };
    let page = insert_page(app, viewer, chat).await?;
    let mut typed = typed_insert(fields);
    let mut problem = sentence;
    if let ServiceError::Invalid(InvalidField { field, reason }) = &error {
        let name = field.strip_prefix("arguments/").unwrap_or(field);
        // People know an argument by its label.
        if let Some(label) = argument_label(&page.servers, &typed, name) {
            problem = labelled_sentence(&label, reason);
        }
        typed.error = Some((name.to_owned(), coded_sentence(reason)));
    }
    let page = InsertPage { problem: Some(problem), typed: Some(typed), ..page };
    Ok(context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
}

/// Returns the label of an argument of the submitted prompt.
fn argument_label(servers: &[ServerCatalogView], typed: &TypedInsert, argument: &str) -> Option<String> {
    let server = servers.iter().find(|known| known.server == typed.server)?;
    let prompt = server.prompts.iter().find(|known| known.name == typed.prompt)?;
    prompt.arguments.iter().find(|known| known.name == argument).map(|known| known.title.clone())
}
