//! HTTP client for providers. It sends a single attempt and streams the body; it does not follow redirects, retry or
//! decompress, and has no timeout but that for connecting. Other modules interpret the response.

pub(super) mod connection_errors;
pub mod guard;
mod target;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::StreamExt;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use secrecy::ExposeSecret;

use crate::provider::{ERROR_BODY_BYTES, ProviderError, ProviderReply};
use crate::{error_classification, streaming_redaction};
use turnleaf_domain::{CodedMessage, Failure, FailureKind, limits};
use turnleaf_platform::base_url;
use turnleaf_platform::clock::{Clock, SystemClock};

pub use self::connection_errors::unreachable_reason;
use self::guard::AddressUse;
pub use self::target::{ApiKeyHeader, ProviderTarget};

/// Response headers to keep (docs/reference/providers.md 2.2), besides those with a prefix below.
const KEPT_HEADERS: [&str; 11] = [
    "request-id",
    "x-request-id",
    "openai-processing-ms",
    "openai-version",
    "cf-ray",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "content-type",
    "date",
    "location",
];
const KEPT_HEADER_PREFIXES: [&str; 2] = ["x-ratelimit-", "anthropic-ratelimit-"];

/// HTTP client with a connection pool per address policy; cheap to clone. The pools are built on first use, because
/// reading the system's certificates is slow.
#[derive(Debug, Clone, Default)]
pub struct HttpClient(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    /// Uses the system's proxies; blocks metadata services.
    outside: OnceLock<Result<reqwest::Client, String>>,
    /// Uses no proxy: a proxy would look for a server on its own machine.
    loopback: OnceLock<Result<reqwest::Client, String>>,
    /// Uses the system's proxies; reaches public addresses only.
    public: OnceLock<Result<reqwest::Client, String>>,
}

impl HttpClient {
    /// Posts a body and returns the response as soon as its headers arrive.
    pub async fn post(&self, target: &ProviderTarget, path: &str, body: Bytes) -> Result<ProviderReply, ProviderError> {
        let client = self.client(target).map_err(ProviderError::not_sent)?;
        let request =
            client.post(url_of(target, path)).headers(headers(target).map_err(ProviderError::not_sent)?).body(body);
        let response = request.send().await.map_err(|error| connection_errors::unreachable_error(&error, target))?;
        let reply_headers = kept_headers(response.headers());
        let status = response.status().as_u16();
        if !response.status().is_success() {
            return Err(provider_error(response, status, reply_headers, target).await);
        }
        let encoding = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let detail = format!("The response was compressed as {encoding}, which was not requested.");
            let failure = Failure::new(FailureKind::ProviderProtocol, &target.provider).with_detail(detail);
            return Err(ProviderError {
                status: Some(status),
                headers: reply_headers,
                ..ProviderError::without_response(failure)
            });
        }
        let target = target.clone();
        let secrets = target.reply_secrets.clone();
        let body = response.bytes_stream().map(move |piece| piece.map_err(|error| broken_body(&error, &target)));
        Ok(ProviderReply {
            status,
            headers: reply_headers,
            body: streaming_redaction::redact_body(body.boxed(), secrets),
        })
    }

    /// Gets a small JSON document, such as a model list.
    pub async fn get_json(&self, target: &ProviderTarget, path: &str) -> Result<serde_json::Value, ProviderError> {
        let client = self.client(target).map_err(ProviderError::not_sent)?;
        let request = client.get(url_of(target, path)).headers(headers(target).map_err(ProviderError::not_sent)?);
        let response = request.send().await.map_err(|error| connection_errors::unreachable_error(&error, target))?;
        let status = response.status().as_u16();
        if !response.status().is_success() {
            let headers = kept_headers(response.headers());
            return Err(provider_error(response, status, headers, target).await);
        }
        let body = read(response, limits::PROVIDER_EVENT_BYTES).await;
        serde_json::from_slice(&body).map_err(|error| protocol_error(target, &format!("not JSON ({error})")))
    }

    /// Returns the client for an address that speaks another protocol. It follows no redirect, reaches only public
    /// addresses unless `local_network` is set, and never a metadata service. The caller limits how much is read;
    /// `address_use` selects the advice in errors.
    ///
    /// # Errors
    /// The address is not public though it has to be, or the machine's certificates cannot be read. The error is a part
    /// of a sentence.
    pub fn client_for_address(
        &self,
        url: &str,
        local_network: bool,
        address_use: AddressUse,
    ) -> Result<reqwest::Client, CodedMessage> {
        self.client_for_url(url, local_network, address_use)?.as_ref().cloned().map_err(CodedMessage::uncoded)
    }

    fn client(&self, target: &ProviderTarget) -> Result<&reqwest::Client, Failure> {
        let failed =
            |kind: FailureKind, detail: &str| Failure::new(kind, &target.provider).with_detail(detail.to_owned());
        let client = self.client_for_url(&target.base_url, target.local_network, AddressUse::Provider);
        let client = client.map_err(|error| failed(FailureKind::ProviderUnreachable, &error.to_string()))?;
        client.as_ref().map_err(|error| failed(FailureKind::Internal, error))
    }

    /// Returns the client whose policy fits an address. The outer error means that the address is blocked, the inner
    /// one that the client could not be built.
    fn client_for_url(
        &self,
        url: &str,
        local_network: bool,
        address_use: AddressUse,
    ) -> Result<&Result<reqwest::Client, String>, CodedMessage> {
        guard::check_literal(url, local_network).map_err(|error| error.advice(address_use))?;
        let guarded = || builder().dns_resolver(Arc::new(guard::GuardedResolver::with_process_proxies(local_network)));
        if !local_network {
            return Ok(self.0.public.get_or_init(|| build(guarded)));
        }
        Ok(if is_loopback(url) {
            self.0.loopback.get_or_init(|| build(|| builder().no_proxy()))
        } else {
            self.0.outside.get_or_init(|| build(guarded))
        })
    }
}

