//! Small requests over loopback, for asking a server that was just started whether it is well and for talking to it as a
//! script would. Not a client for anything else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// What came back.
pub struct HttpResponse {
    pub status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// A header's value, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// How long a server may be silent in the middle of an ordinary answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks for a path; the connection ends with the answer.
///
/// # Errors
/// Nobody listens, or what came back is not HTTP.
pub fn get(address: SocketAddr, path: &str, accept_encoding: &str) -> Result<HttpResponse> {
    send(address, &format!("GET {path}"), &format!("Accept-Encoding: {accept_encoding}\r\n"), &[], PATIENCE)
}

/// Asks for a path whose answer may come in pieces with up to `patience` between them.
///
/// # Errors
/// As [`get`], and silence that is longer than that.
pub fn get_event_stream(address: SocketAddr, path: &str, patience: Duration) -> Result<HttpResponse> {
    send(address, &format!("GET {path}"), "", &[], patience)
}

/// Posts JSON.
///
/// # Errors
/// As [`get`].
pub fn post(address: SocketAddr, path: &str, body: &Value) -> Result<HttpResponse> {
    let body = body.to_string().into_bytes();
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    send(address, &format!("POST {path}"), &head, &body, PATIENCE)
}

fn send(address: SocketAddr, what: &str, headers: &str, body: &[u8], patience: Duration) -> Result<HttpResponse> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
    stream.set_read_timeout(Some(patience))?;
    // HTTP/1.0: the body ends where the connection ends, so nothing has to be taken apart.
    write!(stream, "{what} HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\n{headers}\r\n")?;
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
