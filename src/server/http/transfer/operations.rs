//! How the API describes what goes out and comes in.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::transfer::exports::ExportQuery;
use crate::server::http::transfer::imports::{ImportQuery, StartedImport};
use serde_json::json;
use turnleaf_service::transfer::imports::ImportJob;

pub fn export_all(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "export_everything", "Takes out all chats and documents.")
        .add_description(
            "An archive, written while it is read: all branches, what providers sent, images. Keys, settings and \
                 drafts stay. An answer that breaks off is not whole.",
        )
        .custom_response(200, "The archive.", "application/json", json!({ "type": "object" }))
}

pub fn export_chat(operation: ApiOperation) -> ApiOperation {
    operation.describe("Transfer", "export_chat", "Takes out one chat.")
            .add_description("As an archive with all branches, one path as Markdown or as a page, or all branches as a git repository in a ZIP.")
            .query_parameters::<ExportQuery>()
            .custom_response(200, "The chat.", "application/json", json!({ "type": "object" }))
            .custom_response(200, "The chat.", "text/markdown", json!({ "type": "string" }))
            .custom_response(200, "The chat.", "text/html", json!({ "type": "string" }))
            .custom_response(200, "The chat.", "application/zip", json!({ "type": "string", "format": "binary" }))
}

pub fn start_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "import", "Begins to take chats in: the body is the file.")
        .add_description(
            "It goes on behind the answer; look at it under its `Location`. Nothing comes in twice; a \
                 chat that went on where it comes from grows. Nothing is sent anywhere.",
        )
        .query_parameters::<ImportQuery>()
        .binary_request_body()
        .response::<StartedImport>(202, "It began.")
        .problem_response(
            409,
            "`import_running`: another import is not over yet, or its file on its way; \
                 `deletion_running`: everything is being deleted.",
        )
        .problem_response(422, "`empty_file`: there is nothing in it.")
}

pub fn show_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "show_import", "Shows how far an import is.")
        .response::<ImportJob>(200, "The import with what came of it so far.")
}

pub fn stop_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "stop_import", "Ends an import.")
        .add_description("What came in stays.")
        .empty_response(204, "It ends behind the chat that it is at.")
}
