//! What a person says about a server of tools, checked: every refusal names the field.

use serde_json::{Value, json};

use crate::providers::Sealer;
use crate::providers::connection::{check_address, check_name};
use crate::providers::headers::{self, SecretHeaders};
use turnleaf_domain::{InvalidField, limits};
use turnleaf_platform::base_url;
use turnleaf_platform::endpoint::is_tool_server_id;
use turnleaf_store::tool_servers::StoredToolServer;

/// A server to connect.
#[derive(Debug, Clone, Default)]
pub struct NewToolServer {
    /// What its tools are named after; made of the name when absent.
    pub id: Option<String>,
    pub fields: ToolServerChange,
    /// Made by the client: the same id never makes two servers.
    pub client_request_id: Option<String>,
}

/// What to change; absent fields stay as they are.
#[derive(Debug, Clone, Default)]
pub struct ToolServerChange {
    pub name: Option<String>,
    pub url: Option<String>,
    /// All headers, in the place of those that are there.
    pub headers: Option<SecretHeaders>,
    pub is_enabled: Option<bool>,
    pub local_network: Option<bool>,
}

impl NewToolServer {
    /// The id: as named, or made of the name so that none of `taken` is the same.
    pub fn slug(&self, taken: &[String]) -> Result<String, InvalidField> {
        if let Some(id) = &self.id {
            return if is_tool_server_id(id) {
                Ok(id.clone())
            } else {
                Err(InvalidField::new("id", "must be 1 to 32 of a-z, 0-9 and -, and not `provider`"))
            };
        }
        let name = self.fields.name.as_deref().unwrap_or_default().to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut slug: String = words.join("-").chars().take(24).collect();
        if !is_tool_server_id(&slug) {
            slug = "server".into();
        }
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        Ok(std::iter::once(slug.clone()).chain(numbered).find(|slug| !taken.contains(slug)).unwrap_or(slug))
    }

    /// What is asked for, to tell a repeated request from another one. Of headers only the names.
    pub fn request_fingerprint(&self) -> Value {
        let fields = &self.fields;
        json!({
            "new": "tool_server",
            "id": self.id,
            "name": fields.name,
            "url": fields.url,
            "headers": fields.headers.as_ref().map(|all| all.iter().map(|(name, _)| name).collect::<Vec<_>>()),
            "is_enabled": fields.is_enabled,
            "local_network": fields.local_network,
        })
    }
}

impl ToolServerChange {
    /// A new server needs these.
    pub fn check_complete(&self) -> Result<(), InvalidField> {
        for (name, field) in [("name", &self.name), ("url", &self.url)] {
            if field.as_deref().is_none_or(|text| text.trim().is_empty()) {
                return Err(InvalidField::new(name, "is needed"));
            }
        }
        Ok(())
    }
}

/// What a change did beside what was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolServerChangeEffects {
    /// Sentences.
    pub notices: Vec<String>,
    /// It is asked somewhere else from now on: what was said about its tools was said about others.
    pub has_moved: bool,
}

/// Writes a change into a row and seals what is secret.
pub fn apply_change(
    row: &mut StoredToolServer,
    change: ToolServerChange,
    sealer: &Sealer,
) -> Result<ToolServerChangeEffects, InvalidField> {
    let mut effects = ToolServerChangeEffects::default();
    if let Some(name) = change.name {
        row.name = check_name(&name)?;
    }
    let mut headers = None;
    if let Some(url) = change.url {
        let url = base_url::check(url.trim()).map_err(|what| InvalidField::new("url", what))?;
        if url.len() > limits::ADDRESS_CHARS {
            return Err(InvalidField::new("url", format!("at most {} characters", limits::ADDRESS_CHARS)));
        }
        if base_url::canonicalize(&url) != base_url::canonicalize(&row.url) {
            // A secret belongs to the address that it was given for.
            headers = Some(SecretHeaders::new());
            if !row.settings.header_names.is_empty() && change.headers.is_none() {
                effects.notices.push("The address changed, so the headers were cleared.".into());
            }
            effects.has_moved = !row.url.is_empty();
            row.url = url;
        }
    }
    row.settings.local_network = change.local_network.unwrap_or(row.settings.local_network);
    check_address("url", &row.url, row.settings.local_network)?;
    if let Some(given) = change.headers {
        headers = Some(headers::check_headers(given, &[])?);
    }
    row.is_enabled = change.is_enabled.unwrap_or(row.is_enabled);
    if let Some(headers) = headers {
        sealer.seal_headers(row, &headers);
    }
    Ok(effects)
}
