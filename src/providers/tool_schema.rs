//! Tool schemas in the form that an API accepts. Servers describe their tools with all of JSON Schema and beyond it,
//! and one schema that an API refuses makes it refuse every request. A fitted schema describes the arguments as far
//! as the API can read it; calls are checked against the full schema, which stays with the tool.

use serde_json::{Map, Value, json};

use self::subset::SchemaSubset;
use turnleaf_domain::limits;
use turnleaf_domain::tools::tool::ToolSpec;

mod combine;
mod description;
mod node;
mod normalize;
mod notes;
mod root;
pub mod subset;

use description::bounded_description;
use node::Fitter;
pub use normalize::{DROPPED, normalize, normalize_naming_dropped, resolve_reference};

/// Returns the tools with fitted schemas. A tool that takes no object as its arguments is omitted.
pub fn fit_tools(tools: &[ToolSpec], subset: SchemaSubset) -> Vec<ToolSpec> {
    tools.iter().filter_map(|tool| fit_tool(tool, subset)).collect()
}

/// Returns whether a schema describes an object, which the arguments of every API are.
pub fn describes_object(schema: &Value) -> bool {
    let normal = normalize(schema);
    Fitter::new(&normal, SchemaSubset::Common).flat_root().is_some()
}

fn fit_tool(tool: &ToolSpec, subset: SchemaSubset) -> Option<ToolSpec> {
    let normal = normalize(&tool.parameters);
    let mut fitter = Fitter::new(&normal, subset);
    let (members, notes) = fitter.flat_root()?;
    let mut parameters = fitter.root(members);
    if parameters.to_string().len() > limits::TOOL_SCHEMA_BYTES {
        parameters = outline(&parameters);
    }
    let description = std::iter::once(tool.description.clone()).chain(notes);
    let description: Vec<String> = description.filter(|part| !part.is_empty()).collect();
    let mut description = description.join("\n\n");
    if let Some(most) = subset.description_chars() {
        description = bounded_description(description, most, &mut parameters);
    }
    Some(ToolSpec { name: tool.name.clone(), description, parameters })
}

/// Returns a schema that is too large when its references are resolved, without what is nested.
fn outline(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let kept = ["type", "enum", "description"];
    let properties: Map<String, Value> = properties
        .map(|(name, property)| {
            let of = |key: &&str| Some(((*key).to_owned(), property.get(*key)?.clone()));
            let mut property: Map<String, Value> = kept.iter().filter_map(of).collect();
            if property.get("type") == Some(&json!("array")) {
                property.insert("items".into(), json!({}));
            }
            (name.clone(), Value::Object(property))
        })
        .collect();
    let mut outline = json!({ "type": "object", "properties": properties });
    if let Some(required) = schema.get("required") {
        outline["required"] = required.clone();
    }
    outline
}

#[cfg(test)]
mod tests;
