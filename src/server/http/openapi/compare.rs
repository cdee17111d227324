//! Two paths side by side, and a path that is asked again.

use serde_json::json;

use super::operation::{Operation, operation};
use crate::domain::Graft;
use crate::server::http::compare::CompareQuery;
use crate::server::http::grafts::{GraftBody, NewGraftBody};
use turnleaf_service::branches::compare::Comparison;

pub fn operations() -> Vec<Operation> {
    let example = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    vec![
        operation("get", "/api/chats/{id}/compare", ("Branches", "compare"), "Puts two paths side by side.")
            .note("From the last turn that both share, each up to its own end.")
            .query::<CompareQuery>()
            .gives::<Comparison>(200, "The paths, and a page of their exchanges.")
            .refuses(422, "`invalid`: a turn of another chat, or the same turn twice."),
        operation("get", "/api/chats/{id}/grafts", ("Branches", "list_grafts"), "Lists the grafts of a chat.")
            .lists::<Graft>("The grafts, newest first."),
        operation("post", "/api/chats/{id}/grafts", ("Branches", "graft"), "Asks the messages of a path again, of another model.")
            .note("They are asked one after the other on a branch of their own, which begins behind `from_turn_id`.")
            .takes::<NewGraftBody>(json!({ "leaf_turn_id": example, "provider": "demo" }))
            .makes::<GraftBody>("The graft, which goes on by itself.")
            .refuses(409, "`graft_too_long`, `too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached. `turn_running`: the reply before is not over. `graft_moved`, `model_unavailable`.")
            .refuses(422, "`invalid`: no such turn, provider or model, or a value that cannot be. `empty_message`.")
            .may(413)
            .may(429),
        operation("get", "/api/grafts/{id}", ("Branches", "show_graft"), "Shows a graft as it stands.")
            .gives::<GraftBody>(200, "The graft."),
        operation("post", "/api/grafts/{id}/cancel", ("Branches", "cancel_graft"), "Ends a graft, and the reply that it waits for.")
            .gives::<GraftBody>(200, "The graft.")
            .refuses(409, "`graft_moved`: it was changed at the same moment."),
        operation("post", "/api/grafts/{id}/resume", ("Branches", "resume_graft"), "Lets a graft that is paused go on.")
            .gives::<GraftBody>(200, "The graft.")
            .refuses(409, "`graft_not_paused`, `graft_gone`, `graft_moved`, `turn_running`, `model_unavailable`, `too_many_siblings`, `too_many_turns`, `too_many_branches`.")
            .refuses(422, "`invalid`: the next message cannot be asked.")
            .may(429),
    ]
}
