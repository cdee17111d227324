//! Secrets of a stored tool server: its headers, and its URL if that has a query. They are encrypted as one text that
//! is bound to the row and to the address that may receive them.

use secrecy::{ExposeSecret, SecretString};

use crate::providers::Sealer;
use crate::providers::headers::SecretHeaders;
use turnleaf_platform::base_url;
use turnleaf_platform::sealing::{SecretBinding, UnsealError};
use turnleaf_store::tools::tool_servers::StoredToolServer;

/// The names under which the URL and the secret of the OAuth client are encrypted beside the headers; no header can
/// have them.
const URL: &str = ":url";
const OAUTH_SECRET: &str = ":oauth_client_secret";

/// The secrets of a server.
#[derive(Clone, Default)]
pub(super) struct ServerSecrets {
    /// The whole URL, if it has a query.
    pub url: Option<String>,
    pub headers: SecretHeaders,
    /// The secret of the client that its owner registered.
    pub oauth_secret: Option<SecretString>,
}

impl Sealer {
    /// Decrypts the secrets of a server.
    ///
    /// # Errors
    /// They were encrypted with another key, or for another row or address.
    pub(super) fn open_secrets(&self, row: &StoredToolServer) -> Result<ServerSecrets, UnsealError> {
        let Some(sealed) = &row.sealed_headers else { return Ok(ServerSecrets::default()) };
        let address = base_url::canonicalize(&row.url);
        let text = self.keyring().unseal(place(row, &address), sealed)?;
        let pairs: Vec<(String, String)> =
            serde_json::from_str(text.expose_secret()).map_err(|_| UnsealError::Changed)?;
        let mut secrets = ServerSecrets::default();
        for (name, value) in pairs {
            match name.as_str() {
                URL => secrets.url = Some(value),
                OAUTH_SECRET => secrets.oauth_secret = Some(value.into()),
                _ => secrets.headers.push((name, value.into())),
            }
        }
        Ok(secrets)
    }

    /// Encrypts the secrets into the row, with the names of the headers in clear. The row's address must be final.
    pub(super) fn seal_secrets(&self, row: &mut StoredToolServer, secrets: &ServerSecrets) {
        row.settings.header_names = secrets.headers.iter().map(|(name, _)| name.clone()).collect();
        let headers = secrets.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret()));
        let oauth_secret = secrets.oauth_secret.as_ref().map(|secret| (OAUTH_SECRET, secret.expose_secret()));
        row.settings.has_oauth_secret = oauth_secret.is_some();
        let url = secrets.url.as_deref().map(|url| (URL, url));
        let plain: Vec<(&str, &str)> = headers.chain(url).chain(oauth_secret).collect();
        let is_empty = plain.is_empty();
        let text = SecretString::from(serde_json::json!(plain).to_string());
        let address = base_url::canonicalize(&row.url);
        row.sealed_headers = (!is_empty).then(|| self.keyring().seal(place(row, &address), &text));
    }
}

fn place<'a>(row: &StoredToolServer, address: &'a str) -> SecretBinding<'a> {
    SecretBinding { table: "tool_servers", column: "sealed_headers", row: row.id.uuid(), bound_to: address }
}
