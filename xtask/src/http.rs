//! A minimal HTTP client over loopback, for health checks of a server that was just started and for script-like
//! requests. It is not meant for anything else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// A response.
pub struct HttpResponse {
    pub status: u16,
    /// The headers, with names in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Returns a header's value, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The longest silence within an ordinary response.
const PATIENCE: Duration = Duration::from_secs(10);

/// Requests a path; the connection closes after the response.
///
/// # Errors
/// Nothing listens, or the response is not HTTP.
pub fn get(address: SocketAddr, path: &str, accept_encoding: &str) -> Result<HttpResponse> {
    send(address, &format!("GET {path}"), &format!("Accept-Encoding: {accept_encoding}\r\n"), &[], PATIENCE)
}

/// Requests a path whose response may arrive in pieces, with up to `patience` between them.
///
/// # Errors
/// Same as [`get`], and for a longer silence.
pub fn get_event_stream(address: SocketAddr, path: &str, patience: Duration) -> Result<HttpResponse> {
    send(address, &format!("GET {path}"), "", &[], patience)
}

/// Posts JSON.
///
/// # Errors
/// Same as [`get`].
pub fn post(address: SocketAddr, path: &str, body: &Value) -> Result<HttpResponse> {
    let body = body.to_string().into_bytes();
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    send(address, &format!("POST {path}"), &head, &body, PATIENCE)
}

fn send(
    address: SocketAddr,
    request_line: &str,
    headers: &str,
    body: &[u8],
    patience: Duration,
) -> Result<HttpResponse> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
    stream.set_read_timeout(Some(patience))?;
    // With HTTP/1.0 the body ends with the connection, so no chunks have to be decoded.
    write!(stream, "{request_line} HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\n{headers}\r\n")?;
    stream.write_all(body)?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let end = all.windows(4).position(|w| w == b"\r\n\r\n").context("the answer has no head")?;
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("the answer has no status")?.parse()?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Ok(HttpResponse { status, headers, body: all.split_off(end + 4) })
}
