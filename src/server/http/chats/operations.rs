//! OpenAPI descriptions of chats and of the views of a chat.

use crate::domain::blocks::content_block::ContentBlock;
use crate::domain::branches::tree::compact_tree::CompactTree;
use crate::domain::{Chat, limits};
use crate::server::http::branches::tree::{FullTurnTree, TreeQuery, TurnPath, TurnSiblings};
use crate::server::http::chats::api::{
    ChatDetails, ChatSummary, CreateChatRequest, ListChatsQuery, SetLastViewedRequest, UpdateChatRequest,
};
use crate::server::http::chats::copies::{ChatCopy, CopyChatRequest};
use crate::server::http::chats::find_in_chat::{FindInChatQuery, FindResults};
use crate::server::http::chats::path_views::{
    ListTurnsQuery, PathBlocks, PathGroups, PathMessages, PathPageQuery, PathTurns,
};
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::streams::account_events::AccountEventsQuery;
use crate::server::http::streams::socket::SocketQuery;
use serde_json::json;
use turnleaf_service::chats::titles::TitleSuggestion;

const LEAF: &str =
    "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at.";

const GROUPS: &str = "`leaf` is a turn of the path, by id or `ord`; defaults to the path the chat opens with. `skip` \
    and `limit` count groups, which are never split. A page ends early when its blocks are very long; `next_skip` is \
    the start of the next page and is missing at the end of the path.";

pub fn list_chats(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "list_chats", "Lists the newest chats.")
        .query_parameters::<ListChatsQuery>()
        .shared_response(404)
        .list_response::<ChatSummary>("The chats, most recently changed first.")
}

pub fn create_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "create_chat", "Creates a chat with its first branch.")
        .add_description("The branch uses `provider` and `model`, or the server's default.")
        .request_body::<CreateChatRequest>(json!({
            "title": "Names for a boat",
            "system_prompt": "Be brief.",
            "provider": "demo",
            "params": { "temperature": 0.7, "thinking": "low" },
            "client_request_id": "chat-1",
        }))
        .optional_request_body()
        .created_response::<ChatDetails>("The chat.")
        .shared_response(404)
        .problem_response(422, "`invalid`: unknown provider, or it has no default model.")
}

pub fn show_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "show_chat", "Shows a chat with its branches.")
        .response::<ChatDetails>(200, "The chat.")
}

pub fn change_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "change_chat", "Updates a chat. Omitted fields stay unchanged.")
        .add_description(
            "A changed prompt applies to branches without turns. A chat that moves to another project keeps its prompt.",
        )
        .request_body::<UpdateChatRequest>(json!({ "title": "Names for two boats", "pinned": true, "unread": false }))
        .response::<Chat>(200, "The updated chat.")
        .problem_response(422, "`invalid`: a value is not allowed.")
}

pub fn delete_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "delete_chat", "Moves a chat to Trash.")
        .add_description("Running replies are stopped first.")
        .empty_response(204, "It is in Trash.")
}

pub fn restore_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "restore_chat", "Restores a chat from Trash.")
        .response::<Chat>(200, "The chat.")
        .problem_response(409, "`not_in_trash`: it was not deleted.")
}

pub fn copy_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "copy_chat", "Copies the path to a reply into a new chat.")
        .request_body::<CopyChatRequest>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .created_response::<ChatCopy>("The new chat.")
        .problem_response(409, "`turn_running`: the reply is still running.")
        .problem_response(422, "`invalid`: unknown turn in this chat, or not a reply.")
}

pub fn suggest_title(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "suggest_title", "Asks the model of a chat for a title.")
        .add_description(
            "Sends the path that the chat opens at to the model of its branch, with an instruction behind it. Responds \
            when the request has ended; `status` is `complete`, `cancelled` if it was stopped, or `error` with the \
            reason. The title of the chat does not change. While a request of the chat runs, it is the result.",
        )
        .created_response::<TitleSuggestion>("The suggestion.")
        .problem_response(409, "`title_needs_reply`: the chat has no reply.")
        .problem_response(409, "`turn_running`: its last reply is still running.")
        .problem_response(409, "`model_unavailable`: the model cannot be used.")
        .problem_response(409, "`too_many_titles`: the chat has as many suggestions as it can have.")
        .shared_response(429)
}

pub fn stop_title(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "stop_title", "Stops the request for a title of a chat.")
        .add_description(
            "Responds when the end is saved; at once if none runs. The suggestion ends with the status `cancelled`.",
        )
        .empty_response(204, "None runs.")
}

pub fn show_title_suggestion(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "show_title_suggestion", "Shows a suggested title.")
        .response::<TitleSuggestion>(200, "The suggestion.")
}

pub fn show_title_request(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "show_title_request", "Returns the request for a title as it was sent.")
        .add_description("The body, with the hashes of images in the place of their bytes.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string" }))
}

pub fn show_title_response(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "show_title_response", "Returns the raw provider response to a request for a title.")
        .add_description("Unchanged, except that the server's own API keys are removed if the provider repeats them.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string" }))
}

pub fn set_last_viewed(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "set_last_viewed", "Saves the reading position.")
        .request_body::<SetLastViewedRequest>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .empty_response(204, "Saved.")
        .problem_response(422, "`invalid`: unknown turn in this chat.")
}

pub fn follow_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "follow_chat", "Streams a path over a WebSocket and accepts messages.")
        .add_description(SOCKET)
        .query_parameters::<SocketQuery>()
        .shared_response(429)
        .empty_response(101, "The connection switched to WebSocket.")
        .problem_response(403, "`cross_site`: sent from another site.")
        .problem_response(426, "`upgrade_required`: this is not a WebSocket handshake.")
}

