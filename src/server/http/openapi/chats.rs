//! Chats, and following one.

use serde_json::json;

use super::operation::{Operation, operation};
use crate::domain::Chat;
use crate::server::http::chats::{ChatBody, ChatListed, ChatPatch, LastViewed, ListQuery, NewChatBody};
use crate::server::http::copies::{CopyBody, NewCopy};
use crate::server::http::socket::SocketQuery;

pub fn operations() -> Vec<Operation> {
    vec![
        operation("get", "/api/chats", ("Chats", "list_chats"), "Lists the newest chats.")
            .query::<ListQuery>()
            .lists::<ChatListed>("The chats, the one that changed last first."),
        operation("post", "/api/chats", ("Chats", "create_chat"), "Makes a chat with its first branch.")
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
            .refuses(422, "`invalid`: no such provider, or it has no default model."),
        operation("get", "/api/chats/{id}", ("Chats", "show_chat"), "Shows a chat with its branches.")
            .gives::<ChatBody>(200, "The chat."),
        operation("patch", "/api/chats/{id}", ("Chats", "change_chat"), "Changes a chat; what is not named stays.")
            .note("A changed prompt is for branches that have no turn yet.")
            .takes::<ChatPatch>(json!({ "title": "Names for two boats", "pinned": true, "archived": false }))
            .gives::<Chat>(200, "The chat as it is now.")
            .refuses(422, "`invalid`: a value cannot be."),
        operation("delete", "/api/chats/{id}", ("Chats", "delete_chat"), "Moves a chat to the trash.")
            .note("Running replies are stopped first.")
            .done(204, "It is in the trash."),
        operation("post", "/api/chats/{id}/restore", ("Chats", "restore_chat"), "Takes a chat out of the trash.")
            .gives::<Chat>(200, "The chat."),
        operation(
            "post",
            "/api/chats/{id}/copies",
            ("Chats", "copy_chat"),
            "Copies the path to a reply into a new chat.",
        )
        .takes::<NewCopy>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
        .makes::<CopyBody>("The new chat.")
        .refuses(409, "`turn_running`: the reply is not over.")
        .refuses(422, "`invalid`: no such turn in this chat, or no reply."),
        operation("put", "/api/chats/{id}/last-viewed", ("Chats", "set_last_viewed"), "Remembers where a reader was.")
            .takes::<LastViewed>(json!({ "turn_id": "0190b5b4-7c1e-7abc-8def-0123456789ab" }))
            .done(204, "It is remembered.")
            .refuses(422, "`invalid`: no such turn in this chat."),
        operation(
            "get",
            "/api/chats/{id}/ws",
            ("Chats", "follow_chat"),
            "Follows a path over a WebSocket and talks on it.",
        )
        .note(SOCKET)
        .query::<SocketQuery>()
        .may(429)
        .done(101, "The connection speaks WebSocket now.")
        .refuses(403, "`cross_site`: a browser's page of another site.")
        .refuses(426, "`upgrade_required`: this is no handshake."),
    ]
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
