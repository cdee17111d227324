//! The listen address: a host and a port, as configured.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::setting::{SettingSource, SourcedSetting};
use crate::config::{CliFlags, ConfigError};

const DEFAULT_HOST: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 3000;

/// The host (an IP address without brackets, or a name) and the port (0 for any free one).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddress {
    pub host: SourcedSetting<String>,
    pub port: SourcedSetting<u16>,
}

impl ListenAddress {
    /// Reads the flag `--listen`, then `HOST` and `PORT`, then `LEPTOS_SITE_ADDR`, then the file.
    pub fn read(flags: &CliFlags, environment: &Environment, file: &ConfigFile) -> Result<Self, ConfigError> {
        let whole = |source: SettingSource, text: Option<&str>| -> Result<(Option<String>, Option<u16>), ConfigError> {
            let Some(text) = text else { return Ok((None, None)) };
            let (host, port) = split_host_and_port(text)
                .ok_or_else(|| ConfigError::new(format!("{source} must be HOST:PORT, but is: {text}")))?;
            Ok((Some(host), port))
        };
        let flag = whole(SettingSource::Flag("--listen"), flags.listen.as_deref())?;
        let site = whole(SettingSource::Environment("LEPTOS_SITE_ADDR"), environment.text("LEPTOS_SITE_ADDR"))?;
        let from_file = whole(SettingSource::File("listen"), file.listen.as_deref())?;
        let port = environment.text("PORT").map(|text| {
            text.parse().map_err(|_| ConfigError::new(format!("PORT must be between 0 and 65535, but is: {text}")))
        });
        let host = environment.text("HOST").map(|text| unbracket(text).to_owned());
        Ok(Self {
            host: SourcedSetting::first_set(
                [
                    (SettingSource::Flag("--listen"), flag.0),
                    (SettingSource::Environment("HOST"), host),
                    (SettingSource::Environment("LEPTOS_SITE_ADDR"), site.0),
                    (SettingSource::File("listen"), from_file.0),
                ],
                || DEFAULT_HOST.to_owned(),
            ),
            port: SourcedSetting::first_set(
                [
                    (SettingSource::Flag("--listen"), flag.1),
                    (SettingSource::Environment("PORT"), port.transpose()?),
                    (SettingSource::Environment("LEPTOS_SITE_ADDR"), site.1),
                    (SettingSource::File("listen"), from_file.1),
                ],
                || DEFAULT_PORT,
            ),
        })
    }

    /// Returns `host:port`, with brackets around an IPv6 address.
    pub fn host_and_port(&self) -> String {
        let (host, port) = (&self.host.value, self.port.value);
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Resolves the address. Calls the system's resolver if the host is a name, so it may block.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, ConfigError> {
        let port = self.port.value;
        if let Ok(address) = self.host.value.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let text = self.host_and_port();
        let found = (self.host.value.as_str(), port).to_socket_addrs();
        let mut addresses: Vec<SocketAddr> = found
            .map_err(|error| ConfigError::new(format!("cannot listen on {text} ({}): {error}", self.host.source)))?
            .collect();
        addresses.sort();
        addresses.dedup();
        if addresses.is_empty() {
            return Err(ConfigError::new(format!("cannot listen on {text}: the name has no address")));
        }
        Ok(addresses)
    }
}

/// Splits `HOST:PORT`; the port is optional. IPv6 addresses have brackets if a port follows.
fn split_host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() {
        return Some((text.to_owned(), None));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        host.parse::<IpAddr>().ok()?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None if rest.is_empty() => None,
            None => return None,
        };
        return Some((host.to_owned(), port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (text, None),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

fn unbracket(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}