/// Returns true if the host of a URL can only be this machine.
fn is_loopback(url: &str) -> bool {
    base_url::literal_address(url).is_some_and(|address| address.is_loopback())
}

pub(super) fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(limits::CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .user_agent(concat!("turnleaf/", env!("CARGO_PKG_VERSION")))
}

pub(super) fn build(builder: impl Fn() -> reqwest::ClientBuilder) -> Result<reqwest::Client, String> {
    // The result is ignored: an error only means that a provider was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A machine without certificates can still reach local servers.
    builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|error| connection_errors::innermost_message(&error))
}

fn url_of(target: &ProviderTarget, path: &str) -> String {
    format!("{}{path}", target.base_url.trim_end_matches('/'))
}

fn headers(target: &ProviderTarget) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let wrong = |detail: &str| Failure::new(FailureKind::ProviderAuth, &target.provider).with_detail(detail);
    let sendable =
        |value: &str| HeaderValue::from_str(value).map_err(|_| wrong("A header contains invalid characters."));
    for (name, value) in &target.headers {
        headers.insert(HeaderName::from_static(name), sendable(value)?);
    }
    for (name, value) in target.extra_headers.iter() {
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong("A header has an invalid name."))?;
        let mut value = sendable(value.expose_secret())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some(key) = &target.api_key {
        let (name, text) = match target.auth {
            ApiKeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
            ApiKeyHeader::Header(name) => (HeaderName::from_static(name), key.expose_secret().to_owned()),
        };
        let value = HeaderValue::from_str(&text);
        let mut value = value.map_err(|_| wrong("The API key contains characters not allowed in a header."))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn kept_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_kept =
        |name: &str| KEPT_HEADERS.contains(&name) || KEPT_HEADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .filter(|(name, _)| is_kept(name.as_str()))
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

async fn provider_error(
    response: reqwest::Response,
    status: u16,
    headers: Vec<(String, String)>,
    target: &ProviderTarget,
) -> ProviderError {
    let body = read(response, ERROR_BODY_BYTES).await;
    let is_cut = body.len() >= ERROR_BODY_BYTES;
    let (failure, details) = error_classification::classify_status(
        status,
        &headers,
        &body,
        &target.provider,
        &target.secrets,
        SystemClock.now(),
    );
    ProviderError {
        retries_by_itself: details.unwrap_or_else(|| failure.kind.is_auto_retryable()),
        failure,
        status: Some(status),
        headers,
        body: if is_cut { target.secrets.redact_truncated(body) } else { target.secrets.redact_bytes(body) },
        is_unsent: false,
    }
}

/// Reads a body up to a limit. A body that breaks off is used as far as it was received, since it is only read for
/// its message.
async fn read(response: reqwest::Response, at_most: usize) -> Bytes {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
        if body.len() >= at_most {
            body.truncate(at_most);
            break;
        }
    }
    body.into()
}

fn protocol_error(target: &ProviderTarget, detail: &str) -> ProviderError {
    let failure = Failure::new(FailureKind::ProviderProtocol, &target.provider);
    ProviderError::without_response(failure.with_detail(target.secrets.redact(detail)))
}

fn broken_body(error: &reqwest::Error, target: &ProviderTarget) -> Failure {
    Failure::new(FailureKind::ProviderTruncated, &target.provider)
        .with_detail(target.secrets.redact(&connection_errors::innermost_message(error)))
}
