//! The authorization code flow with PKCE (RFC 7636): the authorization request, and the check of its answer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use super::discovery::SignInService;
use super::http::error_code;
use super::metadata::{ServerMetadata, host_name, is_same_issuer};
use super::registration::OAuthClient;
use turnleaf_domain::{CodedMessage, MessageCode, limits};
use turnleaf_platform::random::random_token;

/// The scope with which OpenID providers give refresh tokens.
const OFFLINE_ACCESS: &str = "offline_access";

/// A sign-in that has begun, with the values that its answer is checked against and those that the token request needs.
/// It is stored encrypted; there is no `Debug`, because of the verifier.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    /// The resource indicator; empty at an identity provider, whose tokens are for no resource.
    pub resource: String,
    pub server: ServerMetadata,
    pub client: OAuthClient,
    pub scopes: Vec<String>,
    /// Names this sign-in in its answer.
    pub state: String,
    /// The secret of PKCE.
    pub verifier: String,
    /// The nonce that the ID token of an identity provider has to repeat.
    #[serde(default)]
    pub nonce: Option<String>,
    /// The time at which the person was asked to authenticate again. An earlier authentication does not count then.
    #[serde(default)]
    pub reauthenticated_since: Option<DateTime<Utc>>,
}

/// The parameters of a callback. They are untrusted.
#[derive(Default)]
pub struct SignInAnswer {
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

impl PendingSignIn {
    /// Begins a sign-in that also requests the scopes `granted` before.
    pub fn begin(service: SignInService, client: OAuthClient, granted: &[String]) -> Self {
        let SignInService { resource, server, mut scopes } = service;
        // An empty list requests the default of the server, which granted scopes would narrow.
        if !scopes.is_empty() {
            let supports_offline =
                server.scopes_supported.iter().flatten().any(|supported| supported == OFFLINE_ACCESS);
            let offline = supports_offline.then(|| OFFLINE_ACCESS.to_owned());
            for scope in granted.iter().cloned().chain(offline) {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        let [state, verifier] = [random_token(), random_token()];
        Self { resource, server, client, scopes, state, verifier, nonce: None, reauthenticated_since: None }
    }

    /// Begins a sign-in at an identity provider.
    pub fn begin_at_identity_provider(server: ServerMetadata, client: OAuthClient, scopes: Vec<String>) -> Self {
        let [state, verifier, nonce] = [random_token(), random_token(), random_token()];
        let (resource, nonce) = (String::new(), Some(nonce));
        Self { resource, server, client, scopes, state, verifier, nonce, reauthenticated_since: None }
    }

    /// Returns the same sign-in, for which the person has to authenticate again from now on, also where the identity
    /// provider still knows them.
    #[must_use]
    pub fn with_reauthentication(self, now: DateTime<Utc>) -> Self {
        Self { reauthenticated_since: Some(now), ..self }
    }

    /// Returns the URL that the person opens.
    ///
    /// # Errors
    /// The authorization endpoint is not a URL.
    pub fn authorization_url(&self) -> Result<Url, CodedMessage> {
        let mut url = Url::parse(&self.server.authorization_endpoint)
            .map_err(|_| MessageCode::SignInMetadataInvalid.with("host", self.host()))?;
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code").append_pair("client_id", &self.client.id);
            query.append_pair("redirect_uri", &self.client.redirect_uri).append_pair("state", &self.state);
            query.append_pair("code_challenge", &code_challenge(&self.verifier));
            query.append_pair("code_challenge_method", "S256");
            if !self.resource.is_empty() {
                query.append_pair("resource", &self.resource);
            }
            if let Some(nonce) = &self.nonce {
                query.append_pair("nonce", nonce);
            }
            if !self.scopes.is_empty() {
                query.append_pair("scope", &self.scopes.join(" "));
            }
            let mut prompts = Vec::new();
            if self.reauthenticated_since.is_some() {
                prompts.push("login");
                // A provider that honors it says in the ID token when the person authenticated.
                query.append_pair("max_age", "0");
            }
            if self.scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
                // OpenID Connect gives offline access only with an explicit consent.
                prompts.push("consent");
            }
            if !prompts.is_empty() {
                query.append_pair("prompt", &prompts.join(" "));
            }
        }
        Ok(url)
    }

