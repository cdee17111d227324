//! The language of a response: that of the cookie, else the one that the browser prefers, else English. It applies to
//! everything that is rendered while the request is handled and while a page is still being streamed.

use std::pin::pin;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use futures::future::poll_fn;
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderValue};

use crate::server::http::request::cookies::cookie_header;
use crate::ui::locale::{LOCALE_COOKIE, Locale, with_locale};
use crate::ui::preferences::cookie_value;

/// Handles a request in the reader's language.
pub async fn layer(request: Request, next: Next) -> Response {
    let locale = requested_locale(request.headers());
    let response = localize_future(locale, next.run(request)).await;
    let is_page = response.headers().get(CONTENT_TYPE).is_some_and(|mime| mime.as_bytes().starts_with(b"text/html"));
    if !is_page {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(locale.as_str()));
    // A body of known length is rendered already.
    let body = if body.size_hint().exact().is_some() { body } else { localize_body(locale, body) };
    Response::from_parts(parts, body)
}

/// Returns the language that a request asks for.
pub fn requested_locale(headers: &HeaderMap) -> Locale {
    let chosen = cookie_value(&cookie_header(headers), LOCALE_COOKIE).and_then(Locale::parse);
    chosen.unwrap_or_else(|| {
        let lines: Vec<&str> =
            headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok()).collect();
        Locale::from_accept_language(&lines.join(","))
    })
}

/// Runs a future with the locale set during each poll.
async fn localize_future<F: Future>(locale: Locale, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|context| with_locale(locale, || work.as_mut().poll(context))).await
}

/// Returns the body with the locale set while each chunk is produced.
fn localize_body(locale: Locale, body: Body) -> Body {
    let mut pieces = body.into_data_stream();
    Body::from_stream(futures::stream::poll_fn(move |context| with_locale(locale, || pieces.poll_next_unpin(context))))
}
