//! One GET over loopback, for asking a server that was just started whether it is well. Not a client for anything else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

/// What came back.
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's value, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Asks for a path; the connection ends with the answer.
///
/// # Errors
/// Nobody listens, or what came back is not HTTP.
pub fn get(address: SocketAddr, path: &str, accept_encoding: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    // HTTP/1.0: the body ends where the connection ends, so nothing has to be taken apart.
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\nAccept-Encoding: {accept_encoding}\r\n\r\n"
    )?;
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
    Ok(Answer { status, headers, body: all.split_off(end + 4) })
}
