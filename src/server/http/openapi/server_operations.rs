//! How the API describes what was spent, and what watches the server.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::usage::{UsageQuery, UsageReport};
use serde_json::json;

pub fn show_usage(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Server", "show_usage", "Sums up what was spent.")
        .add_description("The last thirty days by day, unless asked otherwise. CSV with `format=csv` or by `Accept`.")
        .query_parameters::<UsageQuery>()
        .shared_response(404)
        .response::<UsageReport>(200, "The sums.")
        .custom_response(200, "The sums.", "text/csv", json!({ "type": "string" }))
}

pub fn show_openapi(operation: ApiOperation) -> ApiOperation {
    let json_type = "application/json";
    operation
        .describe("Server", "show_openapi", "Gives this description.")
        .request_header("If-None-Match", "The `ETag` of the description that is there.")
        .custom_response(200, "The description.", json_type, json!({ "type": "object" }))
        .empty_response(304, "It has not changed.")
}

pub fn show_docs(operation: ApiOperation) -> ApiOperation {
    operation.describe("Server", "show_docs", "Gives this description as a page.").custom_response(
        200,
        "The page.",
        "text/html",
        json!({ "type": "string" }),
    )
}

pub fn show_liveness(operation: ApiOperation) -> ApiOperation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.describe("Server", "is_alive", "Tells that the process answers.").custom_response(
        200,
        "It does.",
        json_type,
        said(&["status"]),
    )
}

pub fn show_readiness(operation: ApiOperation) -> ApiOperation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.describe("Server", "is_ready", "Tells whether the server can serve.").custom_response(
        200,
        "It can.",
        json_type,
        json!({
            "type": "object",
            "required": ["status"],
            "properties": {
                "status": { "type": "string" },
                "degraded": {
                    "type": "array",
                    "description": "What is refused while everything else works; absent where nothing is.",
                    "items": said(&["component", "code", "detail"]),
                },
            },
        }),
    )
}

pub fn show_version(operation: ApiOperation) -> ApiOperation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.describe("Server", "show_version", "Tells which version this is.").custom_response(
        200,
        "The version, and the build of its page.",
        json_type,
        said(&["name", "version", "build"]),
    )
}
