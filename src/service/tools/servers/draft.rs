//! Validation of tool servers: each refusal names the field.

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use url::Url;

use crate::providers::Sealer;
use crate::providers::connection::{check_address, check_name};
use crate::providers::connection_facts::{CLIENT_SECRET, HEADERS};
use crate::providers::headers::{self, SecretHeaders};
use crate::tools::servers::headers::ServerSecrets;
use turnleaf_domain::{InvalidField, MessageCode, ToolServerId, UserId, limits};
use turnleaf_platform::base_url;
use turnleaf_platform::credentials::{MASKED, mask_query};
use turnleaf_platform::endpoint::is_tool_server_id;
use turnleaf_store::tools::tool_servers::{StoredToolServer, ToolServerSettings};

/// The request to connect a server.
#[derive(Debug, Clone, Default)]
pub struct NewToolServer {
    /// The id that prefixes the names of its tools; `None` derives it from the name.
    pub id: Option<String>,
    pub fields: ToolServerChange,
    /// The idempotency key, chosen by the client: one id never creates two servers.
    pub client_request_id: Option<String>,
}

/// A change of a server; `None` keeps a field.
#[derive(Debug, Clone, Default)]
pub struct ToolServerChange {
    pub name: Option<String>,
    pub url: Option<String>,
    /// Replaces all headers.
    pub headers: Option<SecretHeaders>,
    /// The client that its owner registered at its authorization server. `None` within removes it with its secret.
    pub oauth_client_id: Option<Option<String>>,
    /// Replaces the secret of that client.
    pub oauth_client_secret: Option<SecretString>,
    pub is_enabled: Option<bool>,
    pub local_network: Option<bool>,
    /// The limits in seconds; `None` within is the default.
    pub start_seconds: Option<Option<u64>>,
    pub idle_seconds: Option<Option<u64>>,
    pub total_seconds: Option<Option<u64>>,
}

impl NewToolServer {
    /// Returns the chosen id, or derives one from the name that is not in `taken`.
    pub fn slug(&self, taken: &[String]) -> Result<String, InvalidField> {
        if let Some(id) = &self.id {
            return if is_tool_server_id(id) {
                Ok(id.clone())
            } else {
                Err(InvalidField::new("id", MessageCode::ToolServerIdInvalid))
            };
        }
        Ok(derive_id(self.fields.name.as_deref().unwrap_or_default(), taken))
    }

    /// Returns the content of the request for its idempotency hash. Headers count only by name, because their values
    /// are secret.
    pub fn request_fingerprint(&self) -> Value {
        let fields = &self.fields;
        json!({
            "new": "tool_server",
            "id": self.id,
            "name": fields.name,
            "url": fields.url.as_deref().map(mask_query),
            "headers": fields.headers.as_ref().map(|all| all.iter().map(|(name, _)| name).collect::<Vec<_>>()),
            "oauth_client_id": fields.oauth_client_id,
            "is_enabled": fields.is_enabled,
            "local_network": fields.local_network,
            "limits": [fields.start_seconds, fields.idle_seconds, fields.total_seconds],
        })
    }
}

impl ToolServerChange {
    /// Returns whether a change is about a secret, or about the address that receives the secrets.
    pub fn touches_secrets(&self) -> bool {
        self.url.is_some()
            || self.headers.is_some()
            || self.oauth_client_id.is_some()
            || self.oauth_client_secret.is_some()
    }

    /// Returns the secrets that a change gives, for the audit log.
    pub(super) fn given_secrets(&self) -> Vec<&'static str> {
        let headers = self.headers.as_ref().is_some_and(|headers| !headers.is_empty()).then_some(HEADERS);
        let secret = self.oauth_client_secret.is_some().then_some(CLIENT_SECRET);
        headers.into_iter().chain(secret).collect()
    }

    /// Checks the fields that a new server requires.
    pub fn check_complete(&self) -> Result<(), InvalidField> {
        for (name, field) in [("name", &self.name), ("url", &self.url)] {
            if field.as_deref().is_none_or(|text| text.trim().is_empty()) {
                return Err(InvalidField::new(name, MessageCode::IsRequired));
            }
        }
        Ok(())
    }
}

/// Derives the id of a server from its name, so that it is valid and not in `taken`.
pub fn derive_id(name: &str, taken: &[String]) -> String {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut id: String = words.join("-").chars().take(24).collect();
    if !is_tool_server_id(&id) {
        id = "server".into();
    }
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    std::iter::once(id.clone()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or(id)
}

/// Returns the row of a new server without its fields.
pub fn empty_row(id: ToolServerId, owner: UserId, slug: String, now: DateTime<Utc>) -> StoredToolServer {
    StoredToolServer {
        id,
        owner_id: owner,
        slug,
        name: String::new(),
        url: String::new(),
        sealed_headers: None,
        settings: ToolServerSettings::default(),
        is_enabled: true,
        created_at: now,
        updated_at: now,
    }
}

/// The side effects of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolServerChangeEffects {
    /// Sentences about what was cleared.
    pub notices: Vec<String>,
    /// True when the server has another address: the policies of its tools were about other tools.
    pub has_moved: bool,
    /// True when that address has another origin: the sign-in was to another server.
    pub has_new_origin: bool,
}

fn origin(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.origin().ascii_serialization())
}

