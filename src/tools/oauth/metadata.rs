//! The documents of discovery with their rules: protected resource metadata (RFC 9728) and authorization server
//! metadata (RFC 8414, OpenID Connect Discovery).

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use turnleaf_domain::{CodedMessage, MessageCode};

const PROTECTED_RESOURCE: &str = "/.well-known/oauth-protected-resource";
const AUTHORIZATION_SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The metadata of a protected resource, which names its authorization servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ResourceMetadata {
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Option<Vec<String>>,
}

/// The metadata of an authorization server, as far as it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerMetadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub registration_endpoint: Option<String>,
    pub revocation_endpoint: Option<String>,
    /// The keys and the further claims of an identity provider.
    pub jwks_uri: Option<String>,
    pub userinfo_endpoint: Option<String>,
    pub scopes_supported: Option<Vec<String>>,
    pub code_challenge_methods_supported: Option<Vec<String>>,
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub client_id_metadata_document_supported: bool,
    pub authorization_response_iss_parameter_supported: bool,
}

/// Returns the URLs where a resource may publish its metadata: first for its path, then for its host.
pub fn resource_metadata_urls(resource: &Url) -> Vec<Url> {
    let path = resource.path().trim_end_matches('/');
    let whole = (!path.is_empty()).then(|| at_path(resource, &format!("{PROTECTED_RESOURCE}{path}")));
    whole.into_iter().chain([at_path(resource, PROTECTED_RESOURCE)]).collect()
}

/// Returns the URLs where an issuer may publish its metadata, in the order of the MCP specification: RFC 8414 with
/// path insertion, then OpenID Connect with path insertion and with path appending.
pub fn server_metadata_urls(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let inserted = [AUTHORIZATION_SERVER, OPENID].map(|known| at_path(issuer, &format!("{known}{path}")));
    let appended = (!path.is_empty()).then(|| at_path(issuer, &format!("{path}{OPENID}")));
    inserted.into_iter().chain(appended).collect()
}

/// Returns the URL where an identity provider publishes its metadata (OpenID Connect Discovery, 4).
pub fn openid_metadata_url(issuer: &Url) -> Url {
    at_path(issuer, &format!("{}{OPENID}", issuer.path().trim_end_matches('/')))
}

/// Returns the issuer to try for a resource without metadata: its origin, as the MCP specification of 2025-03-26 says.
pub fn origin_issuer(resource: &Url) -> Url {
    at_path(resource, "/")
}

fn at_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Returns the URL of a server as resource identifier (RFC 8707): without query and fragment.
pub fn resource_identifier(url: &Url) -> String {
    let identifier = at_path(url, url.path());
    let text = identifier.as_str();
    // The form without a slash is the canonical one, unless the path needs it.
    if identifier.path() == "/" { text.trim_end_matches('/').to_owned() } else { text.to_owned() }
}

/// Returns whether metadata for `resource` is about the server at `url`: the same origin, and a path that begins with
/// that of the resource.
pub fn is_same_resource(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let with_slash = |path: &str| format!("{}/", path.trim_end_matches('/'));
    resource.origin() == url.origin()
        && resource.query().is_none()
        && resource.fragment().is_none()
        && with_slash(url.path()).starts_with(&with_slash(resource.path()))
}

/// Returns whether two texts name the same issuer. They have to be equal; only an empty path may have its slash.
pub fn is_same_issuer(one: &str, other: &str) -> bool {
    one == other || Url::parse(one).is_ok_and(|one| Url::parse(other).is_ok_and(|other| one == other))
}

