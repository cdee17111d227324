//! The credentials that a server of tools is reached with: a server may repeat them, and then neither a result nor a log
//! shows them. Its other values are ordinary text, which results may well hold.

use secrecy::SecretString;

use super::{ServerConfig, Transport};
use crate::server::outbound::redact::Secrets;
use crate::server::platform::credentials::of_named_value;

impl ServerConfig {
    /// What is taken out of what this server says, and of exports.
    pub fn credentials(&self) -> Vec<SecretString> {
        let named = |name: &str, value: &str| of_named_value(name, &SecretString::from(value));
        match &self.transport {
            Transport::Program { argv, env, .. } => {
                let of_env = env.iter().flat_map(|(name, value)| named(name, value));
                // `--token=x` and `--token x`.
                let joined = argv.iter().filter_map(|word| word.split_once('='));
                let apart = argv.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
                let apart = apart.filter(|(name, value)| name.starts_with('-') && !value.starts_with('-'));
                let of_argv = joined.chain(apart).flat_map(|(name, value)| named(name, value));
                of_env.chain(of_argv).collect()
            }
            Transport::Http { url, headers, .. } => {
                let of_headers = headers.iter().flat_map(|(name, value)| of_named_value(name, value));
                let of_query = url.query_pairs().flat_map(|(name, value)| named(&name, &value));
                of_headers.chain(of_query).chain(named("url", url.as_str())).collect()
            }
        }
    }

    pub(super) fn secrets(&self) -> Secrets {
        Secrets::new(self.credentials())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn credentials(transport: Transport) -> Vec<String> {
        let config = ServerConfig { name: "x".into(), transport, idle: None, total: None };
        config.credentials().iter().map(|secret| secret.expose_secret().to_owned()).collect()
    }

    #[test]
    fn credentials_of_every_place_are_known_and_ordinary_values_are_not() {
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
        let found = credentials(Transport::Program { argv, env, folder: None });
        assert_eq!(found, ["ghp_9f8e7d6c5b4a", "9f8e7d6c5b4a3f2e", "4a5b6c7d8e9f0a1b"]);
        let url =
            url::Url::parse("https://me:hunter2hunter2@example.org/mcp?api_key=9f8e7d6c5b4a3f2e&team=the-whole-team");
        let headers = vec![
            ("Authorization".to_owned(), SecretString::from("Bearer 0a1b2c3d4e5f6a7b")),
            ("X-Title".to_owned(), SecretString::from("an ordinary title")),
        ];
        let found = credentials(Transport::Http { url: url.expect("a URL"), headers, local_network: false });
        assert_eq!(found, ["0a1b2c3d4e5f6a7b", "9f8e7d6c5b4a3f2e", "hunter2hunter2"]);
    }
}
