//! A response that goes back to its model: the bytes as they came, and what an adapter read in them the last time. A long
//! chat sends hundreds of them again with every message, and each took a millisecond to read.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::value::RawValue;

/// What was read in a response, and by whom.
type CachedReading = (&'static str, Arc<dyn Any + Send + Sync>);

/// One response; a clone is the same one.
#[derive(Clone)]
pub struct StoredResponse(Arc<StoredResponseInner>);

struct StoredResponseInner {
    body: Body,
    said: OnceLock<CachedReading>,
    written: OnceLock<WrittenMessage>,
}

/// How a response goes back: to which kind of server, and in which of its forms.
pub type MessageForm = (&'static str, u8);
/// A message in its form; none where nothing of it is sent.
type WrittenMessage = (MessageForm, Option<Arc<RawValue>>);

enum Body {
    Plain(Bytes),
    Packed(Box<dyn Fn() -> Vec<u8> + Send + Sync>),
}

impl StoredResponse {
    fn from_body(body: Body) -> Self {
        Self(Arc::new(StoredResponseInner { body, said: OnceLock::new(), written: OnceLock::new() }))
    }

    /// One whose bytes are not at hand: `unpack` gives them, every time the same.
    pub fn from_packed(unpack: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::from_body(Body::Packed(Box::new(unpack)))
    }

    /// The bytes as they came.
    pub fn bytes(&self) -> Bytes {
        match &self.0.body {
            Body::Plain(bytes) => bytes.clone(),
            Body::Packed(unpack) => unpack().into(),
        }
    }

    /// What `read` finds in the bytes. It is called once as long as the same `reader` asks; another one, as after a
    /// server was configured to be another, gets its own.
    pub fn read_cached<T: Any + Send + Sync>(&self, reader: &'static str, read: impl Fn(&[u8]) -> T) -> Arc<T> {
        let (by, said) = self.0.said.get_or_init(|| (reader, Arc::new(read(&self.bytes()))));
        let said = Some(said.clone()).filter(|_| *by == reader).and_then(|said| said.downcast().ok());
        said.unwrap_or_else(|| Arc::new(read(&self.bytes())))
    }
}

impl StoredResponse {
    /// The message that `write` makes of it for the next request, as JSON. It is called once as long as the same form is
    /// asked for: a tree of values for each of thousands of replies takes longer than all else of a request.
    pub fn write_cached(&self, form: MessageForm, write: impl Fn() -> Option<Box<RawValue>>) -> Option<Arc<RawValue>> {
        let (of, written) = self.0.written.get_or_init(|| (form, write().map(Arc::from)));
        if *of == form { written.clone() } else { write().map(Arc::from) }
    }
}

impl From<Bytes> for StoredResponse {
    fn from(bytes: Bytes) -> Self {
        Self::from_body(Body::Plain(bytes))
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
