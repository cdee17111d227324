//! The ID token (OpenID Connect Core, 2): a JSON Web Token whose signature and claims are verified before anything else
//! reads them (3.1.3.7).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::keys::{IssuerKeys, SigningAlgorithm};
use turnleaf_domain::limits;

/// The claim with the time at which the person authenticated.
const AUTH_TIME: &str = "auth_time";

/// The expected values of an ID token's claims.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpectedIdToken<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    /// The nonce of this sign-in.
    pub(super) nonce: &'a str,
    /// The earliest time at which the person may have authenticated, if they were asked to do so again.
    pub(super) authenticated_since: Option<DateTime<Utc>>,
    pub(super) now: DateTime<Utc>,
}

/// The reason why an ID token is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdTokenFault {
    Malformed,
    Algorithm,
    Signature,
    Issuer,
    Audience,
    Expired,
    NotYetValid,
    Nonce,
    /// The person did not authenticate again.
    Authentication,
    /// The provider does not say whether they did.
    NoAuthenticationTime,
    Subject,
}

impl IdTokenFault {
    /// Returns its code, which the refusal names.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed_token",
            Self::Algorithm => "wrong_algorithm",
            Self::Signature => "wrong_signature",
            Self::Issuer => "wrong_issuer",
            Self::Audience => "wrong_audience",
            Self::Expired => "expired_token",
            Self::NotYetValid => "token_of_the_future",
            Self::Nonce => "wrong_nonce",
            Self::Authentication => "old_authentication",
            Self::NoAuthenticationTime => "no_authentication_time",
            Self::Subject => "wrong_subject",
        }
    }
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
    /// Extensions that a reader has to understand (RFC 7515, 4.1.11). There is none that we do.
    crit: Option<Value>,
}

/// Verifies a token, and returns its claims.
///
/// # Errors
/// The first fault. The claims of a token with a wrong signature are not read.
pub(super) fn verified_claims(
    token: &str,
    keys: &IssuerKeys,
    expected: &ExpectedIdToken<'_>,
) -> Result<Map<String, Value>, IdTokenFault> {
    let (message, signature) = token.rsplit_once('.').ok_or(IdTokenFault::Malformed)?;
    let (header, claims) = message.split_once('.').ok_or(IdTokenFault::Malformed)?;
    let header: TokenHeader = serde_json::from_slice(&decoded(header)?).map_err(|_| IdTokenFault::Malformed)?;
    let algorithm = SigningAlgorithm::parse(&header.alg).filter(|_| header.crit.is_none());
    let algorithm = algorithm.ok_or(IdTokenFault::Algorithm)?;
    let signature = decoded(signature)?;
    if !keys.verify(algorithm, header.kid.as_deref(), (message.as_bytes(), &signature)) {
        return Err(IdTokenFault::Signature);
    }
    let claims: Map<String, Value> = serde_json::from_slice(&decoded(claims)?).map_err(|_| IdTokenFault::Malformed)?;
    check_claims(&claims, expected)?;
    Ok(claims)
}

fn decoded(part: &str) -> Result<Vec<u8>, IdTokenFault> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| IdTokenFault::Malformed)
}

fn check_claims(claims: &Map<String, Value>, expected: &ExpectedIdToken<'_>) -> Result<(), IdTokenFault> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(expected.issuer) {
        return Err(IdTokenFault::Issuer);
    }
    if !is_for_client(claims, expected.client_id) {
        return Err(IdTokenFault::Audience);
    }
    let (now, skew) = (expected.now, limits::ISSUER_CLOCK_SKEW);
    if moment(claims, "exp").ok_or(IdTokenFault::Malformed)? <= now - skew {
        return Err(IdTokenFault::Expired);
    }
    let issued_at = moment(claims, "iat").ok_or(IdTokenFault::Malformed)?;
    if issued_at.max(moment(claims, "nbf").unwrap_or(issued_at)) > now + skew {
        return Err(IdTokenFault::NotYetValid);
    }
    if expected.nonce.is_empty() || text("nonce") != Some(expected.nonce) {
        return Err(IdTokenFault::Nonce);
    }
    if let Some(since) = expected.authenticated_since {
        // A request with `max_age` requires the claim (3.1.2.1). A provider without it may not have asked the person.
        claims.get(AUTH_TIME).filter(|time| !time.is_null()).ok_or(IdTokenFault::NoAuthenticationTime)?;
        if authentication_time(claims).ok_or(IdTokenFault::Malformed)? < since - skew {
            return Err(IdTokenFault::Authentication);
        }
    }
    match text("sub") {
        Some(subject) if is_subject(subject) => Ok(()),
        _ => Err(IdTokenFault::Subject),
    }
}

/// Returns whether a token is for this client alone, or was made for it among others.
fn is_for_client(claims: &Map<String, Value>, client_id: &str) -> bool {
    let party = claims.get("azp");
    let is_own_party = party.is_some_and(|party| party == client_id);
    match claims.get("aud") {
        Some(Value::String(audience)) => audience == client_id && (party.is_none() || is_own_party),
        Some(Value::Array(audience)) => {
            let is_alone = audience.len() == 1 && party.is_none();
            audience.iter().any(|one| one == client_id) && (is_alone || is_own_party)
        }
        _ => false,
    }
}

/// Returns when the person authenticated at the provider, if that tells it.
pub(super) fn authentication_time(claims: &Map<String, Value>) -> Option<DateTime<Utc>> {
    moment(claims, AUTH_TIME)
}

/// Returns a time in seconds since the epoch, of which some providers write fractions.
fn moment(claims: &Map<String, Value>, name: &str) -> Option<DateTime<Utc>> {
    let seconds = claims.get(name)?;
    // The cast saturates, and no time is so far away.
    let seconds = seconds.as_i64().or_else(|| seconds.as_f64().map(|seconds| seconds as i64))?;
    DateTime::from_timestamp(seconds, 0)
}

fn is_subject(subject: &str) -> bool {
    (1..=limits::SUBJECT_BYTES).contains(&subject.len()) && !subject.contains(char::is_control)
}

#[cfg(test)]
mod tests;
