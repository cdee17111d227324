//! The sign-in of people with accounts of other services (OpenID Connect Core 1.0): the discovery of identity
//! providers, and the identities that they assert. `keys` verifies signatures, `id_token` the claims.

mod id_token;
mod keys;

use chrono::{DateTime, Utc};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::time::timeout;
use url::Url;

use self::id_token::{ExpectedIdToken, IdTokenFault, authentication_time, verified_claims};
use self::keys::IssuerKeys;
use super::code_flow::PendingSignIn;
use super::http::{SentBody, SignInClient};
use super::metadata::{ServerMetadata, host_name, openid_metadata_url};
use super::tokens::bearer;
use turnleaf_domain::{CodedMessage, MessageCode, limits};

/// A verified identity of a person at an identity provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedIdentity {
    pub issuer: String,
    pub subject: String,
    /// The address, only if the provider has verified it.
    pub email: Option<String>,
    /// Suggested names for the person, the best first. No account is looked up by them.
    pub names: Vec<String>,
    /// The groups in the configured claim.
    pub groups: Vec<String>,
    /// The time at which the person authenticated at the provider, if that tells it.
    pub authenticated_at: Option<DateTime<Utc>>,
}

impl SignInClient {
    /// Finds an identity provider.
    ///
    /// # Errors
    /// The sentence why it cannot be used.
    pub async fn discover_identity_provider(&self, issuer: &Url) -> Result<ServerMetadata, CodedMessage> {
        let found: Option<ServerMetadata> = self.get(&openid_metadata_url(issuer)).await?;
        let found = found.ok_or_else(|| MessageCode::SignInMetadataInvalid.with("host", host_name(issuer)))?;
        found.check_identity_provider(issuer)?;
        Ok(found)
    }

