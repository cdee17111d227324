//! The relying party (WebAuthn): the site that passkeys are made for. Browsers keep each passkey for one host name, and
//! offer none on a bare address or without TLS.

use url::{Host, Url};

/// The only host that browsers trust without TLS.
const LOCAL_HOST: &str = "localhost";

/// A site that can have passkeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    id: String,
    origin: String,
}

impl RelyingParty {
    /// Returns the relying party of an address, such as `https://chat.example`; `None` if browsers offer no passkeys
    /// there.
    pub fn from_origin(origin: &str) -> Option<Self> {
        let url = Url::parse(origin).ok()?;
        let Some(Host::Domain(host)) = url.host() else { return None };
        let is_secure = url.scheme() == "https" || host == LOCAL_HOST;
        is_secure.then(|| Self { id: host.to_owned(), origin: url.origin().ascii_serialization() })
    }

    /// Returns the relying party of a server without a public address, by the `Host` of a request: this machine alone.
    pub fn from_host(host: &str) -> Option<Self> {
        Self::from_origin(&format!("http://{host}"))
    }

    /// Returns its id, which is the host name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the origin of its pages.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_tls_and_this_machine_have_passkeys() {
        for (origin, expected) in [
            ("https://chat.example", Some(("chat.example", "https://chat.example"))),
            ("https://Chat.Example:8443", Some(("chat.example", "https://chat.example:8443"))),
            ("https://chat.example:443", Some(("chat.example", "https://chat.example"))),
            ("http://localhost:3000", Some(("localhost", "http://localhost:3000"))),
            ("http://chat.example", None),
            ("https://203.0.113.7", None),
            ("https://[2001:db8::7]", None),
            ("http://127.0.0.1:3000", None),
            ("http://localhost.example", None),
            ("", None),
        ] {
            let party = RelyingParty::from_origin(origin);
            assert_eq!(party.as_ref().map(|party| (party.id(), party.origin())), expected, "{origin}");
        }
    }

    #[test]
    fn host_of_request_is_this_machine_or_nothing() {
        let party = RelyingParty::from_host("localhost:3000").unwrap();
        assert_eq!((party.id(), party.origin()), ("localhost", "http://localhost:3000"));
        for host in ["127.0.0.1:3000", "[::1]:3000", "chat.example", "localhost.example", "2130706433", ""] {
            assert_eq!(RelyingParty::from_host(host), None, "{host}");
        }
    }
}
