//! How the API describes branches, and the comparison of two paths.

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
        .list_response::<BranchSummary>("The branches: pinned ones first, then the oldest.")
}

pub fn create_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "create_branch", "Makes a branch without turns.")
        .add_description(
            "A message that names it goes on from `from_turn_id`; without it, from where the chat was last read.",
        )
        .request_body::<CreateBranchRequest>(json!({ "name": "With another model", "provider": "demo" }))
        .optional_request_body()
        .created_response::<Branch>("The branch.")
        .problem_response(
            409,
            "`model_unavailable`: its provider is not configured. `too_many_branches`: a bound is reached.",
        )
        .problem_response(422, "`invalid`: no such turn or model.")
}

pub fn show_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "show_branch", "Shows a branch.")
        .response::<BranchDetails>(200, "The branch, with what it tells its model in every request.")
}

pub fn change_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "change_branch", "Changes a branch; what is not named stays.")
        .add_description("Its provider and model stay: they are what it is.")
        .request_body::<UpdateBranchRequest>(json!({ "name": "The better one" }))
        .response::<Branch>(200, "The branch as it is now.")
        .problem_response(422, "`invalid`: a name is not empty, not too long and has no control characters.")
}

pub fn compare_paths(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "compare", "Puts two paths side by side.")
        .add_description("From the last turn that both share, each up to its own end.")
        .query_parameters::<ComparePathsQuery>()
        .response::<Comparison>(200, "The paths, and a page of their exchanges.")
        .problem_response(422, "`invalid`: a turn of another chat, or the same turn twice.")
}

pub fn list_reruns(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "list_grafts", "Lists the grafts of a chat.")
        .list_response::<Rerun>("The grafts, newest first.")
}

pub fn create_rerun(operation: ApiOperation) -> ApiOperation {
    let example = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    operation.describe("Branches", "graft", "Asks the messages of a path again, of another model.")
            .add_description("They are asked one after the other on a branch of their own, which begins behind `from_turn_id`.")
            .request_body::<CreateRerunRequest>(json!({ "leaf_turn_id": example, "provider": "demo" }))
            .created_response::<RerunDetails>("The graft, which goes on by itself.")
            .problem_response(409, "`graft_too_long`, `too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached. `turn_running`: the reply before is not over. `graft_moved`, `model_unavailable`.")
            .problem_response(422, "`invalid`: no such turn, provider or model, or a value that cannot be. `empty_message`.")
            .shared_response(413)
            .shared_response(429)
}

pub fn show_rerun(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "show_graft", "Shows a graft as it stands.")
        .response::<RerunDetails>(200, "The graft.")
}

pub fn cancel_rerun(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Branches", "cancel_graft", "Ends a graft, and the reply that it waits for.")
        .response::<RerunDetails>(200, "The graft.")
        .problem_response(409, "`graft_moved`: it was changed at the same moment.")
}

pub fn resume_rerun(operation: ApiOperation) -> ApiOperation {
    operation.describe("Branches", "resume_graft", "Lets a graft that is paused go on.")
            .response::<RerunDetails>(200, "The graft.")
            .problem_response(409, "`graft_not_paused`, `graft_gone`, `graft_moved`, `turn_running`, `model_unavailable`, `too_many_siblings`, `too_many_turns`, `too_many_branches`.")
            .problem_response(422, "`invalid`: the next message cannot be asked.")
            .shared_response(429)
}
