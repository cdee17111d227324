//! Structural checks of every JSON body before it is read into a type: bounded depth, and no duplicate keys. Types
//! refuse their own duplicate fields, but a free-form value would silently keep the last.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::domain::encoding::json_bounds;
use crate::domain::limits;

/// Checks the whole text. The error is serde's, with a reason and a position.
pub fn check(text: &str) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    StructureCheck { depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Checks a value that is nested in this many arrays and objects.
#[derive(Clone, Copy)]
struct StructureCheck {
    depth: usize,
}

impl StructureCheck {
    fn descend<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == limits::JSON_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {} levels", limits::JSON_DEPTH)));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for StructureCheck {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StructureCheck {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let inner = self.descend()?;
        while sequence.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.descend()?;
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if json_bounds::is_reserved(&key) {
                return Err(de::Error::custom(format_args!("a field name cannot start like `{key}`")));
            }
            if keys.contains(&key) {
                return Err(de::Error::custom(format_args!("duplicate field `{key}`")));
            }
            keys.insert(key);
            map.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_levels_are_accepted_and_sixty_five_are_refused() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(check(&nested(64)).is_ok());
        assert!(check(&nested(65)).unwrap_err().to_string().contains("nested deeper"));
        assert!(check(&"[".repeat(10_000)).is_err());
        let objects = format!("{}1{}", "{\"a\":".repeat(65), "}".repeat(65));
        assert!(check(&objects).is_err());
    }

    #[test]
    fn duplicate_key_is_refused_at_every_depth() {
        assert!(check(r#"{"a":1,"b":{"a":1}}"#).is_ok());
        for twice in [r#"{"a":1,"a":1}"#, r#"[{"x":{"b":1,"b":2}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(check(twice).unwrap_err().to_string().contains("duplicate field"), "{twice}");
        }
    }

    #[test]
    fn reserved_parser_key_is_refused() {
        for text in
            [r#"{"$serde_json::private::RawValue":"[1]"}"#, r#"[{"a":{"\u0024serde_json::private::Number":1}}]"#]
        {
            assert!(check(text).unwrap_err().to_string().contains("a field name cannot start"), "{text}");
        }
    }

    #[test]
    fn invalid_json_is_refused() {
        for text in ["", "{", "{}x", "nul", "NaN", "1e400", "\"\\ud800\"", "\u{feff}{}"] {
            assert!(check(text).is_err(), "{text:?}");
        }
    }
}
