//! Export of chats: archives and repositories are streamed as they are written, Markdown and HTML are sent as one
//! text. Includes the page that offers them.

use std::sync::Arc;

use async_stream::stream;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::domain::documents::file_name::content_disposition;
use crate::domain::transfer::export::{ExportDetail, ExportOptions};
use crate::domain::{ChatId, MessageCode, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::{ClientIdentity, KeyedPermit, hold_permit_until_sent};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::site::assets::Site;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::transfer::ExportPage;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::{Service, ServiceError};

mod html;

pub use html::{draw_page, page_images, standalone_page};

/// Backpressure: number of chunks that may wait for a slow reader.
const CHUNK_QUEUE: usize = 4;

/// Format of an exported chat.
#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChatExportFormat {
    #[default]
    Json,
    Markdown,
    MarkdownZip,
    Html,
    Git,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// `json` is an archive with everything, `markdown` and `html` contain one path for people, `markdown_zip` also the
    /// images that the Markdown links, `git` contains all branches as a repository.
    #[serde(default)]
    #[param(inline)]
    format: ChatExportFormat,
    /// The turn at which the path of Markdown and HTML ends. Without it, the path at which the chat opens.
    leaf: Option<TurnId>,
    #[serde(default)]
    #[param(inline)]
    reasoning: ExportDetail,
    #[serde(default)]
    #[param(inline)]
    tools: ExportDetail,
}

/// The policy of a page to print: it renders itself and loads nothing. Only the chat's own page may frame it.
const PRINTED: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'self'";

/// The form of the password for an export.
const EXPORT_FORM: ProtectedForm = ProtectedForm { action: "/forms/export", section: PageSection::Data };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintQuery {
    /// The turn at which the path ends. Without it, the path at which the chat opens.
    leaf: Option<TurnId>,
}

/// `GET /api/export`.
pub async fn export_all(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
) -> Result<Response, Problem> {
    let place = export_permit(&app, principal.user)?;
    app.service().permit_full_export(actor(&principal, &client)).await?;
    let day = app.now().format("%Y-%m-%d");
    let answer =
        archive_response(&app, principal.user, ExportScope::Everything, format!("turnleaf-{day}.json")).await?;
    Ok(hold_permit_until_sent(answer, place))
}

/// `GET /settings/data/export`: leads to the archive, or asks for the password first.
pub async fn begin_export(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
) -> Result<Response, Problem> {
    let asked = ask_password(&app, (&principal, &client), &context, EXPORT_FORM, &SubmittedFields::default()).await?;
    Ok(asked.unwrap_or_else(|| see_other("/api/export")))
}

/// `POST /forms/export`: the password for an export. The page "Data" says then that it can begin, because a download
/// would leave the question on the screen.
pub async fn confirm_export(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let asked = ask_password(&app, (&principal, &client), &context, EXPORT_FORM, &fields).await?;
    Ok(asked.unwrap_or_else(|| see_other("/settings/data?done=confirmed")))
}

/// Acquires a permit for an export, which is held until the last byte is sent.
pub fn export_permit(app: &App, owner: UserId) -> Result<KeyedPermit<UserId>, Problem> {
    let place = app.export_limiter().try_acquire(owner, limits::EXPORTS_PER_OWNER);
    place.ok_or_else(|| Problem::too_many(MessageCode::TooManyExports, 5))
}

