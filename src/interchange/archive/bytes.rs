//! Bytes in JSON: as text where they are UTF-8, so that a person can read them, in base64 otherwise.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, written as `{"text": "…"}` or as `{"base64": "…"}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
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
enum Written {
    Text(String),
    Base64(String),
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(text) => Ok(Self(text.into_bytes())),
            Written::Base64(text) => STANDARD.decode(text).map(Self).map_err(D::Error::custom),
        }
    }
}
