//! Tool calls that wait for a person, over HTTP and as forms: allow or decline one, stop one, let a paused reply go on.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::approval::Decision;
use crate::domain::{BlockId, Invalid, Turn, TurnId, TurnStatus};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::json::Json;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::response::plain_page::Fields;
use crate::server::http::response::problem::Problem;
use crate::server::http::turns::forms::to_turn;

/// An answer to what a call asks.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallDecision {
    decision: Decision,
    /// `hash` of what was asked (`block_metadata.approval`).
    hash: String,
    /// Why not, for the model.
    reason: Option<String>,
}

/// The reply after that.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct CallAnswer {
    turn_id: TurnId,
    status: TurnStatus,
}

impl From<Turn> for CallAnswer {
    fn from(turn: Turn) -> Self {
        Self { turn_id: turn.id, status: turn.status }
    }
}

/// `POST /api/turns/{id}/calls/{block}`: 200 once the answer is stored.
pub async fn decide(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    Json(said): Json<CallDecision>,
) -> Result<Json<CallAnswer>, Problem> {
    let decided = app.service().decide(viewer.0, turn, block, &said.hash, said.decision, said.reason).await?;
    Ok(Json(decided.into()))
}

/// `POST /api/turns/{id}/calls/{block}/stop`: 200 once its end is stored.
pub async fn stop(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
) -> Result<Json<CallAnswer>, Problem> {
    Ok(Json(app.service().stop_call(viewer.0, turn, block).await?.into()))
}

/// `POST /api/turns/{id}/continue`: lets a paused reply go on.
pub async fn go_on(
    State(app): State<App>,
    viewer: Viewer,
    PathId(turn): PathId<TurnId>,
) -> Result<Json<CallAnswer>, Problem> {
    Ok(Json(app.service().go_on(viewer.0, turn).await?.into()))
}

/// `POST /forms/call`.
pub async fn decide_form(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let word = fields.text("decision").unwrap_or_default();
    let decision: Decision =
        serde_json::from_value(Value::String(word)).map_err(|_| Invalid::new("decision", "is no answer"))?;
    let (turn, block) = (id_of(&fields, "turn")?, id_of(&fields, "block")?);
    let hash = fields.text("hash").unwrap_or_default();
    let turn = app.service().decide(viewer.0, turn, block, &hash, decision, fields.text("reason")).await?;
    Ok(answer(&fields, &turn))
}

/// `POST /forms/call-stop`.
pub async fn stop_form(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let turn = app.service().stop_call(viewer.0, id_of(&fields, "turn")?, id_of(&fields, "block")?).await?;
    Ok(answer(&fields, &turn))
}

/// `POST /forms/continue`.
pub async fn go_on_form(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let turn = app.service().go_on(viewer.0, id_of(&fields, "turn")?).await?;
    Ok(answer(&fields, &turn))
}

/// A page that follows the reply itself needs nothing more; any other goes to it.
fn answer(fields: &Fields, turn: &Turn) -> Response {
    match fields.is_ticked("stay") {
        true => StatusCode::NO_CONTENT.into_response(),
        false => to_turn(turn.chat_id, turn.id),
    }
}

/// An id of a form; another spelling names nothing.
fn id_of<T: std::str::FromStr>(fields: &Fields, name: &str) -> Result<T, Problem> {
    fields.text(name).and_then(|text| text.parse().ok()).ok_or_else(Problem::not_found)
}
