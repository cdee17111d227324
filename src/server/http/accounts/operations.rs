//! OpenAPI descriptions of sessions, API tokens and the audit log.

use serde_json::json;

use crate::server::http::accounts::api::{ApiTokenDetails, CreateApiTokenRequest, CreatedApiToken, SessionDetails};
use crate::server::http::accounts::audit_log::{AuditEntryDetails, AuditLogQuery};
use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};

pub fn list_sessions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Accounts", "list_sessions", "Lists the browsers in which you are signed in.")
        .list_response::<SessionDetails>("The sessions, last used first.")
}

pub fn end_session(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Accounts", "end_session", "Signs out one of your browsers.")
        .add_description(
            "In a session whose password was not entered within the last 10 minutes the answer is 403 `password_needed`.",
        )
        .empty_response(204, "It is signed out.")
}

pub fn list_tokens(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Accounts", "list_tokens", "Lists your API tokens.")
        .list_response::<ApiTokenDetails>("The tokens, newest first.")
}

pub fn create_token(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Accounts", "create_token", "Creates an API token.")
        .add_description(
            "Programs send it as `Authorization: Bearer tl_…`. Only people who are signed in can create one, not a token.",
        )
        .needs_recent_password()
        .request_body::<CreateApiTokenRequest>(json!({
            "name": "Nightly backup",
            "scopes": ["chats:read", "export"],
            "days": 90,
            "client_request_id": "token-1",
        }))
        .created_response::<CreatedApiToken>("The token.")
        .problem_response(409, "`too_many_tokens`: there is no room for another token.")
        .problem_response(422, INVALID_VALUE)
}

pub fn revoke_token(operation: ApiOperation) -> ApiOperation {
    operation.describe("Accounts", "revoke_token", "Revokes an API token.").empty_response(204, "It is revoked.")
}

pub fn list_audit_log(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Accounts", "list_audit_log", "Lists who did what with accounts, without content.")
        .add_description(
            "For administrators. Repeat the request with the last `id` as `before` until a page is empty. CSV with \
            `format=csv` or by `Accept` has all entries in one response.",
        )
        .query_parameters::<AuditLogQuery>()
        .list_response::<AuditEntryDetails>("The entries, newest first.")
        .custom_response(200, "The entries, newest first.", "text/csv", json!({ "type": "string" }))
        .problem_response(422, INVALID_VALUE)
        .shared_response(429)
}
