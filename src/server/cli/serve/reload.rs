//! SIGHUP reloads the configuration: reloadable settings take effect, others are named in the log, and an invalid
//! configuration leaves the present one in force. Running replies and tool calls are not interrupted.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::signal::unix::Signal;
use tokio_util::sync::CancellationToken;

use crate::domain::UserId;
use crate::server::http::request::allowed_hosts::AllowedHosts;
use turnleaf_platform::config::binding;
use turnleaf_platform::config::drain::DrainSettings;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::logging::LoggingSettings;
use turnleaf_platform::config::proxy_users::ProxyUserSettings;
use turnleaf_platform::config::security::SecuritySettings;
use turnleaf_platform::config::{CliFlags, Config, ConfigError};
use turnleaf_platform::telemetry::LogFilter;
use turnleaf_providers::registry::{ProviderRegistry, local_servers};
use turnleaf_service::{Service, ServiceError};

/// The settings that need a restart, by the keys of the file.
const NEED_RESTART: [&str; 14] = [
    "listen",
    "data_dir",
    "database_url",
    "secret_key",
    "auth",
    "public_url",
    "trusted_proxies",
    "proxy_secret",
    "proxy_user_header",
    "proxy_groups_header",
    "proxy_create_accounts",
    "drain_announce_seconds",
    "drain_seconds",
    "log_format",
];

/// The components that a reload changes.
pub struct ConfigReload {
    pub flags: CliFlags,
    /// The configuration of the start, which stays in force for settings that need a restart.
    pub initial_config: Config,
    pub owner: UserId,
    pub service: Service,
    pub registry: Arc<ProviderRegistry>,
    pub hosts: AllowedHosts,
    pub listen_addresses: Vec<IpAddr>,
    pub log: LogFilter,
}

impl ConfigReload {
    /// Reloads on each signal until shutdown. Signals that arrive during a reload are merged into one.
    pub async fn reload_on_hangup(self, mut hangup: Signal, shutdown: CancellationToken) {
        while let Some(Some(())) = shutdown.run_until_cancelled(hangup.recv()).await {
            match Config::load(&self.flags, &Environment::from_process()) {
                Err(error) => log_refusal(&error),
                Ok(config) => {
                    let security = self.security(&config);
                    if let Err(error) = binding::check(&self.initial_config.listen, &[], &security) {
                        log_refusal(&error);
                    } else if let Err(error) = self.apply(config, &security).await {
                        tracing::error!(%error, "the configuration was only partly reloaded");
                    }
                }
            }
        }
    }

    /// Returns the security settings after the reload: only the allowed hosts and the second factor change without a
    /// restart.
    fn security(&self, new: &Config) -> SecuritySettings {
        let (allowed_hosts, second_factor) = (new.security.allowed_hosts.clone(), new.security.second_factor.clone());
        SecuritySettings { allowed_hosts, second_factor, ..self.initial_config.security.clone() }
    }

    async fn apply(&self, config: Config, security: &SecuritySettings) -> Result<(), ServiceError> {
        let ignored = self.needing_restart(&config);
        if let Some(complaint) = self.log.set(&config.logging) {
            tracing::warn!("{complaint}; the log filter is unchanged");
        }
        self.hosts.replace(security, self.listen_addresses.iter().copied());
        self.service.storage().set(config.min_free_disk.value.0, config.quota.value.0);
        self.service.supervisor().set_stores_raw(config.store_raw.value);
        self.registry.set_prices(config.prices);
        let finds_locally = config.providers.find_local_servers.value;
        self.registry.set_candidates(if finds_locally { local_servers::candidates() } else { Vec::new() });
        self.service.reload_providers(config.providers.endpoints).await?;
        self.service.reload_web_search(config.web_search).await;
        self.service.set_identity_providers(config.identity_providers);
        self.service.set_second_factor_policy(security.second_factor.value);
        self.service.reload_tools(self.owner, config.tool_servers).await?;
        // New providers list their models in the background.
        let registry = self.registry.clone();
        tokio::spawn(async move { registry.refresh().await });
        if !ignored.is_empty() {
            tracing::warn!("changed settings that need a restart: {}", ignored.join(", "));
        }
        tracing::info!("reloaded the configuration");
        Ok(())
    }

