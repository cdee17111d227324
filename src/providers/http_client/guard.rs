//! Guard against requests to internal networks (SSRF). A literal address is checked before anything is sent; a name
//! is checked when it is resolved for the connection, because it may resolve differently a moment later. Both checks
//! are needed, since literal addresses are never resolved. Endpoints without the local network reach public addresses
//! only; cloud metadata and link-local addresses are blocked for all.

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::{is_metadata, is_public};
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_platform::base_url;

/// The reason why an address is blocked. The advice depends on its use ([`AddressUse`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockedAddress {
    #[error("{0} is not a public internet address")]
    NotPublic(IpAddr),
    #[error("{0} is a cloud metadata or link-local address, which Turnleaf never connects to")]
    Metadata(IpAddr),
    #[error("{0} is the name of a cloud metadata service, which Turnleaf never connects to")]
    MetadataName(&'static str),
}

/// Host names of metadata services. A proxy resolves names itself, so these are refused before anything is sent.
const METADATA_NAMES: [&str; 5] =
    ["metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal"];

/// The use of an address, which determines the setting that allows the local network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressUse {
    Provider,
    ToolServer,
    SearchEngine,
}

impl BlockedAddress {
    /// Returns the reason why this address is blocked, if it is.
    pub fn from_address(address: IpAddr, local_network: bool) -> Option<Self> {
        match address {
            address if is_metadata(address) => Some(Self::Metadata(address)),
            address if !local_network && !is_public(address) => Some(Self::NotPublic(address)),
            _ => None,
        }
    }

    /// Returns the reason with advice for the owner, as a part of a sentence.
    pub fn advice(self, address_use: AddressUse) -> CodedMessage {
        match self {
            Self::NotPublic(address) => match address_use {
                AddressUse::Provider => MessageCode::ProviderNotPublic,
                AddressUse::ToolServer => MessageCode::ToolServerNotPublic,
                AddressUse::SearchEngine => MessageCode::SearchEngineNotPublic,
            }
            .with("address", address),
            Self::Metadata(address) => MessageCode::MetadataRefused.with("address", address),
            Self::MetadataName(name) => MessageCode::MetadataNameRefused.with("name", name),
        }
    }
}

/// Refuses a URL whose host is a blocked literal address or the name of a metadata service.
pub fn check_literal(base_url: &str, local_network: bool) -> Result<(), BlockedAddress> {
    let host = reqwest::Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_ascii_lowercase));
    let host = host.as_deref().map(|host| host.trim_end_matches('.'));
    if let Some(name) = METADATA_NAMES.into_iter().find(|name| host == Some(*name)) {
        return Err(BlockedAddress::MetadataName(name));
    }
    let blocked =
        base_url::literal_address(base_url).and_then(|address| BlockedAddress::from_address(address, local_network));
    blocked.map_or(Ok(()), Err)
}

/// Resolves a host name.
type Lookup = fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

fn lookup(name: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) })
}

/// DNS resolver that drops blocked addresses from the system's results. Names of the system's proxies are exempt: the
/// proxy makes the connection, and its owner decides what it may reach.
#[derive(Debug, Clone)]
pub struct GuardedResolver {
    proxies: Arc<HashSet<String>>,
    local_network: bool,
    lookup: Lookup,
}

