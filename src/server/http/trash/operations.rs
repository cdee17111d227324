//! OpenAPI descriptions of Trash.

use crate::domain::{DeletionSummary, RestoreSummary};
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::trash::api::{ListTrashQuery, PruneChatRequest, TrashEntry};
use serde_json::json;

const RUNNING: &str = "`turn_running`: replies below keep starting, or one does not stop.";
const BELOW: &str = "`parent_deleted`: its parent was deleted later; `deletion_id` is the deletion to restore first.";

pub fn delete_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "delete_turn", "Moves a turn and everything below it to Trash.")
        .add_description("Running replies below it are stopped and saved first.")
        .response::<DeletionSummary>(200, "What was deleted.")
        .problem_response(409, RUNNING)
}

pub fn delete_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "delete_branch", "Moves a branch to Trash: its first turn and everything below it.")
        .add_description("Branches that start from its turns are deleted too. A branch without turns is deleted alone.")
        .response::<DeletionSummary>(200, "What was deleted.")
        .problem_response(409, "`last_branch`: the last branch cannot be deleted.")
        .problem_response(409, RUNNING)
}

pub fn prune_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "prune", "Moves everything to Trash except the path to one turn and what is below it.")
        .request_body::<PruneChatRequest>(json!({ "keep": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .response::<DeletionSummary>(200, "What was deleted.")
        .problem_response(409, "`nothing_to_prune`: there is nothing else to delete.")
        .problem_response(409, RUNNING)
}

pub fn restore_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore_turn", "Restores the whole deletion that contains this turn.")
        .response::<RestoreSummary>(200, "What was restored.")
        .problem_response(409, "`not_in_trash`: it was not deleted.")
        .problem_response(409, BELOW)
}

pub fn restore_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore_branch", "Restores the whole deletion that contains this branch.")
        .response::<RestoreSummary>(200, "What was restored.")
        .problem_response(409, "`not_in_trash`: it was not deleted.")
        .problem_response(409, BELOW)
}

pub fn list_trash(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "list_trash", "Lists the contents of Trash.")
        .query_parameters::<ListTrashQuery>()
        .list_response::<TrashEntry>("The deletions, newest first.")
}

pub fn restore_deletion(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore", "Restores exactly what a deletion removed.")
        .response::<RestoreSummary>(200, "What was restored.")
        .problem_response(409, BELOW)
}

pub fn purge_deletion(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "purge", "Permanently deletes the contents of a deletion.")
        .add_description("Anything deleted below it earlier is included.")
        .empty_response(204, "Permanently deleted.")
}

pub fn empty_trash(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "empty_trash", "Permanently deletes everything in Trash.")
        .empty_response(204, "Permanently deleted.")
}
