//! Tool calls of a reply that is being written.

use serde_json::json;

use super::operation::{Operation, operation};
use crate::server::http::calls::{CallAnswer, CallDecision};

const NOT_ASKED: &str = "`not_asked`: nothing of the sort is asked, or not any more.";

pub fn operations() -> Vec<Operation> {
    vec![
        operation(
            "post",
            "/api/turns/{id}/calls/{block}",
            ("Turns", "decide_call"),
            "Says whether a tool call may run.",
        )
        .note(
            "A call asks when its `status` is `awaiting_approval`; what it asks is in `block_metadata.approval`, and `hash` \
             says which question is answered. Answers once that is stored.",
        )
        .takes::<CallDecision>(json!({ "decision": "allow", "hash": "9f86d081884c7d65" }))
        .gives::<CallAnswer>(200, "The reply after that.")
        .refuses(409, NOT_ASKED)
        .refuses(409, "`approval_changed`: the call asks something else now.")
        .refuses(422, "`invalid`: it is well formed and cannot be done."),
        operation("post", "/api/turns/{id}/calls/{block}/stop", ("Turns", "stop_call"), "Stops one tool call.")
            .note("The reply goes on with the others; the model is told. Answers once the end is stored.")
            .gives::<CallAnswer>(200, "The reply after that.")
            .refuses(409, NOT_ASKED),
        operation("post", "/api/turns/{id}/continue", ("Turns", "continue_turn"), "Lets a reply go on that paused by itself.")
            .gives::<CallAnswer>(200, "The reply after that.")
            .refuses(409, NOT_ASKED),
    ]
}
