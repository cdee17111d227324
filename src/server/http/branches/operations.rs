//! How the API describes branches, and the comparison of two paths.

use crate::domain::{Branch, Graft};
use crate::server::http::branches::api::{BranchBody, BranchPatch, ListedBody, NewBranchBody};
use crate::server::http::branches::compare::CompareQuery;
use crate::server::http::branches::grafts::{GraftBody, NewGraftBody};
use crate::server::http::openapi::operation::Operation;
use serde_json::json;
use turnleaf_service::branches::compare::Comparison;

pub fn list_branches(operation: Operation) -> Operation {
    operation
        .of("Branches", "list_branches", "Lists the branches of a chat.")
        .lists::<ListedBody>("The branches: pinned ones first, then the oldest.")
}

pub fn create_branch(operation: Operation) -> Operation {
    operation
        .of("Branches", "create_branch", "Makes a branch without turns.")
        .note("A message that names it goes on from `from_turn_id`; without it, from where the chat was last read.")
        .takes::<NewBranchBody>(json!({ "name": "With another model", "provider": "demo" }))
        .optional()
        .makes::<Branch>("The branch.")
        .refuses(409, "`model_unavailable`: its provider is not configured. `too_many_branches`: a bound is reached.")
        .refuses(422, "`invalid`: no such turn or model.")
}

pub fn show_branch(operation: Operation) -> Operation {
    operation
        .of("Branches", "show_branch", "Shows a branch.")
        .gives::<BranchBody>(200, "The branch, with what it tells its model in every request.")
}

pub fn change_branch(operation: Operation) -> Operation {
    operation
        .of("Branches", "change_branch", "Changes a branch; what is not named stays.")
        .note("Its provider and model stay: they are what it is.")
        .takes::<BranchPatch>(json!({ "name": "The better one" }))
        .gives::<Branch>(200, "The branch as it is now.")
        .refuses(422, "`invalid`: a name is not empty, not too long and has no control characters.")
}

pub fn compare(operation: Operation) -> Operation {
    operation
        .of("Branches", "compare", "Puts two paths side by side.")
        .note("From the last turn that both share, each up to its own end.")
        .query::<CompareQuery>()
        .gives::<Comparison>(200, "The paths, and a page of their exchanges.")
        .refuses(422, "`invalid`: a turn of another chat, or the same turn twice.")
}

pub fn list_grafts(operation: Operation) -> Operation {
    operation.of("Branches", "list_grafts", "Lists the grafts of a chat.").lists::<Graft>("The grafts, newest first.")
}

pub fn graft(operation: Operation) -> Operation {
    let example = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    operation.of("Branches", "graft", "Asks the messages of a path again, of another model.")
            .note("They are asked one after the other on a branch of their own, which begins behind `from_turn_id`.")
            .takes::<NewGraftBody>(json!({ "leaf_turn_id": example, "provider": "demo" }))
            .makes::<GraftBody>("The graft, which goes on by itself.")
            .refuses(409, "`graft_too_long`, `too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached. `turn_running`: the reply before is not over. `graft_moved`, `model_unavailable`.")
            .refuses(422, "`invalid`: no such turn, provider or model, or a value that cannot be. `empty_message`.")
            .may(413)
            .may(429)
}

pub fn show_graft(operation: Operation) -> Operation {
    operation.of("Branches", "show_graft", "Shows a graft as it stands.").gives::<GraftBody>(200, "The graft.")
}

pub fn cancel_graft(operation: Operation) -> Operation {
    operation
        .of("Branches", "cancel_graft", "Ends a graft, and the reply that it waits for.")
        .gives::<GraftBody>(200, "The graft.")
        .refuses(409, "`graft_moved`: it was changed at the same moment.")
}

pub fn resume_graft(operation: Operation) -> Operation {
    operation.of("Branches", "resume_graft", "Lets a graft that is paused go on.")
            .gives::<GraftBody>(200, "The graft.")
            .refuses(409, "`graft_not_paused`, `graft_gone`, `graft_moved`, `turn_running`, `model_unavailable`, `too_many_siblings`, `too_many_turns`, `too_many_branches`.")
            .refuses(422, "`invalid`: the next message cannot be asked.")
            .may(429)
}
