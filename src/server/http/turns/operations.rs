//! OpenAPI descriptions of turns, and of the tool calls of a running reply.

use crate::domain::Turn;
use crate::domain::blocks::content_block::ContentBlock;
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::response::block_form::BlockFormQuery;
use crate::server::http::streams::events::TurnEventsQuery;
use crate::server::http::turns::api::{CreateTurnRequest, EditTurnRequest, ExchangeDetails, RetryTurnRequest};
use crate::server::http::turns::elicitations::AnswerElicitationRequest;
use crate::server::http::turns::queue::{ChangeQueuedMessageRequest, QueueMessageRequest};
use crate::server::http::turns::tool_calls::{ReplyStatus, ToolCallDecision};
use serde_json::json;
use turnleaf_service::turns::generations::Generation;
use turnleaf_service::turns::queue::QueuedMessage;

const UNPROCESSABLE_MESSAGE: &str =
    "`empty_message`, `parent_other_chat`, `out_of_range`, `invalid`: the request is valid but cannot be done.";
pub const SELECTION_MISMATCH: &str = "`selection_mismatch`: the selected text in that version differs from `quote`.";
pub const UNKNOWN_REFERENCE: &str = "`not_found`; `version_gone`: a document version does not exist.";
const BOUNDS: &str = "`too_many_siblings`, `too_many_turns`, `too_many_branches`: a limit is reached.";
const LOCKED: &str = "`branch_locked`, `model_unavailable`: `fork` is a body for `POST /api/chats/{id}/branches`.";

const REPLY_AFTERWARDS: &str = "The updated reply.";
const QUEUED_MESSAGE_SENT: &str = "`queued_message_sent`: the message was sent already.";
const NOT_OPEN: &str = "`not_asked`: there is no open request, or it is no longer open.";

pub fn send_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "send", "Sends a message and starts the reply.")
        .add_description(
            "It is added below `prev_turn_id`, else at the end of `branch_id`, else at the end of the first branch; \
            with `\"prev_turn_id\": null`, as a new root. A message not added to the end of a branch gets a new \
            branch. Follow the reply at `/events`.",
        )
        .request_body::<CreateTurnRequest>(json!({ "text": "Hello!", "client_request_id": "message-1" }))
        .created_response::<ExchangeDetails>("The message and its pending reply.")
        .problem_response(409, LOCKED)
        .problem_response(
            409,
            "`turn_running`: the reply before is still running. `branch_moved`: the branch was \
            changed at the same time.",
        )
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn show_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "show_turn", "Shows a turn with its blocks.")
        .query_parameters::<BlockFormQuery>()
        .response_in_form::<Turn, ContentBlock>("The turn.", ["TurnInSeedForm", "TurnAsNode"])
}

pub fn turn_as_markdown(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "turn_as_markdown", "Returns a turn as Markdown.")
        .add_description(
            "Quoted text is included with its source; for a reply, the sources of its message follow below.",
        )
        .custom_response(200, "The text.", "text/markdown", json!({ "type": "string" }))
}

pub fn edit_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "edit", "Sends an edited message as a new version.")
        .add_description("With `text`, the message's attachments are kept; `content` replaces everything.")
        .request_body::<EditTurnRequest>(json!({ "text": "Hello there!" }))
        .created_response::<ExchangeDetails>("The new message and its reply.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(409, LOCKED)
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn retry_reply(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "retry", "Retries: requests another reply to the same message.")
        .add_description("For a message without replies, requests a reply.")
        .request_body::<RetryTurnRequest>(json!({ "params": { "temperature": 1.0 } }))
        .optional_request_body()
        .created_response::<ExchangeDetails>("The message and the new reply.")
        .problem_response(409, LOCKED)
        .problem_response(409, "`no_message`: the reply does not belong to a message.")
        .problem_response(409, BOUNDS)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
        .shared_response(429)
}

pub fn stop_reply(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "stop", "Stops a reply.")
        .add_description("Responds when the end is saved. A finished reply does not change.")
        .response::<Turn>(200, "The ended turn.")
}

pub fn queue_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "queue_message", "Queues a message behind a reply.")
        .add_description(
            "It is sent when the reply is complete, after the messages queued before it; at once if the reply is \
            complete already. If the path has continued behind the reply, the message is queued at its end. After a \
            reply that was stopped or failed, nothing is sent by itself.",
        )
        .request_body::<QueueMessageRequest>(json!({ "text": "And in winter?", "client_request_id": "queued-1" }))
        .created_response::<QueuedMessage>("The queued message.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(409, "`queue_full`: the queue has as many messages as it can have.")
        .problem_response(409, "`model_unavailable`: the model cannot be used.")
        .problem_response(422, UNPROCESSABLE_MESSAGE)
}

pub fn list_queue(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "list_queue", "Lists the messages queued behind a reply.")
        .add_description("Messages that were sent are no longer listed.")
        .list_response::<QueuedMessage>("The messages, in order.")
}

pub fn show_queued_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "show_queued_message", "Shows a queued message.")
        .add_description("After it was sent, `turn_id` is the message that it became.")
        .response::<QueuedMessage>(200, "The message.")
}