/// Changes the address of a row. Returns the secrets that stay: those of another address are cleared.
fn change_address(
    row: &mut StoredToolServer,
    url: &str,
    opened: &ServerSecrets,
    effects: &mut ToolServerChangeEffects,
) -> Result<ServerSecrets, InvalidField> {
    let url = base_url::check_endpoint(url.trim()).map_err(|reason| InvalidField::new("url", reason))?;
    if url.len() > limits::ADDRESS_CHARS {
        return Err(InvalidField::too_long("url", limits::ADDRESS_CHARS));
    }
    if url.split_once('?').is_some_and(|(_, query)| query.contains(MASKED)) {
        return Err(InvalidField::new("url", MessageCode::MaskedCredential.with("mask", MASKED)));
    }
    let before = opened.url.as_deref().unwrap_or(&row.url);
    let is_moved = base_url::canonicalize(&url) != base_url::canonicalize(before);
    let headers = if is_moved { SecretHeaders::new() } else { opened.headers.clone() };
    effects.has_moved = is_moved && !row.url.is_empty();
    effects.has_new_origin = effects.has_moved && origin(&url) != origin(before);
    let oauth_secret = opened.oauth_secret.clone().filter(|_| !effects.has_new_origin);
    if effects.has_new_origin {
        row.settings.oauth_client_id = None;
        row.settings.oauth_issuer = None;
    }
    row.url = mask_query(&url);
    Ok(ServerSecrets { url: url.contains('?').then_some(url), headers, oauth_secret })
}

/// Changes the OAuth client of a row. Returns the secrets if they change.
fn change_oauth_client(
    row: &mut StoredToolServer,
    before: &ServerSecrets,
    id: Option<Option<String>>,
    secret: Option<SecretString>,
) -> Result<Option<ServerSecrets>, InvalidField> {
    let fits = |text: &str| text.len() <= limits::SIGN_IN_VALUE_BYTES && text.bytes().all(|b| matches!(b, 0x20..=0x7e));
    let id_before = row.settings.oauth_client_id.clone();
    if let Some(id) = id {
        let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        if id.as_deref().is_some_and(|id| !fits(id)) {
            return Err(InvalidField::too_long("oauth_client_id", limits::SIGN_IN_VALUE_BYTES));
        }
        row.settings.oauth_client_id = id;
    }
    let is_other_client = row.settings.oauth_client_id != id_before;
    if is_other_client || secret.is_some() {
        row.settings.oauth_issuer = None;
    }
    match (secret, &row.settings.oauth_client_id) {
        (Some(_), None) => Err(InvalidField::new("oauth_client_secret", MessageCode::ClientSecretAlone)),
        (Some(secret), Some(_)) if !fits(secret.expose_secret()) => {
            Err(InvalidField::too_long("oauth_client_secret", limits::SIGN_IN_VALUE_BYTES))
        }
        (Some(secret), Some(_)) => Ok(Some(ServerSecrets { oauth_secret: Some(secret), ..before.clone() })),
        // The secret was that of the earlier client.
        (None, id) if (is_other_client || id.is_none()) && before.oauth_secret.is_some() => {
            Ok(Some(ServerSecrets { oauth_secret: None, ..before.clone() }))
        }
        (None, _) => Ok(None),
    }
}

/// Applies a change to a row and encrypts its secrets.
pub fn apply_change(
    row: &mut StoredToolServer,
    change: ToolServerChange,
    sealer: &Sealer,
) -> Result<ToolServerChangeEffects, InvalidField> {
    let mut effects = ToolServerChangeEffects::default();
    if let Some(name) = change.name {
        row.name = check_name(&name)?;
    }
    // Secrets that cannot be decrypted are kept as they are, unless the change replaces them.
    let opened = sealer.open_secrets(row);
    let is_sealed = opened.is_err();
    let opened = opened.unwrap_or_default();
    let (mut secrets, had_headers) = (None, !row.settings.header_names.is_empty());
    // A form sends the address back as it was shown.
    if let Some(url) = change.url.filter(|url| url.trim() != row.url) {
        secrets = Some(change_address(row, &url, &opened, &mut effects)?);
        if effects.has_moved && had_headers && change.headers.is_none() {
            effects.notices.push("The address changed, so the headers were deleted.".into());
        }
    }
    row.settings.local_network = change.local_network.unwrap_or(row.settings.local_network);
    check_address("url", &row.url, row.settings.local_network)?;
    if let Some(given) = change.headers {
        // Its masked address would take the place of the one that cannot be decrypted.
        if is_sealed && secrets.is_none() && row.url.contains(MASKED) {
            return Err(InvalidField::new("url", MessageCode::IsRequired));
        }
        let headers = headers::check_headers(given, &[])?;
        secrets = Some(ServerSecrets { headers, ..secrets.unwrap_or_else(|| opened.clone()) });
    }
    if change.oauth_client_id.is_some() || change.oauth_client_secret.is_some() {
        // The headers that cannot be decrypted would be lost.
        let is_other = change.oauth_client_id.as_ref().is_some_and(|id| *id != row.settings.oauth_client_id);
        let changes_secret = change.oauth_client_secret.is_some() || is_other && row.settings.has_oauth_secret;
        if is_sealed && secrets.is_none() && changes_secret {
            return Err(InvalidField::new("headers", MessageCode::IsRequired));
        }
        let before = secrets.clone().unwrap_or(opened);
        if let Some(changed) = change_oauth_client(row, &before, change.oauth_client_id, change.oauth_client_secret)? {
            secrets = Some(changed);
        }
    }
    row.is_enabled = change.is_enabled.unwrap_or(row.is_enabled);
    for (field, change, seconds) in [
        ("start_seconds", change.start_seconds, &mut row.settings.start_seconds),
        ("idle_seconds", change.idle_seconds, &mut row.settings.idle_seconds),
        ("total_seconds", change.total_seconds, &mut row.settings.total_seconds),
    ] {
        let Some(change) = change else { continue };
        *seconds = change
            .map(|seconds| InvalidField::check_range(field, seconds, limits::TOOL_SETTABLE_SECONDS))
            .transpose()?;
    }
    if let Some(secrets) = secrets {
        sealer.seal_secrets(row, &secrets);
    }
    Ok(effects)
}
