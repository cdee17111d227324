//! The description of the HTTP API (OpenAPI 3.1): as JSON for programs, as a page for people. What crosses the
//! network is derived from its types; what an operation is for, takes and answers stands in `operations` of its noun.
//! Which operations there are, the table of routes says (`router`).

pub mod operation;
mod schemas;
pub mod server_operations;

use std::sync::{Arc, OnceLock};

use self::operation::ApiOperation;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::server::app::App;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::api_reference::ApiReferencePage;

/// The document, made at the first request.
pub struct OpenApiDocument {
    operations: fn() -> Vec<ApiOperation>,
    value: OnceLock<Value>,
    text: OnceLock<String>,
}

impl OpenApiDocument {
    /// That of these operations.
    pub fn new(operations: fn() -> Vec<ApiOperation>) -> Self {
        Self { operations, value: OnceLock::new(), text: OnceLock::new() }
    }

    fn value(&self) -> &Value {
        self.value.get_or_init(|| build_document((self.operations)()))
    }

    fn text(&self) -> &str {
        self.text.get_or_init(|| self.value().to_string())
    }
}

/// The groups of operations, in the order of the page.
const TAGS: [(&str, &str); 11] = [
    ("Chats", "A chat is a tree of turns; a path from its root to a leaf is what one reads."),
    (
        "Turns",
        "A message and a reply are a turn each; the two together are an exchange. A reply is written by the server, \
         whether anybody listens or not.",
    ),
    ("Branches", "A branch is a lineage of turns that keeps one provider and one model."),
    ("Reading", "Ways to read a chat: pages of a path, the whole tree, and the shapes of older clients."),
    ("Search", "Words in everything that was said and written, on all branches."),
    ("Trash", "What is deleted goes to the trash first, and can come back exactly as it was for 30 days."),
    ("Documents", "Texts with versions that never change, the files that they are made of, and images."),
    ("Transfer", "Archives and files of other programs: chats go out and come in."),
    ("Providers", "Connections to model providers. Keys go in and never come out."),
    (
        "Tools",
        "What models may call: Turnleaf's own tools, those of servers, and those that a client runs. Names and \
         descriptions of servers' tools are a stranger's words.",
    ),
    ("Server", "What was spent, and what watches the server."),
];

const API_DESCRIPTION: &str = "Requests and answers are JSON in UTF-8. Unknown fields are refused. Ids are hyphenated lower-case \
    UUIDs; any other spelling names nothing. What belongs to somebody else does not exist (404). Times are RFC 3339 in \
    UTC.\n\n\
    Every error is `application/problem+json` (RFC 9457) with a stable `code`, a sentence in `detail`, the `field` it is \
    about where there is one, and the `request_id` under which the server's log has it.\n\n\
    What makes something takes an `Idempotency-Key`, or `client_request_id` in the body: the same request again makes \
    nothing and gets the same thing with 200; another request under a used name gets 409 `idempotency_mismatch`. Names \
    of turns are kept with their chat, others for a day.\n\n\
    Browsers may change things only from the server's own pages (403 `cross_site`).";

/// `GET /api/openapi.json`.
pub async fn show(Extension(document): Extension<Arc<OpenApiDocument>>, headers: HeaderMap) -> Response {
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
        (shared, document.text().to_owned()).into_response()
    }
}

/// `GET /api/docs`: the same for people. Without script, so that it works offline and under the strictest policy.
pub async fn page(
    State(app): State<App>,
    Extension(document): Extension<Arc<OpenApiDocument>>,
    asked: PageContext,
) -> Response {
    asked.respond(&app, StatusCode::OK, ApiReferencePage { document: document.value() }.draw())
}

fn build_document(operations: Vec<ApiOperation>) -> Value {
    let mut paths = Map::new();
    let mut known = schemas::handwritten_schemas();
    for operation in operations {
        for (name, schema) in operation.schemas() {
            debug_assert!(known.get(&name).is_none_or(|earlier| *earlier == schema), "two types are called {name}");
            known.insert(name, schema);
        }
        let (path, method, described) = operation.into_path_item();
        if let Value::Object(methods) = paths.entry(path).or_insert_with(|| json!({})) {
            methods.insert(method.into(), described);
        }
    }
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