pub fn change_queued_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "change_queued_message", "Edits or moves a queued message.")
        .add_description(
            "Omitted fields stay unchanged. With `text`, the attachments are kept; `content` replaces everything. An \
            edit clears the refusal.",
        )
        .request_body::<ChangeQueuedMessageRequest>(json!({ "text": "And in autumn?", "position": 1 }))
        .response::<QueuedMessage>(200, "The changed message.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, QUEUED_MESSAGE_SENT)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(422, UNPROCESSABLE_MESSAGE)
}

pub fn cancel_queued_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "cancel_queued_message", "Cancels a queued message.")
        .empty_response(204, "It is cancelled.")
        .problem_response(409, QUEUED_MESSAGE_SENT)
}

pub fn send_queued_message(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "send_queued_message", "Sends a queued message now.")
        .add_description("Also before those in front of it, and after a reply that was stopped or failed.")
        .response::<ExchangeDetails>(200, "The message and its pending reply.")
        .problem_response(409, QUEUED_MESSAGE_SENT)
        .problem_response(409, "`turn_running`: the reply is still running.")
        .problem_response(409, "`queued_message_refused`: it cannot be sent as it is; edit it, or cancel it.")
        .shared_response(429)
}

pub fn follow_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "follow_turn", "Streams a reply until it ends.")
        .add_description(EVENTS)
        .query_parameters::<TurnEventsQuery>()
        .request_header("Last-Event-ID", "The id of the last event received; takes precedence over `after`.")
        .custom_response(200, "The events.", "text/event-stream", json!({ "type": "string" }))
        .custom_response(200, "The events.", "application/x-ndjson", json!({ "type": "string" }))
        .empty_response(204, "The reply has ended, and all events were received.")
}

pub fn list_generations(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "list_generations", "Lists the provider requests of a reply.")
        .list_response::<Generation>("The requests, in order.")
}

pub fn show_generation(operation: ApiOperation) -> ApiOperation {
    operation.describe("Turns", "show_generation", "Shows a provider request.").response::<Generation>(200, "The call.")
}

pub fn show_raw(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "show_raw", "Returns the raw provider response.")
        .add_description("Unchanged, except that the server's own API keys are removed if the provider repeats them.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string" }))
}

pub fn decide_call(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "decide_call", "Approves or declines a tool call.")
        .add_description(
            "A call needs approval when its `status` is `awaiting_approval`; see `block_metadata.approval`. `hash` \
            identifies the request you answer. `allow_server` also allows all tools that its server lists now, in \
            every chat. With `arguments`, the call is allowed with these; both versions are kept, and the model is told. \
            Responds when the answer is saved.",
        )
        .request_body::<ToolCallDecision>(json!({ "decision": "allow", "hash": "9f86d081884c7d65" }))
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_OPEN)
        .problem_response(409, "`approval_changed`: the approval request has changed.")
        .problem_response(422, "`invalid`: the request is valid but cannot be done.")
}

pub fn answer_call(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "answer_call", "Answers a question of a tool server during a call.")
        .add_description(
            "A running call may ask: see `block_metadata.elicitations`, where an open question has no `outcome`. \
            `content` has a member for each field of the form. The answer becomes part of the chat and goes to the \
            server, not to the model. Responds when it is saved.",
        )
        .request_body::<AnswerElicitationRequest>(json!({
            "elicitation_id": "0193b2a4-7c00-7000-8000-000000000001", "action": "accept", "content": { "city": "Bergen" },
        }))
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_OPEN)
        .problem_response(422, "`invalid`: the content does not fit the form.")
}

pub fn stop_call(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "stop_call", "Stops one tool call.")
        .add_description(
            "The reply continues with the others, and the model is informed. Responds when the end is \
            saved.",
        )
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_OPEN)
}

pub fn continue_turn(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Turns", "continue_turn", "Resumes a paused reply.")
        .response::<ReplyStatus>(200, REPLY_AFTERWARDS)
        .problem_response(409, NOT_OPEN)
}

const EVENTS: &str = "With `Accept: text/event-stream` (the default), each event has its name, `<turn>:<number>` as \
    its id and JSON as its data: `turn_status`, `generation_start`, `model_returned`, `attempt`, `block_start`, \
    `block_delta`, `block_update`, `call_edited`, `block_end`, `usage`, `error`, `turn_end`. Unnumbered events are \
    `snapshot` (the whole turn; replaces everything received so far), `markup` and `heartbeat`. After a lost \
    connection, resume after `Last-Event-ID`. Ignore unknown events.\n\n\
    With `Accept: application/x-ndjson`, each piece of text or reasoning is one line of JSON: `{\"type\": \"text\" | \
    \"thinking\", \"content\": \"…\", \"append\"?: true}`. Pieces of text follow each other; the first piece of a \
    reasoning block stands alone, the others have `append`. With `signatures=1`, `{\"type\": \"thinking_signature\", \
    \"content\"}` follows reasoning that its provider has signed.";
