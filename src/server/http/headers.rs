//! The headers of every response (security.md 2.4): set on pages, the API, assets, streams and errors alike. A route
//! that sets one itself keeps its own.

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

/// Of anything but a document browsers do not ask these, and they would travel with each file.
const OF_DOCUMENTS: [(HeaderName, &str); 2] = [
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS),
];

/// What the scripts of a document may use.
const PERMISSIONS: &str = "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), \
    gyroscope=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=(), clipboard-write=(self)";

/// What is not a document may load nothing and be framed nowhere.
const NOT_A_DOCUMENT: &str = "default-src 'none'; frame-ancestors 'none'";

/// Whether people reach the server over TLS, which decides about HSTS and the upgrade of requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transport {
    pub is_https: bool,
}

/// Sets the headers that the route did not set.
pub async fn layer(State(transport): State<Transport>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in FIXED {
        set_if_absent(headers, name, HeaderValue::from_static(value));
    }
    let is_document =
        headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().to_ascii_lowercase().starts_with(b"text/html"));
    if is_document {
        for (name, value) in OF_DOCUMENTS {
            set_if_absent(headers, name, HeaderValue::from_static(value));
        }
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

/// The policy of a document. Without a nonce no script runs at all, which is right for error pages.
pub fn document_policy(nonce: Option<&str>, transport: Transport) -> String {
    let script = nonce.map_or("'none'".into(), |nonce| format!("'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'"));
    let style = nonce.map_or("'self'".into(), |nonce| format!("'self' 'nonce-{nonce}'"));
    let upgrade = if transport.is_https { "; upgrade-insecure-requests" } else { "" };
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src 'self' blob: data:; font-src 'self'; \
         media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'; object-src 'none'{upgrade}"
    )
}

/// For the additional context of a page's rendering: puts the policy with the nonce that Leptos made for this response
/// into its header. Leptos provides the nonce and the response before it calls this.
pub fn allow_nonce(transport: Transport) {
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
