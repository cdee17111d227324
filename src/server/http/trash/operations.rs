//! How the API describes Trash.

use crate::domain::{DeletionSummary, RestoreSummary};
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::trash::api::{ListTrashQuery, PruneChatRequest, TrashEntry};
use serde_json::json;

const RUNNING: &str = "`turn_running`: replies below keep beginning, or one does not stop.";
const BELOW: &str =
    "`parent_deleted`: it hangs on what a later deletion took; `deletion_id` names the one to restore first.";

pub fn delete_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "delete_turn", "Moves a turn with everything below it to the trash.")
        .add_description("Replies that are being written below it are stopped and stored first.")
        .response::<DeletionSummary>(200, "What went.")
        .problem_response(409, RUNNING)
}

pub fn delete_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "delete_branch", "Moves a branch to the trash: its first turn with everything below it.")
        .add_description("Branches that leave its turns go with it. One without turns goes alone.")
        .response::<DeletionSummary>(200, "What went.")
        .problem_response(409, "`last_branch`: nothing would be left of the chat.")
        .problem_response(409, RUNNING)
}

pub fn prune_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "prune", "Moves everything but the path to one turn, and what is below it, to the trash.")
        .request_body::<PruneChatRequest>(json!({ "keep": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .response::<DeletionSummary>(200, "What went.")
        .problem_response(409, "`nothing_to_prune`: there is nothing else.")
        .problem_response(409, RUNNING)
}

pub fn restore_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore_turn", "Brings back the whole deletion that took this turn.")
        .response::<RestoreSummary>(200, "What came back.")
        .problem_response(409, BELOW)
}

pub fn restore_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore_branch", "Brings back the whole deletion that took this branch.")
        .response::<RestoreSummary>(200, "What came back.")
        .problem_response(409, BELOW)
}

pub fn list_trash(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "list_trash", "Lists what can come back.")
        .query_parameters::<ListTrashQuery>()
        .list_response::<TrashEntry>("The deletions, the newest first.")
}

pub fn restore_deletion(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "restore", "Brings back exactly what a deletion took.")
        .response::<RestoreSummary>(200, "What came back.")
        .problem_response(409, BELOW)
}

pub fn purge_deletion(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "purge", "Deletes for ever what a deletion took.")
        .add_description("What was deleted below it before goes with it.")
        .empty_response(204, "It is gone.")
}

pub fn empty_trash(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Trash", "empty_trash", "Deletes for ever all that is in the trash.")
        .empty_response(204, "It is gone.")
}
