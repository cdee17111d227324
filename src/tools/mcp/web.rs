//! The HTTP transports: streamable HTTP and its predecessor. They use the client that checks addresses (SSRF guard),
//! with the headers of the owner.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::authorization::ServerAuthorization;
use super::event_stream::EventStreamTransport;
use super::http_client::McpHttpClient;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_LINE_BYTES, TOOL_STOP};
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::http_client::guard::AddressUse;

/// A server's address with the client and the headers to reach it.
pub struct WebServerAddress {
    client: McpHttpClient,
    url: String,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl WebServerAddress {
    /// Prepares the requests without sending anything.
    ///
    /// # Errors
    /// The reason why the address or a header cannot be used, as a part of a sentence.
    pub fn new(
        client: &HttpClient,
        url: &Url,
        headers: &[(String, SecretString)],
        local_network: bool,
        authorization: Option<ServerAuthorization>,
    ) -> Result<Self, CodedMessage> {
        let client = client.client_for_address(url.as_str(), local_network, AddressUse::ToolServer)?;
        let mut sent = HashMap::new();
        for (name, value) in headers {
            let not_sendable = || MessageCode::HeaderNotSendable.with("name", name);
            let header = HeaderName::try_from(name.as_str()).map_err(|_| not_sendable())?;
            let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| not_sendable())?;
            value.set_sensitive(true);
            sent.insert(header, value);
        }
        Ok(Self { client: McpHttpClient::new(client, authorization), url: url.as_str().to_owned(), headers: sent })
    }

    /// Creates the transport of streamable HTTP.
    pub fn streamable(self) -> StreamableHttpClientTransport<McpHttpClient> {
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(self.headers)
            .max_sse_event_size(TOOL_LINE_BYTES)
            // Three more than the calls, for a list, a ping and the changes of lists.
            .max_concurrent_requests(SERVER_CALLS_AT_ONCE + 3)
            .control_request_timeout(TOOL_STOP)
            .reinit_on_expired_session(true);
        StreamableHttpClientTransport::with_client(self.client, config)
    }

    /// Creates the transport of HTTP with server-sent events, from before streamable HTTP.
    pub fn event_stream(self) -> EventStreamTransport {
        EventStreamTransport::open(self.client, self.url, self.headers)
    }
}
