//! The HTTP client of streamable HTTP, for servers as they are: it follows redirects within an origin, recognizes that
//! a session is unknown however the server states it, assigns every error to its request, and repairs messages.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{Method, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use secrecy::SecretString;
use url::Url;

use super::authorization::{RequestRefusal, ServerAuthorization, SignInNeed};
use super::http_events::{Events, read_events};
use super::http_session::{WorkingSession, is_unknown_session};
use super::{error_messages, json_repair};
use crate::oauth::tokens::bearer;
use turnleaf_domain::limits::{SERVER_ERROR_BYTES, SERVER_REDIRECTS, TOOL_LINE_BYTES};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

pub type McpHttpHeaders = HashMap<HeaderName, HeaderValue>;
pub type McpHttpError = StreamableHttpError<reqwest::Error>;

#[derive(Debug, Clone)]
pub struct McpHttpClient {
    client: reqwest::Client,
    authorization: Option<ServerAuthorization>,
    working: WorkingSession,
}

impl McpHttpClient {
    /// Wraps a client that follows no redirects by itself.
    pub fn new(client: reqwest::Client, authorization: Option<ServerAuthorization>) -> Self {
        Self { client, authorization, working: WorkingSession::default() }
    }

    /// Sends a request with the access token, if there is one. A request that is refused for its token was not
    /// executed, so it is repeated once with a renewed one. A refusal of a session that has worked is first taken for one
    /// of the session, unless it asks for a token.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &McpHttpHeaders,
        body: Option<Bytes>,
    ) -> Result<Response, McpHttpError> {
        let mut token = match &self.authorization {
            Some(authorization) => authorization.token().await,
            None => None,
        };
        let mut is_repeated = false;
        loop {
            let response = self.send_with_token(method.clone(), url, headers, body.clone(), token.as_ref()).await?;
            let refusal = RequestRefusal::from_response(&response);
            let is_unexplained = refusal.as_ref().is_some_and(|refusal| refusal.challenge.is_none());
            if let Some(session) = headers.get(&SESSION).filter(|_| is_unexplained) {
                if method != Method::POST {
                    return Ok(response);
                }
                if self.working.give_up(session) {
                    return Err(StreamableHttpError::SessionExpired);
                }
            }
            let Some(authorization) = &self.authorization else { return Ok(response) };
            let Some(refusal) = refusal else {
                if response.status().is_success() {
                    authorization.accepted(token.as_ref());
                }
                return Ok(response);
            };
            let is_unauthorized = refusal.need == SignInNeed::Token;
            match authorization.refused(refusal, token, is_repeated).await {
                Some(renewed) if !is_repeated => (token, is_repeated) = (Some(renewed), true),
                _ if is_unauthorized && authorization.need().is_some() => {
                    // The challenge was read; it need not be valid text.
                    return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new())));
                }
                _ => return Ok(response),
            }
        }
    }

    /// Sends a request, also where a redirect of the same origin leads.
    async fn send_with_token(
        &self,
        method: Method,
        url: &str,
        headers: &McpHttpHeaders,
        body: Option<Bytes>,
        token: Option<&SecretString>,
    ) -> Result<Response, McpHttpError> {
        let bearer = token.and_then(|token| HeaderValue::from_str(&bearer(token)).ok());
        let mut target = Url::parse(url).map_err(|_| unexpected("its address is not a URL"))?;
        for _ in 0..=SERVER_REDIRECTS {
            let mut request = self.client.request(method.clone(), target.clone());
            request = request
                .header(ACCEPT, if method == Method::GET { EVENTS.to_owned() } else { format!("{JSON}, {EVENTS}") });
            for (name, value) in headers {
                request = request.header(name, value);
            }
            if let Some(mut bearer) = bearer.clone() {
                bearer.set_sensitive(true);
                request = request.header(AUTHORIZATION, bearer);
            }
            if let Some(body) = &body {
                request = request.header(CONTENT_TYPE, JSON).body(body.clone());
            }
            let response = request.send().await.map_err(StreamableHttpError::Client)?;
            match redirect_target(&response, &target) {
                Some(next) => target = next,
                None => return Ok(response),
            }
        }
        Err(unexpected("HTTP 508 Too many redirects"))
    }

    /// Opens the stream of a server's messages.
    pub async fn events(&self, url: &str, headers: &McpHttpHeaders, at_most: usize) -> Result<Events, McpHttpError> {
        let response = self.send(Method::GET, url, headers, None).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let response = refuse_failure(response)?;
        if !response.status().is_success() {
            return Err(unexpected(format!("HTTP {}", response.status())));
        }
        match content_type(&response) {
            Some(kind) if kind.starts_with(EVENTS) => Ok(read_events(response, at_most, None)),
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

impl StreamableHttpClient for McpHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: McpHttpHeaders,
    ) -> Result<StreamableHttpPostResponse, McpHttpError> {
        let at_most = TOOL_LINE_BYTES;
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth_header, custom_headers, at_most).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        mut custom_headers: McpHttpHeaders,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, McpHttpError> {
        put_header(&mut custom_headers, SESSION, session_id.as_deref());
        let body = serde_json::to_vec(&message)?;
        let response = self.send(Method::POST, &uri, &custom_headers, Some(body.into())).await?;
        if response.status().is_success() && matches!(message, ClientJsonRpcMessage::Request(_)) {
            self.working.set(custom_headers.get(&SESSION));
        }
        read_answer(response, &message, session_id.is_some(), max_sse_event_size).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        mut custom_headers: McpHttpHeaders,
    ) -> Result<(), McpHttpError> {
        put_header(&mut custom_headers, SESSION, Some(&session_id));
        // A server need not know how to end a session, or may have ended it already.
        self.send(Method::DELETE, &uri, &custom_headers, None).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: McpHttpHeaders,
    ) -> Result<Events, McpHttpError> {
        let at_most = TOOL_LINE_BYTES;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, at_most)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        mut custom_headers: McpHttpHeaders,
        max_sse_event_size: usize,
    ) -> Result<Events, McpHttpError> {
        put_header(&mut custom_headers, SESSION, session_id.as_deref());
        put_header(&mut custom_headers, LAST_EVENT, last_event_id.as_deref());
        self.events(&uri, &custom_headers, max_sse_event_size).await
    }
}

