//! OpenAPI descriptions of export and import.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::transfer::exports::ExportQuery;
use crate::server::http::transfer::imports::{ImportQuery, StartedImport};
use serde_json::json;
use turnleaf_service::transfer::imports::ImportJob;

pub fn export_all(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "export_everything", "Exports all chats and documents.")
        .add_description(
            "Streams an archive with all branches, provider responses and images. API keys, settings and drafts are \
            not included. A response that ends early is incomplete.",
        )
        .custom_response(200, "The archive.", "application/json", json!({ "type": "object" }))
}

pub fn export_chat(operation: ApiOperation) -> ApiOperation {
    operation.describe("Transfer", "export_chat", "Exports one chat.")
            .add_description("As an archive with all branches, one path as Markdown or as a page, or all branches as a git repository in a ZIP.")
            .query_parameters::<ExportQuery>()
            .custom_response(200, "The chat.", "application/json", json!({ "type": "object" }))
            .custom_response(200, "The chat.", "text/markdown", json!({ "type": "string" }))
            .custom_response(200, "The chat.", "text/html", json!({ "type": "string" }))
            .custom_response(200, "The chat.", "application/zip", json!({ "type": "string", "format": "binary" }))
}

pub fn start_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "import", "Starts an import; the body is the file.")
        .add_description(
            "It runs in the background; see its `Location`. Chats are never imported twice; a chat that has grown in \
            its source is updated. Nothing is sent anywhere.",
        )
        .query_parameters::<ImportQuery>()
        .binary_request_body()
        .response::<StartedImport>(202, "It started.")
        .problem_response(
            409,
            "`import_running`: another import is running or uploading; `deletion_running`: everything is being \
            deleted.",
        )
        .problem_response(422, "`empty_file`: the file is empty. `invalid`: `map` cannot be used.")
}

pub fn show_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "show_import", "Shows the progress of an import.")
        .response::<ImportJob>(200, "The import with its results so far.")
}

pub fn stop_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "stop_import", "Stops an import.")
        .add_description("Imported chats are kept.")
        .empty_response(204, "It stops after the current chat.")
}
