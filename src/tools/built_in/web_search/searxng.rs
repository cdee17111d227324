//! SearXNG: `GET /search` with `format=json` (<https://docs.searxng.org/dev/search_api.html>). An instance answers in
//! the formats that its `settings.yml` lists under `search.formats`, and with 403 in others; JSON is off by default.
//! When all of its engines fail it still answers with 200 and names them in `unresponsive_engines`.

use serde_json::Value;
use url::Url;

use super::found_page::{FoundPage, WebQuery, read_pages};
use turnleaf_domain::blocks::sources::clean_line;
use turnleaf_domain::{CodedMessage, MessageCode};

const FIELDS: [&str; 4] = ["url", "title", "content", "publishedDate"];
/// The engines that are named when none responds, and the length of what is said of them.
const ENGINES: usize = 5;
const ENGINES_CHARS: usize = 300;

/// Adds a query to the address of the search.
pub fn add_query(url: &mut Url, query: &WebQuery) {
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", &query.text).append_pair("format", "json");
    if let Some(since) = query.since {
        pairs.append_pair("time_range", since.as_str());
    }
}

/// Reads the results; `None` if the response is something else.
///
/// # Errors
/// There are no results because no engine responded.
pub fn read_results(response: &Value, most: usize) -> Option<Result<Vec<FoundPage>, CodedMessage>> {
    let found = read_pages(response.get("results")?.as_array()?, FIELDS, most, str::to_owned);
    let silent = silent_engines(response);
    let is_down = found.is_empty() && !silent.is_empty();
    Some(if is_down { Err(MessageCode::SearchEnginesSilent.with("engines", silent)) } else { Ok(found) })
}

/// Returns the engines that did not respond, each with its reason.
fn silent_engines(response: &Value) -> String {
    let engines = response.get("unresponsive_engines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named = engines.iter().take(ENGINES).filter_map(|engine| {
        let part = |at: usize| engine.get(at).and_then(Value::as_str);
        Some(match (part(0)?, part(1)) {
            (name, Some(reason)) => format!("{name} ({reason})"),
            (name, None) => name.to_owned(),
        })
    });
    clean_line(&named.collect::<Vec<_>>().join(", "), ENGINES_CHARS)
}
