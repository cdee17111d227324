//! Fuzz target of the responses of search engines: whatever they contain, results are bounded, on one line, and lead to
//! web pages.

use serde_json::Value;
use turnleaf::domain::blocks::sources::is_web_url;
use turnleaf::domain::limits;
use turnleaf_platform::search_engine::SearchEngineKind;
use turnleaf_tools::built_in::web_search::read_results;

pub fn results_hold(input: &[u8]) {
    let response: Value = serde_json::from_slice(input).unwrap_or_default();
    for kind in SearchEngineKind::ALL {
        let found = match read_results(*kind, &response, limits::WEB_SEARCH_RESULTS) {
            Ok(found) => found,
            Err(reason) => {
                assert!(reason.to_string().chars().count() < 1_000, "{reason}");
                continue;
            }
        };
        assert!(found.len() <= limits::WEB_SEARCH_RESULTS);
        for page in found {
            assert!(is_web_url(&page.url), "{page:?}");
            assert!(page.title.chars().count() <= limits::TITLE_CHARS && !page.title.contains('\n'), "{page:?}");
            assert!(
                page.text.chars().count() <= limits::WEB_SEARCH_TEXT_CHARS && !page.text.contains('\n'),
                "{page:?}"
            );
            assert!(page.date.is_none_or(|date| date.len() == 10));
        }
    }
}