/// `GET /api/chats/{id}/export`.
pub async fn export_chat(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ExportQuery>,
) -> Result<Response, Problem> {
    let mut chat = app.service().chat(principal.user, id).await?;
    // The title becomes the file name, which must not contain a key.
    chat.title = app.service().redact_keys(chat.title);
    let place = export_permit(&app, principal.user)?;
    let repository = Service::repository_name(&chat);
    let title = if chat.title.is_empty() { id.to_string() } else { chat.title };
    let parts = ExportOptions { reasoning: query.reasoning, tools: query.tools };
    let answer = match query.format {
        ChatExportFormat::Json => {
            archive_response(&app, principal.user, ExportScope::Chat(id), format!("{title}.json")).await
        }
        ChatExportFormat::Markdown => {
            let text = app.service().export_markdown(principal.user, id, query.leaf, parts).await?;
            download_response(Body::from(text), "text/markdown; charset=utf-8", &format!("{title}.md"))
        }
        ChatExportFormat::MarkdownZip => {
            let (send, receive) = mpsc::channel::<Bytes>(CHUNK_QUEUE);
            let (service, root) = (app.service().clone(), repository.trim_end_matches(".git").to_owned());
            let writing = tasks::spawn(async move {
                service.export_markdown_zip(principal.user, id, query.leaf, parts, root, send).await
            });
            stream_response(writing, receive, "application/zip", &format!("{title}.zip")).await
        }
        ChatExportFormat::Html => {
            let page = standalone_page(app.service(), site.style(), principal.user, id, query.leaf, parts).await?;
            download_response(Body::from(page), "text/html; charset=utf-8", &format!("{title}.html"))
        }
        ChatExportFormat::Git => {
            let (send, receive) = mpsc::channel::<Bytes>(CHUNK_QUEUE);
            let service = app.service().clone();
            let writing = tasks::spawn(async move { service.export_git(principal.user, id, send).await });
            stream_response(writing, receive, "application/zip", &format!("{repository}.zip")).await
        }
    };
    Ok(hold_permit_until_sent(answer?, place))
}

/// Streams an archive while it is written.
async fn archive_response(app: &App, viewer: UserId, which: ExportScope, name: String) -> Result<Response, Problem> {
    let (send, receive) = mpsc::channel::<Bytes>(CHUNK_QUEUE);
    let service = app.service().clone();
    let writing = tasks::spawn(async move { service.export_archive(viewer, which, &send).await.map(drop) });
    stream_response(writing, receive, "application/json", &name).await
}

/// Streams what a task writes. A failure after the first byte aborts the response, so that no client takes a part of
/// the file for the whole.
async fn stream_response(
    mut writing: Task<Result<(), ServiceError>>,
    mut receive: mpsc::Receiver<Bytes>,
    kind: &'static str,
    name: &str,
) -> Result<Response, Problem> {
    // A failure before the first byte can still become an error response.
    let Some(first) = receive.recv().await else {
        let ended = (&mut writing).await.map_err(Problem::internal)?;
        return Err(ended.err().unwrap_or(ServiceError::NotFound).into());
    };
    let body = stream! {
        yield Ok(first);
        while let Some(piece) = receive.recv().await {
            yield Ok(piece);
        }
        match writing.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, "an export failed midway");
                yield Err(std::io::Error::other("the export failed midway"));
            }
            Err(error) => yield Err(std::io::Error::other(error)),
        }
    };
    download_response(Body::from_stream(body), kind, name)
}

fn download_response(body: Body, kind: &'static str, name: &str) -> Result<Response, Problem> {
    let mut response = body.into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let kept = HeaderValue::try_from(content_disposition(name)).map_err(Problem::internal)?;
    fields.insert(header::CONTENT_DISPOSITION, kept);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// `GET /c/{id}/print`: the whole path as a document. The chat's page has only some of its messages, and prints this one
/// from a frame; without script it is a page that the browser prints.
pub async fn page_to_print(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<PrintQuery>,
) -> Result<Response, Problem> {
    let permit = export_permit(&app, principal.user)?;
    let parts = ExportOptions::default();
    let page = standalone_page(app.service(), site.style(), principal.user, id, query.leaf, parts).await?;
    let mut response = Html(page).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PRINTED));
    Ok(hold_permit_until_sent(response, permit))
}

/// `GET /c/{id}/export`.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let chat = app.service().chat(principal.user, id).await?;
    let imported_from = app.service().imported_from(principal.user, id).await?;
    let is_damaged = app.service().is_chat_damaged(principal.user, id).await?;
    Ok(context.respond(&app, StatusCode::OK, ExportPage { chat, imported_from, is_damaged }.draw()))
}
