//! Tavily: `POST /search` with the key as a bearer token
//! (<https://docs.tavily.com/documentation/api-reference/endpoint/search>). A key that is refused is 401, too many
//! requests are 429, and the limits of a plan or of a key are 432 and 433.

use serde_json::{Value, json};

use super::found_page::{FoundPage, WebQuery, read_pages};

const FIELDS: [&str; 4] = ["url", "title", "content", "published_date"];
/// The largest number of results that the API takes.
const MOST: usize = 20;

/// Returns the body of a request. An answer written by a model, raw pages and images are not asked for.
pub fn request_body(query: &WebQuery) -> Value {
    let mut body = json!({
        "query": query.text,
        "max_results": query.most.clamp(1, MOST),
        "search_depth": "basic",
        "include_answer": false,
        "include_raw_content": false,
        "include_images": false,
    });
    if let Some(since) = query.since {
        body["time_range"] = json!(since.as_str());
    }
    body
}

/// Reads the results; `None` if the response is something else.
pub fn read_results(response: &Value, most: usize) -> Option<Vec<FoundPage>> {
    Some(read_pages(response.get("results")?.as_array()?, FIELDS, most, str::to_owned))
}

/// Returns the explanation of a refusal.
pub fn refusal_detail(refusal: &Value) -> Option<&str> {
    let detail = refusal.get("detail")?;
    detail.as_str().or_else(|| detail.get("error")?.as_str())
}
