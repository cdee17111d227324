//! `cargo xtask api-collection`: writes the operations of the HTTP API as collections that HTTP clients import:
//! `docs/api/turnleaf.http` (VS Code REST Client, IntelliJ, Kulala) and `docs/api/turnleaf.insomnia.json` (Insomnia,
//! Bruno, Postman). Both are generated from the OpenAPI document, and `cargo xtask test api` fails when they are not
//! current.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::RunningProcess;
use crate::{http, server, workspace};

/// The time limit of the server's start.
const START: Duration = Duration::from_secs(60);
/// The address in the collections: the default one.
const HOST: &str = "http://127.0.0.1:3000";
/// The methods of an operation.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A request of a collection: an operation, with a query and a body of its own where the example of the document is not
/// what its group shows.
struct Entry {
    operation: &'static str,
    query: &'static str,
    body: Option<&'static str>,
}

const fn entry(operation: &'static str) -> Entry {
    Entry { operation, query: "", body: None }
}

const fn with_query(operation: &'static str, query: &'static str) -> Entry {
    Entry { operation, query, body: None }
}

const fn with_body(operation: &'static str, body: &'static str) -> Entry {
    Entry { operation, query: "", body: Some(body) }
}

/// The first groups follow a conversation from its start. All other operations follow, by their tag.
const GROUPS: [(&str, &[Entry]); 6] = [
    ("Chats", &[entry("create_chat"), entry("list_chats"), entry("show_chat"), entry("change_chat")]),
    ("Turns", &[entry("send"), entry("show_turn"), entry("edit"), entry("retry"), entry("stop")]),
    (
        "Blocks",
        &[
            entry("list_blocks"),
            with_query("list_turns", "form=seed"),
            with_body("send", r#"{"content":[{"block_type":"user_text","content":{"text":"Hello!"}}]}"#),
        ],
    ),
    ("Branches", &[entry("list_branches"), entry("create_branch"), entry("show_branch"), entry("change_branch")]),
    ("Streaming", &[entry("follow_turn"), entry("follow_chat"), entry("follow_changes")]),
    (
        "Parameters",
        &[
            entry("list_models"),
            with_body("send", r#"{"text":"Hello!","params":{"temperature":0.2,"max_tokens":500}}"#),
            with_body("send", r#"{"text":"Think first.","params":{"thinking":{"budget":2048}}}"#),
            with_body("change_chat", r#"{"params":{"temperature":0.2}}"#),
        ],
    ),
];

/// The variables that later requests take from the response of a request: variable, operation and pointer.
const CHAINED: [(&str, &str, &str); 4] = [
    ("chat_id", "create_chat", "$.id"),
    ("branch_id", "create_chat", "$.branches[0].id"),
    ("user_turn_id", "send", "$.user_turn.id"),
    ("turn_id", "send", "$.assistant_turn.id"),
];

/// One request of the collection.
struct Request {
    name: String,
    group: String,
    summary: String,
    method: String,
    /// The path with `{{variables}}`, and the query.
    target: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    /// True for the first request with this operation, whose response later ones refer to.
    is_named: bool,
    operation: String,
}

/// Writes the collections.
///
/// # Errors
/// The server does not build or start, or the files cannot be written.
pub fn run() -> Result<()> {
    let binary = crate::test::server()?;
    let dir = tempfile::Builder::new().prefix("turnleaf-api").tempdir()?;
    let mut turnleaf = server::start_server(&binary, dir.path(), &[])?;
    turnleaf.wait_for("/readyz", START)?;
    for (path, text) in collections(&fetch_document(&turnleaf)?)? {
        std::fs::create_dir_all(path.parent().context("a path without a folder")?)?;
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Fails if a collection in the repository is not the one of this server.
///
/// # Errors
/// A file is missing or differs.
pub fn check(turnleaf: &RunningProcess) -> Result<()> {
    for (path, text) in collections(&fetch_document(turnleaf)?)? {
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            bail!("{} is not current: run `cargo xtask api-collection`", path.display());
        }
    }
    Ok(())
}

fn fetch_document(turnleaf: &RunningProcess) -> Result<Value> {
    Ok(serde_json::from_slice(&http::get(turnleaf.address, "/api/openapi.json", "identity")?.body)?)
}

fn collections(document: &Value) -> Result<[(PathBuf, String); 2]> {
    let requests = requests(document)?;
    let dir = workspace::root().join("docs/api");
    let insomnia = serde_json::to_string_pretty(&insomnia(&requests))? + "\n";
    Ok([(dir.join("turnleaf.http"), http_file(&requests)), (dir.join("turnleaf.insomnia.json"), insomnia)])
}

fn requests(document: &Value) -> Result<Vec<Request>> {
    let paths = document["paths"].as_object().context("a document without paths")?;
    let operations = paths.iter().flat_map(|(path, methods)| {
        METHODS.iter().filter_map(move |method| Some((path.as_str(), *method, methods.get(*method)?)))
    });
    let operations: Vec<_> =
        operations.filter(|(path, ..)| !matches!(*path, "/api/docs" | "/api/openapi.json")).collect();
    let mut requests: Vec<Request> = Vec::new();
    for (group, entries) in &GROUPS {
        for entry in *entries {
            let (path, method, operation) = operations
                .iter()
                .find(|(.., operation)| operation["operationId"] == entry.operation)
                .with_context(|| format!("there is no operation `{}`", entry.operation))?;
            let is_named = requests.iter().all(|request| request.operation != entry.operation);
            requests.push(request(group, path, method, operation, entry, is_named));
        }
    }
    let tags = document["tags"].as_array().context("a document without tags")?;
    for tag in tags.iter().filter_map(|tag| tag["name"].as_str()) {
        for (path, method, operation) in &operations {
            let id = operation["operationId"].as_str().unwrap_or_default();
            let has_tag = operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|one| one == tag));
            if has_tag && operation["deprecated"] != true && requests.iter().all(|request| request.operation != id) {
                requests.push(request(tag, path, method, operation, &entry(""), true));
            }
        }
    }
    Ok(requests)
}

fn request(group: &str, path: &str, method: &str, operation: &Value, entry: &Entry, is_named: bool) -> Request {
    let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
    let mut target = variables(path, &id);
    if !entry.query.is_empty() {
        let _ = write!(target, "?{}", entry.query);
    } else if let Some(query) = required_query(operation) {
        let _ = write!(target, "?{query}");
    }
    let mut headers = Vec::new();
    let content = &operation["requestBody"]["content"];
    let body = match (entry.body, content.get("application/json")) {
        (Some(body), _) => serde_json::from_str(body).ok(),
        (None, Some(json)) => json.get("example").cloned(),
        (None, None) => None,
    };
    if let Some(kind) = content.as_object().and_then(|kinds| kinds.keys().next()) {
        headers.push(("Content-Type".to_owned(), kind.clone()));
    }
    if operation["responses"]["200"]["content"].get("text/event-stream").is_some() {
        headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
    }
    let mut summary = operation["summary"].as_str().unwrap_or_default().to_owned();
    if operation["responses"].get("101").is_some() {
        summary.push_str(" Open it with a WebSocket client.");
    }
    let number = if is_named { String::new() } else { format!(" ({})", group.to_lowercase()) };
    Request {
        name: format!("{id}{number}"),
        group: group.to_owned(),
        summary,
        method: method.to_uppercase(),
        target,
        headers,
        body: body.map(|body: Value| serde_json::to_string_pretty(&body).unwrap_or_default()),
        is_named,
        operation: id,
    }
}

/// Writes the parameters of a path as variables: `{{chat_id}}` for `{id}` below `chats`.
fn variables(path: &str, operation: &str) -> String {
    let mut before = "";
    let parts = path.split('/').map(|part| {
        let shown = match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            // A message is edited; everything else is done with the reply.
            Some("id") if before == "turns" && operation == "edit" => "{{user_turn_id}}".to_owned(),
            Some("id") => format!("{{{{{}_id}}}}", before.trim_end_matches('s').replace('-', "_")),
            Some("turn") => "{{turn_id}}".to_owned(),
            Some(name) => format!("{{{{{name}}}}}"),
            None => part.to_owned(),
        };
        before = part;
        shown
    });
    parts.collect::<Vec<_>>().join("/")
}

fn required_query(operation: &Value) -> Option<String> {
    let needed = operation["parameters"].as_array()?.iter();
    let needed = needed.filter(|one| one["in"] == "query" && one["required"] == true);
    let pairs: Vec<_> =
        needed.filter_map(|one| one["name"].as_str()).map(|name| format!("{name}={{{{{name}}}}}")).collect();
    (!pairs.is_empty()).then(|| pairs.join("&"))
}

/// Returns the variables that requests use, in order of use.
fn used_variables(requests: &[Request]) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for request in requests {
        for piece in request.target.split("{{").skip(1) {
            let name = piece.split("}}").next().unwrap_or_default().to_owned();
            if !used.contains(&name) {
                used.push(name);
            }
        }
    }
    used
}

fn http_file(requests: &[Request]) -> String {
    let mut text = format!(
        "# The HTTP API of Turnleaf, for the HTTP client of an editor. Send create_chat and send first: the requests\n\
         # after them use the ids of their responses. Set the other variables yourself.\n\
         # Generated by `cargo xtask api-collection` from /api/openapi.json.\n\n@host = {HOST}\n"
    );
    let is_chained = |name: &str| CHAINED.iter().any(|(variable, ..)| *variable == name);
    for name in used_variables(requests).iter().filter(|name| !is_chained(name)) {
        let _ = writeln!(text, "@{name} =");
    }
    let mut group = "";
    for request in requests {
        if request.group != group {
            group = &request.group;
            let _ = write!(text, "\n# {group}\n");
        }
        let _ = write!(text, "\n### {}\n", request.summary);
        if request.is_named {
            let _ = writeln!(text, "# @name {}", request.operation);
        }
        let _ = writeln!(text, "{} {{{{host}}}}{}", request.method, request.target);
        for (name, value) in &request.headers {
            let _ = writeln!(text, "{name}: {value}");
        }
        if let Some(body) = &request.body {
            let _ = write!(text, "\n{body}\n");
        } else if request.headers.iter().any(|(name, _)| name == "Content-Type") {
            text.push_str("\n< ./file\n");
        }
        if request.is_named {
            let chained = CHAINED.iter().filter(|(_, operation, _)| *operation == request.operation);
            for (variable, operation, pointer) in chained {
                let _ = write!(text, "\n@{variable} = {{{{{operation}.response.body.{pointer}}}}}\n");
            }
        }
    }
    text
}

fn insomnia(requests: &[Request]) -> Value {
    const WORKSPACE: &str = "wrk_turnleaf";
    let mut environment = json!({ "host": HOST });
    for name in used_variables(requests) {
        environment[name] = json!("");
    }
    let mut resources = vec![
        json!({ "_id": WORKSPACE, "_type": "workspace", "parentId": null, "name": "Turnleaf", "scope": "collection" }),
        json!({ "_id": "env_turnleaf", "_type": "environment", "parentId": WORKSPACE, "name": "Base", "data": environment }),
    ];
    let mut groups: Vec<&str> = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        if !groups.contains(&request.group.as_str()) {
            groups.push(&request.group);
            resources.push(json!({
                "_id": format!("fld_{}", groups.len()), "_type": "request_group", "parentId": WORKSPACE,
                "name": request.group, "metaSortKey": groups.len(),
            }));
        }
        let folder = groups.iter().position(|group| *group == request.group).map_or(0, |at| at + 1);
        let template = |text: &str| text.replace("{{", "{{ _.").replace("}}", " }}");
        let headers: Vec<Value> =
            request.headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let body = request
            .body
            .as_ref()
            .map_or_else(|| json!({}), |body| json!({ "mimeType": "application/json", "text": body }));
        resources.push(json!({
            "_id": format!("req_{}", number + 1), "_type": "request", "parentId": format!("fld_{folder}"),
            "name": request.name, "description": request.summary, "method": request.method,
            "url": format!("{{{{ _.host }}}}{}", template(&request.target)),
            "headers": headers, "body": body, "metaSortKey": number + 1,
        }));
    }
    json!({ "_type": "export", "__export_format": 4, "__export_source": "turnleaf", "resources": resources })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let operation =
            |id: &str, tag: &str| json!({ "operationId": id, "tags": [tag], "summary": "Does.", "responses": {} });
        let mut paths = serde_json::Map::new();
        for (number, entry) in GROUPS.iter().flat_map(|(_, entries)| entries.iter()).enumerate() {
            if !paths.values().any(|one: &Value| one["post"]["operationId"] == entry.operation) {
                let id = operation(entry.operation, "Chats");
                paths.insert(format!("/api/chats/{{id}}/{number}"), json!({ "post": id }));
            }
        }
        paths.insert(
            "/api/search".into(),
            json!({ "get": {
            "operationId": "search", "tags": ["Search"], "summary": "Searches.", "responses": {},
            "parameters": [{ "in": "query", "name": "q", "required": true }],
        } }),
        );
        json!({ "paths": paths, "tags": [{ "name": "Chats" }, { "name": "Search" }] })
    }

    #[test]
    fn collection_has_every_operation_and_all_groups() {
        let requests = requests(&document()).expect("a collection");
        let text = http_file(&requests);
        for (group, entries) in &GROUPS {
            assert!(text.contains(&format!("\n# {group}\n")), "{group}");
            assert!(entries.iter().all(|entry| text.contains(&format!("# @name {}\n", entry.operation))), "{group}");
        }
        assert!(text.contains("GET {{host}}/api/search?q={{q}}\n") && text.contains("@q =\n"), "{text}");
        assert!(text.contains("@chat_id = {{create_chat.response.body.$.id}}"), "{text}");
        assert!(text.contains("?form=seed") && text.contains("\"block_type\": \"user_text\""), "{text}");
        let insomnia = insomnia(&requests);
        let resources = insomnia["resources"].as_array().expect("resources");
        let count = |kind: &str| resources.iter().filter(|one| one["_type"] == kind).count();
        assert_eq!((count("request"), count("request_group")), (requests.len(), GROUPS.len() + 1));
        let urls: Vec<_> = resources.iter().filter_map(|one| one["url"].as_str()).collect();
        assert!(urls.contains(&"{{ _.host }}/api/search?q={{ _.q }}"), "{urls:?}");
    }
}
