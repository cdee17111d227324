//! Fallbacks for requests that match no route: a problem below `/api`, a page elsewhere.

use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use http::{Method, StatusCode, Uri};

use crate::domain::CodedMessage;
use crate::server::http::response::problem::Problem;
use crate::ui::locale::{locale, localized_word};

/// Adds the fallbacks: problems below `/api`, pages elsewhere. Must be called before the layers are added (`layers`).
pub fn add_fallbacks<S>(router: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router.fallback(not_found).method_not_allowed_fallback(method_not_allowed)
}

/// Returns 404 in the shape that fits the path.
pub async fn not_found(uri: Uri) -> Response {
    let problem = Problem::not_found();
    if is_api(&uri) {
        problem.into_response()
    } else {
        page(problem, localized_word("Page not found", "未找到页面"))
    }
}

pub async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let problem = Problem::new(
        status,
        "method_not_allowed",
        CodedMessage::uncoded(format!("{method} is not supported at this address.")),
    );
    if is_api(&uri) {
        problem.into_response()
    } else {
        page(problem, localized_word("This action is not supported here", "此处不支持该操作"))
    }
}

pub fn is_api(uri: &Uri) -> bool {
    uri.path() == "/api" || uri.path().starts_with("/api/")
}

/// Returns a minimal page, for when nothing renders a better one (`error_page`). `sentence` is a message of the server
/// itself, so it needs no escaping.
fn page(problem: Problem, sentence: &'static str) -> Response {
    let (lang, back) = (locale().as_str(), localized_word("Go to chats", "返回对话"));
    let html = format!(
        "<!doctype html><html lang=\"{lang}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"/favicon.svg\"><title>{sentence}</title></head>\
         <body><main><h1>{sentence}</h1><p><a href=\"/\">{back}</a></p></main></body></html>"
    );
    let mut response = (problem.status(), Html(html)).into_response();
    response.extensions_mut().insert(problem);
    response
}
