//! Requests over loopback, each on a connection of its own, as from a browser that was just opened.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// How much of an answer that is no success is worth showing.
const SHOWN: usize = 300;

/// One connection, for one request after another.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
}

impl Client {
    /// # Errors
    /// Nobody listens.
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        anyhow::ensure!(address.ip().is_loopback(), "load stays on this machine");
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, address })
    }

    /// Sends a request; the answer's body is still to be read.
    ///
    /// # Errors
    /// The connection broke, or the answer is no success: the error shows its beginning.
    pub async fn send(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Response<Incoming>> {
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = Request::builder().method(method).uri(path).header(HOST, self.address.to_string());
        let request = request.header(ACCEPT, "text/event-stream, */*").header(CONTENT_TYPE, "application/json");
        self.sender.ready().await?;
        let answer = self.sender.send_request(request.body(Full::new(bytes))?).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            let said = answer.into_body().collect().await?.to_bytes();
            bail!("{path}: {status} {}", String::from_utf8_lossy(&said[..said.len().min(SHOWN)]));
        }
        Ok(answer)
    }

    /// # Errors
    /// As [`Client::send`], or the answer is not JSON.
    pub async fn json(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let answer = self.send(method, path, body).await?.into_body().collect().await?.to_bytes();
        serde_json::from_slice(&answer).with_context(|| format!("{path} answered with no JSON"))
    }

    /// # Errors
    /// As [`Client::send`].
    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        Ok(self.send(Method::GET, path, None).await?.into_body().collect().await?.to_bytes())
    }
}
