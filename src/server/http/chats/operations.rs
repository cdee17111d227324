//! How the API describes chats, and the ways to read one.

use crate::domain::tree::compact::Compact;
use crate::domain::{Chat, limits};
use crate::server::http::branches::tree::{PathBody, SiblingsBody, TreeBody, TreeQuery};
use crate::server::http::chats::api::{ChatBody, ChatListed, ChatPatch, LastViewed, ListQuery, NewChatBody};
use crate::server::http::chats::copies::{CopyBody, NewCopy};
use crate::server::http::chats::find::{FindQuery, FoundBody};
use crate::server::http::chats::reading::{BlocksBody, GroupsBody, MessagesBody, PageQuery, TurnsBody, TurnsQuery};
use crate::server::http::openapi::operation::Operation;
use crate::server::http::streams::socket::SocketQuery;
use serde_json::json;

const LEAF: &str =
    "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at.";

const GROUPS: &str = "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at. `skip` and \
    `limit` count groups, which are never cut. A page ends sooner when its blocks are very long; `next_skip` says where \
    the next one begins, and is missing where the path ends.";

pub fn list_chats(operation: Operation) -> Operation {
    operation
        .of("Chats", "list_chats", "Lists the newest chats.")
        .query::<ListQuery>()
        .lists::<ChatListed>("The chats, the one that changed last first.")
}

pub fn create_chat(operation: Operation) -> Operation {
    operation
        .of("Chats", "create_chat", "Makes a chat with its first branch.")
        .note("The branch is locked to `provider` and `model`; without them, to the server's default.")
        .takes::<NewChatBody>(json!({
            "title": "Names for a boat",
            "system_prompt": "Be brief.",
            "provider": "demo",
            "params": { "temperature": 0.7, "thinking": "low" },
            "client_request_id": "chat-1",
        }))
        .optional()
        .makes::<ChatBody>("The chat.")
        .refuses(422, "`invalid`: no such provider, or it has no default model.")
}

pub fn show_chat(operation: Operation) -> Operation {
    operation.of("Chats", "show_chat", "Shows a chat with its branches.").gives::<ChatBody>(200, "The chat.")
}

pub fn change_chat(operation: Operation) -> Operation {
    operation
        .of("Chats", "change_chat", "Changes a chat; what is not named stays.")
        .note("A changed prompt is for branches that have no turn yet.")
        .takes::<ChatPatch>(json!({ "title": "Names for two boats", "pinned": true, "archived": false }))
        .gives::<Chat>(200, "The chat as it is now.")
        .refuses(422, "`invalid`: a value cannot be.")
}

pub fn delete_chat(operation: Operation) -> Operation {
    operation
        .of("Chats", "delete_chat", "Moves a chat to the trash.")
        .note("Running replies are stopped first.")
        .done(204, "It is in the trash.")
}

pub fn restore_chat(operation: Operation) -> Operation {
    operation.of("Chats", "restore_chat", "Takes a chat out of the trash.").gives::<Chat>(200, "The chat.")
}

pub fn copy_chat(operation: Operation) -> Operation {
    operation
        .of("Chats", "copy_chat", "Copies the path to a reply into a new chat.")
        .takes::<NewCopy>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .makes::<CopyBody>("The new chat.")
        .refuses(409, "`turn_running`: the reply is not over.")
        .refuses(422, "`invalid`: no such turn in this chat, or no reply.")
}

pub fn set_last_viewed(operation: Operation) -> Operation {
    operation
        .of("Chats", "set_last_viewed", "Remembers where a reader was.")
        .takes::<LastViewed>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .done(204, "It is remembered.")
        .refuses(422, "`invalid`: no such turn in this chat.")
}

pub fn follow_chat(operation: Operation) -> Operation {
    operation
        .of("Chats", "follow_chat", "Follows a path over a WebSocket and talks on it.")
        .note(SOCKET)
        .query::<SocketQuery>()
        .may(429)
        .done(101, "The connection speaks WebSocket now.")
        .refuses(403, "`cross_site`: a browser's page of another site.")
        .refuses(426, "`upgrade_required`: this is no handshake.")
}

pub fn list_turns(operation: Operation) -> Operation {
    operation.of("Reading", "list_turns", "Gives a page of a path's turns, with their blocks.")
            .note(
                "Around `from` with `direction=both`: a quarter before it, the rest after it, and what one side does not \
                 need is the other's unless `strict=1`. Without `from`, around the turn that was viewed last, else the end \
                 of the path. `from` and `leaf` are ids or places (`ord`).",
            )
            .query::<TurnsQuery>()
            .gives::<TurnsBody>(200, "The turns, root side first.")
}

pub fn show_tree(operation: Operation) -> Operation {
    operation
        .of("Reading", "show_tree", "Gives the shape of the whole tree.")
        .note("With `format=compact` a turn takes two bytes instead of a hundred. The `ETag` is the chat's revision.")
        .query::<TreeQuery>()
        .header("If-None-Match", "The `ETag` of the tree that is there.")
        .gives_one_of::<TreeBody, Compact>("The tree.")
        .done(304, "It has not changed.")
        .refuses(409, "`corrupt_tree`: a turn hangs on none that is older; `turnleaf fsck` says more.")
}

pub fn show_path(operation: Operation) -> Operation {
    operation
        .of("Reading", "show_path", "Gives the way from the root to a turn.")
        .gives::<PathBody>(200, "The places, without blocks.")
}

pub fn list_siblings(operation: Operation) -> Operation {
    operation
        .of("Reading", "list_siblings", "Lists the versions of a turn.")
        .gives::<SiblingsBody>(200, "The versions.")
}

pub fn find_in_chat(operation: Operation) -> Operation {
    operation
        .of("Reading", "find_in_chat", "Finds the turns of a path that have some words.")
        .note("Letter for letter, in any case. `leaf` names the turn that the path ends with.")
        .query::<FindQuery>()
        .gives::<FoundBody>(200, "How many turns have them, and the newest of those.")
}

pub fn list_groups(operation: Operation) -> Operation {
    operation
        .of("Reading", "list_groups", "Gives a path as messages and their replies.")
        .note(GROUPS)
        .query::<PageQuery>()
        .gives::<GroupsBody>(200, "The groups, and what of a reply is reasoning.")
}

pub fn list_blocks(operation: Operation) -> Operation {
    operation
        .of("Reading", "list_blocks", "Gives a path as one list of blocks.")
        .note(LEAF)
        .query::<PageQuery>()
        .gives::<BlocksBody>(200, "The blocks, and how many the path has.")
}

pub fn list_messages(operation: Operation) -> Operation {
    operation
        .of("Reading", "list_messages", "Gives a path as messages of one text each.")
        .note("Use `/blocks`: the order of texts and calls is lost here.")
        .deprecated()
        .query::<PageQuery>()
        .most("limit", limits::PAGE_MAX)
        .gives::<MessagesBody>(200, "The messages.")
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
