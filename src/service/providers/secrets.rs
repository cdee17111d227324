//! Secrets of a stored connection: the API key and the values of its extra headers, encrypted as one text that is
//! bound to the row and to the base URL that may receive them.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use turnleaf_platform::base_url;
use turnleaf_platform::sealing::{Keyring, SecretBinding, UnsealError};
use turnleaf_store::providers::StoredProvider;

/// The minimum length of a key whose ending is shown; of a shorter key the ending would reveal too much.
const TELLING: usize = 16;
const SHOWN: usize = 4;

/// Secrets that are sent to a provider and never shown. `Debug` redacts them.
#[derive(Debug, Clone, Default)]
pub struct ProviderSecrets {
    pub key: Option<SecretString>,
    pub headers: Vec<(String, SecretString)>,
}

/// Encrypts and decrypts the secrets of rows.
#[derive(Debug, Clone)]
pub struct Sealer(Arc<Keyring>);

impl Sealer {
    pub fn new(keyring: Keyring) -> Self {
        Self(Arc::new(keyring))
    }

    /// Returns the keyring, for secrets of other tables.
    pub(crate) fn keyring(&self) -> &Keyring {
        &self.0
    }

    /// Decrypts the secrets of a row.
    ///
    /// # Errors
    /// The secrets were encrypted with another key, or for another row or address.
    pub fn open(&self, row: &StoredProvider) -> Result<ProviderSecrets, UnsealError> {
        let Some(sealed) = &row.sealed_key else { return Ok(ProviderSecrets::default()) };
        let address = base_url::canonicalize(&row.base_url);
        let text = self.0.unseal(place(row, &address), sealed)?;
        let (key, headers): (Option<String>, Vec<(String, String)>) =
            serde_json::from_str(text.expose_secret()).map_err(|_| UnsealError::Changed)?;
        let headers = headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
        Ok(ProviderSecrets { key: key.map(SecretString::from), headers })
    }

    /// Encrypts the secrets into the row together with the parts that may be shown. The row's address must be final.
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

/// Returns the ending of a key, by which its owner recognizes it.
pub fn key_ending(key: &str) -> Option<String> {
    let characters = key.chars().count();
    (characters >= TELLING).then(|| key.chars().skip(characters - SHOWN).collect())
}

fn place<'a>(row: &StoredProvider, address: &'a str) -> SecretBinding<'a> {
    SecretBinding { table: "providers", column: "sealed_key", row: row.id.uuid(), bound_to: address }
}
