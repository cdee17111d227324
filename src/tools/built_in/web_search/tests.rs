//! Tests of the responses of search engines, in the shapes that the services document.

use super::*;

fn engine(kind: SearchEngineKind) -> SearchEngine {
    SearchEngine {
        kind,
        base_url: "https://engine.example".into(),
        api_key: kind.needs_key().then(|| "the-secret-search-key".into()),
        local_network: false,
        set_by: None,
    }
}

fn searxng_response() -> Value {
    json!({
        "query": "leaves",
        "number_of_results": 0,
        "results": [
            {
                "url": "https://en.wikipedia.org/wiki/Leaf",
                "title": "Leaf - Wikipedia",
                "content": "A leaf is a principal appendage\nof the stem of a vascular plant.",
                "publishedDate": null,
                "engine": "brave",
                "engines": ["brave", "duckduckgo"],
                "parsed_url": ["https", "en.wikipedia.org", "/wiki/Leaf", "", "", ""],
                "positions": [1, 2],
                "score": 4.0,
                "category": "general",
            },
            { "url": "https://news.example/leaf", "title": "Leaves fall", "content": "", "publishedDate": "2026-11-20T08:00:00" },
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["leaf blower"],
        "unresponsive_engines": [["google", "too many requests"]],
    })
}

fn brave_response() -> Value {
    json!({
        "type": "search",
        "query": { "original": "leaves", "show_strict_warning": false, "more_results_available": true },
        "mixed": { "type": "mixed", "main": [{ "type": "web", "index": 0, "all": false }] },
        "web": {
            "type": "search",
            "results": [{
                "type": "search_result",
                "subtype": "generic",
                "title": "Leaf &amp; stem",
                "url": "https://plants.example/leaf",
                "is_source_local": false,
                "description": "A leaf isn&#x27;t a stem.",
                "page_age": "2026-10-01T12:30:00",
                "age": "October 1, 2026",
                "language": "en",
                "family_friendly": true,
                "meta_url": { "scheme": "https", "netloc": "plants.example", "hostname": "plants.example", "path": "› leaf" },
            }],
            "family_friendly": true,
        },
    })
}

fn tavily_response() -> Value {
    json!({
        "query": "leaves",
        "follow_up_questions": null,
        "answer": null,
        "images": [],
        "results": [{
            "url": "https://garden.example/leaves",
            "title": "Leaves",
            "content": "Leaves turn red in autumn.",
            "score": 0.81,
            "raw_content": null,
            "published_date": "Thu, 12 Sep 2024 12:00:00 GMT",
        }],
        "response_time": 0.9,
        "request_id": "123e4567-e89b-12d3-a456-426614174111",
    })
}

fn page(url: &str, title: &str, text: &str, date: Option<&str>) -> FoundPage {
    FoundPage { url: url.into(), title: title.into(), text: text.into(), date: date.map(str::to_owned) }
}

#[test]
fn results_of_each_engine_are_read() {
    let leaf = "A leaf is a principal appendage of the stem of a vascular plant.";
    assert_eq!(
        read_results(SearchEngineKind::Searxng, &searxng_response(), 10).unwrap(),
        [
            page("https://en.wikipedia.org/wiki/Leaf", "Leaf - Wikipedia", leaf, None),
            page("https://news.example/leaf", "Leaves fall", "", Some("2026-11-20")),
        ]
    );
    assert_eq!(read_results(SearchEngineKind::Searxng, &searxng_response(), 1).unwrap().len(), 1);
    assert_eq!(
        read_results(SearchEngineKind::Brave, &brave_response(), 10).unwrap(),
        [page("https://plants.example/leaf", "Leaf & stem", "A leaf isn't a stem.", Some("2026-10-01"))]
    );
    assert_eq!(
        read_results(SearchEngineKind::Tavily, &tavily_response(), 10).unwrap(),
        [page("https://garden.example/leaves", "Leaves", "Leaves turn red in autumn.", Some("2024-09-12"))]
    );
}

#[test]
fn search_without_results_differs_from_silent_engines() {
    let silent = json!([["brave", "Suspended: too many requests"], ["duckduckgo", "CAPTCHA"], 3]);
    let down = json!({ "results": [], "unresponsive_engines": silent });
    let error = read_results(SearchEngineKind::Searxng, &down, 10).unwrap_err().to_string();
    assert_eq!(
        error,
        "The engines behind SearXNG did not respond: brave (Suspended: too many requests), duckduckgo (CAPTCHA)."
    );
    for (kind, response) in [
        (SearchEngineKind::Searxng, json!({ "results": [] })),
        (SearchEngineKind::Brave, json!({ "type": "search", "query": {} })),
        (SearchEngineKind::Tavily, json!({ "results": [] })),
    ] {
        assert_eq!(read_results(kind, &response, 10), Ok(Vec::new()), "{kind:?}");
    }
}

#[test]
fn response_of_another_kind_is_not_search_results() {
    for response in [json!(null), json!([]), json!("text"), json!({}), json!({ "results": 3, "type": "ErrorResponse" })]
    {
        for kind in SearchEngineKind::ALL {
            let read = read_results(*kind, &response, 10);
            assert_eq!(read, Err(MessageCode::SearchNotResults.into()), "{kind:?}: {response}");
        }
    }
}

#[test]
fn refusal_names_its_cause() {
    use SearchEngineKind::{Brave, Searxng, Tavily};
    let brave_error = |code: &str, detail: &str| {
        let error = json!({ "id": "9", "status": 422, "code": code, "detail": detail, "meta": {} });
        json!({ "type": "ErrorResponse", "error": error, "time": 1_764_000_000 })
    };
    let no_header = json!({ "error": {
        "code": "VALIDATION",
        "detail": "Unable to validate request parameter(s)",
        "meta": { "errors": [{ "loc": ["header", "x-subscription-token"], "msg": "Field required", "type": "missing" }] },
    } });
    let invalid = "The provided subscription token is invalid.";
    let unauthorized = json!({ "detail": { "error": "Unauthorized: missing or invalid API key." } });
    let plan = json!({ "detail": { "error": "This request exceeds your plan's set usage limit." } });
    for (kind, status, response, code) in [
        (Searxng, 403, json!(null), MessageCode::SearchJsonDisabled),
        (Searxng, 429, json!(null), MessageCode::SearchRateLimited),
        (Searxng, 401, json!(null), MessageCode::FailedWithStatus),
        (Searxng, 301, json!(null), MessageCode::Redirected),
        (Searxng, 500, json!(null), MessageCode::FailedWithStatus),
        (Brave, 422, brave_error("SUBSCRIPTION_TOKEN_INVALID", invalid), MessageCode::KeyRefused),
        (Brave, 422, no_header, MessageCode::KeyRefused),
        (Brave, 422, brave_error("VALIDATION", "Unable to validate"), MessageCode::SearchQueryRefused),
        (Brave, 429, brave_error("RATE_LIMITED", "Request rate limit exceeded"), MessageCode::SearchRateLimited),
        (Tavily, 401, unauthorized.clone(), MessageCode::KeyRefused),
        (Tavily, 432, plan.clone(), MessageCode::SearchQuotaUsed),
        (Tavily, 433, plan, MessageCode::SearchQuotaUsed),
        (Tavily, 400, json!({ "detail": [{ "msg": "x" }] }), MessageCode::SearchQueryRefused),
    ] {
        let reason = refusal(&engine(kind), status, &response);
        assert_eq!((reason.code, reason.args["status"].as_str()), (code, status.to_string().as_str()), "{response}");
    }
    let words = refusal(&engine(Tavily), 401, &unauthorized).to_string();
    assert_eq!(words, "It rejected the API key (401): Unauthorized: missing or invalid API key.");
}

#[test]
fn refusal_quotes_neither_key_nor_long_text() {
    let repeated = format!("the-secret-search-key is wrong.\u{202e}\n{}", "long ".repeat(1_000));
    let reason = refusal(&engine(SearchEngineKind::Tavily), 401, &json!({ "detail": repeated }));
    let detail = &reason.args[CodedMessage::DETAIL];
    assert!(detail.starts_with("[removed] is wrong. long") && detail.chars().count() <= DETAIL_CHARS, "{detail}");
}
