//! A small generic reader from JSON values into types. Code derived by serde is instantiated for each type and each
//! source; this is one source for all types, which keeps the browser's module small
//! (`docs/adr/0049-type-erased-views.md`). Tagged types (`type`, `kind`) implement reading with [`JsonMembers`],
//! because serde would buffer everything and add a second reader.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// Reads a value of this type.
///
/// # Errors
/// The JSON has another shape.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    T::deserialize(ValueDeserializer(value))
}

/// Returns the deserializer itself, for a caller that observes how a value is read.
pub fn deserializer(value: &Value) -> impl Deserializer<'_, Error = Error> {
    ValueDeserializer(value)
}

/// Reads a type that takes a JSON value apart itself, from any deserializer.
///
/// # Errors
/// The input is not JSON, or `take` refused it.
pub fn deserialize_members<'de, D: Deserializer<'de>, T>(
    from: D,
    take: fn(&JsonMembers<'_>) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let value = serde::Deserialize::deserialize(from)?;
    take(&JsonMembers(&value)).map_err(D::Error::custom)
}

/// The members of an object. Any other value has none.
pub struct JsonMembers<'v>(pub &'v Value);

impl JsonMembers<'_> {
    /// Returns a required member.
    ///
    /// # Errors
    /// The member is missing or has another shape.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        self.0.get(name).map_or_else(|| Err(missing_member(name)), from_value)
    }

    /// Returns an optional member.
    ///
    /// # Errors
    /// The member has another shape.
    pub fn get_or_default<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, Error> {
        self.0.get(name).map_or_else(|| Ok(T::default()), from_value)
    }

    /// Returns the tag that names the variant.
    ///
    /// # Errors
    /// The member is missing or not a string.
    pub fn tag(&self, name: &str) -> Result<&str, Error> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| missing_member(name))
    }

    /// Reads all members as one value.
    ///
    /// # Errors
    /// The members have another shape.
    pub fn read_all<T: DeserializeOwned>(&self) -> Result<T, Error> {
        from_value(self.0)
    }
}

fn missing_member(name: &str) -> Error {
    Error::custom(format_args!("missing field `{name}`"))
}

/// The error of a tag that this version does not know.
pub fn unknown_variant(word: &str) -> Error {
    Error::custom(format_args!("unknown variant `{word}`"))
}

/// A JSON value as a serde deserializer. Structs are accepted as objects only.
#[derive(Clone, Copy)]
struct ValueDeserializer<'de>(&'de Value);

impl ValueDeserializer<'_> {
    fn type_error(self, expected: &str) -> Error {
        let found = match self.0 {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        };
        Error::custom(format_args!("invalid type: {found}, expected {expected}"))
    }
}

/// Integers up to here are exact as floating-point numbers.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Implements the integer types of every width. JSON has one kind of numbers, so that `3.0` is an integer as well.
macro_rules! whole_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match (self.0.as_u64(), self.0.as_i64(), self.0.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) if number.fract() == 0.0 && number.abs() <= EXACT_FLOAT => {
                    if number < 0.0 { visitor.visit_i64(number as i64) } else { visitor.visit_u64(number as u64) }
                }
                _ => Err(self.type_error("a whole number")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(yes) => visitor.visit_bool(*yes),
            Value::Number(number) => match number.as_u64() {
                Some(number) => visitor.visit_u64(number),
                None => match number.as_i64() {
                    Some(number) => visitor.visit_i64(number),
                    None => self.deserialize_f64(visitor),
                },
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.0.as_bool().ok_or_else(|| self.type_error("a boolean"))?)
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(self.0.as_f64().ok_or_else(|| self.type_error("a number"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0.as_str().ok_or_else(|| self.type_error("a string"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_unit() } else { Err(self.type_error("null")) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(ItemAccess(self.0.as_array().ok_or_else(|| self.type_error("a list"))?.iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let members = self.0.as_object().ok_or_else(|| self.type_error("an object"))?.iter();
        visitor.visit_map(PairAccess { members, value: &Value::Null })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(match self.0 {
            Value::String(name) => VariantReader { name, value: &Value::Null },
            Value::Object(members) if members.len() == 1 => {
                let (name, value) = members.iter().next().ok_or_else(|| self.type_error("a variant"))?;
                VariantReader { name, value }
            }
            _ => return Err(self.type_error("a variant")),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { i128 u128 char bytes byte_buf unit_struct tuple_struct identifier }
}

struct ItemAccess<'de>(std::slice::Iter<'de, Value>);

impl<'de> SeqAccess<'de> for ItemAccess<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(ValueDeserializer(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct PairAccess<'de> {
    members: serde_json::map::Iter<'de>,
    /// The value of the key that was returned last.
    value: &'de Value,
}

impl<'de> MapAccess<'de> for PairAccess<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        self.value = value;
        seed.deserialize(as_name(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(ValueDeserializer(self.value))
    }
}

fn as_name(name: &str) -> StrDeserializer<'_, Error> {
    name.into_deserializer()
}

/// An enum variant by name, with its content; null if it has none.
struct VariantReader<'de> {
    name: &'de str,
    value: &'de Value,
}

impl<'de> EnumAccess<'de> for VariantReader<'de> {
    type Error = Error;
    type Variant = ValueDeserializer<'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, ValueDeserializer<'de>), Error> {
        Ok((seed.deserialize(as_name(self.name))?, ValueDeserializer(self.value)))
    }
}

impl<'de> VariantAccess<'de> for ValueDeserializer<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.0.is_null() { Ok(()) } else { Err(self.type_error("null")) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
