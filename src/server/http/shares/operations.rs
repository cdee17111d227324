//! OpenAPI descriptions of shares.

use serde_json::json;

use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::shares::api::{CreateShareRequest, ShareDetails};

pub fn share_path(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "share_path", "Shares a path as a snapshot.")
        .add_description(
            "Renders the messages and replies of the path as a page that anybody with the link can read, without script. \
            Later messages, other branches and other versions are not in it. `url` is returned once; only its hash is \
            stored. The link ends when it expires, is revoked, or its path is deleted.",
        )
        .request_body::<CreateShareRequest>(json!({
            "leaf_id": "0190b5b4-7c1e-7abc-8def-0123456789ab",
            "parts": { "reasoning": true },
            "expires_in_days": 7,
            "client_request_id": "share-1",
        }))
        .created_response::<ShareDetails>("The share with its link.")
        .problem_response(409, "`too_many_shares`: there is no room for another share.")
        .problem_response(422, INVALID_VALUE)
        .shared_response(429)
}

pub fn list_shares(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "list_shares", "Lists the shares.")
        .add_description("Ended ones are listed for 30 days; those whose path is in Trash are not listed.")
        .list_response::<ShareDetails>(
            "The shares: first the valid ones, then those that have ended, each newest first.",
        )
}

pub fn revoke_share(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "revoke_share", "Revokes the link of a share at once.")
        .empty_response(204, "The link no longer works.")
}
