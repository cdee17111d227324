//! What calls gave that the provider ran itself, and the pages that a text stands on.

use serde_json::{Map, Value};

use crate::anthropic::block::opaque;
use crate::provider::Item;
use turnleaf_domain::sources::{Given, block_of, is_address};
use turnleaf_domain::withhold::unsealed;

/// What a call of the provider's own gave: `content` without what is sealed; texts alone as one text.
pub fn own_result(block: &Map<String, Value>) -> Item {
    let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
    let content = block.get("content").unwrap_or(&Value::Null);
    let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or_default()
        || content.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_error"));
    let words = |part: &Value| {
        let is_text = part.get("type").and_then(Value::as_str) == Some("text");
        part.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    let texts: Option<Vec<String>> = content.as_array().and_then(|parts| parts.iter().map(words).collect());
    let result = match texts {
        Some(texts) if !texts.is_empty() => Value::String(texts.join("\n\n")),
        _ => unsealed(content),
    };
    let name = text("type").trim_end_matches("_tool_result").to_owned();
    Item::OwnResult { id: text("tool_use_id").to_owned(), name, result, is_error }
}

/// Citations behind the text they belong to: all of it. Those of documents have no address, and stay as they came.
pub fn sources(citations: &[Value], text: &str) -> Vec<Item> {
    let word =
        |citation: &Value, field: &str| citation.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (of_pages, others): (Vec<&Value>, Vec<&Value>) =
        citations.iter().partition(|citation| is_address(&word(citation, "url")));
    let end = text.chars().count();
    let given = of_pages.into_iter().map(|citation| Given {
        url: word(citation, "url"),
        title: word(citation, "title"),
        quote: word(citation, "cited_text"),
        place: Some((0, end)),
    });
    let mut items: Vec<Item> = block_of(given).map(Item::Opaque).into_iter().collect();
    items.extend(others.into_iter().map(|citation| Item::Opaque(opaque("citation", citation.clone()))));
    items
}
