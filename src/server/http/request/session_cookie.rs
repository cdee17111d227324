//! The cookie of a session, and that of a browser that signs in at an identity provider. Over HTTPS a cookie has the
//! prefix `__Host-`, by which browsers let only this host set it, and only over HTTPS. Without HTTPS browsers refuse that;
//! such a server is reached on this machine alone, and the cookie has another name there, which a server with HTTPS does
//! not accept.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};

use crate::domain::limits;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::cookies::cookie_header;
use crate::server::http::response::headers::TransportSecurity;
use crate::ui::preferences::cookie_value;

/// A cookie with a secret of this server.
#[derive(Debug, Clone, Copy)]
pub struct SessionCookie {
    transport: TransportSecurity,
    kind: CookieKind,
}

/// The purpose of a cookie's secret.
#[derive(Debug, Clone, Copy)]
enum CookieKind {
    Session,
    IdentitySignIn,
}

impl SessionCookie {
    /// Returns the cookie of sessions.
    pub fn new(transport: TransportSecurity) -> Self {
        Self { transport, kind: CookieKind::Session }
    }

    /// Returns the cookie by which the answer of an identity provider counts only in the browser in which the sign-in
    /// began.
    pub fn of_identity_sign_in(transport: TransportSecurity) -> Self {
        Self { transport, kind: CookieKind::IdentitySignIn }
    }

    fn name(self) -> &'static str {
        match (self.kind, self.transport.is_https) {
            (CookieKind::Session, true) => "__Host-turnleaf",
            (CookieKind::Session, false) => "turnleaf_local",
            (CookieKind::IdentitySignIn, true) => "__Host-turnleaf-sign-in",
            (CookieKind::IdentitySignIn, false) => "turnleaf_local_sign_in",
        }
    }

    /// Returns whether credentials may be exchanged with a client: nobody else can read them on the way.
    pub fn is_safe_for(self, client: &ClientIdentity) -> bool {
        self.transport.is_https || self.transport.allows_plain_http || client.is_local()
    }

    /// Returns the secret of a request.
    pub fn secret(self, headers: &HeaderMap) -> Option<String> {
        let cookies = cookie_header(headers);
        cookie_value(&cookies, self.name()).filter(|secret| !secret.is_empty()).map(str::to_owned)
    }

    /// Sets the cookie for as long as a session, or a begun sign-in, lasts at most.
    pub fn set(self, headers: &mut HeaderMap, secret: &str) {
        let seconds = match self.kind {
            CookieKind::Session => limits::SESSION_KEPT.num_seconds().unsigned_abs(),
            CookieKind::IdentitySignIn => limits::SIGN_IN_KEPT.as_secs(),
        };
        self.append(headers, secret, seconds);
    }

    /// Removes the cookie.
    pub fn clear(self, headers: &mut HeaderMap) {
        self.append(headers, "", 0);
    }

    fn append(self, headers: &mut HeaderMap, value: &str, age: u64) {
        let secure = if self.transport.is_https { "; Secure" } else { "" };
        let cookie = format!("{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}", self.name());
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            headers.append(SET_COOKIE, cookie);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(is_https: bool) -> String {
        let mut headers = HeaderMap::new();
        let cookie = SessionCookie::new(TransportSecurity { is_https, ..TransportSecurity::default() });
        cookie.set(&mut headers, "00ff");
        headers[SET_COOKIE].to_str().unwrap().to_owned()
    }

    #[test]
    fn cookie_is_bound_to_host_over_https() {
        assert_eq!(set(true), "__Host-turnleaf=00ff; Path=/; Max-Age=5184000; HttpOnly; SameSite=Lax; Secure");
        assert_eq!(set(false), "turnleaf_local=00ff; Path=/; Max-Age=5184000; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn cookie_of_identity_sign_in_ends_with_it() {
        for (is_https, expected) in [
            (true, "__Host-turnleaf-sign-in=00ff; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure"),
            (false, "turnleaf_local_sign_in=00ff; Path=/; Max-Age=600; HttpOnly; SameSite=Lax"),
        ] {
            let mut headers = HeaderMap::new();
            let transport = TransportSecurity { is_https, ..TransportSecurity::default() };
            let cookie = SessionCookie::of_identity_sign_in(transport);
            cookie.set(&mut headers, "00ff");
            assert_eq!(headers[SET_COOKIE].to_str().unwrap(), expected);
            let sent = HeaderMap::from_iter([(http::header::COOKIE, headers[SET_COOKIE].clone())]);
            assert_eq!(cookie.secret(&sent).as_deref(), Some("00ff"));
            assert_eq!(SessionCookie::new(transport).secret(&sent), None, "it is no session");
        }
    }

    #[test]
    fn cookie_of_other_transport_is_not_read() {
        let headers = HeaderMap::from_iter([(
            http::header::COOKIE,
            HeaderValue::from_static("a=b; turnleaf_local=local; __Host-turnleaf=secure"),
        )]);
        for (is_https, secret) in [(true, "secure"), (false, "local")] {
            let cookie = SessionCookie::new(TransportSecurity { is_https, ..TransportSecurity::default() });
            assert_eq!(cookie.secret(&headers).as_deref(), Some(secret));
        }
        let cookie = SessionCookie::new(TransportSecurity::default());
        assert_eq!(cookie.secret(&HeaderMap::new()), None);
        let mut headers = HeaderMap::new();
        cookie.clear(&mut headers);
        assert!(headers[SET_COOKIE].to_str().unwrap().starts_with("turnleaf_local=; Path=/; Max-Age=0;"));
    }
}
