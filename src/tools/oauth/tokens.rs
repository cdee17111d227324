//! Tokens: exchanged for a code, renewed, and revoked (RFC 6749, RFC 7009).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use url::{Url, form_urlencoded};

use super::code_flow::PendingSignIn;
use super::discovery::split_scopes;
use super::http::{SentBody, SignInClient, error_code, status_error};
use super::metadata::{ServerMetadata, host_name};
use super::registration::{ClientAuthMethod, OAuthClient};
use turnleaf_domain::{CodedMessage, MessageCode, limits};

/// The tokens of one person for one tool server, with what renews them. They are stored encrypted; there is no
/// `Debug`, because of the tokens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSet {
    pub access_token: String,
    pub refresh_token: Option<String>,
    pub expires_at: Option<DateTime<Utc>>,
    /// The granted scopes.
    pub scopes: Vec<String>,
    pub resource: String,
    pub server: ServerMetadata,
    pub client: OAuthClient,
}

/// The errors after which the same request cannot succeed (RFC 6749, 5.2; RFC 8707, 2).
const FINAL_ERRORS: [&str; 6] = [
    "invalid_grant",
    "invalid_client",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
];

/// The reason why tokens were not renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewalError {
    /// The authorization server refuses the refresh token or the client: the person has to sign in again.
    Refused,
    /// It could not be asked; the refresh token stays valid.
    Unavailable(CodedMessage),
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    token_type: String,
    refresh_token: Option<String>,
    /// A number, which some servers send as text.
    expires_in: Option<serde_json::Value>,
    scope: Option<String>,
    id_token: Option<String>,
}

/// The tokens of an identity provider. They are not stored.
pub(super) struct IdentityTokens {
    pub id_token: String,
    pub access_token: SecretString,
}

#[derive(Deserialize)]
struct TokenErrorResponse {
    error: String,
}

impl TokenSet {
    /// Returns the access token as a secret.
    pub fn access_secret(&self) -> SecretString {
        self.access_token.as_str().into()
    }

    /// Returns everything that must not be shown or exported.
    pub fn secrets(&self) -> Vec<SecretString> {
        let all = [Some(&self.access_token), self.refresh_token.as_ref(), self.client.secret.as_ref()];
        all.into_iter().flatten().map(|secret| secret.as_str().into()).collect()
    }

    /// Returns the host of the issuer, for messages.
    fn host(&self) -> String {
        Url::parse(&self.server.issuer).as_ref().map(host_name).unwrap_or_default()
    }

    /// Returns whether the access token expires within the time in which it is renewed.
    pub fn is_expiring(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|until| now + limits::TOKEN_RENEWED_BEFORE >= until)
    }
}

impl SignInClient {
    /// Exchanges the code of a sign-in for tokens.
    ///
    /// # Errors
    /// The sentence why there are none.
    pub async fn exchange_code(
        &self,
        pending: &PendingSignIn,
        code: &str,
        now: DateTime<Utc>,
    ) -> Result<TokenSet, CodedMessage> {
        let response = self.redeem_code(pending, code).await?;
        let unusable = || MessageCode::SignInTokenUnusable.with("host", pending.host());
        let known = TokenSet {
            access_token: String::new(),
            refresh_token: None,
            expires_at: None,
            scopes: pending.scopes.clone(),
            resource: pending.resource.clone(),
            server: pending.server.clone(),
            client: pending.client.clone(),
        };
        read_tokens(response, known, now).ok_or_else(unusable)
    }

    /// Exchanges the code of a sign-in at an identity provider.
    ///
    /// # Errors
    /// The sentence why there is no ID token.
    pub(super) async fn exchange_identity_code(
        &self,
        pending: &PendingSignIn,
        code: &str,
    ) -> Result<IdentityTokens, CodedMessage> {
        let response = self.redeem_code(pending, code).await?;
        let tokens = response.filter(|response| is_sendable(&response.access_token)).and_then(|response| {
            let id_token = response.id_token.filter(|token| is_sendable(token))?;
            Some(IdentityTokens { id_token, access_token: response.access_token.into() })
        });
        tokens.ok_or_else(|| MessageCode::SignInTokenUnusable.with("host", pending.host()))
    }

