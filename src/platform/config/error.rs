//! The configuration error.

/// The configuration is invalid; the process exits with code 78. The text names the setting and never contains a
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
