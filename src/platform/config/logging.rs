//! The settings of the log: its filter and format.

use crate::config::ConfigError;
use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::setting::{SettingSource, SourcedSetting};

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line, for machines.
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggingSettings {
    /// The filter, in the syntax of `RUST_LOG`.
    pub filter: SourcedSetting<String>,
    pub format: SourcedSetting<LogFormat>,
    /// True if colors are allowed on a terminal.
    pub colour: bool,
}

impl LoggingSettings {
    pub fn read(environment: &Environment, file: &ConfigFile) -> Result<Self, ConfigError> {
        Ok(Self {
            filter: SourcedSetting::first_set(
                [
                    (SettingSource::Environment("RUST_LOG"), environment.text_owned("RUST_LOG")),
                    (SettingSource::File("log"), file.log.clone()),
                ],
                || "warn,turnleaf=info".to_owned(),
            ),
            format: SourcedSetting::first_set([(SettingSource::File("log_format"), file.log_format.clone())], || {
                "text".to_owned()
            })
            .try_map(|text, source| match text.as_str() {
                "text" => Ok(LogFormat::Text),
                "json" => Ok(LogFormat::Json),
                _ => Err(ConfigError::new(format!("{source} must be text or json, but is: {text}"))),
            })?,
            colour: environment.text("NO_COLOR").is_none(),
        })
    }
}
