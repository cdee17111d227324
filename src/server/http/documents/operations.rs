//! How the API describes documents and files.

use crate::server::http::attachments::uploads::{UploadBody, UploadQuery};
use crate::server::http::chats::drafts::{AttachBody, AttachedBody};
use crate::server::http::documents::api::{
    ChangeDocumentBody, CompareVersionsQuery, DeleteDocumentQuery, DocumentBody, DocumentsQuery, NewDocumentBody,
    RestoreDocumentBody, VersionBody, VersionQuery,
};
use crate::server::http::openapi::operation::Operation;
use crate::server::http::turns::operations::{ATTACHED, NAMES};
use serde_json::json;
use turnleaf_service::branches::compare::words::Diff;

const NOW: &str = "The document as it is now.";
const NO_VERSION: &str = "`not_found`; `version_gone`: it has no such version.";
const UNREADABLE: &str = "`encoding`: which is not known; `choices` names some. `empty_file`, `no_text`, `damaged_file`, \
    `unpacks_too_large`, `unreadable_file`: what is in it cannot be used. `invalid`: a value cannot be.";
const UNKNOWN: &str = "`unsupported_file`: nothing here reads such a file. `unsupported_media_type`: it is compressed on \
    its way.";

pub fn upload(operation: Operation) -> Operation {
    operation
        .of("Documents", "upload", "Brings a file: the body is its bytes.")
        .note(
            "What it is, its bytes say. An image may be named in a message, any other file may become a document; \
                 what nothing names is forgotten after a day. Images are kept without anything hidden in them.",
        )
        .query::<UploadQuery>()
        .takes_bytes()
        .gives::<UploadBody>(201, "What is kept of it.")
        .refuses(415, UNKNOWN)
        .refuses(
            422,
            "`image_too_large`: in pixels. `empty_file`, `damaged_file`, `unreadable_file`: it cannot be used.",
        )
        .refuses(507, "`quota_reached`: your files and documents have no more room. `storage_full`: the disk has none.")
}

pub fn list_documents(operation: Operation) -> Operation {
    operation
        .of("Documents", "list_documents", "Lists documents.")
        .query::<DocumentsQuery>()
        .may(404)
        .lists::<DocumentBody>("Those that changed last first, without their text.")
}

pub fn create_document(operation: Operation) -> Operation {
    operation
        .of("Documents", "create_document", "Makes a document.")
        .note("Longer texts than a body may have come as a file: `POST /api/blobs`, then `blob`.")
        .takes::<NewDocumentBody>(json!({ "title": "Notes", "content": "# Notes\n" }))
        .makes::<DocumentBody>("The document.")
        .may(404)
        .refuses(415, UNKNOWN)
        .refuses(422, UNREADABLE)
}

pub fn show_document(operation: Operation) -> Operation {
    operation
        .of("Documents", "show_document", "Shows a document with its text.")
        .query::<VersionQuery>()
        .gives::<DocumentBody>(200, "The document with this version.")
        .refuses(404, NO_VERSION)
}

pub fn change_document(operation: Operation) -> Operation {
    operation
        .of("Documents", "change_document", "Changes a document.")
        .note("Other words make a version; the same words make none. Earlier versions stay as they are.")
        .takes::<ChangeDocumentBody>(json!({ "content": "# Notes\n\nMore.\n", "rev": 1 }))
        .gives::<DocumentBody>(200, NOW)
        .refuses(409, "`document_changed`: `rev` is another one by now. `too_many_versions`: a bound is reached.")
        .refuses(415, UNKNOWN)
        .refuses(422, UNREADABLE)
}

pub fn delete_document(operation: Operation) -> Operation {
    operation
        .of("Documents", "delete_document", "Moves a document to the trash.")
        .note("Messages that name it stay; models are told that it was deleted.")
        .query::<DeleteDocumentQuery>()
        .done(204, "It is there, or gone.")
}

pub fn restore_document(operation: Operation) -> Operation {
    operation
        .of(
            "Documents",
            "restore_document",
            "Brings a document back from the trash, or an earlier version as the newest.",
        )
        .takes::<RestoreDocumentBody>(json!({ "version_timestamp": "2026-11-22T07:00:00.000001Z" }))
        .optional()
        .gives::<DocumentBody>(200, NOW)
        .refuses(404, NO_VERSION)
        .refuses(409, "`too_many_versions`: a bound is reached.")
}

pub fn list_document_versions(operation: Operation) -> Operation {
    operation
        .of("Documents", "list_document_versions", "Lists the versions of a document.")
        .lists::<VersionBody>("The newest first, without their text.")
}

pub fn compare_document_versions(operation: Operation) -> Operation {
    operation
        .of("Documents", "compare_document_versions", "Compares two versions of a document.")
        .query::<CompareVersionsQuery>()
        .gives::<Diff>(200, "Both texts as one list of pieces.")
}

pub fn attach_to_draft(operation: Operation) -> Operation {
    operation
        .of("Documents", "attach_to_draft", "Attaches documents, selections and images to the next message of a chat.")
        .note("They come behind what its draft has attached already, and go out when it is sent with its attachments.")
        .takes::<AttachBody>(json!({
            "content": [{
                "type": "partial_reference",
                "ref_id": "01890000-0000-7000-8000-000000000001",
                "ref_type": "document",
                "version_timestamp": "2026-11-22T07:00:00.000001Z",
                "selection_start": 2,
                "selection_end": 3,
                "quote": "😀",
            }],
        }))
        .gives::<AttachedBody>(200, "They are attached.")
        .refuses(404, NAMES)
        .refuses(409, ATTACHED)
        .refuses(422, "`out_of_range`, `invalid`: it is well formed and cannot be attached.")
}