fn put_header(headers: &mut McpHttpHeaders, name: HeaderName, value: Option<&str>) {
    headers.extend(value.and_then(|value| HeaderValue::from_str(value).ok()).map(|value| (name, value)));
}

fn unexpected(what: impl Into<String>) -> McpHttpError {
    StreamableHttpError::UnexpectedServerResponse(what.into().into())
}

/// Returns where a redirect leads that repeats the request, if that is the same origin: another one must not get the
/// headers.
fn redirect_target(response: &Response, from: &Url) -> Option<Url> {
    let repeats = matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let location = response.headers().get(LOCATION).filter(|_| repeats)?;
    same_origin_target(from, location.to_str().ok()?)
}

/// Resolves an address that a server names within its own origin. A server behind a proxy that ends TLS names `http` of
/// the same host; it is asked at the address of the proxy.
pub fn same_origin_target(from: &Url, location: &str) -> Option<Url> {
    let mut to = from.join(location).ok()?;
    let is_downgrade = from.scheme() == "https" && to.scheme() == "http" && to.host() == from.host();
    if is_downgrade && (to.port().is_none() || to.port() == from.port_or_known_default()) {
        to.set_scheme("https").ok()?;
        to.set_port(from.port()).ok()?;
    }
    (to.origin() == from.origin()).then_some(to)
}

fn content_type(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).trim().to_ascii_lowercase())
}

/// Returns the error of a response that asks for other credentials.
pub fn refuse_failure(response: Response) -> Result<Response, McpHttpError> {
    let Some(challenge) = response.headers().get(WWW_AUTHENTICATE) else { return Ok(response) };
    let challenge = String::from_utf8_lossy(challenge.as_bytes()).into_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN => {
            Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        _ => Ok(response),
    }
}