/// Returns whether tokens and codes may be sent to a URL: over HTTPS, or to this machine.
pub fn is_secure(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    !has_credentials && url.fragment().is_none() && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

/// Returns the host of a URL with its port, for messages.
pub fn host_name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl ServerMetadata {
    /// Checks the document that was found for `issuer`.
    ///
    /// # Errors
    /// The sentence why the authorization server cannot be used.
    pub fn check(&self, issuer: &Url) -> Result<(), CodedMessage> {
        self.check_addresses(issuer, &[&self.registration_endpoint, &self.revocation_endpoint])?;
        match self.has_s256() {
            Some(true) => Ok(()),
            Some(false) | None => Err(MessageCode::SignInWithoutPkce.with("host", host_name(issuer))),
        }
    }

    /// Checks the document of an identity provider. One that does not list the methods of PKCE is used: the nonce of
    /// its answer binds that to this sign-in, too.
    ///
    /// # Errors
    /// The sentence why the identity provider cannot be used.
    pub fn check_identity_provider(&self, issuer: &Url) -> Result<(), CodedMessage> {
        self.check_addresses(issuer, &[&self.jwks_uri, &self.userinfo_endpoint])?;
        if self.has_s256() == Some(false) {
            return Err(MessageCode::SignInWithoutPkce.with("host", host_name(issuer)));
        }
        match &self.jwks_uri {
            Some(_) => Ok(()),
            None => Err(MessageCode::SignInMetadataInvalid.with("host", host_name(issuer))),
        }
    }

    /// Returns whether the method S256 of PKCE is listed; `None` without a list.
    fn has_s256(&self) -> Option<bool> {
        let methods = self.code_challenge_methods_supported.as_ref()?;
        Some(methods.iter().any(|method| method == "S256"))
    }

    fn check_addresses(&self, issuer: &Url, optional: &[&Option<String>]) -> Result<(), CodedMessage> {
        let host = host_name(issuer);
        if !is_same_issuer(&self.issuer, issuer.as_str()) {
            let named: String = self.issuer.chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(MessageCode::SignInIssuerMismatch.with("host", host).with("issuer", named));
        }
        let endpoints = [&self.authorization_endpoint, &self.token_endpoint];
        for endpoint in endpoints.into_iter().chain(optional.iter().copied().flatten()) {
            let url = Url::parse(endpoint).map_err(|_| MessageCode::SignInMetadataInvalid.with("host", &host))?;
            if !is_secure(&url) {
                return Err(MessageCode::SignInInsecure.with("host", host));
            }
        }
        Ok(())
    }

    /// Returns whether the token endpoint accepts this way of authentication. Without a list it is
    /// `client_secret_basic` (RFC 8414, 2).
    pub fn accepts_auth_method(&self, method: &str) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => methods.iter().any(|known| known == method),
            None => method == "client_secret_basic",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    #[test]
    fn metadata_urls_insert_well_known_before_path() {
        for (resource, expected) in [
            (
                "https://x.example/public/mcp?a=b",
                &[
                    "https://x.example/.well-known/oauth-protected-resource/public/mcp",
                    "https://x.example/.well-known/oauth-protected-resource",
                ][..],
            ),
            ("https://x.example:8443/", &["https://x.example:8443/.well-known/oauth-protected-resource"]),
        ] {
            assert_eq!(texts(resource_metadata_urls(&url(resource))), expected, "{resource}");
        }
        for (issuer, expected) in [
            (
                "https://a.example/tenant1",
                &[
                    "https://a.example/.well-known/oauth-authorization-server/tenant1",
                    "https://a.example/.well-known/openid-configuration/tenant1",
                    "https://a.example/tenant1/.well-known/openid-configuration",
                ][..],
            ),
            (
                "https://a.example",
                &[
                    "https://a.example/.well-known/oauth-authorization-server",
                    "https://a.example/.well-known/openid-configuration",
                ],
            ),
        ] {
            assert_eq!(texts(server_metadata_urls(&url(issuer))), expected, "{issuer}");
        }
    }

    #[test]
    fn resource_has_to_cover_the_server() {
        for (resource, server, expected) in [
            ("https://x.example/mcp", "https://x.example/mcp", true),
            ("https://x.example/mcp/", "https://x.example/mcp", true),
            ("https://x.example", "https://x.example/mcp?key=1", true),
            ("https://X.example:443/mcp", "https://x.example/mcp", true),
            ("https://x.example/mc", "https://x.example/mcp", false),
            ("https://x.example/mcp/a", "https://x.example/mcp", false),
            ("https://y.example/mcp", "https://x.example/mcp", false),
            ("http://x.example/mcp", "https://x.example/mcp", false),
            ("https://x.example/mcp?a=b", "https://x.example/mcp", false),
            ("x.example", "https://x.example/mcp", false),
            ("", "https://x.example/mcp", false),
        ] {
            assert_eq!(is_same_resource(resource, &url(server)), expected, "{resource} {server}");
        }
        assert_eq!(resource_identifier(&url("https://x.example/mcp?key=1#a")), "https://x.example/mcp");
        assert_eq!(resource_identifier(&url("https://x.example")), "https://x.example");
    }

    #[test]
    fn secure_urls_are_https_or_of_this_machine() {
        for (text, expected) in [
            ("https://a.example/token", true),
            ("http://localhost:9000/token", true),
            ("http://127.0.0.1/token", true),
            ("http://[::1]/token", true),
            ("http://a.example/token", false),
            ("http://localhost.a.example/token", false),
            ("https://me:secret@a.example/token", false),
            ("https://a.example/token#x", false),
            ("javascript:alert(1)", false),
        ] {
            assert_eq!(is_secure(&url(text)), expected, "{text}");
        }
    }

    #[test]
    fn authorization_server_is_refused_for_each_unsafe_statement() {
        let good = ServerMetadata {
            issuer: "https://a.example".into(),
            authorization_endpoint: "https://a.example/authorize".into(),
            token_endpoint: "https://a.example/token".into(),
            code_challenge_methods_supported: Some(vec!["plain".into(), "S256".into()]),
            ..ServerMetadata::default()
        };
        let issuer = url("https://a.example");
        assert_eq!(good.check(&issuer), Ok(()));
        let code = |changed: ServerMetadata| changed.check(&issuer).unwrap_err().code;
        for (changed, expected) in [
            (ServerMetadata { issuer: "https://b.example".into(), ..good.clone() }, MessageCode::SignInIssuerMismatch),
            (ServerMetadata { issuer: String::new(), ..good.clone() }, MessageCode::SignInIssuerMismatch),
            (
                ServerMetadata { token_endpoint: "http://a.example/token".into(), ..good.clone() },
                MessageCode::SignInInsecure,
            ),
            (
                ServerMetadata { registration_endpoint: Some("http://a.example/r".into()), ..good.clone() },
                MessageCode::SignInInsecure,
            ),
            (
                ServerMetadata { authorization_endpoint: String::new(), ..good.clone() },
                MessageCode::SignInMetadataInvalid,
            ),
            (ServerMetadata { code_challenge_methods_supported: None, ..good.clone() }, MessageCode::SignInWithoutPkce),
            (
                ServerMetadata { code_challenge_methods_supported: Some(vec!["plain".into()]), ..good.clone() },
                MessageCode::SignInWithoutPkce,
            ),
        ] {
            assert_eq!(code(changed), expected);
        }
    }

    #[test]
    fn identity_provider_needs_keys_and_may_leave_pkce_unlisted() {
        let good = ServerMetadata {
            issuer: "https://a.example".into(),
            authorization_endpoint: "https://a.example/authorize".into(),
            token_endpoint: "https://a.example/token".into(),
            jwks_uri: Some("https://a.example/keys".into()),
            ..ServerMetadata::default()
        };
        let issuer = url("https://a.example");
        assert_eq!(good.check_identity_provider(&issuer), Ok(()));
        let code = |changed: ServerMetadata| changed.check_identity_provider(&issuer).unwrap_err().code;
        for (changed, expected) in [
            (ServerMetadata { issuer: "https://b.example".into(), ..good.clone() }, MessageCode::SignInIssuerMismatch),
            (ServerMetadata { jwks_uri: None, ..good.clone() }, MessageCode::SignInMetadataInvalid),
            (
                ServerMetadata { jwks_uri: Some("http://a.example/keys".into()), ..good.clone() },
                MessageCode::SignInInsecure,
            ),
            (
                ServerMetadata { code_challenge_methods_supported: Some(vec!["plain".into()]), ..good.clone() },
                MessageCode::SignInWithoutPkce,
            ),
        ] {
            assert_eq!(code(changed), expected);
        }
        for (issuer, expected) in [
            ("https://a.example", "https://a.example/.well-known/openid-configuration"),
            ("https://a.example/realms/x/", "https://a.example/realms/x/.well-known/openid-configuration"),
        ] {
            assert_eq!(openid_metadata_url(&url(issuer)).as_str(), expected);
        }
    }

    #[test]
    fn issuers_are_equal_up_to_the_slash_of_an_empty_path() {
        assert!(is_same_issuer("https://a.example", "https://a.example/"));
        assert!(is_same_issuer("https://a.example/t", "https://a.example/t"));
        assert!(!is_same_issuer("https://a.example/t", "https://a.example/t/"));
        assert!(!is_same_issuer("https://a.example", "https://a.example.evil"));
    }
}
