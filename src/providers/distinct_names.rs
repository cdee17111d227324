//! Objects whose keys were rewritten (such as by redaction): keys that became equal are numbered, so that no member
//! is lost.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Builds an object member by member. The keys are untrusted input, so the work is linear for any keys: each name
/// remembers its next number, and a name such as `a_2` is a candidate of one other name only.
#[derive(Debug, Default)]
pub struct DistinctNames {
    members: Map<String, Value>,
    /// The next number of every name that occurred more than once.
    next_numbers: HashMap<String, u64>,
}

impl DistinctNames {
    /// Adds a member under this name, or under the first free `name_N`.
    pub fn insert(&mut self, name: String, value: Value) {
        let name = if self.members.contains_key(&name) { self.free_name(name) } else { name };
        self.members.insert(name, value);
    }

    fn free_name(&mut self, name: String) -> String {
        let mut number = self.next_numbers.get(&name).copied().unwrap_or(2);
        let free = loop {
            let candidate = format!("{name}_{number}");
            number += 1;
            if !self.members.contains_key(&candidate) {
                break candidate;
            }
        };
        self.next_numbers.insert(name, number);
        free
    }

    pub fn into_object(self) -> Value {
        Value::Object(self.members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_names_are_numbered_and_every_value_is_kept() {
        let mut names = DistinctNames::default();
        for (at, name) in ["a", "a_2", "a", "b", "a", "a_2"].into_iter().enumerate() {
            names.insert(name.into(), json!(at));
        }
        let expected = json!({ "a": 0, "a_2": 1, "a_3": 2, "b": 3, "a_4": 4, "a_2_2": 5 });
        assert_eq!(names.into_object(), expected);
    }
}
