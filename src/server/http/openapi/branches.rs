//! Branches.

use serde_json::json;

use super::operation::{Operation, operation};
use crate::domain::Branch;
use crate::server::http::branches::{BranchBody, BranchPatch, ListedBody, NewBranchBody};

pub fn operations() -> Vec<Operation> {
    vec![
        operation("get", "/api/chats/{id}/branches", ("Branches", "list_branches"), "Lists the branches of a chat.")
            .lists::<ListedBody>("The branches: pinned ones first, then the oldest."),
        operation("post", "/api/chats/{id}/branches", ("Branches", "create_branch"), "Makes a branch without turns.")
            .note("A message that names it goes on from `from_turn_id`; without it, from where the chat was last read.")
            .takes::<NewBranchBody>(json!({ "name": "With another model", "provider": "demo" }))
            .optional()
            .makes::<Branch>("The branch.")
            .refuses(
                409,
                "`model_unavailable`: its provider is not configured. `too_many_branches`: a bound is reached.",
            )
            .refuses(422, "`invalid`: no such turn or model."),
        operation("get", "/api/branches/{id}", ("Branches", "show_branch"), "Shows a branch.")
            .gives::<BranchBody>(200, "The branch, with what it tells its model in every request."),
        operation(
            "patch",
            "/api/branches/{id}",
            ("Branches", "change_branch"),
            "Changes a branch; what is not named stays.",
        )
        .note("Its provider and model stay: they are what it is.")
        .takes::<BranchPatch>(json!({ "name": "The better one" }))
        .gives::<Branch>(200, "The branch as it is now.")
        .refuses(422, "`invalid`: a name is not empty, not too long and has no control characters."),
    ]
}
