//! Schemas of the API reference: a section for each named schema, and one-line summaries.

use leptos::prelude::*;
use serde_json::Value;

use super::prose::{ENGLISH, entries, inline, prose, table, text};
use crate::server::server_pages::messages::api_reference as texts;
use crate::ui::erased::view;

/// Renders a section for each named schema.
pub fn schema_sections(schemas: &Value) -> AnyView {
    let mut named: Vec<(&str, &Value)> = entries(schemas).collect();
    named.sort_by_key(|(name, _)| *name);
    let shape = |(name, schema): (&str, &Value)| {
        view! {
            <section class="api-operation" id=anchor(name)>
                <h3><code>{name.to_owned()}</code></h3>
                {prose(&text(&schema["description"]))}
                {fields(schema)}
            </section>
        }
        .into_any()
    };
    view! {
        <section class="api-group" aria-labelledby="shapes">
            <h2 id="shapes">{texts::schemas()}</h2>
            {named.into_iter().map(shape).collect_view()}
        </section>
    }
    .into_any()
}

fn anchor(name: &str) -> String {
    format!("shape-{name}")
}

/// Renders the fields of a schema.
fn fields(schema: &Value) -> AnyView {
    if let Some(parts) = schema["allOf"].as_array() {
        let part = |part: &Value| match part.get("$ref") {
            Some(_) => view! { <p>{texts::all_of()}" "{schema_summary(part)}</p> }.into_any(),
            None => fields(part),
        };
        return parts.iter().map(part).collect_view().into_any();
    }
    let choices = ["oneOf", "anyOf"].iter().find_map(|name| schema[*name].as_array());
    if let Some(choices) = choices.filter(|all| all.iter().any(|one| one.get("properties").is_some())) {
        let choice = |one: &Value| {
            let title = one.get("title").map(|title| view! { <h4><code>{text(title)}</code></h4> });
            view! { {title}{prose(&text(&one["description"]))}{fields(one)} }.into_any()
        };
        return choices.iter().map(choice).collect_view().into_any();
    }
    if schema.get("properties").is_none() {
        return view! { <p>{schema_summary(schema)}</p> }.into_any();
    }
    let is_needed =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|needed| needed == name));
    let row = |(name, field): (&str, &Value)| {
        let needed = if is_needed(name) { texts::always() } else { "" };
        view! {
            <tr>
                <th scope="row"><code>{name.to_owned()}</code></th>
                <td>{schema_summary(field)}</td>
                <td>{needed}</td>
                <td lang=ENGLISH>{inline(&text(&field["description"]))}</td>
            </tr>
        }
    };
    let rows = entries(&schema["properties"]).map(row).collect_view().into_any();
    table(texts::fields(), &[texts::name(), texts::kind(), texts::presence(), texts::meaning()], rows)
}

/// Renders a schema in one line; a named one as a link.
pub fn schema_summary(schema: &Value) -> AnyView {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        let (address, name) = (format!("#{}", anchor(name)), name.to_owned());
        return view! { <a href=address>{name}</a> }.into_any();
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<AnyView> = values.iter().map(|value| view! { <code>{text(value)}</code> }.into_any()).collect();
        return joined(values, " ");
    }
    if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|name| schema[*name].as_array()) {
        return joined(choices.iter().map(schema_summary).collect(), " or ");
    }
    let name = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => return texts::anything().into_any(),
    };
    if name.starts_with("array") {
        return view! { {texts::list_of()}" "{schema_summary(&schema["items"])}{name.strip_prefix("array").map(str::to_owned)} }
            .into_any();
    }
    let format = schema["format"].as_str().filter(|format| !format.starts_with("int") && *format != "double");
    let format = format.map(|format| format!(" ({format})")).unwrap_or_default();
    view! { {name}{format}{bounds(schema)} }.into_any()
}

fn joined(parts: Vec<AnyView>, between: &'static str) -> AnyView {
    let part = |(number, part): (usize, AnyView)| view! { {(number > 0).then_some(between)}{part} }.into_any();
    parts.into_iter().enumerate().map(part).collect_view().into_any()
}

/// Returns the chosen bounds of a schema; bounds that only state a number's size are omitted.
fn bounds(schema: &Value) -> Option<String> {
    let least = schema["minimum"].as_f64().filter(|least| *least > 0.0);
    let most = schema["maximum"].as_f64().filter(|most| *most < f64::from(i32::MAX));
    match (least, most, schema["maxLength"].as_u64()) {
        (_, _, Some(most)) => Some(format!(", {}", texts::at_most_characters(most))),
        (Some(least), Some(most), _) => Some(format!(", {least} to {most}")),
        (Some(least), None, _) => Some(format!(", {least} or more")),
        (None, Some(most), _) => Some(format!(", up to {most}")),
        (None, None, None) => None,
    }
}
