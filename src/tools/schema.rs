//! Validation of tool schemas and of arguments against them. Remote references are never fetched, and patterns match
//! in linear time, because schemas come from untrusted servers. What cannot be checked is left to the server, and valid
//! arguments are never refused for it; formats and encodings are annotations.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};

use budget::run_within;
use complexity::{fans_out, is_deeper_than};
use lenient::compile_usable;
use turnleaf_domain::limits;
use turnleaf_providers::tool_schema::describes_object;

mod budget;
mod complexity;
mod lenient;
mod prepared;

/// Number of faults that are reported, and the longest description of one, in bytes.
const FAULTS_LISTED: usize = 5;
const WORDS_BYTES: usize = 300;
/// Size limit of one compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;
/// Capacity of the cache of compiled schemas: all of a large server.
const KEPT: usize = limits::TOOLS_PER_SERVER;
/// Step budgets: schema places that a check may visit, and those that describing the faults may visit. The second is
/// lower because it stores what it finds.
const CHECK_STEPS: u64 = 2_000_000;
const WORDS_STEPS: u64 = 50_000;

static COMPILED: LazyLock<Mutex<HashMap<[u8; 32], Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks that a schema can be used.
///
/// # Errors
/// A sentence that says why not: it does not describe an object, is too large or too recursive.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    compile(schema).map(|_| ())
}

/// Checks arguments against a schema.
///
/// # Errors
/// A few faults with their locations and rules, so that the model can correct the call.
pub fn check_arguments(schema: &Value, arguments: &Value) -> Result<(), String> {
    if is_deeper_than(arguments, limits::JSON_DEPTH) {
        return Err(format!("The arguments are nested more than {} levels deep.", limits::JSON_DEPTH));
    }
    let validator = compile(schema)?;
    match run_within(CHECK_STEPS, || validator.is_valid(arguments)) {
        Some(true) => Ok(()),
        Some(false) => Err(match run_within(WORDS_STEPS, || faults(&validator, arguments)) {
            Some(words) => format!("The arguments do not fit the tool's schema:\n{words}"),
            None => "The arguments do not fit the tool's schema.".into(),
        }),
        None => Err("The arguments are too large to check against the tool's schema.".into()),
    }
}

/// Returns the place of the first fault of arguments, as a JSON pointer, and the sentence of [`check_arguments`] about
/// all of them; `None` if they fit.
pub fn find_fault(schema: &Value, arguments: &Value) -> Option<(String, String)> {
    let words = check_arguments(schema, arguments).err()?;
    let first = |validator: &Validator| {
        let fault = validator.iter_errors(arguments).next()?;
        Some(shorten_text(fault.instance_path().as_str()))
    };
    let place = compile(schema).ok().and_then(|validator| run_within(WORDS_STEPS, || first(&validator)).flatten());
    Some((place.unwrap_or_default(), words))
}

fn faults(validator: &Validator, arguments: &Value) -> String {
    let mut faults = validator.iter_errors(arguments);
    let mut words: Vec<String> =
        faults.by_ref().take(FAULTS_LISTED).map(|fault| format!("- {}", describe_fault(&fault))).collect();
    if faults.next().is_some() {
        words.push("- and more".into());
    }
    words.join("\n")
}

/// Describes one fault: its location and the rule. The value is masked, because the model wrote it and knows it.
fn describe_fault(fault: &ValidationError<'_>) -> String {
    let place = fault.instance_path().as_str();
    let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{}`", shorten_text(place)) };
    format!("{place}: {}", shorten_text(&fault.masked_with("the value").to_string()))
}

fn shorten_text(text: &str) -> String {
    match text.len() > WORDS_BYTES {
        true => format!("{}…", &text[..text.floor_char_boundary(WORDS_BYTES)]),
        false => text.to_owned(),
    }
}

fn compile(schema: &Value) -> Result<Arc<Validator>, String> {
    if !schema.is_object() {
        return Err("The schema is not an object.".into());
    }
    if is_deeper_than(schema, limits::JSON_VALUE_DEPTH) {
        return Err(format!("The schema is nested more than {} levels deep.", limits::JSON_VALUE_DEPTH));
    }
    let text = schema.to_string();
    if text.len() > limits::TOOL_SCHEMA_BYTES {
        return Err(format!("The schema has {} bytes; the limit is {}.", text.len(), limits::TOOL_SCHEMA_BYTES));
    }
    let key: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    if let Some(known) = COMPILED.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(known.clone());
    }
    if fans_out(schema) {
        return Err("The schema is too recursive to check.".into());
    }
    if !describes_object(schema) {
        return Err("The schema does not describe an object.".into());
    }
    let validator = Arc::new(compile_usable(schema, &build)?);
    let mut kept = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(key, validator.clone());
    Ok(validator)
}

fn build(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .should_validate_formats(false)
        .with_keyword(budget::KEYWORD, budget::counting_keyword)
        .build(&budget::with_counting(schema))
        .map_err(|error| format!("The schema cannot be used: {}", shorten_text(&error.to_string())))
}

#[cfg(test)]
mod tests;
