//! OpenAPI descriptions of tools.

use crate::domain::tools::tool::ToolChoice;
use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::tools::api::{
    BranchToolSelection, ChatToolSelection, SaveToolServerRequest, SetServerInstructionsRequest,
    SetServerPolicyRequest, SetToolPolicyRequest, ToolCatalog, ToolPolicyRule, ToolServerWithNotices,
};
use crate::server::http::tools::content::{
    AttachServerResourceRequest, ServerPromptRequest, ServerPromptText, ServerResourceAttachment, SuggestValuesRequest,
    SuggestedValues,
};
use crate::server::http::tools::web_search::SetWebSearchRequest;
use serde_json::json;
use turnleaf_service::tools::server_content::ServerCatalogView;
use turnleaf_service::tools::servers::{ToolServerView, ToolView};
use turnleaf_service::tools::web_search::WebSearchView;

const LOCKED: &str = "`server_locked`: the configuration file sets it.";
const SEARCH_LOCKED: &str = "`search_locked`: the configuration sets it.";
const CHOICE: &str = "The selection, and the tools a new branch would get now.";
const NO_PROGRAMS: &str = "`program_refused`: programs can only be set in the configuration file. `password_needed`: the \
    password has to be entered again. `cross_site`: a browser sent this from another site.";

pub fn list_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tools", "Lists all tools.")
        .response::<ToolCatalog>(200, "The tools with their permissions, and what new chats get.")
}

pub fn set_default_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_default_tools", "Sets the tools of new chats.")
        .request_body::<ToolChoice>(json!({ "on": [] }))
        .response::<ToolChoice>(200, "The tools of new chats.")
        .problem_response(422, INVALID_VALUE)
}

pub fn show_chat_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_chat_tools", "Shows the tools of a chat.")
        .response::<ChatToolSelection>(200, CHOICE)
}

pub fn choose_chat_tools(operation: ApiOperation) -> ApiOperation {
    let client_tool = json!({
        "name": "look_up",
        "description": "Looks something up in the client.",
        "parameters": { "type": "object", "properties": { "key": { "type": "string" } }, "required": ["key"] },
    });
    operation
        .describe("Tools", "choose_chat_tools", "Sets the tools of a chat.")
        .add_description(
            "Applies to branches without turns and to new branches. `on` lists tools as in `/api/tools`, or whole \
            servers as `server/*`. `client` are tools the client runs: a call of one ends the turn with the call \
            `handed_over`, and its result is sent in the next message as `{\"type\": \"tool_result\", \
            \"tool_use_id\", \"result\", \"is_error\"}`.",
        )
        .request_body::<ToolChoice>(json!({ "on": [], "client": [client_tool] }))
        .response::<ChatToolSelection>(200, CHOICE)
        .problem_response(422, INVALID_VALUE)
}

pub fn use_chat_tools(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "use_chat_tools", "Applies the chat's current tools to a branch from its next message.")
        .add_description("This invalidates the provider's prompt cache.")
        .response::<BranchToolSelection>(200, "The tools of the branch.")
        .problem_response(409, "`turn_running`: a reply on the branch is still running.")
}

pub fn list_tool_policies(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tool_policies", "Lists tool permissions.")
        .list_response::<ToolPolicyRule>("The saved permissions, for all chats and for single chats.")
}

pub fn set_tool_policy(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_tool_policy", "Sets the permission of a tool.")
        .add_description(
            "`allow` applies to the tool's current description; if it changes, the tool asks again. `ask` also \
            revokes permissions in single chats and for single hosts. `null` removes the permission, so that the one \
            of the tool's server applies. `fetch_page` is allowed per host: set `host`; \
            `ask` with a host revokes it. Once a chat contains text its owner did not write (a page, a result of a \
            tool or of a provider's search, an image or a file), `search_chats` also asks, unless a saved permission \
            allows it.",
        )
        .request_body::<SetToolPolicyRequest>(json!({ "server": "files", "tool": "read_file", "policy": "ask" }))
        .response::<ToolView>(200, "The tool with its new permission.")
        .problem_response(422, INVALID_VALUE)
        .shared_response(404)
}

pub fn set_server_policy(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_server_policy", "Sets the permission of all tools of a server.")
        .add_description(
            "It applies to tools without a permission of their own, in all chats. `allow` covers the tools that the \
            server lists now, with their current descriptions; new and changed tools ask. `never` also ends what was \
            allowed in single chats. `null` removes the permission.",
        )
        .request_body::<SetServerPolicyRequest>(json!({ "policy": "ask" }))
        .response::<ToolServerView>(200, "The server with its new permission.")
        .problem_response(422, INVALID_VALUE)
        .shared_response(404)
}

pub fn set_server_instructions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_server_instructions", "Sets whether models are offered the instructions of a server.")
        .add_description(
            "The instructions follow the system prompt of branches that offer tools of the server. A branch keeps what it \
            began with, until its tools are refreshed.",
        )
        .request_body::<SetServerInstructionsRequest>(json!({ "offered": false }))
        .response::<ToolServerView>(200, "The server with its new setting.")
        .shared_response(404)
}

const OFF: &str = "`server_off`: the server is disabled.";
const UNAVAILABLE: &str = "`server_unavailable`: the server does not answer, or refuses.";

pub fn show_server_catalog(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_server_catalog", "Lists the resources and prompts of a tool server.")
        .response::<ServerCatalogView>(200, "What the server offers. Its texts are untrusted.")
        .problem_response(409, UNAVAILABLE)
        .problem_response(409, OFF)
        .shared_response(404)
}

pub fn list_server_catalogs(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_server_catalogs", "Lists the resources and prompts of all tool servers.")
        .list_response::<ServerCatalogView>("What each enabled server offers; `problem` says why that is unknown.")
}

