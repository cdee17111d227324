//! Views of tools (MCP Apps, `io.modelcontextprotocol/ui`): what a tool declares about its view, and the page that its
//! server gives once a call has ended. The page is untrusted: it is bounded here, and shown in a sandboxed frame only.

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{ExtensionCapabilities, ServerResult};
use rmcp::service::Peer;
use serde_json::{Map, Value, json};

use super::catalog;
use crate::result::{clean_value, strip_escapes};
use turnleaf_domain::limits::{APP_VIEW_BYTES, RESOURCE_URI_BYTES};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_platform::tasks;
use turnleaf_providers::base64;
use turnleaf_providers::redaction::SecretSet;

/// The name of the protocol extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The MIME type of a page, and its two parts.
const MIME: &str = "text/html;profile=mcp-app";
const MIME_ESSENCE: &str = "text/html";
const MIME_PROFILE: (&str, &str) = ("profile", "mcp-app");
const SCHEME: &str = "ui://";
/// The members of a result that are told to its page.
const ANSWER_MEMBERS: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];

/// A page that a result embeds instead of naming its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedPage {
    pub uri: String,
    pub page: Bytes,
}

/// Returns the extension as a client declares it.
pub fn extensions() -> ExtensionCapabilities {
    let settings = Map::from_iter([("mimeTypes".to_owned(), json!([MIME]))]);
    ExtensionCapabilities::from([(EXTENSION.to_owned(), settings)])
}

/// Returns the address of the page of a listed tool, if it has one that can be requested as it is shown.
pub fn page_address(tool: &Value, secrets: &SecretSet) -> Option<String> {
    // The second place is the one of drafts of the extension.
    let places = ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"];
    let uri = places.into_iter().find_map(|place| tool.pointer(place)?.as_str())?;
    let is_usable = uri.starts_with(SCHEME) && catalog::is_plain(uri, RESOURCE_URI_BYTES, secrets);
    is_usable.then(|| uri.to_owned())
}

/// Returns whether a listed tool must not be called by this kind of caller: `model`, or `app` for pages of its server.
pub fn is_hidden_from(tool: &Value, caller: &str) -> bool {
    let visibility = tool.pointer("/_meta/ui/visibility").and_then(Value::as_array);
    visibility.is_some_and(|visibility| visibility.iter().all(|who| who != caller))
}

/// Reads the page at this address.
///
/// # Errors
/// The reason why there is no page, as a part of a sentence.
pub async fn read_page(peer: &Peer<RoleClient>, secrets: SecretSet, uri: &str) -> Result<Bytes, CodedMessage> {
    let contents = catalog::read_contents(peer, &secrets, uri).await?;
    let uri = uri.to_owned();
    // It may hold megabytes, so it is cleaned on a blocking thread.
    let clean = move || {
        let contents = serde_json::to_value(contents).unwrap_or_default();
        page_of(&contents, &uri, &secrets).map_err(CodedMessage::uncoded)
    };
    tasks::spawn_blocking(clean).await.unwrap_or_else(|_| Err(MessageCode::ResponseUnreadable.into()))
}

/// Returns a result as its page is told it; `None` if it is too large.
pub async fn told_answer(secrets: SecretSet, answer: ServerResult) -> Option<Bytes> {
    let clean = move || answer_of(&serde_json::to_value(answer).ok()?, &secrets);
    tasks::spawn_blocking(clean).await.ok().flatten()
}

/// Reads a resource for a page of its server, which is told all of its contents.
///
/// # Errors
/// The reason why there is none, as a part of a sentence.
pub async fn read_resource(peer: &Peer<RoleClient>, secrets: SecretSet, uri: &str) -> Result<Value, CodedMessage> {
    let contents = catalog::read_contents(peer, &secrets, uri).await?;
    let clean = move || told_contents(&serde_json::to_value(contents).unwrap_or_default(), &secrets);
    tasks::spawn_blocking(clean).await.unwrap_or_else(|_| Err(MessageCode::ResponseUnreadable.into()))
}

/// Returns the contents of a response as a page is told them.
fn told_contents(response: &Value, secrets: &SecretSet) -> Result<Value, CodedMessage> {
    let contents = response.get("contents").filter(|contents| contents.is_array()).cloned();
    let contents = contents.and_then(|contents| clean_value(secrets, contents));
    let told = json!({ "contents": contents.ok_or(MessageCode::ResponseUnreadable)? });
    if told.to_string().len() > APP_VIEW_BYTES {
        return Err(MessageCode::ResponseTooLarge.with("limit", ByteSize::from_usize(APP_VIEW_BYTES)));
    }
    Ok(told)
}