    /// Returns the host of the issuer, for messages.
    pub fn host(&self) -> String {
        Url::parse(&self.server.issuer).as_ref().map(host_name).unwrap_or_default()
    }

    /// Returns whether people sign in at an origin that is neither that of the issuer nor that of its token endpoint.
    /// Then only the issuer in the answer tells which server it is of (RFC 9207).
    fn is_split(&self) -> bool {
        let origin = |url: &str| Url::parse(url).map(|url| url.origin()).ok();
        let asked = origin(&self.server.authorization_endpoint);
        [&self.server.token_endpoint, &self.server.issuer].into_iter().all(|other| origin(other) != asked)
    }

    /// Returns whether the answer refuses the client itself.
    pub fn is_client_refused(&self, answer: &SignInAnswer) -> bool {
        matches!(answer.error.as_deref(), Some("unauthorized_client" | "invalid_client"))
    }

    /// Returns the host of the token endpoint, if it is not the one where the person signs in.
    pub fn other_token_host(&self) -> Option<String> {
        let host = |url: &str| Url::parse(url).as_ref().map(host_name).ok();
        let token = host(&self.server.token_endpoint);
        token.filter(|token| host(&self.server.authorization_endpoint).as_ref() != Some(token))
    }

    /// Checks the answer, and returns its code.
    ///
    /// # Errors
    /// The sentence why it cannot be used: it is of another issuer (RFC 9207), or a refusal.
    pub fn checked_code(&self, answer: &SignInAnswer) -> Result<String, CodedMessage> {
        let has_issuer = match &answer.iss {
            Some(iss) => is_same_issuer(iss, &self.server.issuer),
            None => !self.server.authorization_response_iss_parameter_supported && !self.is_split(),
        };
        if !has_issuer {
            return Err(MessageCode::SignInOtherIssuer.into());
        }
        let refused =
            |error: &str| MessageCode::SignInRefused.with("host", self.host()).with("error", error_code(error));
        match (&answer.error, &answer.code) {
            (Some(error), _) if error == "access_denied" => Err(MessageCode::SignInDenied.into()),
            (Some(error), _) => Err(refused(error)),
            (None, Some(code)) if !code.is_empty() && code.len() <= limits::SIGN_IN_VALUE_BYTES => Ok(code.clone()),
            (None, _) => Err(refused("no_code")),
        }
    }
}

/// Returns the S256 challenge of a verifier (RFC 7636, 4.2).
fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Returns the text under which a state is stored, so that the database does not hold the state itself.
pub fn state_hash(state: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(state.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn service(scopes: &[&str], supported: Option<&[&str]>) -> SignInService {
        let owned = |scopes: &[&str]| scopes.iter().map(|scope| (*scope).to_owned()).collect::<Vec<_>>();
        SignInService {
            resource: "https://x.example/mcp".into(),
            server: ServerMetadata {
                issuer: "https://a.example".into(),
                authorization_endpoint: "https://a.example/authorize?tenant=1".into(),
                scopes_supported: supported.map(owned),
                ..ServerMetadata::default()
            },
            scopes: owned(scopes),
        }
    }

    fn begin(service: SignInService, granted: &[&str]) -> PendingSignIn {
        let granted: Vec<String> = granted.iter().map(|scope| (*scope).to_owned()).collect();
        PendingSignIn::begin(service, OAuthClient::from_document("c", "http://localhost/callback"), &granted)
    }

    fn query(pending: &PendingSignIn) -> BTreeMap<String, String> {
        pending.authorization_url().unwrap().query_pairs().into_owned().collect()
    }

    #[test]
    fn challenge_is_the_one_of_the_specification() {
        assert_eq!(
            code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn request_names_client_resource_state_and_challenge() {
        let pending = begin(service(&["files:read"], None), &[]);
        let query = query(&pending);
        for (name, expected) in [
            ("tenant", "1"),
            ("response_type", "code"),
            ("client_id", "c"),
            ("redirect_uri", "http://localhost/callback"),
            ("resource", "https://x.example/mcp"),
            ("scope", "files:read"),
            ("code_challenge_method", "S256"),
            ("state", &*pending.state),
            ("code_challenge", &*code_challenge(&pending.verifier)),
        ] {
            assert_eq!(query.get(name).map(String::as_str), Some(expected), "{name}");
        }
        assert!(!query.contains_key("prompt"));
        assert_ne!(begin(service(&[], None), &[]).state, pending.state);
    }

    #[test]
    fn request_to_identity_provider_has_nonce_and_no_resource() {
        let (server, scopes) = (service(&[], None).server, vec!["openid".to_owned(), "email".to_owned()]);
        let client = OAuthClient::from_document("c", "http://localhost/callback");
        let pending = PendingSignIn::begin_at_identity_provider(server, client, scopes);
        let query = query(&pending);
        assert_eq!(query.get("nonce"), pending.nonce.as_ref());
        assert_eq!(query.get("scope").map(String::as_str), Some("openid email"));
        assert!(!query.contains_key("resource") && query["code_challenge_method"] == "S256");
        let secrets = [Some(&pending.state), Some(&pending.verifier), pending.nonce.as_ref()];
        assert!(secrets[0] != secrets[1] && secrets[1] != secrets[2] && secrets[0] != secrets[2]);
        assert!(!query.contains_key("prompt") && !query.contains_key("max_age"));
    }

    #[test]
    fn reauthentication_asks_for_login_whoever_is_known() {
        let server = service(&[], None).server;
        for (scopes, prompt) in [(vec!["openid"], "login"), (vec!["openid", OFFLINE_ACCESS], "login consent")] {
            let scopes = scopes.into_iter().map(str::to_owned).collect();
            let client = OAuthClient::from_document("c", "http://localhost/callback");
            let pending = PendingSignIn::begin_at_identity_provider(server.clone(), client, scopes);
            let query = query(&pending.with_reauthentication(DateTime::UNIX_EPOCH));
            assert_eq!((query["prompt"].as_str(), query["max_age"].as_str()), (prompt, "0"));
        }
    }

    #[test]
    fn scopes_are_kept_and_widened() {
        for (asked, supported, granted, expected) in [
            (&["a"][..], None, &[][..], Some("a")),
            (&["b"], None, &["a"], Some("b a")),
            (&["a"], Some(&["a", "offline_access"][..]), &["a"], Some("a offline_access")),
            (&[], Some(&["offline_access"]), &["a"], None),
        ] {
            let pending = begin(service(asked, supported), granted);
            assert_eq!(query(&pending).get("scope").map(String::as_str), expected);
        }
    }

    #[test]
    fn answer_is_used_only_from_its_issuer_and_with_a_code() {
        let mut pending = begin(service(&[], None), &[]);
        let answer = |code: Option<&str>, iss: Option<&str>, error: Option<&str>| SignInAnswer {
            state: String::new(),
            code: code.map(str::to_owned),
            iss: iss.map(str::to_owned),
            error: error.map(str::to_owned),
        };
        let code =
            |pending: &PendingSignIn, answer: SignInAnswer| pending.checked_code(&answer).map_err(|why| why.code);
        assert_eq!(code(&pending, answer(Some("x"), None, None)), Ok("x".to_owned()));
        assert_eq!(code(&pending, answer(Some("x"), Some("https://a.example/"), None)), Ok("x".to_owned()));
        let other = answer(Some("x"), Some("https://b.example"), None);
        assert_eq!(code(&pending, other), Err(MessageCode::SignInOtherIssuer));
        assert_eq!(code(&pending, answer(None, None, Some("access_denied"))), Err(MessageCode::SignInDenied));
        assert_eq!(code(&pending, answer(Some("x"), None, Some("<b>bad</b>"))), Err(MessageCode::SignInRefused));
        assert_eq!(code(&pending, answer(None, None, None)), Err(MessageCode::SignInRefused));
        pending.server.token_endpoint = "https://b.example/token".into();
        assert_eq!(code(&pending, answer(Some("x"), None, None)), Ok("x".to_owned()));
        assert_eq!(pending.other_token_host().as_deref(), Some("b.example"));
        pending.server.authorization_endpoint = "https://c.example/authorize".into();
        assert_eq!(code(&pending, answer(Some("x"), None, None)), Err(MessageCode::SignInOtherIssuer));
        assert_eq!(code(&pending, answer(Some("x"), Some("https://a.example"), None)), Ok("x".to_owned()));
        pending.server.authorization_endpoint = "https://a.example/authorize".into();
        pending.server.authorization_response_iss_parameter_supported = true;
        assert_eq!(code(&pending, answer(Some("x"), None, None)), Err(MessageCode::SignInOtherIssuer));
    }
}
