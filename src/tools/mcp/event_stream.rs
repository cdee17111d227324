//! The transport of HTTP with server-sent events (protocol version 2024-11-05): one stream brings all messages of the
//! server, and its first event states where the client posts its own.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use reqwest::Method;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use url::Url;

use super::http_client::{McpHttpClient, McpHttpError, McpHttpHeaders, refuse_failure, same_origin_target};
use super::json_repair;
use turnleaf_domain::limits::{EVENT_STREAM_START, TOOL_LINE_BYTES};
use turnleaf_platform::tasks::{self, Task};

/// Capacity of the message channel, for backpressure: each message may have the maximum size.
const WAITING: usize = 1;

/// The transport for `rmcp`.
pub struct EventStreamTransport {
    client: McpHttpClient,
    headers: McpHttpHeaders,
    /// The URL for messages. `None` until the `endpoint` event of the stream arrives.
    endpoint: watch::Receiver<Option<Url>>,
    /// Why the stream could not be opened.
    failure: Arc<Mutex<Option<McpHttpError>>>,
    output: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    reading: Task<()>,
}

impl EventStreamTransport {
    pub fn open(client: McpHttpClient, url: String, headers: McpHttpHeaders) -> Self {
        let (found, endpoint) = watch::channel(None);
        let (sender, output) = mpsc::channel(WAITING);
        let failure = Arc::new(Mutex::new(None));
        let reader = EventStreamReader { client: client.clone(), url, headers: headers.clone(), found, sender };
        let failed = failure.clone();
        let reading = tasks::spawn(async move {
            // The failure is stored before the reader is dropped, which wakes those that wait for the endpoint.
            if let Err(error) = reader.read().await {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            drop(reader);
        });
        Self { client, headers, endpoint, failure, output, reading }
    }
}

impl Drop for EventStreamTransport {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Transport<RoleClient> for EventStreamTransport {
    type Error = McpHttpError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (client, headers) = (self.client.clone(), self.headers.clone());
        let (mut endpoint, failure) = (self.endpoint.clone(), self.failure.clone());
        async move {
            // A server of another transport may keep the stream open and never name an endpoint.
            let found = timeout(EVENT_STREAM_START, endpoint.wait_for(Option::is_some)).await;
            let found = found.ok().and_then(Result::ok).and_then(|url| url.clone());
            let Some(url) = found else {
                let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                return Err(failure.unwrap_or(StreamableHttpError::TransportChannelClosed));
            };
            let body = serde_json::to_vec(&message)?;
            let response = client.send(Method::POST, url.as_str(), &headers, Some(body.into())).await?;
            let response = refuse_failure(response)?;
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}").into())),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.output.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.reading.abort();
        Ok(())
    }
}

struct EventStreamReader {
    client: McpHttpClient,
    url: String,
    headers: McpHttpHeaders,
    found: watch::Sender<Option<Url>>,
    sender: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
}

impl EventStreamReader {
    async fn read(&self) -> Result<(), McpHttpError> {
        let base = Url::parse(&self.url).ok();
        let mut events = self.client.events(&self.url, &self.headers, TOOL_LINE_BYTES).await?;
        while let Some(event) = events.next().await {
            let event = event?;
            let data = event.data.unwrap_or_default();
            if event.event.as_deref() == Some("endpoint") {
                // Another origin must not get the headers.
                let target = base.as_ref().and_then(|base| same_origin_target(base, data.trim()));
                let target = target.ok_or_else(|| {
                    StreamableHttpError::UnexpectedServerResponse("its endpoint is of another origin".into())
                })?;
                self.found.send_replace(Some(target));
                continue;
            }
            let Ok(message) = json_repair::parse(data.as_bytes()) else { continue };
            if self.sender.send(message).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}
