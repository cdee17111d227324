//! The response of every document of somebody else that is shown in a frame ([`crate::ui::sandboxed_frame`]). Its
//! scripts run in an origin of their own: they reach neither Turnleaf's pages, cookies and storage nor the network,
//! whether the document is framed or visited. These headers hold even where the attributes of the frame do not.

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue};

/// The policy. `sandbox` without `allow-same-origin` gives an opaque origin. A frame could still take what it was told
/// to an address that it navigates to; that is what `frame-src` of Turnleaf's own pages forbids. No browser has a policy
/// for WebRTC: `webrtc 'block'` is not implemented anywhere and is an error in the console.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; worker-src 'none'; \
    object-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("permissions-policy"),
        "accelerometer=(), browsing-topics=(), camera=(), clipboard-read=(), clipboard-write=(), display-capture=(), \
         fullscreen=(), geolocation=(), gyroscope=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
    ),
    // Host names are looked up before a policy is asked.
    (HeaderName::from_static("x-dns-prefetch-control"), "off"),
];

/// Returns the response with this HTML.
pub fn sandboxed_document(html: Bytes) -> Response {
    sandboxed(Response::new(Body::from(html)))
}

/// Returns a response with a document as one of a sandboxed document.
pub fn sandboxed(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandboxed_document_has_opaque_origin_and_no_network() {
        let response = sandboxed_document(Bytes::from_static(b"<p>"));
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        let directives: Vec<&str> = policy.split("; ").collect();
        for directive in ["sandbox allow-scripts", "default-src 'none'", "connect-src 'none'", "form-action 'none'"] {
            assert!(directives.contains(&directive), "{directive}: {policy}");
        }
        for loose in ["allow-same-origin", "allow-popups", "allow-top-navigation", "http", "*", "script-src 'self'"] {
            assert!(!policy.contains(loose), "{loose}: {policy}");
        }
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(response.headers().get("set-cookie").is_none());
    }
}
