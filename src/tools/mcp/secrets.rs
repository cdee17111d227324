//! Finds the credentials in the configuration of a server. A server may repeat them, so they are redacted from
//! results and logs. Other configured values are ordinary text that results may well contain.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use super::config::{McpServerConfig, McpTransport};
use turnleaf_domain::encoding::url_encoding;
use turnleaf_platform::credentials::{extract_credentials, is_credential, query_credentials, separate_words};
use turnleaf_providers::redaction::SecretSet;

impl McpServerConfig {
    /// Returns the credentials that are redacted from the server's output and from exports.
    pub fn credentials(&self) -> Vec<SecretString> {
        let mut found = FoundCredentials::default();
        match &self.transport {
            McpTransport::Program { argv, env, .. } => {
                env.iter().for_each(|(name, value)| found.add_value(name, value));
                found.add_words(argv);
            }
            McpTransport::Http { url, headers, .. } => {
                headers.iter().for_each(|(name, value)| found.add_named(name, value.expose_secret()));
                found.add_address(url);
            }
        }
        found.0
    }

    /// Returns the credentials and the tokens that were sent until a text is redacted.
    pub(super) fn secrets(&self) -> SecretSet {
        let configured = SecretSet::new(self.credentials());
        match self.authorization.clone() {
            Some(authorization) => configured.with_later(move || authorization.sent_secrets()),
            None => configured,
        }
    }
}

/// Distinct credentials.
#[derive(Default)]
struct FoundCredentials(Vec<SecretString>);

impl FoundCredentials {
    fn add(&mut self, secrets: impl IntoIterator<Item = SecretString>) {
        for secret in secrets {
            if self.0.iter().all(|known| known.expose_secret() != secret.expose_secret()) {
                self.0.push(secret);
            }
        }
    }

    fn add_named(&mut self, name: &str, value: &str) {
        self.add(extract_credentials(&separate_words(name), &value.into()));
    }

    /// Adds the credentials among a program's arguments: `--token=x`, `--token x`, `--headers X-Api-Key x`, and
    /// single words.
    fn add_words(&mut self, argv: &[String]) {
        for (at, word) in argv.iter().enumerate() {
            self.add_value("", word);
            if address(word).is_none()
                && let Some((name, value)) = word.split_once('=')
            {
                self.add_value(name, value);
            }
            let [value, second] = [1, 2].map(|behind| argv.get(at + behind).map(String::as_str).unwrap_or_default());
            if word.starts_with('-') && !value.starts_with("--") {
                self.add_value(word, value);
                if word.to_ascii_lowercase().contains("header") {
                    self.add_value(value, second);
                }
            }
        }
    }

    /// Adds the credentials in a value: the whole value if its name says so, and those inside it if it is an address,
    /// a header, JSON or a connection string.
    fn add_value(&mut self, name: &str, value: &str) {
        if let Some(url) = address(value) {
            return self.add_address(&url);
        }
        if let Ok(json @ Value::Object(_)) = serde_json::from_str(value) {
            return self.add_json("", &json);
        }
        self.add_named(name, value);
        let is_scheme = |word: &str| ["bearer", "basic"].contains(&word.to_ascii_lowercase().as_str());
        if value.split_once(' ').is_some_and(|(scheme, _)| is_scheme(scheme)) {
            self.add_named("authorization", value);
        }
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if let Some((name, value)) = value.split_once(':').filter(|(name, _)| is_name(name)) {
            self.add_named(name, value);
        }
        let parameters = value.split([' ', '\t', '\n', ';', '&']).filter_map(|piece| piece.split_once('='));
        parameters.for_each(|(name, value)| self.add_named(name, value));
    }

    fn add_json(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.add_value(name, text),
            Value::Array(items) => items.iter().for_each(|item| self.add_json(name, item)),
            Value::Object(members) => members.iter().for_each(|(name, value)| self.add_json(name, value)),
            _ => {}
        }
    }

    /// Adds the password of an address, both encoded and decoded, and the credentials of its query.
    fn add_address(&mut self, url: &Url) {
        self.add(query_credentials(url));
        let password = url.password().unwrap_or_default();
        let passwords = [password.to_owned(), url_encoding::decode(password)];
        self.add(passwords.into_iter().filter(|password| is_credential(password)).map(Into::into));
    }
}

