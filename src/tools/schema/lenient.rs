//! Compiles schemas that are not valid JSON Schema, or that use what cannot be checked here. The server checks its
//! arguments itself, so whatever cannot be checked is left to it. A rule that is left out makes its schema accept more;
//! where that would make another one refuse more, such as around `not`, that one is left out as well.

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::prepared::{NAMED, NO_SCHEMAS, prepare};
use turnleaf_providers::tool_schema::{DROPPED, normalize_naming_dropped};

/// Definitions apply only where they are referred to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
/// Keywords that refuse more when their schema accepts more.
const INVERTING: [&str; 4] = ["not", "if", "oneOf", "contains"];
/// Keywords that mean something only beside one of those.
const BESIDE_IF: [&str; 2] = ["then", "else"];
const BESIDE_CONTAINS: [&str; 2] = ["minContains", "maxContains"];
/// Keywords that apply to what the other rules of a schema do not name.
const TO_THE_REST: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];
/// Drafts in which the members beside a reference are ignored.
const OLD_DRAFTS: [&str; 4] = ["draft-03", "draft-04", "draft-06", "draft-07"];

type CompileSchema<'a> = &'a dyn Fn(&Value) -> Result<Validator, String>;

/// Compiles a schema: as it is, otherwise what can be checked of it.
///
/// # Errors
/// Nothing of the schema can be checked.
pub fn compile_usable(schema: &Value, compile: CompileSchema<'_>) -> Result<Validator, String> {
    let prepared = prepare(schema);
    let named_draft = schema.get("$schema").is_none_or(Value::is_string);
    let as_it_is = if named_draft && !has_empty_enum(schema) { compile(&prepared) } else { Err(String::new()) };
    as_it_is.or_else(|_| compile(&without_uncheckable(&prepared, compile)))
}

/// Returns whether a list of choices is empty. It would refuse every value, so the server means something else.
fn has_empty_enum(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
            ("enum", Value::Array(choices)) => choices.is_empty(),
            (keyword, _) if NO_SCHEMAS.contains(&keyword) => false,
            (_, value) => has_empty_enum(value),
        }),
        Value::Array(all) => all.iter().any(has_empty_enum),
        _ => false,
    }
}

/// Removes what is no valid schema, and patterns that the engine does not know. ECMA-262 engines know them all but
/// backtrack, so that the pattern of an untrusted server could take unbounded time.
fn without_uncheckable(schema: &Value, compile: CompileSchema<'_>) -> Value {
    let normal = normalize_naming_dropped(schema);
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let has_old_draft = OLD_DRAFTS.iter().any(|old| draft.contains(old));
    let mut filter = UncheckableFilter { compile, has_old_draft, is_reference_lossy: false, has_loss: false };
    let kept = filter.schema(&normal).schema;
    if !filter.has_loss {
        return kept;
    }
    // A reference may lead to a schema of which something was left out.
    filter.is_reference_lossy = true;
    filter.schema(&normal).schema
}

struct UncheckableFilter<'a> {
    compile: CompileSchema<'a>,
    has_old_draft: bool,
    is_reference_lossy: bool,
    /// Something was left out anywhere.
    has_loss: bool,
}

/// A schema of which everything can be checked.
struct CheckableSchema {
    schema: Value,
    /// It accepts more than the schema that it was made of.
    is_lossy: bool,
}

impl UncheckableFilter<'_> {
    fn is_known(&self, pattern: &str) -> bool {
        (self.compile)(&serde_json::json!({ "pattern": pattern })).is_ok()
    }

    fn schema(&mut self, schema: &Value) -> CheckableSchema {
        let Value::Object(members) = schema else { return CheckableSchema { schema: schema.clone(), is_lossy: false } };
        let dropped = members.get(DROPPED).and_then(Value::as_array);
        let is_dropped = |keyword: &str| dropped.is_some_and(|dropped| dropped.iter().any(|name| name == keyword));
        let is_reference = members.contains_key("$ref") || is_dropped("$ref");
        let mut kept = Map::new();
        let mut is_lossy = dropped.is_some();
        for (keyword, value) in members {
            let is_ignored = self.has_old_draft && is_reference && !is_kept_beside_reference(keyword);
            if keyword == DROPPED || is_ignored {
                continue;
            }
            is_lossy |= self.add_keyword(&mut kept, keyword, value);
        }
        if is_dropped("if") || (members.contains_key("if") && !kept.contains_key("if")) {
            remove_all(&mut kept, &BESIDE_IF);
        }
        if is_dropped("contains") || (members.contains_key("contains") && !kept.contains_key("contains")) {
            remove_all(&mut kept, &BESIDE_CONTAINS);
        }
        if is_lossy {
            remove_all(&mut kept, &TO_THE_REST);
        }
        let named = |members: &Map<String, Value>| {
            members.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len)
        };
        if is_dropped("properties") || is_dropped("patternProperties") || named(&kept) < named(members) {
            kept.remove("additionalProperties");
        }
        if is_dropped("prefixItems") {
            kept.remove("items");
        }
        self.has_loss |= is_lossy;
        CheckableSchema { schema: Value::Object(kept), is_lossy }
    }

    /// Adds what can be checked of a keyword. Returns whether the schema accepts more without the rest.
    fn add_keyword(&mut self, kept: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
        let (value, is_lossy) = match (keyword, value) {
            ("pattern", Value::String(pattern)) if !self.is_known(pattern) => return true,
            ("$ref", reference) => (reference.clone(), self.is_reference_lossy),
            (keyword, value) if NO_SCHEMAS.contains(&keyword) => (value.clone(), false),
            (keyword, Value::Object(named)) if NAMED.contains(&keyword) => {
                let (named, is_lossy) = self.named_schemas(keyword, named);
                (Value::Object(named), is_lossy && !DEFINITIONS.contains(&keyword))
            }
            (_, Value::Array(all)) => {
                let all: Vec<CheckableSchema> = all.iter().map(|one| self.schema(one)).collect();
                let is_lossy = all.iter().any(|one| one.is_lossy);
                (all.into_iter().map(|one| one.schema).collect(), is_lossy)
            }
            (_, value) => {
                let CheckableSchema { schema, is_lossy } = self.schema(value);
                (schema, is_lossy)
            }
        };
        if !is_lossy || !INVERTING.contains(&keyword) {
            kept.insert(keyword.to_owned(), value);
        } else if keyword == "oneOf" && !kept.contains_key("anyOf") {
            // A value that fits exactly one of the schemas fits at least one of those that accept more.
            kept.insert("anyOf".to_owned(), value);
        }
        is_lossy
    }

    fn named_schemas(&mut self, keyword: &str, named: &Map<String, Value>) -> (Map<String, Value>, bool) {
        let (mut kept, mut is_lossy) = (Map::new(), false);
        for (name, schema) in named {
            if keyword == "patternProperties" && !self.is_known(name) {
                is_lossy = true;
                continue;
            }
            let checked = self.schema(schema);
            is_lossy |= checked.is_lossy;
            kept.insert(name.clone(), checked.schema);
        }
        (kept, is_lossy)
    }
}

fn is_kept_beside_reference(keyword: &str) -> bool {
    keyword == "$ref" || DEFINITIONS.contains(&keyword)
}

fn remove_all(members: &mut Map<String, Value>, keywords: &[&str]) {
    for keyword in keywords {
        members.remove(*keyword);
    }
}
