//! The encryption of tokens, clients and begun sign-ins. Each is bound to its row and to what may receive it: tokens to
//! the origin of their server, clients to their issuer, a begun sign-in to its state. Sign-ins to Turnleaf itself that
//! have begun at an identity provider are among them.

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::providers::Sealer;
use turnleaf_domain::{IdentitySignInId, ToolServerId, ToolSignInId};
use turnleaf_platform::sealing::{SecretBinding, UnsealError};
use url::Url;

/// The row and the receiver of a secret.
pub(crate) struct SignInBinding {
    table: &'static str,
    column: &'static str,
    row: Uuid,
    receiver: String,
}

impl SignInBinding {
    /// Binds tokens to the origin of their server.
    pub fn of_tokens(server: ToolServerId, url: &Url) -> Self {
        let receiver = url.origin().ascii_serialization();
        Self { table: "tool_tokens", column: "sealed_tokens", row: server.uuid(), receiver }
    }

    /// Binds a client to its issuer.
    pub fn of_client(server: ToolServerId, issuer: &str) -> Self {
        Self { table: "oauth_clients", column: "sealed_client", row: server.uuid(), receiver: issuer.to_owned() }
    }

    /// Binds a sign-in that has begun to its state.
    pub fn of_request(id: ToolSignInId, state_hash: &str) -> Self {
        Self { table: "tool_sign_ins", column: "sealed_request", row: id.uuid(), receiver: state_hash.to_owned() }
    }

    /// Binds a sign-in that has begun at an identity provider to its state.
    pub fn of_identity_request(id: IdentitySignInId, state_hash: &str) -> Self {
        Self { table: "identity_sign_ins", column: "sealed_request", row: id.uuid(), receiver: state_hash.to_owned() }
    }

    fn secret_binding(&self) -> SecretBinding<'_> {
        SecretBinding { table: self.table, column: self.column, row: self.row, bound_to: &self.receiver }
    }

    /// Encrypts a value.
    pub fn seal(&self, sealer: &Sealer, value: &impl Serialize) -> String {
        // These values have text keys only, which is all that JSON could refuse.
        let text = SecretString::from(serde_json::to_string(value).unwrap_or_default());
        sealer.keyring().seal(self.secret_binding(), &text)
    }

    /// Decrypts a value.
    ///
    /// # Errors
    /// It was encrypted with another key, for another binding, or by another version.
    pub fn open<T: DeserializeOwned>(&self, sealer: &Sealer, sealed: &str) -> Result<T, UnsealError> {
        let text = sealer.keyring().unseal(self.secret_binding(), sealed)?;
        serde_json::from_str(text.expose_secret()).map_err(|_| UnsealError::Changed)
    }
}
