//! SIGHUP reloads the configuration: what can change while the server runs takes effect, what cannot is named, and a
//! configuration that cannot be read leaves the one in force as it is. Replies and tool calls that run are not
//! interrupted.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::signal::unix::Signal;
use tokio_util::sync::CancellationToken;

use crate::domain::UserId;
use crate::server::http::host::AllowedHosts;
use crate::server::outbound::registry::{Registry, local};
use crate::server::platform::config::environment::Environment;
use crate::server::platform::config::security::Security;
use crate::server::platform::config::{Config, ConfigError, Flags};
use crate::server::platform::telemetry::LogFilter;
use crate::server::service::{Service, ServiceError};

/// What a reload changes.
pub struct Reload {
    pub flags: Flags,
    /// The configuration that the server started with: the settings that need a restart are still its.
    pub started: Config,
    pub owner: UserId,
    pub service: Service,
    pub registry: Arc<Registry>,
    pub hosts: AllowedHosts,
    pub listening: Vec<IpAddr>,
    pub log: LogFilter,
}

impl Reload {
    /// Reloads with each signal until the server goes down. Signals that come during a reload are one.
    pub async fn on_hangup(self, mut hangup: Signal, shutdown: CancellationToken) {
        while let Some(Some(())) = shutdown.run_until_cancelled(hangup.recv()).await {
            match Config::load(&self.flags, &Environment::of_process()) {
                Err(error) => refused(&error),
                Ok(config) => {
                    if let Err(error) = self.apply(config).await {
                        tracing::error!(%error, "the configuration was reloaded only in part");
                    }
                }
            }
        }
    }

    async fn apply(&self, config: Config) -> Result<(), ServiceError> {
        let ignored = self.needing_restart(&config);
        if let Some(complaint) = self.log.set(&config.logging) {
            tracing::warn!("{complaint}; the filter stays as it was");
        }
        // The public address is one of the names, and needs a restart.
        let public_url = self.started.security.public_url.clone();
        let security = Security { public_url, ..config.security };
        self.hosts.replace(&security, self.listening.iter().copied());
        self.service.storage().set(config.min_free_disk.value.0, config.quota.value.0);
        self.service.supervisor().set_stores_raw(config.store_raw.value);
        self.registry.set_prices(config.prices);
        let finds_locally = config.providers.find_local_servers.value;
        self.registry.set_candidates(if finds_locally { local::candidates() } else { Vec::new() });
        self.service.reload_providers(self.owner, config.providers.endpoints).await?;
        self.service.reload_tools(self.owner, config.tool_servers).await?;
        // New providers are asked for their models; nobody waits for that.
        let registry = self.registry.clone();
        tokio::spawn(async move { registry.refresh().await });
        if !ignored.is_empty() {
            tracing::warn!("changed settings that need a restart: {}", ignored.join(", "));
        }
        tracing::info!("reloaded the configuration");
        Ok(())
    }

    /// The settings that a reload cannot change and that are not what the server started with.
    fn needing_restart(&self, new: &Config) -> Vec<&'static str> {
        let old = &self.started;
        let (was, is) = (&old.security, &new.security);
        [
            ("listen", old.listen.text() != new.listen.text()),
            ("data_dir", old.data_dir.value != new.data_dir.value),
            ("database_url", old.database.value != new.database.value),
            ("secret_key", !was.has_key_of(is)),
            ("auth", was.auth.value != is.auth.value),
            ("public_url", was.public_url != is.public_url),
            ("trusted_proxies", was.trusted_proxies.value != is.trusted_proxies.value),
            ("log_format", old.logging.format.value != new.logging.format.value),
        ]
        .into_iter()
        .filter_map(|(name, has_changed)| has_changed.then_some(name))
        .collect()
    }
}

fn refused(error: &ConfigError) {
    tracing::error!(%error, "the configuration was not reloaded; the one in force stays");
}
