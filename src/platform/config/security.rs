//! The security settings: authentication, public names, trusted proxies and the encryption key.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::config::ConfigError;
use crate::config::environment::{Environment, parse_list, read_secret_file};
use crate::config::file::ConfigFile;
use crate::config::proxy_users::{self, ProxyUserSettings};
use crate::config::setting::{SettingSource, SourcedSetting};
use turnleaf_domain::SecondFactorPolicy;

/// The minimum length of the proxy secret.
const PROXY_SECRET_CHARS: usize = 16;

/// The authentication mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    /// No authentication: only this machine may reach the server.
    None,
    /// People sign in to accounts, programs have API tokens.
    Accounts,
    /// A reverse proxy authenticates people; the server answers only that proxy.
    Proxy,
}

impl AuthMode {
    /// Returns the name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Accounts => "accounts",
            Self::Proxy => "proxy",
        }
    }
}

/// The settings that control access.
#[derive(Debug, Clone)]
pub struct SecuritySettings {
    pub auth: SourcedSetting<AuthMode>,
    /// The public URL, if it differs from the listen address.
    pub public_url: Option<PublicUrl>,
    /// Additional host names, in lower case, with or without port, under which requests are answered.
    pub allowed_hosts: SourcedSetting<Vec<String>>,
    /// The proxies whose forwarded client addresses are trusted.
    pub trusted_proxies: SourcedSetting<Vec<AddressRange>>,
    /// The secret with which a trusted proxy proves its identity in each request.
    pub proxy_secret: Option<SecretString>,
    /// The settings for a proxy that names the people whom it authenticates, if it does.
    pub proxy_users: Option<ProxyUserSettings>,
    /// The accounts of which a second factor is required.
    pub second_factor: SourcedSetting<SecondFactorPolicy>,
    /// The key that encrypts stored secrets.
    pub secret_key: Option<SecretString>,
}

/// An origin such as `https://chat.example`: scheme, host and port only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    /// Returns the origin as browsers send it in `Origin`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the host as browsers send it in `Host`.
    pub fn host(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, host)| host)
    }

    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }

    /// Returns true if the host is only this machine: a loopback address, `localhost` or a subdomain of it (RFC
    /// 6761).
    pub fn is_loopback(&self) -> bool {
        is_loopback_host(self.host())
    }
}

/// Returns true if a host, with or without port, is only this machine.
pub fn is_loopback_host(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().to_ascii_lowercase();
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

impl FromStr for PublicUrl {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let wrong = || {
            ConfigError::new(format!(
                "TURNLEAF_PUBLIC_URL must be like https://chat.example, without a path, but is: {text}"
            ))
        };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(wrong)?;
        let host = uri.authority().map(|host| host.as_str().to_ascii_lowercase()).ok_or_else(wrong)?;
        let has_more = uri.path().len() > 1 || uri.query().is_some() || host.contains('@') || text.contains('#');
        if has_more {
            return Err(wrong());
        }
        let default_port = if scheme == "https" { ":443" } else { ":80" };
        let host = host.strip_suffix(default_port).unwrap_or(&host);
        Ok(Self { origin: format!("{scheme}://{host}") })
    }
}

/// An IP address, or a range in CIDR notation (`10.0.0.0/8`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    pub address: IpAddr,
    /// The length of the prefix in bits.
    pub bits: u8,
}

/// The private networks. A trusted range of other addresses needs at least this many prefix bits, which the ranges of
/// large proxies have.
const PRIVATE: [(IpAddr, u8); 8] = [
    (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(100, 64, 0, 0)), 10),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(169, 254, 0, 0)), 16),
    (IpAddr::V4(Ipv4Addr::new(172, 16, 0, 0)), 12),
    (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 0)), 16),
    (IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 7),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
];
const PUBLIC_BITS: (u8, u8) = (10, 20);

impl AddressRange {
    /// Returns true if the range is so wide that it certainly includes strangers.
    fn is_too_wide(&self) -> bool {
        let (address, bits) = match self.address.to_canonical() {
            IpAddr::V4(address) if self.address.is_ipv6() => (IpAddr::V4(address), self.bits.saturating_sub(96)),
            address => (address, self.bits),
        };
        let within = |(address_of, bits_of): &(IpAddr, u8)| {
            bits >= *bits_of && Self { address: *address_of, bits: *bits_of }.contains(address)
        };
        let least = if address.is_ipv4() { PUBLIC_BITS.0 } else { PUBLIC_BITS.1 };
        bits < least && !PRIVATE.iter().any(within)
    }

    /// Returns true if the range contains the address. IPv4 addresses match their IPv4-mapped IPv6 form.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_mapped = matches!((self.address, self.address.to_canonical()), (IpAddr::V6(_), IpAddr::V4(_)));
        let (range, bits) = match self.bits.checked_sub(96) {
            Some(bits) if is_mapped => (self.address.to_canonical(), bits),
            _ => (self.address, self.bits),
        };
        let (range, address, width) = match (range, address.to_canonical()) {
            (IpAddr::V4(range), IpAddr::V4(address)) => (u128::from(u32::from(range)), u32::from(address).into(), 32),
            (IpAddr::V6(range), IpAddr::V6(address)) => (u128::from(range), u128::from(address), 128),
            _ => return false,
        };
        // A shift by the full width is undefined in Rust; such a range contains every address.
        (range ^ address).checked_shr(width - u32::from(bits)).unwrap_or(0) == 0
    }
}

