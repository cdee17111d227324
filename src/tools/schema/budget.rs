//! The step budget of a schema check. A schema that applies twice to each nested value doubles the work per level, so
//! a few lines could keep a server busy for years. Every subschema counts a step, and a check that exceeds its budget
//! is aborted by unwinding, because the library offers no other way to stop it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

/// The keyword that counts steps; it cannot occur in real schemas.
pub const KEYWORD: &str = "\u{1}turnleaf";

/// Keywords whose values are no schemas and stay unchanged.
const NO_SCHEMAS: [&str; 7] = ["const", "default", "dependentRequired", "enum", "example", "examples", "$vocabulary"];
/// Keywords whose values map names to schemas.
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
        // This unwinds without a panic: nothing is wrong, and the panic hook must not print.
        None => resume_unwind(Box::new(BudgetSpent)),
    }
}

/// The factory of the keyword for the validator.
pub fn counting_keyword<'a>(
    _: &'a Map<String, Value>,
    _: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(CountingKeyword))
}

/// Returns the schema with the counting keyword in every subschema.
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

/// Runs a check; returns `None` if it exceeds `steps`.
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
