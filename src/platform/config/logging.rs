//! What is logged, and how it looks.

use crate::config::ConfigError;
use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::setting::{Setting, Source};

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line, for machines.
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logging {
    /// In the syntax of `RUST_LOG`.
    pub filter: Setting<String>,
    pub format: Setting<Format>,
    /// Whether colours may be used on a terminal.
    pub colour: bool,
}

impl Logging {
    pub fn read(environment: &Environment, file: &ConfigFile) -> Result<Self, ConfigError> {
        Ok(Self {
            filter: Setting::first(
                [
                    (Source::Environment("RUST_LOG"), environment.owned("RUST_LOG")),
                    (Source::File("log"), file.log.clone()),
                ],
                || "warn,turnleaf=info".to_owned(),
            ),
            format: Setting::first([(Source::File("log_format"), file.log_format.clone())], || "text".to_owned())
                .try_map(|text, source| match text.as_str() {
                    "text" => Ok(Format::Text),
                    "json" => Ok(Format::Json),
                    _ => Err(ConfigError::new(format!("{source} is neither text nor json: {text}"))),
                })?,
            colour: environment.text("NO_COLOR").is_none(),
        })
    }
}
