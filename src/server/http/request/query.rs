//! Query strings, parsed as strictly as bodies: an unknown, repeated or mistyped field is 400 with its reason.

use axum::extract::FromRequestParts;
use axum::extract::Query as Loose;
use http::request::Parts;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::domain::InvalidField;
use crate::server::http::response::problem::Problem;

/// The fields of the query. Types that are read must `deny_unknown_fields`.
#[derive(Debug, Clone, Copy)]
pub struct StrictQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for StrictQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Loose::<T>::from_request_parts(parts, state).await {
            Ok(Loose(fields)) => Ok(Self(fields)),
            Err(rejection) => {
                let text = rejection.body_text();
                let reason = text.rsplit_once("deserialize query string: ").map_or(text.as_str(), |(_, reason)| reason);
                // The message is `field: reason` if the field is known.
                let (field, reason) =
                    reason.split_once(": ").filter(|(field, _)| !field.contains('`')).unwrap_or(("", reason));
                Err(Problem::unreadable(field, reason))
            }
        }
    }
}

/// Reads a boolean of a query: `1`, `0`, `true` or `false`.
pub fn deserialize_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(D::Error::custom("must be 1, 0, true or false")),
    }
}

/// Returns the size of a page of a list: the field `limit`, from one to `most`, or the default.
pub fn page_limit(asked: Option<u32>, default: u32, most: u32) -> Result<u32, InvalidField> {
    InvalidField::check_range("limit", asked.unwrap_or(default), 1..=most)
}
