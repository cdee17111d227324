//! How the API describes what goes out and comes in.

use crate::server::http::openapi::operation::Operation;
use crate::server::http::transfer::exports::ExportQuery;
use crate::server::http::transfer::imports::{ImportBegun, ImportQuery};
use serde_json::json;
use turnleaf_service::transfer::imports::ImportJob;

pub fn export_everything(operation: Operation) -> Operation {
    operation
        .of("Transfer", "export_everything", "Takes out all chats and documents.")
        .note(
            "An archive, written while it is read: all branches, what providers sent, images. Keys, settings and \
                 drafts stay. An answer that breaks off is not whole.",
        )
        .answer(200, "The archive.", "application/json", json!({ "type": "object" }))
}

pub fn export_chat(operation: Operation) -> Operation {
    operation.of("Transfer", "export_chat", "Takes out one chat.")
            .note("As an archive with all branches, one path as Markdown or as a page, or all branches as a git repository in a ZIP.")
            .query::<ExportQuery>()
            .answer(200, "The chat.", "application/json", json!({ "type": "object" }))
            .answer(200, "The chat.", "text/markdown", json!({ "type": "string" }))
            .answer(200, "The chat.", "text/html", json!({ "type": "string" }))
            .answer(200, "The chat.", "application/zip", json!({ "type": "string", "format": "binary" }))
}

pub fn import(operation: Operation) -> Operation {
    operation
        .of("Transfer", "import", "Begins to take chats in: the body is the file.")
        .note(
            "It goes on behind the answer; look at it under its `Location`. Nothing comes in twice; a \
                 chat that went on where it comes from grows. Nothing is sent anywhere.",
        )
        .query::<ImportQuery>()
        .takes_bytes()
        .gives::<ImportBegun>(202, "It began.")
        .refuses(
            409,
            "`import_running`: another import is not over yet, or its file on its way; \
                 `deletion_running`: everything is being deleted.",
        )
        .refuses(422, "`empty_file`: there is nothing in it.")
}

pub fn show_import(operation: Operation) -> Operation {
    operation
        .of("Transfer", "show_import", "Shows how far an import is.")
        .gives::<ImportJob>(200, "The import with what came of it so far.")
}

pub fn stop_import(operation: Operation) -> Operation {
    operation
        .of("Transfer", "stop_import", "Ends an import.")
        .note("What came in stays.")
        .done(204, "It ends behind the chat that it is at.")
}
