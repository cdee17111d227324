//! Headers of every response (docs/reference/security.md 2.4): pages, the API, assets, streams and errors alike. A
//! header that a route sets itself is kept.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

const FIXED: [(HeaderName, &str); 3] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Pages in other tabs have no access to their opener. The header is not sent with the files of the bundle, where it
/// has no effect.
const OPENER: (HeaderName, &str) = (HeaderName::from_static("cross-origin-opener-policy"), "same-origin");

/// The browser features that the scripts of a document may use. Browsers evaluate the header on documents only, so
/// other responses go without it.
const PERMISSIONS: &str = "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), \
    gyroscope=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=(), clipboard-write=(self)";

/// The policy of everything that is not a document: it may load nothing and be framed nowhere.
const NOT_A_DOCUMENT: &str = "default-src 'none'; frame-ancestors 'none'";

/// States whether people reach the server over TLS, which decides about HSTS, upgraded requests and the cookies of
/// sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransportSecurity {
    pub is_https: bool,
    /// True if the public address says explicitly that there is no TLS. Otherwise nobody signs in from another machine
    /// without it.
    pub allows_plain_http: bool,
}

/// Sets the headers that the route did not set.
pub async fn layer(State(transport): State<TransportSecurity>, request: Request, next: Next) -> Response {
    let is_of_bundle = request.uri().path().starts_with("/pkg/");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if !is_of_bundle {
        set_if_absent(headers, OPENER.0, HeaderValue::from_static(OPENER.1));
    }
    for (name, value) in FIXED {
        set_if_absent(headers, name, HeaderValue::from_static(value));
    }
    let is_document =
        headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().to_ascii_lowercase().starts_with(b"text/html"));
    if is_document {
        let name = HeaderName::from_static("permissions-policy");
        set_if_absent(headers, name, HeaderValue::from_static(PERMISSIONS));
    }
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        let policy = if is_document { document_policy(None, transport) } else { NOT_A_DOCUMENT.to_owned() };
        insert_text(headers, CONTENT_SECURITY_POLICY, &policy);
    }
    set_if_absent(headers, CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if transport.is_https {
        let value = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        set_if_absent(headers, STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Returns the content security policy of a document. Without a nonce no script runs at all, which is right for error
/// pages.
pub fn document_policy(nonce: Option<&str>, transport: TransportSecurity) -> String {
    let script = nonce.map_or("'none'".into(), |nonce| format!("'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'"));
    let style = nonce.map_or("'self'".into(), |nonce| format!("'self' 'nonce-{nonce}'"));
    let upgrade = if transport.is_https { "; upgrade-insecure-requests" } else { "" };
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src 'self' blob: data:; font-src 'self'; \
         media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'{upgrade}"
    )
}

/// Sets the policy with the nonce that Leptos made for this response. It is called while the context of a rendering
/// is set up, after Leptos has provided the nonce and the response.
pub fn allow_nonce(transport: TransportSecurity) {
    let Some(response) = use_context::<ResponseOptions>() else { return };
    let nonce = leptos::nonce::use_nonce().map(|nonce| nonce.to_string());
    if let Ok(policy) = HeaderValue::from_str(&document_policy(nonce.as_deref(), transport)) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
}

fn set_if_absent(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    headers.entry(name).or_insert(value);
}

fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}
