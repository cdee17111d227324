//! A client over loopback with a connection of its own for each request, like a browser that was just opened.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// The most bytes of an error response that are shown.
const SHOWN: usize = 300;

/// One connection, for sequential requests.
pub struct LoopbackClient {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
}

impl LoopbackClient {
    /// # Errors
    /// Nothing listens.
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        anyhow::ensure!(address.ip().is_loopback(), "load stays on this machine");
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, address })
    }

    /// Sends a request and returns the response with an unread body.
    ///
    /// # Errors
    /// The connection broke, or the response is an error: the beginning of its body is shown.
    pub async fn send(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Response<Incoming>> {
        let answer = self.send_once(method, path, body, None).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            let bytes = answer.into_body().collect().await?.to_bytes();
            bail!("{path}: {status} {}", String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]));
        }
        Ok(answer)
    }

    async fn send_once(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        known: Option<&str>,
    ) -> Result<Response<Incoming>> {
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let mut request = Request::builder().method(method).uri(path).header(HOST, self.address.to_string());
        request = request.header(ACCEPT, "text/event-stream, */*").header(CONTENT_TYPE, "application/json");
        if let Some(tag) = known {
            request = request.header(IF_NONE_MATCH, tag);
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Full::new(bytes))?).await?)
    }

    /// Returns the ETag of a response.
    ///
    /// # Errors
    /// Same as [`LoopbackClient::send`], or there is no ETag.
    pub async fn entity_tag(&mut self, path: &str) -> Result<String> {
        let answer = self.send(Method::GET, path, None).await?;
        let tag = answer.headers().get(ETAG).context("no ETag")?.to_str()?.to_owned();
        answer.into_body().collect().await?;
        Ok(tag)
    }

    /// Returns true if the response is 304 for this ETag.
    ///
    /// # Errors
    /// Connection lost.
    pub async fn is_not_modified(&mut self, path: &str, tag: &str) -> Result<bool> {
        let answer = self.send_once(Method::GET, path, None, Some(tag)).await?;
        let is_unchanged = answer.status() == StatusCode::NOT_MODIFIED;
        answer.into_body().collect().await?;
        Ok(is_unchanged)
    }

    /// # Errors
    /// Same as [`LoopbackClient::send`], or the response is not JSON.
    pub async fn json(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let answer = self.send(method, path, body).await?.into_body().collect().await?.to_bytes();
        serde_json::from_slice(&answer).with_context(|| format!("{path} answered with no JSON"))
    }

    /// # Errors
    /// Same as [`LoopbackClient::send`].
    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        Ok(self.send(Method::GET, path, None).await?.into_body().collect().await?.to_bytes())
    }
}
