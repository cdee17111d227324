//! How the API describes tools.

use crate::domain::tool::ToolChoice;
use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::tools::api::{
    BranchToolSelection, ChatToolSelection, SaveToolServerRequest, SetToolPolicyRequest, ToolCatalog, ToolPolicyRule,
    ToolServerWithNotices,
};
use serde_json::json;
use turnleaf_service::tools::servers::{ToolServerView, ToolView};

const LOCKED: &str = "`server_locked`: the configuration file sets it.";
const CHOICE: &str = "The choice, and what a new branch would be given of it now.";
const NO_PROGRAMS: &str = "`program_refused`: programs are named in the configuration file alone. `cross_site`: a \
    browser sent this from another site.";

pub fn list_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tools", "Lists all tools.")
        .response::<ToolCatalog>(200, "The tools with what happens when a model calls them, and what new chats get.")
}

pub fn set_default_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_default_tools", "Sets which tools new chats get.")
        .request_body::<ToolChoice>(json!({ "on": [] }))
        .response::<ToolChoice>(200, "What new chats get.")
        .problem_response(422, INVALID_VALUE)
}

pub fn show_chat_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_chat_tools", "Shows which tools a chat offers.")
        .response::<ChatToolSelection>(200, CHOICE)
}

pub fn choose_chat_tools(operation: ApiOperation) -> ApiOperation {
    let client_tool = json!({
        "name": "look_up",
        "description": "Looks something up in the client.",
        "parameters": { "type": "object", "properties": { "key": { "type": "string" } }, "required": ["key"] },
    });
    operation
        .describe("Tools", "choose_chat_tools", "Chooses the tools of a chat.")
        .add_description(
            "For branches that have no turn yet, and for those that begin from now on. `on` names tools as \
                 `/api/tools` does, or whole servers as `server/*`. `client` are tools that the client runs: a call \
                 of one ends the turn with the call `handed_over`, and its result is sent in the next message as \
                 `{\"type\": \"tool_result\", \"tool_use_id\", \"result\", \"is_error\"}`.",
        )
        .request_body::<ToolChoice>(json!({ "on": [], "client": [client_tool] }))
        .response::<ChatToolSelection>(200, CHOICE)
        .problem_response(422, INVALID_VALUE)
}

pub fn use_chat_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Tools",
            "use_chat_tools",
            "Gives a branch the tools that its chat offers now, from its next message on.",
        )
        .add_description("The provider's cache of what went before is of no use then.")
        .response::<BranchToolSelection>(200, "What the branch offers.")
        .problem_response(409, "`turn_running`: a reply of the branch is not over.")
}

pub fn list_tool_policies(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tool_policies", "Lists what was said about tools.")
        .list_response::<ToolPolicyRule>("The answers that last, for all chats and for single ones.")
}

pub fn set_tool_policy(operation: ApiOperation) -> ApiOperation {
    operation.describe("Tools", "set_tool_policy", "Says once and for all what happens when a model calls a tool.")
        .add_description(
            "`allow` holds for the tool as it describes itself now; when it changes, it asks again. `ask` takes back \
             what was allowed in single chats and for single hosts too. `fetch_page` is allowed for one host at a time: \
             `host` names it, and `ask` with a host takes it back. Once a chat holds text that its owner did not write (a \
             page, a result of a tool or of a provider's search, an image or a file), `search_chats` asks too, unless it \
             was allowed by an answer that lasts.",
        )
        .request_body::<SetToolPolicyRequest>(json!({ "server": "files", "tool": "read_file", "policy": "ask" }))
        .response::<ToolView>(200, "The tool with what happens now.")
        .problem_response(422, INVALID_VALUE)
        .shared_response(404)
}

pub fn list_tool_servers(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tool_servers", "Lists the servers of tools.")
        .list_response::<ToolServerView>("The servers, with what each offers or offered last.")
}

pub fn add_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "add_tool_server", "Connects a server of tools over HTTP.")
        .add_description("`name` and `url` are needed. It is asked for its tools by itself.")
        .request_body::<SaveToolServerRequest>(json!({ "name": "Maps", "url": "https://maps.example/mcp" }))
        .created_response::<ToolServerWithNotices>("The server.")
        .problem_response(403, NO_PROGRAMS)
        .problem_response(409, "`too_many_servers`: a bound is reached.")
        .problem_response(422, INVALID_VALUE)
}

pub fn change_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "change_tool_server", "Changes a server; what is not named stays.")
        .add_description(
            "A new address clears the headers unless they come with it, and takes back what was said about the tools.",
        )
        .request_body::<SaveToolServerRequest>(json!({ "is_enabled": false }))
        .response::<ToolServerWithNotices>(200, "The server as it is now.")
        .problem_response(403, NO_PROGRAMS)
        .problem_response(409, LOCKED)
        .problem_response(422, INVALID_VALUE)
}

pub fn remove_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "remove_tool_server", "Removes a server.")
        .add_description("What was said about its tools is forgotten; calls of them are refused.")
        .empty_response(204, "It is gone.")
        .problem_response(409, LOCKED)
}

pub fn restart_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "restart_tool_server", "Begins a server anew, whatever happened before.")
        .response::<ToolServerView>(200, "The server, which may still be starting.")
        .problem_response(409, "`server_off`: it is switched off, or its headers cannot be opened.")
}

pub fn show_blob(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_blob", "Shows bytes that a message, a tool's result or a document names.")
        .add_description("Only pictures (PNG, JPEG, GIF, WebP) are given as such; all else is to be saved.")
        .request_header("If-None-Match", "The `ETag` of an earlier answer.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string", "format": "binary" }))
        .custom_response(200, "The bytes.", "text/plain", json!({ "type": "string" }))
        .custom_response(200, "The bytes.", "image/*", json!({ "type": "string", "format": "binary" }))
        .empty_response(304, "They are known.")
}
