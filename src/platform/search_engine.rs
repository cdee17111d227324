//! Web search engines: the interface between the configuration and the settings, which produce them, and the tool that
//! asks them.

use secrecy::{ExposeSecret, SecretString};

/// The API of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEngineKind {
    /// A metasearch engine that people run themselves; it needs no key.
    Searxng,
    Brave,
    Tavily,
}

impl SearchEngineKind {
    pub const ALL: &[Self] = &[Self::Searxng, Self::Brave, Self::Tavily];

    /// Returns the name in configurations, in the API and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Returns the names of all engines, for error messages.
    pub fn names() -> String {
        Self::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the display name.
    pub fn title(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave Search",
            Self::Tavily => "Tavily",
        }
    }

    /// Returns the address of the service; `None` if each instance has its own.
    pub fn usual_address(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Tavily => Some("https://api.tavily.com"),
        }
    }

    /// Returns the path of the search below the address.
    pub fn path(self) -> &'static str {
        match self {
            Self::Searxng | Self::Tavily => "/search",
            Self::Brave => "/res/v1/web/search",
        }
    }

    /// Returns an address without the path of the search, which people copy together with the rest.
    pub fn without_path(self, address: &str) -> &str {
        let address = address.trim().trim_end_matches('/');
        address.strip_suffix(self.path()).unwrap_or(address)
    }

    pub fn needs_key(self) -> bool {
        self != Self::Searxng
    }
}

/// A search engine, as the environment, the configuration file or a person in Settings defines it.
#[derive(Debug, Clone)]
pub struct SearchEngine {
    pub kind: SearchEngineKind,
    /// The URL that [`SearchEngineKind::path`] is appended to.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// True if the engine may be on this machine or the local network. If not, only public addresses are connected to.
    pub local_network: bool,
    /// The setting that defines the engine, such as a variable's name. `None` if a person can edit it.
    pub set_by: Option<String>,
}

impl SearchEngine {
    /// Returns true if both are set in the same way, keys included.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let key = |engine: &Self| engine.api_key.as_ref().map(|key| key.expose_secret().to_owned());
        (self.kind, &self.base_url, self.local_network, &self.set_by)
            == (other.kind, &other.base_url, other.local_network, &other.set_by)
            && key(self) == key(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_address_of_search_page_is_shortened_to_base() {
        for (kind, address, expected) in [
            (SearchEngineKind::Searxng, " http://localhost:8080/search ", "http://localhost:8080"),
            (SearchEngineKind::Searxng, "https://a.example/sx/search/", "https://a.example/sx"),
            (SearchEngineKind::Searxng, "https://a.example/sx", "https://a.example/sx"),
            (SearchEngineKind::Brave, "https://api.search.brave.com/res/v1/web/search", "https://api.search.brave.com"),
            (SearchEngineKind::Tavily, "https://api.tavily.com/", "https://api.tavily.com"),
        ] {
            assert_eq!(kind.without_path(address), expected, "{kind:?}");
        }
    }
}
