//! Every page of the gallery is whole: it draws in both languages, its ids are its own, and it has the states that it
//! promises.

use std::collections::HashSet;

use axum::body::Body;
use http::{Request, StatusCode};
use turnleaf::domain::FailureKind;
use turnleaf::server::gallery::Sheet;
use turnleaf::server::gallery::composers::Standing;
use turnleaf::server::outbound::scripted::Scripted;

use crate::house::House;
use crate::http_api::Api;

async fn api() -> Api {
    Api::over(House::new(Scripted::new("scripted", Vec::new())).await)
}

async fn drawn(api: &Api, sheet: &str, language: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(format!("/settings/about/gallery/{sheet}")).header("host", "127.0.0.1:3000");
    let request = request.header("accept-language", language).header("accept", "text/html");
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.into()).unwrap())
}

async fn page(api: &Api, sheet: Sheet) -> String {
    drawn(api, sheet.name(), "en").await.1
}

#[tokio::test]
async fn every_page_draws_and_no_id_is_there_twice() {
    let api = api().await;
    for sheet in Sheet::all() {
        for language in ["en", "zh"] {
            let (status, html) = drawn(&api, sheet.name(), language).await;
            assert_eq!(status, StatusCode::OK, "{sheet:?}");
            assert!(html.contains(&format!("data-sheet=\"{}\"", sheet.name())), "{sheet:?}");
            let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let mut seen = HashSet::new();
            let twice: Vec<_> = ids.iter().filter(|id| !seen.insert(**id)).collect();
            assert!(twice.is_empty(), "{sheet:?}: {twice:?}");
            assert!(!html.contains(" style=\""), "{sheet:?}");
        }
    }
    assert_eq!(drawn(&api, "nonsense", "en").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn every_state_is_on_its_page() {
    let api = api().await;
    let failures = page(&api, Sheet::Failures).await;
    for kind in FailureKind::ALL {
        assert!(failures.contains(&format!("data-error=\"{}\"", kind.as_str())), "{kind:?}");
    }
    let tools = page(&api, Sheet::Tools).await;
    for status in
        ["done", "failed", "denied", "interrupted", "cancelled", "handed_over", "running", "pending", "writing"]
    {
        assert!(tools.contains(&format!("data-tool-status=\"{status}\"")), "{status}");
    }
    assert!(tools.contains("data-tool-status=\"awaiting_approval\"") && tools.contains("class=\"ask"));
    let has = |html: &str, parts: &[&str]| {
        for part in parts {
            assert!(html.contains(part), "{part}");
        }
    };
    has(
        &page(&api, Sheet::Writing).await,
        &["<table", "<blockquote", "<math", "<pre", "class=\"chip reference", "dir=\"auto\""],
    );
    has(
        &page(&api, Sheet::Lists).await,
        &["dot unread", "dot needs-you", "class=\"mark\"", "role=\"tree\"", "tree-card"],
    );
    let parts = page(&api, Sheet::Parts).await;
    has(
        &parts,
        &["<dialog", "popover=\"auto\"", "class=\"toast\"", "banner warn", "class=\"skeleton\"", "class=\"first-run\""],
    );
    has(&page(&api, Sheet::Composer(Standing::Answering)).await, &["action=\"/forms/stop\""]);
}
