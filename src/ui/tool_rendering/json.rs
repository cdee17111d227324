//! JSON as a tree of disclosures, which are accessible by keyboard and screen reader.

use serde_json::Value;

use super::hidden_characters;
use crate::domain::limits;
use crate::ui::markdown::{Attribute, Element, Html};
use crate::ui::messages::transcript as words;

/// Deeper values are shown as text.
const DEPTH: usize = 32;

/// Writes an object or a list as a tree. False when it is neither, is empty, or has too many values: text is more
/// readable then.
pub fn write_json_tree(html: &mut Html, name: &str, value: &Value) -> bool {
    let count = count(value, limits::TOOL_JSON_VALUES);
    if !(2..=limits::TOOL_JSON_VALUES).contains(&count) {
        return false;
    }
    let attributes = [
        (Attribute::Class, "json"),
        (Attribute::Tabindex, "0"),
        (Attribute::Role, "group"),
        (Attribute::AriaLabel, name),
    ];
    html.open(Element::Div, &attributes);
    members(html, value, 0);
    html.close();
    true
}

/// Counts the values including itself, up to one more than the bound.
fn count(value: &Value, most: usize) -> usize {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(next) = open.pop().filter(|_| count <= most) {
        count += 1;
        match next {
            Value::Array(values) => open.extend(values.iter().take(most)),
            Value::Object(map) => open.extend(map.values().take(most)),
            _ => {}
        }
    }
    count
}

fn members(html: &mut Html, value: &Value, depth: usize) {
    html.open(Element::Ul, &[]);
    match value {
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                member(html, &at.to_string(), value, depth);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                member(html, key, value, depth);
            }
        }
        _ => {}
    }
    html.close();
}

fn member(html: &mut Html, key: &str, value: &Value, depth: usize) {
    html.open(Element::Li, &[]);
    let size = match value {
        Value::Array(values) => values.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if size > 0 && depth < DEPTH {
        // The first level is open, so that its content is visible at once.
        let open: &[_] = if depth == 0 { &[(Attribute::Open, "")] } else { &[] };
        html.open(Element::Details, open);
        html.open(Element::Summary, &[(Attribute::Role, "button")]);
        self::key(html, key);
        html.text_element(Element::Span, &[(Attribute::Class, "json-size")], &words::json_size(value.is_array(), size));
        html.close();
        members(html, value, depth + 1);
        html.close();
    } else {
        self::key(html, key);
        let (class, text) = match value {
            Value::String(text) => ("json-string", text.clone()),
            other => ("json-value", other.to_string()),
        };
        html.open(Element::Span, &[(Attribute::Class, class), (Attribute::Dir, "auto")]);
        hidden_characters::write_revealed(html, &text);
        html.close();
    }
    html.close();
}

fn key(html: &mut Html, key: &str) {
    html.open(Element::Span, &[(Attribute::Class, "json-key"), (Attribute::Dir, "auto")]);
    hidden_characters::write_revealed(html, key);
    html.close();
    html.text(": ");
}
