//! Why a configuration cannot be used.

/// The configuration cannot be used; the process exits with 78. The text names the setting and never shows a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
