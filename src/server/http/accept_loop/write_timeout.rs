//! A connection with a write timeout that depends on the response: a download may be paused for longer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::Response;
use http::header::CONTENT_DISPOSITION;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;

/// A flag that a connection and its service share: the response that is being sent is a download.
#[derive(Debug, Clone, Default)]
pub struct DownloadFlag(Arc<AtomicBool>);

impl DownloadFlag {
    pub fn set(&self, response: &Response) {
        let disposition = response.headers().get(CONTENT_DISPOSITION);
        let is_download = disposition.is_some_and(|value| value.as_bytes().starts_with(b"attachment"));
        self.0.store(is_download, Ordering::Relaxed);
    }
}

/// A TCP stream with a write timeout.
pub struct WriteTimeoutStream {
    inner: Pin<Box<TimeoutStream<TcpStream>>>,
    is_download: DownloadFlag,
    /// The timeouts of other responses, and of downloads.
    times: (Duration, Duration),
}

impl WriteTimeoutStream {
    pub fn new(stream: TcpStream, is_download: DownloadFlag, times: (Duration, Duration)) -> Self {
        Self { inner: Box::pin(TimeoutStream::new(stream)), is_download, times }
    }

    /// Returns the stream, with the timeout of the current response.
    fn stream_with_timeout(&mut self) -> Pin<&mut TimeoutStream<TcpStream>> {
        let time = if self.is_download.0.load(Ordering::Relaxed) { self.times.1 } else { self.times.0 };
        if self.inner.write_timeout() != Some(time) {
            self.inner.as_mut().set_write_timeout_pinned(Some(time));
        }
        self.inner.as_mut()
    }
}

impl AsyncRead for WriteTimeoutStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.inner.as_mut().poll_read(cx, buffer)
    }
}

impl AsyncWrite for WriteTimeoutStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.stream_with_timeout().poll_write(cx, buffer)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream_with_timeout().poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream_with_timeout().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream_with_timeout().poll_shutdown(cx)
    }
}
