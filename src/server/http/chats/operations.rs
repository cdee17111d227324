//! How the API describes chats, and the ways to read one.

use crate::domain::tree::compact_tree::CompactTree;
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
use crate::server::http::streams::socket::SocketQuery;
use serde_json::json;

const LEAF: &str =
    "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at.";

const GROUPS: &str = "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at. `skip` and \
    `limit` count groups, which are never cut. A page ends sooner when its blocks are very long; `next_skip` says where \
    the next one begins, and is missing where the path ends.";

pub fn list_chats(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "list_chats", "Lists the newest chats.")
        .query_parameters::<ListChatsQuery>()
        .list_response::<ChatSummary>("The chats, the one that changed last first.")
}

pub fn create_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "create_chat", "Makes a chat with its first branch.")
        .add_description("The branch is locked to `provider` and `model`; without them, to the server's default.")
        .request_body::<CreateChatRequest>(json!({
            "title": "Names for a boat",
            "system_prompt": "Be brief.",
            "provider": "demo",
            "params": { "temperature": 0.7, "thinking": "low" },
            "client_request_id": "chat-1",
        }))
        .optional_request_body()
        .created_response::<ChatDetails>("The chat.")
        .problem_response(422, "`invalid`: no such provider, or it has no default model.")
}

pub fn show_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "show_chat", "Shows a chat with its branches.")
        .response::<ChatDetails>(200, "The chat.")
}

pub fn change_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "change_chat", "Changes a chat; what is not named stays.")
        .add_description("A changed prompt is for branches that have no turn yet.")
        .request_body::<UpdateChatRequest>(json!({ "title": "Names for two boats", "pinned": true, "archived": false }))
        .response::<Chat>(200, "The chat as it is now.")
        .problem_response(422, "`invalid`: a value cannot be.")
}

pub fn delete_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "delete_chat", "Moves a chat to the trash.")
        .add_description("Running replies are stopped first.")
        .empty_response(204, "It is in the trash.")
}

pub fn restore_chat(operation: ApiOperation) -> ApiOperation {
    operation.describe("Chats", "restore_chat", "Takes a chat out of the trash.").response::<Chat>(200, "The chat.")
}

pub fn copy_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "copy_chat", "Copies the path to a reply into a new chat.")
        .request_body::<CopyChatRequest>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .created_response::<ChatCopy>("The new chat.")
        .problem_response(409, "`turn_running`: the reply is not over.")
        .problem_response(422, "`invalid`: no such turn in this chat, or no reply.")
}

pub fn set_last_viewed(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "set_last_viewed", "Remembers where a reader was.")
        .request_body::<SetLastViewedRequest>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .empty_response(204, "It is remembered.")
        .problem_response(422, "`invalid`: no such turn in this chat.")
}

pub fn follow_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Chats", "follow_chat", "Follows a path over a WebSocket and talks on it.")
        .add_description(SOCKET)
        .query_parameters::<SocketQuery>()
        .shared_response(429)
        .empty_response(101, "The connection speaks WebSocket now.")
        .problem_response(403, "`cross_site`: a browser's page of another site.")
        .problem_response(426, "`upgrade_required`: this is no handshake.")
}

pub fn list_turns(operation: ApiOperation) -> ApiOperation {
    operation.describe("Reading", "list_turns", "Gives a page of a path's turns, with their blocks.")
            .add_description(
                "Around `from` with `direction=both`: a quarter before it, the rest after it, and what one side does not \
                 need is the other's unless `strict=1`. Without `from`, around the turn that was viewed last, else the end \
                 of the path. `from` and `leaf` are ids or places (`ord`).",
            )
            .query_parameters::<ListTurnsQuery>()
            .response::<PathTurns>(200, "The turns, root side first.")
}

pub fn show_tree(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "show_tree", "Gives the shape of the whole tree.")
        .add_description(
            "With `format=compact` a turn takes two bytes instead of a hundred. The `ETag` is the chat's revision.",
        )
        .query_parameters::<TreeQuery>()
        .request_header("If-None-Match", "The `ETag` of the tree that is there.")
        .one_of_response::<FullTurnTree, CompactTree>("The tree.")
        .empty_response(304, "It has not changed.")
        .problem_response(409, "`corrupt_tree`: a turn hangs on none that is older; `turnleaf fsck` says more.")
}

pub fn show_path(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "show_path", "Gives the way from the root to a turn.")
        .response::<TurnPath>(200, "The places, without blocks.")
}

pub fn list_siblings(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_siblings", "Lists the versions of a turn.")
        .response::<TurnSiblings>(200, "The versions.")
}

pub fn find_in_chat(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "find_in_chat", "Finds the turns of a path that have some words.")
        .add_description("Letter for letter, in any case. `leaf` names the turn that the path ends with.")
        .query_parameters::<FindInChatQuery>()
        .response::<FindResults>(200, "How many turns have them, and the newest of those.")
}

pub fn list_groups(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_groups", "Gives a path as messages and their replies.")
        .add_description(GROUPS)
        .query_parameters::<PathPageQuery>()
        .response::<PathGroups>(200, "The groups, and what of a reply is reasoning.")
}

pub fn list_blocks(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_blocks", "Gives a path as one list of blocks.")
        .add_description(LEAF)
        .query_parameters::<PathPageQuery>()
        .response::<PathBlocks>(200, "The blocks, and how many the path has.")
}

pub fn list_messages(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Reading", "list_messages", "Gives a path as messages of one text each.")
        .add_description("Use `/blocks`: the order of texts and calls is lost here.")
        .mark_deprecated()
        .query_parameters::<PathPageQuery>()
        .limit_query_field("limit", limits::PAGE_MAX)
        .response::<PathMessages>(200, "The messages.")
}

const SOCKET: &str = "Messages are JSON objects with a `type`.\n\n\
    From the server: `user_text_block {block}`, `assistant_text_start {block_id, sequence_number}`, \
    `chunk {content, block_id}`, `assistant_text_end {block_id, state, content?}`, `thinking_start`, `thinking_chunk` and \
    `thinking_end` of the same shapes, `tool_call_block {block}` (again whenever the call moves on), \
    `tool_call_args_chunk {block_id, partial_args}`, `tool_result_block {block}`, `content_block {block}` for other kinds, \
    `end {session_id, turn_id, status}`, `error {message, code}`, `heartbeat {now}`. A `content` in an end replaces what \
    the chunks said. A `block` is as `/blocks` has it.\n\n\
    To the server: `message {content, provider?, model?, params?, client_request_id?}`, where `content` is a text or a \
    list of blocks, and `cancel {}`. What cannot be understood or done gets an `error`, and the connection goes on.\n\n\
    A connection follows one branch: every reply that is begun at its end is sent, whoever began it. Where its end was \
    deleted, an `error` with the code `path_deleted` names the `turn_id` and `branch_id` that it goes on from, and a message \
    that was on its way is to be sent again. A server that goes \
    down closes with 1001, a message that is too large gets 1009, too many at once 1008.";