impl GuardedResolver {
    /// Creates a resolver that exempts the proxies in the environment variables.
    pub fn with_process_proxies(local_network: bool) -> Self {
        const VARIABLES: [&str; 6] =
            ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
        let host = |variable: &str| {
            let text = std::env::var(variable).ok()?;
            let text = if text.contains("://") { text } else { format!("http://{text}") };
            reqwest::Url::parse(&text).ok()?.host_str().map(str::to_ascii_lowercase)
        };
        Self { proxies: Arc::new(VARIABLES.into_iter().filter_map(host).collect()), local_network, lookup }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self.proxies.contains(&name.as_str().to_ascii_lowercase());
        let (local_network, found) = (self.local_network, (self.lookup)(name.as_str().to_owned()));
        Box::pin(async move {
            let found = found.await?;
            let blocked =
                |address: &SocketAddr| BlockedAddress::from_address(address.ip(), local_network).filter(|_| !is_proxy);
            let reached: Vec<SocketAddr> = found.iter().copied().filter(|address| blocked(address).is_none()).collect();
            match (reached.is_empty(), found.first().and_then(blocked)) {
                (true, Some(blocked)) => Err(Box::new(blocked) as Box<dyn Error + Send + Sync>),
                _ => Ok(Box::new(reached.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn literal_host_is_checked_in_every_spelling() {
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
            assert!(check_literal(url, false).is_err(), "{url}");
        }
        for url in ["https://api.example/v1", "http://8.8.8.8/v1", "http://[2606:4700:4700::1111]/"] {
            assert_eq!(check_literal(url, false), Ok(()), "{url}");
        }
    }

    #[test]
    fn advice_names_setting_to_change() {
        let address = BlockedAddress::NotPublic(IpAddr::from([10, 0, 0, 1]));
        assert_eq!(address.to_string(), "10.0.0.1 is not a public internet address");
        for (address_use, subject) in [
            (AddressUse::Provider, "provider"),
            (AddressUse::ToolServer, "tool server"),
            (AddressUse::SearchEngine, "search engine"),
        ] {
            let advice = address.advice(address_use).to_string();
            let end = format!("To allow it, turn on “Local network” for this {subject}");
            assert!(advice.starts_with(&address.to_string()) && advice.ends_with(&end), "{advice}");
        }
    }

    #[tokio::test]
    async fn loopback_name_is_blocked_unless_it_is_the_proxy() {
        let name = || Name::from_str("localhost").unwrap();
        let none = GuardedResolver { proxies: Arc::default(), local_network: false, lookup };
        let error = none.resolve(name()).await.err().unwrap();
        assert!(error.downcast_ref::<BlockedAddress>().is_some(), "{error}");
        let proxies = Arc::new(HashSet::from(["localhost".to_owned()]));
        let proxied = GuardedResolver { proxies, local_network: false, lookup };
        assert!(proxied.resolve(name()).await.unwrap().next().is_some());
    }

    const METADATA: [&str; 9] = [
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "2002:a9fe:a9fe::1",
    ];

    #[test]
    fn metadata_address_in_url_is_refused_even_with_local_network() {
        let other =
            ["http://2852039166/", "http://0xa9fea9fe/latest", "http://0251.0376.0251.0376/", "http://169.254.43518/"];
        let hosts =
            METADATA.map(|ip| if ip.contains(':') { format!("http://[{ip}]/") } else { format!("http://{ip}/") });
        for url in hosts.iter().map(String::as_str).chain(other) {
            let blocked = check_literal(url, true).unwrap_err();
            assert!(matches!(blocked, BlockedAddress::Metadata(_)), "{url}: {blocked}");
            let advice = blocked.advice(AddressUse::Provider).to_string();
            assert!(
                advice.starts_with(&blocked.to_string()) && !advice.contains("Local network"),
                "no switch opens it"
            );
            assert_eq!(check_literal(url, false), Err(blocked), "{url}");
        }
        for url in ["http://127.0.0.1:11434/", "http://192.168.1.5/v1", "http://[::1]/", "http://[fd12::1]/"] {
            assert_eq!(check_literal(url, true), Ok(()), "{url}");
        }
    }

    #[test]
    fn metadata_service_name_is_refused_before_proxy_resolves_it() {
        for url in [
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://METADATA.Google.internal./",
            "http://metadata/",
            "http://instance-data:80/latest",
        ] {
            for local_network in [true, false] {
                let blocked = check_literal(url, local_network);
                assert!(matches!(blocked, Err(BlockedAddress::MetadataName(_))), "{url}: {blocked:?}");
            }
        }
        assert_eq!(check_literal("http://metadata.example.org/", true), Ok(()));
    }

    #[tokio::test]
    async fn name_resolving_to_metadata_address_is_blocked_even_with_local_network() {
        /// Names in these tests encode their addresses, joined by `_`, with `x` for a colon.
        fn spelled(name: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
            let address = |text: &str| SocketAddr::new(text.replace('x', ":").parse().unwrap(), 0);
            Box::pin(std::future::ready(Ok(name.split('_').map(address).collect())))
        }
        let resolver = GuardedResolver { proxies: Arc::default(), local_network: true, lookup: spelled };
        for ip in METADATA {
            let name = Name::from_str(&ip.replace(':', "x")).unwrap();
            let refused = resolver.resolve(name).await.err().unwrap();
            assert!(matches!(refused.downcast_ref(), Some(BlockedAddress::Metadata(_))), "{ip}: {refused}");
        }
        let both = resolver.resolve(Name::from_str("169.254.169.254_10.0.0.1").unwrap()).await.unwrap();
        assert_eq!(both.map(|address| address.ip()).collect::<Vec<_>>(), [IpAddr::from([10, 0, 0, 1])]);
    }
}