async fn read_answer(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    at_most: usize,
) -> Result<StreamableHttpPostResponse, McpHttpError> {
    let response = refuse_failure(response)?;
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if has_session && matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) {
        return Err(StreamableHttpError::SessionExpired);
    }
    let kind = content_type(&response);
    let session = response.headers().get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
    let request = match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    if !status.is_success() {
        return read_failure(response, message, has_session, request).await;
    }
    match kind {
        Some(kind) if kind.starts_with(EVENTS) => {
            Ok(StreamableHttpPostResponse::Sse(read_events(response, at_most, request), session))
        }
        _ if request.is_none() => Ok(StreamableHttpPostResponse::Accepted),
        Some(kind) if kind.starts_with(JSON) => {
            let body = read_bounded(response, TOOL_LINE_BYTES).await?;
            if has_session && body.len() <= SERVER_ERROR_BYTES && is_unknown_session(status, &body, request.as_ref()) {
                return Err(StreamableHttpError::SessionExpired);
            }
            let answer = json_repair::parse(&body).map_err(|error| unexpected(format!("no message: {error}")))?;
            Ok(StreamableHttpPostResponse::Json(assigned_to(answer, request), session))
        }
        kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
    }
}

async fn read_failure(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    request: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, McpHttpError> {
    let status = response.status();
    let is_json = content_type(&response).is_some_and(|kind| kind.starts_with(JSON));
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let body = if status == StatusCode::TOO_MANY_REQUESTS || is_refused {
        Vec::new()
    } else {
        read_bounded(response, SERVER_ERROR_BYTES).await.unwrap_or_default()
    };
    if has_session && status == StatusCode::BAD_REQUEST && is_unknown_session(status, &body, request.as_ref()) {
        return Err(StreamableHttpError::SessionExpired);
    }
    let sent = match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.request),
        _ => None,
    };
    let error = json_repair::parse(&body).ok().filter(|_| is_json);
    if let Some(ServerJsonRpcMessage::Error(mut error)) = error {
        if matches!(sent, Some(ClientRequest::InitializeRequest(_))) && status.is_client_error() && !is_refused {
            // The status says that the address may not be one of this transport.
            error.error = error_messages::with_status(error.error, status.as_u16());
        }
        let error = ServerJsonRpcMessage::Error(error);
        return Ok(StreamableHttpPostResponse::Json(assigned_to(error, request), None));
    }
    let is_discovery = matches!(sent, Some(ClientRequest::DiscoverRequest(_)));
    if is_discovery && status.is_client_error() && !is_refused && status != StatusCode::TOO_MANY_REQUESTS {
        let error = ErrorData::invalid_request(format!("HTTP {status}"), None);
        return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, request), None));
    }
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
    }
    Err(unexpected(format!("HTTP {status}: {}", String::from_utf8_lossy(&body))))
}

/// Assigns an error to the request whose response it is. Servers that did not read the request do not know its id.
fn assigned_to(message: ServerJsonRpcMessage, request: Option<RequestId>) -> ServerJsonRpcMessage {
    match message {
        ServerJsonRpcMessage::Error(error) => ServerJsonRpcMessage::error(error.error, request.or(error.id)),
        other => other,
    }
}

async fn read_bounded(mut response: Response, at_most: usize) -> Result<Vec<u8>, McpHttpError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(StreamableHttpError::Client)? {
        if body.len() + piece.len() > at_most {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: at_most });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_within_origin_and_keep_https() {
        let end = |from: &str, location: &str| {
            same_origin_target(&Url::parse(from).expect("it is an address"), location).map(String::from)
        };
        for (from, location, expected) in [
            ("https://a/mcp", "/mcp/", Some("https://a/mcp/")),
            ("https://a/mcp", "https://a/mcp/", Some("https://a/mcp/")),
            // Of a server that does not know of the proxy in front of it.
            ("https://a/mcp", "http://a/mcp/", Some("https://a/mcp/")),
            ("https://a:8443/mcp", "http://a/mcp/", Some("https://a:8443/mcp/")),
            ("https://a:8443/mcp", "http://a:8443/mcp/", Some("https://a:8443/mcp/")),
            ("https://a/mcp", "http://a:443/mcp/", Some("https://a/mcp/")),
            ("http://a/mcp", "http://a/mcp/", Some("http://a/mcp/")),
            ("https://a/mcp", "http://b/mcp/", None),
            ("https://a/mcp", "http://a:8080/mcp/", None),
            ("https://a/mcp", "https://a:8443/mcp/", None),
            ("http://a/mcp", "https://a/mcp/", None),
        ] {
            assert_eq!(end(from, location).as_deref(), expected, "{from} to {location}");
        }
    }
}
