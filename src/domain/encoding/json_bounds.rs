//! Bounds of stored JSON, so that everything written can be read back (`docs/adr/0012-bounded-stored-json.md`).
//! Readers (`serde_json`, here and in the browser) fail beyond 128 levels and misread an object whose first member
//! has a private name. Values are limited to a smaller depth that leaves room for every envelope; both rules are
//! enforced on input and when a row is written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::limits;

/// The prefix of the member names that `serde_json` reserves. An object whose first member has one is not read back
/// as it was written.
const RESERVED: &str = "$serde_json::private::";

/// A JSON value exactly as its text has it. The reader of `Value` interprets the reserved names and parses the
/// strings behind them, which would start a new, unchecked nesting.
pub struct PlainJson(pub Value);

/// Returns true for a member name that `serde_json` reserves.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

/// Parses a text as one value, without special meaning for any name.
///
/// # Errors
/// The text is not JSON, or nested deeper than `serde_json` accepts.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<PlainJson>(text).map(|PlainJson(value)| value)
}

/// Like [`parse`], for bytes; also returns whether an object has a duplicate name, of which the last one counts.
///
/// # Errors
/// Same as [`parse`].
pub fn parse_detecting_duplicates(text: &[u8]) -> serde_json::Result<(Value, bool)> {
    let mut is_repeated = false;
    let mut from = serde_json::Deserializer::from_slice(text);
    let value = PlainSeed { is_repeated: &mut is_repeated }.deserialize(&mut from)?;
    from.end()?;
    Ok((value, is_repeated))
}

/// Parses a text as one value that can be stored.
///
/// # Errors
/// Same as [`parse`], and if the value exceeds the bounds; the error names the bound.
pub fn parse_bounded(text: &str) -> serde_json::Result<Value> {
    let value = parse(text)?;
    match excess(&value, limits::JSON_VALUE_DEPTH) {
        None => Ok(value),
        Some(BoundsExcess::Depth) => {
            Err(serde_json::Error::custom(format_args!("nested deeper than {} levels", limits::JSON_VALUE_DEPTH)))
        }
        Some(BoundsExcess::Name) => Err(serde_json::Error::custom(format_args!("a name starts with {RESERVED}"))),
    }
}

/// Enforces the bounds on a value: a part that is nested deeper or could not be read back becomes a string of its
/// JSON. Returns true if anything changed.
pub fn enforce(value: &mut Value) -> bool {
    if excess(value, limits::JSON_VALUE_DEPTH).is_none() {
        return false;
    }
    let text = value.to_string();
    *value = parse(&bounded_text(&text, limits::JSON_VALUE_DEPTH)).unwrap_or(Value::String(text));
    true
}

/// Enforces the bounds on the members of an object. A name that the enclosing object uses or that `serde_json`
/// reserves could not be read back, so it gets the prefix `x:`.
pub fn enforce_members(members: &mut Map<String, Value>, is_taken: impl Fn(&str) -> bool) {
    members.values_mut().for_each(|member| {
        enforce(member);
    });
    if members.keys().any(|name| is_taken(name) || is_reserved(name)) {
        let named = std::mem::take(members).into_iter();
        *members = named
            .map(|(name, member)| match is_taken(&name) || is_reserved(&name) {
                true => (format!("x:{name}"), member),
                false => (name, member),
            })
            .collect();
    }
}

/// Enforces the bounds on a JSON text of any depth, without recursion, and without a copy if nothing has to change.
/// Invalid JSON stays invalid.
pub fn bounded_text(text: &str, depth: usize) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut written = String::new();
    let (mut copied, mut at, mut level) = (0, 0, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'{' | b'[' if level == depth || begins_reserved(text, at) => {
                let end = end_of_container(bytes, at);
                written.push_str(&text[copied..at]);
                written.push_str(&Value::from(&text[at..end]).to_string());
                (copied, at) = (end, end);
            }
            b'{' | b'[' => (level, at) = (level + 1, at + 1),
            b'}' | b']' => (level, at) = (level.saturating_sub(1), at + 1),
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    written.push_str(&text[copied..]);
    Cow::Owned(written)
}

enum BoundsExcess {
    Depth,
    Name,
}

/// Returns the bound that a value exceeds. Iterates with an explicit stack, because the depth is unknown.
fn excess(value: &Value, depth: usize) -> Option<BoundsExcess> {
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        match value {
            Value::Array(_) | Value::Object(_) if level == depth => return Some(BoundsExcess::Depth),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => {
                if members.keys().next().is_some_and(|name| is_reserved(name)) {
                    return Some(BoundsExcess::Name);
                }
                open.extend(members.values().map(|member| (member, level + 1)));
            }
            _ => {}
        }
    }
    None
}

/// Returns the offset after the JSON string that begins here, or the end of the text if it is unterminated.
pub fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the offset after the array or object that begins here, or the end of the text if it is unterminated.
fn end_of_container(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut level) = (start, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'{' | b'[' => level += 1,
            b'}' | b']' if level == 1 => return at + 1,
            b'}' | b']' => level -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns true if an object begins here whose first name is reserved, with or without escapes.
fn begins_reserved(text: &str, start: usize) -> bool {
    let Some(inside) = text[start..].strip_prefix('{') else { return false };
    let name = inside.trim_ascii_start();
    if !name.starts_with("\"$") && !name.starts_with("\"\\") {
        return false;
    }
    let end = end_of_string(name.as_bytes(), 0);
    let name = name.get(..end).and_then(|name| serde_json::from_str::<String>(name).ok());
    name.is_some_and(|name| is_reserved(&name))
}

impl<'de> Deserialize<'de> for PlainJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        PlainSeed { is_repeated: &mut false }.deserialize(from).map(Self)
    }
}

/// The visitor of any JSON value. Records duplicate names.
struct PlainSeed<'r> {
    is_repeated: &'r mut bool,
}

impl<'de> DeserializeSeed<'de> for PlainSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PlainSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(PlainSeed { is_repeated: &mut *self.is_repeated })? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            let member = from.next_value_seed(PlainSeed { is_repeated: &mut *self.is_repeated })?;
            *self.is_repeated |= members.insert(name, member).is_some();
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests;
