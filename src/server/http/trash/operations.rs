//! How the API describes Trash.

use crate::domain::{Deleted, Restored};
use crate::server::http::openapi::operation::Operation;
use crate::server::http::trash::api::{DeletionBody, ListQuery, Prune};
use serde_json::json;

const RUNNING: &str = "`turn_running`: replies below keep beginning, or one does not stop.";
const BELOW: &str =
    "`parent_deleted`: it hangs on what a later deletion took; `deletion_id` names the one to restore first.";

pub fn delete_turn(operation: Operation) -> Operation {
    operation
        .of("Trash", "delete_turn", "Moves a turn with everything below it to the trash.")
        .note("Replies that are being written below it are stopped and stored first.")
        .gives::<Deleted>(200, "What went.")
        .refuses(409, RUNNING)
}

pub fn delete_branch(operation: Operation) -> Operation {
    operation
        .of("Trash", "delete_branch", "Moves a branch to the trash: its first turn with everything below it.")
        .note("Branches that leave its turns go with it. One without turns goes alone.")
        .gives::<Deleted>(200, "What went.")
        .refuses(409, "`last_branch`: nothing would be left of the chat.")
        .refuses(409, RUNNING)
}

pub fn prune(operation: Operation) -> Operation {
    operation
        .of("Trash", "prune", "Moves everything but the path to one turn, and what is below it, to the trash.")
        .takes::<Prune>(json!({ "keep": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .gives::<Deleted>(200, "What went.")
        .refuses(409, "`nothing_to_prune`: there is nothing else.")
        .refuses(409, RUNNING)
}

pub fn restore_turn(operation: Operation) -> Operation {
    operation
        .of("Trash", "restore_turn", "Brings back the whole deletion that took this turn.")
        .gives::<Restored>(200, "What came back.")
        .refuses(409, BELOW)
}

pub fn restore_branch(operation: Operation) -> Operation {
    operation
        .of("Trash", "restore_branch", "Brings back the whole deletion that took this branch.")
        .gives::<Restored>(200, "What came back.")
        .refuses(409, BELOW)
}

pub fn list_trash(operation: Operation) -> Operation {
    operation
        .of("Trash", "list_trash", "Lists what can come back.")
        .query::<ListQuery>()
        .lists::<DeletionBody>("The deletions, the newest first.")
}

pub fn restore(operation: Operation) -> Operation {
    operation
        .of("Trash", "restore", "Brings back exactly what a deletion took.")
        .gives::<Restored>(200, "What came back.")
        .refuses(409, BELOW)
}

pub fn purge(operation: Operation) -> Operation {
    operation
        .of("Trash", "purge", "Deletes for ever what a deletion took.")
        .note("What was deleted below it before goes with it.")
        .done(204, "It is gone.")
}

pub fn empty_trash(operation: Operation) -> Operation {
    operation.of("Trash", "empty_trash", "Deletes for ever all that is in the trash.").done(204, "It is gone.")
}
