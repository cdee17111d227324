//! Cache for responses that go back to their model: the bytes, the decoded reply, and the serialized message. A long
//! chat sends hundreds of them again with every message, and decoding each takes a millisecond.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::value::RawValue;

/// The decoded reply and the name of its reader.
type CachedReading = (&'static str, Arc<dyn Any + Send + Sync>);

/// One stored response; clones share the cache.
#[derive(Clone)]
pub struct StoredResponse(Arc<StoredResponseInner>);

struct StoredResponseInner {
    body: StoredBody,
    reading: OnceLock<CachedReading>,
    written: OnceLock<WrittenMessage>,
}

/// The form of a message: the kind of server, and the number of the variant.
pub type MessageForm = (&'static str, u8);
/// A serialized message in its form; `None` if nothing is sent.
type WrittenMessage = (MessageForm, Option<Arc<RawValue>>);

enum StoredBody {
    Plain(Bytes),
    Packed(Box<dyn Fn() -> Vec<u8> + Send + Sync>),
}

impl StoredResponse {
    fn from_body(body: StoredBody) -> Self {
        Self(Arc::new(StoredResponseInner { body, reading: OnceLock::new(), written: OnceLock::new() }))
    }

    /// Creates a response whose bytes are loaded on demand: `unpack` returns the same bytes every time.
    pub fn from_packed(unpack: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::from_body(StoredBody::Packed(Box::new(unpack)))
    }

    /// Returns the bytes of the response.
    pub fn bytes(&self) -> Bytes {
        match &self.0.body {
            StoredBody::Plain(bytes) => bytes.clone(),
            StoredBody::Packed(unpack) => unpack().into(),
        }
    }

    /// Returns what `read` decodes from the bytes. The result is cached for the first `reader`; another one, as after
    /// a server was reconfigured, decodes again.
    pub fn read_cached<T: Any + Send + Sync>(&self, reader: &'static str, read: impl Fn(&[u8]) -> T) -> Arc<T> {
        let (by, reading) = self.0.reading.get_or_init(|| (reader, Arc::new(read(&self.bytes()))));
        let reading = Some(reading.clone()).filter(|_| *by == reader).and_then(|reading| reading.downcast().ok());
        reading.unwrap_or_else(|| Arc::new(read(&self.bytes())))
    }
}

impl StoredResponse {
    /// Returns the message that `write` serializes for the next request. The result is cached for the first form,
    /// because building value trees for thousands of replies takes longer than the rest of a request.
    pub fn write_cached(&self, form: MessageForm, write: impl Fn() -> Option<Box<RawValue>>) -> Option<Arc<RawValue>> {
        let (of, written) = self.0.written.get_or_init(|| (form, write().map(Arc::from)));
        if *of == form { written.clone() } else { write().map(Arc::from) }
    }
}

impl From<Bytes> for StoredResponse {
    fn from(bytes: Bytes) -> Self {
        Self::from_body(StoredBody::Plain(bytes))
    }
}

impl From<&'static str> for StoredResponse {
    fn from(text: &'static str) -> Self {
        Bytes::from(text).into()
    }
}

impl fmt::Debug for StoredResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Response").field(&self.bytes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn response_is_read_once_per_reader() {
        let reads = AtomicUsize::new(0);
        let read = |bytes: &[u8]| {
            reads.fetch_add(1, Ordering::Relaxed);
            bytes.len()
        };
        for response in [StoredResponse::from("four"), StoredResponse::from_packed(|| b"four".to_vec())] {
            reads.store(0, Ordering::Relaxed);
            let same = response.clone();
            assert_eq!(
                [*response.read_cached("a", read), *same.read_cached("a", read), *response.read_cached("a", read)],
                [4, 4, 4]
            );
            assert_eq!(reads.load(Ordering::Relaxed), 1);
            assert_eq!(*response.read_cached("b", read), 4);
            assert_eq!(*response.read_cached("a", |bytes| bytes.to_vec()), b"four", "another form");
            assert_eq!(reads.load(Ordering::Relaxed), 2);
            assert_eq!(response.bytes(), "four");
            let write = |text: &'static str| {
                response.write_cached(("a", u8::from(text == "[1]")), || RawValue::from_string(text.into()).ok())
            };
            assert_eq!(write("[1]").unwrap().get(), "[1]");
            assert_eq!(write("[2]").unwrap().get(), "[2]", "another form");
            assert_eq!(same.write_cached(("a", 1), || None).unwrap().get(), "[1]");
        }
    }
}
