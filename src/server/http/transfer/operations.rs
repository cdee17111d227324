//! OpenAPI descriptions of export and import.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::transfer::exports::ExportQuery;
use crate::server::http::transfer::imports::{ImportQuery, StartedImport, UndoQuery};
use serde_json::json;
use turnleaf_service::transfer::imports::{ImportJob, ImportSummary};

pub fn export_all(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "export_everything", "Exports all chats and documents.")
        .add_description(
            "Streams an archive with all branches, provider responses and images. API keys, settings and drafts are \
            not included. A response that ends early is incomplete.",
        )
        .needs_recent_password()
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

const UNAVAILABLE: &str = "`import_running`: another import is running or uploading, or one is being undone or restored; \
    `deletion_running`: everything is being deleted.";

pub fn start_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "import", "Starts an import; the body is the file.")
        .add_description(
            "It runs in the background; see its `Location`. Chats are never imported twice; a chat that has grown in \
            its source is updated. Nothing is sent anywhere. With `preview`, nothing is imported: the report says what \
            would be, and the file waits for an hour.",
        )
        .query_parameters::<ImportQuery>()
        .binary_request_body()
        .response::<StartedImport>(202, "It started.")
        .problem_response(409, UNAVAILABLE)
        .problem_response(422, "`empty_file`: the file is empty. `invalid`: the parameters do not go together.")
}

pub fn list_imports(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "list_imports", "Lists the latest imports.")
        .add_description("Previews and dry runs are listed until the server restarts.")
        .list_response::<ImportSummary>("The imports, newest first.")
}

pub fn show_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "show_import", "Shows the progress and the report of an import.")
        .response::<ImportJob>(200, "The import with its results so far.")
}

pub fn start_previewed_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "start_previewed_import", "Imports the file of a preview.")
        .add_description("A repeated request returns the same import.")
        .response::<StartedImport>(202, "It started.")
        .problem_response(
            409,
            "`preview_running`: the preview is not finished; `preview_expired`: its file is gone; `not_a_preview`: it is \
            an import.",
        )
        .problem_response(409, UNAVAILABLE)
}

pub fn stop_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "stop_import", "Stops an import, or removes the file of a preview.")
        .add_description("Imported chats are kept. A cancelled preview is no longer listed.")
        .empty_response(204, "It stops after the current chat.")
}

pub fn undo_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "undo_import", "Moves what an import created to Trash.")
        .add_description(
            "It runs in the background; see `reversal` of the import. Chats that were continued here, messages that \
            others follow, and documents that were changed or are used elsewhere are kept, and listed as `kept`. With \
            `changed`, only documents in use are kept. Running replies are stopped first. Trash does not list the parts \
            one by one; `restore` restores all of them. If it ends with `import_partly_undone`, or with the server, it \
            can be repeated.",
        )
        .query_parameters::<UndoQuery>()
        .response::<StartedImport>(202, "It started, or is running.")
        .problem_response(
            409,
            "`import_not_undoable`: it is already undone; `import_created_nothing`: it is a dry run or a preview, or \
            could not be recorded.",
        )
        .problem_response(409, UNAVAILABLE)
}

pub fn restore_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "restore_import", "Restores what undoing an import moved to Trash.")
        .add_description(
            "It runs in the background; see `reversal` of the import. It ends with `import_partly_restored` if a part \
            was deleted again with what it belongs to; the rest is restored.",
        )
        .response::<StartedImport>(202, "It started, or is running.")
        .problem_response(409, "`import_not_undone`: nothing of it is in Trash.")
        .problem_response(409, UNAVAILABLE)
}

pub fn forget_import(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Transfer", "forget_import", "Forgets an import with its report.")
        .add_description("What it created is kept, and can no longer be undone together.")
        .empty_response(204, "It is forgotten.")
        .problem_response(409, "`import_running`: it is still running, or being undone or restored.")
}
