//! A setting with its source, for error messages, `turnleaf config print`, and Settings, which must not edit values
//! from the environment.

use std::fmt;

/// The source of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// A command line flag, by name.
    Flag(&'static str),
    /// An environment variable, by name.
    Environment(&'static str),
    /// A key of the configuration file.
    File(&'static str),
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => f.write_str(name),
            Self::File(key) => write!(f, "`{key}` in the configuration file"),
            Self::Default => f.write_str("the default"),
        }
    }
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedSetting<T> {
    pub value: T,
    pub source: SettingSource,
}

impl<T> SourcedSetting<T> {
    pub fn new(value: T, source: SettingSource) -> Self {
        Self { value, source }
    }

    /// Returns the first candidate that is set, in order of precedence, or the default.
    pub fn first_set<const N: usize>(candidates: [(SettingSource, Option<T>); N], default: impl FnOnce() -> T) -> Self {
        candidates
            .into_iter()
            .find_map(|(source, value)| value.map(|value| Self { value, source }))
            .unwrap_or_else(|| Self { value: default(), source: SettingSource::Default })
    }

    /// Converts the value and keeps its source.
    pub fn try_map<U, E>(self, read: impl FnOnce(T, SettingSource) -> Result<U, E>) -> Result<SourcedSetting<U>, E> {
        let source = self.source;
        read(self.value, source).map(|value| SourcedSetting { value, source })
    }
}