/// Returns the page of a response.
///
/// # Errors
/// The reason why it is none, as a part of a sentence.
fn page_of(response: &Value, uri: &str, secrets: &SecretSet) -> Result<Bytes, String> {
    let contents = response.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_meant = |content: &&Value| content.get("uri").and_then(Value::as_str) == Some(uri);
    let content = contents.iter().find(is_meant).or_else(|| contents.first()).ok_or("the server gave no content")?;
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    if !is_page_type(text("mimeType").unwrap_or_default()) {
        return Err(format!("its type is not {MIME}"));
    }
    let too_large = || format!("it is larger than {}", ByteSize::from_usize(APP_VIEW_BYTES));
    let page = match (text("text"), text("blob")) {
        (Some(page), _) if page.len() > APP_VIEW_BYTES => return Err(too_large()),
        (Some(page), _) => page.to_owned(),
        (None, Some(blob)) if base64::max_decoded_len(blob) > APP_VIEW_BYTES => return Err(too_large()),
        (None, Some(blob)) => {
            let bytes = base64::decode(blob).ok_or("it is not base64")?;
            String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?
        }
        (None, None) => return Err("the server gave no content".to_owned()),
    };
    let page = secrets.redact_known(page);
    // A credential may become whole only after the escapes within it are gone.
    let page = if page.contains('\u{1b}') { secrets.redact_known(strip_escapes(&page)) } else { page };
    Ok(page.into())
}

/// Returns the address and the page of a resource that a result embeds; `None` for any other resource.
pub fn embedded_page(resource: &Value, secrets: &SecretSet) -> Option<EmbeddedPage> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri =
        text("uri").filter(|uri| uri.starts_with(SCHEME) && catalog::is_plain(uri, RESOURCE_URI_BYTES, secrets))?;
    text("mimeType").filter(|mime| is_page_type(mime))?;
    let page = page_of(&json!({ "contents": [resource] }), uri, secrets).ok()?;
    Some(EmbeddedPage { uri: uri.to_owned(), page })
}

/// Returns whether this is the type of pages, however it is written.
fn is_page_type(mime: &str) -> bool {
    let mut parts = mime.split(';').map(str::trim);
    let is_html = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(MIME_ESSENCE));
    let mut parameters = parts.filter_map(|part| part.split_once('='));
    is_html
        && parameters.any(|(name, value)| {
            let value = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case(MIME_PROFILE.0) && value.eq_ignore_ascii_case(MIME_PROFILE.1)
        })
}

