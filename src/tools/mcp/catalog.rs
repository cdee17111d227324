//! The resources and prompts of a server: listed on request and cached until the server reports a change. Every text is
//! untrusted; a resource that is read becomes an attachment that a person sees before it is sent.

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ServerResult,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::Value;

use super::{error_messages, sanitizer};
use turnleaf_domain::limits::{
    RESOURCE_URI_BYTES, SERVER_CATALOG_ENTRIES, SERVER_CATALOG_PAGES, SERVER_NAME_BYTES, SERVER_PROMPT_ARGUMENTS,
    TOOL_DESCRIPTION_BYTES, UPLOAD_BYTES,
};
use turnleaf_domain::text::hidden_text::count_hidden_characters;
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_platform::tasks;
use turnleaf_providers::base64;
use turnleaf_providers::redaction::SecretSet;

/// The resources and prompts that a server offers for messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerCatalog {
    pub resources: Vec<ResourceEntry>,
    /// Addresses with parameters, such as `file:///{path}`.
    pub templates: Vec<ResourceEntry>,
    pub prompts: Vec<PromptEntry>,
    /// True if it suggests values of arguments.
    pub has_suggestions: bool,
    /// The reason why one of the lists is missing, as a part of a sentence.
    pub problem: Option<CodedMessage>,
}

/// A resource, or a template of resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The address, or the template of addresses.
    pub uri: String,
    /// The display name.
    pub title: String,
    pub description: String,
    pub mime: Option<String>,
}

/// A prompt with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptEntry {
    pub name: String,
    /// The display name.
    pub title: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub title: String,
    pub description: String,
    pub is_required: bool,
}

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContent {
    pub mime: Option<String>,
    pub bytes: Bytes,
    /// True if the server sent text.
    pub is_text: bool,
}

/// A list of a server, and the method that lists it.
#[derive(Clone, Copy)]
enum CatalogList {
    Resources,
    Templates,
    Prompts,
}

impl CatalogList {
    /// Returns the member of the answer with the entries.
    fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        match self {
            Self::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params)),
            Self::Templates => {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(params))
            }
            Self::Prompts => ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params)),
        }
    }
}

/// Lists everything that the server says it offers. A list that fails does not hide the others.
///
/// # Errors
/// The reason why there is no list at all, as a part of a sentence.
pub async fn list(peer: &Peer<RoleClient>, secrets: &SecretSet) -> Result<ServerCatalog, CodedMessage> {
    let info = peer.peer_info();
    let capabilities = info.as_ref().map(|server| &server.capabilities);
    // Some servers do not answer methods that they do not have.
    let has_resources = capabilities.is_some_and(|known| known.resources.is_some());
    let has_prompts = capabilities.is_some_and(|known| known.prompts.is_some());
    let has_suggestions = capabilities.is_some_and(|known| known.completions.is_some());
    let lists = [
        (CatalogList::Resources, has_resources),
        (CatalogList::Templates, has_resources),
        (CatalogList::Prompts, has_prompts),
    ];
    let (mut listed, mut problem, mut is_any_listed) = (Vec::new(), None, false);
    for (list, is_offered) in lists {
        let found = match is_offered {
            true => entries(peer, secrets, list).await,
            false => Ok(Vec::new()),
        };
        is_any_listed |= is_offered && found.is_ok();
        listed.push(found.unwrap_or_else(|reason| {
            problem.get_or_insert(reason);
            Vec::new()
        }));
    }
    if let Some(problem) = problem.take_if(|_| !is_any_listed) {
        return Err(problem);
    }
    let [resources, templates, prompts] = <[Vec<Value>; 3]>::try_from(listed).unwrap_or_default();
    Ok(ServerCatalog {
        problem,
        has_suggestions,
        resources: resources.iter().filter_map(|entry| resource_entry(entry, "uri", secrets)).collect(),
        templates: templates.iter().filter_map(|entry| resource_entry(entry, "uriTemplate", secrets)).collect(),
        prompts: prompts.iter().filter_map(|entry| prompt_entry(entry, secrets)).collect(),
    })
}

