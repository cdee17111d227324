//! A JSON value, and whether a name stands twice in one of its objects: `serde_json` takes the last one without a word.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one value, and says whether a name is repeated in it.
pub(super) fn value(text: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    let mut is_repeated = false;
    let mut from = serde_json::Deserializer::from_slice(text);
    let value = Seen(&mut is_repeated).deserialize(&mut from)?;
    from.end()?;
    Ok((value, is_repeated))
}

struct Seen<'r>(&'r mut bool);

impl<'de> DeserializeSeed<'de> for Seen<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seen<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, is_so: bool) -> Result<Value, E> {
        Ok(Value::Bool(is_so))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Seen(&mut *self.0))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            *self.0 |= members.insert(name, from.next_value_seed(Seen(&mut *self.0))?).is_some();
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_serde_json_and_repeated_names_are_seen() {
        let table = [
            (r#"{"a":[1,-2,1.5,1e3,18446744073709551615,"x\u00e9",null,true],"b":{"a":{}}}"#, false),
            (r#"{"a":1,"b":2,"a":3}"#, true),
            (r#"[[{"m":{"x":{"t":1},"x":{"t":2}}}]]"#, true),
            (r#"[{"a":1},{"a":1}]"#, false),
            (r#""a""#, false),
        ];
        for (text, is_repeated) in table {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value(text.as_bytes()).unwrap(), (expected, is_repeated), "{text}");
        }
        for text in ["", "{", "[1 2]", "1 2", r#"{"a" 1}"#] {
            let expected = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert_eq!(value(text.as_bytes()).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
