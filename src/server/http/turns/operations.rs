//! How the API describes turns, and the tool calls of a reply that is being written.

use crate::domain::Turn;
use crate::server::http::openapi::operation::Operation;
use crate::server::http::streams::events::EventsQuery;
use crate::server::http::turns::api::{Edit, NewTurn, Retry, StartedBody};
use crate::server::http::turns::calls::{CallAnswer, CallDecision};
use serde_json::json;
use turnleaf_service::turns::generations::Generation;

const NOT_DOABLE: &str =
    "`empty_message`, `parent_other_chat`, `out_of_range`, `invalid`: it is well formed and cannot be done.";
pub const ATTACHED: &str = "`selection_mismatch`: another text than `quote` is selected in that version.";
pub const NAMES: &str = "`not_found`; `version_gone`: a document has no such version.";
const BOUNDS: &str = "`too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached.";
const LOCKED: &str = "`branch_locked`, `model_unavailable`: `fork` is a body for `POST /api/chats/{id}/branches`.";

const AFTER: &str = "The reply after that.";
const NOT_ASKED: &str = "`not_asked`: nothing of the sort is asked, or not any more.";

pub fn send(operation: Operation) -> Operation {
    operation
        .of("Turns", "send", "Sends a message; the reply begins by itself.")
        .note(
            "It goes below `prev_turn_id`, else to the end of `branch_id`, else to the end of the first branch. What \
                 is not appended to the end of a branch gets a branch of its own. Follow the reply at `/events`.",
        )
        .takes::<NewTurn>(json!({ "text": "Hello!", "client_request_id": "message-1" }))
        .makes::<StartedBody>("The message, and the reply that is pending.")
        .refuses(409, LOCKED)
        .refuses(409, "`turn_running`: the reply before is not over. `branch_moved`: somebody was faster.")
        .refuses(404, NAMES)
        .refuses(409, ATTACHED)
        .refuses(409, BOUNDS)
        .refuses(422, NOT_DOABLE)
        .may(429)
}

pub fn show_turn(operation: Operation) -> Operation {
    operation.of("Turns", "show_turn", "Shows a turn as it is now, with its blocks.").gives::<Turn>(200, "The turn.")
}

pub fn turn_as_markdown(operation: Operation) -> Operation {
    operation
        .of("Turns", "turn_as_markdown", "Gives a turn as Markdown.")
        .note("What a message quotes stands in it with where it is from; below a reply, what its message names.")
        .answer(200, "The text.", "text/markdown", json!({ "type": "string" }))
}

pub fn edit(operation: Operation) -> Operation {
    operation
        .of("Turns", "edit", "Sends a message in other words, beside the old one.")
        .note("With `text`, what is attached to the message goes along; `content` is all that there is.")
        .takes::<Edit>(json!({ "text": "Hello there!" }))
        .makes::<StartedBody>("The other message, and its reply.")
        .refuses(404, NAMES)
        .refuses(409, ATTACHED)
        .refuses(409, LOCKED)
        .refuses(409, BOUNDS)
        .refuses(422, NOT_DOABLE)
        .may(429)
}

pub fn retry(operation: Operation) -> Operation {
    operation
        .of("Turns", "retry", "Asks for another reply to the same message.")
        .note("Of a message whose replies are all deleted it asks for the reply.")
        .takes::<Retry>(json!({ "params": { "temperature": 1.0 } }))
        .optional()
        .makes::<StartedBody>("The message, and the new reply beside the old one.")
        .refuses(409, LOCKED)
        .refuses(409, "`no_message`: the reply answers none.")
        .refuses(409, BOUNDS)
        .refuses(422, NOT_DOABLE)
        .may(429)
}

pub fn stop(operation: Operation) -> Operation {
    operation
        .of("Turns", "stop", "Stops a reply.")
        .note("Answers once the ending is stored. A reply that is over stays as it is.")
        .gives::<Turn>(200, "The turn with its ending.")
}

pub fn follow_turn(operation: Operation) -> Operation {
    operation
        .of("Turns", "follow_turn", "Follows a reply to its end.")
        .note(EVENTS)
        .query::<EventsQuery>()
        .header("Last-Event-ID", "The id of the last event that was seen; goes before `after`.")
        .answer(200, "The events.", "text/event-stream", json!({ "type": "string" }))
        .answer(200, "The events.", "application/x-ndjson", json!({ "type": "string" }))
        .done(204, "The reply is over, and all of it was seen.")
}

pub fn list_generations(operation: Operation) -> Operation {
    operation
        .of("Turns", "list_generations", "Lists the provider calls of a reply.")
        .lists::<Generation>("The calls, in their order.")
}

pub fn show_generation(operation: Operation) -> Operation {
    operation.of("Turns", "show_generation", "Shows a provider call.").gives::<Generation>(200, "The call.")
}

pub fn show_raw(operation: Operation) -> Operation {
    operation
        .of("Turns", "show_raw", "Gives the provider's answer as it came.")
        .note("Byte for byte, but for the server's own keys where the provider repeats them.")
        .answer(200, "The bytes.", "application/octet-stream", json!({ "type": "string" }))
}

pub fn decide_call(operation: Operation) -> Operation {
    operation.of("Turns", "decide_call", "Says whether a tool call may run.")
        .note(
            "A call asks when its `status` is `awaiting_approval`; what it asks is in `block_metadata.approval`, and `hash` \
             says which question is answered. Answers once that is stored.",
        )
        .takes::<CallDecision>(json!({ "decision": "allow", "hash": "9f86d081884c7d65" }))
        .gives::<CallAnswer>(200, AFTER)
        .refuses(409, NOT_ASKED)
        .refuses(409, "`approval_changed`: the call asks something else now.")
        .refuses(422, "`invalid`: it is well formed and cannot be done.")
}

pub fn stop_call(operation: Operation) -> Operation {
    operation
        .of("Turns", "stop_call", "Stops one tool call.")
        .note("The reply goes on with the others; the model is told. Answers once the end is stored.")
        .gives::<CallAnswer>(200, AFTER)
        .refuses(409, NOT_ASKED)
}

pub fn continue_turn(operation: Operation) -> Operation {
    operation
        .of("Turns", "continue_turn", "Lets a reply go on that paused by itself.")
        .gives::<CallAnswer>(200, AFTER)
        .refuses(409, NOT_ASKED)
}

const EVENTS: &str = "With `Accept: text/event-stream` (the default) each event has its name, `<turn>:<number>` as its id and \
    JSON as its data: `turn_status`, `generation_start`, `model_returned`, `attempt`, `block_start`, `block_delta`, \
    `block_update`, `block_end`, `usage`, `error`, `turn_end`. Beside the numbered ones there are `snapshot` (the whole \
    turn, in the place of all that was seen), `markup` and `heartbeat`. A connection that broke goes on behind \
    `Last-Event-ID`. An event that is not known may be passed over.\n\n\
    With `Accept: application/x-ndjson` it is a line of JSON for every piece of text or reasoning: \
    `{\"type\": \"text\" | \"thinking\", \"content\": \"…\", \"append\"?: true}`. Pieces of text follow each other; the first piece of \
    a reasoning block stands alone, the others say `append`.";
