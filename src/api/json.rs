//! The JSON decoder of the page: text is parsed into a JSON value first, then converted to a type. Direct parsing
//! would add a parser per type and per source (responses, page data, events) to the bundle: a sixth of it
//! (`docs/adr/0049-type-erased-views.md`).

use bytes::Bytes;
use leptos::server::codee::{Decoder, Encoder};
use leptos::server_fn::codec::Post;
use leptos::server_fn::{ContentType, Decodes, Encodes, Format, FormatType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

use crate::domain::encoding::json_reader;

/// JSON encoding of server functions ([`JsonPost`]) and of resources.
pub struct JsonEncoding;

/// The protocol of server functions.
pub type JsonPost = Post<JsonEncoding>;

/// Parses a value.
///
/// # Errors
/// The text is not JSON, or has another shape.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    json_reader::from_value(&parse_value(text)?)
}

/// Parses untyped JSON. It is not generic, so that the parser exists once.
fn parse_value(text: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(text)
}

impl ContentType for JsonEncoding {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for JsonEncoding {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for JsonEncoding {
    type Error = Error;

    fn encode(value: &T) -> Result<Bytes, Error> {
        serde_json::to_vec(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for JsonEncoding {
    type Error = Error;

    fn decode(bytes: Bytes) -> Result<T, Error> {
        parse(&bytes)
    }
}

impl<T: Serialize> Encoder<T> for JsonEncoding {
    type Error = Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for JsonEncoding {
    type Error = Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Error> {
        parse(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::view::ChatListItem;
    use crate::domain::chats::chat::ChatListHeading;
    use crate::domain::{Event, fixtures};

    #[test]
    fn json_round_trips() {
        let item = ChatListItem {
            id: "01890000-0000-7000-8000-000000000001".parse().unwrap(),
            title: "a \"title\"".into(),
            updated_at: fixtures::time(1),
            heading: ChatListHeading::Today,
            running: true,
            needs_you: false,
            has_draft: false,
            unread: false,
        };
        let text = serde_json::to_string(&item).unwrap();
        assert_eq!(parse::<ChatListItem>(text.as_bytes()).unwrap(), item);
        assert!(parse::<ChatListItem>(b"{").is_err());
        assert!(parse::<ChatListItem>(b"{}").is_err());
    }

    #[test]
    fn numbers_and_unknown_events_keep_digits_and_order() {
        let text = r#"{"type":"newer","z":18446744073709551615,"a":0.1}"#;
        let event: Event = parse(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }
}
