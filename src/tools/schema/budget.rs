//! How long a check may take. A schema that asks twice about what lies inside of a value asks four times one level
//! deeper: a few lines can keep a server busy for years. So every place of a schema counts, and a check that has counted
//! too far is given up. The library has no way to be stopped but to be unwound.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

/// The keyword that counts; no schema of anybody has it.
pub const KEYWORD: &str = "\u{1}turnleaf";

/// Keywords whose values are no schemas: what they hold stays as it is.
const NO_SCHEMAS: [&str; 7] = ["const", "default", "dependentRequired", "enum", "example", "examples", "$vocabulary"];
/// Keywords that hold schemas under names.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

struct BudgetSpent;

struct CountingKeyword;

impl Keyword<'_> for CountingKeyword {
    fn validate(&self, _: &Value) -> Result<(), ValidationError<'static>> {
        spend();
        Ok(())
    }

    fn is_valid(&self, _: &Value) -> bool {
        spend();
        true
    }
}

fn spend() {
    match LEFT.get().checked_sub(1) {
        Some(left) => LEFT.set(left),
        // No panic: nothing is wrong, and nothing is printed.
        None => resume_unwind(Box::new(BudgetSpent)),
    }
}

/// The keyword, as a validator is given it.
pub fn counting_keyword<'a>(
    _: &'a Map<String, Value>,
    _: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(CountingKeyword))
}

/// The schema with the keyword in every place that is one.
pub fn with_counting(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut counting: Map<String, Value> = Map::new();
            counting.insert(KEYWORD.into(), Value::Bool(true));
            for (keyword, value) in members {
                let value = match (keyword.as_str(), value) {
                    (keyword, value) if NO_SCHEMAS.contains(&keyword) => value.clone(),
                    (keyword, Value::Object(named)) if NAMED.contains(&keyword) => {
                        named.iter().map(|(name, schema)| (name.clone(), self::with_counting(schema))).collect()
                    }
                    (_, value) => self::with_counting(value),
                };
                counting.insert(keyword.clone(), value);
            }
            Value::Object(counting)
        }
        Value::Array(all) => all.iter().map(with_counting).collect(),
        other => other.clone(),
    }
}

/// What the check gives, unless it counts further than `steps`.
pub fn run_within<T>(steps: u64, check: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(steps);
    let given = catch_unwind(AssertUnwindSafe(check));
    LEFT.set(u64::MAX);
    match given {
        Ok(given) => Some(given),
        Err(reason) if reason.is::<BudgetSpent>() => None,
        Err(reason) => resume_unwind(reason),
    }
}
