//! The streamable HTTP transport: uses the client that checks addresses (SSRF guard), with the headers of the owner.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_LINE_BYTES, TOOL_STOP};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::http_client::guard::AddressUse;

/// Creates the transport without sending anything. `rmcp` itself bounds a response in one piece at 16 MiB.
///
/// # Errors
/// A sentence that says why the address or a header cannot be used.
pub fn transport(
    client: &HttpClient,
    url: &Url,
    headers: &[(String, SecretString)],
    local_network: bool,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let client = client.client_for_address(url.as_str(), local_network, AddressUse::ToolServer)?;
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let header = HeaderName::try_from(name.as_str()).map_err(|_| format!("`{name}` is not a valid header name"))?;
        let value = HeaderValue::from_str(value.expose_secret());
        let mut value = value.map_err(|_| format!("the header `{name}` contains invalid characters"))?;
        value.set_sensitive(true);
        sent.insert(header, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(sent)
        .max_sse_event_size(TOOL_LINE_BYTES)
        // Two more than the calls, for a list and a ping.
        .max_concurrent_requests(SERVER_CALLS_AT_ONCE + 2)
        .control_request_timeout(TOOL_STOP)
        .reinit_on_expired_session(true);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
