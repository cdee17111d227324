//! A PostgreSQL proxy for fault injection. It reads enough of the wire protocol to drop exactly the acknowledgement
//! of a commit. It uses only `std`, so that the project's own commands can include it by its path as the tests do;
//! connections must not be encrypted. Faults:
//!
//! * [`PostgresProxy::drop_commit_acknowledgement`]: the next COMMIT of a transaction with a matching statement
//!   reaches the server, its answer does not reach the client, and the connection is cut.
//! * [`PostgresProxy::black_hole_after_commit`]: the answer to the next such COMMIT is the last that passes before a
//!   black hole.
//! * [`PostgresProxy::black_hole`]: nothing passes in either direction, and neither side is notified. New connections
//!   are accepted and fall silent, too.
//! * [`PostgresProxy::silence`]: the connections that are open now become black holes; new ones work.
//! * [`PostgresProxy::cut`]: all open connections end.
//! * [`PostgresProxy::heal`]: data that the black hole held back arrives, silent connections end, new ones work.

use std::collections::HashMap;
use std::io::{Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The proxy; it stops when it is dropped.
pub struct PostgresProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct ProxyState {
    is_black_hole: bool,
    is_over: bool,
    /// A part of a statement that selects the transaction, and the fault after its commit.
    armed: Option<(String, AfterCommit)>,
    dropped: usize,
    links: HashMap<u64, Link>,
    opened: u64,
}

/// The fault after the server has answered a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterCommit {
    DropAnswer,
    BlackHole,
}

/// A client connection and its connection to the server.
struct Link {
    client: TcpStream,
    server: TcpStream,
    is_silent: bool,
    /// The fault after the commit in progress.
    after_commit: Option<AfterCommit>,
    /// The next byte of the server answers the client's encryption request.
    requested_encryption: bool,
}

struct Shared {
    upstream: SocketAddr,
    state: Mutex<ProxyState>,
    changed: Condvar,
}

impl PostgresProxy {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// Fails when no port is free.
    pub fn start(upstream: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { upstream, state: Mutex::default(), changed: Condvar::new() });
        let accepting = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.state().is_over {
                    return;
                }
                // When the server is down, the proxy closes the connection as well.
                let _ = accepting.clone().open(client);
            }
        });
        Ok(Self { address, shared })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Drops the acknowledgement of the next commit of a transaction that has a statement with `part` in it.
    pub fn drop_commit_acknowledgement(&self, part: &str) {
        self.shared.state().armed = Some((part.to_owned(), AfterCommit::DropAnswer));
    }

    /// Starts a black hole after the next commit of a transaction that has a statement with `part` in it.
    pub fn black_hole_after_commit(&self, part: &str) {
        self.shared.state().armed = Some((part.to_owned(), AfterCommit::BlackHole));
    }

    /// Returns whether nothing passes.
    pub fn is_black_hole(&self) -> bool {
        self.shared.state().is_black_hole
    }

    /// Returns how many acknowledgements were dropped so far.
    pub fn dropped_count(&self) -> usize {
        self.shared.state().dropped
    }

    pub fn start_black_hole(&self) {
        self.shared.state().is_black_hole = true;
    }

    pub fn silence_links(&self) {
        self.shared.state().links.values_mut().for_each(|link| link.is_silent = true);
    }

    pub fn cut_links(&self) {
        self.shared.close_links(|_| true);
    }

    pub fn heal(&self) {
        self.shared.close_links(|link| link.is_silent);
        self.shared.state().is_black_hole = false;
        self.shared.changed.notify_all();
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.cut_links();
        // This connection wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ProxyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(self: Arc<Self>, client: TcpStream) -> Result<()> {
        let server = TcpStream::connect(self.upstream)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let link = Link {
            client: client.try_clone()?,
            server: server.try_clone()?,
            is_silent: false,
            after_commit: None,
            requested_encryption: false,
        };
        let id = {
            let mut state = self.state();
            state.opened += 1;
            let id = state.opened;
            state.links.insert(id, link);
            id
        };
        let (up, down) = (self.clone(), self);
        let (client_reads, server_writes) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            let _ = up.pass_requests(id, client_reads, server_writes);
            up.close(id);
        });
        thread::spawn(move || {
            let _ = down.pass_answers(id, server, client);
            down.close(id);
        });
        Ok(())
    }

    fn close_links(&self, is_meant: impl Fn(&Link) -> bool) {
        let mut state = self.state();
        state.links.retain(|_, link| {
            let cuts = is_meant(link);
            if cuts {
                shut_down_link(link);
            }
            !cuts
        });
        drop(state);
        self.changed.notify_all();
    }

    fn close(&self, id: u64) {
        if let Some(link) = self.state().links.remove(&id) {
            shut_down_link(&link);
        }
        self.changed.notify_all();
    }

    /// Waits until bytes of this connection may pass; returns false when it was cut.
    fn may_pass(&self, id: u64) -> bool {
        let mut state = self.state();
        loop {
            match state.links.get(&id) {
                None => return false,
                Some(link) if !state.is_black_hole && !link.is_silent => return true,
                Some(_) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn update_link<T: Default>(&self, id: u64, change: impl FnOnce(&mut Link) -> T) -> T {
        self.state().links.get_mut(&id).map(change).unwrap_or_default()
    }

    fn pass_requests(&self, id: u64, mut from: TcpStream, mut to: TcpStream) -> Result<()> {
        let mut requests = ClientMessages::default();
        let mut bytes = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut bytes)?;
            if length == 0 || !self.may_pass(id) {
                return Ok(());
            }
            for seen in requests.read(&bytes[..length]) {
                match seen {
                    ClientMessage::EncryptionRequest => self.update_link(id, |link| link.requested_encryption = true),
                    ClientMessage::Commit(statements) => {
                        let mut state = self.state();
                        let has = |part: &str| statements.iter().any(|text| text.contains(part));
                        if let Some((_, after)) = state.armed.take_if(|(part, _)| has(part))
                            && let Some(link) = state.links.get_mut(&id)
                        {
                            link.after_commit = Some(after);
                        }
                    }
                }
            }
            to.write_all(&bytes[..length])?;
        }
    }

    fn pass_answers(&self, id: u64, mut from: TcpStream, mut to: TcpStream) -> Result<()> {
        let mut waiting: Vec<u8> = Vec::new();
        let mut bytes = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut bytes)?;
            if length == 0 || !self.may_pass(id) {
                return Ok(());
            }
            waiting.extend_from_slice(&bytes[..length]);
            if self.update_link(id, |link| std::mem::take(&mut link.requested_encryption)) {
                to.write_all(&waiting[..1])?;
                waiting.drain(..1);
            }
            while let Some(end) = message_end(&waiting, 1) {
                let is_committed = waiting[0] == b'C' && waiting[5..end].starts_with(b"COMMIT");
                let after = if is_committed { self.update_link(id, |link| link.after_commit.take()) } else { None };
                if after == Some(AfterCommit::DropAnswer) {
                    self.state().dropped += 1;
                    return Ok(());
                }
                if after == Some(AfterCommit::BlackHole) {
                    self.state().is_black_hole = true;
                    // The messages of one answer are sent together, so that the client has all of it.
                    to.write_all(&waiting)?;
                    waiting.clear();
                    break;
                }
                to.write_all(&waiting[..end])?;
                waiting.drain(..end);
            }
        }
    }
}

