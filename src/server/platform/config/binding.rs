//! Which addresses may be served: while nobody has to sign in, only this machine's own (security.md 2.5).

use std::net::{IpAddr, SocketAddr};

use crate::server::platform::config::ConfigError;
use crate::server::platform::config::listen::Listen;
use crate::server::platform::config::security::Auth;

/// Whether only this machine can reach the address, in every spelling (`::ffff:127.0.0.1` too).
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Refuses an address that other machines can reach when nothing asks them who they are. It is given addresses, never
/// names: the resolved ones before binding, and the sockets' own after.
pub fn check(listen: &Listen, addresses: &[SocketAddr], auth: Auth) -> Result<(), ConfigError> {
    let Auth::None = auth;
    let Some(open) = addresses.iter().find(|address| !is_loopback(address.ip())) else {
        return Ok(());
    };
    let asked = listen.text();
    let resolved =
        if listen.host.value.parse::<IpAddr>().is_ok() { String::new() } else { format!(", which is {open}") };
    let port = listen.port.value;
    Err(ConfigError::new(format!(
        "refusing to listen on {asked}{resolved} (set by {}): other machines can reach it, and nobody has to sign in.\n\
         What you can do:\n\
         \x20 1. listen on this machine only: turnleaf serve --listen 127.0.0.1:{port}\n\
         \x20 2. reach it from another machine through a tunnel: ssh -L {port}:127.0.0.1:{port} THIS-MACHINE\n\
         \x20 3. let a reverse proxy on this machine ask for a password, forward to 127.0.0.1:{port}, and name its \
         public address in TURNLEAF_PUBLIC_URL",
        listen.host.source,
    )))
}
