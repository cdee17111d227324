//! OpenAPI descriptions of usage and monitoring.

use crate::server::http::features::ServerFeatures;
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::usage::{UsageQuery, UsageReport};
use serde_json::{Value, json};

pub fn show_usage(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Server", "show_usage", "Summarizes usage.")
        .add_description("The last thirty days by day, by default. CSV with `format=csv` or by `Accept`.")
        .query_parameters::<UsageQuery>()
        .shared_response(404)
        .response::<UsageReport>(200, "The totals.")
        .custom_response(200, "The totals.", "text/csv", json!({ "type": "string" }))
}

pub fn show_features(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Server", "show_features", "Lists the features of the server.")
        .add_description("For clients that support several versions. The `hello` message of a WebSocket has them, too.")
        .response::<ServerFeatures>(200, "The features, and the WebSocket protocols.")
}

pub fn show_openapi(operation: ApiOperation) -> ApiOperation {
    let json_type = "application/json";
    operation
        .describe("Server", "show_openapi", "Returns this description.")
        .request_header("If-None-Match", "The `ETag` of the known description.")
        .custom_response(200, "The description.", json_type, json!({ "type": "object" }))
        .empty_response(304, "It has not changed.")
}

pub fn show_docs(operation: ApiOperation) -> ApiOperation {
    operation.describe("Server", "show_docs", "Returns this description as a page.").custom_response(
        200,
        "The page.",
        "text/html",
        json!({ "type": "string" }),
    )
}

/// Returns the schema of an object whose members are all strings.
fn schema_of_strings(names: &[&str]) -> Value {
    let members: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": members, "required": names, "additionalProperties": false })
}

pub fn show_liveness(operation: ApiOperation) -> ApiOperation {
    let json_type = "application/json";
    operation.describe("Server", "is_alive", "Reports that the process is alive.").custom_response(
        200,
        "It is alive.",
        json_type,
        schema_of_strings(&["status"]),
    )
}

pub fn show_readiness(operation: ApiOperation) -> ApiOperation {
    let json_type = "application/json";
    operation.describe("Server", "is_ready", "Reports whether the server is ready.").custom_response(
        200,
        "It is ready.",
        json_type,
        json!({
            "type": "object",
            "required": ["status"],
            "properties": {
                "status": { "type": "string" },
                "degraded": {
                    "type": "array",
                    "description": "What is currently refused; absent if nothing is.",
                    "items": schema_of_strings(&["component", "code", "detail"]),
                },
            },
        }),
    )
}

pub fn show_version(operation: ApiOperation) -> ApiOperation {
    let json_type = "application/json";
    operation.describe("Server", "show_version", "Returns the version.").custom_response(
        200,
        "The version, and the build of its page.",
        json_type,
        schema_of_strings(&["name", "version", "build"]),
    )
}
