//! The environment as a value, so that tests need not change that of the process, and the rule for secrets: each can
//! be set as `NAME` or as a file in `NAME_FILE`.

use std::collections::BTreeMap;

use secrecy::SecretString;

use crate::config::ConfigError;

/// The environment variables. There is no `Debug`, because some are secrets.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the environment of the process. Variables that are not UTF-8 are skipped, because ours always are.
    pub fn from_process() -> Self {
        let variables = std::env::vars_os();
        Self(
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect(),
        )
    }

    /// Returns a variable's text. An empty variable counts as unset.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns a variable's text as an owned string, for [`crate::config::setting::SourcedSetting::first_set`].
    pub fn text_owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Returns the secret in `name`, or in the file that `name_FILE` names, without its final line break. Setting
    /// both is an error, because one would be ignored silently.
    pub fn secret(&self, name: &str) -> Result<Option<SecretString>, ConfigError> {
        let file_variable = format!("{name}_FILE");
        match (self.text(name), self.text(&file_variable)) {
            (Some(_), Some(_)) => {
                Err(ConfigError::new(format!("{name} and {file_variable} are both set; set only one")))
            }
            (Some(value), None) => Ok(Some(SecretString::from(value))),
            (None, Some(path)) => read_secret_file(&file_variable, path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Reads the secret in the file at `path`, which the setting `named_by` names.
pub fn read_secret_file(named_by: &str, path: &str) -> Result<SecretString, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::new(format!("cannot read {path}, named by {named_by}: {error}")))?;
    let text = text.trim();
    if text.is_empty() {
        return Err(ConfigError::new(format!("{path}, named by {named_by}, is empty")));
    }
    Ok(SecretString::from(text))
}

/// Parses a boolean: `true`/`false`, `1`/`0`, `yes`/`no`, `on`/`off`.
pub fn parse_switch(name: &str, text: &str) -> Result<bool, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(ConfigError::new(format!("{name} must be true or false"))),
    }
}

/// Parses a list separated by commas or white space.
pub fn parse_list(text: &str) -> Vec<String> {
    text.split([',', ' ', '\t', '\n']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
