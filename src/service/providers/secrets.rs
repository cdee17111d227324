//! The secrets of a stored connection: the key and the values of its extra headers, sealed as one text that is bound to
//! the row and to the address they may be sent to.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use turnleaf_platform::base_url;
use turnleaf_platform::sealing::{Keyring, SecretBinding, UnsealError};
use turnleaf_store::providers::StoredProvider;

/// From this length on a key shows how it ends; of a shorter one that would be too much.
const TELLING: usize = 16;
const SHOWN: usize = 4;

/// What is sent to a provider and shown to nobody. `Debug` shows none of it.
#[derive(Debug, Clone, Default)]
pub struct ProviderSecrets {
    pub key: Option<SecretString>,
    pub headers: Vec<(String, SecretString)>,
}

/// Seals and opens the secrets of rows.
#[derive(Debug, Clone)]
pub struct Sealer(Arc<Keyring>);

impl Sealer {
    pub fn new(keyring: Keyring) -> Self {
        Self(Arc::new(keyring))
    }

    /// What seals, for other rows than providers'.
    pub(crate) fn keyring(&self) -> &Keyring {
        &self.0
    }

    /// The secrets of a row.
    ///
    /// # Errors
    /// They were sealed with another key, or for another row or address.
    pub fn open(&self, row: &StoredProvider) -> Result<ProviderSecrets, UnsealError> {
        let Some(sealed) = &row.sealed_key else { return Ok(ProviderSecrets::default()) };
        let address = base_url::canonicalize(&row.base_url);
        let text = self.0.unseal(place(row, &address), sealed)?;
        let (key, headers): (Option<String>, Vec<(String, String)>) =
            serde_json::from_str(text.expose_secret()).map_err(|_| UnsealError::Changed)?;
        let headers = headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
        Ok(ProviderSecrets { key: key.map(SecretString::from), headers })
    }

    /// Seals the secrets into the row, whose address must be the final one, with what may be shown of them.
    pub fn seal(&self, row: &mut StoredProvider, secrets: &ProviderSecrets) {
        let key = secrets.key.as_ref().map(|key| key.expose_secret());
        let headers: Vec<(&str, &str)> =
            secrets.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        row.settings.has_key = key.is_some();
        row.settings.key_ends_in = key.and_then(key_ending);
        row.settings.header_names = secrets.headers.iter().map(|(name, _)| name.clone()).collect();
        let is_empty = key.is_none() && headers.is_empty();
        let text = SecretString::from(serde_json::json!([key, headers]).to_string());
        let address = base_url::canonicalize(&row.base_url);
        row.sealed_key = (!is_empty).then(|| self.0.seal(place(row, &address), &text));
    }
}

/// How a key ends, for its owner to tell it by.
pub fn key_ending(key: &str) -> Option<String> {
    let characters = key.chars().count();
    (characters >= TELLING).then(|| key.chars().skip(characters - SHOWN).collect())
}

fn place<'a>(row: &StoredProvider, address: &'a str) -> SecretBinding<'a> {
    SecretBinding { table: "providers", column: "sealed_key", row: row.id.uuid(), bound_to: address }
}
