//! A scripted provider on a raw socket: every connection follows a script byte by byte, and the requests and the
//! times of client closes are recorded. It works below HTTP libraries so that it can break the protocol. A test crate
//! that uses only a part of it writes `#[expect(dead_code, reason = "…")]` where it includes the file.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The next step of the server on a connection.
#[derive(Debug, Clone)]
pub enum ServerStep {
    /// Sends the status line and the usual headers of a stream, without a length.
    Status(u16),
    /// Sends one more header; must come before any byte of the body.
    Header(&'static str, String),
    /// Ends the headers if they are still open and sends bytes.
    Bytes(Vec<u8>),
    /// Sends bytes in pieces of this size with this pause between them.
    Drip(Vec<u8>, usize, Duration),
    /// Sends nothing until the client closes.
    Stall,
    /// Closes with a reset.
    Rst,
    /// Closes gracefully.
    Fin,
}

/// One received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    /// Names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub at: Instant,
}

#[derive(Debug, Clone, Default)]
struct ServerLog {
    requests: Vec<ReceivedRequest>,
    /// The times at which clients were seen to close, one entry per connection.
    closed: Vec<Instant>,
}

/// The server; it stops when its last clone is dropped.
#[derive(Clone)]
pub struct FakeProvider {
    address: SocketAddr,
    seen: watch::Receiver<ServerLog>,
    _server: Arc<ServerTask>,
}

struct ServerTask(tokio::task::JoinHandle<()>);

impl Drop for ServerTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl FakeProvider {
    /// Answers connection n with script n; the last script answers all later connections.
    pub async fn start(scripts: Vec<Vec<ServerStep>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (send, seen) = watch::channel(ServerLog::default());
        let send = Arc::new(send);
        let served = Mutex::new(0);
        let server = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let script = {
                    let mut served = served.lock().unwrap();
                    let script = scripts[(*served).min(scripts.len() - 1)].clone();
                    *served += 1;
                    script
                };
                tokio::spawn(serve(socket, script, Arc::clone(&send)));
            }
        });
        Self { address, seen, _server: Arc::new(ServerTask(server)) }
    }

    /// Returns the base URL to configure a client with.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.seen.borrow().requests.clone()
    }

    /// Waits until this many requests have arrived and returns them.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<ReceivedRequest> {
        let mut seen = self.seen.clone();
        seen.wait_for(|seen| seen.requests.len() >= count).await.unwrap().requests.clone()
    }

    /// Waits until the client has closed this many connections and returns the times.
    pub async fn wait_for_closes(&self, count: usize) -> Vec<Instant> {
        let mut seen = self.seen.clone();
        seen.wait_for(|seen| seen.closed.len() >= count).await.unwrap().closed.clone()
    }
}

async fn serve(mut socket: TcpStream, script: Vec<ServerStep>, seen: Arc<watch::Sender<ServerLog>>) {
    socket.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut socket).await else { return };
    seen.send_modify(|seen| seen.requests.push(request));
    let mut in_headers = false;
    for verb in script {
        let done = match verb {
            ServerStep::Status(status) => {
                in_headers = true;
                let head = format!("HTTP/1.1 {status} Whatever\r\nconnection: close\r\n");
                socket.write_all(head.as_bytes()).await
            }
            ServerStep::Header(name, value) => socket.write_all(format!("{name}: {value}\r\n").as_bytes()).await,
            ServerStep::Bytes(bytes) => {
                let head = if std::mem::take(&mut in_headers) { &b"\r\n"[..] } else { b"" };
                socket.write_all(&[head, &bytes].concat()).await
            }
            ServerStep::Drip(bytes, size, pause) => {
                let head = if std::mem::take(&mut in_headers) { &b"\r\n"[..] } else { b"" };
                let mut result = socket.write_all(head).await;
                for piece in bytes.chunks(size) {
                    result = result.and(socket.write_all(piece).await);
                    if result.is_err() {
                        break;
                    }
                    tokio::time::sleep(pause).await;
                }
                result
            }
            ServerStep::Stall => {
                if std::mem::take(&mut in_headers) {
                    let _ = socket.write_all(b"\r\n").await;
                }
                break;
            }
            ServerStep::Rst => {
                socket.set_zero_linger().unwrap();
                return;
            }
            ServerStep::Fin => {
                let _ = socket.shutdown().await;
                break;
            }
        };
        if done.is_err() {
            break;
        }
    }
    // The script is done; the connection only waits for the client to close it.
    let mut rest = [0; 1024];
    while socket.read(&mut rest).await.is_ok_and(|count| count > 0) {}
    seen.send_modify(|seen| seen.closed.push(Instant::now()));
}

async fn read_request(socket: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&buffer[..count]);
    }
    Some(ReceivedRequest { method, path, headers, body, at: Instant::now() })
}
