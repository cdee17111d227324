//! The configured identity providers, with whose accounts people sign in (OpenID Connect): one from the environment
//! (`TURNLEAF_OIDC_…`), and the `[[identity_providers]]` tables of the file.

use std::collections::BTreeSet;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::base_url;
use crate::config::ConfigError;
use crate::config::environment::{Environment, parse_list};
use crate::config::file::IdentityProviderEntry;
use crate::config::security::is_loopback_host;
use crate::config::tool_servers::secret;
use turnleaf_domain::limits;

/// The id of the provider of the environment.
const ID_OF_ENVIRONMENT: &str = "oidc";
const ISSUER: &str = "TURNLEAF_OIDC_ISSUER";
const CLIENT_ID: &str = "TURNLEAF_OIDC_CLIENT_ID";
const CLIENT_SECRET: &str = "TURNLEAF_OIDC_CLIENT_SECRET";
const NAME: &str = "TURNLEAF_OIDC_NAME";
const SCOPES: &str = "TURNLEAF_OIDC_SCOPES";
const ALLOWED_DOMAINS: &str = "TURNLEAF_OIDC_ALLOWED_DOMAINS";
const GROUPS_CLAIM: &str = "TURNLEAF_OIDC_GROUPS_CLAIM";

/// The scope that every request has: without it the answer has no ID token.
const OPENID: &str = "openid";
const USUAL_SCOPES: [&str; 3] = [OPENID, "email", "profile"];

/// An identity provider.
#[derive(Debug, Clone)]
pub struct IdentityProviderConfig {
    /// The id, which is a part of the address to which the provider sends people back.
    pub id: String,
    /// The name on its button.
    pub name: String,
    pub issuer: Url,
    pub client_id: String,
    pub client_secret: Option<SecretString>,
    /// The requested scopes; `openid` is among them.
    pub scopes: Vec<String>,
    /// People with a verified address of one of these domains get an account at their first sign-in. If empty, nobody
    /// does.
    pub allowed_domains: Vec<String>,
    /// The claim with the groups of a person.
    pub groups_claim: Option<String>,
}

/// The values of a provider before they are validated.
struct GivenProvider<'a> {
    id: String,
    /// The setting, for error messages.
    named: &'a dyn Fn(&str) -> String,
    name: Option<String>,
    issuer: String,
    client_id: String,
    client_secret: Option<SecretString>,
    scopes: Option<Vec<String>>,
    allowed_domains: Vec<String>,
    groups_claim: Option<String>,
}

/// Reads and validates the providers.
///
/// # Errors
/// A missing or invalid value, two providers with one id or one issuer, and too many providers.
pub fn read(
    entries: Vec<IdentityProviderEntry>,
    environment: &Environment,
) -> Result<Vec<IdentityProviderConfig>, ConfigError> {
    let mut providers: Vec<IdentityProviderConfig> = from_environment(environment)?.into_iter().collect();
    for entry in entries {
        providers.push(from_entry(entry, environment)?);
    }
    if providers.len() > limits::IDENTITY_PROVIDERS {
        return Err(ConfigError::new(format!("at most {} identity_providers are allowed", limits::IDENTITY_PROVIDERS)));
    }
    let (mut ids, mut issuers) = (BTreeSet::new(), BTreeSet::new());
    for provider in &providers {
        if !ids.insert(&provider.id) {
            return Err(ConfigError::new(format!("two identity providers have the id `{}`", provider.id)));
        }
        // An account is linked to an issuer, whichever button leads there.
        if !issuers.insert(&provider.issuer) {
            return Err(ConfigError::new(format!("two identity providers have the issuer {}", provider.issuer)));
        }
    }
    Ok(providers)
}

fn from_environment(environment: &Environment) -> Result<Option<IdentityProviderConfig>, ConfigError> {
    let client_secret = environment.secret(CLIENT_SECRET)?;
    let others = [CLIENT_ID, NAME, SCOPES, ALLOWED_DOMAINS, GROUPS_CLAIM];
    let Some(issuer) = environment.text_owned(ISSUER) else {
        let set = others.into_iter().find(|name| environment.text(name).is_some());
        return match set.or(client_secret.map(|_| CLIENT_SECRET)) {
            Some(name) => Err(ConfigError::new(format!("{name} needs {ISSUER}, which is not set"))),
            None => Ok(None),
        };
    };
    let client_id = environment.text_owned(CLIENT_ID);
    let named = |field: &str| {
        let name = match field {
            "issuer" => ISSUER,
            "client_id" => CLIENT_ID,
            "client_secret" => CLIENT_SECRET,
            "name" => NAME,
            "scopes" => SCOPES,
            "allowed_domains" => ALLOWED_DOMAINS,
            _ => GROUPS_CLAIM,
        };
        name.to_owned()
    };
    checked(GivenProvider {
        id: ID_OF_ENVIRONMENT.to_owned(),
        named: &named,
        name: environment.text_owned(NAME),
        issuer,
        client_id: client_id
            .ok_or_else(|| ConfigError::new(format!("{ISSUER} needs {CLIENT_ID}, which is not set")))?,
        client_secret,
        scopes: environment.text(SCOPES).map(parse_list),
        allowed_domains: environment.text(ALLOWED_DOMAINS).map(parse_list).unwrap_or_default(),
        groups_claim: environment.text_owned(GROUPS_CLAIM),
    })
    .map(Some)
}