    async fn redeem_code(&self, pending: &PendingSignIn, code: &str) -> Result<Option<TokenResponse>, CodedMessage> {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", pending.client.redirect_uri.as_str()),
            ("code_verifier", pending.verifier.as_str()),
        ];
        if !pending.resource.is_empty() {
            fields.push(("resource", pending.resource.as_str()));
        }
        let refused = |error: &str| MessageCode::SignInRefused.with("host", pending.host()).with("error", error);
        let response = self.request_tokens(&pending.server, &pending.client, &fields).await;
        response.map_err(|error| match error {
            TokenError::Refused(error) => refused(&error),
            TokenError::Unavailable(message) => message,
        })
    }

    /// Renews the tokens with their refresh token. What the response leaves out stays as it is.
    ///
    /// # Errors
    /// See [`RenewalError`]. Tokens without a refresh token are refused.
    pub async fn renew(&self, tokens: &TokenSet, now: DateTime<Utc>) -> Result<TokenSet, RenewalError> {
        let Some(refresh_token) = &tokens.refresh_token else { return Err(RenewalError::Refused) };
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.as_str()),
            ("resource", &tokens.resource),
        ];
        let response = self.request_tokens(&tokens.server, &tokens.client, &fields).await;
        let response = response.map_err(|error| match error {
            TokenError::Refused(error) if FINAL_ERRORS.contains(&error.as_str()) => RenewalError::Refused,
            TokenError::Refused(error) => {
                RenewalError::Unavailable(MessageCode::SignInRefused.with("host", tokens.host()).with("error", error))
            }
            TokenError::Unavailable(message) => RenewalError::Unavailable(message),
        })?;
        // A proxy may answer for an overloaded server, so an unusable answer does not end the sign-in.
        let unusable = || RenewalError::Unavailable(MessageCode::SignInTokenUnusable.with("host", tokens.host()));
        read_tokens(response, tokens.clone(), now).ok_or_else(unusable)
    }

    /// Revokes the refresh token, with which the server revokes the access token too, or else the access token.
    ///
    /// # Errors
    /// The sentence why they are not revoked. A server without this endpoint revokes nothing.
    pub async fn revoke(&self, tokens: &TokenSet) -> Result<(), CodedMessage> {
        let Some(place) = tokens.server.revocation_endpoint.as_deref().and_then(|place| Url::parse(place).ok()) else {
            return Ok(());
        };
        let (token, hint) = match &tokens.refresh_token {
            Some(token) => (token, "refresh_token"),
            None => (&tokens.access_token, "access_token"),
        };
        let body = client_form(&tokens.client, &[("token", token), ("token_type_hint", hint)]);
        let response = self.send(Method::POST, &place, body).await?;
        if response.status.is_success() { Ok(()) } else { Err(status_error(&place, response.status)) }
    }

    async fn request_tokens(
        &self,
        server: &ServerMetadata,
        client: &OAuthClient,
        fields: &[(&str, &str)],
    ) -> Result<Option<TokenResponse>, TokenError> {
        let place = Url::parse(&server.token_endpoint)
            .map_err(|_| TokenError::Unavailable(MessageCode::SignInNotOffered.into()))?;
        let response = self.send(Method::POST, &place, client_form(client, fields)).await;
        let response = response.map_err(TokenError::Unavailable)?;
        let status = response.status;
        if status.is_success() {
            return Ok(response.parse());
        }
        let refusal = response.parse::<TokenErrorResponse>().filter(|_| [400, 401, 403].contains(&status.as_u16()));
        match refusal {
            // These two are not about the request.
            Some(TokenErrorResponse { error })
                if !["temporarily_unavailable", "server_error"].contains(&error.as_str()) =>
            {
                Err(TokenError::Refused(error_code(&error)))
            }
            _ => Err(TokenError::Unavailable(status_error(&place, status))),
        }
    }
}

enum TokenError {
    /// The code of an error that the server names.
    Refused(String),
    Unavailable(CodedMessage),
}

/// Returns a form with the credentials of the client.
fn client_form(client: &OAuthClient, fields: &[(&str, &str)]) -> SentBody {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    let secret = client.secret.as_deref().unwrap_or_default();
    let credentials = match client.auth_method {
        ClientAuthMethod::None => {
            form.append_pair("client_id", &client.id);
            None
        }
        ClientAuthMethod::ClientSecretPost => {
            form.append_pair("client_id", &client.id).append_pair("client_secret", secret);
            None
        }
        ClientAuthMethod::ClientSecretBasic => {
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(&client.id), encoded(secret));
            Some(SecretString::from(format!("Basic {}", STANDARD.encode(pair))))
        }
    };
    SentBody::Form(form.finish(), credentials)
}

