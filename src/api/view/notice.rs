//! What a page says above the composer.

use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::ModelLock;
use crate::domain::json_reader::{JsonMembers, deserialize_members, unknown_variant};

/// Something the page says above the composer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ComposerNotice {
    /// No provider is configured; only the demo answers. With the ways to connect one.
    NothingConfigured { ways: Vec<ConnectionOption> },
    /// A local server answers at this address, and its models, if it has any, can be chosen. For who begins.
    FoundLocally { name: String, address: String, has_models: bool },
    /// The branch's model cannot be used any more; the chat can only go on in a new branch.
    ModelUnavailable { lock: ModelLock },
}

/// A way to connect a provider: what is known of it before its key is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionOption {
    /// The name of its form on the page "Providers".
    pub id: String,
    /// Empty where nothing is known.
    pub name: String,
    pub api: String,
    pub dialect: String,
    pub base_url: String,
    /// It runs beside this server and asks for no key.
    pub local_network: bool,
    /// Where its owner gets a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_at: Option<String>,
}

fn parse_notice(notice: &JsonMembers<'_>) -> Result<ComposerNotice, serde_json::Error> {
    Ok(match notice.tag("kind")? {
        "nothing_configured" => ComposerNotice::NothingConfigured { ways: notice.get_or_default("ways")? },
        "found_locally" => ComposerNotice::FoundLocally {
            name: notice.get("name")?,
            address: notice.get("address")?,
            has_models: notice.get("has_models")?,
        },
        "model_unavailable" => ComposerNotice::ModelUnavailable { lock: notice.get("lock")? },
        other => return Err(unknown_variant(other)),
    })
}

impl<'de> Deserialize<'de> for ComposerNotice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from, parse_notice)
    }
}