/// Returns the entries of one list; none if the server does not implement it.
async fn entries(peer: &Peer<RoleClient>, secrets: &SecretSet, list: CatalogList) -> Result<Vec<Value>, CodedMessage> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..SERVER_CATALOG_PAGES {
        let page = match peer.send_request(list.request(cursor.clone())).await {
            Ok(page) => serde_json::to_value(page).unwrap_or_default(),
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => return Ok(all),
            Err(error) => return Err(error_messages::request_error(&error, secrets)),
        };
        let Some(listed) = page.get(list.member()).and_then(Value::as_array) else { break };
        all.extend(listed.iter().take(SERVER_CATALOG_ENTRIES - all.len()).cloned());
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        if all.len() == SERVER_CATALOG_ENTRIES || next.is_none() || next == cursor.as_deref() {
            break;
        }
        cursor = next.map(str::to_owned);
    }
    Ok(all)
}

/// Returns whether a name or an address can be sent back as it is shown.
pub fn is_plain(text: &str, at_most: usize, secrets: &SecretSet) -> bool {
    !text.is_empty()
        && text.len() <= at_most
        && !text.contains(char::is_control)
        && count_hidden_characters(text) == 0
        && !secrets.has_match_in(text.as_bytes())
}

/// Reads a resource; one whose address cannot be shown is left out.
fn resource_entry(entry: &Value, address: &str, secrets: &SecretSet) -> Option<ResourceEntry> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let line = |key: &str| sanitizer::visible_clean_line(text(key), secrets, SERVER_NAME_BYTES);
    let uri = text(address);
    let title = [line("title"), line("name")].into_iter().find(|title| !title.is_empty());
    let mime = Some(line("mimeType")).filter(|mime| !mime.is_empty());
    is_plain(uri, RESOURCE_URI_BYTES, secrets).then(|| ResourceEntry {
        uri: uri.to_owned(),
        title: title.unwrap_or_else(|| uri.to_owned()),
        description: sanitizer::visible_clean_text(text("description"), secrets, TOOL_DESCRIPTION_BYTES),
        mime,
    })
}

fn prompt_entry(entry: &Value, secrets: &SecretSet) -> Option<PromptEntry> {
    let (name, title, description) = named(entry, secrets)?;
    let arguments = entry.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let arguments = arguments.take(SERVER_PROMPT_ARGUMENTS).map(|argument| {
        let (name, title, description) = named(argument, secrets)?;
        let is_required = argument.get("required").and_then(Value::as_bool) == Some(true);
        Some(PromptArgument { name, title, description, is_required })
    });
    Some(PromptEntry { name, title, description, arguments: arguments.collect::<Option<Vec<_>>>()? })
}

/// Returns name, title and description; none if the name cannot be shown.
fn named(entry: &Value, secrets: &SecretSet) -> Option<(String, String, String)> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name").to_owned();
    let title = sanitizer::visible_clean_line(text("title"), secrets, SERVER_NAME_BYTES);
    let description = sanitizer::visible_clean_text(text("description"), secrets, TOOL_DESCRIPTION_BYTES);
    let title = if title.is_empty() { name.clone() } else { title };
    is_plain(&name, SERVER_NAME_BYTES, secrets).then_some((name, title, description))
}

/// Reads a resource. Of several contents, texts are joined; otherwise the first one counts.
///
/// # Errors
/// The reason why there is no content, as a part of a sentence.
pub async fn read_resource(
    peer: &Peer<RoleClient>,
    secrets: &SecretSet,
    uri: &str,
) -> Result<ResourceContent, CodedMessage> {
    let answer = read_contents(peer, secrets, uri).await?;
    let secrets = secrets.clone();
    // An answer may hold megabytes, so it is cleaned on a blocking thread.
    let read = move || content_of(&serde_json::to_value(answer).unwrap_or_default(), &secrets);
    tasks::spawn_blocking(read).await.unwrap_or_else(|_| Err(MessageCode::ResponseUnreadable.into()))
}

/// Requests a resource and returns the response as the server sent it.
///
/// # Errors
/// The reason why there is none, as a part of a sentence.
pub async fn read_contents(
    peer: &Peer<RoleClient>,
    secrets: &SecretSet,
    uri: &str,
) -> Result<ServerResult, CodedMessage> {
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    let answer = peer.send_request(ClientRequest::ReadResourceRequest(request)).await;
    answer.map_err(|error| error_messages::request_error(&error, secrets))
}

