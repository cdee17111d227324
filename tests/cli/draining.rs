//! Shutdown of the real program: a request that is being answered at the signal is answered completely.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::CliServer;

/// More time than the server needs to close an idle database.
const CLOSING: Duration = Duration::from_secs(1);

/// Waits until the write-ahead log is gone, which SQLite removes with the last connection, or the time is over.
fn is_closed(database: &Path) -> bool {
    let (log, begun) = (database.with_extension("db-wal"), Instant::now());
    while log.exists() && begun.elapsed() < CLOSING {
        std::thread::sleep(Duration::from_millis(10));
    }
    !log.exists()
}

#[test]
fn request_in_flight_at_shutdown_is_answered_before_database_closes() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = CliServer::start_with(dir.path(), &[("TURNLEAF_DRAIN_SECONDS", "20")]);
    let body = r#"{"provider":"demo","model":"plain"}"#;
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "POST /api/chats HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Expect: 100-continue\r\nConnection: close\r\n\r\n",
        server.address,
        body.len()
    )
    .unwrap();
    // The server asks for the body from the code that answers the request, so from here on the request is in
    // progress.
    let mut received = [0; 25];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(&body.as_bytes()[..10]).unwrap();

    server.signal("TERM");
    while TcpStream::connect(&server.address).is_ok() {}
    assert!(!is_closed(&dir.path().join("turnleaf.db")), "the database is closed under a request");
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(is_closed(&dir.path().join("turnleaf.db")), "the database is closed in the end");
}
