//! How the API describes documents and files.

use crate::server::http::attachments::uploads::{StoredUpload, UploadQuery};
use crate::server::http::chats::drafts::{AttachToDraftRequest, DraftRevision};
use crate::server::http::documents::api::{
    CompareDocumentVersionsQuery, CreateDocumentRequest, DeleteDocumentQuery, DocumentDetails, DocumentVersionDetails,
    DocumentVersionQuery, ListDocumentsQuery, RestoreDocumentRequest, UpdateDocumentRequest,
};
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::turns::operations::{SELECTION_MISMATCH, UNKNOWN_REFERENCE};
use serde_json::json;
use turnleaf_service::branches::compare::text_diff::TextDiff;

const NOW: &str = "The document as it is now.";
const NO_VERSION: &str = "`not_found`; `version_gone`: it has no such version.";
const UNREADABLE: &str = "`encoding`: which is not known; `choices` names some. `empty_file`, `no_text`, `damaged_file`, \
    `unpacks_too_large`, `unreadable_file`: what is in it cannot be used. `invalid`: a value cannot be.";
const UNKNOWN: &str = "`unsupported_file`: nothing here reads such a file. `unsupported_media_type`: it is compressed on \
    its way.";

pub fn upload_file(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "upload", "Brings a file: the body is its bytes.")
        .add_description(
            "What it is, its bytes say. An image may be named in a message, any other file may become a document; \
                 what nothing names is forgotten after a day. Images are kept without anything hidden in them.",
        )
        .query_parameters::<UploadQuery>()
        .binary_request_body()
        .response::<StoredUpload>(201, "What is kept of it.")
        .problem_response(415, UNKNOWN)
        .problem_response(
            422,
            "`image_too_large`: in pixels. `empty_file`, `damaged_file`, `unreadable_file`: it cannot be used.",
        )
        .problem_response(
            507,
            "`quota_reached`: your files and documents have no more room. `storage_full`: the disk has none.",
        )
}

pub fn list_documents(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "list_documents", "Lists documents.")
        .query_parameters::<ListDocumentsQuery>()
        .shared_response(404)
        .list_response::<DocumentDetails>("Those that changed last first, without their text.")
}

pub fn create_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "create_document", "Makes a document.")
        .add_description("Longer texts than a body may have come as a file: `POST /api/blobs`, then `blob`.")
        .request_body::<CreateDocumentRequest>(json!({ "title": "Notes", "content": "# Notes\n" }))
        .created_response::<DocumentDetails>("The document.")
        .shared_response(404)
        .problem_response(415, UNKNOWN)
        .problem_response(422, UNREADABLE)
}

pub fn show_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "show_document", "Shows a document with its text.")
        .query_parameters::<DocumentVersionQuery>()
        .response::<DocumentDetails>(200, "The document with this version.")
        .problem_response(404, NO_VERSION)
}

pub fn change_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "change_document", "Changes a document.")
        .add_description("Other words make a version; the same words make none. Earlier versions stay as they are.")
        .request_body::<UpdateDocumentRequest>(json!({ "content": "# Notes\n\nMore.\n", "rev": 1 }))
        .response::<DocumentDetails>(200, NOW)
        .problem_response(
            409,
            "`document_changed`: `rev` is another one by now. `too_many_versions`: a bound is reached.",
        )
        .problem_response(415, UNKNOWN)
        .problem_response(422, UNREADABLE)
}

pub fn delete_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "delete_document", "Moves a document to the trash.")
        .add_description("Messages that name it stay; models are told that it was deleted.")
        .query_parameters::<DeleteDocumentQuery>()
        .empty_response(204, "It is there, or gone.")
}

pub fn restore_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Documents",
            "restore_document",
            "Brings a document back from the trash, or an earlier version as the newest.",
        )
        .request_body::<RestoreDocumentRequest>(json!({ "version_timestamp": "2026-11-22T07:00:00.000001Z" }))
        .optional_request_body()
        .response::<DocumentDetails>(200, NOW)
        .problem_response(404, NO_VERSION)
        .problem_response(409, "`too_many_versions`: a bound is reached.")
}

pub fn list_document_versions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "list_document_versions", "Lists the versions of a document.")
        .list_response::<DocumentVersionDetails>("The newest first, without their text.")
}

pub fn compare_document_versions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "compare_document_versions", "Compares two versions of a document.")
        .query_parameters::<CompareDocumentVersionsQuery>()
        .response::<TextDiff>(200, "Both texts as one list of pieces.")
}

pub fn attach_to_draft(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Documents",
            "attach_to_draft",
            "Attaches documents, selections and images to the next message of a chat.",
        )
        .add_description(
            "They come behind what its draft has attached already, and go out when it is sent with its attachments.",
        )
        .request_body::<AttachToDraftRequest>(json!({
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
        .response::<DraftRevision>(200, "They are attached.")
        .problem_response(404, UNKNOWN_REFERENCE)
        .problem_response(409, SELECTION_MISMATCH)
        .problem_response(422, "`out_of_range`, `invalid`: it is well formed and cannot be attached.")
}
