//! The OpenAPI document: it is what the descriptions of the routes make, all of its references resolve, and its examples
//! are valid requests. The descriptions list exactly the routes by construction, because one table has both
//! (`http::router`).

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::server::http::router::openapi_document;

use crate::http_api::TestApi;

/// `TURNLEAF_OPENAPI=refresh` writes the file anew after a route, its description, a type in it or the version has changed.
#[test]
fn document_in_server_is_built_from_descriptions() {
    let built = openapi_document().to_string();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/server/http/openapi/document.json.gz");
    if std::env::var("TURNLEAF_OPENAPI").is_ok_and(|word| word == "refresh") {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(built.as_bytes()).unwrap();
        std::fs::write(&file, gzip.finish().unwrap()).unwrap();
        return;
    }
    let mut stored = String::new();
    GzDecoder::new(&*std::fs::read(&file).unwrap()).read_to_string(&mut stored).unwrap();
    assert!(stored == built, "`TURNLEAF_OPENAPI=refresh` with this test writes the document anew");
}

async fn document(api: &TestApi) -> Value {
    let (status, document) = api.call("GET", "/api/openapi.json", None).await;
    assert_eq!(status, StatusCode::OK);
    document
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(|(method, operation)| (method.clone(), path.clone(), operation.clone())).collect::<Vec<_>>()
        })
        .collect()
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_resolves() {
    let api = TestApi::new([]).await;
    let document = document(&api).await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut all = Vec::new();
    references(&document, &mut all);
    for reference in &all {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(all.iter().any(|used| used.rsplit('/').next() == Some(name)), "nothing uses {name}");
    }
    let tags: Vec<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let label = format!("{method} {path}");
        assert!(tags.contains(&operation["tags"][0].as_str().unwrap()), "{label}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{label}: its id is used twice");
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status < &"400".to_owned()), "{label}: nothing but errors");
        assert!(answers.contains_key("404") || !path.contains('{'), "{label}: 404");
        // Operations about the server itself and its models need no scope.
        let needs_scope =
            !["/api/features", "/api/models", "/api/openapi.json", "/api/docs", "/healthz", "/readyz", "/version"]
                .contains(&path.as_str());
        assert_eq!(answers.contains_key("403"), method != "get" || needs_scope, "{label}: 403");
        let taken = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            assert!(taken.iter().any(|one| one["in"] == "path" && one["name"] == name), "{label}: {name}");
        }
        let is_file = is_file(&operation);
        if let Some(body) = operation.get("requestBody").filter(|_| !is_file) {
            assert!(body["content"]["application/json"]["example"].is_object(), "{label}: no example");
        }
        let is_creating = answers.contains_key("201");
        let named = taken.iter().any(|one| one["name"] == "Idempotency-Key");
        // Uploads take no idempotency key, because identical bytes are the same file anyway.
        assert_eq!(is_creating && !is_file, named, "{label}: what makes something can be named");
    }
    // The document must contain no citation or rustdoc link, which only readers of the code can follow.
    let text = document.to_string();
    for mark in [".md ", "[`", "crate::"] {
        assert!(!text.contains(mark), "{mark}");
    }
}

#[tokio::test]
async fn every_schema_is_described() {
    let api = TestApi::new([]).await;
    let document = document(&api).await;
    let schemas = document["components"]["schemas"].as_object().unwrap();
    // The variants of a union are named after it, and described with it or by their own comment.
    let variants: BTreeSet<&str> = schemas
        .values()
        .filter_map(|schema| schema["oneOf"].as_array())
        .flatten()
        .filter_map(|variant| variant["$ref"].as_str()?.rsplit('/').next())
        .collect();
    let is_described = |schema: &Value| schema["description"].as_str().is_some_and(|text| !text.trim().is_empty());
    let bare: Vec<&str> = schemas
        .iter()
        .filter(|(name, schema)| !is_described(schema) && !variants.contains(name.as_str()))
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(bare.is_empty(), "no description: {bare:?}");
}

/// Returns whether the body of a request is a file.
fn is_file(operation: &Value) -> bool {
    operation["requestBody"]["content"].get("application/octet-stream").is_some()
}

#[tokio::test]
async fn examples_match_their_schemas() {
    let api = TestApi::new([]).await;
    for (method, path, operation) in operations(&document(&api).await) {
        let Some(body) = operation.get("requestBody").filter(|_| !is_file(&operation)) else { continue };
        let example = body["content"]["application/json"]["example"].clone();
        let path = path
            .split('/')
            .map(|part| if part.starts_with('{') { "0190b5b4-7c1e-7abc-8def-0123456789ab" } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        let (status, answer) = api.call(&method.to_uppercase(), &path, Some(example.clone())).await;
        assert_ne!(status, StatusCode::BAD_REQUEST, "{method} {path} {example}: {answer}");
        let fields: Vec<Value> = example.as_object().unwrap().values().cloned().collect();
        let (status, answer) = api.call(&method.to_uppercase(), &path, Some(json!(fields))).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{method} {path}: a list is no object: {answer}");
        let mut strange = example.clone();
        strange["colour"] = json!("red");
        let (status, answer) = api.call(&method.to_uppercase(), &path, Some(strange)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{method} {path}: unknown fields are refused: {answer}");
    }
}

#[tokio::test]
async fn every_operation_has_curl_example_and_is_in_collections() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api");
    let requests = std::fs::read_to_string(root.join("turnleaf.http")).unwrap();
    let insomnia: Value =
        serde_json::from_str(&std::fs::read_to_string(root.join("turnleaf.insomnia.json")).unwrap()).unwrap();
    let names: BTreeSet<&str> =
        insomnia["resources"].as_array().unwrap().iter().filter_map(|resource| resource["name"].as_str()).collect();
    let api = TestApi::new([]).await;
    for (method, path, operation) in operations(&document(&api).await) {
        let samples = operation["x-codeSamples"].as_array().unwrap();
        let [sample] = samples.as_slice() else { panic!("{method} {path}: {samples:?}") };
        assert_eq!(sample["label"], "curl", "{method} {path}");
        let source = sample["source"].as_str().unwrap();
        let first = path.split('{').next().unwrap();
        assert!(source.starts_with("curl ") && source.contains(first), "{method} {path}: {source}");
        // The collections have no deprecated operations, and none of the description itself.
        let is_left_out = operation["deprecated"] == true || path == "/api/docs" || path == "/api/openapi.json";
        let id = operation["operationId"].as_str().unwrap();
        let is_listed = requests.contains(&format!("# @name {id}\n")) && names.contains(id);
        assert!(is_listed || is_left_out, "{id}: run `cargo xtask api-collection`");
    }
}

#[tokio::test]
async fn api_page_shows_everything_without_script() {
    let api = TestApi::new([]).await;
    let request = http::Request::builder().uri("/api/docs").header("host", "127.0.0.1:3000");
    let response = api.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("script-src 'nonce-"), "{policy}");
    let html = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let html = String::from_utf8(html.to_vec()).unwrap();
    assert!(html.matches("<script").count() == 1 && !html.contains("style=\"") && !html.contains("http://cdn"));
    let document = document(&api).await;
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(html.contains(&format!("id=\"{id}\"")), "{method} {path}");
        assert!(html.contains(&format!("href=\"#{id}\"")), "{method} {path} in the contents");
    }
    assert_eq!(html.matches("Example (curl)").count(), operations(&document).len(), "an example of each operation");
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(html.contains(&format!("id=\"shape-{name}\"")), "{name}");
    }
    for link in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(html.contains(&format!("id=\"{link}\"")), "a link to {link} leads nowhere");
    }
}
