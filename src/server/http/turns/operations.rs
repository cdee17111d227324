//! How the API describes turns, and the tool calls of a reply that is being written.

use crate::domain::Turn;
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::streams::events::TurnEventsQuery;
use crate::server::http::turns::api::{CreateTurnRequest, EditTurnRequest, ExchangeDetails, RetryTurnRequest};
use crate::server::http::turns::tool_calls::{ReplyStatus, ToolCallDecision};
use serde_json::json;
use turnleaf_service::turns::generations::Generation;

const UNPROCESSABLE_MESSAGE: &str =
    "`empty_message`, `parent_other_chat`, `out_of_range`, `invalid`: it is well formed and cannot be done.";
pub const SELECTION_MISMATCH: &str = "`selection_mismatch`: another text than `quote` is selected in that version.";
pub const UNKNOWN_REFERENCE: &str = "`not_found`; `version_gone`: a document has no such version.";
const BOUNDS: &str = "`too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached.";
const LOCKED: &str = "`branch_locked`, `model_unavailable`: `fork` is a body for `POST /api/chats/{id}/branches`.";

const REPLY_AFTERWARDS: &str = "The reply after that.";
const NOT_ASKED: &str = "`not_asked`: nothing of the sort is asked, or not any more.";

pub fn send_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "send", "Sends a message; the reply begins by itself.")
        .add_description(
            "It goes below `prev_turn_id`, else to the end of `branch_id`, else to the end of the first branch. What \
                 is not appended to the end of a branch gets a branch of its own. Follow the reply at `/events`.",
        )
        .request_body::<CreateTurnRequest>(json!({ "text": "Hello!", "client_request_id": "message-1" }))
        .created_response::<ExchangeDetails>("The message, and the reply that is pending.")
        .problem_response(409, LOCKED)
        .problem_response(409, "`turn_running`: the reply before is not over. `branch_moved`: somebody was faster.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn show_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "show_turn", "Shows a turn as it is now, with its blocks.")
        .response::<Turn>(200, "The turn.")
}

pub fn turn_as_markdown(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "turn_as_markdown", "Gives a turn as Markdown.")
        .add_description(
            "What a message quotes stands in it with where it is from; below a reply, what its message names.",
        )
        .custom_response(200, "The text.", "text/markdown", json!({ "type": "string" }))
}

pub fn edit_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "edit", "Sends a message in other words, beside the old one.")
        .add_description("With `text`, what is attached to the message goes along; `content` is all that there is.")
        .request_body::<EditTurnRequest>(json!({ "text": "Hello there!" }))
        .created_response::<ExchangeDetails>("The other message, and its reply.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(409, LOCKED)
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn retry_reply(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "retry", "Asks for another reply to the same message.")
        .add_description("Of a message whose replies are all deleted it asks for the reply.")
        .request_body::<RetryTurnRequest>(json!({ "params": { "temperature": 1.0 } }))
        .optional_request_body()
        .created_response::<ExchangeDetails>("The message, and the new reply beside the old one.")
        .problem_response(409, LOCKED)
        .problem_response(409, "`no_message`: the reply answers none.")
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn stop_reply(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "stop", "Stops a reply.")
        .add_description("Answers once the ending is stored. A reply that is over stays as it is.")
        .response::<Turn>(200, "The turn with its ending.")
}

pub fn follow_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "follow_turn", "Follows a reply to its end.")
        .add_description(EVENTS)
        .query_parameters::<TurnEventsQuery>()
        .request_header("Last-Event-ID", "The id of the last event that was seen; goes before `after`.")
        .custom_response(200, "The events.", "text/event-stream", json!({ "type": "string" }))
        .custom_response(200, "The events.", "application/x-ndjson", json!({ "type": "string" }))
        .empty_response(204, "The reply is over, and all of it was seen.")
}

pub fn list_generations(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "list_generations", "Lists the provider calls of a reply.")
        .list_response::<Generation>("The calls, in their order.")
}

pub fn show_generation(operation: ApiOperation) -> ApiOperation {
    operation.describe("Turns", "show_generation", "Shows a provider call.").response::<Generation>(200, "The call.")
}

pub fn show_raw(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "show_raw", "Gives the provider's answer as it came.")
        .add_description("Byte for byte, but for the server's own keys where the provider repeats them.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string" }))
}

pub fn decide_call(operation: ApiOperation) -> ApiOperation {
    operation.describe("Turns", "decide_call", "Says whether a tool call may run.")
        .add_description(
            "A call asks when its `status` is `awaiting_approval`; what it asks is in `block_metadata.approval`, and `hash` \
             says which question is answered. Answers once that is stored.",
        )
        .request_body::<ToolCallDecision>(json!({ "decision": "allow", "hash": "9f86d081884c7d65" }))
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_ASKED)
        .problem_response(409, "`approval_changed`: the call asks something else now.")
        .problem_response(422, "`invalid`: it is well formed and cannot be done.")
}

pub fn stop_call(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "stop_call", "Stops one tool call.")
        .add_description("The reply goes on with the others; the model is told. Answers once the end is stored.")
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_ASKED)
}

pub fn continue_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "continue_turn", "Lets a reply go on that paused by itself.")
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_ASKED)
}

const EVENTS: &str = "With `Accept: text/event-stream` (the default) each event has its name, `<turn>:<number>` as its id and \
    JSON as its data: `turn_status`, `generation_start`, `model_returned`, `attempt`, `block_start`, `block_delta`, \
    `block_update`, `block_end`, `usage`, `error`, `turn_end`. Beside the numbered ones there are `snapshot` (the whole \
    turn, in the place of all that was seen), `markup` and `heartbeat`. A connection that broke goes on behind \
    `Last-Event-ID`. An event that is not known may be passed over.\n\n\
    With `Accept: application/x-ndjson` it is a line of JSON for every piece of text or reasoning: \
    `{\"type\": \"text\" | \"thinking\", \"content\": \"…\", \"append\"?: true}`. Pieces of text follow each other; the first piece of \
    a reasoning block stands alone, the others say `append`.";
