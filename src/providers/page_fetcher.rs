//! Fetcher for public web pages whose URL a model chose, guarded against requests to internal networks (SSRF). One
//! parser reads the URL, every name is resolved here and checked before the connection, and each redirect is checked
//! like the first URL; redirects to another host need the permission of the chat. No cookie, key or proxy is used.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Response, Url};

use super::address::is_public;
use super::http_client::guard::BlockedAddress;
use super::http_client::{self, connection_errors};
use turnleaf_domain::limits;
use turnleaf_platform::base_url::literal_address;

/// The maximum length of a URL.
const URL_BYTES: usize = 2_000;

/// A fetched page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPage {
    /// The URL after redirects.
    pub url: String,
    /// The media type without parameters, in lower case (`text/html`).
    pub content_type: String,
    /// The character encoding, if the server states it.
    pub charset: Option<String>,
    pub body: Bytes,
    /// The page is longer than the limit, and `body` is its beginning.
    pub is_cut: bool,
}

impl FetchedPage {
    /// Returns true if the page is HTML.
    pub fn is_markup(&self) -> bool {
        matches!(self.content_type.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// The reason why a page could not be fetched, as a message for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("blocked_address: {0}. Only public internet pages can be fetched.")]
    Blocked(String),
    #[error("The page could not be fetched: {0}.")]
    Failed(String),
    #[error(
        "other_host: The page redirects to {url} on another host ({host}), which the user has not allowed. The \
        redirect was not followed. If you need it, fetch that address in a separate call so that the user can be \
        asked."
    )]
    OtherHost { url: String, host: String },
}

/// Decides whether a redirect to another host may be followed.
pub trait RedirectPolicy: Send + Sync {
    fn may_reach<'a>(&'a self, host: &'a str) -> BoxFuture<'a, bool>;
}

/// Returns the host of a URL in the form that grants use.
///
/// # Errors
/// The URL is invalid or blocked; names are not resolved here.
pub fn host_of(address: &str) -> Result<String, FetchError> {
    parse_public_url(address).map(|url| host(&url))
}

/// Returns a host that a user entered in the form that grants use; `None` if the text is more than a host, or not a
/// public one.
pub fn parse_host(text: &str) -> Option<String> {
    let is_plain = !text.is_empty() && !text.contains(['/', '?', '#', '@', ':', '\\']) && text.contains('.');
    host_of(&format!("https://{text}/")).ok().filter(|_| is_plain)
}

/// Returns the host without a trailing dot, which names the same host.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Resolves host names.
pub trait NameResolver: Send + Sync + 'static {
    fn lookup_addresses(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

    /// Returns the address to connect to instead of a checked one. Only tests override it, to serve public addresses
    /// locally.
    fn route(&self, address: SocketAddr) -> SocketAddr {
        address
    }
}

struct SystemResolver;

impl NameResolver for SystemResolver {
    fn lookup_addresses(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let name = name.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) })
    }
}

/// Fetches pages. Cheap to clone; the client is built on first use.
#[derive(Clone)]
pub struct Fetcher {
    names: Arc<dyn NameResolver>,
    client: Arc<OnceLock<Result<reqwest::Client, String>>>,
}

impl Fetcher {
    /// Creates a fetcher with the system's resolver.
    pub fn with_system_resolver() -> Self {
        Self::new(Arc::new(SystemResolver))
    }

    pub fn new(names: Arc<dyn NameResolver>) -> Self {
        Self { names, client: Arc::default() }
    }

    /// Fetches a page. Redirects to another host are followed only if `crossing` allows it.
    ///
    /// # Errors
    /// The reason, as a message for the model.
    pub async fn get(&self, address: &str, crossing: &dyn RedirectPolicy) -> Result<FetchedPage, FetchError> {
        let seconds = limits::FETCH_TIME.as_secs();
        let took_too_long = || FetchError::Failed(format!("it took longer than {seconds} seconds"));
        let following = tokio::time::timeout(limits::FETCH_TIME, self.follow(address, crossing));
        following.await.unwrap_or_else(|_| Err(took_too_long()))
    }

