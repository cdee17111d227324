//! How the API describes what was spent, and what watches the server.

use crate::server::http::openapi::operation::Operation;
use crate::server::http::usage::{UsageBody, UsageQuery};
use serde_json::json;

pub fn show_usage(operation: Operation) -> Operation {
    operation
        .of("Server", "show_usage", "Sums up what was spent.")
        .note("The last thirty days by day, unless asked otherwise. CSV with `format=csv` or by `Accept`.")
        .query::<UsageQuery>()
        .may(404)
        .gives::<UsageBody>(200, "The sums.")
        .answer(200, "The sums.", "text/csv", json!({ "type": "string" }))
}

pub fn show_openapi(operation: Operation) -> Operation {
    let json_type = "application/json";
    operation
        .of("Server", "show_openapi", "Gives this description.")
        .header("If-None-Match", "The `ETag` of the description that is there.")
        .answer(200, "The description.", json_type, json!({ "type": "object" }))
        .done(304, "It has not changed.")
}

pub fn show_docs(operation: Operation) -> Operation {
    operation.of("Server", "show_docs", "Gives this description as a page.").answer(
        200,
        "The page.",
        "text/html",
        json!({ "type": "string" }),
    )
}

pub fn is_alive(operation: Operation) -> Operation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.of("Server", "is_alive", "Tells that the process answers.").answer(
        200,
        "It does.",
        json_type,
        said(&["status"]),
    )
}

pub fn is_ready(operation: Operation) -> Operation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.of("Server", "is_ready", "Tells whether the server can serve.").answer(
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

pub fn show_version(operation: Operation) -> Operation {
    let said = |names: &[&str]| {
        let fields: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
    };
    let json_type = "application/json";
    operation.of("Server", "show_version", "Tells which version this is.").answer(
        200,
        "The version, and the build of its page.",
        json_type,
        said(&["name", "version", "build"]),
    )
}
