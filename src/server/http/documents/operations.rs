//! OpenAPI descriptions of documents and files.

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

const NOW: &str = "The updated document.";
const NO_VERSION: &str = "`not_found`; `version_gone`: the version does not exist.";
const UNREADABLE: &str = "`encoding`: the text encoding is unknown; `choices` lists candidates. `empty_file`, \
    `no_text`, `damaged_file`, `unpacks_too_large`, `unreadable_file`: the content cannot be used. `invalid`: a \
    value is not allowed.";
const UNKNOWN: &str = "`unsupported_file`: this file type is not supported. `unsupported_media_type`: the request \
    body is compressed.";

pub fn upload_file(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "upload", "Uploads a file; the body is its bytes.")
        .add_description(
            "The type is detected from the bytes. An image can be attached to a message; other files can become \
            documents. Files that nothing references are deleted after a day. Hidden data in images is removed.",
        )
        .query_parameters::<UploadQuery>()
        .binary_request_body()
        .response::<StoredUpload>(201, "The stored file.")
        .problem_response(415, UNKNOWN)
        .problem_response(
            422,
            "`image_too_large`: too many pixels. `empty_file`, `damaged_file`, `unreadable_file`: it cannot be used.",
        )
        .problem_response(
            507,
            "`quota_reached`: your storage for files and documents is full. `storage_full`: the disk is full.",
        )
}

pub fn list_documents(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "list_documents", "Lists documents.")
        .query_parameters::<ListDocumentsQuery>()
        .shared_response(404)
        .list_response::<DocumentDetails>("The documents, most recently changed first, without text.")
}

pub fn create_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "create_document", "Creates a document.")
        .add_description(
            "For texts larger than a body, upload a file first: `POST /api/blobs`, then `blob`. \
            With `reuse`, a `blob` that is a document with this title already answers 200 with that document.",
        )
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
        .describe("Documents", "change_document", "Updates a document.")
        .add_description("Changed text creates a version; unchanged text does not. Earlier versions stay.")
        .request_body::<UpdateDocumentRequest>(json!({ "content": "# Notes\n\nMore.\n", "rev": 1 }))
        .response::<DocumentDetails>(200, NOW)
        .problem_response(409, "`document_changed`: `rev` is out of date. `too_many_versions`: a limit is reached.")
        .problem_response(415, UNKNOWN)
        .problem_response(422, UNREADABLE)
}

pub fn delete_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "delete_document", "Moves a document to Trash.")
        .add_description("Messages that reference it stay; models see that it was deleted.")
        .query_parameters::<DeleteDocumentQuery>()
        .empty_response(204, "It is deleted.")
        .problem_response(409, "`not_in_trash`: it can only be deleted permanently once it is in Trash.")
}

pub fn restore_document(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Documents",
            "restore_document",
            "Restores a document from Trash, or an earlier version as the newest.",
        )
        .request_body::<RestoreDocumentRequest>(json!({ "version_timestamp": "2026-11-22T07:00:00.000001Z" }))
        .optional_request_body()
        .response::<DocumentDetails>(200, NOW)
        .problem_response(404, NO_VERSION)
        .problem_response(409, "`too_many_versions`: a limit is reached; `not_in_trash`: it was not deleted.")
}

pub fn list_document_versions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "list_document_versions", "Lists the versions of a document.")
        .list_response::<DocumentVersionDetails>("The versions, newest first, without text.")
}

pub fn compare_document_versions(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Documents", "compare_document_versions", "Compares two versions of a document.")
        .query_parameters::<CompareDocumentVersionsQuery>()
        .response::<TextDiff>(200, "Both texts as one list of segments.")
}

pub fn attach_to_draft(operation: ApiOperation) -> ApiOperation {
    operation
        .describe(
            "Documents",
            "attach_to_draft",
            "Attaches documents, selections and images to the next message of a chat.",
        )
        .add_description("They are added after the draft's attachments and sent with its next message.")
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
        .problem_response(422, "`out_of_range`, `invalid`: it cannot be attached.")
}