    async fn follow(&self, address: &str, crossing: &dyn RedirectPolicy) -> Result<FetchedPage, FetchError> {
        let mut url = parse_public_url(address)?;
        let allowed = host(&url);
        for _ in 0..=limits::FETCH_HOPS {
            let response = self.send(&url).await?;
            if !response.status().is_redirection() {
                return read(url, response).await;
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.ok_or_else(|| FetchError::Failed("it redirects without a target".into()))?;
            let next = url.join(to).map_err(|_| FetchError::Failed("it redirects to an invalid address".into()))?;
            url = parse_public_url(next.as_str())?;
            let host = host(&url);
            if host != allowed && !crossing.may_reach(&host).await {
                return Err(FetchError::OtherHost { url: url.into(), host });
            }
        }
        Err(FetchError::Failed(format!("it redirects more than {} times", limits::FETCH_HOPS)))
    }

    async fn send(&self, url: &Url) -> Result<Response, FetchError> {
        let client = self.client.get_or_init(|| {
            let names = || Arc::new(PublicResolver(self.names.clone()));
            http_client::build(|| http_client::builder().no_proxy().referer(false).dns_resolver(names()))
        });
        let client = client.as_ref().map_err(|error| FetchError::Failed(error.clone()))?;
        let accept =
            "text/html, text/plain;q=0.9, application/json;q=0.9, text/*;q=0.8, application/xml;q=0.8, */*;q=0.1";
        let request = client
            .get(url.clone())
            .header(ACCEPT, HeaderValue::from_static(accept))
            .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        request.send().await.map_err(|error| fetch_error(&error))
    }
}

/// Parses a URL and refuses everything but a plain public HTTP URL.
fn parse_public_url(address: &str) -> Result<Url, FetchError> {
    let no = |reason: &str| FetchError::Failed(reason.to_owned());
    if address.len() > URL_BYTES {
        return Err(no("the address is too long"));
    }
    // The parser would silently drop some of these and treat others as a slash.
    if address.trim() != address || address.contains(|c: char| c.is_control() || c == '\\') {
        return Err(no("the address contains spaces, control characters or backslashes"));
    }
    let mut url = Url::parse(address).map_err(|_| no("this is not a valid address; it must start with https://"))?;
    let blocked = |reason: &str| Err(FetchError::Blocked(reason.to_owned()));
    if !matches!(url.scheme(), "http" | "https") {
        return blocked("the address must start with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() || authority(address).contains('@') {
        return blocked("the address contains a user name or password");
    }
    if !matches!(url.port(), None | Some(80 | 443)) {
        return blocked("the address uses a port other than 80 or 443");
    }
    if let Some(ip) = literal_address(url.as_str()).filter(|ip| !is_public(*ip)) {
        return blocked(&format!("{ip} is not a public internet address"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(no("the address has no host"));
    }
    url.set_fragment(None);
    Ok(url)
}

fn authority(address: &str) -> &str {
    let rest = address.split_once(':').map_or(address, |(_, rest)| rest).trim_start_matches('/');
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn fetch_error(error: &reqwest::Error) -> FetchError {
    let links = std::iter::successors(Some(error as &(dyn Error + 'static)), |link| (*link).source());
    for link in links {
        let held = link.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let blocked = link.downcast_ref().or_else(|| held.and_then(|held| held.downcast_ref()));
        if let Some(BlockedAddress::NotPublic(ip) | BlockedAddress::Metadata(ip)) = blocked {
            return FetchError::Blocked(format!("{ip} is not a public internet address"));
        }
    }
    FetchError::Failed(format!("no response ({})", connection_errors::innermost_message(error)))
}

async fn read(url: Url, response: Response) -> Result<FetchedPage, FetchError> {
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if !response.status().is_success() {
        return Err(FetchError::Failed(format!("the server responded with status {}", response.status().as_u16())));
    }
    if let Some(packed) = header(CONTENT_ENCODING).filter(|packed| !packed.eq_ignore_ascii_case("identity")) {
        return Err(FetchError::Failed(format!("it was compressed as {:.40}, which was not requested", packed)));
    }
    let mut kind = header(CONTENT_TYPE).unwrap_or("text/plain").split(';');
    let content_type = kind.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = kind.find_map(charset);
    if !is_text(&content_type) {
        return Err(FetchError::Failed(format!("it is {content_type:.100}, not text")));
    }
    let mut body = Vec::new();
    let mut is_cut = false;
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| fetch_error(&error))?;
        let room = limits::FETCH_BYTES - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(FetchedPage { url: url.into(), content_type, charset, body: body.into(), is_cut })
}

/// Returns the value of a media type parameter if it is `charset`.
fn charset(parameter: &str) -> Option<String> {
    let (name, value) = parameter.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']).trim();
    (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
}

fn is_text(content_type: &str) -> bool {
    const TEXTS: [&str; 5] = [
        "application/json",
        "application/xml",
        "application/xhtml+xml",
        "application/ld+json",
        "application/javascript",
    ];
    content_type.starts_with("text/")
        || TEXTS.contains(&content_type)
        || content_type.ends_with("+json")
        || content_type.ends_with("+xml") && !content_type.starts_with("image/")
}

/// DNS resolver that returns only public addresses, so that the checked address is the one that is connected to.
struct PublicResolver(Arc<dyn NameResolver>);

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.0.clone();
        Box::pin(async move {
            let found = names.lookup_addresses(name.as_str()).await?;
            match found.iter().find(|address| !is_public(address.ip())) {
                // A name with both public and private addresses is refused completely.
                Some(address) => Err(Box::new(BlockedAddress::NotPublic(address.ip())) as Box<dyn Error + Send + Sync>),
                None => Ok(Box::new(found.into_iter().map(move |address| names.route(address))) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests;
