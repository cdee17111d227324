//! Validation of provider connections: each refusal names the field.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::secrets::{ProviderSecrets, Sealer};
use crate::providers::connection::{check_address, check_name};
use crate::providers::connection_facts::{HEADERS, KEY};
use crate::providers::headers;
use turnleaf_domain::{InvalidField, MessageCode, limits};
use turnleaf_platform::base_url;
use turnleaf_platform::endpoint::{ProviderApi, RetryPolicy, is_provider_id};
use turnleaf_providers::openai_chat::Dialect;
use turnleaf_store::providers::StoredProvider;

/// Headers that the provider client sets itself, besides those that may never be set. The API key has a field of its
/// own.
const OWN_HEADERS: [&str; 4] = ["authorization", "user-agent", "x-api-key", "x-goog-api-key"];

/// The request to create a connection.
#[derive(Debug, Clone, Default)]
pub struct NewProvider {
    /// The id that locks reference; `None` derives it from the name.
    pub id: Option<String>,
    pub fields: ProviderChange,
    /// The idempotency key, chosen by the client: one id never creates two connections.
    pub client_request_id: Option<String>,
}

/// A change of a connection; `None` keeps a field.
#[derive(Debug, Clone, Default)]
pub struct ProviderChange {
    pub name: Option<String>,
    pub api: Option<String>,
    pub dialect: Option<String>,
    pub base_url: Option<String>,
    /// `Some(None)` removes the key.
    pub key: Option<Option<SecretString>>,
    /// Replaces all extra headers.
    pub headers: Option<Vec<(String, SecretString)>>,
    pub models: Option<Vec<String>>,
    pub default_model: Option<Option<String>>,
    pub hidden_models: Option<Vec<String>>,
    pub is_enabled: Option<bool>,
    pub local_network: Option<bool>,
    pub keeps_responses: Option<bool>,
    /// `Some(None)` restores the default.
    pub retries: Option<Option<u32>>,
    pub silence_seconds: Option<Option<u32>>,
}

impl NewProvider {
    /// Returns the chosen id, or derives one from the name that is not in `taken`.
    pub fn slug(&self, taken: &[String]) -> Result<String, InvalidField> {
        if let Some(id) = &self.id {
            return if is_provider_id(id) {
                Ok(id.clone())
            } else {
                Err(InvalidField::new("id", MessageCode::ProviderIdInvalid))
            };
        }
        let name = self.fields.name.as_deref().unwrap_or_default().to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut slug: String = words.join("-").chars().take(48).collect();
        if !is_provider_id(&slug) {
            slug = "provider".into();
        }
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        Ok(std::iter::once(slug.clone()).chain(numbered).find(|slug| !taken.contains(slug)).unwrap_or(slug))
    }

    /// Returns the content of the request for its idempotency hash. Secrets count only as present or absent, so that
    /// no guessable hash of a secret is stored next to its encrypted form.
    pub fn request_fingerprint(&self) -> Value {
        let fields = &self.fields;
        json!({
            "new": "provider",
            "id": self.id,
            "name": fields.name,
            "api": fields.api,
            "dialect": fields.dialect,
            "base_url": fields.base_url,
            "key": fields.key.as_ref().map(Option::is_some),
            "headers": fields.headers.as_ref().map(|all| all.iter().map(|(name, _)| name).collect::<Vec<_>>()),
            "models": fields.models,
            "default_model": fields.default_model,
            "hidden_models": fields.hidden_models,
            "is_enabled": fields.is_enabled,
            "local_network": fields.local_network,
            "keeps_responses": fields.keeps_responses,
            "retries": fields.retries,
            "silence_seconds": fields.silence_seconds,
        })
    }
}

impl ProviderChange {
    /// Returns whether a change is about a secret, or about the address that receives the secrets.
    pub fn touches_secrets(&self) -> bool {
        self.key.is_some() || self.headers.is_some() || self.base_url.is_some()
    }

    /// Returns the secrets that a change gives, for the audit log.
    pub(super) fn given_secrets(&self) -> Vec<&'static str> {
        let key = self.key.as_ref().is_some_and(Option::is_some).then_some(KEY);
        let headers = self.headers.as_ref().is_some_and(|headers| !headers.is_empty()).then_some(HEADERS);
        key.into_iter().chain(headers).collect()
    }

    /// Checks the fields that a new connection requires.
    pub fn check_complete(&self) -> Result<(), InvalidField> {
        let is_missing = |field: &Option<String>| field.as_deref().is_none_or(|text| text.trim().is_empty());
        for (name, field) in [("name", &self.name), ("api", &self.api), ("base_url", &self.base_url)] {
            if is_missing(field) {
                return Err(InvalidField::new(name, MessageCode::IsRequired));
            }
        }
        Ok(())
    }
}

