//! Headers of a stored tool server, encrypted as one text that is bound to the row and to the address that may
//! receive them.

use secrecy::{ExposeSecret, SecretString};

use crate::providers::Sealer;
use crate::providers::headers::SecretHeaders;
use turnleaf_platform::base_url;
use turnleaf_platform::sealing::{SecretBinding, UnsealError};
use turnleaf_store::tool_servers::StoredToolServer;

impl Sealer {
    /// Decrypts the headers of a server.
    ///
    /// # Errors
    /// The headers were encrypted with another key, or for another row or address.
    pub(super) fn open_headers(&self, row: &StoredToolServer) -> Result<SecretHeaders, UnsealError> {
        let Some(sealed) = &row.sealed_headers else { return Ok(SecretHeaders::new()) };
        let address = base_url::canonicalize(&row.url);
        let text = self.keyring().unseal(place(row, &address), sealed)?;
        let headers: Vec<(String, String)> =
            serde_json::from_str(text.expose_secret()).map_err(|_| UnsealError::Changed)?;
        Ok(headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect())
    }

    /// Encrypts the headers into the row, with their names in clear. The row's address must be final.
    pub(super) fn seal_headers(&self, row: &mut StoredToolServer, headers: &SecretHeaders) {
        row.settings.header_names = headers.iter().map(|(name, _)| name.clone()).collect();
        let plain: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        let text = SecretString::from(serde_json::json!(plain).to_string());
        let address = base_url::canonicalize(&row.url);
        row.sealed_headers = (!headers.is_empty()).then(|| self.keyring().seal(place(row, &address), &text));
    }
}

fn place<'a>(row: &StoredToolServer, address: &'a str) -> SecretBinding<'a> {
    SecretBinding { table: "tool_servers", column: "sealed_headers", row: row.id.uuid(), bound_to: address }
}