impl FromStr for AddressRange {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::new(format!("TURNLEAF_TRUSTED_PROXIES contains an invalid address: {text}"));
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        if bits > most {
            return Err(wrong());
        }
        let range = Self { address, bits };
        if range.is_too_wide() {
            return Err(ConfigError::new(format!(
                "TURNLEAF_TRUSTED_PROXIES contains a range shared with other people: {text}; set the addresses the \
                proxy connects from"
            )));
        }
        Ok(range)
    }
}

impl SecuritySettings {
    /// Returns true if the mode was not chosen: a server that has accounts asks people to sign in then.
    pub fn is_auth_unset(&self) -> bool {
        self.auth.source == SettingSource::Default
    }

    /// Returns true if both have the same encryption key.
    pub fn has_same_key(&self, other: &Self) -> bool {
        let key = |of: &Self| of.secret_key.as_ref().map(|key| key.expose_secret().to_owned());
        key(self) == key(other)
    }

    /// Returns the SHA-256 of the proxy secret, which suffices to verify it.
    pub fn proxy_secret_digest(&self) -> Option<[u8; 32]> {
        self.proxy_secret.as_ref().map(|secret| Sha256::digest(secret.expose_secret()).into())
    }

    pub fn read(environment: &Environment, file: &ConfigFile) -> Result<Self, ConfigError> {
        let public_url = environment.text("TURNLEAF_PUBLIC_URL").or(file.public_url.as_deref());
        let secret_key = match (environment.secret("TURNLEAF_SECRET_KEY")?, &file.secret_key_file) {
            (Some(key), _) => Some(key),
            (None, Some(path)) => Some(read_secret_file("secret_key_file", path)?),
            (None, None) => file.secret_key.clone().map(SecretString::from),
        };
        let proxy_secret = match (environment.secret("TURNLEAF_PROXY_SECRET")?, &file.proxy_secret_file) {
            (Some(secret), _) => Some(secret),
            (None, Some(path)) => Some(read_secret_file("proxy_secret_file", path)?),
            (None, None) => file.proxy_secret.clone().map(SecretString::from),
        };
        if proxy_secret.as_ref().is_some_and(|secret| !is_proxy_secret(secret.expose_secret())) {
            return Err(ConfigError::new(format!(
                "TURNLEAF_PROXY_SECRET must have at least {PROXY_SECRET_CHARS} visible ASCII characters, because it \
                is sent in a header; generate one with `openssl rand -hex 32`"
            )));
        }
        let auth = SourcedSetting::first_set(
            [
                (SettingSource::Environment("TURNLEAF_AUTH"), environment.text_owned("TURNLEAF_AUTH")),
                (SettingSource::File("auth"), file.auth.clone()),
            ],
            || "none".to_owned(),
        );
        let auth = auth.try_map(|text, source| read_auth(&text, source))?;
        Ok(Self {
            proxy_users: proxy_users::read(auth.value == AuthMode::Proxy, environment, file)?,
            auth,
            public_url: public_url.map(str::parse).transpose()?,
            allowed_hosts: SourcedSetting::first_set(
                [
                    (
                        SettingSource::Environment("TURNLEAF_ALLOWED_HOSTS"),
                        environment.text("TURNLEAF_ALLOWED_HOSTS").map(parse_list),
                    ),
                    (SettingSource::File("allowed_hosts"), file.allowed_hosts.clone()),
                ],
                Vec::new,
            )
            .try_map(|hosts, source| hosts.iter().map(|host| read_host(host, source)).collect())?,
            trusted_proxies: SourcedSetting::first_set(
                [
                    (
                        SettingSource::Environment("TURNLEAF_TRUSTED_PROXIES"),
                        environment.text("TURNLEAF_TRUSTED_PROXIES").map(parse_list),
                    ),
                    (SettingSource::File("trusted_proxies"), file.trusted_proxies.clone()),
                ],
                Vec::new,
            )
            .try_map(|ranges, _| ranges.iter().map(|range| range.parse()).collect())?,
            second_factor: SourcedSetting::first_set(
                [
                    (
                        SettingSource::Environment("TURNLEAF_SECOND_FACTOR"),
                        environment.text_owned("TURNLEAF_SECOND_FACTOR"),
                    ),
                    (SettingSource::File("second_factor"), file.second_factor.clone()),
                ],
                || SecondFactorPolicy::default().as_str().to_owned(),
            )
            .try_map(|text, source| read_second_factor(&text, source))?,
            proxy_secret,
            secret_key,
        })
    }
}

fn is_proxy_secret(text: &str) -> bool {
    text.len() >= PROXY_SECRET_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn read_auth(text: &str, source: SettingSource) -> Result<AuthMode, ConfigError> {
    match text {
        "none" => Ok(AuthMode::None),
        "accounts" => Ok(AuthMode::Accounts),
        "proxy" => Ok(AuthMode::Proxy),
        _ => Err(ConfigError::new(format!("{source} must be `none`, `accounts` or `proxy`, but is: {text}"))),
    }
}

fn read_second_factor(text: &str, source: SettingSource) -> Result<SecondFactorPolicy, ConfigError> {
    let wrong =
        || ConfigError::new(format!("{source} must be `optional`, `administrators` or `everyone`, but is: {text}"));
    SecondFactorPolicy::parse(text).ok_or_else(wrong)
}

fn read_host(text: &str, source: SettingSource) -> Result<String, ConfigError> {
    let host: Authority =
        text.parse().map_err(|_| ConfigError::new(format!("{source} contains an invalid host name: {text}")))?;
    if host.as_str().contains(['@', '*']) {
        return Err(ConfigError::new(format!("{source} takes full host names without patterns: {text}")));
    }
    Ok(host.as_str().to_ascii_lowercase())
}
