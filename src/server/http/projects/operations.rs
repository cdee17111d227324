//! OpenAPI descriptions of projects.

use serde_json::json;

use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::projects::api::{
    CreateProjectRequest, DeleteProjectQuery, ProjectDetails, UpdateProjectRequest,
};

pub fn list_projects(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Projects", "list_projects", "Lists the projects.")
        .list_response::<ProjectDetails>("The projects, by name.")
}

pub fn create_project(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Projects", "create_project", "Creates a project.")
        .request_body::<CreateProjectRequest>(json!({
            "name": "Boat",
            "color": "blue",
            "instructions": "We are building a boat. Answer in metric units.",
            "client_request_id": "project-1",
        }))
        .created_response::<ProjectDetails>("The project.")
        // A repeated idempotency key names a project that was deleted since.
        .shared_response(404)
        .problem_response(409, "`too_many_projects`: there is no room for another project.")
        .problem_response(422, INVALID_VALUE)
}

pub fn show_project(operation: ApiOperation) -> ApiOperation {
    operation.describe("Projects", "show_project", "Shows a project.").response::<ProjectDetails>(200, "The project.")
}

pub fn change_project(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Projects", "change_project", "Updates a project. Omitted fields stay unchanged.")
        .add_description(
            "Other instructions increase `version`. Chats keep the instructions they began with; `project_version` of a \
                chat says which.",
        )
        .request_body::<UpdateProjectRequest>(json!({ "name": "Boats", "default_model": null }))
        .response::<ProjectDetails>(200, "The updated project.")
        .problem_response(422, INVALID_VALUE)
}

pub fn delete_project(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Projects", "delete_project", "Deletes a project permanently.")
        .add_description("Its chats stay, and are in no project then, unless they are moved to Trash with it.")
        .query_parameters::<DeleteProjectQuery>()
        .empty_response(204, "It is deleted.")
        .problem_response(409, "`turn_running`: a reply in a chat could not be stopped; the project stays.")
}
