//! The notices above the composer.

use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::ModelLock;
use crate::domain::encoding::json_reader::{JsonMembers, deserialize_members, unknown_variant};

/// A notice above the composer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ComposerNotice {
    /// No provider is configured, so only the demo answers. Lists the ways to connect one.
    NothingConfigured { ways: Vec<ConnectionOption> },
    /// A local server was found at this address; its models, if it has any, can be selected. Shown to new users.
    FoundLocally { name: String, address: String, has_models: bool },
    /// The branch's model is no longer available; the chat can continue only on a new branch.
    ModelUnavailable { lock: ModelLock },
}

/// A way to connect a provider: the data known before its API key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionOption {
    /// The id of its form on the page "Providers".
    pub id: String,
    /// Empty if unknown, like the following fields.
    pub name: String,
    pub api: String,
    pub dialect: String,
    pub base_url: String,
    /// True if it runs next to this server and needs no key.
    pub local_network: bool,
    /// The page where users get a key.
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
