//! The writing side of a WebSocket, beside the one that decides what is written: who reads slowly holds up nothing
//! else.

use axum::extract::ws::{Message, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::domain::limits;

/// Writes what is queued. A client that takes nothing for too long is left.
pub async fn write_queued(mut sink: SplitSink<WebSocket, Message>, mut queue: mpsc::Receiver<Message>) {
    while let Some(message) = queue.recv().await {
        match timeout(limits::SOCKET_PATIENCE, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
    let _ = timeout(limits::SOCKET_PATIENCE, sink.close()).await;
}