fn shut_down_link(link: &Link) {
    // An error means that the side is already closed.
    let _ = link.client.shutdown(Shutdown::Both);
    let _ = link.server.shutdown(Shutdown::Both);
}

/// Returns the end of the first message if it is complete: `kind` bytes, then a length that counts itself.
fn message_end(bytes: &[u8], kind: usize) -> Option<usize> {
    let length: [u8; 4] = bytes.get(kind..kind + 4)?.try_into().ok()?;
    let end = kind + u32::from_be_bytes(length) as usize;
    (bytes.len() >= end).then_some(end)
}

/// The client messages that matter to the proxy.
enum ClientMessage {
    EncryptionRequest,
    /// Carries the statements of the transaction.
    Commit(Vec<String>),
}

/// A parser of the messages of one client.
#[derive(Default)]
struct ClientMessages {
    waiting: Vec<u8>,
    has_begun: bool,
    prepared: HashMap<Vec<u8>, String>,
    /// The statements of the open transaction.
    statements: Vec<String>,
}

impl ClientMessages {
    fn read(&mut self, bytes: &[u8]) -> Vec<ClientMessage> {
        const ENCRYPTION_REQUESTS: [u32; 2] = [80_877_103, 80_877_104];
        self.waiting.extend_from_slice(bytes);
        let mut seen = Vec::new();
        while let Some(end) = message_end(&self.waiting, usize::from(self.has_begun)) {
            let message: Vec<u8> = self.waiting.drain(..end).collect();
            if self.has_begun {
                seen.extend(self.message(message[0], &message[5..]));
                continue;
            }
            let code = message.get(4..8).and_then(|code| code.try_into().ok()).map(u32::from_be_bytes);
            match code {
                Some(code) if ENCRYPTION_REQUESTS.contains(&code) => seen.push(ClientMessage::EncryptionRequest),
                _ => self.has_begun = true,
            }
        }
        seen
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> Option<ClientMessage> {
        let mut words = body.split(|byte| *byte == 0);
        let mut word = || words.next().unwrap_or_default();
        match kind {
            // Parse: a statement name and its text.
            b'P' => {
                let (name, text) = (word().to_vec(), String::from_utf8_lossy(word()).into_owned());
                self.prepared.insert(name, text);
            }
            // Bind: a portal and a statement name.
            b'B' => {
                let _portal = word();
                let text = self.prepared.get(word()).cloned().unwrap_or_default();
                self.statements.push(text);
            }
            // Simple query.
            b'Q' => {
                let text = String::from_utf8_lossy(word()).trim().to_uppercase();
                if text.starts_with("BEGIN") {
                    self.statements.clear();
                } else if text.starts_with("COMMIT") {
                    return Some(ClientMessage::Commit(std::mem::take(&mut self.statements)));
                }
            }
            _ => {}
        }
        None
    }
}
