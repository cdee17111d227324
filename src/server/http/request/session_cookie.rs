//! The cookie of a session. Over HTTPS it has the prefix `__Host-`, by which browsers let only this host set it, and only
//! over HTTPS. Without HTTPS browsers refuse that; such a server is reached on this machine alone, and the cookie has
//! another name there, which a server with HTTPS does not accept.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};

use crate::domain::limits;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::cookies::cookie_header;
use crate::server::http::response::headers::TransportSecurity;
use crate::ui::preferences::cookie_value;

const SECURE_NAME: &str = "__Host-turnleaf";
const LOCAL_NAME: &str = "turnleaf_local";

/// The cookie of sessions on this server.
#[derive(Debug, Clone, Copy)]
pub struct SessionCookie {
    transport: TransportSecurity,
}

impl SessionCookie {
    pub fn new(transport: TransportSecurity) -> Self {
        Self { transport }
    }

    fn name(self) -> &'static str {
        if self.transport.is_https { SECURE_NAME } else { LOCAL_NAME }
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

    /// Sets the cookie for as long as a session lasts at most.
    pub fn set(self, headers: &mut HeaderMap, secret: &str) {
        self.append(headers, secret, limits::SESSION_KEPT.num_seconds());
    }

    /// Removes the cookie.
    pub fn clear(self, headers: &mut HeaderMap) {
        self.append(headers, "", 0);
    }

    fn append(self, headers: &mut HeaderMap, value: &str, age: i64) {
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
