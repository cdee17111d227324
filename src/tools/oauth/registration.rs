//! The client as an authorization server knows it: configured by a person, a client ID metadata document, or dynamic
//! registration (RFC 7591).

use chrono::{DateTime, Utc};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::http::{SentBody, SignInClient, error_code};
use super::metadata::{ServerMetadata, host_name};
use turnleaf_domain::{CodedMessage, MessageCode, limits};

/// The name of this program at authorization servers.
pub const CLIENT_NAME: &str = "Turnleaf";

/// The method by which the client authenticates itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthMethod {
    /// A public client: only its id is sent.
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

/// The credentials of the client. They are stored encrypted; there is no `Debug`, because of the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthClient {
    pub id: String,
    pub secret: Option<String>,
    pub auth_method: ClientAuthMethod,
    /// The redirect address that it was registered with.
    pub redirect_uri: String,
    /// The expiry of its secret.
    pub expires_at: Option<DateTime<Utc>>,
}

impl OAuthClient {
    /// Returns a client that a person registered.
    pub fn configured(id: &str, secret: Option<&str>, redirect_uri: &str, server: &ServerMetadata) -> Self {
        let auth_method = match secret {
            None => ClientAuthMethod::None,
            Some(_) => secret_method(server),
        };
        let secret = secret.map(str::to_owned);
        Self { id: id.to_owned(), secret, auth_method, redirect_uri: redirect_uri.to_owned(), expires_at: None }
    }

    /// Returns the client that is known by the address of its metadata document.
    pub fn from_document(url: &str, redirect_uri: &str) -> Self {
        Self {
            id: url.to_owned(),
            secret: None,
            auth_method: ClientAuthMethod::None,
            redirect_uri: redirect_uri.to_owned(),
            expires_at: None,
        }
    }

    /// Returns whether it can be used for a sign-in with this redirect address.
    pub fn fits(&self, redirect_uri: &str, now: DateTime<Utc>) -> bool {
        self.redirect_uri == redirect_uri && self.expires_at.is_none_or(|until| now < until)
    }
}

/// Returns the method for sending a secret that the server accepts.
fn secret_method(server: &ServerMetadata) -> ClientAuthMethod {
    match server.accepts_auth_method("client_secret_basic") {
        true => ClientAuthMethod::ClientSecretBasic,
        false => ClientAuthMethod::ClientSecretPost,
    }
}

/// Returns the metadata of the client (RFC 7591, 2).
fn client_metadata(redirect_uri: &str, auth_method: &str) -> Value {
    json!({
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": auth_method,
    })
}

/// Returns the client ID metadata document that this server publishes at `url`.
pub fn client_document(url: &str, client_uri: &str, redirect_uri: &str) -> Value {
    let mut document = client_metadata(redirect_uri, "none");
    document["client_id"] = url.into();
    document["client_uri"] = client_uri.into();
    document
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<i64>,
    token_endpoint_auth_method: Option<String>,
}

#[derive(Deserialize)]
struct RegistrationErrorResponse {
    error: String,
}

impl SignInClient {
    /// Registers the client.
    ///
    /// # Errors
    /// The sentence that says how to register it by hand, or that the server cannot be reached.
    pub async fn register(&self, server: &ServerMetadata, redirect_uri: &str) -> Result<OAuthClient, CodedMessage> {
        let issuer = Url::parse(&server.issuer).map_err(|_| CodedMessage::from(MessageCode::SignInNotOffered))?;
        let place = server.registration_endpoint.as_deref().and_then(|endpoint| Url::parse(endpoint).ok());
        let about = |code: MessageCode| code.with("host", host_name(&issuer)).with("redirect", redirect_uri);
        let place = place.ok_or_else(|| about(MessageCode::SignInNotRegistered))?;
        // A server without a list names only the default; a public client is still asked for, as the profile does.
        let has_list = server.token_endpoint_auth_methods_supported.is_some();
        let wanted = match (has_list && !server.accepts_auth_method("none"), secret_method(server)) {
            (false, _) => "none",
            (true, ClientAuthMethod::ClientSecretBasic) => "client_secret_basic",
            (true, _) => "client_secret_post",
        };
        let body = client_metadata(redirect_uri, wanted).to_string().into_bytes();
        let response = self.send(Method::POST, &place, SentBody::Json(body)).await?;
        if !response.status.is_success() {
            let error = response.parse::<RegistrationErrorResponse>().map(|refusal| error_code(&refusal.error));
            let error = error.unwrap_or_else(|| format!("HTTP {}", response.status.as_u16()));
            return Err(about(MessageCode::SignInRegistrationRefused).with("error", error));
        }
        let registered: Option<Registered> = response.parse();
        let invalid = || MessageCode::SignInMetadataInvalid.with("host", host_name(&issuer));
        read_registered(registered.ok_or_else(invalid)?, wanted, redirect_uri).ok_or_else(invalid)
    }
}

