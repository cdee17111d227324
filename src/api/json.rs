//! The one way in which JSON from the server becomes values of the page: first a JSON value, then a type. Read straight
//! from text, every type would bring a parser of its own into the bundle for each way that text arrives (answers, the
//! page's own data, events): a sixth of it.

use bytes::Bytes;
use leptos::server::codee::{Decoder, Encoder};
use leptos::server_fn::codec::Post;
use leptos::server_fn::{ContentType, Decodes, Encodes, Format, FormatType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

use crate::domain::reader;

/// JSON for server functions ([`Call`]) and for resources.
pub struct Json;

/// How server functions are called and answered.
pub type Call = Post<Json>;

/// Reads a value.
///
/// # Errors
/// The text is no JSON, or not of this shape.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    reader::read(&value(text)?)
}

/// Not generic, so that the parser exists once.
fn value(text: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(text)
}

impl ContentType for Json {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for Json {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for Json {
    type Error = Error;

    fn encode(value: &T) -> Result<Bytes, Error> {
        serde_json::to_vec(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Json {
    type Error = Error;

    fn decode(bytes: Bytes) -> Result<T, Error> {
        read(&bytes)
    }
}

impl<T: Serialize> Encoder<T> for Json {
    type Error = Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for Json {
    type Error = Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Error> {
        read(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::view::ChatItem;
    use crate::domain::chat::Heading;
    use crate::domain::{Event, sample};

    #[test]
    fn what_is_read_is_what_was_written() {
        let item = ChatItem {
            id: "01890000-0000-7000-8000-000000000001".parse().unwrap(),
            title: "a \"title\"".into(),
            updated_at: sample::time(1),
            heading: Heading::Today,
            running: true,
            needs_you: false,
            has_draft: false,
        };
        let text = serde_json::to_string(&item).unwrap();
        assert_eq!(read::<ChatItem>(text.as_bytes()).unwrap(), item);
        assert!(read::<ChatItem>(b"{").is_err());
        assert!(read::<ChatItem>(b"{}").is_err());
    }

    #[test]
    fn numbers_and_unknown_events_keep_their_digits_and_their_order() {
        let text = r#"{"type":"newer","z":18446744073709551615,"a":0.1}"#;
        let event: Event = read(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }
}
