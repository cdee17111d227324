//! The host names under which the server answers. DNS rebinding: a foreign page that points its own name at this
//! machine still sends that name in `Host`, and gets 421 on every route.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::HOST;
use http::uri::Authority;

use crate::domain::MessageCode;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::config::security::SecuritySettings;

/// The allowed host names.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Arc<RwLock<Vec<HostName>>>);

#[derive(Debug)]
struct HostName {
    /// Lower case; IPv6 addresses in brackets.
    host: String,
    /// `None` allows any port.
    port: Option<u16>,
}

impl AllowedHosts {
    /// Allows loopback by name and number, the listening addresses, the public address, and the configured names.
    ///
    /// Loopback names are allowed with any port: a browser reaches another port of this machine only if someone
    /// forwards it here (an SSH tunnel, a container), and no foreign name can pretend to be one of these.
    pub fn new(security: &SecuritySettings, listening: impl IntoIterator<Item = IpAddr>) -> Self {
        Self(Arc::new(RwLock::new(Self::names(security, listening))))
    }

    /// Replaces the names by those of another configuration, also for all clones.
    pub fn replace(&self, security: &SecuritySettings, listening: impl IntoIterator<Item = IpAddr>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Self::names(security, listening);
    }

    fn names(security: &SecuritySettings, listening: impl IntoIterator<Item = IpAddr>) -> Vec<HostName> {
        let any_port = |host: String| HostName { host, port: None };
        let mut names: Vec<HostName> = ["localhost", "127.0.0.1", "[::1]"].map(|host| any_port(host.to_owned())).into();
        names.extend(listening.into_iter().filter(|address| !address.is_unspecified()).map(|address| match address {
            IpAddr::V4(address) => any_port(address.to_string()),
            IpAddr::V6(address) => any_port(format!("[{address}]")),
        }));
        names.extend(security.public_url.iter().filter_map(|url| HostName::read(url.host())));
        names.extend(security.allowed_hosts.value.iter().filter_map(|host| HostName::read(host)));
        names
    }

    /// Returns whether requests for this `host[:port]` are allowed.
    pub fn allows(&self, text: &str) -> bool {
        let Some(requested) = HostName::read(text) else { return false };
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names.iter().any(|name| name.host == requested.host && (name.port.is_none() || name.port == requested.port))
    }
}

impl HostName {
    fn read(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok().filter(|_| !text.contains('@'))?;
        let host = authority.host().to_ascii_lowercase();
        // `host:` and `host:99999` parse as authorities too, without a port.
        let port = authority.port_u16();
        let is_whole = authority.as_str().len() == host.len() || port.is_some();
        (is_whole && !host.is_empty()).then_some(Self { host, port })
    }
}

/// Refuses requests for other host names.
pub async fn layer(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    let mut given = request.headers().get_all(HOST).iter();
    let header = given.next().and_then(|value| value.to_str().ok());
    let is_single = given.next().is_none();
    // A request line with an absolute URL names its host there; the header must be allowed as well.
    let is_known = is_single
        && header.is_some_and(|host| hosts.allows(host))
        && request.uri().authority().is_none_or(|authority| hosts.allows(authority.as_str()));
    if is_known {
        return next.run(request).await;
    }
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", MessageCode::UnknownHost).into_response()
}