    /// Exchanges the code of a sign-in, and verifies who it is. The keys are read each time, so that a provider may
    /// change them at any time.
    ///
    /// # Errors
    /// The sentence why nobody is signed in.
    pub async fn redeem_identity(
        &self,
        pending: &PendingSignIn,
        code: &str,
        groups_claim: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<VerifiedIdentity, CodedMessage> {
        let late = || {
            let cause = MessageCode::NoTimelyResponse.into();
            MessageCode::SignInUnreachable.with("host", pending.host()).with_cause(cause)
        };
        let redeeming = self.find_identity(pending, code, groups_claim, now);
        timeout(limits::SIGN_IN_DISCOVERY_TIME, redeeming).await.unwrap_or_else(|_| Err(late()))
    }

    async fn find_identity(
        &self,
        pending: &PendingSignIn,
        code: &str,
        groups_claim: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<VerifiedIdentity, CodedMessage> {
        let invalid = || MessageCode::SignInMetadataInvalid.with("host", pending.host());
        let tokens = self.exchange_identity_code(pending, code).await?;
        let place = pending.server.jwks_uri.as_deref().and_then(|place| Url::parse(place).ok());
        let keys: Option<IssuerKeys> = self.get(&place.ok_or_else(invalid)?).await?;
        let expected = ExpectedIdToken {
            issuer: &pending.server.issuer,
            client_id: &pending.client.id,
            nonce: pending.nonce.as_deref().unwrap_or_default(),
            authenticated_since: pending.reauthenticated_since,
            now,
        };
        let mut claims = verified_claims(&tokens.id_token, &keys.ok_or_else(invalid)?, &expected)
            .map_err(|fault| id_token_refusal(pending, fault))?;
        // The further claims are not about this sign-in.
        let authenticated_at = authentication_time(&claims);
        // Some providers have the address and the groups there only.
        let is_lacking =
            !claims.contains_key("email") || groups_claim.is_some_and(|name| claim(&claims, name).is_none());
        if is_lacking {
            self.add_user_info(pending, &tokens.access_token, &mut claims).await?;
        }
        Ok(VerifiedIdentity { authenticated_at, ..identity(&pending.server.issuer, &claims, groups_claim) })
    }

    /// Adds the claims that are not in the ID token. A provider that does not answer adds none.
    async fn add_user_info(
        &self,
        pending: &PendingSignIn,
        access_token: &SecretString,
        claims: &mut Map<String, Value>,
    ) -> Result<(), CodedMessage> {
        let place = pending.server.userinfo_endpoint.as_deref().and_then(|place| Url::parse(place).ok());
        let Some(place) = place else { return Ok(()) };
        let authorization = SentBody::Authorized(bearer(access_token).into());
        let further: Option<Map<String, Value>> = match self.send(Method::GET, &place, authorization).await {
            Ok(response) if response.status.is_success() => response.parse(),
            Ok(_) => None,
            Err(problem) => {
                tracing::warn!(code = problem.code.code(), "an identity provider did not tell more about a person");
                None
            }
        };
        let Some(further) = further else { return Ok(()) };
        // Otherwise the answer may be about somebody else (OpenID Connect Core, 5.3.2).
        if further.get("sub") != claims.get("sub") {
            return Err(id_token_refusal(pending, IdTokenFault::Subject));
        }
        add_claims(claims, further);
        Ok(())
    }
}

/// Adds further claims to those of an ID token, which stay as they are. An address of one answer is not verified by the
/// other one.
fn add_claims(claims: &mut Map<String, Value>, further: Map<String, Value>) {
    const VERIFIED: &str = "email_verified";
    let has_email = claims.contains_key("email");
    if !has_email {
        claims.remove(VERIFIED);
    }
    for (name, value) in further {
        let is_of_email = matches!(name.as_str(), "email" | VERIFIED);
        if !(is_of_email && has_email) {
            claims.entry(name).or_insert(value);
        }
    }
}

fn id_token_refusal(pending: &PendingSignIn, fault: IdTokenFault) -> CodedMessage {
    match fault {
        IdTokenFault::NoAuthenticationTime => MessageCode::AuthenticationTimeMissing.with("host", pending.host()),
        fault => MessageCode::IdTokenUnusable.with("host", pending.host()).with("error", fault.code()),
    }
}

/// Returns a claim by its name, or by its path with dots.
fn claim<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    let by_path = || {
        let mut parts = name.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    };
    claims.get(name).or_else(by_path)
}

fn identity(issuer: &str, claims: &Map<String, Value>, groups_claim: Option<&str>) -> VerifiedIdentity {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    // Some providers write the word.
    let is_verified = claims.get("email_verified").is_some_and(|value| *value == true || *value == "true");
    let is_address =
        |email: &String| email.len() <= limits::EMAIL_BYTES && email.contains('@') && !email.contains(char::is_control);
    let email = text("email").filter(is_address).filter(|_| is_verified);
    let of_email = email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(name, _)| name.to_owned());
    let names = [text("preferred_username"), of_email, text("nickname"), text("name")];
    let groups = match groups_claim.and_then(|name| claim(claims, name)) {
        Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(group)) => vec![group.as_str()],
        _ => Vec::new(),
    };
    let is_kept = |group: &&str| {
        let length = group.chars().count();
        (1..=limits::IDENTITY_GROUP_CHARS).contains(&length) && !group.contains(char::is_control)
    };
    let mut groups: Vec<String> =
        groups.into_iter().filter(is_kept).take(limits::IDENTITY_GROUPS).map(str::to_owned).collect();
    groups.sort_unstable();
    groups.dedup();
    VerifiedIdentity {
        issuer: issuer.to_owned(),
        subject: text("sub").unwrap_or_default(),
        email,
        names: names.into_iter().flatten().collect(),
        groups,
        authenticated_at: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn identity_of(claims: &Value, groups_claim: Option<&str>) -> VerifiedIdentity {
        identity("https://id.example", claims.as_object().unwrap(), groups_claim)
    }

    #[test]
    fn address_counts_only_if_it_is_verified() {
        for (claims, expected) in [
            (json!({ "email": "ann@a.example", "email_verified": true }), Some("ann@a.example")),
            (json!({ "email": "ann@a.example", "email_verified": "true" }), Some("ann@a.example")),
            (json!({ "email": "ann@a.example", "email_verified": false }), None),
            (json!({ "email": "ann@a.example", "email_verified": 1 }), None),
            (json!({ "email": "ann@a.example" }), None),
            (json!({ "email": "ann", "email_verified": true }), None),
            (json!({ "email": "ann@a.example\n", "email_verified": true }), None),
            (json!({ "email": ["ann@a.example"], "email_verified": true }), None),
        ] {
            assert_eq!(identity_of(&claims, None).email.as_deref(), expected, "{claims}");
        }
    }

    #[test]
    fn address_of_one_answer_is_not_verified_by_the_other() {
        let (address, other) = ("ann@a.example", "ann@b.example");
        for (token, further, expected) in [
            (json!({}), json!({ "email": address, "email_verified": true }), Some(address)),
            (json!({ "email_verified": true }), json!({ "email": address }), None),
            (json!({ "email_verified": true }), json!({ "email": address, "email_verified": false }), None),
            (json!({ "email": address }), json!({ "email": address, "email_verified": true }), None),
            (json!({ "email": address, "email_verified": true }), json!({ "email": other }), Some(address)),
        ] {
            let mut claims = token.as_object().unwrap().clone();
            add_claims(&mut claims, further.as_object().unwrap().clone());
            let found = identity_of(&Value::Object(claims), None);
            assert_eq!(found.email.as_deref(), expected, "{token} {further}");
        }
    }

    #[test]
    fn groups_are_those_of_the_configured_claim() {
        let claims = json!({
            "groups": ["staff", "admins", "staff", 7, "", "a\nb"],
            "one": "staff",
            "realm": { "roles": ["editor"] },
            "https://a.example/groups": ["far"],
        });
        for (name, expected) in [
            (None, &[][..]),
            (Some("groups"), &["admins", "staff"]),
            (Some("one"), &["staff"]),
            (Some("realm.roles"), &["editor"]),
            (Some("https://a.example/groups"), &["far"]),
            (Some("realm"), &[]),
            (Some("other.roles"), &[]),
        ] {
            assert_eq!(identity_of(&claims, name).groups, expected, "{name:?}");
        }
    }

    #[test]
    fn names_are_the_best_first() {
        let claims = json!({
            "sub": "0042", "name": "Ann Lee", "preferred_username": "ann", "email": "a.lee@a.example",
            "email_verified": true,
        });
        let found = identity_of(&claims, None);
        assert_eq!(
            (found.subject.as_str(), found.names),
            ("0042", ["ann", "a.lee", "Ann Lee"].map(String::from).into())
        );
    }
}
