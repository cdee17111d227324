//! The writing task of a WebSocket. It is separate from the task that decides what to write, so that a slow reader
//! blocks nothing else.

use axum::extract::ws::{Message, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::domain::limits;

/// Writes the queued messages. A client that reads nothing for too long is disconnected.
pub async fn write_queued(mut sink: SplitSink<WebSocket, Message>, mut queue: mpsc::Receiver<Message>) {
    while let Some(message) = queue.recv().await {
        match timeout(limits::SOCKET_PATIENCE, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
    let _ = timeout(limits::SOCKET_PATIENCE, sink.close()).await;
}