fn read_registered(registered: Registered, wanted: &str, redirect_uri: &str) -> Option<OAuthClient> {
    let is_short = |text: &str| !text.is_empty() && text.len() <= limits::SIGN_IN_VALUE_BYTES;
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    if !is_short(&registered.client_id) || secret.as_deref().is_some_and(|secret| !is_short(secret)) {
        return None;
    }
    let auth_method = match (registered.token_endpoint_auth_method.as_deref().unwrap_or(wanted), &secret) {
        ("client_secret_post", Some(_)) => ClientAuthMethod::ClientSecretPost,
        ("client_secret_basic", Some(_)) => ClientAuthMethod::ClientSecretBasic,
        ("none", _) => ClientAuthMethod::None,
        _ => return None,
    };
    // 0 means that the secret does not expire.
    let expires_at = registered.client_secret_expires_at.filter(|at| *at > 0);
    let expires_at = expires_at.and_then(|at| DateTime::from_timestamp(at, 0));
    Some(OAuthClient {
        id: registered.client_id,
        secret,
        auth_method,
        redirect_uri: redirect_uri.to_owned(),
        expires_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(value: Value) -> Option<OAuthClient> {
        read_registered(serde_json::from_value(value).ok()?, "none", "http://localhost/callback")
    }

    #[test]
    fn registration_is_read_with_its_method_and_expiry() {
        let public = registered(json!({ "client_id": "c" })).unwrap();
        assert_eq!((public.auth_method, public.expires_at), (ClientAuthMethod::None, None));
        let secret = json!({
            "client_id": "c", "client_secret": "s", "client_secret_expires_at": 0,
            "token_endpoint_auth_method": "client_secret_post",
        });
        let secret = registered(secret).unwrap();
        assert_eq!((secret.auth_method, secret.expires_at), (ClientAuthMethod::ClientSecretPost, None));
        let expiring = json!({
            "client_id": "c", "client_secret": "s", "client_secret_expires_at": 1_000,
            "token_endpoint_auth_method": "client_secret_basic",
        });
        let expiring = registered(expiring).unwrap();
        let until = expiring.expires_at.unwrap();
        assert!(expiring.fits("http://localhost/callback", until - chrono::TimeDelta::seconds(1)));
        assert!(!expiring.fits("http://localhost/callback", until));
        assert!(!public.fits("http://127.0.0.1/callback", until), "another redirect address");
        for unusable in [
            json!({ "client_id": "" }),
            json!({ "client_id": "c", "token_endpoint_auth_method": "client_secret_post" }),
            json!({ "client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "private_key_jwt" }),
        ] {
            assert!(registered(unusable.clone()).is_none(), "{unusable}");
        }
    }

    #[test]
    fn configured_secret_is_sent_as_the_server_accepts_it() {
        let server = |methods: Option<&[&str]>| ServerMetadata {
            token_endpoint_auth_methods_supported: methods
                .map(|methods| methods.iter().map(|method| (*method).to_owned()).collect()),
            ..ServerMetadata::default()
        };
        for (methods, secret, expected) in [
            (None, None, ClientAuthMethod::None),
            (None, Some("s"), ClientAuthMethod::ClientSecretBasic),
            (Some(&["client_secret_post"][..]), Some("s"), ClientAuthMethod::ClientSecretPost),
        ] {
            let client = OAuthClient::configured("c", secret, "http://localhost/", &server(methods));
            assert_eq!(client.auth_method, expected);
        }
    }
}
