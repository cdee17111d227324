//! The verbs of a turn as pages and forms without script: other words, another model, a copy of the path.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use leptos::prelude::AnyView;
use serde::Deserialize;

use super::forms::to_turn;
use super::path_id::PathId;
use super::plain_page::{Asked, Fields};
use super::problem::Problem;
use super::query::Query;
use crate::api::error::ApiError;
use crate::domain::{ChatId, Invalid, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::plain_pages::sent::SentPage;
use crate::server::plain_pages::turns::{AgainView, EditView, edit_title};
use crate::server::plain_pages::{Page, Section};
use crate::server::platform::ids;
use crate::ui::words::told::told_of_field;
use crate::ui::words::transcript as said;

/// Which of a reply's requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentQuery {
    /// From 1; the last one without it.
    request: Option<usize>,
}

/// `GET /turns/{id}/edit`.
pub async fn edit_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer.0, id).await?;
    let text = turn.content_text();
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = EditView { turn: &turn, text: &text, error: None, request_id: &request_id };
    Ok(asked.answer(&app, StatusCode::OK, page(edit_title(turn.role), view.draw())))
}

/// `POST /forms/edit`: goes to what was made; what could not be stays on the page with what is wrong beside it.
pub async fn edit(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer.0, id_of(&fields, "turn_id")?).await?;
    let text = fields.lines("text");
    let request_id = fields.text("client_request_id").unwrap_or_default();
    match app.pages().edit(viewer.0, turn.id, text.clone(), &[], request_id.clone()).await {
        Ok(started) => Ok(to_turn(started.chat_id, started.assistant_turn.turn.id)),
        Err(ApiError::NotFound) => Err(Problem::not_found()),
        Err(error) => {
            let said = match &error {
                ApiError::Invalid { reason, .. } => reason.clone(),
                error => told_of_field(&error.to_string()),
            };
            let view = EditView { turn: &turn, text: &text, error: Some(&said), request_id: &request_id };
            let page = page(edit_title(turn.role), view.draw());
            Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, page))
        }
    }
}

/// `GET /turns/{id}/again`: which model is to try again.
pub async fn again_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer.0, id).await?;
    let models = app.service().supervisor().registry().models();
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = AgainView { turn: &turn, models: &models, request_id: &request_id };
    Ok(asked.answer(&app, StatusCode::OK, page(said::retry_with(), view.draw())))
}

/// `GET /turns/{id}/sent`: what a reply's requests were made of.
pub async fn sent_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    Query(query): Query<SentQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let sent = app.service().sent(viewer.0, id, query.request).await?;
    Ok(asked.answer(&app, StatusCode::OK, SentPage { sent: &sent }.draw()))
}

/// `POST /forms/copy`: goes to the copy.
pub async fn copy(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let (chat, turn): (ChatId, TurnId) = (id_of(&fields, "chat_id")?, id_of(&fields, "turn_id")?);
    let name = fields.text("client_request_id");
    let made = app.service().copy_chat(viewer.0, chat, turn, name.as_deref()).await?;
    Ok(to_turn(made.it.chat.id, made.it.leaf))
}

fn page(title: &str, body: AnyView) -> Page {
    Page { section: Section::Chat, title: title.to_owned(), said: None, body }
}

/// A required id of a form.
fn id_of<T: std::str::FromStr>(fields: &Fields, name: &str) -> Result<T, Problem> {
    let text = fields.text(name).ok_or_else(|| Invalid::new(name, "is missing"))?;
    text.parse().map_err(|_| Problem::not_found())
}
