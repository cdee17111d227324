//! Encodes bytes in JSON: UTF-8 as readable text, anything else in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that serialize as `{"text": "…"}` or `{"base64": "…"}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchivedBytes(pub Vec<u8>);

impl Serialize for ArchivedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match std::str::from_utf8(&self.0) {
            Ok(text) => map.serialize_entry("text", text)?,
            Err(_) => map.serialize_entry("base64", &STANDARD.encode(&self.0))?,
        }
        map.end()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EncodedBytes {
    Text(String),
    Base64(String),
}

impl<'de> Deserialize<'de> for ArchivedBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match EncodedBytes::deserialize(from)? {
            EncodedBytes::Text(text) => Ok(Self(text.into_bytes())),
            EncodedBytes::Base64(text) => STANDARD.decode(text).map(Self).map_err(D::Error::custom),
        }
    }
}