fn content_of(answer: &Value, secrets: &SecretSet) -> Result<ResourceContent, CodedMessage> {
    let unreadable = || CodedMessage::from(MessageCode::ResponseUnreadable);
    let contents = answer.get("contents").and_then(Value::as_array).ok_or_else(unreadable)?;
    let text_of = |content: &Value, key: &str| content.get(key).and_then(Value::as_str).map(str::to_owned);
    let texts: Vec<String> = contents.iter().filter_map(|content| text_of(content, "text")).collect();
    let first = contents.first().ok_or_else(unreadable)?;
    let mime = text_of(first, "mimeType").map(|mime| sanitizer::clean_line(&mime, secrets, SERVER_NAME_BYTES));
    if !texts.is_empty() {
        let text = texts.join("\n\n");
        if text.len() > UPLOAD_BYTES {
            return Err(error_messages::answer_too_large());
        }
        let text = sanitizer::clean_text(&text, secrets, UPLOAD_BYTES);
        return Ok(ResourceContent { mime, bytes: text.into(), is_text: true });
    }
    let blob = text_of(first, "blob").ok_or_else(unreadable)?;
    if base64::max_decoded_len(&blob) > UPLOAD_BYTES {
        return Err(error_messages::answer_too_large());
    }
    let bytes: Bytes = base64::decode(&blob).ok_or_else(unreadable)?.into();
    Ok(ResourceContent { mime, bytes: secrets.redact_bytes(bytes), is_text: false })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> SecretSet {
        SecretSet::new(["9f8e7d6c5b4a3f2e".into()])
    }

    #[test]
    fn entries_are_sanitized_and_keep_their_addresses() {
        let entry = json!({ "uri": "file:///a b", "name": "\u{1b}[1mA\n", "description": "key 9f8e7d6c5b4a3f2e" });
        let found = resource_entry(&entry, "uri", &secrets()).unwrap();
        assert_eq!((found.uri.as_str(), found.title.as_str()), ("file:///a b", "A"));
        assert_eq!(found.description, "key [removed]");
        for uri in ["", "a\nb", "a\u{202e}b", "x:9f8e7d6c5b4a3f2e"] {
            assert_eq!(resource_entry(&json!({ "uri": uri, "name": "A" }), "uri", &secrets()), None, "{uri:?}");
        }
        let prompt =
            json!({ "name": "review", "title": "Re\u{202e}view", "arguments": [{ "name": "code", "required": true }] });
        let found = prompt_entry(&prompt, &secrets()).unwrap();
        assert_eq!((found.title.as_str(), found.arguments[0].is_required), ("Re[U+202E]view", true));
        let unusable = json!({ "name": "x", "arguments": [{ "name": "" }] });
        assert_eq!(prompt_entry(&unusable, &secrets()), None, "an argument that cannot be given");
    }

    #[test]
    fn content_is_text_or_bytes_within_limits() {
        let none = secrets();
        let text = json!({ "contents": [{ "uri": "a", "text": "one\u{1b}[1m" }, { "uri": "b", "text": "two" }] });
        let read = content_of(&text, &none).unwrap();
        assert_eq!((read.bytes.as_ref(), read.is_text), (&b"one\n\ntwo"[..], true));
        let blob = json!({ "contents": [{ "uri": "a", "blob": "/wAB", "mimeType": "image/x" }] });
        let read = content_of(&blob, &none).unwrap();
        assert_eq!(
            (read.bytes.as_ref(), read.mime.as_deref(), read.is_text),
            (&b"\xff\x00\x01"[..], Some("image/x"), false)
        );
        for bad in [json!({}), json!({ "contents": [] }), json!({ "contents": [{ "uri": "a", "blob": "%" }] })] {
            assert!(content_of(&bad, &none).is_err(), "{bad}");
        }
        let large = json!({ "contents": [{ "uri": "a", "text": "x".repeat(UPLOAD_BYTES + 1) }] });
        assert!(content_of(&large, &none).is_err());
    }
}