fn address(text: &str) -> Option<Url> {
    text.contains("://").then(|| Url::parse(text.trim()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn credentials(transport: McpTransport) -> Vec<String> {
        let config =
            McpServerConfig { name: "x".into(), transport, start: None, idle: None, total: None, authorization: None };
        config.credentials().iter().map(|secret| secret.expose_secret().to_owned()).collect()
    }

    #[test]
    fn credentials_are_found_everywhere_and_ordinary_values_are_not() {
        let env =
            [("GITHUB_TOKEN", "ghp_9f8e7d6c5b4a"), ("LANG", "de_DE.UTF-8-modern"), ("API_KEY_FILE", "/run/secret")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let argv = [
            "server",
            "--api-key=9f8e7d6c5b4a3f2e",
            "--token",
            "4a5b6c7d8e9f0a1b",
            "--verbose",
            "--name",
            "ordinary-words",
        ];
        let argv = argv.map(str::to_owned).to_vec();
        let found = credentials(McpTransport::Program { argv, env, folder: None });
        assert_eq!(found, ["ghp_9f8e7d6c5b4a", "9f8e7d6c5b4a3f2e", "4a5b6c7d8e9f0a1b"]);
        let url =
            url::Url::parse("https://me:hunter2hunter2@example.org/mcp?api_key=9f8e7d6c5b4a3f2e&team=the-whole-team");
        let headers = vec![
            ("Authorization".to_owned(), SecretString::from("Bearer 0a1b2c3d4e5f6a7b")),
            ("X-Title".to_owned(), SecretString::from("an ordinary title")),
        ];
        let found = credentials(McpTransport::Http { url: url.expect("a URL"), headers, local_network: false });
        assert_eq!(found, ["0a1b2c3d4e5f6a7b", "9f8e7d6c5b4a3f2e", "hunter2hunter2"]);
    }

    #[test]
    fn credentials_in_program_arguments_are_found() {
        for (words, expected) in [
            (
                &["mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer 9f8e7d6c5b4a3f2e"][..],
                &["9f8e7d6c5b4a3f2e"][..],
            ),
            (&["mcp-remote", "--header", "Authorization:Bearer 9f8e7d6c5b4a3f2e"], &["9f8e7d6c5b4a3f2e"]),
            (&["x", "--header=X-Api-Key: 9f8e7d6c5b4a3f2e"], &["9f8e7d6c5b4a3f2e"]),
            (&["x", "-H", "X-Title: an ordinary title"], &[]),
            (&["mcp-proxy", "--headers", "X-Api-Key", "9f8e7d6c5b4a3f2e", "http://x.example"], &["9f8e7d6c5b4a3f2e"]),
            (&["mcp-proxy", "--headers", "authorization", "Bearer 9f8e7d6c5b4a3f2e"], &["9f8e7d6c5b4a3f2e"]),
            (&["server-postgres", "postgresql://u:hunter2hunter2@db/x"], &["hunter2hunter2"]),
            (&["server-postgres", "postgresql://u:hunter2%40hunter2@db/x"], &["hunter2%40hunter2", "hunter2@hunter2"]),
            (
                &["mcp-remote", "https://x.example/mcp?team=whole-team-1&api_key=9f8e7d6c5b4a3f2e"],
                &["9f8e7d6c5b4a3f2e"],
            ),
            (&["server", "host=db user=me password=hunter2hunter2"], &["hunter2hunter2"]),
            (&["server", "Server=db;User Id=me;Password=hunter2hunter2;"], &["hunter2hunter2"]),
            (&["run", "-e", "GITHUB_TOKEN=ghp_9f8e7d6c5b4a"], &["ghp_9f8e7d6c5b4a"]),
            (&["run", "--config", r#"{"apiKey":"9f8e7d6c5b4a3f2e","name":"an ordinary name"}"#], &["9f8e7d6c5b4a3f2e"]),
            (&["run", "--accessToken", "-9f8e7d6c5b4a3f2e"], &["-9f8e7d6c5b4a3f2e"]),
            (&["run", "--token", "--verbose-for-everybody", "/srv/auth-tokens", "an-ordinary-word"], &[]),
        ] {
            let argv = words.iter().map(|word| (*word).to_owned()).collect();
            let found = credentials(McpTransport::Program { argv, env: Default::default(), folder: None });
            assert_eq!(found, expected, "{words:?}");
        }
        let env = [("AUTH_HEADER", "Bearer 9f8e7d6c5b4a3f2e"), ("DSN", "host=db password=hunter2hunter2")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let found = credentials(McpTransport::Program { argv: vec!["x".into()], env, folder: None });
        assert_eq!(found, ["9f8e7d6c5b4a3f2e", "hunter2hunter2"]);
    }
}
