//! The search in the web, through the engine that a person or the operator of this server chose: SearXNG, Brave Search
//! or Tavily. One request without retries; the response is bounded in size and time, and what it contains is untrusted.

mod brave;
mod found_page;
mod searxng;
mod tavily;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

pub use self::found_page::{FoundPage, Recency, WebQuery};
use crate::result::{CallOutcome, CallResult, build_result, text_result};
use turnleaf_domain::blocks::sources::clean_line;
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{CodedMessage, MessageCode, limits};
use turnleaf_platform::base_url::host_and_port;
use turnleaf_platform::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_providers::http_client::guard::AddressUse;
use turnleaf_providers::http_client::{HttpClient, unreachable_reason};
use turnleaf_providers::redaction::SecretSet;

/// The longest explanation of an engine that is quoted, in characters.
const DETAIL_CHARS: usize = 200;

/// Runs the tool: the result lists what was found, which also becomes the sources of the reply.
pub async fn run(http: &HttpClient, engine: Option<&SearchEngine>, query: &WebQuery) -> CallResult {
    let Some(engine) = engine else {
        return text_result(CallOutcome::Unavailable, MessageCode::SearchNotSetUp.template());
    };
    match search(http, engine, query).await {
        Ok(pages) => {
            let found: Vec<Value> = pages.iter().map(FoundPage::to_value).collect();
            let found = json!({ "engine": engine.kind.title(), "found": found });
            let result = build_result(CallOutcome::Done, Vec::new(), Some(found));
            CallResult { sources: pages.into_iter().map(FoundPage::into_source).collect(), ..result }
        }
        Err(reason) => text_result(CallOutcome::Failed, &format!("{}: {reason}", engine.kind.title())),
    }
}

/// Asks an engine.
///
/// # Errors
/// The reason, for people and models.
pub async fn search(
    http: &HttpClient,
    engine: &SearchEngine,
    query: &WebQuery,
) -> Result<Vec<FoundPage>, CodedMessage> {
    let no_response = || {
        let host = host_and_port(&engine.base_url);
        MessageCode::NoResponse.with("host", host).with("seconds", limits::WEB_SEARCH_TIME.as_secs())
    };
    let asked = timeout(limits::WEB_SEARCH_TIME, ask(http, engine, query)).await;
    let (status, response) = asked.unwrap_or_else(|_| Err(no_response()))?;
    if !(200..300).contains(&status) {
        return Err(refusal(engine, status, &response));
    }
    read_results(engine.kind, &response, query.most)
}

/// Reads the results of a response, at most `most`.
///
/// # Errors
/// It is something else, or says that the search failed.
pub fn read_results(kind: SearchEngineKind, response: &Value, most: usize) -> Result<Vec<FoundPage>, CodedMessage> {
    let found = match kind {
        SearchEngineKind::Searxng => searxng::read_results(response, most),
        SearchEngineKind::Brave => brave::read_results(response, most).map(Ok),
        SearchEngineKind::Tavily => tavily::read_results(response, most).map(Ok),
    };
    found.unwrap_or_else(|| Err(MessageCode::SearchNotResults.into()))
}

/// Sends the request, and returns the status with the JSON of the response; `Null` for anything else.
async fn ask(http: &HttpClient, engine: &SearchEngine, query: &WebQuery) -> Result<(u16, Value), CodedMessage> {
    let not_connected = |reason: CodedMessage| CodedMessage::from(MessageCode::NotConnected).with_cause(reason);
    let client = http.client_for_address(&engine.base_url, engine.local_network, AddressUse::SearchEngine);
    let client = client.map_err(not_connected)?;
    let request = request(&client, engine, query)?
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let unreachable = |error: &reqwest::Error| not_connected(unreachable_reason(error, AddressUse::SearchEngine));
    let response = request.send().await.map_err(|error| unreachable(&error))?;
    let status = response.status().as_u16();
    let encoding = response.headers().get(CONTENT_ENCODING);
    let is_packed = encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let body = read_body(response).await.map_err(|error| unreachable(&error))?;
    let body =
        body.ok_or_else(|| MessageCode::SearchTooLarge.with("limit", ByteSize::from_usize(limits::WEB_SEARCH_BYTES)))?;
    let value = if is_packed { Value::Null } else { serde_json::from_slice(&body).unwrap_or_default() };
    Ok((status, value))
}

/// Builds the request of an engine.
fn request(client: &reqwest::Client, engine: &SearchEngine, query: &WebQuery) -> Result<RequestBuilder, CodedMessage> {
    let mut url = Url::parse(&format!("{}{}", engine.base_url, engine.kind.path()))
        .map_err(|_| CodedMessage::from(MessageCode::NotConnected).with_cause(MessageCode::NotAUrl.into()))?;
    let key = engine.api_key.as_ref().map(|key| key.expose_secret());
    match engine.kind {
        SearchEngineKind::Searxng => {
            searxng::add_query(&mut url, query);
            Ok(client.get(url))
        }
        SearchEngineKind::Brave => {
            brave::add_query(&mut url, query);
            let key = secret_header(key.unwrap_or_default())?;
            Ok(client.get(url).header(brave::KEY_HEADER, key))
        }
        SearchEngineKind::Tavily => {
            let key = secret_header(&format!("Bearer {}", key.unwrap_or_default()))?;
            let request = client.post(url).header(AUTHORIZATION, key);
            let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok(request.body(tavily::request_body(query).to_string()))
        }
    }
}

fn secret_header(text: &str) -> Result<HeaderValue, CodedMessage> {
    let mut value = HeaderValue::from_str(text).map_err(|_| MessageCode::KeyNotSendable)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads a response; `None` if it is larger than the limit.
async fn read_body(mut response: Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > limits::WEB_SEARCH_BYTES {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}

/// Returns the reason of a response without results.
fn refusal(engine: &SearchEngine, status: u16, response: &Value) -> CodedMessage {
    let has_key = engine.kind.needs_key();
    let code = match status {
        403 if engine.kind == SearchEngineKind::Searxng => MessageCode::SearchJsonDisabled,
        401 | 403 if has_key => MessageCode::KeyRefused,
        422 if engine.kind == SearchEngineKind::Brave && brave::is_about_key(response) => MessageCode::KeyRefused,
        402 | 432 | 433 if has_key => MessageCode::SearchQuotaUsed,
        429 => MessageCode::SearchRateLimited,
        400 | 422 => MessageCode::SearchQueryRefused,
        300..400 => MessageCode::Redirected,
        _ => MessageCode::FailedWithStatus,
    };
    let detail = match engine.kind {
        SearchEngineKind::Searxng => None,
        SearchEngineKind::Brave => brave::refusal_detail(response),
        SearchEngineKind::Tavily => tavily::refusal_detail(response),
    };
    let reason = code.with("status", status);
    let secrets = SecretSet::new(engine.api_key.clone());
    let detail = detail.map(|detail| clean_line(&secrets.redact(detail), DETAIL_CHARS));
    match detail.as_deref().map(|detail| detail.trim_end_matches('.')).filter(|detail| !detail.is_empty()) {
        Some(detail) => reason.with(CodedMessage::DETAIL, detail),
        None => reason,
    }
}

#[cfg(test)]
mod tests;