/// Applies a change to a row and encrypts its secrets. Returns notices about side effects.
pub fn apply_change(
    row: &mut StoredProvider,
    change: ProviderChange,
    sealer: &Sealer,
) -> Result<Vec<String>, InvalidField> {
    let mut notices: Vec<&str> = Vec::new();
    // A key that cannot be decrypted is lost with any change that encrypts again; other changes keep it in the row.
    let (mut secrets, is_open) = match sealer.open(row) {
        Ok(secrets) => (secrets, true),
        Err(_) => (ProviderSecrets::default(), false),
    };
    let mut reseal = false;
    if let Some(name) = change.name {
        row.name = check_name(&name)?;
    }
    if let Some(api) = change.api {
        row.kind = parse_api(&api)?.as_str().to_owned();
    }
    row.settings.keeps_responses = change.keeps_responses.unwrap_or(row.settings.keeps_responses);
    if row.settings.keeps_responses && parse_api(&row.kind)? != ProviderApi::OpenaiResponses {
        return Err(InvalidField::new("keeps_responses", MessageCode::OnlyForResponses));
    }
    if let Some(dialect) = change.dialect {
        if !dialect.is_empty() && Dialect::from_name(&dialect).is_none() {
            return Err(InvalidField::new("dialect", MessageCode::UnknownDialect.with("dialect", dialect)));
        }
        row.settings.dialect = dialect;
    }
    if let Some(url) = change.base_url {
        let url = base_url::check(url.trim()).map_err(|reason| InvalidField::new("base_url", reason))?;
        let url = parse_api(&row.kind)?.with_version_path(url);
        if base_url::canonicalize(&url) != base_url::canonicalize(&row.base_url) {
            // Secrets are bound to their address; a new address clears them.
            secrets = ProviderSecrets::default();
            reseal = true;
            let loses_key = row.settings.has_key && change.key.is_none();
            let loses_headers = !row.settings.header_names.is_empty() && change.headers.is_none();
            notices.extend(cleared_with_address(loses_key, loses_headers));
            row.base_url = url;
        }
    }
    row.settings.local_network = change.local_network.unwrap_or(row.settings.local_network);
    check_address("base_url", &row.base_url, row.settings.local_network)?;
    if let Some(key) = change.key {
        secrets.key = key.map(check_key).transpose()?;
        reseal = true;
    }
    if let Some(headers) = change.headers {
        secrets.headers = headers::check_headers(headers, &OWN_HEADERS)?;
        reseal = true;
    }
    if let Some(models) = change.models {
        row.settings.models = check_models("models", models)?;
    }
    if let Some(model) = change.default_model {
        row.settings.default_model = model.map(|model| check_model("default_model", &model)).transpose()?;
    }
    if let Some(models) = change.hidden_models {
        row.settings.hidden_models = check_models("hidden_models", models)?;
    }
    row.settings.retries = change.retries.unwrap_or(row.settings.retries);
    row.settings.silence_seconds = change.silence_seconds.unwrap_or(row.settings.silence_seconds);
    RetryPolicy::new(row.settings.retries, row.settings.silence_seconds)?;
    row.is_enabled = change.is_enabled.unwrap_or(row.is_enabled);
    if reseal {
        if !is_open && row.sealed_key.is_some() {
            notices.push("The stored key or headers could not be decrypted and were replaced.");
        }
        sealer.seal(row, &secrets);
    }
    Ok(notices.into_iter().map(str::to_owned).collect())
}

/// Returns the notice about secrets that were cleared with their address.
fn cleared_with_address(loses_key: bool, loses_headers: bool) -> Option<&'static str> {
    match (loses_key, loses_headers) {
        (true, true) => Some("The address changed, so the API key and the extra headers were deleted."),
        (true, false) => Some("The address changed, so the API key was deleted."),
        (false, true) => Some("The address changed, so the extra headers were deleted."),
        (false, false) => None,
    }
}

/// Parses the name of an API.
pub fn parse_api(name: &str) -> Result<ProviderApi, InvalidField> {
    let known = || ProviderApi::ALL.iter().map(|api| api.as_str()).collect::<Vec<_>>().join(", ");
    ProviderApi::from_name(name).ok_or_else(|| InvalidField::new("api", MessageCode::NotOneOf.with("choices", known())))
}

pub(crate) fn check_key(key: SecretString) -> Result<SecretString, InvalidField> {
    let text = key.expose_secret().trim();
    let is_sendable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > limits::PROVIDER_KEY_BYTES || !is_sendable {
        return Err(InvalidField::new("key", MessageCode::KeyInvalid));
    }
    Ok(SecretString::from(text))
}

/// Validates the name of a model.
pub fn check_model(field: &str, model: &str) -> Result<String, InvalidField> {
    let model = model.trim();
    if model.is_empty() || model.chars().count() > limits::TITLE_CHARS || model.chars().any(char::is_control) {
        return Err(InvalidField::new(field, MessageCode::ModelNameInvalid.with("most", limits::TITLE_CHARS)));
    }
    Ok(model.to_owned())
}

fn check_models(field: &str, models: Vec<String>) -> Result<Vec<String>, InvalidField> {
    if models.len() > limits::PROVIDER_MODELS {
        return Err(InvalidField::new(field, MessageCode::TooMany.with("most", limits::PROVIDER_MODELS)));
    }
    let mut checked: Vec<String> = Vec::new();
    for model in models {
        let model = check_model(field, &model)?;
        if !checked.contains(&model) {
            checked.push(model);
        }
    }
    Ok(checked)
}
