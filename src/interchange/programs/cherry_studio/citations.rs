//! Extracts the pages and passages that a Cherry Studio reply cites. The results of a web search are kept as each
//! provider returned them (`WebSearchResponse` in the types of the product).

use serde_json::Value;

use crate::conversation::ImportedSource;
use crate::domain::blocks::sources::is_web_url;
use crate::reading::fields::{first_text, list, text};

/// Returns the sources of a citation block.
pub(super) fn sources(block: &Value) -> Vec<ImportedSource> {
    let results = block.get("response").and_then(|response| response.get("results")).unwrap_or(&Value::Null);
    let pages = match results {
        Value::Array(pages) => pages.as_slice(),
        // Gemini, and the searches of the product itself.
        object => match list(object, "groundingChunks") {
            [] => list(object, "results"),
            chunks => chunks,
        },
    };
    let passages = list(block, "knowledge").iter().filter_map(passage);
    pages.iter().filter_map(page).chain(passages).collect()
}

/// Returns a page: an address, or an object with one.
fn page(result: &Value) -> Option<ImportedSource> {
    let inner = ["web", "url_citation"].into_iter().find_map(|name| result.get(name)).unwrap_or(result);
    let url = inner.as_str().or_else(|| first_text(inner, &["url", "uri", "link"]))?;
    let title = first_text(inner, &["title", "name"]).unwrap_or_default();
    let snippet = first_text(inner, &["content", "snippet"]).unwrap_or_default();
    is_web_url(url).then(|| source(title, url, snippet))
}

/// Returns a passage of a knowledge base; its address may be the name of a file.
fn passage(reference: &Value) -> Option<ImportedSource> {
    let place = text(reference, "sourceUrl").unwrap_or_default();
    let name = reference.get("file").and_then(|file| first_text(file, &["origin_name", "name"]));
    let content = text(reference, "content").unwrap_or_default();
    let (title, url) = if is_web_url(place) { (name.unwrap_or_default(), place) } else { (name.unwrap_or(place), "") };
    (!title.is_empty() || !url.is_empty()).then(|| source(title, url, content))
}

fn source(title: &str, url: &str, snippet: &str) -> ImportedSource {
    ImportedSource { title: title.to_owned(), url: url.to_owned(), snippet: snippet.to_owned(), cited_range: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_of_every_provider_become_pages() {
        let url = "https://example.org/";
        let table = [
            json!({"source": "websearch", "results": {"query": "q", "results": [{"title": "T", "url": url, "content": "c"}]}}),
            json!({"source": "gemini", "results": {"groundingChunks": [{"web": {"uri": url, "title": "T"}}], "groundingSupports": []}}),
            json!({"source": "openai", "results": [{"type": "url_citation", "url_citation": {"url": url, "title": "T"}}]}),
            json!({"source": "openai-response", "results": [{"type": "url_citation", "url": url, "title": "T"}]}),
            json!({"source": "perplexity", "results": [url]}),
            json!({"source": "zhipu", "results": [{"title": "T", "link": url, "content": "c"}]}),
        ];
        for response in table {
            let found = sources(&json!({ "response": response }));
            assert_eq!(found.len(), 1, "{response}");
            assert_eq!(found[0].url, url, "{response}");
        }
        let other = json!({"results": ["javascript:alert(1)", 3, {"title": "none"}]});
        assert!(sources(&json!({ "response": other })).is_empty());
        let passages = json!([{"id": 1, "content": "c", "sourceUrl": "notes.md", "type": "file"}, {"content": "lost"}]);
        let found = sources(&json!({ "knowledge": passages }));
        assert_eq!((found.len(), found[0].title.as_str(), found[0].snippet.as_str()), (1, "notes.md", "c"));
    }
}
