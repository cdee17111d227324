//! The facts about connections that the audit log names when they are added and changed: providers and tool servers. Of a
//! secret it tells that there is one, and never its value.

use serde_json::{Value, json};
use url::Url;

use turnleaf_store::providers::StoredProvider;
use turnleaf_store::tools::tool_servers::StoredToolServer;
use turnleaf_tools::oauth::metadata::host_name;

/// The API key of a provider.
pub(crate) const KEY: &str = "key";
/// The extra headers of a connection.
pub(crate) const HEADERS: &str = "headers";
/// The secret of the OAuth client of a tool server.
pub(crate) const CLIENT_SECRET: &str = "OAuth secret";

/// The audited facts about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectionFacts {
    id: String,
    name: String,
    address: String,
    /// Each kind of secret that it may have, with whether it has one.
    secrets: Vec<(&'static str, bool)>,
    is_enabled: bool,
    local_network: bool,
    /// The rest, which is only compared.
    others: Value,
}

impl From<&StoredProvider> for ConnectionFacts {
    fn from(row: &StoredProvider) -> Self {
        let settings = &row.settings;
        Self {
            id: row.slug.clone(),
            name: row.name.clone(),
            address: row.base_url.clone(),
            secrets: vec![(KEY, settings.has_key), (HEADERS, !settings.header_names.is_empty())],
            is_enabled: row.is_enabled,
            local_network: settings.local_network,
            others: json!([
                row.kind,
                settings.dialect,
                settings.models,
                settings.default_model,
                settings.hidden_models,
                settings.keeps_responses,
                settings.retries,
                settings.silence_seconds,
            ]),
        }
    }
}

impl From<&StoredToolServer> for ConnectionFacts {
    fn from(row: &StoredToolServer) -> Self {
        let settings = &row.settings;
        Self {
            id: row.slug.clone(),
            name: row.name.clone(),
            address: row.url.clone(),
            secrets: vec![(HEADERS, !settings.header_names.is_empty()), (CLIENT_SECRET, settings.has_oauth_secret)],
            is_enabled: row.is_enabled,
            local_network: settings.local_network,
            others: json!([
                settings.oauth_client_id,
                settings.start_seconds,
                settings.idle_seconds,
                settings.total_seconds
            ]),
        }
    }
}

impl ConnectionFacts {
    /// Returns the target of the entry about a new connection.
    pub(crate) fn added(&self) -> String {
        let secrets = self.secrets.iter().filter(|(_, has_one)| *has_one).map(|(secret, _)| (*secret).to_owned());
        let parts: Vec<String> = std::iter::once(self.host()).chain(secrets).collect();
        format!("{}: {}", self.id, parts.join(", "))
    }

    /// Returns the target of the entry about a change from what was before, in which these secrets were given; `None` if
    /// nothing is different.
    pub(crate) fn changed(&self, before: &Self, given: &[&str]) -> Option<String> {
        let mut parts = Vec::new();
        if self.name != before.name {
            parts.push("name".to_owned());
        }
        if self.address != before.address {
            parts.push(format!("address {}", self.host()));
        }
        for ((secret, has_one), (_, had_one)) in self.secrets.iter().zip(&before.secrets) {
            match (has_one, had_one) {
                (true, _) if given.contains(secret) => parts.push((*secret).to_owned()),
                (false, true) => parts.push(format!("{secret} removed")),
                _ => {}
            }
        }
        let switch = |is_on: bool| if is_on { "on" } else { "off" };
        if self.local_network != before.local_network {
            parts.push(format!("local network {}", switch(self.local_network)));
        }
        if self.is_enabled != before.is_enabled {
            parts.push(switch(self.is_enabled).to_owned());
        }
        if self.others != before.others {
            parts.push("settings".to_owned());
        }
        (!parts.is_empty()).then(|| format!("{}: {}", self.id, parts.join(", ")))
    }

    fn host(&self) -> String {
        Url::parse(&self.address).as_ref().map(host_name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ConnectionFacts {
        ConnectionFacts {
            id: "box".into(),
            name: "Box".into(),
            address: "https://a.example/v1".into(),
            secrets: vec![(KEY, true), (HEADERS, false)],
            is_enabled: true,
            local_network: false,
            others: json!(["openai_chat"]),
        }
    }

    #[test]
    fn new_connection_is_named_with_its_host_and_its_secrets() {
        assert_eq!(facts().added(), "box: a.example, key");
    }

    #[test]
    fn change_names_what_is_different_and_which_secrets_were_given() {
        let with_secrets = |key, headers| vec![(KEY, key), (HEADERS, headers)];
        for (changed, given, expected) in [
            (facts(), &[][..], None),
            (facts(), &[KEY], Some("box: key")),
            (ConnectionFacts { secrets: with_secrets(false, false), ..facts() }, &[KEY], Some("box: key removed")),
            (ConnectionFacts { secrets: with_secrets(true, true), ..facts() }, &[HEADERS], Some("box: headers")),
            (
                ConnectionFacts {
                    address: "http://b.example:8080".into(),
                    secrets: with_secrets(false, false),
                    local_network: true,
                    ..facts()
                },
                &[],
                Some("box: address b.example:8080, key removed, local network on"),
            ),
            (ConnectionFacts { is_enabled: false, ..facts() }, &[], Some("box: off")),
            (ConnectionFacts { name: "B".into(), others: json!([]), ..facts() }, &[], Some("box: name, settings")),
        ] {
            assert_eq!(changed.changed(&facts(), given).as_deref(), expected, "{changed:?}");
        }
    }
}
