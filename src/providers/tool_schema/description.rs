//! Bounds the description of a tool for APIs that refuse a longer one. What does not fit goes on in the description of
//! its parameters, which has no such bound.

use serde_json::{Value, json};

/// Marks the cut and names the place where the description goes on.
const CUT: &str = "… [continued in the description of the parameters]";

/// Returns the beginning of a description that is longer than `most` characters, and adds the rest to the schema.
pub fn bounded_description(description: String, most: usize, parameters: &mut Value) -> String {
    if description.chars().count() <= most {
        return description;
    }
    let room = most.saturating_sub(CUT.chars().count());
    let end = description.char_indices().nth(room).map_or(description.len(), |(at, _)| at);
    // Words stay whole where there are any.
    let end = description[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    let (kept, rest) = description.split_at(end);
    let rest = format!("…{}", rest.trim_start());
    let own = parameters.get("description").and_then(Value::as_str).filter(|own| !own.is_empty());
    let own = own.map_or_else(|| rest.clone(), |own| format!("{own}\n\n{rest}"));
    parameters["description"] = json!(own);
    format!("{}{CUT}", kept.trim_end())
}
