//! OpenAPI descriptions of shares.

use serde_json::json;

use crate::domain::{BranchReaders, BranchShare};
use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::shares::api::{CreateShareRequest, ShareDetails};
use crate::server::http::shares::branch_api::ShareBranchRequest;

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

/// The 422 of names.
const UNKNOWN_NAME: &str = "`invalid`: nobody is named, or there is no such account or group; `field` names it.";

pub fn share_branch(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "share_branch", "Shares a branch live.")
        .add_description(
            "The named accounts, and the members of the named groups, read the branch on the page `/shared/branches/{id}`, up \
            to its newest message or reply at the time, without script. Other branches, other versions, the system prompt \
            and the settings of the chat are not on it. Disabled accounts count as unknown. The share ends when it is \
            deleted or its branch is.",
        )
        .request_body::<ShareBranchRequest>(json!({
            "readers": { "accounts": ["bob"], "groups": ["Research"] },
            "parts": { "reasoning": true },
            "client_request_id": "branch-share-1",
        }))
        .created_response::<BranchShare>("The live share.")
        .problem_response(409, "`too_many_shares`: there is no room for another share.")
        .problem_response(422, UNKNOWN_NAME)
}

pub fn list_branch_shares(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "list_branch_shares", "Lists the live shares.")
        .add_description("Those whose branch is in Trash are not listed.")
        .list_response::<BranchShare>("The live shares, newest first.")
}

pub fn set_branch_readers(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "set_branch_readers", "Replaces the readers of a live share.")
        .add_description("Whoever is not among them is refused at the next request.")
        .request_body::<BranchReaders>(json!({ "accounts": ["bob"] }))
        .response::<BranchShare>(200, "The live share with its readers.")
        .problem_response(422, UNKNOWN_NAME)
}

pub fn end_branch_share(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Sharing", "end_branch_share", "Ends a live share at once.")
        .empty_response(204, "Nobody reads the branch any more.")
}
