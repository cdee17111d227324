//! The rules of which addresses and public names may be served. Without authentication, only loopback is allowed. Other
//! clients sign in to accounts (`docs/adr/0092-accounts.md`), or come through a reverse proxy that authenticates them
//! and proves its identity (`docs/adr/0042-authentication-and-proxies.md`).

use std::net::{IpAddr, SocketAddr};

use crate::config::ConfigError;
use crate::config::listen::ListenAddress;
use crate::config::security::{AuthMode, SecuritySettings, is_loopback_host};

/// Returns true if only this machine can reach the address, in every form (including `::ffff:127.0.0.1`).
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Rejects addresses that others could reach without authentication. It takes addresses, never names: the resolved
/// ones before binding, and those of the sockets after.
pub fn check(listen: &ListenAddress, addresses: &[SocketAddr], security: &SecuritySettings) -> Result<(), ConfigError> {
    match security.auth.value {
        AuthMode::Proxy => check_proxy(security),
        AuthMode::Accounts => Ok(()),
        AuthMode::None => {
            check_public_url(listen, security)?;
            check_names(security)?;
            check_addresses(listen, addresses)
        }
    }
}

/// Returns a warning for a server with accounts that other machines can reach without HTTPS, as far as its settings
/// tell.
pub fn plain_http_warning(addresses: &[SocketAddr], security: &SecuritySettings) -> Option<String> {
    if security.auth.value != AuthMode::Accounts {
        return None;
    }
    let open = addresses.iter().find(|address| !is_loopback(address.ip()))?;
    match &security.public_url {
        Some(url) if url.is_https() || url.is_loopback() => None,
        Some(url) => Some(format!(
            "{} has no HTTPS: everybody on the network can read passwords and chats. Put a reverse proxy with HTTPS in \
            front of the server",
            url.origin()
        )),
        None => Some(format!(
            "other machines can reach {open}, but signing in works on this machine only. Put a reverse proxy with HTTPS \
            in front of the server, and set TURNLEAF_PUBLIC_URL to its address"
        )),
    }
}

/// A proxy is identified by its source address and by its secret. Neither is enough alone: every program on its
/// machine has the same address, and a secret may leak.
fn check_proxy(security: &SecuritySettings) -> Result<(), ConfigError> {
    let source = security.auth.source;
    let missing = match (security.trusted_proxies.value.is_empty(), security.proxy_secret.is_none()) {
        (false, false) => return Ok(()),
        (true, false) => "TURNLEAF_TRUSTED_PROXIES is not set",
        (false, true) => "TURNLEAF_PROXY_SECRET is not set",
        (true, true) => "TURNLEAF_TRUSTED_PROXIES and TURNLEAF_PROXY_SECRET are not set",
    };
    Err(ConfigError::new(format!(
        "refusing to serve behind a proxy (set by {source}): {missing}.\n\
        Set TURNLEAF_TRUSTED_PROXIES to the addresses the proxy connects from (127.0.0.1 for one on this machine), \
        and configure the proxy to send TURNLEAF_PROXY_SECRET (or the content of TURNLEAF_PROXY_SECRET_FILE) in the \
        header X-Turnleaf-Proxy-Secret of every request."
    )))
}

fn check_public_url(listen: &ListenAddress, security: &SecuritySettings) -> Result<(), ConfigError> {
    let Some(url) = security.public_url.as_ref().filter(|url| !url.is_loopback()) else {
        return Ok(());
    };
    let port = listen.port.value;
    Err(ConfigError::new(format!(
        "refusing to serve {} (TURNLEAF_PUBLIC_URL): other machines can reach it without signing in.\n\
        Do one of these:\n\
        \x20 1. let people sign in to accounts: TURNLEAF_AUTH=accounts\n\
        \x20 2. require a password at the reverse proxy and only accept requests from it: TURNLEAF_AUTH=proxy with \
        TURNLEAF_TRUSTED_PROXIES and TURNLEAF_PROXY_SECRET\n\
        \x20 3. connect from the other machine through a tunnel: ssh -L {port}:127.0.0.1:{port} THIS-MACHINE\n\
        \x20 4. remove TURNLEAF_PUBLIC_URL if only this machine uses it",
        url.origin(),
    )))
}

/// An additional name means that a proxy forwards requests of other machines, and so does a trusted proxy.
fn check_names(security: &SecuritySettings) -> Result<(), ConfigError> {
    let hosts = &security.allowed_hosts;
    let (subject, source) = match hosts.value.iter().find(|host| !is_loopback_host(host)) {
        Some(host) => (format!("accept the host {host}"), hosts.source),
        None if security.trusted_proxies.value.is_empty() => return Ok(()),
        None => ("trust a proxy".to_owned(), security.trusted_proxies.source),
    };
    Err(ConfigError::new(format!(
        "refusing to {subject} (set by {source}): other machines can reach it through a proxy without signing in.\n\
        Do one of these:\n\
        \x20 1. let people sign in to accounts: TURNLEAF_AUTH=accounts\n\
        \x20 2. require a password at the reverse proxy and only accept requests from it: TURNLEAF_AUTH=proxy with \
        TURNLEAF_TRUSTED_PROXIES and TURNLEAF_PROXY_SECRET\n\
        \x20 3. remove the setting if only this machine uses the server; names below localhost are allowed"
    )))
}

fn check_addresses(listen: &ListenAddress, addresses: &[SocketAddr]) -> Result<(), ConfigError> {
    let Some(open) = addresses.iter().find(|address| !is_loopback(address.ip())) else {
        return Ok(());
    };
    let host_and_port = listen.host_and_port();
    let resolved =
        if listen.host.value.parse::<IpAddr>().is_ok() { String::new() } else { format!(", which is {open}") };
    let port = listen.port.value;
    Err(ConfigError::new(format!(
        "refusing to listen on {host_and_port}{resolved} (set by {}): other machines can reach it without signing in.\n\
        Do one of these:\n\
        \x20 1. listen on this machine only: turnleaf serve --listen 127.0.0.1:{port}\n\
        \x20 2. connect from the other machine through a tunnel: ssh -L {port}:127.0.0.1:{port} THIS-MACHINE\n\
        \x20 3. let people sign in to accounts: TURNLEAF_AUTH=accounts\n\
        \x20 4. require a password at a reverse proxy and only accept requests from it: TURNLEAF_AUTH=proxy with \
        TURNLEAF_TRUSTED_PROXIES and TURNLEAF_PROXY_SECRET",
        listen.host.source,
    )))
}
