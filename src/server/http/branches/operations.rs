//! OpenAPI descriptions of branches, reruns and the comparison of two paths.

use crate::domain::{Branch, Rerun};
use crate::server::http::branches::api::{BranchDetails, BranchSummary, CreateBranchRequest, UpdateBranchRequest};
use crate::server::http::branches::compare::ComparePathsQuery;
use crate::server::http::branches::reruns::{CreateRerunRequest, RerunDetails};
use crate::server::http::openapi::operation::ApiOperation;
use serde_json::json;
use turnleaf_service::branches::compare::Comparison;

pub fn list_branches(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "list_branches", "Lists the branches of a chat.")
        .list_response::<BranchSummary>("The branches, pinned ones first, then oldest first.")
}

pub fn create_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "create_branch", "Creates a branch without messages.")
        .add_description(
            "Its first message continues from `from_turn_id` or from the end of the branch `fromRef`, else from where the \
            chat was last read.",
        )
        .request_body::<CreateBranchRequest>(json!({ "name": "With another model", "provider": "demo" }))
        .optional_request_body()
        .created_response::<Branch>("The branch.")
        .problem_response(
            409,
            "`model_unavailable`: its provider is not configured. `too_many_branches`: a bound is reached.",
        )
        .problem_response(422, "`invalid`: unknown turn or model.")
}

pub fn show_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "show_branch", "Shows a branch.")
        .response::<BranchDetails>(200, "The branch, with its system prompt.")
}

pub fn change_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "change_branch", "Updates a branch. Omitted fields stay unchanged.")
        .add_description("Its provider and model cannot change.")
        .request_body::<UpdateBranchRequest>(json!({ "name": "The better one" }))
        .response::<Branch>(200, "The updated branch.")
        .problem_response(422, "`invalid`: the name is empty, too long or has control characters.")
}

pub fn compare_paths(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "compare", "Compares two paths.")
        .add_description("From the last common turn to the end of each path.")
        .query_parameters::<ComparePathsQuery>()
        .response::<Comparison>(200, "The paths, and a page of their exchanges.")
        .problem_response(422, "`invalid`: the turns belong to different chats, or are the same.")
}

pub fn list_reruns(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "list_grafts", "Lists the reruns of a chat.")
        .list_response::<Rerun>("The reruns, newest first.")
}

pub fn create_rerun(operation: ApiOperation) -> ApiOperation {
    let example = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    operation
        .describe("Branches", "graft", "Reruns the messages of a path with another model.")
        .add_description("Sends them one after another on a new branch, which starts after `from_turn_id`.")
        .request_body::<CreateRerunRequest>(json!({ "leaf_turn_id": example, "provider": "demo" }))
        .created_response::<RerunDetails>("The rerun, which continues in the background.")
        .problem_response(
            409,
            "`graft_too_long`, `too_many_siblings`, `too_many_turns`, `too_many_branches`: a \
                limit is reached. `turn_running`: the reply before is still running. `graft_moved`, \
                `model_unavailable`.",
        )
        .problem_response(422, "`invalid`: unknown turn, provider or model, or an invalid value. `empty_message`.")
        .shared_response(413)
        .shared_response(429)
}

pub fn show_rerun(operation: ApiOperation) -> ApiOperation {
    operation.describe("Branches", "show_graft", "Shows a rerun.").response::<RerunDetails>(200, "The rerun.")
}

pub fn cancel_rerun(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "cancel_graft", "Cancels a rerun and its running reply.")
        .response::<RerunDetails>(200, "The rerun.")
        .problem_response(409, "`graft_moved`: it was changed at the same time.")
}

pub fn resume_rerun(operation: ApiOperation) -> ApiOperation {
    operation.describe("Branches", "resume_graft", "Resumes a paused rerun.")
            .response::<RerunDetails>(200, "The rerun.")
            .problem_response(409, "`graft_not_paused`, `graft_gone`, `graft_moved`, `turn_running`, `model_unavailable`, `too_many_siblings`, `too_many_turns`, `too_many_branches`.")
            .problem_response(422, "`invalid`: the next message cannot be sent.")
            .shared_response(429)
}
