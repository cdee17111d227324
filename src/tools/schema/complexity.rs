//! Static limits of a schema, checked before it is compiled: nesting depth, and references that fan out
//! exponentially.

use std::collections::HashMap;

use serde_json::Value;

use turnleaf_providers::tool_schema::resolve_reference;

/// Limit of the subschemas that apply to one value.
const STEPS: u64 = 10_000;
/// Limit of references that lead to references.
const CHAIN: usize = 200;

/// Keywords whose value is a schema, or a list of schemas, for the same value.
const SAME_VALUE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// Returns whether a value is nested deeper than `levels`, without looking further.
pub fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let inner = |value: &Value| levels == 0 || is_deeper_than(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(inner),
        Value::Object(members) => members.values().any(inner),
        _ => false,
    }
}

/// Returns whether too many subschemas apply to one value, not counting those for nested values.
pub fn fans_out(schema: &Value) -> bool {
    let mut walk = ReferenceWalk { root: schema, known: HashMap::new(), chain: 0 };
    let mut places = vec![schema];
    while let Some(place) = places.pop() {
        if walk.count(place) > STEPS {
            return true;
        }
        match place {
            Value::Array(items) => places.extend(items),
            Value::Object(members) => places.extend(members.values()),
            _ => {}
        }
    }
    false
}

struct ReferenceWalk<'a> {
    root: &'a Value,
    /// Memoized steps by address of the subschema; `None` while they are counted, which detects cycles.
    known: HashMap<*const Value, Option<u64>>,
    chain: usize,
}

impl<'a> ReferenceWalk<'a> {
    fn count(&mut self, schema: &'a Value) -> u64 {
        let Value::Object(members) = schema else { return 1 };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(steps)) => return *steps,
            Some(None) => return 1,
            None => {}
        }
        if self.chain > CHAIN {
            return u64::MAX;
        }
        self.chain += 1;
        self.known.insert(schema, None);
        let mut steps: u64 = 1;
        for (keyword, value) in members {
            let more = match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    // References to anchors and to other documents are not followed.
                    resolve_reference(self.root, to).map_or(1, |to| self.count(to))
                }
                (keyword, Value::Array(all)) if SAME_VALUE.contains(&keyword) => {
                    all.iter().fold(0, |sum: u64, one| sum.saturating_add(self.count(one)))
                }
                ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                    all.values().fold(0, |sum: u64, one| sum.saturating_add(self.count(one)))
                }
                (keyword, Value::Object(_)) if SAME_VALUE.contains(&keyword) => self.count(value),
                _ => 0,
            };
            steps = steps.saturating_add(more);
        }
        self.chain -= 1;
        self.known.insert(schema, Some(steps));
        steps
    }
}
