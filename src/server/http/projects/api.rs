//! The API of projects (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::{ModelLock, Project, ProjectColor, ProjectId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use turnleaf_service::projects::{ListedProject, NewProject, ProjectChats, ProjectUpdate};

/// A project with the number of its chats.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ProjectDetails {
    #[serde(flatten)]
    project: Project,
    /// Number of chats that are not in Trash.
    chats: u64,
    /// Number of these that are archived.
    archived_chats: u64,
}

impl From<ListedProject> for ProjectDetails {
    fn from(ListedProject { project, chats, archived_chats }: ListedProject) -> Self {
        Self { project, chats, archived_chats }
    }
}

/// A project to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateProjectRequest {
    name: String,
    #[serde(default)]
    color: ProjectColor,
    /// System prompt of new chats in the project.
    #[serde(default)]
    instructions: String,
    /// Model of new chats in the project. Without it, that of the server.
    default_model: Option<ModelLock>,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// Changes of a project. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateProjectRequest {
    name: Option<String>,
    color: Option<ProjectColor>,
    /// System prompt of new chats in the project. Chats that exist keep theirs.
    instructions: Option<String>,
    /// Model of new chats in the project. `null` removes it.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<ModelLock>)]
    default_model: Option<Option<ModelLock>>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DeleteProjectQuery {
    /// `true` moves the chats of the project to Trash, archived ones included. By default they stay.
    #[serde(default)]
    trash_chats: bool,
}

/// `GET /api/projects`: lists the projects by name.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<Vec<ProjectDetails>>, Problem> {
    let projects = app.service().projects(principal.user).await?;
    Ok(ApiJson(projects.into_iter().map(ProjectDetails::from).collect()))
}

/// `POST /api/projects`: creates a project. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateProjectRequest>,
) -> Result<Response, Problem> {
    let new = NewProject {
        name: new.name,
        color: new.color,
        instructions: new.instructions,
        default_model: new.default_model,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let made = app.service().create_project(principal.user, new).await?;
    Ok((created_status(made.is_new), ApiJson(ProjectDetails::from(made.value))).into_response())
}

/// `GET /api/projects/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ProjectId>,
) -> Result<ApiJson<ProjectDetails>, Problem> {
    Ok(ApiJson(app.service().project(principal.user, id).await?.into()))
}

/// `PATCH /api/projects/{id}`.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ProjectId>,
    ApiJson(patch): ApiJson<UpdateProjectRequest>,
) -> Result<ApiJson<ProjectDetails>, Problem> {
    let UpdateProjectRequest { name, color, instructions, default_model } = patch;
    let change = ProjectUpdate { name, color, instructions, default_model };
    Ok(ApiJson(app.service().change_project(principal.user, id, change).await?.into()))
}

/// `DELETE /api/projects/{id}`: deletes a project. Its chats stay unless the query says otherwise.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ProjectId>,
    StrictQuery(query): StrictQuery<DeleteProjectQuery>,
) -> Result<StatusCode, Problem> {
    let chats = if query.trash_chats { ProjectChats::Trash } else { ProjectChats::Keep };
    app.service().delete_project(principal.user, id, chats).await?;
    Ok(StatusCode::NO_CONTENT)
}
