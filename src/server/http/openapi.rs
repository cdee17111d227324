//! The OpenAPI 3.1 document of the HTTP API, as JSON for programs and as a page for people. Schemas are derived from
//! the types that cross the network; the `operations` module of each noun describes its operations, and the route
//! table (`router`) decides which operations exist. A test builds the document from them and compares it with the file
//! that the server shows; only the file is in the binary.

mod code_sample;
pub mod operation;
mod schemas;
pub mod server_operations;
mod unions;

use std::io::Read;
use std::sync::LazyLock;

use self::operation::ApiOperation;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::bufread::GzDecoder;
use serde_json::{Map, Value, json};

use crate::domain::blocks::block::content_schema;
use crate::server::app::App;
use crate::server::http::response::block_form::add_form_schemas;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::api_reference::ApiReferencePage;

/// The document, which `TURNLEAF_OPENAPI=refresh` writes (`tests/server/openapi.rs`). The descriptions that it is built
/// from would take twenty times its space in the binary.
const COMPRESSED_DOCUMENT: &[u8] = include_bytes!("openapi/document.json.gz");

/// Returns the text of the document, which the first use decompresses.
fn document_text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = String::new();
        if let Err(error) = GzDecoder::new(COMPRESSED_DOCUMENT).read_to_string(&mut text) {
            tracing::error!(%error, "the description of the API is damaged");
        }
        text
    });
    &TEXT
}

/// Returns the document, which the first use parses.
fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(document_text())
            .inspect_err(|error| tracing::error!(%error, "the description of the API is damaged"))
            .unwrap_or_default()
    });
    &DOCUMENT
}

/// The tags of operations, in the order of the page.
const TAGS: [(&str, &str); 14] = [
    ("Chats", "A chat is a tree of turns. Readers see one path, from the root to a leaf."),
    ("Projects", "Groups of chats. New chats of a project begin with its instructions and its model."),
    (
        "Turns",
        "A message and a reply are one turn each; together they are an exchange. The server generates replies whether \
        or not a client is connected.",
    ),
    ("Branches", "A branch is a line of turns with one provider and one model."),
    ("Reading", "Read a chat: pages of a path, the whole tree, and formats for older clients."),
    ("Search", "Search all messages and documents, on all branches."),
    ("Trash", "Deleted items move to Trash and can be restored exactly as they were for 30 days."),
    ("Documents", "Texts with immutable versions, the files they are made from, and images."),
    ("Transfer", "Export and import: archives and exports of other programs."),
    (
        "Sharing",
        "Links to snapshots of paths, which others read without an account, and branches that accounts read while they grow.",
    ),
    ("Providers", "Connections to model providers. API keys are write-only."),
    (
        "Tools",
        "Tools models can call: built-in tools, tools of tool servers, and tools run by clients. Names and \
        descriptions from tool servers are untrusted text.",
    ),
    (
        "Accounts",
        "Your sessions and API tokens, and the audit log for administrators. These requests are for people who are signed \
        in, not for tokens.",
    ),
    ("Server", "Usage, health and monitoring."),
];

const API_DESCRIPTION: &str = "Requests and responses are JSON in UTF-8. Unknown fields are rejected. Ids are \
    hyphenated lower-case UUIDs; other spellings match nothing. Resources of other users are reported as missing \
    (404). Times are RFC 3339 in UTC.\n\n\
    Errors are `application/problem+json` (RFC 9457) with a stable `code`, a sentence in `detail`, the `field` \
    concerned if any, and the `request_id` used in the server's log.\n\n\
    Requests that create something accept an `Idempotency-Key`, or `client_request_id` in the body: repeating the \
    same request creates nothing and returns the first result with 200; reusing a key for a different request \
    returns 409 `idempotency_mismatch`. Keys for turns are kept with their chat, others for a day.\n\n\
    On a server with accounts, programs send an API token as `Authorization: Bearer tl_…`. A token that lacks the \
    scope of a request gets 403 `forbidden`. Without accounts no credential is needed.\n\n\
    Browsers can change data only from the server's own pages (403 `cross_site`).";

/// `GET /api/openapi.json`.
pub async fn show(headers: HeaderMap) -> Response {
    let tag = concat!("\"", env!("CARGO_PKG_VERSION"), "\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let shared = [
        (header::ETAG, HeaderValue::from_static(tag)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if is_known {
        (StatusCode::NOT_MODIFIED, shared).into_response()
    } else {
        (shared, document_text()).into_response()
    }
}

/// `GET /api/docs`: shows the document as a page. It needs no script, so it works offline and under the strictest
/// content security policy.
pub async fn page(State(app): State<App>, context: PageContext) -> Response {
    context.respond(&app, StatusCode::OK, ApiReferencePage { document: document() }.draw())
}

/// Builds the document of these operations.
pub fn build_document(operations: Vec<ApiOperation>) -> Value {
    let mut paths = Map::new();
    let mut known = schemas::handwritten_schemas();
    for operation in operations {
        for (name, schema) in operation.schemas() {
            debug_assert!(known.get(&name).is_none_or(|earlier| *earlier == schema), "two types are called {name}");
            known.insert(name, schema);
        }
        let (path, method, mut described) = operation.into_path_item();
        described["x-codeSamples"] = code_sample::code_samples(method, path, &described);
        if let Value::Object(methods) = paths.entry(path).or_insert_with(|| json!({})) {
            methods.insert(method.into(), described);
        }
    }
    known.insert("Content".into(), content_schema());
    add_form_schemas(&mut known);
    let paths = Value::Object(paths);
    unions::name_variants(&mut known, &paths);
    let tags: Vec<Value> =
        TAGS.iter().map(|(name, description)| json!({ "name": name, "description": description })).collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Turnleaf",
            "version": env!("CARGO_PKG_VERSION"),
            "description": API_DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": { "schemas": known, "responses": operation::shared_responses() },
    });
    if let Some(Value::Object(known)) = document.pointer_mut("/components/schemas") {
        known.iter_mut().for_each(|(name, schema)| schemas::allow_null_fields(name, schema));
    }
    schemas::clean_up(&mut document);
    document
}
