//! Chats that go out: archives and repositories as they are written, Markdown and HTML as one text; and the page that
//! offers them.

use std::sync::Arc;

use async_stream::stream;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::domain::export::{Part, Parts};
use crate::domain::file_name::content_disposition;
use crate::domain::{ChatId, TurnId, UserId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::admission::{Counted, held_by_body};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;
use crate::server::http::site::assets::Site;
use crate::server::plain_pages::transfer::ExportPage;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_service::transfer::exports::Which;
use turnleaf_service::{Service, ServiceError};

mod html;

pub use html::standalone;

/// Pieces that wait for a slow reader.
const AHEAD: usize = 4;

/// What a chat goes out as.
#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum As {
    #[default]
    Json,
    Markdown,
    Html,
    Git,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// `json` is an archive with everything, `markdown` and `html` one path for people, `git` all branches as a repository.
    #[serde(default)]
    #[param(inline)]
    format: As,
    /// Of Markdown and HTML: the turn that the path ends with; what is shown where it is missing.
    leaf: Option<TurnId>,
    #[serde(default)]
    #[param(inline)]
    reasoning: Part,
    #[serde(default)]
    #[param(inline)]
    tools: Part,
}

/// `GET /api/export`.
pub async fn everything(State(app): State<App>, viewer: Viewer) -> Result<Response, Problem> {
    let place = export_place(&app, viewer.0)?;
    let day = app.now().format("%Y-%m-%d");
    let answer = archive(&app, viewer.0, Which::Everything, format!("turnleaf-{day}.json")).await?;
    Ok(held_by_body(answer, place))
}

/// A place among the exports that a person is sent; it is taken until the last byte.
fn export_place(app: &App, owner: UserId) -> Result<Counted<UserId>, Problem> {
    let place = app.exports().enter(owner, limits::EXPORTS_PER_OWNER);
    place.ok_or_else(|| Problem::too_many("Too many exports run at once.", 5))
}

/// `GET /api/chats/{id}/export`.
pub async fn chat(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    let mut chat = app.service().chat(viewer.0, id).await?;
    // It names the file.
    chat.title = app.service().without_keys(chat.title);
    let place = export_place(&app, viewer.0)?;
    let repository = Service::repository_name(&chat);
    let title = if chat.title.is_empty() { id.to_string() } else { chat.title };
    let parts = Parts { reasoning: query.reasoning, tools: query.tools };
    let answer = match query.format {
        As::Json => archive(&app, viewer.0, Which::Chat(id), format!("{title}.json")).await,
        As::Markdown => {
            let text = app.service().export_markdown(viewer.0, id, query.leaf, parts).await?;
            saved(Body::from(text), "text/markdown; charset=utf-8", &format!("{title}.md"))
        }
        As::Html => {
            let page = standalone(app.service(), site.style(), viewer.0, id, query.leaf, parts).await?;
            saved(Body::from(page), "text/html; charset=utf-8", &format!("{title}.html"))
        }
        As::Git => {
            let (send, receive) = mpsc::channel::<Bytes>(AHEAD);
            let service = app.service().clone();
            let writing = tasks::spawn(async move { service.export_git(viewer.0, id, send).await });
            streamed(writing, receive, "application/zip", &format!("{repository}.zip")).await
        }
    };
    Ok(held_by_body(answer?, place))
}

/// An archive while it is written.
async fn archive(app: &App, viewer: UserId, which: Which, name: String) -> Result<Response, Problem> {
    let (send, receive) = mpsc::channel::<Bytes>(AHEAD);
    let service = app.service().clone();
    let writing = tasks::spawn(async move { service.export_archive(viewer, which, &send).await.map(drop) });
    streamed(writing, receive, "application/json", &name).await
}

/// What is written, piece by piece. What fails after the first byte breaks the answer off, so that nobody takes half of
/// it for the whole.
async fn streamed(
    mut writing: Task<Result<(), ServiceError>>,
    mut receive: mpsc::Receiver<Bytes>,
    kind: &'static str,
    name: &str,
) -> Result<Response, Problem> {
    // What is wrong before the first byte is an answer.
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
                tracing::error!(%error, "an export broke off");
                yield Err(std::io::Error::other("the export broke off"));
            }
            Err(error) => yield Err(std::io::Error::other(error)),
        }
    };
    saved(Body::from_stream(body), kind, name)
}

fn saved(body: Body, kind: &'static str, name: &str) -> Result<Response, Problem> {
    let mut response = body.into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let kept = HeaderValue::try_from(content_disposition(name)).map_err(Problem::internal)?;
    fields.insert(header::CONTENT_DISPOSITION, kept);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// `GET /c/{id}/export`.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let chat = app.service().chat(viewer.0, id).await?;
    let imported_from = app.service().imported_from(viewer.0, id).await?;
    let is_damaged = app.service().is_damaged(viewer.0, id).await?;
    Ok(asked.answer(&app, StatusCode::OK, ExportPage { chat, imported_from, is_damaged }.draw()))
}
