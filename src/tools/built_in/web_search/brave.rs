//! Brave Search: `GET /res/v1/web/search` with the key in `X-Subscription-Token`
//! (<https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>). A key that is refused is 422
//! with the code `SUBSCRIPTION_TOKEN_INVALID`, not 401; too many requests are 429.

use serde_json::Value;
use url::Url;

use super::found_page::{FoundPage, Recency, WebQuery, read_pages};

/// The header of the key.
pub const KEY_HEADER: &str = "x-subscription-token";

const FIELDS: [&str; 4] = ["url", "title", "description", "page_age"];
/// The largest number of results that the API takes.
const MOST: usize = 20;

/// Adds a query to the address of the search.
pub fn add_query(url: &mut Url, query: &WebQuery) {
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", &query.text).append_pair("count", &query.most.clamp(1, MOST).to_string());
    // Only pages, and without the tags around the words of the query.
    pairs.append_pair("result_filter", "web").append_pair("text_decorations", "false");
    if let Some(since) = query.since {
        let freshness = match since {
            Recency::Day => "pd",
            Recency::Week => "pw",
            Recency::Month => "pm",
            Recency::Year => "py",
        };
        pairs.append_pair("freshness", freshness);
    }
}

/// Reads the results; `None` if the response is something else. A search that finds nothing has no `web`.
pub fn read_results(response: &Value, most: usize) -> Option<Vec<FoundPage>> {
    if response.get("type").and_then(Value::as_str) != Some("search") {
        return None;
    }
    let results = response.pointer("/web/results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Some(read_pages(results, FIELDS, most, decode_entities))
}

/// Returns true if a refusal is about the key.
pub fn is_about_key(refusal: &Value) -> bool {
    let code = refusal.pointer("/error/code").and_then(Value::as_str);
    let errors = refusal.pointer("/error/meta/errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_key = |part: &Value| part.as_str().is_some_and(|part| part.eq_ignore_ascii_case(KEY_HEADER));
    let names_key =
        |error: &Value| error.get("loc").and_then(Value::as_array).is_some_and(|loc| loc.iter().any(is_key));
    code == Some("SUBSCRIPTION_TOKEN_INVALID") || errors.iter().any(names_key)
}

/// Returns the explanation of a refusal.
pub fn refusal_detail(refusal: &Value) -> Option<&str> {
    refusal.pointer("/error/detail").and_then(Value::as_str)
}

/// Decodes the characters that titles and descriptions escape for HTML.
fn decode_entities(text: &str) -> String {
    const ENTITIES: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        // The last one, so that nothing is decoded twice.
        ("&amp;", "&"),
    ];
    ENTITIES.into_iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded_once() {
        assert_eq!(
            decode_entities("It&#x27;s &quot;a &lt; b&quot; &amp;amp; &eacute;"),
            "It's \"a < b\" &amp; &eacute;"
        );
    }
}
