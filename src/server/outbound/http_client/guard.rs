//! The guard of endpoints that may only be on the open internet: a host that is written as an address is checked before
//! anything is sent, a name when it is resolved to be connected to, because it may mean something else a moment later.
//! Both are needed: no name is asked about for an address.

use std::collections::HashSet;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::server::outbound::address::is_public;
use crate::server::platform::base_url;

/// Why an address is not connected to. What can be done about it is said by whoever knows what is there ([`Meant`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not on the open internet")]
pub struct NotPublic(pub IpAddr);

/// What is reached at an address: where its owner says that it may be in the local network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    Provider,
    ToolServer,
}

impl NotPublic {
    /// The reason with what its owner can do about it, as it ends up in the detail of a failure.
    pub fn advice(self, meant: Meant) -> String {
        let what = match meant {
            Meant::Provider => "provider",
            Meant::ToolServer => "server of tools",
        };
        format!("{self}. If that is meant, switch “Local network” on for this {what}.")
    }
}

/// Refuses an address whose host is written as one that is not public.
pub fn check_literal(base_url: &str) -> Result<(), NotPublic> {
    match base_url::literal_host(base_url) {
        Some(address) if !is_public(address) => Err(NotPublic(address)),
        _ => Ok(()),
    }
}

/// Resolves names as the system does and leaves out what is not public. Names of the system's proxies are let through:
/// where there is one, it is the one that connects, and what it may reach is its owner's business.
#[derive(Debug, Clone)]
pub struct PublicResolver {
    proxies: Arc<HashSet<String>>,
}

impl PublicResolver {
    /// With the proxies that the environment names.
    pub fn of_process() -> Self {
        const VARIABLES: [&str; 6] =
            ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
        let host = |variable: &str| {
            let text = std::env::var(variable).ok()?;
            let text = if text.contains("://") { text } else { format!("http://{text}") };
            reqwest::Url::parse(&text).ok()?.host_str().map(str::to_ascii_lowercase)
        };
        Self { proxies: Arc::new(VARIABLES.into_iter().filter_map(host).collect()) }
    }
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self.proxies.contains(&name.as_str().to_ascii_lowercase());
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> =
                found.iter().copied().filter(|address| is_proxy || is_public(address.ip())).collect();
            match (public.is_empty(), found.first()) {
                (true, Some(address)) => Err(Box::new(NotPublic(address.ip())) as Box<dyn Error + Send + Sync>),
                _ => Ok(Box::new(public.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn a_host_written_as_an_address_is_seen_through() {
        for url in [
            "http://127.0.0.1/",
            "http://localhost/",
            "http://localhost./",
            "http://[::1]/",
            "http://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://0.0.0.0/",
            "http://[::]/",
        ] {
            assert!(check_literal(url).is_err(), "{url}");
        }
        for url in ["https://api.example/v1", "http://8.8.8.8/v1", "http://[2606:4700:4700::1111]/"] {
            assert_eq!(check_literal(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn the_advice_names_what_is_to_be_changed() {
        let address = NotPublic(IpAddr::from([10, 0, 0, 1]));
        assert_eq!(address.to_string(), "10.0.0.1 is not on the open internet");
        for (meant, what) in [(Meant::Provider, "provider"), (Meant::ToolServer, "server of tools")] {
            let end = format!("switch “Local network” on for this {what}.");
            assert!(address.advice(meant).ends_with(&end), "{}", address.advice(meant));
        }
    }

    #[tokio::test]
    async fn a_name_that_means_this_machine_is_not_resolved_unless_it_is_the_proxys() {
        let name = || Name::from_str("localhost").unwrap();
        let none = PublicResolver { proxies: Arc::default() };
        let error = none.resolve(name()).await.err().unwrap();
        assert!(error.downcast_ref::<NotPublic>().is_some(), "{error}");
        let proxied = PublicResolver { proxies: Arc::new(HashSet::from(["localhost".to_owned()])) };
        assert!(proxied.resolve(name()).await.unwrap().next().is_some());
    }
}