pub fn store_server_resource(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "store_server_resource", "Stores a resource of a tool server for a message.")
        .add_description(
            "It is read now and stored like an uploaded file: an image as an image, everything else as a document.",
        )
        .request_body::<AttachServerResourceRequest>(json!({ "uri": "file:///notes/today.md" }))
        .response::<ServerResourceAttachment>(200, "The attachment.")
        .problem_response(409, UNAVAILABLE)
        .problem_response(413, "`too_large`: the resource is too large.")
        .problem_response(422, INVALID_VALUE)
        .problem_response(409, OFF)
        .shared_response(404)
}

pub fn show_server_prompt(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_server_prompt", "Returns the text of a prompt of a tool server.")
        .add_description(
            "The text is for a person to edit; nothing is sent to a model. A server may ask the person first: the response has `questions` instead of `text`. Send the same request \
            again with their `answers` and the `state` of that response.",
        )
        .request_body::<ServerPromptRequest>(json!({ "name": "review", "arguments": { "style": "short" } }))
        .response::<ServerPromptText>(200, "The text, or the questions of the server.")
        .problem_response(409, UNAVAILABLE)
        .problem_response(422, INVALID_VALUE)
        .problem_response(409, OFF)
        .shared_response(404)
}

pub fn suggest_server_values(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "suggest_server_values", "Suggests values for an argument of a prompt or of a template.")
        .add_description("The server is asked for values that complete what is written. Many servers suggest none.")
        .request_body::<SuggestValuesRequest>(json!({
            "prompt": "review", "argument": "style", "value": "sh", "arguments": { "language": "rust" },
        }))
        .response::<SuggestedValues>(200, "The values. They are untrusted.")
        .problem_response(409, UNAVAILABLE)
        .problem_response(422, INVALID_VALUE)
        .shared_response(404)
}

pub fn list_tool_servers(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "list_tool_servers", "Lists the tool servers.")
        .list_response::<ToolServerView>("The servers, with the tools each offers or last offered.")
}

pub fn add_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "add_tool_server", "Connects an HTTP tool server.")
        .add_description("Its tools are fetched automatically.")
        .needs_recent_password()
        .request_body_requiring::<SaveToolServerRequest>(
            "AddToolServerRequest",
            &["name", "url"],
            json!({ "name": "Maps", "url": "https://maps.example/mcp" }),
        )
        .created_response::<ToolServerWithNotices>("The server.")
        .problem_response(403, NO_PROGRAMS)
        .problem_response(409, "`too_many_servers`: a limit is reached.")
        .problem_response(422, INVALID_VALUE)
}

pub fn change_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "change_tool_server", "Updates a server. Omitted fields stay unchanged.")
        .add_description(
            "A new address deletes the headers unless they are sent with it, and resets the tool permissions. A \
            session needs a recent password for an address and for secrets, as for a new server.",
        )
        .request_body::<SaveToolServerRequest>(json!({ "is_enabled": false }))
        .response::<ToolServerWithNotices>(200, "The updated server.")
        .problem_response(403, NO_PROGRAMS)
        .problem_response(409, LOCKED)
        .problem_response(422, INVALID_VALUE)
}

pub fn remove_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "remove_tool_server", "Removes a server.")
        .add_description("Its tool permissions are deleted, and calls of its tools are refused.")
        .needs_recent_password()
        .empty_response(204, "It is removed.")
        .problem_response(409, LOCKED)
}

pub fn restart_tool_server(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "restart_tool_server", "Restarts a server.")
        .response::<ToolServerView>(200, "The server, which may still be starting.")
        .problem_response(409, "`server_off`: it is disabled, or its headers cannot be decrypted.")
}

pub fn show_web_search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "show_web_search", "Shows the search engine of the tool `search_web`.")
        .response::<WebSearchView>(200, "The engine with the result of its last test. The key is never returned.")
}

pub fn set_web_search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "set_web_search", "Sets the search engine of the tool `search_web`.")
        .add_description(
            "SearXNG needs the address of an instance that allows JSON; Brave Search and Tavily need an API key. Omit \
            the key to keep the stored one, which belongs to its engine and address. The first engine turns the tool \
            on in new chats.",
        )
        .needs_recent_password()
        .request_body::<SetWebSearchRequest>(json!({ "engine": "searxng", "url": "https://search.example" }))
        .response::<WebSearchView>(200, "The engine.")
        .problem_response(409, SEARCH_LOCKED)
        .problem_response(422, INVALID_VALUE)
}

pub fn remove_web_search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "remove_web_search", "Removes the search engine and its API key.")
        .needs_recent_password()
        .empty_response(204, "It is removed.")
        .problem_response(409, SEARCH_LOCKED)
}

pub fn test_web_search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Tools", "test_web_search", "Searches for a fixed word.")
        .response::<WebSearchView>(200, "The engine; `status` has the number of results, or the reason of a failure.")
        .problem_response(409, "`search_not_set_up`: there is no engine, or its API key cannot be decrypted.")
}

pub fn show_blob(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Tools",
            "show_blob",
            "Returns the bytes of a file referenced by a message, a tool result or a \
            document.",
        )
        .add_description("Only images (PNG, JPEG, GIF, WebP) are shown inline; all other files are downloads.")
        .request_header("If-None-Match", "The `ETag` of an earlier response.")
        .custom_response(200, "The bytes.", "application/octet-stream", json!({ "type": "string", "format": "binary" }))
        .custom_response(200, "The bytes.", "text/plain", json!({ "type": "string" }))
        .custom_response(200, "The bytes.", "image/*", json!({ "type": "string", "format": "binary" }))
        .empty_response(304, "Not modified.")
}