/// Reads a response over the tokens that it replaces. `None` if the token cannot be sent as `Bearer`.
fn read_tokens(response: Option<TokenResponse>, known: TokenSet, now: DateTime<Utc>) -> Option<TokenSet> {
    let response = response.filter(|response| response.token_type.eq_ignore_ascii_case("bearer"))?;
    if !is_sendable(&response.access_token) {
        return None;
    }
    let refresh_token = response.refresh_token.filter(|token| is_sendable(token));
    let seconds = response.expires_in.and_then(|value| value.as_f64().or_else(|| value.as_str()?.parse().ok()));
    let lifetime = seconds
        .filter(|seconds| (0.0..1e10).contains(seconds))
        .and_then(|seconds: f64| TimeDelta::from_std(std::time::Duration::from_secs_f64(seconds)).ok());
    Some(TokenSet {
        access_token: response.access_token,
        refresh_token: refresh_token.or(known.refresh_token),
        expires_at: lifetime.and_then(|lifetime| now.checked_add_signed(lifetime)),
        scopes: response.scope.map_or(known.scopes, |scope| split_scopes(&scope)),
        resource: known.resource,
        server: known.server,
        client: known.client,
    })
}

/// Returns whether a token consists of visible ASCII, as a header and RFC 6749 require.
fn is_sendable(token: &str) -> bool {
    (1..=limits::SIGN_IN_VALUE_BYTES).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the value of `Authorization` for an access token.
pub fn bearer(token: &SecretString) -> String {
    format!("Bearer {}", token.expose_secret())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn known() -> TokenSet {
        TokenSet {
            access_token: "old".into(),
            refresh_token: Some("refresh".into()),
            expires_at: None,
            scopes: vec!["a".into()],
            resource: "https://x.example".into(),
            server: ServerMetadata::default(),
            client: OAuthClient::from_document("c d", "http://localhost/"),
        }
    }

    fn read(response: Value, now: DateTime<Utc>) -> Option<TokenSet> {
        read_tokens(serde_json::from_value(response).ok(), known(), now)
    }

    #[test]
    fn response_replaces_only_what_it_names() {
        let now = DateTime::from_timestamp(1_000, 0).unwrap();
        let short = read(json!({ "access_token": "new", "token_type": "bearer" }), now).unwrap();
        assert_eq!((&*short.access_token, short.refresh_token.as_deref()), ("new", Some("refresh")));
        assert_eq!((short.expires_at, short.scopes), (None, vec!["a".to_owned()]));
        let rotated = json!({
            "access_token": "new", "token_type": "Bearer", "refresh_token": "next", "expires_in": "90", "scope": "b",
        });
        let rotated = read(rotated, now).unwrap();
        assert_eq!(rotated.refresh_token.as_deref(), Some("next"));
        assert_eq!(rotated.scopes, ["b"]);
        assert!(!rotated.is_expiring(now + TimeDelta::seconds(29)));
        assert!(rotated.is_expiring(now + TimeDelta::seconds(30)));
        for unusable in [
            json!({ "access_token": "new", "token_type": "DPoP" }),
            json!({ "access_token": "", "token_type": "Bearer" }),
            json!({ "access_token": "a\r\nb", "token_type": "Bearer" }),
            json!({ "token_type": "Bearer" }),
        ] {
            assert!(read(unusable.clone(), now).is_none(), "{unusable}");
        }
        for odd in [json!(-1), json!(1e300), json!("soon"), json!(null)] {
            let odd = json!({ "access_token": "new", "token_type": "Bearer", "expires_in": odd });
            assert_eq!(read(odd, now).unwrap().expires_at, None);
        }
    }

    #[test]
    fn credentials_are_sent_by_the_method_of_the_client() {
        let client = |auth_method| OAuthClient { secret: Some("s:1".into()), auth_method, ..known().client };
        for (method, form, header) in [
            (ClientAuthMethod::None, "a=b&client_id=c+d", None),
            (ClientAuthMethod::ClientSecretPost, "a=b&client_id=c+d&client_secret=s%3A1", None),
            (ClientAuthMethod::ClientSecretBasic, "a=b", Some("Basic YytkOnMlM0Ex")),
        ] {
            let SentBody::Form(sent, credentials) = client_form(&client(method), &[("a", "b")]) else {
                panic!("not a form");
            };
            assert_eq!(sent, form);
            assert_eq!(credentials.as_ref().map(|sent| sent.expose_secret()), header);
        }
    }
}
