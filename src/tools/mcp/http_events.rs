//! The events of a response over HTTP, bounded and repaired.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use reqwest::Response;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use super::{error_messages, json_repair};

pub type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Returns the events of a response. The stream ends at an event that is too large, with an error for the request.
pub fn read_events(response: Response, at_most: usize, request: Option<RequestId>) -> Events {
    let is_exceeded = Arc::new(AtomicBool::new(false));
    let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), at_most, is_exceeded.clone()));
    let events = events.map(|event| {
        event.map(|mut event: Sse| {
            event.data = event.data.map(|data| json_repair::repaired_message(&data));
            event
        })
    });
    let end = stream::once(async move {
        let request = request.filter(|_| is_exceeded.load(Ordering::Relaxed));
        let error = ErrorData::internal_error(error_messages::answer_too_large().to_string(), None);
        request.and_then(|request| serde_json::to_string(&ServerJsonRpcMessage::error(error, Some(request))).ok())
    });
    events.chain(end.filter_map(|error| ready(error.map(|error| Ok(Sse::default().data(error)))))).boxed()
}

/// Ends a stream of bytes within an event that is too large.
fn bounded(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    at_most: usize,
    is_exceeded: Arc<AtomicBool>,
) -> impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static {
    let (mut event, mut line) = (0, 0);
    bytes.take_while(move |piece| {
        let Ok(piece) = piece else { return ready(true) };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', piece) {
            let text = &piece[start..end];
            let is_blank = line + text.len() == usize::from(text.ends_with(b"\r"));
            event = if is_blank { 0 } else { event + line + text.len() + 1 };
            (start, line) = (end + 1, 0);
            if event > at_most {
                break;
            }
        }
        line += piece.len() - start;
        if event + line > at_most {
            is_exceeded.store(true, Ordering::Relaxed);
            return ready(false);
        }
        ready(true)
    })
}
