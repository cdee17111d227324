//! The environment as a value, so that tests need not change the process's own, and the rule for secrets: each may be
//! given as `NAME` or as a file in `NAME_FILE`.

use std::collections::BTreeMap;

use secrecy::SecretString;

use crate::config::ConfigError;

/// The variables of the environment. No `Debug`: some of them are secrets.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The process's own. Variables that are not UTF-8 are left out: none of ours can be.
    pub fn from_process() -> Self {
        let variables = std::env::vars_os();
        Self(
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect(),
        )
    }

    /// The variable's text. Set to nothing counts as not set, as is the custom.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The same, owned, for [`crate::config::setting::Setting::first`].
    pub fn text_owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// The secret in `name`, or in the file that `name_FILE` names, without its final line break. Setting both is an
    /// error, because one of them would be silently ignored.
    pub fn secret(&self, name: &str) -> Result<Option<SecretString>, ConfigError> {
        let file_variable = format!("{name}_FILE");
        match (self.text(name), self.text(&file_variable)) {
            (Some(_), Some(_)) => {
                Err(ConfigError::new(format!("both {name} and {file_variable} are set: set only one")))
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

/// The secret in the file at `path`, which the setting `named_by` names.
pub fn read_secret_file(named_by: &str, path: &str) -> Result<SecretString, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::new(format!("cannot read {path}, named by {named_by}: {error}")))?;
    let text = text.trim();
    if text.is_empty() {
        return Err(ConfigError::new(format!("{path}, named by {named_by}, is empty")));
    }
    Ok(SecretString::from(text))
}

/// Reads a switch: `true`/`false`, `1`/`0`, `yes`/`no`, `on`/`off`.
pub fn parse_switch(name: &str, text: &str) -> Result<bool, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(ConfigError::new(format!("{name} is neither true nor false"))),
    }
}

/// Reads a list separated by commas or white space.
pub fn parse_list(text: &str) -> Vec<String> {
    text.split([',', ' ', '\t', '\n']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
