//! The description of the HTTP API (OpenAPI 3.1): as JSON for programs, as a page for people. What crosses the network is
//! derived from its types; what an operation is for, takes and answers stands in one file a noun. `routes` and this
//! must name the same operations, which a test of both holds.

mod branches;
mod calls;
mod chats;
mod compare;
mod documents;
mod operation;
mod providers;
mod reading;
mod schemas;
mod search;
mod server;
mod tools;
mod transfer;
mod trash;
mod turns;

use std::sync::LazyLock;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use self::operation::Operation;
use super::plain_page::Asked;
use crate::server::app::App;
use crate::server::plain_pages::api::ApiPage;

/// The document, made at the first request.
static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
static TEXT: LazyLock<String> = LazyLock::new(|| DOCUMENT.to_string());

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

const ABOUT: &str = "Requests and answers are JSON in UTF-8. Unknown fields are refused. Ids are hyphenated lower-case \
    UUIDs; any other spelling names nothing. What belongs to somebody else does not exist (404). Times are RFC 3339 in \
    UTC.\n\n\
    Every error is `application/problem+json` (RFC 9457) with a stable `code`, a sentence in `detail`, the `field` it is \
    about where there is one, and the `request_id` under which the server's log has it.\n\n\
    What makes something takes an `Idempotency-Key`, or `client_request_id` in the body: the same request again makes \
    nothing and gets the same thing with 200; another request under a used name gets 409 `idempotency_mismatch`. Names \
    of turns are kept with their chat, others for a day.\n\n\
    Browsers may change things only from the server's own pages (403 `cross_site`).";

/// `GET /api/openapi.json`.
pub async fn show(headers: HeaderMap) -> Response {
    let tag = concat!("\"", env!("CARGO_PKG_VERSION"), "\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let shared = [
        (header::ETAG, HeaderValue::from_static(tag)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if is_known { (StatusCode::NOT_MODIFIED, shared).into_response() } else { (shared, TEXT.as_str()).into_response() }
}

/// `GET /api/docs`: the same for people. Without script, so that it works offline and under the strictest policy.
pub async fn page(State(app): State<App>, asked: Asked) -> Response {
    asked.answer(&app, StatusCode::OK, ApiPage { document: &DOCUMENT }.draw())
}

fn operations() -> Vec<Operation> {
    let groups = [
        chats::operations(),
        turns::operations(),
        calls::operations(),
        compare::operations(),
        branches::operations(),
        reading::operations(),
        search::operations(),
        trash::operations(),
        documents::operations(),
        transfer::operations(),
        providers::operations(),
        tools::operations(),
        server::operations(),
    ];
    groups.into_iter().flatten().collect()
}

fn document() -> Value {
    let mut paths = Map::new();
    let mut known = schemas::own();
    for operation in operations() {
        known.extend(operation.schemas());
        let (path, method, described) = operation.described();
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
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": { "schemas": known, "responses": operation::shared_answers() },
    });
    if let Some(Value::Object(known)) = document.pointer_mut("/components/schemas") {
        known.iter_mut().for_each(|(name, schema)| schemas::mend(name, schema));
    }
    schemas::tidy(&mut document);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_name_of_one_shape() {
        let mut known: Map<String, Value> = schemas::own();
        for (name, schema) in operations().iter().flat_map(Operation::schemas) {
            let earlier = known.insert(name.clone(), schema.clone());
            assert!(earlier.is_none_or(|earlier| earlier == schema), "two types are called {name}");
        }
    }
}