fn from_entry(entry: IdentityProviderEntry, environment: &Environment) -> Result<IdentityProviderConfig, ConfigError> {
    let id = entry.id;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !(1..=32).contains(&id.len()) || !id.bytes().all(is_plain) {
        return Err(ConfigError::new(format!(
            "an identity provider id must be 1 to 32 of a-z, 0-9 and -, but is: `{id}`"
        )));
    }
    let of = id.clone();
    let named = |field: &str| format!("{field} of identity provider `{of}`");
    let client_secret = entry.client_secret.map(|value| secret(value, environment, || named("client_secret")));
    checked(GivenProvider {
        id,
        named: &named,
        name: entry.name,
        issuer: entry.issuer,
        client_id: entry.client_id,
        client_secret: client_secret.transpose()?,
        scopes: entry.scopes,
        allowed_domains: entry.allowed_domains,
        groups_claim: entry.groups_claim,
    })
}

fn checked(given: GivenProvider<'_>) -> Result<IdentityProviderConfig, ConfigError> {
    let wrong = |field: &str, problem: &str| ConfigError::new(format!("{} {problem}", (given.named)(field)));
    let issuer = checked_issuer(&given.issuer).map_err(|problem| wrong("issuer", &problem))?;
    let is_short = |text: &str| !text.is_empty() && text.len() <= limits::IDENTITY_SETTING_BYTES;
    let is_sendable = |text: &str| is_short(text) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sendable(&given.client_id) {
        return Err(wrong("client_id", "must be visible ASCII characters"));
    }
    if given.client_secret.as_ref().is_some_and(|secret| !is_short(secret.expose_secret())) {
        return Err(wrong("client_secret", "is empty or too long"));
    }
    let mut scopes = given.scopes.unwrap_or_else(|| USUAL_SCOPES.map(str::to_owned).into());
    if let Some(scope) = scopes.iter().find(|scope| !is_sendable(scope) || scope.contains(['"', '\\'])) {
        return Err(wrong("scopes", &format!("contain `{scope}`, which is not a scope")));
    }
    if !scopes.iter().any(|scope| scope == OPENID) {
        scopes.insert(0, OPENID.to_owned());
    }
    let mut allowed_domains = Vec::with_capacity(given.allowed_domains.len());
    for domain in given.allowed_domains {
        let lower = domain.trim_start_matches('@').to_ascii_lowercase();
        let is_in_domain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
        if !is_short(&lower) || !lower.bytes().all(is_in_domain) || lower.starts_with('.') || lower.ends_with('.') {
            return Err(wrong(
                "allowed_domains",
                &format!("contain `{domain}`, which is not a domain without patterns"),
            ));
        }
        allowed_domains.push(lower);
    }
    if given.groups_claim.as_deref().is_some_and(|claim| !is_short(claim)) {
        return Err(wrong("groups_claim", "is empty or too long"));
    }
    let name = given.name.unwrap_or_else(|| issuer.host_str().unwrap_or(&given.id).to_owned());
    let is_one_line = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if !is_one_line || name.chars().count() > limits::IDENTITY_PROVIDER_NAME_CHARS {
        let most = limits::IDENTITY_PROVIDER_NAME_CHARS;
        return Err(wrong("name", &format!("must be 1 to {most} characters on one line")));
    }
    Ok(IdentityProviderConfig {
        id: given.id,
        name,
        issuer,
        client_id: given.client_id,
        client_secret: given.client_secret,
        scopes,
        allowed_domains,
        groups_claim: given.groups_claim,
    })
}

/// Validates an issuer: codes and keys of a provider must not travel in the clear, except on this machine.
fn checked_issuer(text: &str) -> Result<Url, String> {
    let parsed = base_url::check_endpoint(text).and_then(|text| base_url::parse(&text));
    let issuer = parsed.map_err(|what| what.template().to_owned())?;
    if issuer.query().is_some() || text.len() > limits::IDENTITY_SETTING_BYTES {
        return Err("must be an address without a query".to_owned());
    }
    if issuer.scheme() != "https" && !is_loopback_host(base_url::host_and_port(issuer.as_str())) {
        return Err("must begin with https://".to_owned());
    }
    Ok(issuer)
}