/// Returns the result that a page is told, as JSON.
fn answer_of(answer: &Value, secrets: &SecretSet) -> Option<Bytes> {
    let kept = ANSWER_MEMBERS.into_iter().filter_map(|key| Some((key.to_owned(), answer.get(key)?.clone())));
    let mut kept: Map<String, Value> = kept.collect();
    kept.entry("content").or_insert_with(|| json!([]));
    let answer = clean_value(secrets, Value::Object(kept))?.to_string();
    (answer.len() <= APP_VIEW_BYTES).then(|| answer.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::limits::JSON_DEPTH;

    const URI: &str = "ui://weather/view.html";

    fn secrets() -> SecretSet {
        SecretSet::new(["9f8e7d6c5b4a3f2e".into()])
    }

    fn tool(meta: Value) -> Value {
        json!({ "name": "weather", "inputSchema": { "type": "object" }, "_meta": meta })
    }

    #[test]
    fn client_declares_type_of_pages() {
        let declared = serde_json::to_value(extensions()).expect("it is JSON");
        assert_eq!(declared, json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } }));
    }

    #[test]
    fn address_of_page_is_read_from_both_places() {
        let long = format!("ui://{}", "x".repeat(RESOURCE_URI_BYTES));
        for (meta, address) in [
            (json!({ "ui": { "resourceUri": URI } }), Some(URI)),
            (json!({ "ui/resourceUri": URI }), Some(URI)),
            (json!({ "ui": { "resourceUri": URI }, "ui/resourceUri": "ui://old" }), Some(URI)),
            (json!({ "ui": { "visibility": ["app"] }, "ui/resourceUri": URI }), Some(URI)),
            (json!({ "ui": { "resourceUri": "https://example.com/" } }), None),
            (json!({ "ui": { "resourceUri": "ui://a\nb" } }), None),
            (json!({ "ui": { "resourceUri": "ui://a\u{202e}b" } }), None),
            (json!({ "ui": { "resourceUri": "ui://9f8e7d6c5b4a3f2e" } }), None),
            (json!({ "ui": { "resourceUri": long } }), None),
            (json!({ "ui": { "resourceUri": 3 } }), None),
            (json!({ "ui": URI }), None),
            (json!(null), None),
        ] {
            assert_eq!(page_address(&tool(meta.clone()), &secrets()).as_deref(), address, "{meta}");
        }
    }

    #[test]
    fn tool_is_hidden_from_callers_that_its_visibility_lacks() {
        for (visibility, is_hidden) in [
            (json!(["app"]), (true, false)),
            (json!([]), (true, true)),
            (json!(["model", "app"]), (false, false)),
            (json!(["model"]), (false, true)),
            (json!("app"), (false, false)),
            (json!(null), (false, false)),
        ] {
            let listed = tool(json!({ "ui": { "visibility": visibility } }));
            let hidden = (is_hidden_from(&listed, "model"), is_hidden_from(&listed, "app"));
            assert_eq!(hidden, is_hidden, "{visibility}");
        }
        assert!(!is_hidden_from(&json!({ "name": "x" }), "model"));
    }

    #[test]
    fn only_type_of_pages_is_a_page() {
        for (mime, is_page) in [
            ("text/html;profile=mcp-app", true),
            ("Text/HTML; charset=utf-8; Profile=\"mcp-app\"", true),
            ("text/html", false),
            ("text/html;profile=other", false),
            ("text/plain;profile=mcp-app", false),
            ("", false),
        ] {
            assert_eq!(is_page_type(mime), is_page, "{mime}");
        }
    }

    #[test]
    fn page_is_taken_from_its_address_within_limits() {
        let content = |uri: &str, text: &str| json!({ "uri": uri, "mimeType": MIME, "text": text });
        let page = |contents: Value| page_of(&json!({ "contents": contents }), URI, &secrets());
        let of = |page: Result<Bytes, String>| page.map(|page| String::from_utf8_lossy(&page).into_owned());
        assert_eq!(of(page(json!([content("ui://other", "b"), content(URI, "<p>a")]))), Ok("<p>a".into()));
        assert_eq!(of(page(json!([content("ui://other", "b")]))), Ok("b".into()));
        let blob = |bytes: &[u8]| json!([{ "uri": URI, "mimeType": MIME, "blob": base64::encode(bytes) }]);
        assert_eq!(of(page(blob(b"<p>c"))), Ok("<p>c".into()));
        assert_eq!(of(page(json!([content(URI, "key 9f8e7d6c5b4a3f2e")]))), Ok("key [removed]".into()));
        assert_eq!(of(page(json!([content(URI, "9f8e7d6c\u{1b}[1m5b4a3f2e")]))), Ok("[removed]".into()));
        for (contents, reason) in [
            (json!([]), "no content"),
            (json!([{ "uri": URI, "mimeType": MIME }]), "no content"),
            (json!([{ "uri": URI, "mimeType": "text/html", "text": "a" }]), "its type"),
            (json!([content(URI, &"x".repeat(APP_VIEW_BYTES + 1))]), "larger than 4 MiB"),
            (blob(&vec![b'x'; APP_VIEW_BYTES + 1]), "larger than 4 MiB"),
            (blob(b"\xff\xfe"), "not UTF-8"),
            (json!([{ "uri": URI, "mimeType": MIME, "blob": "%" }]), "not base64"),
        ] {
            let found = page(contents);
            assert!(found.as_ref().is_err_and(|why| why.contains(reason)), "{reason}: {found:?}");
        }
    }

    #[test]
    fn page_is_embedded_only_with_its_scheme_and_type() {
        let embedded = |resource: Value| embedded_page(&resource, &secrets());
        let page = EmbeddedPage { uri: URI.into(), page: Bytes::from_static(b"<p>[removed]") };
        let own = json!({ "uri": URI, "mimeType": MIME, "text": "<p>9f8e7d6c5b4a3f2e" });
        assert_eq!(embedded(own), Some(page));
        for resource in [
            json!({ "uri": URI, "mimeType": "text/html", "text": "<p>" }),
            json!({ "uri": "file:///a.html", "mimeType": MIME, "text": "<p>" }),
            json!({ "uri": URI, "mimeType": MIME }),
            json!({ "uri": URI, "mimeType": MIME, "text": "x".repeat(APP_VIEW_BYTES + 1) }),
            json!(null),
        ] {
            assert_eq!(embedded(resource), None);
        }
    }

    #[test]
    fn whole_result_is_kept_for_page_without_credentials() {
        let answer = json!({
            "content": [{ "type": "text", "text": "9f8e7d6c5b4a3f2e" }], "structuredContent": { "sum": 3 },
            "_meta": { "at": 1 }, "resultType": "complete",
        });
        let kept = answer_of(&answer, &secrets()).expect("it is kept");
        let kept: Value = serde_json::from_slice(&kept).expect("it is JSON");
        let content = json!([{ "type": "text", "text": "[removed]" }]);
        assert_eq!(kept, json!({ "content": content, "structuredContent": { "sum": 3 }, "_meta": { "at": 1 } }));
        let deep = (0..JSON_DEPTH + 2).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(answer_of(&json!({ "structuredContent": deep }), &secrets()), None);
        assert_eq!(answer_of(&json!({ "content": "x".repeat(APP_VIEW_BYTES) }), &secrets()), None);
    }

    #[test]
    fn page_is_told_clean_contents_within_limits() {
        let read = |response: Value| told_contents(&response, &secrets());
        let contents = json!([{ "uri": "a:1", "text": "key 9f8e7d6c5b4a3f2e" }, { "uri": "a:2", "blob": "/wAB" }]);
        let told = json!([{ "uri": "a:1", "text": "key [removed]" }, { "uri": "a:2", "blob": "/wAB" }]);
        assert_eq!(read(json!({ "contents": contents, "_meta": {} })), Ok(json!({ "contents": told })));
        for (response, code) in [
            (json!({}), MessageCode::ResponseUnreadable),
            (json!({ "contents": "x" }), MessageCode::ResponseUnreadable),
            (json!({ "contents": [{ "text": "x".repeat(APP_VIEW_BYTES) }] }), MessageCode::ResponseTooLarge),
        ] {
            assert_eq!(read(response).map_err(|why| why.code), Err(code));
        }
    }
}