    /// Returns the changed settings that need a restart. The configuration is destructured completely, so that a new
    /// setting must be handled here or in `apply`.
    fn needing_restart(&self, new: &Config) -> Vec<&'static str> {
        let Config {
            file: _,
            listen,
            data_dir,
            database,
            store_raw: _,
            min_free_disk: _,
            quota: _,
            providers: _,
            prices: _,
            tool_servers: _,
            web_search: _,
            identity_providers: _,
            security:
                SecuritySettings {
                    auth,
                    public_url,
                    allowed_hosts: _,
                    trusted_proxies,
                    proxy_secret: _,
                    proxy_users,
                    second_factor: _,
                    secret_key: _,
                },
            drain: DrainSettings { announce, finish },
            logging: LoggingSettings { filter: _, format, colour: _ },
            site_root: _,
        } = &self.initial_config;
        let (was, is) = (&self.initial_config.security, &new.security);
        let named = |part: fn(&ProxyUserSettings) -> &str| {
            proxy_users.as_ref().map_or("", part) != is.proxy_users.as_ref().map_or("", part)
        };
        let changed = [
            listen.host_and_port() != new.listen.host_and_port(),
            data_dir.value != new.data_dir.value,
            database.value != new.database.value,
            !was.has_same_key(is),
            auth.value != is.auth.value,
            *public_url != is.public_url,
            trusted_proxies.value != is.trusted_proxies.value,
            was.proxy_secret_digest() != is.proxy_secret_digest(),
            named(|users| users.user_header.as_str()),
            named(|users| users.groups_header.as_ref().map_or("", |header| header.as_str())),
            named(|users| if users.creates_accounts { "true" } else { "" }),
            announce.value != new.drain.announce.value,
            finish.value != new.drain.finish.value,
            format.value != new.logging.format.value,
        ];
        NEED_RESTART.into_iter().zip(changed).filter_map(|(name, has_changed)| has_changed.then_some(name)).collect()
    }
}

fn log_refusal(error: &ConfigError) {
    tracing::error!(%error, "the configuration was not reloaded; the previous one stays active");
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_platform::config::file::ConfigFile;

    /// The reloadable settings, by the keys of the file, as the README lists them.
    const RELOADED: [&str; 12] = [
        "providers",
        "prices",
        "tool_servers",
        "web_search",
        "identity_providers",
        "second_factor",
        "find_local_servers",
        "allowed_hosts",
        "store_raw",
        "min_free_disk",
        "quota",
        "log",
    ];

    #[test]
    fn every_file_setting_is_reloaded_or_needs_restart() {
        let refusal = toml::from_str::<ConfigFile>("no_such_setting = 1").err().unwrap().to_string();
        let (_, expected) = refusal.split_once("expected one of ").unwrap();
        // Keys of secrets also exist with the suffix `_file`.
        let keys: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 15, "{refusal}");
        for key in &keys {
            let name = key.strip_suffix("_file").unwrap_or(key);
            let lists = [RELOADED.contains(&name), NEED_RESTART.contains(&name)];
            assert_eq!(lists.iter().filter(|is_in| **is_in).count(), 1, "{key}: {lists:?}");
        }
        let readme = include_str!("../../../../docs/configuration.md");
        let (_, section) = readme.split_once("**SIGHUP**").unwrap();
        let (reloaded, rest) = section.split_once("Running replies").unwrap();
        let (restart, _) = rest.split_once("need a restart").unwrap();
        for (text, names) in [(reloaded, &RELOADED[..]), (restart, &NEED_RESTART[..])] {
            assert!(names.iter().all(|name| text.contains(&format!("`{name}`"))), "{text}: {names:?}");
        }
    }
}
