//! Parses the restricted JSON Schema of a question: an object whose properties are texts, numbers, booleans and
//! choices. Other keywords are ignored: the server checks the answer as well.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{ElicitationField, ElicitationFieldType, ElicitationOption, ElicitationTextFormat};
use crate::limits;

/// Parses the fields. `order` lists names of properties in the order of the server, as far as it is known.
///
/// # Errors
/// A sentence for the server that says why the form cannot be shown.
pub fn parse_fields(schema: &Value, order: &[String]) -> Result<Vec<ElicitationField>, String> {
    let properties = match schema.get("properties") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err("the properties of the schema are not an object".into()),
    };
    if properties.len() > limits::ELICITATION_FIELDS {
        return Err(format!("the form has more than {} fields", limits::ELICITATION_FIELDS));
    }
    let required: Vec<&str> = texts(schema.get("required"));
    let place: BTreeMap<&str, usize> = order.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut fields = Vec::new();
    for (name, property) in properties {
        let mut field = parse_field(name, property).map_err(|why| format!("the field `{name}` {why}"))?;
        field.is_required = required.contains(&name.as_str());
        // A default that the field itself refuses would only be an error to correct.
        let is_valid = |field: &ElicitationField| matches!(field.check(field.default.as_ref()), Ok(Some(_)));
        if !is_valid(&field) {
            field.default = None;
        }
        fields.push(field);
    }
    fields.sort_by_key(|field| place.get(field.name.as_str()).copied().unwrap_or(usize::MAX));
    Ok(fields)
}

fn parse_field(name: &str, property: &Value) -> Result<ElicitationField, String> {
    let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| property.get(key).and_then(Value::as_f64);
    let mut field = ElicitationField {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        is_required: false,
        field_type: ElicitationFieldType::Text,
        format: None,
        least: None,
        most: None,
        options: Vec::new(),
        default: property.get("default").cloned(),
    };
    match property.get("type").and_then(Value::as_str) {
        Some("string") | None if property.get("enum").is_some() || property.get("oneOf").is_some() => {
            field.field_type = ElicitationFieldType::Choice;
            field.options = parse_options(property)?;
        }
        Some("string") => {
            field.format = property.get("format").and_then(Value::as_str).and_then(ElicitationTextFormat::from_name);
            (field.least, field.most) = (number("minLength"), number("maxLength"));
        }
        Some(kind @ ("number" | "integer")) => {
            field.field_type =
                if kind == "integer" { ElicitationFieldType::Integer } else { ElicitationFieldType::Number };
            (field.least, field.most) = (number("minimum"), number("maximum"));
        }
        Some("boolean") => field.field_type = ElicitationFieldType::Boolean,
        Some("array") => {
            field.field_type = ElicitationFieldType::Choices;
            field.options = parse_options(property.get("items").unwrap_or(&Value::Null))?;
            (field.least, field.most) = (number("minItems"), number("maxItems"));
        }
        _ => return Err("has a type that a form cannot have".into()),
    }
    Ok(field)
}

/// Parses the options of `enum` (with the titles of `enumNames`), `oneOf` and `anyOf`.
fn parse_options(choice: &Value) -> Result<Vec<ElicitationOption>, String> {
    let titled = choice.get("oneOf").or_else(|| choice.get("anyOf")).and_then(Value::as_array);
    let options: Vec<ElicitationOption> = match titled {
        Some(titled) => {
            let option = |option: &Value| {
                let text = |key: &str| option.get(key).and_then(Value::as_str);
                Some(ElicitationOption {
                    value: text("const")?.to_owned(),
                    title: text("title").unwrap_or_default().to_owned(),
                })
            };
            titled.iter().filter_map(option).collect()
        }
        None => {
            let titles = texts(choice.get("enumNames"));
            let option = |(at, value): (usize, &str)| ElicitationOption {
                value: value.to_owned(),
                title: titles.get(at).copied().unwrap_or_default().to_owned(),
            };
            texts(choice.get("enum")).into_iter().enumerate().map(option).collect()
        }
    };
    match options.len() {
        0 => Err("has no options".into()),
        count if count > limits::ELICITATION_OPTIONS => {
            Err(format!("has more than {} options", limits::ELICITATION_OPTIONS))
        }
        _ => Ok(options),
    }
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
