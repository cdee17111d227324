//! Turns: sending, following, and what was asked of providers.

use serde_json::json;

use super::operation::{Operation, operation};
use crate::domain::Turn;
use crate::server::http::events::EventsQuery;
use crate::server::http::turns::{Edit, NewTurn, Retry, StartedBody};
use turnleaf_service::turns::generations::Generation;

const NOT_DOABLE: &str =
    "`empty_message`, `parent_other_chat`, `out_of_range`, `invalid`: it is well formed and cannot be done.";
const ATTACHED: &str = "`selection_mismatch`: another text than `quote` is selected in that version.";
const NAMES: &str = "`not_found`; `version_gone`: a document has no such version.";
const BOUNDS: &str = "`too_many_siblings`, `too_many_turns`, `too_many_branches`: a bound is reached.";
const LOCKED: &str = "`branch_locked`, `model_unavailable`: `fork` is a body for `POST /api/chats/{id}/branches`.";

pub fn operations() -> Vec<Operation> {
    vec![
        operation("post", "/api/chats/{id}/turns", ("Turns", "send"), "Sends a message; the reply begins by itself.")
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
            .may(429),
        operation("get", "/api/turns/{id}", ("Turns", "show_turn"), "Shows a turn as it is now, with its blocks.")
            .gives::<Turn>(200, "The turn."),
        operation("get", "/api/turns/{id}/markdown", ("Turns", "turn_as_markdown"), "Gives a turn as Markdown.")
            .note("What a message quotes stands in it with where it is from; below a reply, what its message names.")
            .answer(200, "The text.", "text/markdown", json!({ "type": "string" })),
        operation("post", "/api/turns/{id}/edit", ("Turns", "edit"), "Sends a message in other words, beside the old one.")
            .note("With `text`, what is attached to the message goes along; `content` is all that there is.")
            .takes::<Edit>(json!({ "text": "Hello there!" }))
            .makes::<StartedBody>("The other message, and its reply.")
            .refuses(404, NAMES)
            .refuses(409, ATTACHED)
            .refuses(409, LOCKED)
            .refuses(409, BOUNDS)
            .refuses(422, NOT_DOABLE)
            .may(429),
        operation("post", "/api/turns/{id}/retry", ("Turns", "retry"), "Asks for another reply to the same message.")
            .note("Of a message whose replies are all deleted it asks for the reply.")
            .takes::<Retry>(json!({ "params": { "temperature": 1.0 } }))
            .optional()
            .makes::<StartedBody>("The message, and the new reply beside the old one.")
            .refuses(409, LOCKED)
            .refuses(409, "`no_message`: the reply answers none.")
            .refuses(409, BOUNDS)
            .refuses(422, NOT_DOABLE)
            .may(429),
        operation("post", "/api/turns/{id}/stop", ("Turns", "stop"), "Stops a reply.")
            .note("Answers once the ending is stored. A reply that is over stays as it is.")
            .gives::<Turn>(200, "The turn with its ending."),
        operation("get", "/api/turns/{id}/events", ("Turns", "follow_turn"), "Follows a reply to its end.")
            .note(EVENTS)
            .query::<EventsQuery>()
            .header("Last-Event-ID", "The id of the last event that was seen; goes before `after`.")
            .answer(200, "The events.", "text/event-stream", json!({ "type": "string" }))
            .answer(200, "The events.", "application/x-ndjson", json!({ "type": "string" }))
            .done(204, "The reply is over, and all of it was seen."),
        operation("get", "/api/turns/{id}/generations", ("Turns", "list_generations"), "Lists the provider calls of a reply.")
            .lists::<Generation>("The calls, in their order."),
        operation("get", "/api/generations/{id}", ("Turns", "show_generation"), "Shows a provider call.")
            .gives::<Generation>(200, "The call."),
        operation("get", "/api/generations/{id}/raw", ("Turns", "show_raw"), "Gives the provider's answer as it came.")
            .note("Byte for byte, but for the server's own keys where the provider repeats them.")
            .answer(200, "The bytes.", "application/octet-stream", json!({ "type": "string" })),
    ]
}

const EVENTS: &str = "With `Accept: text/event-stream` (the default) each event has its name, `<turn>:<number>` as its id and \
    JSON as its data: `turn_status`, `generation_start`, `model_returned`, `attempt`, `block_start`, `block_delta`, \
    `block_update`, `block_end`, `usage`, `error`, `turn_end`. Beside the numbered ones there are `snapshot` (the whole \
    turn, in the place of all that was seen), `markup` and `heartbeat`. A connection that broke goes on behind \
    `Last-Event-ID`. An event that is not known may be passed over.\n\n\
    With `Accept: application/x-ndjson` it is a line of JSON for every piece of text or reasoning: \
    `{\"type\": \"text\" | \"thinking\", \"content\": \"…\", \"append\"?: true}`. Pieces of text follow each other; the first piece of \
    a reasoning block stands alone, the others say `append`.";
