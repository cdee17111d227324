//! OpenAPI descriptions of groups and grants.

use serde_json::json;

use crate::server::http::accounts::rights_api::{
    AccessRuleDetails, CreateGroupRequest, GroupDetails, GroupMappingDetails, GroupSummary, MapGroupRequest,
    RenameGroupRequest, SetAccessRuleRequest,
};
use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};

/// Describes an operation that only administrators who are signed in may call.
fn describe(operation: ApiOperation, id: &str, summary: &str, more: &str) -> ApiOperation {
    let text = format!("{more} For administrators who are signed in; no token may.");
    operation.describe("Accounts", id, summary).add_description(text.trim_start())
}

pub fn list_groups(operation: ApiOperation) -> ApiOperation {
    describe(operation, "list_account_groups", "Lists the groups of accounts.", "")
        .list_response::<GroupSummary>("The groups, in the order of their creation.")
}

pub fn create_group(operation: ApiOperation) -> ApiOperation {
    describe(operation, "create_account_group", "Creates a group of accounts.", "")
        .request_body::<CreateGroupRequest>(json!({ "name": "Research", "client_request_id": "group-1" }))
        .created_response::<GroupSummary>("The group.")
        // A repeated idempotency key names a group that was deleted since.
        .shared_response(404)
        .problem_response(409, "`too_many_groups`: there is no room for another group.")
        .problem_response(422, INVALID_VALUE)
}

pub fn show_group(operation: ApiOperation) -> ApiOperation {
    describe(operation, "show_account_group", "Shows a group with its members and its mappings.", "")
        .response::<GroupDetails>(200, "The group.")
}

pub fn rename_group(operation: ApiOperation) -> ApiOperation {
    describe(operation, "rename_account_group", "Gives a group another name.", "")
        .request_body::<RenameGroupRequest>(json!({ "name": "Teaching" }))
        .response::<GroupSummary>(200, "The group.")
        .problem_response(422, INVALID_VALUE)
}

pub fn delete_group(operation: ApiOperation) -> ApiOperation {
    describe(
        operation,
        "delete_account_group",
        "Deletes a group.",
        "Its members stay, without what only the group was granted.",
    )
    .empty_response(204, "It is deleted.")
}

pub fn add_member(operation: ApiOperation) -> ApiOperation {
    describe(operation, "add_account_group_member", "Adds an account to a group.", "")
        .empty_response(204, "It is a member.")
}

pub fn remove_member(operation: ApiOperation) -> ApiOperation {
    describe(operation, "remove_account_group_member", "Removes an account from a group.", "")
        .empty_response(204, "It is no member, or one by a mapping alone.")
        .problem_response(409, "`mapped_member`: only a mapping makes it a member.")
}

pub fn map_group(operation: ApiOperation) -> ApiOperation {
    describe(
        operation,
        "map_account_group",
        "Maps a group of a sign-in service.",
        "Whom the service names for that group is a member, for as long as it does. Each sign-in, and each request through \
            the proxy, updates that. Those whom it has named already are members at once.",
    )
    .request_body::<MapGroupRequest>(json!({ "service": "corp", "name": "researchers" }))
    .response::<GroupMappingDetails>(200, "The mapping.")
    .problem_response(409, "`too_many_mappings`: there is no room for another mapping.")
    .problem_response(422, INVALID_VALUE)
}

pub fn unmap_group(operation: ApiOperation) -> ApiOperation {
    describe(
        operation,
        "unmap_account_group",
        "Removes a mapping of a group.",
        "Members whom nothing else makes members are none any more.",
    )
    .empty_response(204, "It is removed.")
}

pub fn list_grants(operation: ApiOperation) -> ApiOperation {
    describe(
        operation,
        "list_grants",
        "Lists whom models and tool servers are for.",
        "A model without a rule is for whom its provider is for. A provider without one is for everybody, and a tool \
            server without one for the owner alone. The owner may use everything.",
    )
    .list_response::<AccessRuleDetails>("The rules.")
}

pub fn set_grant(operation: ApiOperation) -> ApiOperation {
    describe(
        operation,
        "set_grant",
        "Sets whom a model, a provider or a tool server is for.",
        "The rule replaces the one that the target has, and takes effect at once. A request with a model that is not \
            granted is 403 `model_not_granted`.",
    )
    .request_body::<SetAccessRuleRequest>(json!({
        "kind": "model",
        "target": "openai",
        "model": "gpt-5-pro",
        "groups": ["0190b5b4-7c1e-7abc-8def-0123456789ab"],
    }))
    .response::<AccessRuleDetails>(200, "The rule.")
    .problem_response(409, "`too_many_rules`: there is no room for another rule.")
    .problem_response(422, INVALID_VALUE)
}

pub fn delete_grant(operation: ApiOperation) -> ApiOperation {
    describe(operation, "delete_grant", "Deletes a rule: its target has its default again.", "")
        .empty_response(204, "It is deleted.")
}