pub fn follow_changes(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "follow_changes", "Tells what changes, until the connection ends.")
        .add_description(CHANGES)
        .query_parameters::<AccountEventsQuery>()
        .request_header("Last-Event-ID", "The id of the last event received; takes precedence over `after`.")
        .custom_response(200, "The events.", "text/event-stream", json!({ "type": "string" }))
}

pub fn list_turns(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_turns", "Lists a page of a path's turns with their blocks.")
        .add_description(
            "With `direction=both`, around `from`: a quarter before it, the rest after it; a side that needs less \
                leaves the rest to the other unless `strict=1`. Without `from`, around the last viewed turn or the \
                end of the path. `from` and `leaf` are ids or positions (`ord`).",
        )
        .query_parameters::<ListTurnsQuery>()
        .response_in_form::<PathTurns, ContentBlock>(
            "The turns, from the root.",
            ["PathTurnsInSeedForm", "PathTurnsAsNodes"],
        )
}

pub fn show_tree(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "show_tree", "Returns the shape of the whole tree.")
        .add_description(
            "With `format=compact`, a turn takes two bytes instead of about a hundred. The `ETag` is the chat's \
            revision.",
        )
        .query_parameters::<TreeQuery>()
        .request_header("If-None-Match", "The `ETag` of the known tree.")
        .one_of_response::<FullTurnTree, CompactTree>("The tree.")
        .empty_response(304, "It has not changed.")
        .problem_response(409, "`corrupt_tree`: a turn has no older parent; see `turnleaf fsck`.")
}

pub fn show_path(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "show_path", "Returns the path from the root to a turn.")
        .response::<TurnPath>(200, "The positions, without blocks.")
}

pub fn list_siblings(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_siblings", "Lists the versions of a turn.")
        .response::<TurnSiblings>(200, "The versions.")
}

pub fn find_in_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "find_in_chat", "Searches the turns of a path.")
        .add_description("Matches exact text, ignoring case. `leaf` is the last turn of the path.")
        .query_parameters::<FindInChatQuery>()
        .response::<FindResults>(200, "The number of matching turns, and the newest of them.")
}

pub fn list_groups(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_groups", "Returns a path as messages and replies.")
        .add_description(GROUPS)
        .query_parameters::<PathPageQuery>()
        .response::<PathGroups>(200, "The groups, with the reasoning of each reply.")
}

pub fn list_blocks(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_blocks", "Returns a path as one list of blocks.")
        .add_description(LEAF)
        .query_parameters::<PathPageQuery>()
        .response::<PathBlocks>(200, "The blocks, and how many the path has.")
}

pub fn list_messages(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_messages", "Returns a path as messages with one text each.")
        .add_description("Use `/blocks`: the order of texts and calls is lost here.")
        .mark_deprecated()
        .query_parameters::<PathPageQuery>()
        .limit_query_field("limit", limits::PAGE_MAX)
        .response::<PathMessages>(200, "The messages.")
}

const CHANGES: &str = "Server-sent events with one line of JSON each. They say what has changed and not what it is now: \
    load that with the other requests. A later change of the same subject replaces an earlier one that was not sent yet. \
    `id` rises; ignore unknown events and members.\n\n\
    `hello {id, now}` comes first. `reset {id}` says that changes may have been missed, because there was no cursor or \
    its changes are no longer known: load everything that you show. `chat_changed {chat_id}`, `chat_list_changed`, \
    `draft_changed {chat_id, rev?}` (`chat_id` is null for the chat that does not exist yet; without `rev` the draft \
    was sent), `unread_changed`, `notifications_changed` and `settings_changed` tell the changes. `heartbeat {now}` is \
    sent after 15 seconds of silence, `displaced` before the server closes the oldest stream of a client with too many.";

const SOCKET: &str = "Messages are JSON objects with a `type`. The protocol is the subprotocol `turnleaf.v1`, which \
    clients may offer; ignore unknown messages and members.\n\n\
    From the server: `hello {protocol, session_id, features}` first, `user_text_block {block}`, `assistant_text_start {block_id, sequence_number}`, `chunk {content, \
    block_id}`, `assistant_text_end {block_id, state, content?}`, `thinking_start`, `thinking_chunk` and \
    `thinking_end` of the same shapes, `tool_call_block {block}` (again whenever the call changes), \
    `tool_call_args_chunk {block_id, partial_args, append, preview?}`, `tool_result_block {block}`, `content_block {block}` for \
    other kinds, `end {session_id, turn_id, status}`, `error {message, code}`, `heartbeat {now}`. A `content` in an end \
    replaces the chunks before it. A `block` has the shape of `/blocks`. `partial_args` is the next piece of the \
    arguments, to be appended, and `preview` has all arguments so far, sent when they have grown by an eighth; with \
    `args=whole` that preview is `partial_args`.\n\n\
    To the server: `message {content, provider?, model?, params?, client_request_id?}`, where `content` is a string \
    or a list of blocks, and `cancel {}`. Invalid or failed messages get an `error`, and the connection stays \
    open.\n\n\
    A connection follows one branch and streams every reply that starts at its end, also those that other clients requested. If the end \
    was deleted, an `error` with the code `path_deleted` has the `turn_id` and `branch_id` it continues from; resend \
    a message that was in flight. A server that shuts down closes with 1001, a message that is too large gets 1009, \
    too many connections 1008.";
